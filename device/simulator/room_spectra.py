"""Spectra of the noise in rooms: third octaves at the frequencies of an audiogram, by their dBA."""

from collections.abc import Mapping
from functools import cache
from typing import Final

import numpy as np

from device.speech import THIRDS_DB_SPL, THIRDS_HZ, a_weighting_db
from firmware_py.link.messages import ROOM_BANDS_HZ

OFFICE: Final = "office"
SPEECH: Final = "speech"
# Background noise without hiss or rumble falls by 5 dB an octave, as room criterion curves do
# (Blazier, Noise Control Eng. J. 45 (1997) 153-162; ANSI/ASA S12.2).
OFFICE_DB_PER_OCTAVE: Final = -5.0
_OCTAVES: Final = np.log2(np.array(ROOM_BANDS_HZ, dtype=np.float64) / 1000.0)

# Relative levels of third octaves, dB: of speech the long-term average of Byrne et al. (1994).
SHAPES_DB: Final[Mapping[str, tuple[float, ...]]] = {
    OFFICE: tuple((OFFICE_DB_PER_OCTAVE * _OCTAVES).tolist()),
    SPEECH: tuple(
        np.interp(_OCTAVES, np.log2(np.array(THIRDS_HZ) / 1000.0), THIRDS_DB_SPL).tolist()
    ),
}


@cache
def third_octaves_db_spl(shape: str, level_dba: float) -> tuple[float, ...]:
    """Return the levels at `ROOM_BANDS_HZ` of a room of this A-weighted level in all.

    All third octaves from 63 Hz to 16 kHz count: straight over octaves between those known, and
    beyond them as at the nearest two.
    """
    known_db = np.array(SHAPES_DB[shape])
    thirds_hz = np.array(THIRDS_HZ, dtype=np.float64)
    octaves = np.log2(thirds_hz / 1000.0)
    levels_db = np.interp(octaves, _OCTAVES, known_db)
    for low, high, beyond in ((0, 1, octaves < _OCTAVES[0]), (-2, -1, octaves > _OCTAVES[-1])):
        slope_db = (known_db[high] - known_db[low]) / (_OCTAVES[high] - _OCTAVES[low])
        straight_db = known_db[low] + slope_db * (octaves - _OCTAVES[low])
        levels_db = np.where(beyond, straight_db, levels_db)
    weighted = 10.0 ** (0.1 * (levels_db + a_weighting_db(thirds_hz)))
    return tuple((known_db + level_dba - 10.0 * np.log10(weighted.sum())).tolist())
