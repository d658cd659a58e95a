"""What an aid may never exceed: the gain of a band, and the level of what comes out.

The most that comes out is the level that one ear in ten finds uncomfortable whose threshold is the
same, or one such person in ten of whom levels were measured (`discomfort.py`), and never more than
an aid sold over the counter may give. Beside a band of which little may come out it is less, since
no aid tells them apart (`band_limits.py`). The most gain is what does not whistle, and at each
level of speech what keeps its peaks below the most that comes out. All of them come from other
people, but for measured levels: they are to be verified on the ear.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from device.calibration.retspl import TABLES
from device.hearing_aid.band_limits import hold_by_neighbours
from device.hearing_aid.fit import OUTPUT_CEILING_DB_SPL, gain_max_at_db
from device.lines import line_weights
from device.speech import CONVERSATION_DB_SPL, FloatArray, speech_in_bands

# From which level tones are uncomfortable, dB HL, for one, five and nine of ten ears: a row a
# frequency of `MEASURED_HZ`, a column a threshold of `KNOTS_DB_HL`. Learned on 26 November
# 2026 from 579 ears of 290 people (Oldenburg Hearing Health Record, 10.5281/zenodo.16919812, CC BY
# 4.0), and rounded down; the highest are limits of its audiometer.
MEASURED_EARS: Final = 579
MEASURED_HZ: Final = (500.0, 1000.0, 2000.0, 4000.0)
KNOTS_DB_HL: Final = (0.0, 50.0, 80.0)
UNCOMFORTABLE_DB_HL: Final[dict[float, tuple[tuple[float, ...], ...]]] = {
    0.1: ((75.0, 84.0, 103.0), (75.0, 84.0, 99.0), (74.0, 85.0, 96.0), (72.0, 83.0, 98.0)),
    0.5: ((90.0, 95.0, 111.0), (88.0, 94.0, 113.0), (88.0, 95.0, 108.0), (86.0, 94.0, 106.0)),
    0.9: (
        (108.0, 110.0, 114.0),
        (103.0, 106.0, 121.0),
        (105.0, 108.0, 115.0),
        (97.0, 111.0, 113.0),
    ),
}
RISE_BEYOND: Final = 0.5  # dB for each dB of threshold above the last knot, as between the last two
LOUD_FOR_FEW, LOUD_FOR_HALF, _ = UNCOMFORTABLE_DB_HL  # those shares

# 0 dB HL in a free field, from the front, with both ears (ISO 389-7:2005), dB SPL.
FIELD_HZ: Final = (125, 250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000)
FIELD_DB_SPL: Final = (22.1, 11.4, 4.4, 2.4, 2.4, 2.4, -1.3, -5.8, -5.4, 4.3, 12.6)
# 0 dB HL of an insert earphone on the 2-cm³ coupler on which the output of aids is measured.
COUPLER: Final = TABLES["er3a"]

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
    DISCOMFORT = "discomfort"  # more is uncomfortable for one ear in ten
    CEILING = "ceiling"  # more than an aid sold over the counter may give
    NEIGHBOUR = "neighbour"  # more would be too much in a band beside it
    OWN = "own"  # more may be uncomfortable for this person, of whom a level was measured


@dataclass(frozen=True)
class Limits:
    """The limits of the bands of an ear, (..., m)."""

    discomfort_db_spl: FloatArray  # where one ear in ten is uncomfortable, in the field
    output_max_db_spl: FloatArray
    feedback_db: FloatArray  # the most gain that does not whistle, whatever the level
    speech_db_spl: FloatArray  # level of conversational speech in the band, (m,)
    # whether the most that comes out is the ceiling, or less than that for a band beside it
    at_ceiling: npt.NDArray[np.bool_]
    by_neighbour: npt.NDArray[np.bool_]
    is_own: bool = False  # `discomfort_db_spl` is of this person

    def why_output(self, k: int) -> Reason:
        """Return why no more comes out of a band of one ear."""
        if self.by_neighbour[k]:
            return Reason.NEIGHBOUR
        if self.at_ceiling[k]:
            return Reason.CEILING
        return Reason.OWN if self.is_own else Reason.DISCOMFORT

    def gain_max_db(self, speech_db_spl: float = CONVERSATION_DB_SPL) -> FloatArray:
        """Return the most gain for speech of a level over all bands, of all reasons."""
        levels = self.speech_db_spl + speech_db_spl - CONVERSATION_DB_SPL
        return gain_max_at_db(levels, self.feedback_db, self.output_max_db_spl)

    def why_gain(self, k: int) -> Reason:
        """Return why conversation has no more gain in a band of one ear: its peaks, or feedback."""
        by_output = self.gain_max_db()[k] < self.feedback_db[k]
        return self.why_output(k) if by_output else Reason.FEEDBACK


def limits(
    center_hz: FloatArray, thresholds_db_hl: FloatArray, coupling: str = CLOSED,
    own_db_hl: FloatArray | None = None,
) -> Limits:  # fmt: skip
    """Return the limits for thresholds, (..., m), of one audiogram or of many, at rising centres.

    `coupling` is how the aid sits in the ear, "closed" or "open"; `ValueError` if it is another.
    `own_db_hl`, (m,): from there on it may be uncomfortable for this very person.
    """
    if coupling not in FEEDBACK_DB:
        raise ValueError(f"coupling is {coupling!r}; allowed are {', '.join(FEEDBACK_DB)}")
    loud_db_hl = discomfort_db_hl(center_hz, thresholds_db_hl)
    if own_db_hl is not None:
        loud_db_hl = np.broadcast_to(own_db_hl, loud_db_hl.shape)
    discomfort_db_spl = loud_db_hl + field_db_spl(center_hz)
    ceiling_db_spl = output_ceiling_db_spl(center_hz)
    own_db_spl = np.clip(discomfort_db_spl, 0.0, ceiling_db_spl).round(1)
    output_max_db_spl = hold_by_neighbours(center_hz, own_db_spl).round(1)
    by_neighbour = output_max_db_spl < own_db_spl
    feedback_db: FloatArray = np.interp(
        np.log2(center_hz), np.log2(FEEDBACK_HZ), FEEDBACK_DB[coupling]
    )
    return Limits(
        discomfort_db_spl, output_max_db_spl, feedback_db.round(1), speech_in_bands(center_hz),
        at_ceiling=(discomfort_db_spl > ceiling_db_spl) & ~by_neighbour,
        by_neighbour=by_neighbour, is_own=own_db_hl is not None,
    )  # fmt: skip


def discomfort_db_hl(
    center_hz: FloatArray, thresholds_db_hl: FloatArray, share: float = LOUD_FOR_FEW
) -> FloatArray:
    """Return the level that a share of ears finds uncomfortable, dB HL, (..., m).

    Between the measured frequencies it is on a line over log frequency, beyond them held; so is
    how much each of `KNOTS_DB_HL` counts over the threshold, but for the rise above the last.
    `share`: one of `UNCOMFORTABLE_DB_HL`.
    """
    levels_db_hl = line_weights(center_hz, MEASURED_HZ) @ np.array(UNCOMFORTABLE_DB_HL[share])
    first, middle, last = KNOTS_DB_HL
    below = np.clip((middle - thresholds_db_hl) / (middle - first), 0.0, 1.0)
    above = np.clip((thresholds_db_hl - middle) / (last - middle), 0.0, 1.0)
    at_knots = np.stack((below, 1.0 - below - above, above), axis=-1)
    found: FloatArray = np.sum(at_knots * levels_db_hl, axis=-1)
    return found + RISE_BEYOND * np.maximum(thresholds_db_hl - last, 0.0)


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
    return coupler_db_spl - field_db_spl(frequency_hz)


def output_ceiling_db_spl(frequency_hz: FloatArray) -> FloatArray:
    """Return the most that may come out, whoever hears it: `OUTPUT_CEILING_DB_SPL`.

    That holds in the coupler; where the field's level would be higher, it holds there.
    """
    return OUTPUT_CEILING_DB_SPL - np.maximum(coupler_above_field_db(frequency_hz), 0.0)
