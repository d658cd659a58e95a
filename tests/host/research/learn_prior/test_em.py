"""Learning a mixture: against closed forms, quadrature, and mixtures that are known."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from host_tools.research.learn_prior.em import (
    Learner,
    Mixture,
    Shrinkage,
    log_density,
    usual_shrinkage,
)
from host_tools.research.learn_prior.sample import Sample, degree, rounding_variance, sample_of
from host_tools.research.learn_prior.selecting import (
    FOLDS,
    Size,
    chosen_size,
    compare_sizes,
    folds,
    sizes_for,
)
from host_tools.research.learn_prior.truncated import above, normal_tail
from host_tools.research.methods.interface import Array
from host_tools.research.methods.population import PopulationError
from tests.host.research.methods.listening import population

FREQUENCIES_HZ = np.array([500.0, 1000.0, 2000.0, 4000.0])
NAN = math.nan
COVARIANCE = np.array(
    [
        [90.0, 70.0, 50.0, 30.0, 20.0],
        [70.0, 100.0, 80.0, 50.0, 40.0],
        [50.0, 80.0, 140.0, 100.0, 60.0],
        [30.0, 50.0, 100.0, 200.0, 90.0],
        [20.0, 40.0, 60.0, 90.0, 150.0],
    ]
)
MEAN = np.array([20.0, 25.0, 30.0, 45.0, 55.0])
NO_SHRINKAGE = Shrinkage(0.0, np.eye(5))


def sample_from(
    values: Array,
    *,
    limit_db_hl: float = math.inf,
    rounding_db: float = 0.0,
    female: Array | None = None,
) -> Sample:
    """Ears of one person each and equal weight; NaN: not measured; age is the last column."""
    n, d = values.shape
    read = values.copy()
    if rounding_db:
        read[:, :-1] = rounding_db * np.round(read[:, :-1] / rounding_db)
    censored = np.zeros((n, d), dtype=np.bool_)
    censored[:, :-1] = values[:, :-1] > limit_db_hl
    read[censored] = limit_db_hl
    noise = np.zeros(d)
    noise[:-1] = rounding_db**2 / 12.0
    return Sample(
        FREQUENCIES_HZ[: d - 1],
        np.nan_to_num(read),
        ~np.isnan(values) & ~censored,
        censored,
        noise,
        np.full(n, NAN) if female is None else female,
        np.full(n, 1.0 / n),
        np.arange(n, dtype=np.int64),
    )


def draw(n: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).multivariate_normal(MEAN, COVARIANCE, n)


def one(mean: Array = MEAN, covariance: Array = COVARIANCE) -> Mixture:
    return Mixture(np.ones(1), mean[None], covariance[None], np.full(1, 0.5))


# --- Truncated Gaussians -------------------------------------------------------------------------


def test_the_tail_is_scipys() -> None:
    z = np.linspace(-35.0, 9.0, 200)

    log_p, ratio, lost = normal_tail(z)

    np.testing.assert_allclose(log_p, stats.norm.logcdf(z), rtol=1e-12, atol=1e-15)
    expected = np.exp(stats.norm.logpdf(z) - stats.norm.logcdf(z))
    np.testing.assert_allclose(ratio, expected, rtol=1e-11)
    np.testing.assert_allclose(lost, expected * (expected + z), rtol=1e-8, atol=1e-30)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_two_limits_are_near_quadrature(correlation: float) -> None:
    mean, limit = np.array([100.0, 105.0]), np.array([110.0, 110.0])
    covariance = 225.0 * np.array([[1.0, correlation], [correlation, 1.0]])
    density = stats.multivariate_normal(mean, covariance).pdf
    x = np.linspace(110.0, 200.0, 901)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    p = density(grid)

    def integral(values: Array) -> float:
        return float(integrate.trapezoid(integrate.trapezoid(values, x), x))

    total = integral(p)
    first = np.array([integral(p * grid[..., i]) for i in range(2)]) / total
    variance = np.array([integral(p * (grid[..., i] - first[i]) ** 2) for i in range(2)]) / total

    log_p, found, spread = above(mean[None], covariance[None], limit[None])

    tolerance = 1e-4 if correlation == 0.0 else 0.015
    assert log_p[0] == pytest.approx(math.log(total), abs=tolerance)
    np.testing.assert_allclose(found[0], first, atol=15.0 * tolerance)
    np.testing.assert_allclose(np.diag(spread[0]), variance, atol=225.0 * 2.0 * tolerance)


# --- Densities -----------------------------------------------------------------------------------


def test_the_density_of_an_ear_is_scipys_with_gaps_rounding_and_sex() -> None:
    values = np.array([[10.0, NAN, 30.0, 55.0, 40.0], [20.0, 25.0, NAN, NAN, NAN]])
    sample = sample_from(values, rounding_db=5.0, female=np.array([1.0, NAN]))
    other = one(MEAN + 10.0, 2.0 * COVARIANCE)
    mixture = Mixture(
        np.array([0.3, 0.7]),
        np.concatenate([one().mean, other.mean]),
        np.concatenate([one().covariance, other.covariance]),
        np.array([0.2, 0.6]),
    )
    noise = np.diag([25 / 12] * 4 + [0.0])

    def expect_density(row: int, at: list[int], factor: list[float]) -> float:
        return math.log(
            sum(
                w * f * stats.multivariate_normal(
                    mixture.mean[k][at], (mixture.covariance[k] + noise)[np.ix_(at, at)]
                ).pdf(values[row, at])
                for k, (w, f) in enumerate(zip(mixture.weight, factor, strict=True))
            )
        )  # fmt: skip

    found = log_density(sample, mixture)

    assert found[0] == pytest.approx(expect_density(0, [0, 2, 3, 4], [0.2, 0.6]), rel=1e-10)
    assert found[1] == pytest.approx(expect_density(1, [0, 1], [1.0, 1.0]), rel=1e-10)


def test_the_density_of_a_censored_ear_is_a_density_times_a_probability() -> None:
    values = np.array([[60.0, 70.0, 90.0, 130.0, 50.0]])
    found = log_density(sample_from(values, limit_db_hl=120.0), one())

    at, c = [0, 1, 2, 4], 3
    marginal = COVARIANCE[np.ix_(at, at)]
    gain = np.linalg.solve(marginal, COVARIANCE[at, c])
    mean = MEAN[c] + gain @ (values[0, at] - MEAN[at])
    sd = math.sqrt(COVARIANCE[c, c] - gain @ COVARIANCE[at, c])
    expected = stats.multivariate_normal(MEAN[at], marginal).logpdf(values[0, at])
    expected += stats.norm.logsf(120.0, mean, sd)
    assert found[0] == pytest.approx(expected, rel=1e-9)


# --- EM ------------------------------------------------------------------------------------------


def test_one_gaussian_without_gaps_is_the_closed_form() -> None:
    values = draw(200)
    shrinkage = Shrinkage(12.0, 80.0 * np.eye(5))
    found = Learner(sample_from(values), shrinkage).fit(1, 1).mixture

    off = values - values.mean(axis=0)
    np.testing.assert_allclose(found.mean[0], values.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(
        found.covariance[0], (off.T @ off + 12.0 * 80.0 * np.eye(5)) / (200 + 12), rtol=1e-8
    )


def test_rounding_is_taken_out_of_the_covariance() -> None:
    """Jittering adds what Sheppard's correction takes off: together twice 25/12 dB²."""
    values = draw(20000)
    found = Learner(sample_from(values, rounding_db=5.0), NO_SHRINKAGE).fit(1, 1, steps_max=40)
    exact = np.cov(values.T, bias=True)
    jitter = np.random.default_rng(3).uniform(-2.5, 2.5, (20000, 4))
    jittered = np.cov((5.0 * np.round(values[:, :4] / 5.0) + jitter).T)

    difference = found.mixture.covariance[0] - exact
    np.testing.assert_allclose(difference[:4, :4], 0.0, atol=0.6)
    np.testing.assert_allclose(
        np.diag(jittered - exact[:4, :4]), 25 / 6, atol=1.2
    )  # 3 standard errors


def test_the_optimum_with_limits_is_the_one_a_general_optimiser_finds() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(100.0, 15.0, 400)
    values = np.column_stack([x, np.full(400, 50.0) + rng.normal(0.0, 1.0, 400)])
    sample = sample_from(values, limit_db_hl=110.0)
    learner = Learner(sample, Shrinkage(0.0, np.eye(2)))
    mixture = learner.fit(1, 1).mixture
    for _ in range(40):
        mixture = learner.climb(mixture, steps_max=2).mixture

    y, gone = np.minimum(x, 110.0), x > 110.0

    def loss(p: Array) -> float:
        logs = np.where(gone, stats.norm.logsf(110.0, p[0], p[1]), stats.norm.logpdf(y, p[0], p[1]))
        return -float(logs.sum())

    best = optimize.minimize(loss, [90.0, 10.0], method="Nelder-Mead").x
    # Age, drawn apart from it, moves this a little.
    assert mixture.mean[0, 0] == pytest.approx(best[0], abs=0.15)
    assert math.sqrt(mixture.covariance[0, 0, 0]) == pytest.approx(best[1], abs=0.15)


def messy(n: int = 500) -> Sample:
    """Two kinds of ears, with gaps, a limit at one frequency, rounding, and unknown sexes."""
    rng = np.random.default_rng(11)
    kind = rng.random(n) < 0.4
    values = np.where(kind[:, None], draw(n, 2), draw(n, 3) + np.array([5.0, 10, 30, 40, 20]))
    values[rng.random((n, 5)) < 0.07] = NAN
    sample = sample_from(values, rounding_db=5.0, female=np.where(kind, 1.0, NAN))
    at = (sample.values[:, 3] > 80.0) & sample.observed[:, 3]
    sample.observed[at, 3], sample.censored[at, 3] = False, True
    sample.values[at, 3] = 80.0
    return sample


@pytest.mark.parametrize("components", [1, 2, 4])
def test_every_step_raises_the_objective(components: int) -> None:
    learner = Learner(messy(), usual_shrinkage(FREQUENCIES_HZ))

    objective = learner.climb(learner.start(components, 1, 0), steps_max=60).objective

    assert len(objective) > 5
    assert np.min(np.diff(objective)) > -1e-9


def test_a_known_mixture_is_found_again() -> None:
    rng = np.random.default_rng(5)
    n = 4000
    kind = rng.random(n) < 0.3
    shift = np.array([30.0, 30.0, 35.0, 40.0, 20.0])
    values = draw(n, 6) + np.where(kind[:, None], shift, 0.0)
    female = np.where(rng.random(n) < np.where(kind, 0.2, 0.7), 1.0, 0.0)
    values[rng.random((n, 5)) < 0.05] = NAN
    sample = sample_from(values, rounding_db=5.0, female=female)
    found = Learner(sample, usual_shrinkage(FREQUENCIES_HZ)).fit(2, 1, starts=2).mixture

    mild, severe = np.argsort(found.mean[:, 0])
    assert found.weight[severe] == pytest.approx(0.3, abs=0.03)
    np.testing.assert_allclose(found.mean[mild], MEAN, atol=1.2)
    np.testing.assert_allclose(found.mean[severe], MEAN + shift, atol=2.0)
    np.testing.assert_allclose(found.covariance[mild], COVARIANCE, atol=16.0)
    np.testing.assert_allclose(found.share_female[[mild, severe]], [0.7, 0.2], atol=0.04)


# --- Samples -------------------------------------------------------------------------------------


def test_an_ear_with_a_gap_counts_in_its_degree_of_loss() -> None:
    thresholds_db_hl = np.array(
        [[10.0] * 4, [5.0, NAN, 10.0, NAN], [NAN, 70.0, NAN, 60.0], [NAN, NAN, NAN, NAN]]
    )
    ears = population(thresholds_db_hl, "aabc")

    sample = sample_of(ears)

    assert degree(ears).tolist() == [0, 0, 3, -1]
    np.testing.assert_allclose(sample.weight, [0.25, 0.25, 0.5])  # the fourth says nothing
    assert sample.effective_people == pytest.approx(2.0)
    with pytest.raises(PopulationError, match="no ear was measured at 500, 1000, 2000 or 4000"):
        sample_of(ears.select([3]))


@pytest.mark.parametrize(
    ("levels_db_hl", "variance_db2"),
    [([5.0, -10.0], 25 / 12), ([2.5, 5.0], 25 / 24), ([3.0, 5.0], 1 / 12), ([3.21], 0.0)],
)
def test_the_noise_of_rounding_follows_from_the_steps(
    levels_db_hl: list[float], variance_db2: float
) -> None:
    assert rounding_variance(np.array(levels_db_hl)) == pytest.approx(variance_db2)


# --- How many components -------------------------------------------------------------------------


def test_folds_are_of_people() -> None:
    sample = messy(400)
    sample = Sample(**{**vars(sample), "person": np.arange(400) // 2})

    fold = folds(sample, 1)

    np.testing.assert_array_equal(fold[::2], fold[1::2])
    assert np.bincount(fold.astype(int)).tolist() == [400 // FOLDS] * FOLDS


def test_every_size_is_tried_on_every_fold() -> None:
    sample = sample_from(draw(120, 9))
    ticks: list[int] = []

    table = compare_sizes(sample, (1, 2), 1, ticks.append)

    assert ticks == FOLDS * [1] + FOLDS * [2]
    assert [row.components for row in table] == [1, 2]
    assert min(row.below_best for row in table) == 0.0
    assert all(row.score == pytest.approx(0.5 * (row.thresholds_alone + row.given_age_and_sex))
               for row in table)  # fmt: skip
    assert sizes_for(sample) == [1, 2, 3, 4, 6], "a component for every 20 people"
    assert sizes_for(sample.select(np.arange(10))) == [1]


def test_the_smallest_within_one_standard_error_is_chosen() -> None:
    rows = [(1, 0.5, 0.1), (2, 0.09, 0.1), (3, 0.0, 0.0), (4, 0.01, 0.1)]
    table = [Size(k, 0.0, 0.0, 0.0, below, error) for k, below, error in rows]

    assert chosen_size(table) == 2
