"""The noise of the room as it is told: an A-weighted level with a spectrum, or third octaves.

Levels are of third-octave bands at `BANDS_HZ`, in dB SPL, where the listener sits.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Final

from firmware_py.terms.events import RoomLevels, RoomTold
from firmware_py.terms.record_checks import (
    ROOM_LEVEL_LIMITS_DB,
    ResultError,
    number,
    one_of,
    refusal,
)
from firmware_py.terms.route import BY_AIR

BANDS_HZ: Final = BY_AIR.calibrated_hz
OFFICE: Final = "office"
SPEECH: Final = "speech"
THIRD_OCTAVES: Final = "third-octaves"
MICROPHONE: Final = "microphone"
DBA_LIMITS: Final = (10.0, 80.0)  # a good booth has 20; nobody tests where one has to shout
UNCERTAINTY_LIMITS_DB: Final = (0.5, 10.0)
# Of a level: a sound level meter of class 2 is off by 1.5 dB, and two rooms of one A-weighted level
# differ by 3 dB at 500 Hz.
UNCERTAINTY_DB: Final = {OFFICE: 3.0, SPEECH: 3.0, THIRD_OCTAVES: 1.5}
BANDS_LIMITS_HZ: Final = (20.0, 20_000.0)
HALF_OCTAVE: Final = 2.0**0.5
NEEDED_HZ: Final = 500  # noise of rooms masks most there

# Levels in the bands of a room of 0 dBA. An office: ventilation and what the walls let through,
# which falls by 5 dB an octave. Speech: the long-term average of 12 languages, D. Byrne et al.,
# J. Acoust. Soc. Am. 96 (1994) 2108-2120, 70 dB SPL of which are 65.9 dBA. A-weighted over the
# third octaves from 63 to 8000 Hz, IEC 61672-1.
SHAPES_DB: Final[Mapping[str, tuple[float, ...]]] = {
    OFFICE: (2.9, -2.1, -7.1, -10.0, -12.1, -15.0, -17.1, -20.0, -22.1, -25.0, -27.1),
    SPEECH: (-8.2, -5.6, -3.8, -9.1, -12.2, -13.9, -17.2, -19.1, -20.3, -21.6, -22.2),
}
# Weights of the bands, dB: IEC 61672-1, Table 3.
_A_DB: Final = (-16.1, -8.6, -3.2, -1.0, 0.0, 0.9, 1.2, 1.2, 1.0, 0.1, -1.1)


def room_of(dba: float, spectrum: str = OFFICE, uncertainty_db: float | None = None) -> RoomTold:
    """Return a room of an A-weighted level (LAeq over a minute) and one of `SHAPES_DB`.

    A `ResultError` if it can be none: the message names what, and what is allowed.
    """
    number(*DBA_LIMITS, "dBA")("room dba", dba)
    one_of(*SHAPES_DB)("room spectrum", spectrum)
    return _told(bands_db_spl(spectrum, dba), float(dba), spectrum, uncertainty_db)


def bands_db_spl(spectrum: str, dba: float) -> RoomLevels:
    """Return the levels at `BANDS_HZ` of a spectrum of this A-weighted level in all."""
    return tuple(round(dba + each, 1) for each in SHAPES_DB[spectrum])


def room_by_bands(
    levels_db_spl: Mapping[float, float], uncertainty_db: float | None = None
) -> RoomTold:
    """Return a room of third-octave levels, by frequency, as a meter shows them.

    A band without one has that of the nearest within half an octave; where there is none, or none
    of 500 Hz itself, it is refused.
    """
    place = "room third_octaves"
    for frequency_hz, level_db_spl in levels_db_spl.items():
        number(*BANDS_LIMITS_HZ, "Hz")(f"{place} frequency", frequency_hz)
        number(*ROOM_LEVEL_LIMITS_DB, "dB SPL")(f"{place} at {frequency_hz:g} Hz", level_db_spl)
    if NEEDED_HZ not in levels_db_spl:
        told = ", ".join(f"{f:g} Hz" for f in levels_db_spl) or "nothing"
        raise refusal(place, told, f"is what has {NEEDED_HZ} Hz among them")
    found = []
    for band_hz in BANDS_HZ:
        off = {f: max(f / band_hz, band_hz / f) for f in levels_db_spl}
        nearest_hz = min(off, key=lambda f: off[f])
        if off[nearest_hz] > HALF_OCTAVE:
            raise refusal(place, f"without {band_hz} Hz", "are bands from 125 to 8000 Hz")
        found.append(float(levels_db_spl[nearest_hz]))
    return _told(tuple(found), round(dba_of(found), 1), THIRD_OCTAVES, uncertainty_db)


def dba_of(levels_db_spl: Iterable[float]) -> float:
    """Return the A-weighted level of a smooth spectrum, by its levels at `BANDS_HZ`.

    Each band stands for all third octaves nearer to it than to its neighbours.
    """
    powers = (
        thirds * 10.0 ** (0.1 * (level + weight_db))
        for level, weight_db, thirds in zip(levels_db_spl, _A_DB, _THIRDS, strict=True)
    )
    return 10.0 * math.log10(sum(powers))


# Third octaves that each of the bands stands for: an octave has three.
_THIRDS: Final = (3.0, 3.0, 2.0, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5)


def _told(
    levels_db_spl: RoomLevels, dba: float, spectrum: str, uncertainty_db: float | None
) -> RoomTold:
    known_db = UNCERTAINTY_DB[spectrum] if uncertainty_db is None else uncertainty_db
    number(*UNCERTAINTY_LIMITS_DB, "dB")("room uncertainty_db", known_db)
    return RoomTold(levels_db_spl, dba, spectrum, float(known_db))


def room_of_words(
    level: str, spectrum: str | None = None, uncertainty_db: float | None = None
) -> RoomTold:
    """Return the room of a text: "40" is dBA, "500:22;1000:18;..." third octaves, HZ:DBSPL."""
    try:
        if ":" not in level:
            return room_of(float(level), spectrum or OFFICE, uncertainty_db)
        pairs = [each.partition(":") for each in level.split(";")]
        bands = {float(hz): float(level_db_spl) for hz, _, level_db_spl in pairs}
        if len(bands) < len(pairs):
            raise refusal("room third_octaves", level, "is each frequency once")
    except ResultError:
        raise
    except ValueError:
        allowed = "are dBA such as 40, or third octaves such as 125:30;250:25;500:22"
        raise refusal("room", level, allowed) from None
    if spectrum is not None:
        raise refusal("room spectrum", spectrum, "is none beside third octaves")
    return room_by_bands(bands, uncertainty_db)
