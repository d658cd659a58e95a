"""What a table says of an ear, and the error that says what it is not understood for."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

THRESHOLD_DB_HL_MIN: Final = -30.0  # better ears than this are a unit mistake
THRESHOLD_DB_HL_MAX: Final = 140.0  # so are worse ones: audiometers end at 120


NOT_VALID: Final = "its test is not valid"
NO_DB_HL: Final = "its levels are no dB HL"


class AudiogramError(ValueError):
    """A text that names no audiogram; the message says where and what is allowed."""


@dataclass(frozen=True)
class TableThreshold:
    """One threshold as it was read."""

    level_db_hl: float  # infinity: there was no response
    limit_db_hl: float | None = None  # the highest level to which there was none, if it is told

    @property
    def heard(self) -> bool:
        return self.level_db_hl < math.inf


NO_RESPONSE: Final = TableThreshold(math.inf)


def merge(readings: tuple[TableThreshold, ...]) -> TableThreshold:
    """Return what several readings of one threshold say together: the mean of those heard.

    Where none was heard it is no response, up to the highest limit.
    """
    heard = [each.level_db_hl for each in readings if each.heard]
    if heard:
        return TableThreshold(sum(heard) / len(heard))
    limits = [each.limit_db_hl for each in readings if each.limit_db_hl is not None]
    return TableThreshold(math.inf, max(limits)) if limits else NO_RESPONSE


Readings = Mapping[float, TableThreshold]  # by frequency, rising


@dataclass(frozen=True)
class TableEar:
    """One ear of a table."""

    where: str  # the place in the table, for messages
    person: str  # whose it is; "" where the table does not say
    source: str  # of which collection the person is
    ear: str  # R, L, or the table's word
    side: str  # "right", "left", or "" where the table does not say
    by_air: Readings
    by_bone: Readings
    discomfort: Readings = field(default_factory=dict)  # by air; without response: none up to it
    unknown_hz: tuple[float, ...] = ()  # asked by air, and nothing is known there
    age_years: float = math.nan
    sex: str = ""  # "F", "M" or ""
    remarks: tuple[str, ...] = ()  # what speaks against a fit, in words
    convention: str = ""  # which thresholds they are, where the table says it
    row: int = field(default=0, compare=False)

    @property
    def not_valid(self) -> str:
        """Return the remark that its test is not valid; "": there is none."""
        return next((each for each in self.remarks if each.startswith(NOT_VALID)), "")

    @property
    def nominal(self) -> str:
        """Return the remark that its levels are no dB HL; "": there is none."""
        return next((each for each in self.remarks if each.startswith(NO_DB_HL)), "")

    @property
    def known(self) -> bool:
        return bool(self.by_air or self.by_bone)
