"""Is the posterior calibrated? Truths from the model's own prior, answers from its own likelihood.

Over such sessions the posterior distribution function at the truth is uniform if the inference is
exact (simulation-based calibration: Talts et al. 2018, arXiv 1804.06788), whatever is asked.
`make sbc` draws many sessions and says by how much it is not.
"""

import argparse
import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi2

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from firmware_py.inference.mixture.population_prior import shipped_prior
from firmware_py.inference.profiles import PROFILES, LaplaceProfile
from tests import reference
from tests.inference.mixture.mixture_state import LISTENERS, SimulatedEar, data_of, hypotheses_of
from tests.reference import FloatArray
from tests.reference_mixture import (
    ATTENDING,
    HEARD,
    MISSING,
    STATE_AT_THE_START,
    STATE_TO_STATE,
    Listener,
    while_away,
)

SEED: Final = 20261201
FREQUENCIES_HZ: Final = (500.0, 1000.0, 4000.0)  # knots of the prior
# Two of the first are candidates; the last is asked only in its neighbourhood.
CANDIDATES_OFF_KNOTS: Final = 16
OFF_KNOTS_HZ: Final = (731.0, 1193.0, 5000.0)
BINS: Final = 10
NOISE_DB, LAPSE_RATE, FALSE_ALARM_RATE = 2.0, 0.01, 0.01
LENGTH_BARK, SD_DB = 4.0, 12.0  # of the profile that has no prior of them

# Says whether a tone is heard, at Hz and dB HL.
Ear = Callable[[float, float], bool]


class Person(SimulatedEar):
    """Out of the shipped prior, and of a kind of listener; who may wander off, and return.

    Parameters
    ----------
    told : bool
        Whether the estimator will be told the listener, who is then one who does not wander.
    """

    def __init__(self, told: bool, rng: np.random.Generator) -> None:
        who = Listener(NOISE_DB, LAPSE_RATE, FALSE_ALARM_RATE)
        if not told:
            who = LISTENERS[rng.choice(len(LISTENERS), p=[one.share for one in LISTENERS])]
        super().__init__(rng, who, prior=shipped_prior())
        self._wanders, self._chance = not told, rng
        self._state = int(rng.choice(3, p=STATE_AT_THE_START)) if self._wanders else ATTENDING

    def __call__(self, frequency_hz: float, level_db_hl: float) -> bool:
        heard = bool(super().__call__(frequency_hz, level_db_hl))
        if self._state != ATTENDING:
            heard = bool(self._chance.random() < while_away(HEARD, 0.0)[self._state - MISSING])
        if self._wanders:
            self._state = int(self._chance.choice(3, p=STATE_TO_STATE[self._state]))
        return heard


def ranks_of_default(tones: int, told: bool, off_knots: bool, seed: int) -> FloatArray:
    """Return the posterior distribution function at the truth, at each of `FREQUENCIES_HZ`.

    Off the knots: tones and frequencies are; the latter are `OFF_KNOTS_HZ`.
    """
    person = Person(told, np.random.default_rng([SEED, seed]))
    known: dict[str, Any] = {}
    if told:
        known |= {"response_noise_db": NOISE_DB, "lapse_rate": LAPSE_RATE,
                  "false_alarm_rate": FALSE_ALARM_RATE}  # fmt: skip
    if off_knots:
        known["candidates"] = CANDIDATES_OFF_KNOTS
    estimator = ThresholdEstimator(max_trials=tones, **known)
    _ask(estimator, person, tones)
    share, means, covariances = hypotheses_of(estimator)
    prior = shipped_prior().within(*estimator.frequency_range_hz)
    data = data_of(prior, off_knots, [], wanders=False)
    rank = []
    for frequency_hz in OFF_KNOTS_HZ if off_knots else FREQUENCIES_HZ:
        b = data.row(frequency_hz)
        sds = np.sqrt(np.einsum("i,hij,j->h", b, covariances, b))
        rank.append(share @ ndtr((person.at(frequency_hz) - means @ b) / sds))
    return np.array(rank)


def ranks_of_paper(tones: int, seed: int) -> FloatArray:
    """Return the same for the paper's profile, whose prior on hyperparameters is flat."""
    rng = np.random.default_rng([SEED, seed])
    known = PROFILES["gp-pta-2015"]
    assert isinstance(known, LaplaceProfile)
    grid_hz = np.geomspace(125.0, 8000.0, 129)
    x = reference.warp(grid_hz)
    intercept_db_hl, slope = reference.prior_mean_line()
    k = reference.kernel(x, x, LENGTH_BARK, SD_DB)
    g = rng.multivariate_normal(intercept_db_hl + slope * x, k, method="eigh")

    def threshold_db_hl(frequency_hz: float) -> float:
        return float(np.interp(reference.warp(frequency_hz), x, g))

    def hears(frequency_hz: float, level_db_hl: float) -> bool:
        z = (level_db_hl - threshold_db_hl(frequency_hz)) / known.response_noise_db
        return bool(rng.random() < ndtr(z))

    estimator = ThresholdEstimator("gp-pta-2015", max_trials=tones)
    _ask(estimator, hears, tones)
    mean_db_hl, sd = estimator.threshold(FREQUENCIES_HZ)
    truth_db_hl = np.array([threshold_db_hl(frequency_hz) for frequency_hz in FREQUENCIES_HZ])
    return np.asarray(ndtr((truth_db_hl - mean_db_hl) / sd))


def _ask(estimator: ThresholdEstimator, hears: Ear, tones: int) -> None:
    for _ in range(tones):
        tone = BITS.choose(estimator)
        heard = hears(tone.frequency_hz, tone.level_db_hl)
        estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)


METHODS: Final[dict[str, Callable[[int, int], FloatArray]]] = {
    "default, told the listener": lambda tones, seed: ranks_of_default(tones, True, False, seed),
    "default": lambda tones, seed: ranks_of_default(tones, False, False, seed),
    "default, told, off the knots": lambda tones, seed: ranks_of_default(tones, True, True, seed),
    "gp-pta-2015": ranks_of_paper,
}


def ranks(method: str, tones: int, seeds: range) -> FloatArray:
    return np.array([METHODS[method](tones, seed) for seed in seeds])


def unlikeliness(rank: FloatArray) -> FloatArray:
    """Return the p-value of Pearson's chi-square for uniform ranks, at each frequency."""
    counts = np.array([np.histogram(of_one, BINS, (0.0, 1.0))[0] for of_one in rank.T])
    expected = len(rank) / BINS
    return np.asarray(chi2.sf(np.sum((counts - expected) ** 2 / expected, axis=1), BINS - 1))


def cover(rank: FloatArray, probability: float) -> FloatArray:
    """Return how often the central band of a probability holds the truth, at each frequency."""
    return np.asarray(np.mean(np.abs(rank - 0.5) <= 0.5 * probability, axis=0))


def distance(rank: FloatArray) -> FloatArray:
    """Return how far the distribution of the ranks is from uniform at most, at each frequency."""
    above = np.arange(1, len(rank) + 1)[:, None] / len(rank)
    ordered = np.sort(rank, axis=0)
    return np.asarray(np.max(np.maximum(above - ordered, ordered - above + 1 / len(rank)), axis=0))


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(description="Print the calibration of all profiles.")
    p.add_argument("--sessions", type=int, default=2000, help="of each (default: 2000)")
    p.add_argument("--tones", type=int, nargs="+", default=[5, 10, 20, 40])
    p.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD",
                   help=f"of {'; '.join(METHODS)} (default: all)")  # fmt: skip
    p.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    a = p.parse_args(argv)
    at_hz, off_hz = (", ".join(f"{f:g}" for f in v) for v in (FREQUENCIES_HZ, OFF_KNOTS_HZ))
    print(f"{a.sessions} sessions; at {at_hz} Hz, off the knots at {off_hz} Hz")
    print(f"{'':28}tones  distance from uniform    p             cover of 50 %     95 %")
    with multiprocessing.get_context("spawn").Pool(a.workers) as pool:
        for method in a.methods:
            for tones in a.tones:
                parts = [range(n, min(n + 50, a.sessions)) for n in range(0, a.sessions, 50)]
                rank = np.vstack(pool.map(partial(ranks, method, tones), parts))
                figures = (distance(rank), unlikeliness(rank), cover(rank, 0.5), cover(rank, 0.95))
                words = "   ".join(" ".join(f"{value:5.3f}" for value in row) for row in figures)
                print(f"{method:28}{tones:5d}  {words}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
