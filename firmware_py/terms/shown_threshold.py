"""What may be shown of a threshold: the one rule for every page, picture, table and export.

A level means one of five things, or there is none. Only of a frequency that was asked does a page
show a symbol, and only a measured threshold is a value of its own. Nothing lies outside the levels
that could be asked: what would is at least, or at most, the limit.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from firmware_py.terms.level import Level
from firmware_py.terms.outcomes import WITH_NUMBERS, Bound, MaskingMark, Outcome
from firmware_py.terms.reasons import as_json
from firmware_py.terms.results import LEVEL_DB_MAX, ThresholdResult


class Kind(StrEnum):
    """What the level of a reading is."""

    MEASURED = "measured"  # the threshold: tones on both sides of it were answered
    ABOVE = "above"  # the threshold lies above it, the limit: no response there
    AT_MOST = "at-most"  # the threshold is at most this, the floor: heard there
    PERHAPS_ABOVE = "perhaps-above"  # the limit, which the threshold perhaps lies above
    INFERRED = "inferred"  # no tone was asked near it: it follows from neighbours and from people
    UNKNOWN = "unknown"  # there is no level


BEYOND: Final = {Kind.ABOVE: Bound.AT_LEAST, Kind.AT_MOST: Bound.AT_MOST}
_KINDS: Final = {Outcome.NO_RESPONSE: Kind.ABOVE, Outcome.HEARS_ALL: Kind.AT_MOST}
SIGNS: Final = {Bound.NONE: "", Bound.AT_LEAST: ">", Bound.AT_MOST: "≤"}
# Of a threshold that perhaps lies above a limit, or above the level from which on the skin may feel
# tones by bone, the 95 % band reaches up to there; so much lower, at most, it lies.
PERHAPS_BELOW_DB: Final = 8.0
# What is told of a reading.
SHOWN: Final = (
    "kind", "level_db_hl", "sign", "low_db_hl", "high_db_hl", "low_open", "high_open", "symbol",
)  # fmt: skip
# The numbers of a measured threshold, and the names that they have under `inferred`.
NUMBERS: Final = {
    "threshold_db_hl": "db_hl", "sd_db": "sd_db",
    "low_db_hl": "low_db_hl", "high_db_hl": "high_db_hl",
}  # fmt: skip


@dataclass(frozen=True)
class ShownThreshold:
    """A threshold as it is shown; made by `as_shown`."""

    kind: Kind
    level_db_hl: float | None  # None: `UNKNOWN`
    # `low_db_hl`, `high_db_hl`: the 95 % band; None: there is none
    low_db_hl: float | None = None
    high_db_hl: float | None = None
    # `low_open`, `high_open`: the band goes on beyond the lowest or highest level of the test
    low_open: bool = False
    high_open: bool = False
    limit: Bound = Bound.NONE  # the level is a limit, and the threshold lies beyond it
    masked: bool = False  # the other ear had noise
    doubtful: bool = False  # the other ear may have heard it

    @property
    def measured_db_hl(self) -> float | None:
        """Return the threshold, if it was measured: the only value that may be called one."""
        return self.level_db_hl if self.kind == Kind.MEASURED else None

    @property
    def known_db_hl(self) -> float | None:
        """Return the threshold, or the limit that it surely lies beyond; asked in any case."""
        return self.level_db_hl if self.kind in (Kind.MEASURED, *BEYOND) else None

    @property
    def bound(self) -> Bound:
        perhaps = self.kind == Kind.PERHAPS_ABOVE or self.doubtful
        return Bound.AT_LEAST if perhaps else self.limit

    @property
    def sign(self) -> str:
        return "?" if self.kind == Kind.PERHAPS_ABOVE else SIGNS[self.limit]

    @property
    def symbol(self) -> str | None:
        """Return which symbol of its ear it has; None: it has none."""
        if self.level_db_hl is None or self.kind == Kind.INFERRED:
            return None
        if self.doubtful:
            return MaskingMark.UNCERTAIN
        return MaskingMark.MASKED if self.masked else MaskingMark.NOT_MASKED


def as_shown(found: ThresholdResult) -> ShownThreshold:
    masked = found.masking == MaskingMark.MASKED
    doubtful = found.masking == MaskingMark.UNCERTAIN
    if found.mark == Outcome.INFERRED:
        return _read_number(found, Kind.INFERRED, masked=False, doubtful=False)
    if found.mark == Outcome.MEASURED:
        return _read_number(found, Kind.MEASURED, masked=masked, doubtful=doubtful)
    if found.limit_db_hl is None:
        return ShownThreshold(Kind.UNKNOWN, None)
    kind = _KINDS.get(found.mark, Kind.PERHAPS_ABOVE)
    limit = BEYOND.get(kind, Bound.NONE)
    return ShownThreshold(kind, found.limit_db_hl, limit=limit, masked=masked, doubtful=doubtful)


def _read_number(
    found: ThresholdResult, kind: Kind, *, masked: bool, doubtful: bool
) -> ShownThreshold:
    """Read a mark that has numbers: nothing of them lies outside the limits."""
    db_hl, low_db_hl, high_db_hl = found.threshold_db_hl, found.low_db_hl, found.high_db_hl
    assert db_hl is not None, "the mark has numbers"
    floor_db_hl = -LEVEL_DB_MAX if found.floor_db_hl is None else found.floor_db_hl
    ceiling_db_hl = LEVEL_DB_MAX if found.ceiling_db_hl is None else found.ceiling_db_hl
    level = Level.at(db_hl).within(floor_db_hl, ceiling_db_hl)
    limit = level.bound or Bound.NONE
    if low_db_hl is None or high_db_hl is None:  # it was not measured here
        return ShownThreshold(kind, level.low_db, limit=limit, masked=masked, doubtful=doubtful)
    band = Level(min(low_db_hl, db_hl), max(high_db_hl, db_hl)).within(floor_db_hl, ceiling_db_hl)
    return ShownThreshold(
        kind, level.low_db, band.low_db, band.high_db, band.open_below, band.open_above,
        limit, masked, doubtful,
    )  # fmt: skip


def level_of(found: ThresholdResult) -> Level | None:
    """Return what is known of a threshold: a number with its SD, or a limit; None: nothing."""
    reading = as_shown(found)
    if reading.level_db_hl is None:
        return None
    db_hl = reading.level_db_hl - PERHAPS_BELOW_DB * (reading.kind == Kind.PERHAPS_ABOVE)
    return Level(
        db_hl, db_hl, reading.limit == Bound.AT_MOST, reading.bound == Bound.AT_LEAST,
        found.sd_db or 0.0, reading.kind == Kind.INFERRED, reading.doubtful,
    )  # fmt: skip


def threshold_as_json(found: ThresholdResult) -> dict[str, Any]:
    """Return a threshold as JSON values, with its reading: who shows it needs no rule of its own.

    Its own numbers are there only where it was measured; what is inferred stands under `inferred`.
    A masked threshold has no `air_bone_gap_db`: that is a supposition about the other ear, and
    reads as a finding about this one.
    """
    reading, told, inferred = as_shown(found), as_json(found), None
    shown = {name: getattr(reading, name) for name in SHOWN}
    if found.mark in WITH_NUMBERS:
        told["threshold_db_hl"] = reading.level_db_hl
        told |= {name: shown[name] for name in ("low_db_hl", "high_db_hl")}
    if reading.kind == Kind.INFERRED:
        inferred = {short: told[name] for name, short in NUMBERS.items()}
        told |= dict.fromkeys(NUMBERS)
    if reading.masked:
        del told["air_bone_gap_db"]
    return {**told, "inferred": inferred, "reading": shown}


def is_wide(found: ThresholdResult, wanted_db: float) -> bool:
    """Return whether it was measured, with a 95 % band further to either side than was wanted."""
    return found.mark == Outcome.MEASURED and found.is_wider_than(wanted_db)
