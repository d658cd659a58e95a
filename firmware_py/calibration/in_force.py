"""The calibration that holds today, or that held when a session began.

Without a good calibration tests still run, at nominal levels, and everything says UNCALIBRATED.
"""

import datetime
import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from firmware_py.calibration import simulated
from firmware_py.calibration.calibration import NOISE_CORRECTION, Calibration
from firmware_py.calibration.fields import CalibrationError, date_of
from firmware_py.calibration.file import calibration_from, read_calibration
from firmware_py.findings.room_noise import known_room
from firmware_py.findings.whole_band import NOMINAL, Uncertainty
from firmware_py.link.messages import NOISE_DBFS_MAX
from firmware_py.session.boards import serial_of
from firmware_py.session.masking import Earphones, attenuation_db, occlusion_db
from firmware_py.terms.calibration_states import (
    CALIBRATED,
    OVERDUE,
    SIMULATED,
    STATES,
    UNCALIBRATED,
)
from firmware_py.terms.printable import show
from firmware_py.terms.reasons import Code, Reason, in_nominal_db, reason
from firmware_py.terms.record_checks import ResultError
from firmware_py.terms.results import SessionResult
from firmware_py.terms.route import Route
from firmware_py.terms.words import say

# Of 0 dBFS at every frequency, where nothing is measured: what the loudest usual build gives, a DAC
# of 2.1 V and a unity-gain amplifier with the most sensitive earphones. Others play softer.
NOMINAL_FULL_SCALE_DB_HL: Final = 132.0
FULL_SCALE_LIMITS_DB_HL: Final = (100.0, 150.0)  # in a record

# Of levels, as records and exports name it.
DB_HL: Final = "dB HL"
NOMINAL_UNIT: Final = "nominal dB"

NOMINAL_KEYS: Final = ("full_scale_db_hl",)  # of a record, beside state and why
MEASURED_KEYS: Final = ("judged_on", "digest", "content")


@dataclass(frozen=True)
class CalibrationInForce:
    """The calibration of one session, its state judged at the start; all a replay needs."""

    state: str = UNCALIBRATED  # one of `STATES`
    calibration: Calibration | None = None  # None if UNCALIBRATED
    judged_on: str = ""  # date by which the state was judged, ISO 8601; "" if UNCALIBRATED
    # what makes it not CALIBRATED; None of a device that was given no calibration, too
    why: Reason | None = None
    full_scale_db_hl: float = NOMINAL_FULL_SCALE_DB_HL  # counts where nothing is measured

    def is_of(self, board: str) -> bool:
        """Return whether it holds with a board, by name and serial number; nominal: with all."""
        if self.calibration is None:
            return True
        if self.state == SIMULATED:
            return board == simulated.BOARD
        return serial_of(board) == self.calibration.board_serial

    def lacks(self, route: Route) -> str:
        """Say that it was not measured by a route; "" of one by which it was, or if nominal."""
        made = self.calibration
        return "" if made is None or made.has(route) else made.lacks(route)

    def audiogram_hz(self, route: Route) -> tuple[int, ...]:
        """Return the frequencies of a route's audiogram: some only where there are levels."""
        kind, made = route.kind, self.calibration
        if made is None:
            return kind.frequencies_hz
        more_hz = (f for f in kind.where_calibrated_hz if made.covers(route, f))
        return (*kind.frequencies_hz, *more_hz)

    def level_dbfs(self, route: Route, frequency_hz: float, level_db_hl: float) -> float:
        """Return what the tone generator is told for a level in dB HL; nominal if not measured."""
        if self.calibration is None or not self.calibration.covers(route, frequency_hz):
            return level_db_hl - self.full_scale_db_hl
        return self.calibration.level_dbfs(route, frequency_hz, level_db_hl)

    def highest_db_hl(self, route: Route, frequency_hz: float) -> float:
        """Return the highest level that can be reached; infinite if uncalibrated."""
        if self.calibration is None:
            return math.inf
        return self.calibration.highest_db_hl(route, frequency_hz)

    def noise_dbfs(self, route: Route, frequency_hz: float, level_db_hl: float) -> float:
        level_db_hl += NOISE_CORRECTION.at(frequency_hz)
        return min(self.level_dbfs(route, frequency_hz, level_db_hl), NOISE_DBFS_MAX)

    def highest_noise_db_hl(self, route: Route, frequency_hz: float) -> float:
        full_scale_db_hl = -self.level_dbfs(route, frequency_hz, 0.0)
        reach_db_hl = min(
            self.highest_db_hl(route, frequency_hz), full_scale_db_hl + NOISE_DBFS_MAX
        )
        return float(math.floor(reach_db_hl - NOISE_CORRECTION.at(frequency_hz)))

    @property
    def nominal(self) -> bool:
        """Return whether levels are nominal, so that nothing follows that needs dB HL."""
        return self.state == UNCALIBRATED

    def uncertainty(self, result: SessionResult) -> Uncertainty:
        """Return what is uncertain of a result beside the answers."""
        if self.calibration is None:
            return NOMINAL
        return Uncertainty(self.calibration.uncertainty_db, known_room(result) is not None)

    @property
    def unit(self) -> str:
        return NOMINAL_UNIT if self.nominal else DB_HL

    def in_unit(self, figures: dict[str, Any]) -> dict[str, Any]:
        """Return figures and reasons, by name, that say so where their levels are nominal."""
        if not self.nominal:
            return figures
        return {name: in_nominal_db(each) for name, each in figures.items()}

    @property
    def earphones(self) -> Earphones:
        """Return what masking has to know; of earphones of unknown kind the least attenuation."""
        kind = self.calibration.kind if self.calibration else ""
        return Earphones(
            kind, partial(attenuation_db, kind), self.highest_noise_db_hl,
            partial(occlusion_db, kind),
        )  # fmt: skip

    @property
    def headline(self) -> str:
        """Return one line for every screen, the state first."""
        told = say(self.about)
        return told if self.state == SIMULATED else f"{self.state}: {told}"

    @property
    def about(self) -> Reason:
        if self.why is not None:
            return self.why
        if self.calibration is None:
            return reason(Code.NOMINAL)
        if self.state == SIMULATED:
            return reason(Code.SIMULATED_BOARD)
        made = self.calibration
        days = {"date": made.date.isoformat(), "due": made.due.isoformat()}
        if made.checks is not None and made.checks.lacking:
            return reason(Code.CALIBRATED_BUT, **days, lacking=made.checks.lacking)
        return reason(Code.CALIBRATED, **days)

    def as_record(self) -> dict[str, Any]:
        why = {"why": self.why.to_record()} if self.why else {}
        if self.calibration is None:
            return {"state": self.state, "full_scale_db_hl": self.full_scale_db_hl, **why}
        return {
            "state": self.state,
            **why,
            "judged_on": self.judged_on,
            "digest": self.calibration.digest,
            "content": self.calibration.content,
        }

    @classmethod
    def from_record(cls, record: object) -> Self:
        """Return what `as_record` wrote, or raise a `CalibrationError`."""
        told = record if isinstance(record, dict) else {}
        state = told.get("state")
        try:
            why = Reason.from_record("why", told["why"]) if "why" in told else None
        except ResultError as error:
            raise CalibrationError(f"its {error}") from None
        if state not in STATES:
            raise CalibrationError(f"its state is {show(state)}; allowed are {', '.join(STATES)}")
        names = NOMINAL_KEYS if state == UNCALIBRATED else MEASURED_KEYS
        if unknown := [name for name in told if name not in ("state", "why", *names)]:
            allowed = ", ".join(names)
            raise CalibrationError(f"its {show(unknown[0])} is not known; allowed are {allowed}")
        if state == UNCALIBRATED:
            return cls(why=why, full_scale_db_hl=_full_scale(told.get("full_scale_db_hl")))
        content = told.get("content")
        if not isinstance(content, dict):
            raise CalibrationError(f"its content is {show(content)}; it has to be a table")
        calibration = _of_content(state, content)
        if told.get("digest") != calibration.digest:
            raise CalibrationError("its digest is not that of its content")
        found = cls(state, calibration, told.get("judged_on"), why)  # type: ignore[arg-type]
        _check_judgement(found)
        return found


def _full_scale(value: object) -> float:
    low, high = FULL_SCALE_LIMITS_DB_HL
    if type(value) not in (int, float) or not low <= value <= high:  # type: ignore[operator]
        raise CalibrationError(
            f"its full scale is {show(value)}; allowed are numbers from {low:g} to {high:g} "
            f"{NOMINAL_UNIT}"
        )
    return float(value)  # type: ignore[arg-type]


def _check_judgement(told: CalibrationInForce) -> None:
    """Refuse a state that the calibration had not on the day on which it was judged."""
    day = date_of("its judged_on", told.judged_on)
    found = CalibrationOnFile(told.calibration).judge(day)
    if told != found:
        raise CalibrationError(
            f"its state is {show(told.headline)}; judged on {told.judged_on} it is "
            f"{show(found.headline)}"
        )


def _of_content(state: str, content: dict[str, Any]) -> Calibration:
    if state != SIMULATED:
        return calibration_from(content)
    if content != simulated.CONTENT:
        raise CalibrationError("its content is not that of the simulated board")
    return simulated.CALIBRATION


@dataclass(frozen=True)
class CalibrationOnFile:
    """What the firmware was given: a good calibration, or none and why."""

    calibration: Calibration | None = None  # the good one
    fault: str = ""  # what is wrong with the file, in words; "" if it is good, or there is none

    def judge(self, today: datetime.date, board: str = "") -> CalibrationInForce:
        """Return the calibration as it is in force on a day, with a board if it is known.

        `board`: its name and serial number. A calibration is of one board and no other.
        """
        made = self.calibration
        if made is None and board == simulated.BOARD and not self.fault:
            made = simulated.CALIBRATION
        if made is None:
            fault = reason(Code.NOMINAL_SINCE, told=self.fault) if self.fault else None
            return CalibrationInForce(why=fault)
        serial = serial_of(board)
        if serial not in ("", made.board_serial):
            other = reason(Code.ANOTHER_BOARDS, was=made.board_serial, now=serial)
            return CalibrationInForce(why=other)
        if made is simulated.CALIBRATION:
            return CalibrationInForce(SIMULATED, made, today.isoformat())
        why, date = None, made.date.isoformat()
        if today > made.due:
            why = reason(Code.OVERDUE, date=date, due=made.due.isoformat())
        elif today < made.date:
            why = reason(Code.CLOCK_IS_WRONG, date=date, today=today.isoformat())
        state = CALIBRATED if why is None else OVERDUE
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
