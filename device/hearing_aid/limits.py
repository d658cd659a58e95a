"""What an aid may never exceed: the gain of a band, and the level of what comes out.

The most that comes out is the level at which a tone becomes uncomfortable, as predicted from the
threshold (Pascoe 1988), and never more than an aid sold over the counter may give. The most gain is
what does not whistle, and what keeps the peaks of conversational speech below that level. All of
them are means over people: they are to be verified on the ear.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from device.calibration.retspl import TABLES
from device.hearing_aid.fit import GAIN_LIMIT_DB, OUTPUT_CEILING_DB_SPL
from device.hearing_aid.speech import FloatArray, speech_in_bands

# Discomfort is at 100 dB HL up to a threshold of 40, and rises by half of what is above: the two
# lines that Oetting, Brand & Ewert (Hearing Research 316 (2014) 16-27, their program) draw through
# the pooled data of Pascoe, Clinical measurements of the auditory dynamic range and their relation
# to formulas for hearing aid gain, in Jensen (ed.), Hearing aid fitting, 13th Danavox Symposium
# (1988) 129-152, table 4.
DISCOMFORT_DB_HL: Final = 100.0
DISCOMFORT_RISES_FROM_DB_HL: Final = 40.0
DISCOMFORT_SHARE: Final = 0.5
# Where people's own levels were measured (Oldenburg Hearing Health Record, 10.5281/zenodo.16919812,
# 1,094 ears), they lay so much below that prediction on average, and people with the same threshold
# differ by such an SD. Between the frequencies on a line over log frequency, beyond them held.
MEASURED_EARS: Final = 1094
MEASURED_HZ: Final = (500.0, 1000.0, 2000.0, 4000.0)
PREDICTED_TOO_HIGH_DB: Final = (5.5, 7.0, 6.6, 8.8)
DISCOMFORT_SD_DB: Final = (11.4, 10.8, 10.0, 9.6)

# 0 dB HL in a free field, from the front, with both ears (ISO 389-7:2005), dB SPL.
FIELD_HZ: Final = (125, 250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000)
FIELD_DB_SPL: Final = (22.1, 11.4, 4.4, 2.4, 2.4, 2.4, -1.3, -5.8, -5.4, 4.3, 12.6)
# 0 dB HL of an insert earphone on the 2-cm³ coupler on which the output of aids is measured.
COUPLER: Final = TABLES["er3a"]

# The peaks of speech, beside its long-term level in a band.
SPEECH_PEAKS_DB: Final = 12.0

CLOSED: Final = "closed"
OPEN: Final = "open"
# The most gain that does not whistle, without a canceller. Gatehouse (British Journal of Audiology
# 23 (1989) 133-136) found more than 40 dB with a closed mould, and less than 20 with a vent where
# the room was unfavourable; what is at which frequency is this project's, and no ear's own.
FEEDBACK_HZ: Final = (500.0, 1000.0, 2000.0, 3000.0)
FEEDBACK_DB: Final[dict[str, tuple[float, ...]]] = {
    CLOSED: (50.0, 50.0, 45.0, 40.0),
    OPEN: (40.0, 30.0, 20.0, 20.0),
}


class Reason(StrEnum):
    """What a limit is there for."""

    FEEDBACK = "feedback"  # more gain may whistle
    DISCOMFORT = "discomfort"  # more is predicted to be uncomfortable
    CEILING = "ceiling"  # more than an aid sold over the counter may give


@dataclass(frozen=True)
class Limits:
    """The limits of the bands of an ear, (..., m)."""

    discomfort_db_spl: FloatArray  # where a tone becomes uncomfortable, in the field
    output_max_db_spl: FloatArray
    feedback_db: FloatArray  # the most gain that does not whistle
    gain_max_db: FloatArray  # of all reasons
    # whether the most that comes out is the ceiling, and whether it is what limits the gain
    at_ceiling: npt.NDArray[np.bool_]
    gain_by_output: npt.NDArray[np.bool_]

    def why_output(self, k: int) -> Reason:
        """Return why no more comes out of a band of one ear."""
        return Reason.CEILING if self.at_ceiling[k] else Reason.DISCOMFORT

    def why_gain(self, k: int) -> Reason:
        """Return why a band of one ear has no more gain: its peaks of speech, or feedback."""
        return self.why_output(k) if self.gain_by_output[k] else Reason.FEEDBACK


def limits(center_hz: FloatArray, thresholds_db_hl: FloatArray, coupling: str = CLOSED) -> Limits:
    """Return the limits for thresholds.

    Parameters
    ----------
    center_hz : (m,)
        Rising.
    thresholds_db_hl : (..., m)
        Of one audiogram, or of many.
    coupling : str
        How the aid sits in the ear: "closed" or "open".

    Raises
    ------
    ValueError
        If there is no such coupling.
    """
    if coupling not in FEEDBACK_DB:
        raise ValueError(f"coupling is {coupling!r}; allowed are {', '.join(FEEDBACK_DB)}")
    discomfort_db_spl = discomfort_db_hl(thresholds_db_hl) + field_db_spl(center_hz)
    ceiling_db_spl = output_ceiling_db_spl(center_hz)
    output_max_db_spl: FloatArray = np.minimum(discomfort_db_spl, ceiling_db_spl).round(1)
    feedback_db: FloatArray = np.interp(
        np.log2(center_hz), np.log2(FEEDBACK_HZ), FEEDBACK_DB[coupling]
    )
    comfort_db = output_max_db_spl - (speech_in_bands(center_hz) + SPEECH_PEAKS_DB)
    gain_max_db: FloatArray = np.clip(np.minimum(feedback_db, comfort_db), 0.0, GAIN_LIMIT_DB)
    return Limits(
        discomfort_db_spl, output_max_db_spl, feedback_db, gain_max_db.round(1),
        at_ceiling=discomfort_db_spl > ceiling_db_spl, gain_by_output=comfort_db < feedback_db,
    )  # fmt: skip


def discomfort_db_hl(thresholds_db_hl: FloatArray) -> FloatArray:
    """Return the level at which a tone becomes uncomfortable, dB HL (Pascoe 1988)."""
    above_db = np.maximum(thresholds_db_hl - DISCOMFORT_RISES_FROM_DB_HL, 0.0)
    return DISCOMFORT_DB_HL + DISCOMFORT_SHARE * above_db


def own_discomfort_db_spl(
    center_hz: FloatArray, predicted_db_spl: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return where a person's own level of discomfort lies, given the prediction: mean and SD."""
    at, known = np.log2(center_hz), np.log2(MEASURED_HZ)
    sd_db: FloatArray = np.interp(at, known, DISCOMFORT_SD_DB)
    return predicted_db_spl - np.interp(at, known, PREDICTED_TOO_HIGH_DB), sd_db


def field_db_spl(frequency_hz: FloatArray) -> FloatArray:
    """Return the sound field's level that is 0 dB HL, on a line over log frequency."""
    return np.interp(np.log2(frequency_hz), np.log2(FIELD_HZ), FIELD_DB_SPL)


def coupler_above_field_db(frequency_hz: FloatArray) -> FloatArray:
    """Return how much higher the same sound at the eardrum is in a 2-cm³ coupler.

    Both levels are heard as 0 dB HL. An aid's receiver is coupled as an insert earphone is.
    """
    known_hz = np.array(sorted(COUPLER.levels_db_spl), dtype=np.float64)
    known_db_spl = [COUPLER.levels_db_spl[int(f)] for f in known_hz]
    coupler_db_spl = np.interp(np.log2(frequency_hz), np.log2(known_hz), known_db_spl)
    above_db: FloatArray = coupler_db_spl - field_db_spl(frequency_hz)
    return above_db


def output_ceiling_db_spl(frequency_hz: FloatArray) -> FloatArray:
    """Return the most that may come out, whoever hears it: `OUTPUT_CEILING_DB_SPL`.

    That holds in the coupler; where the field's level would be higher, it holds there.
    """
    return OUTPUT_CEILING_DB_SPL - np.maximum(coupler_above_field_db(frequency_hz), 0.0)
