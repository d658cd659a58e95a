"""The calibration: from dB HL to what the tone generator is told, by ear and frequency.

dB SPL = dB HL + RETSPL(f), the reference threshold of the transducer on its coupler (ISO 389), and
dBFS = dB SPL - sensitivity(ear, f), the measured level of a tone at full scale. Both curves are
linear over log frequency between the points of the calibration file. The file is self-contained:
it carries the RETSPL values with their source, so that neither the firmware nor a replay needs a
table.

Without a good calibration tests still run, at nominal levels, and everything says UNCALIBRATED.
"""

import datetime
import json
import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from firmware_py.link.messages import LOWEST_DBFS, NOISE_DBFS_MAX
from firmware_py.platform.toml_file import TomlFileError, read_toml, unknown_key
from firmware_py.procedure.masking import KINDS, Earphones, attenuation_db
from firmware_py.procedure.settings import AUDIOGRAM_FREQUENCIES_HZ, LEFT, RIGHT

FORMAT_VERSION: Final = 1
FILE_BYTES_MAX: Final = 32 * 1024  # it is recorded whole in a journal's header of 64 KiB
TEXT_CHARACTERS_MAX: Final = 80

# All a test may ask lies within the first and the last, so nothing is ever extrapolated.
FREQUENCIES_HZ: Final = (125, *AUDIOGRAM_FREQUENCIES_HZ)
POINTS_MAX: Final = 64  # of a curve: every third of a semitone, more than anybody measures

RETSPL_LIMITS_DB_SPL: Final = (-5.0, 60.0)  # the published tables have -3.5 to 47.5
SENSITIVITY_LIMITS_DB_SPL: Final = (60.0, 145.0)  # of a tone at 0 dBFS
LEVEL_MAX_LIMITS_DB_SPL: Final = (40.0, 140.0)  # 140: no audiometer goes above, and no ear should
# A lower limit would leave no room above the highest floor a test may have, 20 dB HL.
REACH_MIN_DB_HL: Final = 25.0
DUE_DAYS_MAX: Final = 731  # two years; a year is usual

NOMINAL_FULL_SCALE_DB_HL: Final = 120.0  # of 0 dBFS at every frequency, where nothing is measured
_WHOLE_DB: Final = 1e-9  # a whole number but for rounding is that number, on every machine
_HUNDREDTHS: Final = 100  # the wire has two digits

assert -10.0 + RETSPL_LIMITS_DB_SPL[0] - SENSITIVITY_LIMITS_DB_SPL[1] >= LOWEST_DBFS

CALIBRATED: Final = "CALIBRATED"
OVERDUE: Final = "OVERDUE"
UNCALIBRATED: Final = "UNCALIBRATED"
STATES: Final = (CALIBRATED, OVERDUE, UNCALIBRATED)

_TEXTS: Final = {
    "calibration": ("technician", "meter", "meter_serial", "tone_generator_serial"),
    "transducer": ("name", "serial_left", "serial_right", "coupler", "retspl_source"),
}
_DATES: Final = ("date", "due")
_KIND: Final = "kind"  # of the transducer; files of before do not tell it


class CalibrationError(ValueError):
    """A calibration that cannot be read, or says something that is not allowed."""


@dataclass(frozen=True)
class Curve:
    """A level over frequency, linear over log frequency between its points.

    Attributes
    ----------
    frequencies_hz : tuple of float
        Rising.
    levels_db : tuple of float
        One for each frequency, dB, of what the curve is of.
    """

    frequencies_hz: tuple[float, ...]
    levels_db: tuple[float, ...]

    def at(self, frequency_hz: float) -> float:
        """Return the level at a frequency.

        Raises
        ------
        ValueError
            If it lies outside the first and last point.
        """
        low_hz, high_hz = self.frequencies_hz[0], self.frequencies_hz[-1]
        if not low_hz <= frequency_hz <= high_hz:
            raise ValueError(
                f"frequency_hz is {frequency_hz:g}; allowed is {low_hz:g} to {high_hz:g}"
            )
        right = bisect_left(self.frequencies_hz, frequency_hz)
        if self.frequencies_hz[right] == frequency_hz:
            return self.levels_db[right]
        left = right - 1
        octaves = math.log2(self.frequencies_hz[right] / self.frequencies_hz[left])
        share = math.log2(frequency_hz / self.frequencies_hz[left]) / octaves
        return self.levels_db[left] + share * (self.levels_db[right] - self.levels_db[left])


# By how much the level of a band of noise a third of an octave wide is above that of the tone it
# just masks (ISO 389-4:1994). The tone generator's band is a fifth wider, so 0.8 dB of its noise
# are outside, for which the safety of the masking rule has room.
NOISE_CORRECTION: Final = Curve(
    tuple(map(float, FREQUENCIES_HZ)), (4.0, 4.0, 4.0, 5.0, 6.0, 6.0, 6.0, 6.0, 5.0, 5.0, 5.0)
)


@dataclass(frozen=True)
class Calibration:
    """A good calibration.

    Made by `read_calibration` or `from_record`, which check it.

    Attributes
    ----------
    content : dict
        All that its file says, as JSON values; dates are ISO 8601.
    date, due : datetime.date
        When it was made, and the last day on which it holds.
    kind : str
        Of the transducer, one of `KINDS`; "" if its file does not say.
    retspl_db_spl : Curve
        Reference threshold of the transducer.
    sensitivity_db_spl, level_max_db_spl : dict of ear to Curve
        Level of a tone at 0 dBFS, and the highest level that may be played.
    """

    content: dict[str, Any]
    date: datetime.date
    due: datetime.date
    kind: str
    retspl_db_spl: Curve
    sensitivity_db_spl: dict[str, Curve]
    level_max_db_spl: dict[str, Curve]

    @classmethod
    def from_record(cls, content: dict[str, Any]) -> Self:
        """Check the content of a calibration file, or of a journal's header, and take it.

        Raises
        ------
        CalibrationError
            If something is missing, unknown or not allowed; the message names table, key and value.
        """
        _check_keys("", content, ("format", "calibration", "transducer", LEFT, RIGHT))
        if type(content["format"]) is not int or content["format"] != FORMAT_VERSION:
            raise CalibrationError(
                f"format is {content['format']!r}; this firmware knows {FORMAT_VERSION}"
            )
        about = _table("", content, "calibration")
        _check_keys("[calibration] ", about, (*_DATES, *_TEXTS["calibration"]))
        transducer = _table("", content, "transducer")
        wanted = (*_TEXTS["transducer"], "retspl_db_spl")
        _check_keys("[transducer] ", transducer, wanted, (_KIND,))
        for name, table in (("calibration", about), ("transducer", transducer)):
            for key in _TEXTS[name]:
                check_text(f"[{name}] {key}", table[key])
        date, due = (_date(f"[calibration] {key}", about[key]) for key in _DATES)
        _check_due(date, due)
        ears = {ear: _table("", content, ear) for ear in (LEFT, RIGHT)}
        for ear, table in ears.items():
            _check_keys(f"[{ear}] ", table, ("sensitivity_db_spl", "level_max_db_spl"))
        made = cls(
            content,
            date,
            due,
            _kind(transducer),
            _curve("transducer", transducer, "retspl_db_spl", RETSPL_LIMITS_DB_SPL),
            {
                ear: _curve(ear, table, "sensitivity_db_spl", SENSITIVITY_LIMITS_DB_SPL)
                for ear, table in ears.items()
            },
            {
                ear: _curve(ear, table, "level_max_db_spl", LEVEL_MAX_LIMITS_DB_SPL)
                for ear, table in ears.items()
            },
        )
        for ear in ears:
            made._check_levels(ear)
        return made

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the content, which tells two calibrations apart."""
        text = json.dumps(self.content, sort_keys=True, separators=(",", ":"))
        import hashlib  # 4 MB that a device without a calibration does not need

        return hashlib.sha256(text.encode()).hexdigest()

    def level_dbfs(self, ear: str, frequency_hz: float, level_db_hl: float) -> float:
        """Return what the tone generator is told for a level, never above it by rounding."""
        level_db_spl = level_db_hl + self.retspl_db_spl.at(frequency_hz)
        level_dbfs = level_db_spl - self.sensitivity_db_spl[ear].at(frequency_hz)
        return math.floor(level_dbfs * _HUNDREDTHS + _WHOLE_DB) / _HUNDREDTHS

    def highest_db_hl(self, ear: str, frequency_hz: float) -> float:
        """Return the highest level that can be reached, whole dB HL."""
        level_max_db_spl = self.level_max_db_spl[ear].at(frequency_hz)
        reach_db_hl = level_max_db_spl - self.retspl_db_spl.at(frequency_hz)
        return float(math.floor(reach_db_hl + _WHOLE_DB))

    def _check_levels(self, ear: str) -> None:
        """Check the relations at every point; between points the curves are straight."""
        curves = self.retspl_db_spl, self.sensitivity_db_spl[ear], self.level_max_db_spl[ear]
        for frequency_hz in sorted({f for curve in curves for f in curve.frequencies_hz}):
            retspl, full_scale, level_max = (curve.at(frequency_hz) for curve in curves)
            place = f"[{ear}.level_max_db_spl] {frequency_hz:g} Hz is {level_max:g} dB SPL"
            if level_max > full_scale + _WHOLE_DB:
                raise CalibrationError(
                    f"{place}; allowed is up to full scale, {full_scale:g} dB SPL there "
                    f"([{ear}.sensitivity_db_spl])"
                )
            if level_max - retspl < REACH_MIN_DB_HL - _WHOLE_DB:
                raise CalibrationError(
                    f"{place}, {level_max - retspl:g} dB HL; allowed is {REACH_MIN_DB_HL:g} dB HL "
                    f"and more, {REACH_MIN_DB_HL + retspl:g} dB SPL there"
                )


def read_calibration(path: Path) -> Calibration:
    """Read a calibration file, TOML.

    Raises
    ------
    CalibrationError
        If the file cannot be read or is not allowed; the message names file, key, value, and what
        is allowed.
    """
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
        return Calibration.from_record(content)
    except CalibrationError as error:
        raise CalibrationError(f"{path}: {error}") from None


@dataclass(frozen=True)
class CalibrationInForce:
    """The calibration of one session, its state judged at the start; all a replay needs.

    Attributes
    ----------
    state : str
        CALIBRATED, OVERDUE or UNCALIBRATED.
    calibration : Calibration or None
        None if UNCALIBRATED.
    judged_on : str
        Date by which the state was judged, ISO 8601; "" if UNCALIBRATED.
    why : str
        What makes it not CALIBRATED, in words; "" if nothing was ever said to be calibrated.
    """

    state: str = UNCALIBRATED
    calibration: Calibration | None = None
    judged_on: str = ""
    why: str = ""

    def level_dbfs(self, ear: str, frequency_hz: float, level_db_hl: float) -> float:
        """Return what the tone generator is told for a level in dB HL."""
        if self.calibration is None:
            return level_db_hl - NOMINAL_FULL_SCALE_DB_HL
        return self.calibration.level_dbfs(ear, frequency_hz, level_db_hl)

    def highest_db_hl(self, ear: str, frequency_hz: float) -> float:
        """Return the highest level that can be reached; uncalibrated nobody knows, infinite."""
        if self.calibration is None:
            return math.inf
        return self.calibration.highest_db_hl(ear, frequency_hz)

    def noise_dbfs(self, ear: str, frequency_hz: float, level_db_hl: float) -> float:
        """Return what the tone generator is told for noise of an effective masking level."""
        level_db_hl += NOISE_CORRECTION.at(frequency_hz)
        return min(self.level_dbfs(ear, frequency_hz, level_db_hl), NOISE_DBFS_MAX)

    def highest_noise_db_hl(self, ear: str, frequency_hz: float) -> float:
        """Return the highest effective masking level that can be reached, whole dB."""
        full_scale_db_hl = -self.level_dbfs(ear, frequency_hz, 0.0)
        reach_db_hl = min(self.highest_db_hl(ear, frequency_hz), full_scale_db_hl + NOISE_DBFS_MAX)
        return float(math.floor(reach_db_hl - NOISE_CORRECTION.at(frequency_hz)))

    @property
    def earphones(self) -> Earphones:
        """Return what masking has to know; of earphones of unknown kind the least attenuation."""
        kind = self.calibration.kind if self.calibration else ""
        return Earphones(partial(attenuation_db, kind), self.highest_noise_db_hl)

    @property
    def headline(self) -> str:
        """Return one line for every screen and report, the state first."""
        if self.calibration is None:
            return f"{UNCALIBRATED}: levels are nominal" + (f" ({self.why})" if self.why else "")
        if self.state == OVERDUE:
            return f"{OVERDUE}: {self.why}"
        date, due = self.calibration.date, self.calibration.due
        return f"{CALIBRATED}: {date.isoformat()}, due {due.isoformat()}"

    def as_record(self) -> dict[str, Any]:
        """Return it as JSON values for a journal's header."""
        why = {"why": self.why} if self.why else {}
        if self.calibration is None:
            return {"state": self.state, "full_scale_db_hl": NOMINAL_FULL_SCALE_DB_HL, **why}
        return {
            "state": self.state,
            **why,
            "judged_on": self.judged_on,
            "digest": self.calibration.digest,
            "content": self.calibration.content,
        }

    @classmethod
    def from_record(cls, record: dict[str, Any] | None) -> Self:
        """Return what `as_record` wrote; None (a journal of before) is UNCALIBRATED.

        Raises
        ------
        CalibrationError
            If the record is not one of this version.
        """
        if record is None:
            return cls()
        state = record.get("state") if isinstance(record, dict) else None
        if state not in STATES:
            raise CalibrationError(f"its state is {state!r}; allowed are {', '.join(STATES)}")
        why = str(record.get("why", ""))
        if state == UNCALIBRATED:
            if record.get("full_scale_db_hl") != NOMINAL_FULL_SCALE_DB_HL:
                raise CalibrationError(
                    f"its nominal full scale is {record.get('full_scale_db_hl')!r} dB HL; this "
                    f"firmware knows {NOMINAL_FULL_SCALE_DB_HL:g}"
                )
            return cls(why=why)
        content = record.get("content")
        if not isinstance(content, dict):
            raise CalibrationError(f"its content is {content!r}; it has to be a table")
        calibration = Calibration.from_record(content)
        if record.get("digest") != calibration.digest:
            raise CalibrationError("its digest is not that of its content")
        return cls(state, calibration, str(record.get("judged_on", "")), why)


@dataclass(frozen=True)
class CalibrationOnFile:
    """What the firmware was given: a good calibration, or none and why.

    Attributes
    ----------
    calibration : Calibration or None
        The good one.
    fault : str
        What is wrong with the file, in words; "" if it is good, or there is none.
    """

    calibration: Calibration | None = None
    fault: str = ""

    def judged(self, today: datetime.date) -> CalibrationInForce:
        """Return the calibration as it is in force on a day."""
        made = self.calibration
        if made is None:
            return CalibrationInForce(why=self.fault)
        state, why, date = CALIBRATED, "", made.date.isoformat()
        if today > made.due:
            state, why = OVERDUE, f"calibrated {date}, was due {made.due.isoformat()}"
        elif today < made.date:
            state = OVERDUE
            why = f"calibrated {date}, but the clock says {today.isoformat()}: is it right?"
        return CalibrationInForce(state, made, today.isoformat(), why)


NO_CALIBRATION: Final = CalibrationOnFile()


def load_calibration(path: Path | None) -> CalibrationOnFile:
    """Read the calibration file, if there is one; what is wrong with it is kept in words."""
    if path is None:
        return NO_CALIBRATION
    try:
        return CalibrationOnFile(read_calibration(path))
    except CalibrationError as error:
        return CalibrationOnFile(fault=str(error))


def _check_keys(
    place: str, table: dict[str, Any], wanted: tuple[str, ...], allowed: tuple[str, ...] = ()
) -> None:
    if unknown := unknown_key(table, (*wanted, *allowed)):
        name, hint = unknown
        raise CalibrationError(f"{place}{name!r} is not known; {hint}")
    for name in wanted:
        if name not in table:
            raise CalibrationError(f"{place}{name!r} is missing")


def _table(place: str, content: dict[str, Any], name: str) -> dict[str, Any]:
    table = content[name]
    if not isinstance(table, dict):
        raise CalibrationError(f"{place}{name!r} is {table!r}; it has to be a table")
    return table


def check_text(place: str, value: object) -> None:
    """Refuse what is no text for a calibration file.

    Raises
    ------
    CalibrationError
        The message names the place, the value and what is allowed.
    """
    good = isinstance(value, str) and value.isascii() and value.isprintable()
    if not good or not 0 < len(str(value).strip()) <= len(str(value)) <= TEXT_CHARACTERS_MAX:
        raise CalibrationError(
            f"{place} is {value!r}; allowed are 1 to {TEXT_CHARACTERS_MAX} printable ASCII "
            "characters"
        )


def _kind(transducer: dict[str, Any]) -> str:
    kind = transducer.get(_KIND, "")
    if _KIND in transducer and kind not in KINDS:
        raise CalibrationError(f"[transducer] {_KIND} is {kind!r}; allowed are {', '.join(KINDS)}")
    return str(kind)


def _date(place: str, value: object) -> datetime.date:
    try:
        date = datetime.date.fromisoformat(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        date = None
    if date is None or date.isoformat() != value:
        raise CalibrationError(f"{place} is {value!r}; allowed is a date such as 2026-01-31")
    return date


def _check_due(date: datetime.date, due: datetime.date) -> None:
    days = (due - date).days
    if not 0 < days <= DUE_DAYS_MAX:
        raise CalibrationError(
            f"[calibration] due is {due}; allowed is a date after {date} (date) by up to "
            f"{DUE_DAYS_MAX} days"
        )


def _curve(owner: str, table: dict[str, Any], name: str, limits_db: tuple[float, float]) -> Curve:
    place = f"[{owner}.{name}]"
    points = _table(f"[{owner}] ", table, name)
    if len(points) > POINTS_MAX:
        raise CalibrationError(f"{place} has {len(points)} frequencies; allowed are {POINTS_MAX}")
    levels_db: dict[float, float] = {}
    low_hz, high_hz = FREQUENCIES_HZ[0], FREQUENCIES_HZ[-1]
    for key, value in points.items():
        # No sign, point or leading zero: 1000 and 01000 would be one frequency twice.
        whole = key.isascii() and key.isdecimal() and not key.startswith("0") and len(key) <= 5
        if not whole or not low_hz <= int(key) <= high_hz:
            raise CalibrationError(
                f"{place} {key!r} is not a frequency; allowed are whole numbers from {low_hz} to "
                f"{high_hz} Hz"
            )
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not limits_db[0] <= value <= limits_db[1]:
            raise CalibrationError(
                f"{place} {key} Hz is {value!r}; allowed are numbers from {limits_db[0]:g} to "
                f"{limits_db[1]:g} dB SPL"
            )
        levels_db[float(key)] = float(value)
    missing = [str(f) for f in FREQUENCIES_HZ if float(f) not in levels_db]
    if missing:
        raise CalibrationError(
            f"{place} lacks {', '.join(missing)} Hz; needed are "
            f"{', '.join(map(str, FREQUENCIES_HZ))} Hz"
        )
    rising = sorted(levels_db)
    return Curve(tuple(rising), tuple(levels_db[f] for f in rising))
