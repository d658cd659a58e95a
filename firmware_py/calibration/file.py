"""The calibration file: reading it, and refusing what it may not say.

The file is self-contained: it carries the RETSPL values with their source, so that neither the
firmware nor a replay needs a table.
"""

import datetime
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from firmware_py.calibration import checked
from firmware_py.calibration.calibration import ROUNDING_DB, Calibration, Curve
from firmware_py.calibration.fields import (
    CalibrationError,
    check_keys,
    check_text,
    date_of,
    number,
    table_of,
)
from firmware_py.calibration.stated import check_stated, stated_keys, uncertainty_of
from firmware_py.link.messages import LOWEST_DBFS
from firmware_py.platform.named_file import TomlFileError, read_toml
from firmware_py.session.masking import KINDS
from firmware_py.terms.printable import show
from firmware_py.terms.route import AIR, BONE, BY_AIR, BY_BONE, ROUTES, Route, RouteKind

FORMAT_VERSION: Final = 1
FILE_BYTES_MAX: Final = 32 * 1024  # it is recorded whole in a journal's header of 64 KiB
POINTS_MAX: Final = 64  # of a curve: every third of a semitone, more than anybody measures

RETSPL_LIMITS_DB_SPL: Final = (-5.0, 60.0)  # the published tables have -3.5 to 47.5
RETFL_LIMITS_DB_UN: Final = (20.0, 80.0)  # and those of bone 30 to 67
# Of bone the same in dB re 1 uN: a B81 gives 134 at most.
SENSITIVITY_LIMITS_DB_SPL: Final = (60.0, 145.0)  # of a tone at 0 dBFS
LEVEL_MAX_LIMITS_DB_SPL: Final = (40.0, 140.0)  # 140: no audiometer goes above, and no ear should
# A lower limit would leave no room above the highest floor a test may have, 20 dB HL.
REACH_MIN_DB_HL: Final = 25.0
DUE_DAYS_MAX: Final = 731  # two years; a year is usual

assert -10.0 + RETSPL_LIMITS_DB_SPL[0] - SENSITIVITY_LIMITS_DB_SPL[1] >= LOWEST_DBFS

# With levels. Those of bone, and the table of its vibrator, may be missing, all together: then its
# tests are refused. Another kind of route has none until its table is read here; files and journals
# without it stay good.
SECTIONS: Final = {str(route): route for route in sorted(ROUTES, key=str) if route.kind is BY_AIR}
OF_BONE: Final = {str(route): route for route in sorted(ROUTES, key=str) if route.kind is BY_BONE}
VIBRATOR: Final = checked.VIBRATOR
_DATES: Final = ("date", "due")
TEXTS: Final = {
    "calibration": ("technician", "meter", "meter_serial", "tone_generator_serial"),
    "transducer": ("name", "serial_left", "serial_right", "coupler", "retspl_source"),
}
UNMEASURED_TEXTS: Final = ("name", "serial_left", "serial_right")  # of one without levels
VIBRATOR_TEXTS: Final = ("name", "serial", "placement", "coupler", "retfl_source")
MASTOID: Final = "mastoid"  # where a vibrator sits: symbols and words of the forehead are none


@dataclass(frozen=True)
class _Levels:
    """What the levels of a transducer are called in the file, and in which unit they are."""

    kind: RouteKind
    owner: str  # the table of the transducer
    reference: str
    reference_limits_db: tuple[float, float]
    sensitivity: str
    level_max: str
    unit: str
    needed_hz: tuple[int, ...]


_SPL: Final = _Levels(
    BY_AIR, "transducer", "retspl_db_spl", RETSPL_LIMITS_DB_SPL,
    "sensitivity_db_spl", "level_max_db_spl", "dB SPL", BY_AIR.calibrated_hz,
)  # fmt: skip
_FORCE: Final = _Levels(
    BY_BONE, VIBRATOR, "retfl_db_un", RETFL_LIMITS_DB_UN,
    "sensitivity_db_un", "level_max_db_un", "dB re 1 uN", BY_BONE.calibrated_hz,
)  # fmt: skip


def read_calibration(path: Path) -> Calibration:
    """Read a calibration file, TOML, or raise a `CalibrationError` that names file and key."""
    try:
        content = read_toml(path, FILE_BYTES_MAX)
    except TomlFileError as error:
        raise CalibrationError(str(error)) from None
    about = content.get("calibration")
    if isinstance(about, dict):
        for key in _DATES:
            if isinstance(about.get(key), datetime.date):
                about[key] = about[key].isoformat()
    try:
        return calibration_from(content)
    except CalibrationError as error:
        raise type(error)(f"{path}: {error}") from None


def calibration_from(content: dict[str, Any]) -> Calibration:
    """Return the checked calibration of a file or a journal's header; raise `CalibrationError`."""
    has_checks = checked.TABLE in content
    if has_checks and not {*SECTIONS, *OF_BONE, VIBRATOR} & content.keys():
        _check_head(content, ())
        checked.refuse_without_levels(content)
    of_bone = (VIBRATOR, *OF_BONE) if {VIBRATOR, *OF_BONE} & content.keys() else ()
    date, due = _check_head(content, (*SECTIONS, *of_bone))
    about, transducer = content["calibration"], content["transducer"]
    if transducer["kind"] not in KINDS:
        raise CalibrationError(
            f"[transducer] kind is {show(transducer['kind'])}; allowed are {', '.join(KINDS)}"
        )
    reference = {AIR: _reference(_SPL, transducer)}
    force = _force_in(content)
    if of_bone:
        reference[BONE] = _reference(force, _vibrator(content))
    sensitivity: dict[Route, Curve] = {}
    level_max: dict[Route, Curve] = {}
    for name, route in (SECTIONS | OF_BONE if of_bone else SECTIONS).items():
        of = force if route.kind is BY_BONE else _SPL
        table = table_of("", content, name)
        check_keys(f"[{name}] ", table, (of.sensitivity, of.level_max))
        sensitivity[route] = _curve(of, name, table, of.sensitivity, SENSITIVITY_LIMITS_DB_SPL)
        level_max[route] = _curve(of, name, table, of.level_max, LEVEL_MAX_LIMITS_DB_SPL)
        curves = reference[route.transducer], sensitivity[route], level_max[route]
        _check_levels(of, name, *curves)
    return Calibration(
        content, date, due, transducer["kind"], reference, sensitivity, level_max,
        uncertainty_of(about),
        checked.checks_from(content, levels=True, bone=bool(of_bone)) if has_checks else None,
    )  # fmt: skip


def _check_head(
    content: dict[str, Any], levels: tuple[str, ...]
) -> tuple[datetime.date, datetime.date]:
    """Check what stands above the levels, of which these tables are; return date and due date."""
    checks = (checked.TABLE,) if checked.TABLE in content else ()
    check_keys("", content, ("format", "calibration", "transducer", *levels, *checks))
    if type(content["format"]) is not int or content["format"] != FORMAT_VERSION:
        raise CalibrationError(
            f"format is {show(content['format'])}; this firmware knows {FORMAT_VERSION}"
        )
    about, transducer = (table_of("", content, name) for name in ("calibration", "transducer"))
    check_keys("[calibration] ", about, (*_DATES, *TEXTS["calibration"], *stated_keys(about)))
    check_stated(about)
    texts = TEXTS if levels else TEXTS | {"transducer": UNMEASURED_TEXTS}
    of_levels = ("kind", "retspl_db_spl") if levels else ()
    check_keys("[transducer] ", transducer, (*texts["transducer"], *of_levels))
    for name, table in (("calibration", about), ("transducer", transducer)):
        for key in texts[name]:
            check_text(f"[{name}] {key}", table[key])
    date, due = (date_of(f"[calibration] {key}", about[key]) for key in _DATES)
    _check_due(date, due)
    return date, due


def _force_in(content: dict[str, Any]) -> _Levels:
    """Return what the tables of a vibrator have; more frequencies, if one of them has these."""
    tables = (content.get(name) for name in (VIBRATOR, *OF_BONE))
    curves = [each for table in tables if isinstance(table, dict) for each in table.values()]
    more_hz = BY_BONE.where_calibrated_hz
    has_more = any(isinstance(each, dict) and str(f) in each for each in curves for f in more_hz)
    return replace(_FORCE, needed_hz=(*_FORCE.needed_hz, *more_hz)) if has_more else _FORCE


def _reference(of: _Levels, table: dict[str, Any]) -> Curve:
    return _curve(of, of.owner, table, of.reference, of.reference_limits_db)


def _vibrator(content: dict[str, Any]) -> dict[str, Any]:
    table = table_of("", content, VIBRATOR)
    check_keys(f"[{VIBRATOR}] ", table, (*VIBRATOR_TEXTS, _FORCE.reference))
    for key in VIBRATOR_TEXTS:
        check_text(f"[{VIBRATOR}] {key}", table[key])
    if table["placement"] != MASTOID:
        raise CalibrationError(
            f"[{VIBRATOR}] placement is {show(table['placement'])}; allowed is {MASTOID}: "
            "a test asks for it there, and has symbols of no other place"
        )
    return table


def _check_due(date: datetime.date, due: datetime.date) -> None:
    days = (due - date).days
    if not 0 < days <= DUE_DAYS_MAX:
        raise CalibrationError(
            f"[calibration] due is {due}; allowed is a date after {date} (date) by up to "
            f"{DUE_DAYS_MAX} days"
        )


def _curve(
    of: _Levels, owner: str, table: dict[str, Any], name: str, limits_db: tuple[float, float]
) -> Curve:
    place = f"[{owner}.{name}]"
    points = table_of(f"[{owner}] ", table, name)
    if len(points) > POINTS_MAX:
        raise CalibrationError(f"{place} has {len(points)} frequencies; allowed are {POINTS_MAX}")
    levels_db: dict[float, float] = {}
    needed_hz = of.needed_hz
    low_hz, high_hz = needed_hz[0], needed_hz[-1]
    for key, value in points.items():
        # No sign, point or leading zero: 1000 and 01000 would be one frequency twice.
        whole = key.isascii() and key.isdecimal() and not key.startswith("0") and len(key) <= 5
        if not whole or not low_hz <= int(key) <= high_hz:
            raise CalibrationError(
                f"{place} {show(key)} is not a frequency; allowed are whole numbers from "
                f"{low_hz} to {high_hz} Hz{_or_more(of)}"
            )
        levels_db[float(key)] = number(f"{place} {key} Hz", value, limits_db, of.unit)
    missing = [str(f) for f in needed_hz if float(f) not in levels_db]
    if missing:
        raise CalibrationError(
            f"{place} lacks {', '.join(missing)} Hz; needed are {', '.join(map(str, needed_hz))} Hz"
            f"{_or_more(of)}"
        )
    rising = sorted(levels_db)
    return Curve(tuple(rising), tuple(levels_db[f] for f in rising))


def _or_more(of: _Levels) -> str:
    """Say which frequencies a transducer may have beside, in all of its tables; "": none."""
    more = ", ".join(map(str, of.kind.where_calibrated_hz))
    return f"; {more} Hz stands in all tables of the {of.owner}, or in none" if more else ""


def _check_levels(of: _Levels, ear: str, *curves: Curve) -> None:
    """Check the levels of a route against each other at all points: between, they are straight."""
    for frequency_hz in sorted({f for curve in curves for f in curve.frequencies_hz}):
        retspl, full_scale, level_max = (curve.at(frequency_hz) for curve in curves)
        place = f"[{ear}.{of.level_max}] {frequency_hz:g} Hz is {level_max:g} {of.unit}"
        if level_max > full_scale + ROUNDING_DB:
            raise CalibrationError(
                f"{place}; allowed is up to full scale, {full_scale:g} {of.unit} there "
                f"([{ear}.{of.sensitivity}])"
            )
        if level_max - retspl < REACH_MIN_DB_HL - ROUNDING_DB:
            raise CalibrationError(
                f"{place}, {level_max - retspl:g} dB HL; allowed is {REACH_MIN_DB_HL:g} dB HL "
                f"and more, {REACH_MIN_DB_HL + retspl:g} {of.unit} there"
            )
