"""For whom a fit is, as far as thresholds tell: who hears nothing, who hears well, what stays mute.

Thresholds are those by air, and nobody's wish is in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.hearing_aid.for_whom import Code, EarFinding
from device.hearing_aid.limits import field_db_spl
from device.speech import (
    CONVERSATION_DB_SPL,
    PEAKS_DB,
    SPECTRUM_DB_SPL,
    THIRDS_DB_SPL,
    THIRDS_HZ,
    FloatArray,
)

# A threshold up to this is normal: the end of the first grade (World Report on Hearing, WHO 2021).
NORMAL_DB_HL: Final = 20.0
LIKELY: Final = 0.5  # so probable a frequency is named
SURE: Final = 0.95  # the same of a bound; and so probable it is said without a number
UPPER_TAIL: Final = 0.025  # above a 95 % band


@dataclass(frozen=True)
class Ear:
    """What is known of an ear at the frequencies of its test, (m,) or (n, m)."""

    ear: str
    frequencies_hz: Sequence[float]
    thresholds_db_hl: FloatArray  # those that the gains were taken from
    draws_db_hl: FloatArray  # (n, m), threshold curves from what is known of it
    asked: Sequence[bool]  # whether a tone was asked there
    silent: Sequence[bool]  # whether there was no response up to the limit
    perhaps_silent: Sequence[bool]  # or perhaps none
    sure: Sequence[bool]  # whether what was asked is known to be heard by this ear


def of_ear(ear: Ear, gain_db: FloatArray) -> list[EarFinding]:
    """Return for whom gains for conversational speech are, (m,), as far as the thresholds tell."""
    return [*_of_hearing(ear), *_of_speech(ear, gain_db)]


def _of_hearing(ear: Ear) -> list[EarFinding]:
    asked, silent = np.array(ear.asked, dtype=bool), np.array(ear.silent, dtype=bool)
    frequencies_hz = np.array(ear.frequencies_hz, dtype=np.float64)
    if not asked.any():
        return []
    if silent.any() and (silent | np.array(ear.perhaps_silent, dtype=bool))[asked].all():
        return [EarFinding(ear.ear, Code.NOTHING_HEARD, _as_floats(frequencies_hz[asked]))]
    if (asked & silent).any():
        return [EarFinding(ear.ear, Code.NOT_HEARD_AT, _as_floats(frequencies_hz[asked & silent]))]
    normal = ear.thresholds_db_hl <= NORMAL_DB_HL
    if not normal[asked].all() or not all(ear.sure):
        return []
    above = np.mean(ear.draws_db_hl > NORMAL_DB_HL, axis=0)
    doubt = asked & (above > UPPER_TAIL)
    return [
        EarFinding(
            ear.ear, Code.NORMAL, _as_floats(frequencies_hz[doubt]), _round(1.0 - above[doubt])
        )
    ]


def _of_speech(ear: Ear, gain_db: FloatArray) -> list[EarFinding]:
    """Return where the gains do not bring conversational speech above the threshold.

    Where that is a bound it is named only if it is sure, for a bound has no probability.
    """
    frequencies_hz = np.array(ear.frequencies_hz, dtype=np.float64)
    speech_db_spl = speech_in_thirds_db_spl(frequencies_hz) + gain_db
    thresholds_db_spl = ear.draws_db_hl + field_db_spl(frequencies_hz)
    below = np.mean(thresholds_db_spl > speech_db_spl, axis=0)
    mute = np.mean(thresholds_db_spl > speech_db_spl + PEAKS_DB, axis=0)
    found = []
    is_bound = np.array(ear.silent, dtype=bool) | ~np.array(ear.sure, dtype=bool)
    least = np.where(is_bound, SURE, LIKELY)
    is_likely = mute >= LIKELY
    for code, named, probability in (
        (Code.INAUDIBLE, mute >= least, mute),
        (Code.PEAKS_ONLY, ~is_likely & (below >= least), below),
    ):
        if named.any():
            at = _as_floats(frequencies_hz[named])
            found.append(EarFinding(ear.ear, code, at, _round(probability[named])))
    return found


def speech_in_thirds_db_spl(
    frequency_hz: FloatArray, speech_db_spl: float = CONVERSATION_DB_SPL
) -> FloatArray:
    """Return the level of speech in a third of an octave, where all of it has this level."""
    levels_db: FloatArray = np.interp(np.log2(frequency_hz), np.log2(THIRDS_HZ), THIRDS_DB_SPL)
    return levels_db + speech_db_spl - SPECTRUM_DB_SPL


def _as_floats(frequencies_hz: FloatArray) -> tuple[float, ...]:
    return tuple(map(float, frequencies_hz))


def _round(probabilities: FloatArray) -> tuple[float, ...]:
    return tuple(round(float(each), 2) for each in probabilities)
