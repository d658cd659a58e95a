"""What the kernels of the choice of a tone find, and problems for the search."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from firmware_py.inference.kernel import CONVERGED, NONE_ALLOWED
from firmware_py.inference.mixture.arrays import (
    NOISE_DB,
    UNSURE_HALF_WIDTH_DB,
    Believed,
    Expected,
    Mixture,
    Places,
    View,
)
from firmware_py.inference.mixture.edges import lower_edge, upper_edge
from firmware_py.inference.mixture.selection import (
    expect_from_mixture,
    look_at,
    mixture_bald,
    select_from_mixture,
)
from firmware_py.inference.rate import CHOICE_ENTRIES, PER_TONE, Seconds
from tests.reference import FloatArray

SDS_DB = [0.3, 1.0, 3.0, 8.0, 25.0]
NOISES_DB = [0.5, 1.7, 6.0, 20.0]
HALF_WIDTHS_DB = [0.01, 0.5, 2.0, 4.5, 9.0, 18.0]
# Where the answer is cheaper, the silence, and by how much.
TIMES = [Seconds(1.4, 2.0), Seconds(0.3, 6.0), Seconds(6.0, 0.3)]


def information(
    level_db_hl: FloatArray, weight: FloatArray, mean_db_hl: FloatArray, sd_db: FloatArray,
    noise_db: float, lapse_rate: float, false_alarm_rate: float, half_width_db: float = 0.0,
    bow_db: float = 0.0,
) -> FloatArray:  # fmt: skip
    """Return bits, probability of a press and the bound, for components at one knot.

    A bend is as it was.
    """
    lower = lower_edge(np.array([noise_db, lapse_rate, false_alarm_rate, half_width_db]))
    upper = upper_edge(lower, noise_db)
    mixture = Mixture(
        weight, mean_db_hl[:, np.newaxis].copy(), np.square(sd_db)[:, np.newaxis, np.newaxis]
    )
    view = View(*np.zeros((len(View._fields), len(weight))))
    count = look_at(0, -1, 0.0, bow_db, noise_db, lower, upper, mixture, view)
    return np.array([
        mixture_bald(float(h), lower, upper, count, view) for h in level_db_hl
    ]).T  # fmt: skip


def found_bits(*args: Any, **more: Any) -> FloatArray:
    return np.asarray(information(*args, **more)[0])


class Problem:
    """A random posterior over a few knots and their bends, and what the search is asked."""

    def __init__(
        self, rng: np.random.Generator, components: int, seconds: Seconds = PER_TONE,
        half_width_db: float = 0.0,
    ) -> None:  # fmt: skip
        self.seconds = seconds
        knots, unknowns, self.points = 5, 9, 7  # the four intervals between five knots
        weight = rng.dirichlet(np.ones(components))
        mean = rng.uniform(-20.0, 110.0, (components, unknowns))
        if rng.random() < 0.7:  # as it is once some tones have been heard
            mean = 40.0 + rng.normal(0.0, 8.0, (components, unknowns))
        mean[:, knots:] = rng.normal(size=(components, unknowns - knots))
        a = rng.normal(size=(components, unknowns, unknowns)) * np.exp(
            rng.uniform(-1.0, 2.5, (components, 1, 1))
        )
        a[:, knots:] *= 0.1
        self.mixture = Mixture(weight, mean, a @ a.transpose(0, 2, 1) + 0.05 * np.eye(unknowns))
        left = rng.integers(0, knots - 1, self.points)
        fraction = rng.choice([0.0, 0.3, 0.8], self.points)
        bow_db = np.where(fraction > 0.0, rng.uniform(1.0, 6.0, self.points), 0.0)
        self.places = Places(left, knots + left, fraction, bow_db)
        self.factor = np.exp(rng.uniform(-0.3, 0.3, self.points))
        self.point_weight = rng.uniform(0.1, 2.0, self.points) * (rng.random(self.points) < 0.8)
        self.limits = (-10.0, 120.0) if rng.random() < 0.6 else (20.5, 61.2)
        rate = rng.choice([1e-4, 0.01, 0.05, 0.15], 2)
        self.listener = np.array([np.exp(rng.uniform(0.0, 2.0)), *rate, half_width_db])
        self.view = View(*np.zeros((len(View._fields), components)))

    def make_twins(self) -> None:
        """Have two candidates be the same, so that neither is better, and all weigh the same."""
        for column in (*self.places, self.factor):
            column[5] = column[1]
        self.point_weight[:] = 1.0

    @property
    def believed(self) -> Believed:
        return Believed(self.factor, *self.moments())

    def at(self, j: int) -> tuple[FloatArray, FloatArray]:
        left, bend, fraction, bow_db = (column[j] for column in self.places)
        b = np.zeros(self.mixture.mean_db_hl.shape[1])
        b[left], b[left + 1], b[bend] = 1.0 - fraction, fraction, bow_db
        variance = np.einsum("i,kij,j->k", b, self.mixture.covariance, b)
        return self.mixture.mean_db_hl @ b, variance

    def moments(self) -> tuple[FloatArray, FloatArray]:
        means, variances = zip(*(self.at(j) for j in range(self.points)), strict=True)
        mean = np.array(means) @ self.mixture.weight
        second = np.array(variances) + (np.array(means) - mean[:, np.newaxis]) ** 2
        second = second @ self.mixture.weight
        return mean, np.sqrt(second)

    def expectation(self, j: int, level_db_hl: FloatArray) -> Expected:
        """Return the bits and the seconds of the kernel at some levels, not weighted."""
        expected = Expected(level_db_hl, *np.zeros((2, len(level_db_hl))))
        expect_from_mixture(
            self.places, self.believed, j, self.seconds, self.listener, self.mixture, self.view,
            expected,
        )  # fmt: skip
        return expected

    def rates(self, j: int) -> FloatArray:
        """Return the objective of the kernel at all whole steps, not weighted."""
        low_db_hl, high_db_hl = self.limits
        expected = self.expectation(j, np.arange(low_db_hl, high_db_hl + 1e-9, 1.0))
        return np.asarray(expected.bits / expected.seconds)

    def solve(self) -> tuple[int, FloatArray]:
        choice = np.full(CHOICE_ENTRIES, np.nan)
        status = select_from_mixture(
            self.places, self.believed, self.point_weight,
            np.full(self.points, self.limits[0]), np.full(self.points, self.limits[1]),
            self.seconds, self.listener, self.mixture, self.view, choice,
        )  # fmt: skip
        return status, choice

    def plain_choice(self) -> tuple[int, float]:
        """Return candidate and level of a search that looks at every level of its scans.

        Candidate by candidate, each from the lowest level up, or with a dead zone from the middle
        to either side: every third level, then those about the best; of equals the first.
        """
        chosen, best = (-1, np.nan), -1.0
        half_width_db, low_db_hl = self.listener[UNSURE_HALF_WIDTH_DB], self.limits[0]
        quick, slow = np.less(self.seconds, self.seconds[::-1])  # which answer is the cheaper one
        for j, (mean_db_hl, sd_db) in enumerate(zip(*self.moments(), strict=True)):
            rates = self.point_weight[j] * self.rates(j)
            middle = mean_db_hl - low_db_hl
            reach = 3.0 * sd_db + half_width_db + 3.0
            beyond = 3.0 * self.listener[NOISE_DB] * self.factor[j]
            seen = np.floor(
                [middle - reach - beyond * slow, middle, middle + reach + beyond * quick]
            )
            first, centre, last = np.clip(seen, 0, len(rates) - 1).astype(int).tolist()
            scans = [(first, last)] if half_width_db <= 0.0 else [(centre, first), (centre, last)]
            for start, stop in scans if self.point_weight[j] > 0.0 else ():
                way = 1 if stop >= start else -1
                top = max(range(start, stop + way, 3 * way), key=rates.__getitem__)
                about = range(max(top - 2, min(start, stop)), min(top + 2, max(start, stop)) + 1)
                top = max(top, *about, key=rates.__getitem__)
                if rates[top] > best:
                    chosen, best = (j, low_db_hl + top), rates[top]
        return chosen

    def best(self) -> float:
        """Return the largest weighted objective over all candidates and whole steps."""
        return max(
            self.point_weight[j] * float(np.max(self.rates(j)))
            for j in range(self.points) if self.point_weight[j] > 0.0
        )  # fmt: skip


def weighted_losses(problems: Iterable[Problem]) -> list[float]:
    """Check each choice; return by how much its weighted objective is short of the largest."""
    lost = []
    for problem in problems:
        status, choice = problem.solve()
        if not np.any(problem.point_weight > 0.0):
            assert status == NONE_ALLOWED
            continue
        j, level_db_hl = int(choice[0]), float(choice[1])
        bits, taken = choice[2:].tolist()
        low, high = problem.limits
        assert status == CONVERGED
        assert problem.point_weight[j] > 0.0
        assert low <= level_db_hl <= high
        assert (level_db_hl - low) % 1.0 == pytest.approx(0.0, abs=1e-9)
        _, *expected = problem.expectation(j, np.array([level_db_hl]))
        assert [[bits], [taken]] == [each.tolist() for each in expected]
        lost.append(problem.best() - problem.point_weight[j] * (bits / taken))
        assert lost[-1] >= -1e-12
    return lost


def check_losses(lost: list[float], components: int) -> None:
    """A coarse scan and a fine one may pass by a peak of a mixture, but seldom and hardly."""
    share = np.mean(np.array(lost) > 1e-9)
    print(f"missed in {100.0 * share:.0f} % of {len(lost)}, by at most {max(lost):.1e} bits a "
          "second (weighted)")  # fmt: skip
    assert share <= (0.0 if components == 1 else 0.02)
    assert max(lost) <= (1e-9 if components == 1 else 0.01)
