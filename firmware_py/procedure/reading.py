"""What of a threshold may be shown: the one rule for every page, picture, table and export.

A level means one of five things, or there is none. Only of a frequency that was asked does a page
show a symbol, and only a measured threshold is a value of its own.
"""

from dataclasses import dataclass
from enum import StrEnum

from firmware_py.procedure.outcomes import MaskingMark, Outcome
from firmware_py.procedure.results import ThresholdResult


class Kind(StrEnum):
    """What the level of a reading is."""

    MEASURED = "measured"  # the threshold: tones on both sides of it were answered
    ABOVE = "above"  # the threshold lies above it, the limit: no response there
    AT_MOST = "at-most"  # the threshold is at most this, the floor: heard there
    PERHAPS_ABOVE = "perhaps-above"  # the limit, which the threshold perhaps lies above
    INFERRED = "inferred"  # no tone was asked near it: it follows from neighbours and from people
    UNKNOWN = "unknown"  # there is no level


_BEYOND = {Outcome.NO_RESPONSE: Kind.ABOVE, Outcome.HEARS_ALL: Kind.AT_MOST}


@dataclass(frozen=True)
class Reading:
    """A threshold as it is shown; made by `read`."""

    kind: Kind
    level_db_hl: float | None  # None: `UNKNOWN`
    masked: bool = False  # the other ear had noise
    doubtful: bool = False  # the other ear may have heard it

    @property
    def measured_db_hl(self) -> float | None:
        """Return the threshold, if it was measured: the only value that may be called one."""
        return self.level_db_hl if self.kind == Kind.MEASURED else None

    @property
    def inferred_db_hl(self) -> float | None:
        """Return the number that stands for a threshold that was not asked."""
        return self.level_db_hl if self.kind == Kind.INFERRED else None

    @property
    def known_db_hl(self) -> float | None:
        """Return the threshold, or the limit that it surely lies beyond; asked in any case."""
        known = self.kind in (Kind.MEASURED, Kind.ABOVE, Kind.AT_MOST)
        return self.level_db_hl if known else None

    @property
    def symbol_db_hl(self) -> float | None:
        """Return where its symbol stands on an audiogram; None: it has none."""
        return None if self.kind == Kind.INFERRED else self.level_db_hl


def read(found: ThresholdResult) -> Reading:
    """Return what of a threshold may be shown."""
    if found.mark == Outcome.INFERRED:
        return Reading(Kind.INFERRED, found.threshold_db_hl)
    masked, doubtful = (
        found.masking == mark for mark in (MaskingMark.MASKED, MaskingMark.UNCERTAIN)
    )
    if found.mark == Outcome.MEASURED:
        return Reading(Kind.MEASURED, found.threshold_db_hl, masked, doubtful)
    if found.limit_db_hl is None:
        return Reading(Kind.UNKNOWN, None)
    kind = _BEYOND.get(found.mark, Kind.PERHAPS_ABOVE)
    return Reading(kind, found.limit_db_hl, masked, doubtful)
