"""Compression that gives a linear rule's gain at conversational speech, and less when it is loud.

The rules prescribe one gain, for speech at 65 dB SPL. Here it is the gain of a band at the level
that such speech has in that band. From there it falls along a line, so that at `LOUD_ABOVE_DB`
above conversation nothing is added: what is loud is as loud to an ear with cochlear loss as to any
other (recruitment). Downward it rises along the same line to the level of soft speech, the knee,
and is constant below it. The ratio is held to `RATIO_MAX`, above which speech loses its shape.
This is a plain default to start a fitting from, not a published nonlinear rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from device.speech import FloatArray, speech_in_bands

SOFT_BELOW_DB: Final = 15.0  # soft speech, 50 dB SPL: the knee
LOUD_ABOVE_DB: Final = 35.0  # 100 dB SPL: no gain any more
RATIO_MAX: Final = 3.0


@dataclass(frozen=True)
class Compression:
    """Compression of each band of an ear, or of many ears, (..., m)."""

    # of the bands, which meet halfway on log frequency; the first and the last have no end, (m,)
    center_hz: FloatArray
    speech_db_spl: FloatArray  # level of conversational speech in the band, (m,)
    gain_db: FloatArray  # there, without a limit
    ratio: FloatArray  # change of the input for 1 dB of the output, above the knee
    knee_db_spl: FloatArray  # level in the band from which it compresses

    def gain_at(self, level_db_spl: float | FloatArray) -> FloatArray:
        """Return the gain of each band, dB, where the input has this level in it, or these."""
        above_db = np.maximum(level_db_spl, self.knee_db_spl) - self.speech_db_spl
        return np.maximum(self.gain_db - (1.0 - 1.0 / self.ratio) * above_db, 0.0)

    def table_db(self, levels_db_spl: Sequence[float]) -> FloatArray:
        """Return the gain of each band at each of these levels in it, (..., m, k)."""
        return np.stack([self.gain_at(level) for level in levels_db_spl], axis=-1)

    def hold_to(self, gain_max_db: FloatArray) -> Self:
        """Return it with no gain above this of each band: it compresses from a higher level on."""
        slope = 1.0 - 1.0 / self.ratio
        # a gain of 0 does not fall, and is below any limit
        meets_db = np.divide(
            self.gain_db - gain_max_db, slope, out=np.full_like(slope, -np.inf), where=slope > 0.0
        )
        return replace(
            self, knee_db_spl=np.maximum(self.knee_db_spl, self.speech_db_spl + meets_db)
        )


def compression(center_hz: Sequence[float] | FloatArray, gain_db: FloatArray) -> Compression:
    """Derive compression from the gains of a linear rule.

    Parameters
    ----------
    center_hz : (m,)
        Rising.
    gain_db : (..., m)
        For conversational speech, not below 0.
    """
    center = np.asarray(center_hz, dtype=np.float64)
    speech_db_spl = speech_in_bands(center)
    slope = np.minimum(gain_db / LOUD_ABOVE_DB, 1.0 - 1.0 / RATIO_MAX)
    knee_db_spl = np.broadcast_to(speech_db_spl - SOFT_BELOW_DB, gain_db.shape)
    return Compression(center, speech_db_spl, gain_db, 1.0 / (1.0 - slope), knee_db_spl)
