"""Where frequencies lie between the knots of a prior; see `arrays.Places`."""

import math
from bisect import bisect_right
from typing import Final

import numpy as np

from firmware_py.inference.kernel import Array
from firmware_py.inference.mixture.arrays import Places
from firmware_py.inference.mixture.asked import whole_size
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.model import Points, on_line
from firmware_py.inference.scales import SCALES

# Beyond the outermost knots the curve goes on flat, and its variance grows by this for an octave.
OUTSIDE_DB2_PER_OCTAVE: Final = 150.0
NO_BEND: Final = -1
PLACES_KEPT: Final = 16  # of so many sets of frequencies: after each answer the same ones are asked

_octaves = SCALES["log2"].warp


class Placing:
    """The knots and bends of a prior over log2 frequency, and the noise over frequency.

    `noise_curve` has (frequency_hz, factor) points of the response noise; None: it is the same
    everywhere.
    """

    def __init__(self, prior: PopulationPrior, noise_curve: Points | None) -> None:
        self._octaves = [_octaves(f) for f in prior.knots_hz]
        self._between_sd_db = prior.between_knots_sd_db
        self._noise_curve = [(_octaves(f), factor) for f, factor in noise_curve or []]
        self.knots = len(self._octaves)
        self.bends = False  # the bends are among the unknowns
        self._places: dict[tuple[float, ...], Places] = {}

    @property
    def unknowns(self) -> int:
        """Return how many there are: knots, a bend in each interval and beyond each end.

        They are filled up, see `asked`.
        """
        return whole_size(2 * self.knots + 1 if self.bends else self.knots)

    def interval(self, frequency_hz: float) -> int:
        """Return the number of the interval: -1 below the knots, then one above each knot."""
        return bisect_right(self._octaves, _octaves(frequency_hz)) - 1

    def place(self, frequency_hz: float) -> tuple[int, int, float, float]:
        """Return the knot below, the bend, the fraction of the way to the next knot, and the bow.

        The bow is 0 at a knot. The bends follow the knots, that below all knots last.
        """
        at, knots, interval = _octaves(frequency_hz), self._octaves, self.interval(frequency_hz)
        bend = self.knots + interval % (self.knots + 1) if self.bends else NO_BEND
        if interval < 0:
            return 0, bend, 0.0, math.sqrt(OUTSIDE_DB2_PER_OCTAVE * (knots[0] - at))
        if interval == self.knots - 1:
            outside_db2 = OUTSIDE_DB2_PER_OCTAVE * (at - knots[-1])
            return interval, bend, 0.0, math.sqrt(outside_db2)
        u = (at - knots[interval]) / (knots[interval + 1] - knots[interval])
        bow_db = self._between_sd_db[interval] * math.sqrt(4.0 * u * (1.0 - u))
        return interval, bend, u, bow_db

    def places(self, frequencies_hz: Array) -> Places:
        """Return the places of several frequencies; nobody writes to them."""
        key = (self.bends, *frequencies_hz.tolist())
        if key not in self._places:
            if len(self._places) == PLACES_KEPT:
                self._places.clear()
            places = [self.place(frequency_hz) for frequency_hz in key[1:]]
            left, bend, fraction, bow_db = np.array(places).reshape(-1, 4).T.copy()
            self._places[key] = Places(
                left.astype(np.int64), bend.astype(np.int64), fraction, bow_db
            )
        return self._places[key]

    def rows(self, frequencies_hz: Array, unknowns: int) -> tuple[Array, Array]:
        """Return the share of each unknown in the threshold at m frequencies, and what is beside.

        That is (m, unknowns), and the covariance (m, m), dB^2, of bends that are not among them.
        """
        left, bend, fraction, bow_db = self.places(frequencies_hz)
        at = np.arange(len(left))
        row = np.zeros((len(left), unknowns))
        row[at, left] += 1.0 - fraction
        row[at, np.minimum(left + 1, self.knots - 1)] += fraction
        if self.bends:
            row[at, bend] += bow_db
            return row, np.zeros((len(left), len(left)))
        interval = np.array([self.interval(f) for f in frequencies_hz.tolist()])
        same = np.equal.outer(interval, interval)  # frequencies of one interval have one bend
        return row, np.where(same, np.outer(bow_db, bow_db), 0.0)

    def noise_factor(self, frequency_hz: float) -> float:
        """Return the factor on the response noise."""
        return on_line(self._noise_curve, _octaves(frequency_hz)) if self._noise_curve else 1.0
