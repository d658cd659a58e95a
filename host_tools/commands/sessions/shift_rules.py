"""Rules by name of two or three tests of an ear: those of occupational and ototoxicity programmes.

A rule is a row of `RULES`. It asks clinical thresholds, since its authors counted with these. Its
arithmetic is done twice: of the thresholds as they are told, which says what the regulation says;
and of draws from the posteriors of all tests, with what putting the earphones on again may move,
which says how probable it is of the ear. It is done of the least and of the most that a shift can
be: where a threshold lies beyond a limit, or was not measured, these differ, and a rule is open
unless both agree.

OSHA: 29 CFR 1910.95(g)(10) with its Appendix F, and 1904.10; works of the US government. NIOSH:
publication 98-126 (1998). ASHA: Guidelines for the audiologic management of individuals receiving
cochleotoxic drug therapy (1994).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from firmware_py.inference.kernel import Array
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.results import EarResult
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.shown_threshold import as_shown
from host_tools.commands.sessions.change import CHANGED, DRAWS, EarPosterior

Flags = NDArray[np.bool_]

_ROUNDING_DB: Final = 1e-6  # of a mean of numbers that have decimals
# Tables F-1 and F-2: dB at 2, 3 and 4 kHz, a number a year, the first of 20 or younger, the last of
# 60 or older.
AGES: Final = (20, 60)
CORRECTED_HZ: Final = (2000, 3000, 4000)
AGE_DB: Final = {
    "M": (
        (3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8,
         9, 9, 9, 10, 10, 10, 11, 11, 11, 12, 12, 13),
        (4, 4, 4, 4, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 8, 8, 9, 9, 9, 10, 10, 10, 11, 12, 12, 13, 13,
         14, 14, 15, 16, 16, 17, 18, 18, 19, 20, 21, 22, 22, 23),
        (5, 5, 5, 6, 6, 7, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 14, 14, 14, 16, 16, 17, 18,
         19, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31, 32, 33),
    ),
    "F": (
        (4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 9, 9, 9, 9,
         10, 10, 10, 10, 11, 11, 11, 11, 12, 12, 12),
        (3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 11,
         11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16),
        (3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 11, 11,
         11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17),
    ),
}  # fmt: skip


def age_db(sex: str, age_years: float) -> Array:
    """Return what Appendix F allows for an age, at `CORRECTED_HZ`."""
    youngest, oldest = AGES
    year = min(max(int(age_years), youngest), oldest) - youngest
    return np.array([column[year] for column in AGE_DB[sex]], float)


class Told(StrEnum):
    """What the arithmetic of a rule says of the thresholds told."""

    MET = "met"
    NOT_MET = "not-met"
    OPEN = "open"  # it may be either, by what was not measured or lies beyond a limit


@dataclass(frozen=True)
class Rule:
    """A rule by name: what it wants to be worse, where, and whether twice."""

    name: str
    frequencies_hz: tuple[int, ...]
    mean_db: float | None = None  # the mean of all frequencies is so much worse, or more
    # So many frequencies in a row are each so many dB worse, or more: any row will do.
    runs: tuple[tuple[int, float], ...] = ()
    lost: int = 0  # or so many in a row have no response, and had one; 0: that is not asked
    least_mean_db_hl: float | None = None  # and the mean level is this now, or higher
    age_corrected: bool = False
    repeated: bool = False  # at the same frequencies by a second test
    of_baseline: bool = False  # only frequencies that the baseline measured are asked

    def is_met(self, shift_db: Array, level_db_hl: Array, lost: Flags) -> Flags:
        """Return (n,) whether it is met, of arrays (n, m): a row a draw, a column a frequency."""
        met = np.zeros(len(shift_db), bool)
        if self.mean_db is not None:
            met |= shift_db.mean(axis=1) >= self.mean_db - _ROUNDING_DB
        for count, db in self.runs:
            met |= _in_a_row(shift_db >= db - _ROUNDING_DB, count)
        if self.lost:
            met |= _in_a_row(lost, self.lost)
        if self.least_mean_db_hl is not None:
            met &= level_db_hl.mean(axis=1) >= self.least_mean_db_hl - _ROUNDING_DB
        return met


OSHA_HZ: Final = CORRECTED_HZ
STS_DB: Final = 10.0
RULES: Final = (
    Rule("osha-sts", OSHA_HZ, mean_db=STS_DB),
    Rule("osha-sts-age", OSHA_HZ, mean_db=STS_DB, age_corrected=True),
    Rule("osha-recordable", OSHA_HZ, mean_db=STS_DB, least_mean_db_hl=25.0),
    Rule("niosh", (500, 1000, 2000, 3000, 4000, 6000), runs=((1, 15.0),), repeated=True),
    Rule("asha", AUDIOGRAM_FREQUENCIES_HZ, runs=((1, 20.0), (2, 10.0)), lost=3, repeated=True,
         of_baseline=True),
)  # fmt: skip


def _in_a_row(each: Flags, count: int) -> Flags:
    """Return (n,) whether so many columns beside one another are true in a row."""
    runs = [each[:, j : j + count].all(axis=1) for j in range(each.shape[1] - count + 1)]
    return np.any(runs, axis=0) if runs else np.zeros(len(each), bool)


@dataclass(frozen=True)
class Known:
    """What is known of an ear in one test, by frequency: a row of thresholds, or a row a draw."""

    # `least_db_hl`, `most_db_hl` (n, m): the threshold, infinite on the side on which it is open
    least_db_hl: Array
    most_db_hl: Array
    level_error_db: Array  # (n, 1): of all levels alike, which no shift has
    silent: Flags  # (m,): there was no response, up to the limit
    beyond: Flags  # (m,): it lies beyond a limit, this or the floor
    measured: Flags  # (m,): something is known of it

    @classmethod
    def at(
        cls, frequencies_hz: tuple[int, ...], db_hl: dict[int, Array], of: EarPosterior,
        level_error_db: Array,
    ) -> Self:  # fmt: skip
        """Place thresholds, each (n,), at the frequencies of a rule: nothing is known of others."""
        rows, columns = len(level_error_db), len(frequencies_hz)
        least, most = (np.full((rows, columns), end) for end in (-np.inf, np.inf))
        silent, beyond, measured = (np.zeros(columns, bool) for _ in range(3))
        for j, f in enumerate(frequencies_hz):
            if f not in db_hl:
                continue
            measured[j], level = True, of.beyond(f)
            silent[j], beyond[j] = level.open_above, level.open_above or level.open_below
            if not level.open_below:
                least[:, j] = db_hl[f]
            if not level.open_above:
                most[:, j] = db_hl[f]
        return cls(least, most, level_error_db, silent, beyond, measured)

    @classmethod
    def nothing(cls, like: Self) -> Self:
        """Return what is known of a test that there was not."""
        least, most = (np.full_like(like.least_db_hl, end) for end in (-np.inf, np.inf))
        none = np.zeros_like(like.measured)
        return cls(least, most, like.level_error_db, none, none, none)


@dataclass(frozen=True)
class Measured:
    """An ear in one test, in clinical thresholds."""

    told_db_hl: dict[int, float]  # by frequency
    posterior: EarPosterior  # of 50 % points
    offset_db: float  # by which clinical thresholds lie above these
    # by frequency of `posterior`: the SD of what the earphones, and another calibration, may move
    moved_db: Array
    level_sd_db: float  # of all levels alike, by calibration and type of transducer

    @classmethod
    def of(
        cls, clinical: EarResult, posterior: EarPosterior, moved_db: Array, level_sd_db: float
    ) -> Self:
        """Take an ear of a session, its thresholds clinical ones."""
        shown = {each.frequency_hz: as_shown(each).known_db_hl for each in clinical.thresholds}
        asked = {f: shown[f] for f in posterior.frequencies_hz}
        told_db_hl = {f: level for f, level in asked.items() if level is not None}
        return cls(told_db_hl, posterior, clinical.clinical_offset_db, moved_db, level_sd_db)

    def told(self, rule: Rule) -> Known:
        db_hl = {f: np.array([each]) for f, each in self.told_db_hl.items()}
        return Known.at(rule.frequencies_hz, db_hl, self.posterior, np.zeros((1, 1)))

    def drawn(self, rule: Rule, random: np.random.Generator) -> Known:
        draws_db_hl = self.posterior.draws_db_hl(random, DRAWS) + self.offset_db
        draws_db_hl += self.moved_db * random.standard_normal(draws_db_hl.shape)
        limits_db_hl = self.posterior.floor_db_hl, self.posterior.limit_db_hl
        draws_db_hl = np.clip(draws_db_hl, *limits_db_hl)
        db_hl = dict(zip(self.posterior.frequencies_hz, draws_db_hl.T, strict=True))
        error_db = self.level_sd_db * random.standard_normal((DRAWS, 1))
        return Known.at(rule.frequencies_hz, db_hl, self.posterior, error_db)


@dataclass(frozen=True)
class Finding:
    """What a rule says of an ear."""

    rule: Rule
    told: Told
    # `least`, `most`: its probability, of all that bounds leave open
    least: float
    most: float
    # By how much the ear is worse: in the mean, or at the frequency with the largest shift; None:
    # nothing is known. `bound`: the shift is at least, or at most, this.
    shift_db: float | None
    frequency_hz: int | None
    bound: Bound
    missing_hz: tuple[int, ...]  # was not measured in all of the tests
    beyond_hz: tuple[int, ...]  # a threshold lay beyond a limit, and leaves the rule open
    unrepeated: bool  # there is no second test

    @property
    def sure(self) -> bool:
        """Return whether the bands leave no doubt about what the arithmetic says."""
        if self.told == Told.MET:
            return self.least >= CHANGED
        return self.told == Told.NOT_MET and self.most <= 1.0 - CHANGED


def judge(
    rule: Rule,
    baseline: Measured,
    tests: Sequence[Measured],
    seed: int,
    age_db_: Array | None = None,
) -> Finding:
    """Return what a rule says of an ear's last test against its baseline.

    `tests`: the last one, and the one before it, if there is one after the baseline. `age_db_`: at
    the frequencies of the rule, what is allowed for age.
    """
    if rule.of_baseline:
        known_hz = tuple(f for f in rule.frequencies_hz if f in baseline.told_db_hl)
        rule = replace(rule, frequencies_hz=known_hz)
    wanted = tests[: 1 + rule.repeated]
    unrepeated = len(wanted) < 1 + rule.repeated
    random = np.random.Generator(np.random.Philox(seed))
    shares = []
    told_of = [each.told(rule) for each in (baseline, *wanted)]
    for known in (told_of, [each.drawn(rule, random) for each in (baseline, *wanted)]):
        if unrepeated:
            known.append(Known.nothing(known[0]))
        shares.append([float(_met(rule, known, age_db_, most).mean()) for most in (False, True)])
    (surely, perhaps), (least, most) = shares
    told = Told.MET if surely else Told.OPEN if perhaps else Told.NOT_MET
    shift_db, frequency_hz, bound = _shift(rule, told_of[: 1 + len(wanted)], age_db_)
    measured = np.all([each.measured for each in told_of[: 1 + len(wanted)]], axis=0)
    beyond = np.any([each.beyond for each in told_of], axis=0) & measured
    return Finding(
        rule, told, least, most, shift_db, frequency_hz, bound,
        _where(rule, ~measured), _where(rule, beyond) if told == Told.OPEN else (), unrepeated,
    )  # fmt: skip


def _where(rule: Rule, which: Flags) -> tuple[int, ...]:
    return tuple(f for f, each in zip(rule.frequencies_hz, which, strict=True) if each)


def _shift_db(known: list[Known], age_db_: Array | None, most: bool) -> Array:
    """Return (n, m) by how much the ear is worse in all later tests, at the least or most."""
    first, *later = known
    by_test = [
        each.most_db_hl - first.least_db_hl if most else each.least_db_hl - first.most_db_hl
        for each in later
    ]
    shift_db: Array = np.min(by_test, axis=0)
    return shift_db if age_db_ is None else shift_db - age_db_


def _met(rule: Rule, known: list[Known], age_db_: Array | None, most: bool) -> Flags:
    last = known[1]
    shift_db = _shift_db(known, age_db_, most)
    # Of what had no response before, the least shift is no number, and the most is any.
    lost = np.all([each.silent for each in known[1:]], axis=0) & (shift_db >= 0.0)
    level_db_hl = (last.most_db_hl if most else last.least_db_hl) + last.level_error_db
    return rule.is_met(shift_db, level_db_hl, lost)


def _shift(
    rule: Rule, told: list[Known], age_db_: Array | None
) -> tuple[float | None, int | None, Bound]:
    """Return the shift that is told, where, and whether it is a bound."""
    least, most = (_shift_db(told, age_db_, each)[0] for each in (False, True))
    if rule.mean_db is not None:
        low, high, frequency_hz = least.mean(), most.mean(), None
    else:
        known = np.where(np.isfinite(least), least, np.where(np.isfinite(most), most, -np.inf))
        if not known.size:
            return None, None, Bound.NONE
        at = int(np.argmax(known))
        low, high, frequency_hz = least[at], most[at], rule.frequencies_hz[at]
    if np.isfinite(low):
        bound = Bound.NONE if np.isfinite(high) else Bound.AT_LEAST
        return float(low), frequency_hz, bound
    if np.isfinite(high):
        return float(high), frequency_hz, Bound.AT_MOST
    return None, None, Bound.NONE
