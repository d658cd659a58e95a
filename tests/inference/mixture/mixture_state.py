"""Sessions of profile "default" as the reference sees them, and its kernels run to the end."""

from typing import Any, NamedTuple

import numpy as np

from firmware_py import ThresholdEstimator
from firmware_py.inference.mixture.arrays import Gaussian, Sites
from firmware_py.inference.mixture.expectation_propagation import TOLERANCE_SD, propagate
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.mixture.posterior import see
from firmware_py.inference.mixture.wandering import chance
from firmware_py.inference.profiles import PROFILES, MixtureProfile
from tests.inference.mixture.population import POPULATION, moments
from tests.inference.models import mixture_of
from tests.reference import FloatArray
from tests.reference_mixture import HEARD, SILENT, UNSURE, Data, Listener

OUTSIDE_DB2_PER_OCTAVE = 150.0
RATE_MIN = 1e-4

# What profile "default" thinks possible.
DEFAULT = PROFILES["default"]
assert isinstance(DEFAULT, MixtureProfile)
LISTENERS = [
    Listener(noise_db, lapse_rate, false_alarm_rate, noise_share * share)
    for noise_db, noise_share in DEFAULT.noises_db
    for lapse_rate, false_alarm_rate, share in DEFAULT.rates
]

Answer = tuple[float, float, bool | None]


class Twin(NamedTuple):
    """An estimator, and its answers as the reference takes them."""

    estimator: ThresholdEstimator
    data: Data


def told_listener(noise_db: float, lapse_rate: float, false_alarm_rate: float) -> Listener:
    return Listener(noise_db, max(lapse_rate, RATE_MIN), max(false_alarm_rate, RATE_MIN))


def between_db2(frequency_hz: float, prior: PopulationPrior) -> float:
    """Return the variance between the knots, and beyond the outermost."""
    at = float(np.log2(frequency_hz))
    knots = np.log2(prior.knots_hz)
    if at < knots[0] or at > knots[-1]:
        return OUTSIDE_DB2_PER_OCTAVE * max(knots[0] - at, at - knots[-1])
    i = min(int(np.searchsorted(knots, at, side="right")) - 1, len(knots) - 2)
    u = (at - knots[i]) / (knots[i + 1] - knots[i])
    return float(4.0 * u * (1.0 - u) * prior.between_knots_sd_db[i] ** 2)


def twin(
    answers: list[Answer], listener: Listener | None = None, prior: PopulationPrior = POPULATION,
    noise_curve: list[tuple[float, float]] | None = None, **options: Any,
) -> Twin:  # fmt: skip
    """Give the same answers to both; listener None: those of the profile."""
    if listener is not None:
        options |= {"lapse_rate": listener.lapse_rate, "response_noise_db": listener.noise_db,
                    "false_alarm_rate": listener.false_alarm_rate}  # fmt: skip
    if noise_curve is not None:
        options["response_noise_db"] = noise_curve
    estimator = ThresholdEstimator(prior=prior, max_trials=max(1, len(answers)), **options)
    data = Data(
        *moments(prior), np.array(prior.knots_hz),
        LISTENERS if listener is None else [listener], listener is None,
        options.get("unsure_half_width_db", 0.0),
    )  # fmt: skip
    for frequency_hz, level_db_hl, heard in answers:
        estimator.observe(frequency_hz, level_db_hl, heard)
        factor = 1.0
        if noise_curve is not None:
            x, y = np.transpose(noise_curve)
            # The listener of the reference then has a noise of 1 dB.
            factor = float(np.interp(np.log2(frequency_hz), np.log2(x), y))
        code = UNSURE if heard is None else HEARD if heard else SILENT
        data.add(frequency_hz, level_db_hl, code, between_db2(frequency_hz, prior), factor)
    return Twin(estimator, data)


def settle(estimator: ThresholdEstimator, calls: int = 200) -> None:
    """Run the kernel of every hypothesis again and again, until its tolerance does not matter."""
    model = mixture_of(estimator)
    w, of = model.workspace, model.workspace.hypotheses
    n, components, half_width_db = (
        estimator.trial_count, len(w.prior.log_weight), estimator.unsure_half_width_db
    )  # fmt: skip
    for h in range(len(of.weight)):
        k = h % components
        see(
            0, n, w.tones, w.prior.mean_db_hl[k], w.listeners.table[h // components],
            chance(half_width_db), w.wandering.away, w.likelihood,
        )  # fmt: skip
        for _ in range(calls):
            of.log_evidence[h], _ = propagate(
                n, w.tones, w.likelihood, half_width_db, TOLERANCE_SD, w.prior.precision[k],
                w.prior.log_partition[k], Sites(of.tau[h], of.nu[h], of.probability[h]),
                Gaussian(of.mean[h], of.covariance[h]), w.scratch,
            )  # fmt: skip
    model.weigh()


def hypotheses_of(estimator: ThresholdEstimator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights, means (dB HL) and covariances of the hypotheses, copied."""
    w = mixture_of(estimator).workspace
    mean = w.hypotheses.mean + np.tile(w.prior.mean_db_hl, (len(w.listeners.log_share), 1))
    return w.hypotheses.weight.copy(), mean, w.hypotheses.covariance.copy()


class SimulatedEar:
    """Someone out of the population, who lapses as told."""

    def __init__(
        self, rng: np.random.Generator, listener: Listener, half_width_db: float = 0.0,
        prior: PopulationPrior = POPULATION,
    ) -> None:  # fmt: skip
        weight, mean, covariance = moments(prior)
        k = rng.choice(len(weight), p=weight)
        self._rng, self._listener, self._half_width_db = rng, listener, half_width_db
        self._octaves = np.log2(prior.knots_hz)
        self.threshold_db_hl = rng.multivariate_normal(mean[k], covariance[k])

    def __call__(self, frequency_hz: float, level_db_hl: float) -> bool | None:
        rng, who = self._rng, self._listener
        g = np.interp(np.log2(frequency_hz), self._octaves, self.threshold_db_hl)
        above_db = level_db_hl - g + who.noise_db * rng.standard_normal()
        chance = rng.random()
        if chance < who.lapse_rate:
            return False
        if chance < who.lapse_rate + who.false_alarm_rate:
            return True
        if abs(above_db) < self._half_width_db:
            return None
        return bool(above_db > 0.0)


def session_with(
    ear: SimulatedEar, trials: int, prior: PopulationPrior = POPULATION, **options: Any
) -> list[Answer]:
    """Return the answers to what an estimator of this population asks."""
    estimator = ThresholdEstimator(prior=prior, max_trials=trials, **options)
    answers: list[Answer] = []
    for _ in range(trials):
        tone = estimator.next_stimulus()
        heard = ear(tone.frequency_hz, tone.level_db_hl)
        answers.append((tone.frequency_hz, tone.level_db_hl, heard))
        estimator.observe(*answers[-1])
    return answers
