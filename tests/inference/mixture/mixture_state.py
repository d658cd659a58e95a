"""Sessions of profile "default" as the reference sees them, and its kernels run to the end."""

from typing import Any, NamedTuple

import numpy as np

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from firmware_py.inference.mixture.arrays import Gaussian, Scratch, Sites
from firmware_py.inference.mixture.expectation_propagation import (
    DAMPING,
    TOLERANCE_SD,
    propagate,
    sweep_in_turn,
)
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.mixture.posterior import find_margins, see_all
from firmware_py.inference.mixture.sites import SITE_ROWS
from firmware_py.inference.profiles import PROFILES, MixtureProfile
from tests.inference.mixture.population import POPULATION, moments
from tests.inference.models import mixture_of
from tests.reference import FloatArray
from tests.reference_mixture import (
    HEARD,
    SILENT,
    SWEEPS_MAX,
    UNSURE,
    Data,
    Listener,
    bows_of,
    row_of,
    with_bends,
)

RATE_MIN = 1e-4

# What profile "default" thinks possible.
_DEFAULT = PROFILES["default"]
assert isinstance(_DEFAULT, MixtureProfile)
DEFAULT: MixtureProfile = _DEFAULT
LISTENERS = [
    Listener(kind.response_noise_db, kind.lapse_rate, kind.false_alarm_rate, kind.share)
    for kind in DEFAULT.kinds
]

Answer = tuple[float, float, bool | None]


class Twin(NamedTuple):
    """An estimator, and its answers as the reference takes them."""

    estimator: ThresholdEstimator
    data: Data


def told_listener(noise_db: float, lapse_rate: float, false_alarm_rate: float) -> Listener:
    return Listener(noise_db, max(lapse_rate, RATE_MIN), max(false_alarm_rate, RATE_MIN))


def between_db2(frequency_hz: float, prior: PopulationPrior) -> float:
    """Return the variance of the bend at a frequency, and beyond the outermost knots."""
    bows_db = bows_of(frequency_hz, np.array(prior.knots_hz), np.array(prior.between_knots_sd_db))
    return float(np.sum(bows_db**2))


def with_dead_zones(listeners: list[Listener], half_width_db: float | None) -> list[Listener]:
    """Return the listeners with this half width; None: each with every one of the profile."""
    zones = DEFAULT.dead_zones if half_width_db is None else ((half_width_db, 1.0),)
    return [
        Listener(*listener[:3], share * listener.share, each_db)
        for each_db, share in zones
        for listener in listeners
    ]


def data_of(prior: PopulationPrior, bends: bool, listeners: list[Listener], wanders: bool) -> Data:
    """Return a reference without answers yet, with or without bends among its unknowns."""
    weight, mean, covariance = moments(prior)
    between_sd_db = None
    if bends:
        mean, covariance = with_bends(mean, covariance)
        between_sd_db = np.array(prior.between_knots_sd_db)
    return Data(
        weight, mean, covariance, np.array(prior.knots_hz), between_sd_db, listeners, wanders
    )


def twin(
    answers: list[Answer], listener: Listener | None = None, prior: PopulationPrior = POPULATION,
    noise_curve: list[tuple[float, float]] | None = None, **options: Any,
) -> Twin:  # fmt: skip
    """Give the same answers to both; listener None: those of the profile.

    Only if one of them is off the knots are the bends among the unknowns of either.
    """
    if listener is not None:
        options |= {"lapse_rate": listener.lapse_rate, "response_noise_db": listener.noise_db,
                    "false_alarm_rate": listener.false_alarm_rate}  # fmt: skip
    if noise_curve is not None:
        options["response_noise_db"] = noise_curve
    estimator = ThresholdEstimator(prior=prior, max_trials=max(1, len(answers)), **options)
    listeners = LISTENERS if listener is None else [listener]
    data = data_of(
        prior, any(frequency_hz not in prior.knots_hz for frequency_hz, *_ in answers),
        with_dead_zones(listeners, options.get("unsure_half_width_db", 0.0)), listener is None,
    )  # fmt: skip
    for frequency_hz, level_db_hl, heard in answers:
        estimator.observe(frequency_hz, level_db_hl, heard)
        factor = 1.0
        if noise_curve is not None:
            x, y = np.transpose(noise_curve)
            # The listener of the reference then has a noise of 1 dB.
            factor = float(np.interp(np.log2(frequency_hz), np.log2(x), y))
        code = UNSURE if heard is None else HEARD if heard else SILENT
        data.add(frequency_hz, level_db_hl, code, factor)
    return Twin(estimator, data)


def settle(estimator: ThresholdEstimator) -> None:
    """Sweep on in every hypothesis until nothing moves, so that its tolerance does not matter.

    By halves and in turn, which settles also where undamped sweeps go round in circles.
    """
    model = mixture_of(estimator)
    w, of = model.workspace, model.workspace.hypotheses
    n, components = estimator.trial_count, len(w.prior.log_weight)
    for h in range(len(of.weight)):
        k, who = h % components, w.listeners.table[h // components]
        see_all(n, w.tones, who, w.wandering, w.likelihood)
        find_margins(n, w.tones, w.prior.mean_db_hl[k], w.likelihood)
        sites = Sites(of.tau[h], of.nu[h], of.probability[h])
        posterior = Gaussian(of.mean[h], of.covariance[h])
        size, sweeps, move = len(posterior.mean), 0, np.inf
        while move > 1e-12 and sweeps < SWEEPS_MAX:
            move = sweep_in_turn(
                n, size, DAMPING, w.tones, w.likelihood, sites, posterior, w.scratch.column
            )
            sweeps += 1
        # Computes posterior and evidence from the sites, and ends at once where nothing moves.
        covariance = w.prior.covariance[k]
        of.log_evidence[h], _ = propagate(
            n, size, w.tones, w.likelihood, TOLERANCE_SD, np.linalg.inv(covariance),
            0.5 * np.linalg.slogdet(covariance)[1], sites, posterior, w.scratch,
        )  # fmt: skip
    model.weigh()
    model.summarise()


def scratch_for(unknowns: int, n: int) -> Scratch:
    """Return room for intermediate results: so many unknowns and answers."""
    square = (unknowns, unknowns)
    shapes = ((unknowns,), square, square, (unknowns,), (unknowns,), (SITE_ROWS, n))
    return Scratch(*(np.zeros(shape) for shape in shapes))


def unknowns_of(estimator: ThresholdEstimator) -> int:
    """Return how many unknowns the answers may tell of: without those that fill up the lanes."""
    w = mixture_of(estimator).workspace
    covariance = w.prior.covariance[0]
    knots = np.count_nonzero((covariance != np.eye(len(covariance))).any(axis=1))
    return int(2 * knots + 1 if w.candidates.bend[0] >= 0 else knots)


def hypotheses_of(estimator: ThresholdEstimator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights, means (knots: dB HL) and covariances of the hypotheses, copied."""
    w, told = mixture_of(estimator).workspace, slice(unknowns_of(estimator))
    mean = w.hypotheses.mean + np.tile(w.prior.mean_db_hl, (len(w.listeners.log_share), 1))
    return w.hypotheses.weight.copy(), mean[:, told], w.hypotheses.covariance[:, told, told].copy()


class SimulatedEar:
    """Someone out of the population, who lapses as told, and is unsure so near the threshold."""

    def __init__(
        self, rng: np.random.Generator, listener: Listener, half_width_db: float = 0.0,
        prior: PopulationPrior = POPULATION,
    ) -> None:  # fmt: skip
        weight, mean, covariance = moments(prior)
        k = rng.choice(len(weight), p=weight)
        self._rng, self._listener, self._half_width_db = rng, listener, half_width_db
        self._prior = prior
        self.threshold_db_hl = rng.multivariate_normal(mean[k], covariance[k])
        # Of a stream of their own: who is asked at knots answers as if there were none.
        self.bends = rng.spawn(1)[0].standard_normal(len(prior.knots_hz) + 1)

    def at(self, frequency_hz: float) -> float:
        knots_hz = np.array(self._prior.knots_hz)
        bows_db = bows_of(frequency_hz, knots_hz, np.array(self._prior.between_knots_sd_db))
        return float(row_of(frequency_hz, knots_hz) @ self.threshold_db_hl + bows_db @ self.bends)

    def __call__(self, frequency_hz: float, level_db_hl: float) -> bool | None:
        rng, who = self._rng, self._listener
        above_db = level_db_hl - self.at(frequency_hz) + who.noise_db * rng.standard_normal()
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
    estimator = ThresholdEstimator(prior=prior, max_trials=trials, **options)
    answers: list[Answer] = []
    for _ in range(trials):
        tone = BITS.choose(estimator)
        heard = ear(tone.frequency_hz, tone.level_db_hl)
        answers.append((tone.frequency_hz, tone.level_db_hl, heard))
        estimator.observe(*answers[-1])
    return answers
