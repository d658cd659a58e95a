"""The method of de Vries et al.: every step against quadrature, SciPy and exact Bayes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from scipy import integrate, special, stats

from host_tools.research.methods import de_vries
from host_tools.research.methods.de_vries import (
    SD_MIN_DB,
    DeVries,
    Mixture,
    entropy_bump,
    learn_mixture,
    standard_mixture,
)
from host_tools.research.methods.interface import Array, Task, interpolate
from host_tools.research.methods.population import Population, balance
from tests.budget import quick
from tests.host.research.methods.listening import (
    TASK,
    Answered,
    Listener,
    measure,
    population,
)

PROBIT = replace(TASK, lapse_rate=0.0, false_alarm_rate=0.0)
FREQUENCIES_HZ = np.array([500.0, 1000.0, 4000.0])
MIXTURE = Mixture(
    frequencies_hz=FREQUENCIES_HZ,
    weight=np.array([0.7, 0.3]),
    mean_db_hl=np.array([[10.0, 12, 20], [45, 50, 70]]),
    covariance_db2=np.array(
        [
            [[60.0, 45, 30], [45, 70, 40], [30, 40, 150]],
            [[200, 150, 80], [150, 180, 90], [80, 90, 160]],
        ]
    ),
)
NOISY = Listener(FREQUENCIES_HZ.tolist(), [22.0, 31.0, 57.0], 3.0, 0.02, 0.05)


class Particles(NamedTuple):
    """Exact Bayes: very many ears of the prior, weighed by their answers."""

    thresholds_db_hl: Array
    weight: Array

    @classmethod
    def of_prior(cls, n: int = 600_000) -> "Particles":
        random = np.random.default_rng(11)
        which = random.random(n) < MIXTURE.weight[0]
        ears = np.empty((n, 3))
        for k, members in enumerate((which, ~which)):
            ears[members] = random.multivariate_normal(
                MIXTURE.mean_db_hl[k], MIXTURE.covariance_db2[k], int(members.sum())
            )
        return cls(ears, np.full(n, 1.0 / n))

    def after(self, answered: Sequence[Answered], task: Task) -> "Particles":
        weight = self.weight
        for tone in answered:
            weight = weight * chance(task, self.at(tone.frequency_hz), tone)
        return Particles(self.thresholds_db_hl, weight / weight.sum())

    def at(self, frequency_hz: float) -> Array:
        rows = [interpolate(FREQUENCIES_HZ, unit, [frequency_hz])[0] for unit in np.eye(3)]
        return self.thresholds_db_hl @ np.array(rows)

    def moments(self) -> tuple[Array, Array]:
        mean = self.weight @ self.thresholds_db_hl
        return mean, np.sqrt(self.weight @ (self.thresholds_db_hl - mean) ** 2)


@pytest.fixture(scope="module")
def prior() -> Particles:
    return Particles.of_prior()


def chance(task: Task, threshold_db_hl: Array, tone: Answered) -> Array:
    honest = special.ndtr((tone.level_db_hl - threshold_db_hl) / task.response_noise_db)
    p = task.false_alarm_rate + (1.0 - task.false_alarm_rate - task.lapse_rate) * honest
    return p if tone.heard else 1.0 - p


def observe(task: Task, answered: Sequence[Answered], mixture: Mixture = MIXTURE) -> DeVries:
    method = DeVries(task, mixture)
    for tone in answered:
        method.observe(tone.frequency_hz, tone.level_db_hl, tone.heard)
    return method


# --- One answer, exactly -------------------------------------------------------------------------


@pytest.mark.parametrize("heard", [True, False])
@pytest.mark.parametrize("level_db_hl", [-10.0, 15.0, 35.0, 80.0])
@pytest.mark.parametrize("task", [TASK, PROBIT], ids=["lapses", "probit"])
def test_one_answer_gives_every_component_the_weight_mean_and_covariance_of_its_posterior(
    task: Task, level_db_hl: float, heard: bool
) -> None:
    """By quadrature over the threshold at the tone; the rest is linear regression on it."""
    tone = Answered(1000.0, level_db_hl, heard)
    found = observe(task, [tone]).mixture

    evidence = []
    for k in range(2):
        mean, covariance = MIXTURE.mean_db_hl[k], MIXTURE.covariance_db2[k]
        sd = np.sqrt(covariance[1, 1])
        g = np.linspace(mean[1] - 12.0 * sd, mean[1] + 12.0 * sd, 20001)
        density = stats.norm.pdf(g, mean[1], sd) * chance(task, g, tone)
        z = integrate.simpson(density, x=g)
        mean_1 = integrate.simpson(density * g, x=g) / z
        variance_1 = integrate.simpson(density * (g - mean_1) ** 2, x=g) / z
        regression = covariance[:, 1] / covariance[1, 1]
        evidence.append(MIXTURE.weight[k] * z)
        assert found.mean_db_hl[k] == pytest.approx(mean + regression * (mean_1 - mean[1]))
        assert found.covariance_db2[k] == pytest.approx(
            covariance + np.outer(regression, regression) * (variance_1 - covariance[1, 1])
        )
    assert found.weight == pytest.approx(np.array(evidence) / sum(evidence))


def test_an_answer_between_the_frequencies_is_one_to_the_line_between_them(
    prior: Particles,
) -> None:
    """Moment matching is exact for one answer; the tolerance is that of 600 thousand ears."""
    tone = Answered(2000.0, 40.0, False)
    mean_db_hl, sd_db = observe(TASK, [tone]).threshold(FREQUENCIES_HZ)

    expected, spread = prior.after([tone], TASK).moments()
    assert mean_db_hl == pytest.approx(expected, abs=0.2)
    assert sd_db == pytest.approx(spread, rel=0.01)


def test_between_and_beyond_the_frequencies_the_threshold_is_interpolated() -> None:
    inside = replace(TASK, frequency_range_hz=(125.0, 8000.0))
    mean_db_hl, sd_db = DeVries(inside, MIXTURE).threshold([125.0, 500.0, 2000.0, 4000.0, 8000.0])

    random = Particles.of_prior(200_000)
    middle = random.at(2000.0)
    assert mean_db_hl[[0, 4]].tolist() == mean_db_hl[[1, 3]].tolist()
    assert sd_db[[0, 4]].tolist() == sd_db[[1, 3]].tolist()
    assert mean_db_hl[2] == pytest.approx(middle.mean(), abs=0.3)
    assert sd_db[2] == pytest.approx(middle.std(), rel=0.01)


def test_an_answer_that_was_all_but_impossible_leaves_numbers() -> None:
    answered = [Answered(f, h, h < 40.0) for f in FREQUENCIES_HZ for h in (-10.0, 90.0, -10.0)]
    found = observe(replace(PROBIT, response_noise_db=0.1), answered).mixture

    assert np.all(np.isfinite(found.mean_db_hl))
    assert np.linalg.eigvalsh(found.covariance_db2).min() > 0.0
    assert found.weight.sum() == pytest.approx(1.0)


# --- Many answers, nearly ------------------------------------------------------------------------


@pytest.mark.parametrize(("tones", "tolerance_sd"), [(3, 0.1), (8, 0.2), (16, 0.35)])
def test_the_posterior_stays_close_to_exact_bayes(
    prior: Particles, tones: int, tolerance_sd: float
) -> None:
    """Assumed-density filtering keeps no more than moments: tolerance in exact SDs."""
    method = DeVries(TASK, MIXTURE)
    answered = measure(method, replace(NOISY, random=np.random.default_rng(6)), tones)
    exact_mean, exact_sd = prior.after(answered, TASK).moments()

    mean_db_hl, sd_db = method.threshold(FREQUENCIES_HZ)

    assert np.all(np.abs(mean_db_hl - exact_mean) < tolerance_sd * exact_sd)
    assert np.all(np.abs(sd_db / exact_sd - 1.0) < tolerance_sd)


# --- The next tone -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("false_alarm_rate", "lapse_rate"), [(0.0, 0.0), (0.01, 0.01), (0.1, 0.02), (0.0, 0.05)]
)
def test_the_entropy_left_by_a_known_threshold_is_described_within_two_hundredths_of_a_bit(
    false_alarm_rate: float, lapse_rate: float
) -> None:
    """Its mean over thresholds, against quadrature."""
    task = replace(TASK, false_alarm_rate=false_alarm_rate, lapse_rate=lapse_rate)
    low, high, height, centre, width = entropy_bump(task)
    u = np.linspace(-80.0, 80.0, 64001)
    p = false_alarm_rate + (1.0 - false_alarm_rate - lapse_rate) * special.ndtr(u)
    bits = (special.entr(p) + special.entr(1.0 - p)) / np.log(2.0)
    for sd in (0.2, 1.0, 4.0, 12.0):
        for d in (-12.0, -3.0, -1.0, 0.0, 0.5, 2.0, 12.0):
            exact = integrate.trapezoid(stats.norm.pdf(u, d, sd) * bits, u)
            phi = special.ndtr(d / np.hypot(1.0, sd))
            rest = height * width / np.hypot(width, sd)
            rest *= np.exp(-0.5 * (d - centre) ** 2 / (width**2 + sd**2))
            assert low * (1.0 - phi) + high * phi + rest == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("tones", quick([0, 4, 12], 12))
@pytest.mark.parametrize("task", [TASK, PROBIT], ids=["lapses", "probit"])
def test_the_next_tone_is_the_most_informative_by_quadrature(
    task: Task, tones: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(de_vries, "LEVEL_STEP_DB", 5.0)
    method = DeVries(task, MIXTURE)
    measure(method, replace(NOISY, random=np.random.default_rng(2)), tones)
    now = method.mixture
    asked = [(j, h) for j in range(3) for h in np.arange(-10.0, 91.0, 5.0)]
    exact_bits = []
    for j, level_db_hl in asked:
        g = np.linspace(-100.0, 200.0, 30001)
        density = sum(
            w * stats.norm.pdf(g, m[j], np.sqrt(c[j, j]))
            for w, m, c in zip(now.weight, now.mean_db_hl, now.covariance_db2, strict=True)
        )
        p = np.minimum(chance(task, g, Answered(FREQUENCIES_HZ[j], level_db_hl, True)), 1.0)
        known = integrate.trapezoid(density * (special.entr(p) + special.entr(1.0 - p)), g)
        heard = min(integrate.trapezoid(density * p, g), 1.0)
        total = special.entr(heard) + special.entr(1.0 - heard)
        exact_bits.append((total - known) / np.log(2.0))
    stimulus = method.next_stimulus()
    chosen = asked.index(
        (FREQUENCIES_HZ.tolist().index(stimulus.frequency_hz), stimulus.level_db_hl)
    )

    assert method.information_bits == pytest.approx(exact_bits, abs=0.011)
    assert exact_bits[chosen] > max(exact_bits) - 0.015


# --- Learning the mixture ------------------------------------------------------------------------


def two_kinds(n: int = 4000) -> Population:
    """A third flat and quiet, two thirds sloping and loud, overlapping a little."""
    random = np.random.default_rng(21)
    quiet = random.multivariate_normal([8, 8, 10, 15], 25.0 + 40.0 * np.eye(4), n // 3)
    loud = random.multivariate_normal([25, 35, 50, 65], 100.0 + 60.0 * np.eye(4), n - n // 3)
    return population(np.concatenate([quiet, loud]))


def test_one_component_is_the_weighted_mean_and_covariance() -> None:
    ears = two_kinds(600)

    mixture = learn_mixture(ears, 1)

    weight = balance(ears.stratum)
    expected = np.cov(ears.thresholds_db_hl.T, aweights=weight, ddof=0)
    assert mixture.mean_db_hl[0] == pytest.approx(np.average(ears.thresholds_db_hl, 0, weight))
    assert mixture.covariance_db2[0] == pytest.approx(expected)


@pytest.fixture
def equal_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every ear has the same weight, whatever its degree of loss."""
    monkeypatch.setattr(
        de_vries, "balance", lambda stratum: np.full(len(stratum), 1 / len(stratum))
    )


@pytest.mark.usefixtures("equal_weights")
def test_two_kinds_of_ears_are_told_apart() -> None:
    mixture = learn_mixture(two_kinds(), 2)

    order = np.argsort(mixture.mean_db_hl[:, 0])
    assert mixture.weight[order] == pytest.approx([1 / 3, 2 / 3], abs=0.02)
    assert mixture.mean_db_hl[order] == pytest.approx(
        np.array([[8, 8, 10, 15], [25, 35, 50, 65]]), abs=1.0
    )
    assert mixture.covariance_db2[order] == pytest.approx(
        np.array([25.0 + 40.0 * np.eye(4), 100.0 + 60.0 * np.eye(4)]), abs=10.0
    )


@pytest.mark.usefixtures("equal_weights")
def test_learning_ends_where_expectation_maximisation_no_longer_moves() -> None:
    """One more step, written with SciPy, gains next to nothing and lands in the same place."""
    ears = two_kinds(1500)
    mixture = learn_mixture(ears, 2)
    points = ears.thresholds_db_hl
    joint = np.array(
        [
            w * stats.multivariate_normal(m, c).pdf(points)
            for w, m, c in zip(
                mixture.weight, mixture.mean_db_hl, mixture.covariance_db2, strict=True
            )
        ]
    )
    member = joint / joint.sum(axis=0)

    assert mixture.log_density(points) == pytest.approx(np.log(joint.sum(axis=0)))
    for k in range(2):
        mean = np.average(points, axis=0, weights=member[k])
        assert member[k].mean() == pytest.approx(mixture.weight[k], abs=2e-3)
        assert mean == pytest.approx(mixture.mean_db_hl[k], abs=0.2)
        assert np.cov(points.T, aweights=member[k], ddof=0) == pytest.approx(
            mixture.covariance_db2[k], rel=0.03, abs=1.0
        )


def test_no_component_is_thinner_than_a_retest() -> None:
    ears = population(np.repeat(np.linspace(0.0, 80.0, 200)[:, None], 4, axis=1))

    eigenvalues = np.linalg.eigvalsh(learn_mixture(ears, 2).covariance_db2)

    assert eigenvalues[:, 0] == pytest.approx([SD_MIN_DB**2] * 2)
    assert np.all(eigenvalues[:, 3] > 100.0)


@pytest.mark.usefixtures("equal_weights")
def test_ears_that_are_not_complete_are_not_learned_from() -> None:
    ears = two_kinds(300)
    holed = population(ears.thresholds_db_hl.copy())
    holed.thresholds_db_hl[100:, 0] = np.nan

    mixture = learn_mixture(holed, 1)

    assert mixture.mean_db_hl[0] == pytest.approx(ears.thresholds_db_hl[:100].mean(axis=0))
    for components in (0, 101):
        with pytest.raises(ValueError, match=f"{components} components from 100 ears with all"):
            learn_mixture(holed, components)


# --- Convergence ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_learned_prior_finds_ears_of_its_kind_sooner_and_knows_how_well() -> None:
    ears = two_kinds()
    task = Task(audiogram_frequencies_hz=(500, 1000, 2000, 4000))
    errors_db: dict[str, list[Array]] = {"learned": [], "standard": []}
    z = []
    learned = learn_mixture(ears.select(range(100, 4000)), 2)
    for name, mixture in (("learned", learned), ("standard", standard_mixture())):
        for index in range(0, 100, 2):
            method = DeVries(task, mixture)
            thresholds_db_hl = ears.thresholds_db_hl[index]
            ear = Listener(
                ears.frequencies_hz.tolist(), thresholds_db_hl.tolist(), 2.0, 0.01, 0.01,
                np.random.default_rng(index),
            )  # fmt: skip
            measure(method, ear, 12)
            mean_db_hl, sd_db = method.threshold(ears.frequencies_hz)
            errors_db[name].append(mean_db_hl - thresholds_db_hl)
            if name == "learned":
                z.append((mean_db_hl - thresholds_db_hl) / sd_db)

    rmse = {name: float(np.sqrt(np.mean(np.square(e)))) for name, e in errors_db.items()}
    assert rmse["learned"] < 4.0 < rmse["standard"]
    assert 0.9 < np.mean(np.abs(z) < 1.96) < 0.99
