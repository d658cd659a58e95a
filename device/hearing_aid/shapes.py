"""How the four numbers of a setting change the gains of one ear.

In each band, at an input level L in it, a setting asks for overall + tilt t(f) + mid m(f) +
soft c(L) more, and for an offset for all bands and levels. The offset takes back what tilt, mid and
soft do to the level of conversational speech at the output, A-weighted and over all bands, so that
`overall_db` alone makes such speech louder. The gains are then held to 0 and to the most that a
band may have. These shapes are this project's, made after what fitting software offers.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from device.speech import CONVERSATION_DB_SPL, LOUD_DB_SPL, SOFT_DB_SPL, FloatArray, speech_in_bands
from firmware_py.comparisons.space import Setting

# The ends of the slope of the tilt, which is 1 from one to the other.
TILT_FROM_HZ: Final = 500.0
TILT_TO_HZ: Final = 4000.0
MID_HZ: Final = 1500.0
MID_OCTAVES: Final = 1.5  # to either side, where nothing of it is left
# The level rises by this from the whole of c(L) to nothing of it.
SOFT_SPAN_DB: Final = LOUD_DB_SPL - SOFT_DB_SPL
# Above 5 speech loses its shape; so much of `soft_db` as would lead there is left out.
RATIO_MAX: Final = 5.0


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

    def speech_output_db_a(self, gains_db: FloatArray | None = None) -> float:
        """Return the A-weighted level of conversational speech at the output, with these gains."""
        return self._output_db_a(self.at_speech_db(gains_db=gains_db))

    def change_db(self, setting: Setting) -> FloatArray:
        """Return what a setting asks of the gains, before any limit, (m, k)."""
        over_frequency = setting.tilt_db * self._tilt + setting.mid_db * self._mid
        at_speech_db = self.at_speech_db()
        offset_db = self._output_db_a(at_speech_db) - self._output_db_a(
            at_speech_db + over_frequency
        )
        of_bands_db = setting.overall_db + offset_db + over_frequency
        soft_db = np.minimum(setting.soft_db, self._soft_room_db)
        return of_bands_db[:, np.newaxis] + soft_db * soft_of(self._above_speech_db)

    def tuned_db(self, setting: Setting, gains_max_db: FloatArray) -> FloatArray:
        """Return the gains with a setting, held to 0 and to the most of each band, (m, k)."""
        asked_db = np.round(self.gains_db + self.change_db(setting), 2)
        return np.clip(asked_db, 0.0, gains_max_db[:, np.newaxis])

    def matched_shapes(self) -> FloatArray:
        """Return what 1 dB of each number of a setting adds to the gains, (4, m, k).

        With the offset that keeps the level of speech, for a small change and without limits.
        """
        power = 10.0 ** (0.1 * (self._speech_db_a + self.at_speech_db()))
        weights = power / power.sum()
        over_frequency = np.stack((self._tilt, self._mid))
        matched = over_frequency - (over_frequency @ weights)[:, np.newaxis]
        flat = np.broadcast_to(matched[..., np.newaxis], (2, *self.gains_db.shape))
        every = np.ones_like(self.gains_db)
        return np.concatenate(([every], flat, [soft_of(self._above_speech_db)]))

    def _output_db_a(self, at_speech_db: FloatArray) -> float:
        power = np.sum(10.0 ** (0.1 * (self._speech_db_a + at_speech_db)))
        return float(10.0 * np.log10(power))

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
    def _soft_room_db(self) -> FloatArray:
        """How much of `soft_db` a band bears until its ratio is `RATIO_MAX`, (m, 1).

        c(L) is 0 at conversational speech: what is left out changes no gain there.
        """
        falling = -np.diff(self.gains_db, axis=1) / np.diff(self.levels_db_spl)
        compressing = np.abs(self._above_speech_db) < 0.5 * SOFT_SPAN_DB
        between = compressing[:, 1:] | compressing[:, :-1]
        steepest = np.max(np.where(between, falling, 0.0), axis=1, keepdims=True)
        room_db: FloatArray = np.maximum(1.0 - 1.0 / RATIO_MAX - steepest, 0.0) * SOFT_SPAN_DB
        return room_db
