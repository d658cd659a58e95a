"""The four-frequency average by which hearing losses are sorted (WHO)."""

from dataclasses import dataclass
from typing import Final

from firmware_py.procedure.reading import Kind, Reading, read
from firmware_py.procedure.results import EarResult
from firmware_py.procedure.statements import may_conclude

PTA4_FREQUENCIES_HZ: Final = (500.0, 1000.0, 2000.0, 4000.0)


@dataclass(frozen=True)
class Pta4:
    """The mean threshold at 0.5, 1, 2 and 4 kHz."""

    db_hl: float
    # no response at one of the frequencies, so that its limit is in the mean, or the other ear may
    # have heard the tones of one: the ear is worse
    at_least: bool
    inferred_hz: tuple[int, ...] = ()  # of the four, those that were not asked
    doubtful_hz: tuple[int, ...] = ()  # of the four, those that the other ear may have heard


def pta4_of(ear: EarResult) -> Pta4 | None:
    """Return the average of an ear's thresholds; None: it is not known, or may not be said.

    A threshold that surely lies beyond a limit counts as that limit, and one that is inferred as
    the inferred number.
    """
    if not may_conclude(ear):
        return None
    four = {
        t.frequency_hz: read(t) for t in ear.thresholds if t.frequency_hz in PTA4_FREQUENCIES_HZ
    }
    levels_db_hl = [_level_db_hl(reading) for reading in four.values()]
    known_db_hl = [level_db_hl for level_db_hl in levels_db_hl if level_db_hl is not None]
    if len(known_db_hl) < len(PTA4_FREQUENCIES_HZ):
        return None
    return Pta4(
        sum(known_db_hl) / len(known_db_hl),
        any(reading.kind == Kind.ABOVE or reading.doubtful for reading in four.values()),
        tuple(f for f, reading in four.items() if reading.kind == Kind.INFERRED),
        tuple(f for f, reading in four.items() if reading.doubtful),
    )


def _level_db_hl(reading: Reading) -> float | None:
    return reading.inferred_db_hl if reading.kind == Kind.INFERRED else reading.known_db_hl
