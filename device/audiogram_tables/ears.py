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
    """One threshold as it was read.

    Attributes
    ----------
    level_db_hl : float
        Infinity: there was no response.
    limit_db_hl : float or None
        The highest level to which there was none; None: the table does not say it.
    """

    level_db_hl: float
    limit_db_hl: float | None = None

    @property
    def heard(self) -> bool:
        """Return whether there is a threshold."""
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
    """One ear of a table.

    Attributes
    ----------
    where : str
        The place in the table, for messages.
    person : str
        Whose it is; "" where the table does not say.
    source : str
        Of which collection the person is.
    names : tuple of str
        All that the table calls the person.
    ear : str
        R, L, or the table's word.
    side : str
        "right", "left", or "" where the table does not say.
    by_air, by_bone : mapping of float to Reading
    unknown_hz : tuple of float
        Asked by the table by air, and nothing is known there.
    age_years : float
        NaN: not known.
    sex : str
        "F", "M" or "".
    remarks : tuple of str
        What speaks against a fit, in words: levels that are no dB HL, a test that is not valid.
    convention : str
        Which thresholds they are, where the table says it.
    """

    where: str
    person: str
    source: str
    names: tuple[str, ...]
    ear: str
    side: str
    by_air: Readings
    by_bone: Readings
    unknown_hz: tuple[float, ...] = ()
    age_years: float = math.nan
    sex: str = ""
    remarks: tuple[str, ...] = ()
    convention: str = ""
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
        """Return whether anything is known of it."""
        return bool(self.by_air or self.by_bone)
