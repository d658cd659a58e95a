"""What a person wants of a hearing aid: `PreferenceEstimator`, the one object of this room."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Final

import numpy as np

from firmware_py.inference.checks import integer, number
from firmware_py.inference.elementary import INV_SQRT_2PI, exp, log, normal_cdf
from firmware_py.inference.estimator import InferenceError, TrialLimitError
from firmware_py.inference.kernel import CONVERGED, NONE_ALLOWED, NOT_POSITIVE_DEFINITE, Array, hold
from firmware_py.inference.one_at_a_time import OneAtATime
from firmware_py.inference.preference.answer import Answer
from firmware_py.inference.preference.doubts import (
    log_by_chance,
    log_evidence,
    log_of_two_wishes,
    probability_of_one_wish,
)
from firmware_py.inference.preference.points import standard_points, weigh_points
from firmware_py.inference.preference.posterior import infer_wish
from firmware_py.inference.preference.regret import UNIT_DB
from firmware_py.inference.preference.selection import select_pair
from firmware_py.inference.preference.thurstone import ANSWERS, CODES, FIRST, SAME, SECOND
from firmware_py.inference.preference.workspace import Workspace

STEP_DB: Final = 0.5  # of a setting: nobody hears less
SETTING_DB_MAX: Final = 100.0
PRIOR_SD_LIMITS_DB: Final = (0.1, 30.0)
COMPARISONS_LIMITS: Final = (1, 128)

# The kinds of people that there may be: how much more often the better of two sounds is chosen, how
# wide "no difference" is, and how many answers, "first", "second" and "same", mean nothing.
SENSITIVITIES: Final = (0.35, 0.7, 1.4, 2.8)
TIE_WIDTHS: Final = (0.1, 0.6)
LAPSES: Final = (
    (0.02 / 3.0,) * 3, (0.05, 0.05, 0.05), (0.4, 0.01, 0.01), (0.01, 0.4, 0.01)
)  # fmt: skip
LAPSES_SHARES: Final = (0.4, 0.4, 0.1, 0.1)  # before any answer; all else is equally likely
KINDS: Final = tuple(
    (*kind, *lapses) for *kind, lapses in product(SENSITIVITIES, TIE_WIDTHS, LAPSES)
)
SHARES: Final = tuple(
    share / (len(SENSITIVITIES) * len(TIE_WIDTHS))
    for _, _, share in product(SENSITIVITIES, TIE_WIDTHS, LAPSES_SHARES)
)
HALF_LENGTHS_DB: Final = (1.5, 3.0, 5.0, 8.0, 12.0)  # of the candidates
# Where such a band of a number passes the end of its range, that end is asked, and said.
END_ASKED: Final = 0.99
END_SAID: Final = 0.90
BISECTIONS: Final = 50

Pair = tuple[tuple[float, ...], tuple[float, ...]]


class PreferenceEstimator(OneAtATime):
    """Infers from comparisons which setting a person wants, and chooses the next comparison.

    Parameters
    ----------
    ranges_db : sequence of (low, high)
        Of each of the d numbers of a setting; 0, the prescription, lies within.
    prior_sd_db : sequence of float
        Of what people want beside the prescription, of each number.
    max_comparisons : int
        That there is room for.

    Raises
    ------
    ValueError
        If a value is not allowed; the message names it.

    Notes
    -----
    A utility with a maximum, u(x) = -|x - theta|**2 / 2 in units of `UNIT_DB`, makes the answer to
    a comparison depend on one direction of theta only. Nothing is allocated from one answer to the
    next but what is returned.
    """

    def __init__(
        self,
        *,
        ranges_db: Sequence[tuple[float, float]],
        prior_sd_db: Sequence[float],
        max_comparisons: int = 64,
    ) -> None:
        self._ranges_db = _checked_ranges(ranges_db)
        prior_sd_db = _checked_sds(prior_sd_db, len(self._ranges_db))
        room = integer("max_comparisons", max_comparisons, *COMPARISONS_LIMITS)
        self._lengths = np.array(HALF_LENGTHS_DB) / UNIT_DB
        self._points = standard_points(len(self._ranges_db))
        hold((self._points,), self)
        self._workspace = Workspace.with_room_for(room, len(self._ranges_db), len(KINDS))
        self._write(prior_sd_db)
        self.reset()

    def _write(self, prior_sd_db: list[float]) -> None:
        w = self._workspace
        for kind, (entries, share) in enumerate(zip(KINDS, SHARES, strict=True)):
            w.people.table[kind] = entries
            w.people.log_share[kind] = log(share)
        for i, ((low_db, high_db), sd_db) in enumerate(
            zip(self._ranges_db, prior_sd_db, strict=True)
        ):
            w.space.low[i], w.space.high[i] = low_db / UNIT_DB, high_db / UNIT_DB
            w.space.prior_precision[i] = (UNIT_DB / sd_db) ** 2
        w.space.step[0] = STEP_DB / UNIT_DB

    def reset(self) -> None:
        self._answered = [0] * ANSWERS
        self._is_refined = False
        self._chosen: Pair | None = None
        self._ends_asked = [0] * len(self._ranges_db)
        self._checked: int | None = None  # the number whose end is compared next
        self._of_wishes: tuple[float, float] | None = None  # probabilities of one, and of two
        self._workspace.wishes.tau[:] = 0.0
        self._workspace.wishes.nu[:] = 0.0
        self._infer()

    @property
    def comparison_count(self) -> int:
        return sum(self._answered)

    @property
    def nbytes(self) -> int:
        return self._workspace.nbytes

    def check_pair(self) -> Pair:
        """Return the best setting and that with one number at the end of its range, dB.

        Who listens mostly hears that the end is worse. But who wants more than there is prefers the
        farther of any two settings, as does who wants the farther: only the end tells them apart.
        So a number that may be wished beyond its range comes first, then one whose end was asked
        the least often. Errors as of `next_pair`.
        """
        best = self.best()
        wish_db = self.wish()[0].tolist()
        of_numbers = zip(wish_db, self._ranges_db, strict=True)
        ends = [low if each < 0.0 else high for each, (low, high) in of_numbers]
        off_db = [abs(end - value) for end, value in zip(ends, best, strict=True)]
        apart = [i for i, off in enumerate(off_db) if off >= HALF_LENGTHS_DB[0]]
        if not apart:
            return self.next_pair()
        passed = self._passed_ends(END_ASKED)

        def turn(i: int) -> tuple[int, float]:
            return (-1 if i in passed else self._ends_asked[i]), off_db[i]

        number = self._checked = min(apart, key=turn)
        return best, (*best[:number], ends[number], *best[number + 1 :])

    def ends_wished(self) -> dict[int, float]:
        """Return the end of the range, dB, of each number that may be wished beyond it."""
        best, passed = self.best(), self._passed_ends(END_SAID)
        return {i: end for i, end in passed.items() if abs(end - best[i]) <= UNIT_DB}

    def _passed_ends(self, probability: float) -> dict[int, float]:
        """Return the ends, dB, that a band of the wish passes, where the best is nearer than to 0.

        `probability`: of the wish in the band.
        """
        ends, *bands = self._ranges_db, *self.wish_band(probability)
        found = {}
        for i, (value, (low, high), low_db, high_db) in enumerate(
            zip(self.best(), ends, *bands, strict=True)
        ):
            if 2.0 * value > high > 0.0 and high_db > high:
                found[i] = high
            if 2.0 * value < low < 0.0 and low_db < low:
                found[i] = low
        return found

    def next_pair(self) -> Pair:
        """Return the two settings to compare next, dB; in no particular order.

        An `InferenceError`: the ranges leave no two settings that differ.
        """
        if self._chosen is None:
            w = self._workspace
            status = select_pair(
                w.people, w.space, w.wishes, self._lengths, w.scratch, w.slope, w.first, w.second
            )
            if status == NONE_ALLOWED:
                raise InferenceError("the ranges leave no two settings to compare")
            self._chosen = _in_db(w.first), _in_db(w.second)
        return self._chosen

    def observe(
        self, first_db: Sequence[float], second_db: Sequence[float], answer: Answer | str
    ) -> None:
        """Take in which of two settings, in the order in which they were heard, is better.

        A `ValueError`: a setting is no setting, or the answer none. A `TrialLimitError`: there is
        no room for another comparison. After an `InferenceError` nothing is meant by the estimator.
        """
        first, second = self._check(first_db, "first_db"), self._check(second_db, "second_db")
        if answer not in CODES:
            raise ValueError(f"answer is {answer!r}; allowed are {', '.join(CODES)}")
        code, asked, n = CODES[Answer(answer)], self._workspace.asked, self.comparison_count
        if n >= len(asked.answer):
            raise TrialLimitError(f"there is room for {n} comparisons only")
        if self._checked is not None:
            self._ends_asked[self._checked] += 1
        self._answered[code] += 1
        asked.heard[n] = code
        if second < first:  # the posterior has the same bits, whichever was heard first
            first, second, code = second, first, {FIRST: SECOND, SECOND: FIRST, SAME: SAME}[code]
        offset = 0.0
        for i, (a, b) in enumerate(zip(first, second, strict=True)):
            asked.slope[n, i] = a - b
            offset += 0.5 * (a - b) * (a + b)
        asked.offset[n], asked.answer[n] = offset, code
        self._chosen, self._checked, self._is_refined = None, None, False
        self._infer()

    def wish(self) -> tuple[Array, Array]:
        """Return mean, (d,) dB, and covariance, (d, d) dB**2, of what the person wants.

        If nobody listened the answers say nothing of it, and it is what it was before.
        """
        w, listens = self._refine(), self.listens
        prior = np.diag(1.0 / w.space.prior_precision)
        covariance = listens * w.sample.covariance + (1.0 - listens) * prior
        covariance += listens * (1.0 - listens) * (w.sample.mean[:, None] * w.sample.mean)
        return UNIT_DB * listens * w.sample.mean, UNIT_DB**2 * covariance

    def wish_band(self, probability: float = 0.95) -> tuple[Array, Array]:
        """Return the ends, (d,) dB each, of the central band of each number of the wish."""
        number("probability", probability, 0.0, 1.0)
        tail = 0.5 * (1.0 - probability)
        ends = [
            [self._quantile(i, p) for i in range(len(self._ranges_db))] for p in (tail, 1.0 - tail)
        ]
        return UNIT_DB * np.array(ends[0]), UNIT_DB * np.array(ends[1])

    def _quantile(self, i: int, p: float) -> float:
        """Return where the wish's number i lies below with this probability, units."""
        w, listens = self._refine(), self.listens
        order = np.argsort(w.sample.wish[:, i], kind="stable")
        values, below = w.sample.wish[order, i], np.cumsum(w.sample.weight[order])
        sd = 1.0 / math.sqrt(w.space.prior_precision[i])
        low, high = min(float(values[0]), -9.0 * sd), max(float(values[-1]), 9.0 * sd)
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            at = int(np.searchsorted(values, middle))
            found = listens * (float(below[at - 1]) if at else 0.0)
            found += (1.0 - listens) * normal_cdf(middle / sd)
            low, high = (middle, high) if found < p else (low, middle)
        return 0.5 * (low + high)

    @property
    def listens(self) -> float:
        """Return the probability that the answers come from one wish.

        Else they come from chance or place, or from a mind that was changed.
        """
        return self._shares()[0]

    @property
    def changed(self) -> float:
        """Return the probability that the later answers come from another wish."""
        return self._shares()[1]

    def _shares(self) -> tuple[float, float]:
        if self._of_wishes is None:
            w, n = self._workspace, self.comparison_count
            self._of_wishes = probability_of_one_wish(
                n,
                float(w.log_evidence[n]),
                log_by_chance(self._answered),
                log_of_two_wishes(n, w),
            )
        return self._of_wishes

    def _refine(self) -> Workspace:
        """Return the workspace with the exact posterior at points."""
        w, of = self._workspace, self._workspace.wishes
        if self._is_refined:
            return w
        w.centre[:] = 0.0
        for weight, mean in zip(of.weight.tolist(), of.mean, strict=True):
            w.centre += weight * mean
        w.factor[:] = 0.0
        for weight, mean, covariance in zip(
            of.weight.tolist(), of.mean, of.covariance, strict=True
        ):
            off = mean - w.centre
            w.factor += weight * (covariance + off[:, None] * off)
        status = weigh_points(
            self.comparison_count, w.asked, w.people, w.space, of, self._points, w.centre,
            w.factor, w.kinds, w.sample,
        )  # fmt: skip
        if status != CONVERGED:
            raise InferenceError("the answers leave no posterior of a wish")
        self._is_refined = True
        return w

    def best(self) -> tuple[float, ...]:
        """Return the setting with the highest expected utility, dB, of those that there are."""
        mean_db, _ = self.wish()
        pairs = zip(mean_db.tolist(), self._ranges_db, strict=True)
        return tuple(min(max(_round(m), low), high) + 0.0 for m, (low, high) in pairs)

    @property
    def expected_regret(self) -> float:
        """Return what the best setting is expected to be worse than the best that there is.

        That is the wish, or in a number the end of the range beyond which it lies. One unit is a
        difference of 3 sqrt(2) dB in one number; a half is 3 dB.
        """
        w, listens = self._refine(), self.listens
        best = np.array(self.best()) / UNIT_DB
        off = np.clip(w.sample.wish, w.space.low, w.space.high) - best
        squares = float(np.cumsum(w.sample.weight * (off * off).sum(axis=1))[-1])
        limits = zip(w.space.low, w.space.high, w.space.prior_precision, best, strict=True)
        before = sum(_square_within(*map(float, each)) for each in limits)
        return 0.5 * (listens * squares + (1.0 - listens) * before)

    def _infer(self) -> None:
        w, n = self._workspace, self.comparison_count
        status = infer_wish(n, w.asked, w.people, w.space, w.wishes, w.scratch)
        if status == NOT_POSITIVE_DEFINITE:
            raise InferenceError("the answers leave no posterior of a wish")
        self.converged = status == CONVERGED
        self._of_wishes = None
        w.log_evidence[n] = log_evidence(w.people, w.wishes)

    def _check(self, setting_db: Sequence[float], name: str) -> list[float]:
        if len(setting_db) != len(self._ranges_db):
            raise ValueError(
                f"{name} has {len(setting_db)} numbers; a setting has {len(self._ranges_db)}"
            )
        limits = (-SETTING_DB_MAX, SETTING_DB_MAX)
        return [number(name, value, *limits) / UNIT_DB for value in setting_db]


def _square_within(low: float, high: float, precision: float, at: float) -> float:
    """Return E[(x - at)**2] of a Gaussian about 0, x held to a range."""
    sd = 1.0 / math.sqrt(precision)
    ends = [(low, low / sd), (high, high / sd)]
    (below, bell_low), (above, bell_high) = (
        (normal_cdf(z), INV_SQRT_2PI * exp(-0.5 * z * z)) for _, z in ends
    )
    inside = above - below
    first = sd * (bell_low - bell_high)
    second = sd * sd * inside + sd * (low * bell_low - high * bell_high)
    outside = below * (low - at) ** 2 + (1.0 - above) * (high - at) ** 2
    return outside + second - 2.0 * at * first + at * at * inside


def _checked_ranges(ranges_db: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the ranges, their ends on the grid."""
    found = []
    for i, (low_db, high_db) in enumerate(ranges_db):
        number(f"ranges_db[{i}][0]", low_db, -SETTING_DB_MAX, 0.0)
        number(f"ranges_db[{i}][1]", high_db, 0.0, SETTING_DB_MAX)
        found.append((-_floor(-low_db), _floor(high_db)))
    if not found:
        raise ValueError("ranges_db is empty; a setting has one number at least")
    return found


def _checked_sds(prior_sd_db: Sequence[float], count: int) -> list[float]:
    if len(prior_sd_db) != count:
        raise ValueError(f"prior_sd_db has {len(prior_sd_db)} numbers; a setting has {count}")
    limits = PRIOR_SD_LIMITS_DB
    return [number(f"prior_sd_db[{i}]", sd_db, *limits) for i, sd_db in enumerate(prior_sd_db)]


def _round(value_db: float) -> float:
    return round(value_db / STEP_DB) * STEP_DB


def _floor(value_db: float) -> float:
    return value_db // STEP_DB * STEP_DB


def _in_db(setting: Array) -> tuple[float, ...]:
    return tuple(_round(UNIT_DB * value) + 0.0 for value in setting.tolist())
