"""How the four numbers of a setting change the gains of one ear.

Each number is what comes out, within the limits (`numbers_db`): how much louder conversational
speech is, A-weighted and over all bands; how much more its gain at 4 kHz rose than at 500 Hz; how
much that at 1.5 kHz rose above the mean of these two; and how much more the gain for soft speech
rose, twice the difference to that for conversational speech. So the first three are seen at 65 dB
SPL, and `overall_db` alone makes such speech louder.

To bring that about, in each band at an input level L in it, amounts o, t, m and s of four shapes
are added: o + t t(f) + m m(f) + s c(L), and the gains are then held to 0 and to the most that each
may be. The amounts are corrected until what comes out is what was asked. These shapes are this
project's, made after what fitting software offers.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from device.lines import line_weights
from device.speech import CONVERSATION_DB_SPL, LOUD_DB_SPL, SOFT_DB_SPL, FloatArray, speech_in_bands
from firmware_py.comparisons.space import Setting

# The ends of the slope of the tilt, which is 1 from one to the other.
TILT_FROM_HZ: Final = 500.0
TILT_TO_HZ: Final = 4000.0
MID_HZ: Final = 1500.0
MID_OCTAVES: Final = 1.5  # to either side, where nothing of it is left
# The level rises by this from the whole of c(L) to nothing of it.
SOFT_SPAN_DB: Final = LOUD_DB_SPL - SOFT_DB_SPL
# Above 5 speech loses its shape; so much gain for soft sounds as would lead there is left out.
RATIO_MAX: Final = 5.0

# Where a setting has to have an effect, and most of the information of speech is.
IMPORTANT_HZ: Final = (500.0, 1000.0, 2000.0, 4000.0)
NUMBERS_HZ: Final = (TILT_FROM_HZ, MID_HZ, TILT_TO_HZ)
ROUNDS: Final = 20  # of corrections
ENOUGH_DB: Final = 0.02  # gains are in hundredths
CORRECTION_MAX_DB: Final = 12.0  # the loudness of the middle bands is nearly that of all


def soft_of(above_speech_db: FloatArray) -> FloatArray:
    """Return c(L): 0.5 where speech at 50 dB SPL is, or less, and -0.5 from 80 dB SPL on.

    L is how far a level in a band is above that of conversational speech in it.
    """
    return np.clip(-above_speech_db / SOFT_SPAN_DB, -0.5, 0.5)


@dataclass(frozen=True)
class GainTable:
    """The gains of an ear: a row a band, a column an input level in it."""

    center_hz: FloatArray  # (m,), rising
    levels_db_spl: FloatArray  # (k,), rising
    gains_db: FloatArray  # (m, k)

    def at_speech_db(
        self, speech_db_spl: float = CONVERSATION_DB_SPL, gains_db: FloatArray | None = None
    ) -> FloatArray:
        """Return the gain of each band, (..., m), for speech of this level over all bands.

        `gains_db`, (..., m, k), are other gains than those of the table.
        """
        gains = self.gains_db if gains_db is None else gains_db
        wanted = self._speech_db_spl + speech_db_spl - CONVERSATION_DB_SPL
        levels = self.levels_db_spl
        right = np.clip(np.searchsorted(levels, wanted), 1, len(levels) - 1)
        low, high = levels[right - 1], levels[right]
        share = np.clip((wanted - low) / (high - low), 0.0, 1.0)
        bands = np.arange(len(self.center_hz))
        below: FloatArray = (1.0 - share) * gains[..., bands, right - 1]
        return below + share * gains[..., bands, right]

    def _output_db_a(self, at_speech_db: FloatArray) -> FloatArray:
        """Return the A-weighted level of conversational speech with gains, (..., m), at it."""
        power = np.sum(10.0 ** (0.1 * (self._speech_db_a + at_speech_db)), axis=-1)
        return np.asarray(10.0 * np.log10(power))

    def numbers_db(self, gains_db: FloatArray) -> FloatArray:
        """Return the setting that other gains, (..., m, k), come to, (..., 4)."""
        own_db, own_soft_db, own_output_db_a = self._own
        at_speech_db = self.at_speech_db(gains_db=gains_db)
        louder_db = self._output_db_a(at_speech_db) - own_output_db_a
        middle_db = at_speech_db - own_db
        soft_db = self.at_speech_db(SOFT_DB_SPL, gains_db) - own_soft_db
        low_db, mid_db, high_db = np.moveaxis(middle_db @ self._at_numbers, -1, 0)
        more_db = (soft_db - middle_db) @ self._at_important
        return np.stack(
            (louder_db, high_db - low_db, mid_db - 0.5 * (low_db + high_db),
             2.0 * more_db.mean(axis=-1)), axis=-1,
        )  # fmt: skip

    def tuned_db(self, setting: Setting, gains_max_db: FloatArray) -> FloatArray:
        """Return the gains with a setting, held to 0 and to the most of each, (m, k).

        Where the limits do not let all of it come out, it is as near as `ROUNDS` corrections come.
        """
        asked_db = np.array(setting.values_db())
        amounts_db = asked_db
        for _ in range(ROUNDS):
            overall_db, tilt_db, mid_db, soft_db = amounts_db
            of_bands_db = overall_db + tilt_db * self._tilt + mid_db * self._mid
            of_levels_db = soft_db * soft_of(self._above_speech_db)
            shaped_db = self.gains_db + of_bands_db[:, np.newaxis] + of_levels_db
            found = np.clip(np.round(self._flattened(shaped_db), 2), 0.0, gains_max_db)
            off_db = asked_db - self.numbers_db(found)
            if np.abs(off_db).max() < ENOUGH_DB:
                break
            amounts_db = asked_db + np.clip(
                amounts_db + off_db - asked_db, -CORRECTION_MAX_DB, CORRECTION_MAX_DB
            )
        return found

    @cached_property
    def _speech_db_spl(self) -> FloatArray:
        return speech_in_bands(self.center_hz)

    @cached_property
    def _speech_db_a(self) -> FloatArray:
        return speech_in_bands(self.center_hz, a_weighted=True)

    @cached_property
    def _above_speech_db(self) -> FloatArray:
        return self.levels_db_spl - self._speech_db_spl[:, np.newaxis]

    @cached_property
    def _tilt(self) -> FloatArray:
        """t(f), (m,): -0.5 up to 500 Hz, 0.5 from 4 kHz on, and a line over log f between."""
        ends = np.log2((TILT_FROM_HZ, TILT_TO_HZ))
        return np.interp(np.log2(self.center_hz), ends, (-0.5, 0.5))

    @cached_property
    def _mid(self) -> FloatArray:
        """m(f), (m,): 1 at 1.5 kHz, falling as a raised cosine to 0 in 1.5 octaves."""
        octaves = np.minimum(np.abs(np.log2(self.center_hz / MID_HZ)), MID_OCTAVES)
        return 0.5 + 0.5 * np.cos(np.pi * octaves / MID_OCTAVES)

    @cached_property
    def _own(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The gains for conversational and soft speech, and the level of the former, dB(A)."""
        at_speech_db = self.at_speech_db()
        return at_speech_db, self.at_speech_db(SOFT_DB_SPL), self._output_db_a(at_speech_db)

    @cached_property
    def _at_numbers(self) -> FloatArray:
        return line_weights(NUMBERS_HZ, self.center_hz).T

    @cached_property
    def _at_important(self) -> FloatArray:
        return line_weights(IMPORTANT_HZ, self.center_hz).T

    def _flattened(self, gains_db: FloatArray) -> FloatArray:
        """Return gains, (m, k), less where they fall more than by `RATIO_MAX` and in the table."""
        steps_db = np.diff(self.levels_db_spl)
        falls_db = np.maximum((1.0 - 1.0 / RATIO_MAX) * steps_db, -np.diff(self.gains_db, axis=1))
        allowed_db = np.cumsum(np.pad(falls_db, ((0, 0), (1, 0))), axis=1)
        above = gains_db + allowed_db
        flattened: FloatArray = np.minimum.accumulate(above[:, ::-1], axis=1)[:, ::-1] - allowed_db
        return flattened
