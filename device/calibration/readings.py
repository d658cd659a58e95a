"""What a technician measures at one frequency of one ear, and whether it can be true. No I/O."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from firmware_py.calibration.calibration import Calibration
from firmware_py.calibration.checked import TABLE
from firmware_py.calibration.fields import NoLevelsError
from firmware_py.calibration.file import (
    FORMAT_VERSION,
    LEVEL_MAX_LIMITS_DB_SPL,
    OF_BONE,
    REACH_MIN_DB_HL,
    SENSITIVITY_LIMITS_DB_SPL,
    calibration_from,
)
from firmware_py.terms.route import LEFT, RIGHT

DB_SPL: Final = "dB SPL"
DB_UN: Final = "dB re 1 uN"


def unit_of(route: str) -> str:
    """Return what the meter shows of a route, by its text."""
    return DB_UN if route in OF_BONE else DB_SPL


LINEAR_DB: Final = 1.0  # a step of the generator and that of the reading differ by up to this
NEIGHBOUR_DB: Final = 25.0  # two frequencies side by side; more, and a digit is wrong
# Why a step of the reading is not that of the generator.
TOO_LITTLE: Final = (
    "the meter or the output clips at the loud tone (take the meter's next range, or answer "
    "softer), or the room is too loud for the soft one"
)
TOO_MUCH: Final = "is a digit wrong, or the meter's range another one?"
READING_LIMITS_DB_SPL: Final = (20.0, LEVEL_MAX_LIMITS_DB_SPL[1])


class ImplausibleError(ValueError):
    """A reading that cannot be right, and what to look at."""


class MissedError(ImplausibleError):
    """One that can be right, and misses what is needed."""


@dataclass(frozen=True)
class Reading:
    """What the meter showed for a tone at `level_dbfs`; of bone in dB re 1 uN."""

    level_dbfs: float
    level_db_spl: float
    unit: str = DB_SPL

    def __post_init__(self) -> None:
        low, high = READING_LIMITS_DB_SPL
        if not low <= self.level_db_spl <= high:
            raise ImplausibleError(
                f"{self.level_db_spl:g} {self.unit}; a reading is from {low:g} to {high:g} "
                f"{self.unit}"
            )


@dataclass(frozen=True)
class Point:
    """What two readings at one frequency tell: level at full scale, and the highest level.

    Of bone in dB re 1 uN.
    """

    sensitivity_db_spl: float
    level_max_db_spl: float


def point_of(soft: Reading, loud: Reading, neighbour: Point | None, retspl_db_spl: float) -> Point:
    """Return what two readings tell, or say why they cannot be right: `ImplausibleError`.

    The highest level is that of the loud tone: beyond it nobody has seen whether the output is
    still in proportion. `neighbour` is of the frequency before, of the same ear; 0 dB HL is
    `retspl_db_spl`.
    """
    told_db = loud.level_dbfs - soft.level_dbfs
    read_db = loud.level_db_spl - soft.level_db_spl
    if read_db <= 0.0:
        raise ImplausibleError(
            f"{told_db:g} dB more gave {read_db:+.1f} dB on the meter: is the right "
            f"{'earphone' if soft.unit == DB_SPL else 'vibrator'} on the coupler, is it the tone "
            "that the meter shows, and not the room?"
        )
    if abs(read_db - told_db) > LINEAR_DB:
        raise ImplausibleError(
            f"{told_db:g} dB more gave {read_db:+.1f} dB on the meter; allowed is {LINEAR_DB:g} dB "
            f"off: {TOO_LITTLE if read_db < told_db else TOO_MUCH}"
        )
    # The mean of both: each reading is as good as the other.
    offset_db = 0.5 * (soft.level_db_spl - soft.level_dbfs + loud.level_db_spl - loud.level_dbfs)
    sensitivity_db_spl = round(offset_db, 2)
    found = Point(sensitivity_db_spl, round(sensitivity_db_spl + loud.level_dbfs, 2))
    low, high = SENSITIVITY_LIMITS_DB_SPL
    if not low <= found.sensitivity_db_spl <= high:
        raise ImplausibleError(
            f"full scale would be {found.sensitivity_db_spl:g} {soft.unit}; allowed are {low:g} to "
            f"{high:g} {soft.unit}: see to the amplifier"
        )
    if neighbour is not None:
        step_db = found.sensitivity_db_spl - neighbour.sensitivity_db_spl
        if abs(step_db) > NEIGHBOUR_DB:
            raise ImplausibleError(
                f"full scale differs by {step_db:+.1f} dB from the frequency before; allowed are "
                f"{NEIGHBOUR_DB:g} dB: is a digit wrong?"
            )
    if found.level_max_db_spl - retspl_db_spl < REACH_MIN_DB_HL:
        raise ImplausibleError(
            f"the loud tone is {found.level_max_db_spl - retspl_db_spl:.1f} dB HL; allowed is "
            f"{REACH_MIN_DB_HL:g} dB HL and more: a louder tone is needed, or another amplifier"
        )
    return found


def calibration_of(
    about: Mapping[str, str | float],
    transducer: Mapping[str, str],
    retspl_db_spl: Mapping[int, float],
    points: Mapping[str, Mapping[int, Point]],
    vibrator: Mapping[str, str] | None = None,
    retfl_db_un: Mapping[int, float] | None = None,
    checks: Mapping[str, Any] | None = None,
) -> Calibration:
    """Put a calibration together; `CalibrationError` if it is not allowed.

    `about`, `transducer` and `vibrator` have the texts, dates and numbers of tables of its file;
    levels are by frequency in Hz, what was measured is by route, and `checks` are as the file has
    them.
    """
    content: dict[str, Any] = {
        "format": FORMAT_VERSION,
        "calibration": dict(about),
        "transducer": {
            **transducer,
            "retspl_db_spl": {str(f): level for f, level in retspl_db_spl.items()},
        },
    }
    for ear in (LEFT, RIGHT):
        found = points[ear].items()
        content[ear] = {
            "sensitivity_db_spl": {str(f): p.sensitivity_db_spl for f, p in found},
            "level_max_db_spl": {str(f): p.level_max_db_spl for f, p in found},
        }
    if vibrator is not None and retfl_db_un is not None:
        content["vibrator"] = {
            **vibrator, "retfl_db_un": {str(f): level for f, level in retfl_db_un.items()},
        }  # fmt: skip
        for route in OF_BONE:
            found = points[route].items()
            content[route] = {
                "sensitivity_db_un": {str(f): p.sensitivity_db_spl for f, p in found},
                "level_max_db_un": {str(f): p.level_max_db_spl for f, p in found},
            }
    if checks is not None:
        content[TABLE] = dict(checks)
    return calibration_from(content)


def without_levels(
    about: Mapping[str, str | float], earphones: Mapping[str, str], checks: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the content of a file with checks alone, or raise a `CalibrationError`."""
    content = {
        "format": FORMAT_VERSION, "calibration": dict(about), "transducer": dict(earphones),
        TABLE: dict(checks),
    }  # fmt: skip
    with suppress(NoLevelsError):
        calibration_from(content)
    return content


def as_toml(content: Mapping[str, Any]) -> str:
    lines = [f"format = {FORMAT_VERSION}"]
    for name, table in content.items():
        if isinstance(table, dict):
            lines += _table_lines(name, table)
    return "\n".join(lines) + "\n"


def _table_lines(name: str, table: Mapping[str, Any]) -> list[str]:
    inner = {key: value for key, value in table.items() if isinstance(value, dict)}
    own = {key: value for key, value in table.items() if key not in inner}
    lines = ["", f"[{name}]"] if own else []
    lines += [f"{key} = {_value(key, value)}" for key, value in own.items()]
    for key, value in inner.items():
        lines += _table_lines(f"{name}.{key}", value)
    return lines


def _value(key: str, value: object) -> str:
    if not isinstance(value, str):
        return repr(value)
    if key in ("date", "due"):
        return value
    # Printable ASCII: of what TOML escapes only these two.
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
