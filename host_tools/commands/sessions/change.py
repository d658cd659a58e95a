"""Whether an ear changed between two sessions: the probability of a shift of 10 dB or more.

Each session leaves a joint posterior of the ear's thresholds, a mixture of Gaussians over all
frequencies. With the earphones put on again a measured threshold moves though the ear does not, so
that the shift at frequency f is

    D(f) = x_last(f) - x_first(f) + e(f),    e(f) ~ N(0, 2 REPETITION(f)^2 + APART(f)^2),

and an ear changed if |D(f)| >= 10 dB at any frequency that both sessions asked. Its probability is
the share of draws from both posteriors, with all that neighbours share, of which that is true. The
draws are the same every time.

A threshold beyond a limit counts as if it lay at it: the shift is then a bound, and a draw counts
only if the ear moved so far whatever lies beyond. The probability is the least that it can be.

REPETITION is the standard uncertainty of repeated measurements, 2.5 dB up to 4 kHz and 4 dB above
it (`firmware_py/findings/whole_band.py` has the source). It holds the spread of a manual test too,
and not day and fit alone, so that the remark is rather made too seldom. What was the same both
times cancels: the type of the transducer, and mostly the calibration. Where that was another, APART
has its part of either session.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from firmware_py.ear.threshold_estimates import BAND_PROBABILITY
from firmware_py.findings.whole_band import REPETITION
from firmware_py.inference.kernel import Array
from firmware_py.terms.level import Level
from firmware_py.terms.outcomes import Bound, Outcome
from firmware_py.terms.results import EarResult
from firmware_py.terms.settings import BRISK, CLINICAL
from firmware_py.terms.shown_threshold import Kind, as_shown
from firmware_py.terms.verdicts import may_conclude
from host_tools.recordings.as_recorded import KnownThresholds

SHIFT_DB: Final = 10.0  # that counts
# From this probability on it is said that an ear changed. By `gp-pta study --changed`, with 100
# people a row, one in fifty ears that did not change has more, over both conducts.
CHANGED: Final = 0.95
# The same, of other people: of which share of ears it is said, by conduct; if they did not change,
# and if they became 15 dB worse from 3 kHz on.
FALSE_ALARMS: Final = {BRISK: 0.021, CLINICAL: 0.026}
NOTICED: Final = {BRISK: 0.670, CLINICAL: 0.649}
USUAL: Final = 0.70  # half of the ears that did not change have a higher probability
DRAWS: Final = 20_000  # of a probability of one half the error is .0035
SEED: Final = 21
# What an ear has to have come to, to be compared.
FINISHED: Final = (Outcome.MEASURED, Outcome.NO_RESPONSE, Outcome.HEARS_ALL)
_LEAST_VARIANCE_DB2: Final = 1e-9  # keeps a covariance positive in spite of rounding


ARRAYS: Final = ("weight", "mean_db_hl", "covariance_db2")
LIMITS: Final = {"floor_db_hl": -np.inf, "limit_db_hl": np.inf}  # and what stands for none


@dataclass(frozen=True)
class EarPosterior:
    """What a session leaves of an ear, at the frequencies that it asked."""

    frequencies_hz: tuple[int, ...]
    # `weight` (c,), `mean_db_hl` (c, m), `covariance_db2` (c, m, m): a mixture of Gaussians
    weight: Array
    mean_db_hl: Array
    covariance_db2: Array
    # `floor_db_hl`, `limit_db_hl` (m,): what lies beyond counts as if it lay here; infinite where
    # the threshold was measured
    floor_db_hl: Array
    limit_db_hl: Array

    @classmethod
    def of(cls, found: EarResult, thresholds: KnownThresholds) -> Self | None:
        """Take an ear of a session; None: nothing is sure enough to be compared."""
        if not may_conclude(found):
            return None
        readings = {t.frequency_hz: as_shown(t) for t in found.thresholds}
        known = [
            f for f, each in readings.items() if each.known_db_hl is not None and not each.doubtful
        ]
        if found.outcome not in FINISHED or not known or found.tones == 0:
            return None
        shown = [readings[f] for f in known]
        floor_db_hl = [e.level_db_hl if e.kind == Kind.AT_MOST else -np.inf for e in shown]
        limit_db_hl = [e.level_db_hl if e.kind == Kind.ABOVE else np.inf for e in shown]
        joint = thresholds.joint_threshold([float(f) for f in known])
        return cls(tuple(known), *joint, np.array(floor_db_hl), np.array(limit_db_hl))

    def to_record(self) -> dict[str, Any]:
        """Return it as JSON values; an infinite limit is none."""
        arrays = {name: getattr(self, name).tolist() for name in ARRAYS}
        limits = {name: _finite(getattr(self, name)) for name in LIMITS}
        return {"frequencies_hz": [*self.frequencies_hz], **arrays, **limits}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        limits = {
            name: np.array([end if limit is None else limit for limit in record[name]])
            for name, end in LIMITS.items()
        }
        arrays = {name: np.array(record[name]) for name in ARRAYS}
        return cls(tuple(record["frequencies_hz"]), **arrays, **limits)

    def at(self, frequencies_hz: Sequence[int]) -> Self:
        """Return the same at some of its frequencies."""
        i = [self.frequencies_hz.index(f) for f in frequencies_hz]
        return type(self)(
            tuple(frequencies_hz),
            self.weight,
            self.mean_db_hl[:, i],
            self.covariance_db2[:, i][:, :, i],
            self.floor_db_hl[i],
            self.limit_db_hl[i],
        )

    def beyond(self, frequency_hz: int) -> Level:
        """Return on which sides its threshold is open, for it lies beyond a limit."""
        i = self.frequencies_hz.index(frequency_hz)
        below, above = (bool(np.isfinite(of[i])) for of in (self.floor_db_hl, self.limit_db_hl))
        return Level.at(0.0, open_below=below, open_above=above)

    def draws_db_hl(self, random: np.random.Generator, count: int) -> Array:
        """Return thresholds (count, m) from the mixture, without what lies beyond a limit."""
        share = np.maximum(self.weight, 0.0)
        which = random.choice(len(share), size=count, p=share / share.sum())
        size = len(self.frequencies_hz)
        roots = np.linalg.cholesky(self.covariance_db2 + _LEAST_VARIANCE_DB2 * np.eye(size))
        normal = random.standard_normal((count, size))
        drawn = self.mean_db_hl[which] + np.einsum("nij,nj->ni", roots[which], normal)
        clipped: Array = np.clip(drawn, self.floor_db_hl, self.limit_db_hl)
        return clipped


def _finite(limits_db_hl: Array) -> list[float | None]:
    return [float(each) if np.isfinite(each) else None for each in limits_db_hl]


@dataclass(frozen=True)
class Shift:
    """By how much an ear is worse at a frequency than it was before."""

    frequency_hz: int
    mean_db: float
    # `low_db`, `high_db`: the central 95 % band
    low_db: float
    high_db: float
    probability: float  # of `SHIFT_DB` or more, either way; of a bound the least that it can be


@dataclass(frozen=True)
class Change:
    """What came of an ear between two sessions."""

    probability: float  # the same at any of the frequencies
    shifts: tuple[Shift, ...]

    @property
    def changed(self) -> bool:
        """Return whether it is said that the ear changed."""
        return self.probability >= CHANGED

    @property
    def clearest(self) -> Shift:
        """Return the shift that is most probably one."""
        return max(self.shifts, key=lambda shift: (shift.probability, abs(shift.mean_db)))


def bounds_between(first: EarPosterior, last: EarPosterior) -> dict[int, Bound | None]:
    """Return what each shift is of its number; None: both thresholds lie beyond a limit.

    It is told of the frequencies that were asked both times.
    """
    common = [f for f in last.frequencies_hz if f in first.frequencies_hz]
    return {f: last.beyond(f).minus(first.beyond(f)).bound for f in common}


def change_between(
    first: EarPosterior, last: EarPosterior, apart_db2: Callable[[float], float] = lambda _: 0.0
) -> Change | None:
    """Return what came of an ear; None: no frequency was asked both times.

    `apart_db2`: by frequency, the variance of a calibration that was not the same both times.
    """
    bounds = bounds_between(first, last)
    if not bounds:
        return None
    common = [*bounds]
    random = np.random.Generator(np.random.Philox(SEED))
    before, after = (each.at(common).draws_db_hl(random, DRAWS) for each in (first, last))
    moved_db = np.sqrt([2.0 * REPETITION.at(f) ** 2 + apart_db2(f) for f in common])
    shift_db = after - before + moved_db * random.standard_normal(before.shape)
    worse, better = (
        [bound in (Bound.NONE, sure) for bound in bounds.values()]
        for sure in (Bound.AT_LEAST, Bound.AT_MOST)
    )
    large = (shift_db >= SHIFT_DB) & worse | (shift_db <= -SHIFT_DB) & better
    tail = 0.5 * (1.0 - BAND_PROBABILITY)
    low_db, high_db = np.quantile(shift_db, (tail, 1.0 - tail), axis=0)
    shifts = zip(common, shift_db.mean(axis=0), low_db, high_db, large.mean(axis=0), strict=True)
    return Change(
        float(large.any(axis=1).mean()),
        tuple(Shift(f, *map(float, numbers)) for f, *numbers in shifts),
    )
