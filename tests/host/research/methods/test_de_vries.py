"""The method of de Vries et al.: every step against quadrature, SciPy and exact Bayes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, special, stats

from host_tools.research.methods import de_vries
from host_tools.research.methods.de_vries import SD_MIN_DB, DeVries, Mixture, learn_mixture
from host_tools.research.methods.interface import Array, Task
from host_tools.research.methods.population import Population, balance
from tests.budget import quick
from tests.host.research.methods.listening import TASK, Answered, Listener, measure, population

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
# Of the thresholds at the three, in that at a tone: 2 kHz lies half way from 1 to 4 kHz in octaves.
SHARES = {1000.0: np.array([0.0, 1.0, 0.0]), 2000.0: np.array([0.0, 0.5, 0.5])}
NOISY = Listener(FREQUENCIES_HZ.tolist(), [22.0, 31.0, 57.0], 3.0, 0.02, 0.05)


def chance(task: Task, threshold_db_hl: Array, tone: Answered) -> Array:
    honest = special.ndtr((tone.level_db_hl - threshold_db_hl) / task.response_noise_db)
    p = task.false_alarm_rate + (1.0 - task.false_alarm_rate - task.lapse_rate) * honest
    return p if tone.heard else 1.0 - p


# --- One answer, exactly -------------------------------------------------------------------------


@pytest.mark.parametrize("heard", [True, False])
@pytest.mark.parametrize("level_db_hl", [-10.0, 35.0, 80.0])
@pytest.mark.parametrize("task", [TASK, PROBIT], ids=["lapses", "probit"])
@pytest.mark.parametrize("frequency_hz", [1000.0, 2000.0])
def test_one_answer_gives_every_component_the_weight_mean_and_covariance_of_its_posterior(
    task: Task, frequency_hz: float, level_db_hl: float, heard: bool
) -> None:
    """By quadrature over the threshold at the tone; the rest is linear regression on it."""
    tone = Answered(frequency_hz, level_db_hl, heard)
    method = DeVries(task, MIXTURE)
    method.observe(frequency_hz, level_db_hl, heard)
    found = method.mixture

    evidence = []
    for k in range(2):
        mean, covariance = MIXTURE.mean_db_hl[k], MIXTURE.covariance_db2[k]
        at, column = mean @ SHARES[frequency_hz], covariance @ SHARES[frequency_hz]
        variance = column @ SHARES[frequency_hz]
        g = np.linspace(at - 12.0 * np.sqrt(variance), at + 12.0 * np.sqrt(variance), 20001)
        density = stats.norm.pdf(g, at, np.sqrt(variance)) * chance(task, g, tone)
        z = integrate.simpson(density, x=g)
        mean_1 = integrate.simpson(density * g, x=g) / z
        variance_1 = integrate.simpson(density * (g - mean_1) ** 2, x=g) / z
        regression = column / variance
        evidence.append(MIXTURE.weight[k] * z)
        assert found.mean_db_hl[k] == pytest.approx(mean + regression * (mean_1 - at))
        assert found.covariance_db2[k] == pytest.approx(
            covariance + np.outer(regression, regression) * (variance_1 - variance)
        )
    assert found.weight == pytest.approx(np.array(evidence) / sum(evidence))


def test_between_and_beyond_the_frequencies_the_threshold_is_interpolated() -> None:
    inside = replace(TASK, frequency_range_hz=(125.0, 8000.0))
    mean_db_hl, sd_db = DeVries(inside, MIXTURE).threshold([125.0, 500.0, 2000.0, 4000.0, 8000.0])

    means, share = MIXTURE.mean_db_hl @ SHARES[2000.0], SHARES[2000.0]
    variances = np.einsum("i,kij,j->k", share, MIXTURE.covariance_db2, share)
    mean = MIXTURE.weight @ means
    assert mean_db_hl[[0, 4]].tolist() == mean_db_hl[[1, 3]].tolist()
    assert sd_db[[0, 4]].tolist() == sd_db[[1, 3]].tolist()
    assert mean_db_hl[2] == pytest.approx(mean)
    assert sd_db[2] == pytest.approx(np.sqrt(MIXTURE.weight @ (variances + (means - mean) ** 2)))


def test_an_answer_that_was_all_but_impossible_leaves_numbers() -> None:
    method = DeVries(replace(PROBIT, response_noise_db=0.1), MIXTURE)
    for frequency_hz in FREQUENCIES_HZ:
        for level_db_hl in (-10.0, 90.0, -10.0):
            method.observe(frequency_hz, level_db_hl, level_db_hl < 40.0)
    found = method.mixture

    assert np.all(np.isfinite(found.mean_db_hl))
    assert np.linalg.eigvalsh(found.covariance_db2).min() > 0.0
    assert found.weight.sum() == pytest.approx(1.0)


# --- The next tone -------------------------------------------------------------------------------


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
