"""What every prescription is made from: thresholds of a recorded session, or rows of a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from device.hearing_aid.whose import Whose
from device.speech import FloatArray
from firmware_py.findings.air_bone_gap import EarGaps, Gap, may_be_airborne
from firmware_py.findings.rows import Row
from firmware_py.terms.events import DiscomfortTold
from firmware_py.terms.outcomes import Bound
from firmware_py.terms.results import ThresholdResult
from host_tools.errors import HostError
from host_tools.recordings.recorded_session import RecordedSession

DRAWS: Final = 4000  # of what is known: the ends of a 95 % band are then good to 0.1 SD


@dataclass(frozen=True)
class Taken:
    """The thresholds of an ear as a rule is given them."""

    found: tuple[ThresholdResult, ...]  # as the paper of the audiogram has them
    marks: tuple[str, ...]  # how sure each is (`terms.outcomes`), or that it is a table's
    clinical: tuple[ThresholdResult, ...]  # those that rules were made for
    # by so much they lie above those that are heard half of the time; None: nobody knows
    clinical_offset_db: float | None
    # Where there was no response the limit, and where no tone was asked what was inferred.
    point_db_hl: FloatArray  # (m,)
    # (n, m), curves from what is known of them; one alone: how sure they are nobody knows
    draws_db_hl: FloatArray
    calibrated: bool  # whether they are dB HL
    # of those that are known less well than the test wanted, by frequency: how far the 95 % band
    # reaches to either side, and how far it was to
    wide_db: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    # where the other ear may have heard the tones: threshold and gain are the least there can be
    doubtful_hz: tuple[int, ...] = ()
    # frequencies that get no gain, by why, under the names that they have in JSON
    lacking_hz: Mapping[str, Sequence[float]] = field(default_factory=dict)
    said: Sequence[Row] = ()  # what has to be known of them

    @property
    def frequencies_hz(self) -> tuple[int, ...]:
        return tuple(found.frequency_hz for found in self.found)

    @property
    def has_bands(self) -> bool:
        """Return whether it is known how sure they are; else nothing has a band."""
        return len(self.draws_db_hl) > 1


class GapMark(StrEnum):
    """How the gap of a frequency is known that gain is added for."""

    MEASURED = "measured"
    AT_LEAST = "at-least"  # it is a bound, and so is the gain
    INFERRED = "inferred"  # on the line between those that were measured
    NONE = "none"  # nothing is added


@dataclass(frozen=True)
class GapPart:
    """The gaps of an ear at the frequencies of its test by air, (m,)."""

    told: EarGaps
    marks: tuple[GapMark, ...]
    # `db`, `draws_db`: above the usual gap, and what that may be, (n, m), with the drawn thresholds
    # by air; 0 where nothing is to be added
    db: FloatArray
    draws_db: FloatArray

    @property
    def is_called(self) -> bool:
        """Return whether the ear has a conductive part, surely enough."""
        return self.told.mean is not None and self.told.mean.is_called

    @property
    def left_out_hz(self) -> list[int]:
        """Return where a gap is told that nothing is added for, though its ear has a part."""
        known = {f for gap in self.told.gaps if not gap.inferred_hz for f in gap.frequencies_hz}
        return sorted(f for f in known if self.is_called and not counts(self._at(f)))

    def gap_db(self, frequency_hz: int) -> float | None:
        found = self._at(frequency_hz)
        return None if found is None else found.db

    def _at(self, frequency_hz: int) -> Gap | None:
        return next((g for g in self.told.gaps if g.frequencies_hz == (frequency_hz,)), None)


def counts(gap: Gap | None) -> bool:
    """Return whether gain may follow from a gap of a frequency that was asked.

    One that is at most so large, or of tones that the air may have brought, may be none, and one
    that no conductive loss has is an error.
    """
    if gap is None or gap.bound == Bound.AT_MOST or gap.is_impossible:
        return False
    return not any(map(may_be_airborne, gap.frequencies_hz))


class NothingToPrescribeError(HostError):
    """An ear, or a session, of which too little is known; why in words."""


@dataclass(frozen=True)
class Source:
    """Where thresholds are from; it gives those of an ear when asked."""

    place: str  # what it is in, for refusals
    name: str  # what a fit says that it is from
    ears: Sequence[str]  # "left", "right" or both
    # the thresholds of an ear, and what bone conduction tells of it (None: nothing);
    # `NothingToPrescribeError` if nothing follows
    take: Callable[[str], tuple[Taken, GapPart | None]]
    whose: Whose  # with the tone generators of all of its ears
    # `which`, `known`: as JSON values, which it is, and what is known of it as a whole
    which: Mapping[str, Any]
    known: Mapping[str, Any] = field(default_factory=dict)
    headline: str = ""  # whose it is, for the screen; "": it does not tell
    said: Sequence[Row] = ()  # what has to be known of it
    advice: str = ""  # what can be done where a rule lacks a frequency, to end a sentence
    # levels of discomfort that somebody measured, by ear
    told: Mapping[str, DiscomfortTold] = field(default_factory=dict)
    others: Sequence[str] = ()  # ears that are not fitted, though their levels tell of this one
    session: RecordedSession | None = None  # None: it is a table, and there is no paper of it
