"""CAST, classification of audiograms by sequential testing: Bayes over a list of patterns.

Source: Ö. Özdamar, R. E. Eilers, E. Miskiel, J. Widen, "Classification of audiograms by sequential
testing using a dynamic Bayesian procedure", J. Acoust. Soc. Am. 88 (1990) 2171-2179. There is a
finite list of audiogram patterns, each with the frequency it has among people. Every answer turns
the probabilities of the patterns by Bayes' rule; the next tone is the one whose answer tells most
about which pattern it is, the one that splits their probability best; the test ends when one
pattern passes a criterion.

A pattern stands for all ears that are nearer to it than to any other. So the chance that a tone is
heard, given the pattern, is that over its ears: Phi((h - t) / sqrt(sigma**2 + s**2)) with t the
pattern's threshold and s the spread of its ears about it. The threshold is the mean over patterns
and over the ears of each.

What the source leaves open here: the list (found by k-means from a population, or the ten standard
audiograms moved up and down), the criterion, and the step between levels (5 dB, an audiometer's).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from host_tools.research.methods.expectation_propagation import probability_heard
from host_tools.research.methods.interface import (
    Array,
    Stimulus,
    Task,
    binary_entropy_bits,
    interpolation_weights,
    tones_of,
)
from host_tools.research.methods.population import Integers, Population, balance, uniform

PATTERNS_USUAL: Final = 300
LEVEL_STEP_DB: Final = 5.0
SPREAD_MIN_DB: Final = 1.5  # of the rounding to 5 dB, 5 / sqrt(12), so also that of a single ear
SPREAD_OF_STANDARD_DB: Final = 5.0  # half the step between the standard patterns
STANDARD_SHIFTS_DB: Final = (-20.0, -10.0, 0.0, 10.0, 20.0)
START_SEED: Final = 1  # of k-means++
_START_STREAM: Final = 103  # of the Philox key, beside the seed
SWEEPS_MAX: Final = 100  # k-means has come to rest after 20 to 60


@dataclass(frozen=True, eq=False)
class Patterns:
    """Audiogram patterns and how frequent they are."""

    frequencies_hz: Array  # (m,) rising
    thresholds_db_hl: Array  # (k, m) of each pattern
    spread_db: Array  # (k, m) SD of the ears that a pattern stands for, about it; 0 or more
    probability: Array  # (k,) above 0, together 1


def standard_patterns() -> Patterns:
    """Return the ten standard audiograms, moved up and down, all equally frequent."""
    moved = [
        [threshold_db_hl + shift_db for threshold_db_hl in audiogram]
        for shift_db in STANDARD_SHIFTS_DB
        for audiogram in STANDARD_AUDIOGRAMS_DB_HL.values()
    ]
    return Patterns(
        frequencies_hz=np.array(FREQUENCIES_HZ, dtype=float),
        thresholds_db_hl=np.array(moved),
        spread_db=np.full((len(moved), len(FREQUENCIES_HZ)), SPREAD_OF_STANDARD_DB),
        probability=np.full(len(moved), 1.0 / len(moved)),
    )


def learn_patterns(population: Population, count: int = PATTERNS_USUAL) -> Patterns:
    """Find so many patterns in a population by k-means; fewer, if there are fewer different ears.

    Only ears measured at all frequencies are used; a limit counts as a threshold. Every stratum of
    the PTA4 has the same weight, so that severe losses are not rare. A `ValueError`: no ear is
    measured at all frequencies, or `count` is below 1.
    """
    ears = population.complete()
    if count < 1 or not len(ears):
        raise ValueError(
            f"{count} patterns from {len(ears)} ears with all frequencies; allowed are 1 or more"
        )
    weight, thresholds_db_hl = balance(ears.stratum), ears.thresholds_db_hl
    nearest = clusters(thresholds_db_hl, weight, count)
    means, spread_db, probability = [], [], []
    for pattern in range(int(nearest.max()) + 1):
        members = nearest == pattern
        if not members.any():
            continue
        share = weight[members] / weight[members].sum()
        mean = share @ thresholds_db_hl[members]
        variance = share @ (thresholds_db_hl[members] - mean) ** 2
        means.append(mean)
        spread_db.append(np.sqrt(np.maximum(variance, SPREAD_MIN_DB**2)))
        probability.append(weight[members].sum())
    return Patterns(
        frequencies_hz=ears.frequencies_hz,
        thresholds_db_hl=np.array(means),
        spread_db=np.array(spread_db),
        probability=np.array(probability) / math.fsum(probability),
    )


class Cast:
    """CAST on one ear (see the module); without patterns, with those of `standard_patterns`.

    The noise and the rates of the task are taken as true, and tones have the frequencies of the
    patterns. A `ValueError`: none of them, or no level, lies within the task.
    """

    criterion = 0.95  # the test ends when a pattern is so probable

    def __init__(self, task: Task, patterns: Patterns | None = None) -> None:
        self._task = task
        self._patterns = patterns if patterns is not None else standard_patterns()
        self._tones = tones_of(task, self._patterns.frequencies_hz, LEVEL_STEP_DB)
        self._probability = self._patterns.probability.copy()
        self._heard, self._entropy_bits = self._answers(self._tones)

    @property
    def information_bits(self) -> Array:
        """Return, for every tone that may be asked, what its answer is expected to tell."""
        p = self._probability @ self._heard
        return binary_entropy_bits(p) - self._probability @ self._entropy_bits

    def next_stimulus(self) -> Stimulus | None:
        """Return the tone that splits the patterns best, or None: one pattern has been found."""
        if self._ended:
            return None
        frequency_hz, level_db_hl = self._tones[int(np.argmax(self.information_bits))]
        return Stimulus(float(frequency_hz), float(level_db_hl))

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool) -> None:
        """Weigh the patterns by the answer to a tone, which may be any."""
        frequency_hz, level_db_hl, heard = self._task.check(frequency_hz, level_db_hl, heard)
        if self._ended:
            raise ValueError("the test has ended; no answer is allowed any more")
        p = self._answers(np.array([[frequency_hz, level_db_hl]]))[0][:, 0]
        self._probability *= p if heard else 1.0 - p
        total = self._probability.sum()
        if not total > 0.0:
            raise ValueError(
                f"{'heard' if heard else 'not heard'} at {frequency_hz:g} Hz, {level_db_hl:g} "
                "dB HL is impossible for every pattern; a lapse or false alarm rate above 0 "
                "allows it"
            )
        self._probability /= total

    def threshold(self, frequencies_hz: Iterable[float] | Array) -> tuple[Array, Array]:
        wanted_hz = self._task.checked_frequencies(frequencies_hz)
        thresholds_db_hl, spread_db = self._at(wanted_hz)
        mean_db_hl: Array = self._probability @ thresholds_db_hl
        variance = self._probability @ ((thresholds_db_hl - mean_db_hl) ** 2 + spread_db**2)
        return mean_db_hl, np.sqrt(variance)

    @property
    def _ended(self) -> bool:
        return bool(self._probability.max() >= self.criterion)

    def _at(self, frequencies_hz: Array) -> tuple[Array, Array]:
        # (k, j) thresholds and spreads between and beyond the frequencies of the patterns.
        weight = interpolation_weights(self._patterns.frequencies_hz, frequencies_hz)
        return self._patterns.thresholds_db_hl @ weight.T, self._patterns.spread_db @ weight.T

    def _answers(self, tones: Array) -> tuple[Array, Array]:
        # (k, tones) the chance that each pattern hears each tone, and the entropy of the answer.
        thresholds_db_hl, spread_db = self._at(tones[:, 0])
        z = (tones[:, 1] - thresholds_db_hl) / np.hypot(self._task.response_noise_db, spread_db)
        heard = probability_heard(z, self._task)
        return heard, binary_entropy_bits(heard)


def clusters(points: Array, weight: Array, count: int) -> Integers:
    """Group points (n, m) of a weight (n,) by k-means; return for every point its cluster's number.

    Clusters may be left without points, and there are no more than there are different points.
    """
    centres = _spread_centres(points, weight, count)
    nearest = _nearest(points, centres)
    for _ in range(SWEEPS_MAX):
        before = nearest
        total = np.bincount(nearest, weight, minlength=len(centres))
        for column in range(points.shape[1]):
            sums = np.bincount(nearest, weight * points[:, column], minlength=len(centres))
            centres[total > 0.0, column] = (sums / np.where(total > 0.0, total, 1.0))[total > 0.0]
        nearest = _nearest(points, centres)
        if np.array_equal(nearest, before):
            break
    return nearest


def _nearest(points: Array, centres: Array) -> Integers:
    nearest: Integers = np.argmin((centres**2).sum(axis=1) - 2.0 * points @ centres.T, axis=1)
    return nearest


def _spread_centres(points: Array, weight: Array, count: int) -> Array:
    # k-means++ (Arthur & Vassilvitskii 2007): the next centre is a point, drawn with a chance in
    # proportion to its squared distance from the centres so far.
    distance = np.ones(len(points))
    centres: list[Array] = []
    for number in uniform(START_SEED, _START_STREAM, count):
        cumulated = np.cumsum(weight * distance)
        if not cumulated[-1] > 0.0:
            break  # every point is a centre already
        index = int(np.searchsorted(cumulated, number * cumulated[-1], side="right"))
        centres.append(points[index])
        squared = ((points - points[index]) ** 2).sum(axis=1)
        distance = squared if len(centres) == 1 else np.minimum(distance, squared)
    return np.array(centres)
