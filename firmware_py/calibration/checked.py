"""What was checked of a device before a person wears it: `[checks]` of a calibration file.

Each check has its figures, or says why it was not made. Older files have no such table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from firmware_py.calibration.fields import NoLevelsError, check_keys, check_text, number, table_of
from firmware_py.link.messages import LOWEST_DBFS
from firmware_py.session.masking import EXTERNAL_DB
from firmware_py.terms.calibration_states import CHECKS
from firmware_py.terms.settings import PLATEAU_MS_MIN, RISE_TIME_MS

TABLE: Final = "checks"
NOT_MEASURED: Final = "not_measured"  # why
REMARK: Final = "remark"  # on a goal that was missed; it may be missing

(
    OUTPUT_LIMIT, CHANNEL_ORDER, FULL_SCALE, CROSSTALK, NOISE, DISTORTION, LINEARITY,
    RISE_AND_FALL, DISTORTION_BY_BONE, DISTORTION_BY_HZ, DISTORTION_BY_HZ_BY_BONE,
) = CHECKS  # fmt: skip
OF_BONE: Final = (DISTORTION_BY_BONE, DISTORTION_BY_HZ_BY_BONE)
LATER: Final = (DISTORTION_BY_HZ, DISTORTION_BY_HZ_BY_BONE)  # which files of before do not have
# What is measured into tables of its own; where these are missing, why.
LEVELS: Final = "levels"
VIBRATOR: Final = "vibrator"

# IEC 60645-1: the most total harmonic distortion by air, and by bone.
DISTORTION_MAX_PERCENT: Final = 2.5
DISTORTION_BY_BONE_MAX_PERCENT: Final = 5.5
# And by frequency at which level, dB HL, or at the highest of the device: by bone second-hand, as
# the manual of the AURICAL Aud quotes it (manualslib.de 288565); by air no source was found.
DISTORTION_DB_HL: Final = {125: 75.0, 250: 75.0, 500: 110.0, 1000: 110.0, 2000: 110.0, 4000: 110.0}
DISTORTION_BY_BONE_DB_HL: Final = {250: 20.0, 500: 50.0, 1000: 60.0, 2000: 60.0, 4000: 60.0}
FULL_SCALE_LIMITS_V: Final = (0.001, 10.0)  # of what drives earphones; a B81 takes 6 V
CROSSTALK_LIMITS_DB: Final = (EXTERNAL_DB, 160.0)  # less, and no masking rule holds
NOISE_LIMITS_NV: Final = (1.0, 1e9)
LINEARITY_LIMITS_DB: Final = (0.0, 20.0)

_DBFS: Final = (LOWEST_DBFS, 0.0)
_PLATEAU_MS: Final = (float(PLATEAU_MS_MIN), 10_000.0)
UNITS: Final = {"dbfs": "dBFS", "v": "V", "db": "dB", "nv": "nV", "percent": "%", "ms": "ms"}


def _each_ear(unit: str, limits: tuple[float, float]) -> dict[str, tuple[float, float]]:
    return {f"{ear}_{unit}": limits for ear in ("left", "right")}


def _distortion(most_percent: float) -> dict[str, tuple[float, float]]:
    return _each_ear("percent", (0.0, most_percent)) | _each_ear("dbfs", _DBFS)


def _by_frequency(
    levels_db_hl: Mapping[int, float], most_percent: float
) -> dict[str, tuple[float, float]]:
    return {
        name: limits
        for frequency_hz in levels_db_hl
        for name, limits in _each_ear(f"{frequency_hz}_percent", (0.0, most_percent)).items()
    }


# Of each check: its figures, and between what each is. A name ends with the unit.
FIGURES: Final[Mapping[str, Mapping[str, tuple[float, float]]]] = {
    OUTPUT_LIMIT: {"safe_dbfs": _DBFS, **_each_ear("dbfs", _DBFS)},
    CHANNEL_ORDER: {"swapped": (0.0, 0.0)},
    FULL_SCALE: _each_ear("v", FULL_SCALE_LIMITS_V),
    CROSSTALK: _each_ear("db", CROSSTALK_LIMITS_DB),
    NOISE: _each_ear("nv", NOISE_LIMITS_NV),
    DISTORTION: _distortion(DISTORTION_MAX_PERCENT),
    LINEARITY: _each_ear("worst_db", LINEARITY_LIMITS_DB) | _each_ear("lowest_dbfs", _DBFS),
    RISE_AND_FALL: {"rise_ms": RISE_TIME_MS, "fall_ms": RISE_TIME_MS, "plateau_ms": _PLATEAU_MS},
    DISTORTION_BY_BONE: _distortion(DISTORTION_BY_BONE_MAX_PERCENT),
    DISTORTION_BY_HZ: _by_frequency(DISTORTION_DB_HL, DISTORTION_MAX_PERCENT),
    DISTORTION_BY_HZ_BY_BONE: _by_frequency(
        DISTORTION_BY_BONE_DB_HL, DISTORTION_BY_BONE_MAX_PERCENT
    ),
}


@dataclass(frozen=True)
class Checks:
    """What a file tells of the checks, by their names."""

    lacking: tuple[str, ...]  # were not made
    remarked: tuple[str, ...]  # missed a goal


def checks_from(content: dict[str, Any], *, levels: bool, bone: bool) -> Checks:
    """Return the checks of a file, or raise a `CalibrationError`.

    `levels`, `bone`: whether the file has levels, and levels of a vibrator.
    """
    table = table_of("", content, TABLE)
    made = [
        name
        for name in CHECKS
        if (bone or name not in OF_BONE) and (name in table or name not in LATER)
    ]
    in_tables = {LEVELS: levels, VIBRATOR: bone}
    unmade = [name for name, there in in_tables.items() if not there]
    check_keys(f"[{TABLE}] ", table, (*made, *unmade))
    for name in (*made, *unmade):
        check_outcome(name, table_of(f"[{TABLE}] ", table, name))
    return Checks(
        tuple(name for name in made if NOT_MEASURED in table[name]),
        tuple(name for name in made if REMARK in table[name]),
    )


def check_outcome(name: str, found: dict[str, Any]) -> None:
    """Check what is told of one check: figures, or why there are none; `CalibrationError`."""
    place = f"[{TABLE}.{name}] "
    if NOT_MEASURED in found or name not in FIGURES:
        check_keys(place, found, (NOT_MEASURED,))
        check_text(place + NOT_MEASURED, found[NOT_MEASURED])
        return
    remarked = (REMARK,) if REMARK in found else ()
    check_keys(place, found, (*FIGURES[name], *remarked))
    for key, limits in FIGURES[name].items():
        number(place + key, found[key], limits, UNITS.get(key.rpartition("_")[2], ""))
    for key in remarked:
        check_text(place + key, found[key])


def refuse_without_levels(content: dict[str, Any]) -> None:
    """Refuse what has checks and no levels by a `NoLevelsError`, with what was not measured."""
    found = checks_from(content, levels=False, bone=False)
    why = content[TABLE][LEVELS][NOT_MEASURED]
    also = f"; not measured either: {', '.join(found.lacking)}" if found.lacking else ""
    raise NoLevelsError(f"checks alone: the levels were not measured, {why}{also}")
