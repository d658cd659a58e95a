"""The four-frequency average by which hearing losses are sorted (WHO)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.results import ThresholdResult

PTA4_FREQUENCIES_HZ: Final = (500.0, 1000.0, 2000.0, 4000.0)


@dataclass(frozen=True)
class Pta4:
    """The mean threshold at 0.5, 1, 2 and 4 kHz."""

    db_hl: float
    # no response at one of the frequencies: its limit is in the mean, and the ear is worse
    at_least: bool


def pta4_of(thresholds: Iterable[ThresholdResult]) -> Pta4 | None:
    """Return the average of an ear's thresholds; None: it is not known.

    A threshold that surely lies beyond a limit counts as that limit.
    """
    found = [t for t in thresholds if t.frequency_hz in PTA4_FREQUENCIES_HZ]
    levels_db_hl = [_level_db_hl(threshold) for threshold in found]
    known_db_hl = [level_db_hl for level_db_hl in levels_db_hl if level_db_hl is not None]
    if len(known_db_hl) < len(PTA4_FREQUENCIES_HZ):
        return None
    beyond = any(threshold.mark == Outcome.NO_RESPONSE for threshold in found)
    return Pta4(sum(known_db_hl) / len(known_db_hl), beyond)


def _level_db_hl(found: ThresholdResult) -> float | None:
    return (
        found.limit_db_hl
        if found.mark in (Outcome.NO_RESPONSE, Outcome.HEARS_ALL)
        else found.threshold_db_hl
    )
