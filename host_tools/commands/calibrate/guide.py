"""Lead a technician through the levels of each route: what to do, tones, readings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from device.calibration.before_wearing import SOFTER_DB
from device.calibration.readings import ImplausibleError, Point, Reading, point_of, unit_of
from device.calibration.retfl import ReferenceForces
from device.calibration.retspl import ReferenceLevels
from firmware_py.calibration.file import OF_BONE
from firmware_py.operator.meter_tone import DBFS_LIMITS
from firmware_py.terms.route import LEFT, RIGHT
from host_tools.commands.calibrate.asking import (
    Ask,
    BackError,
    LeftOutError,
    Say,
    answer_of,
    wait_for_return,
)
from host_tools.commands.calibrate.instrument import Sounds
from host_tools.commands.calibrate.kept import Readings

SOFT_DBFS: Final = -30.0
APART_MIN_DB: Final = 10.0  # between the two levels, so that they show whether the meter follows
# The level in a cushion is not quite that in a coupler: so much a right microphone may be off.
MICROPHONE_OFF_DB: Final = 6.0
MICROPHONE_HZ: Final = 1000
MICROPHONE_DB_HL: Final = 70.0
MAY_BE_LEFT_OUT: Final = (
    "{frequency_hz} Hz only if the coupler's certificate has it and the vibrator is loud enough: "
    "skip leaves it out, and tests by bone end below it"
)
MICROPHONE_QUESTION: Final = (
    "put the board's microphone into the cushion of the left earphone, and close it; return, or "
    "skip: "
)


def may_be_left_out(route: str, frequency_hz: int) -> bool:
    return route in OF_BONE and frequency_hz in OF_BONE[route].kind.where_calibrated_hz


@dataclass
class Guide:
    """Leads through the measurement."""

    sounds: Sounds
    # `ask`, `say`: asks the technician a question and returns the answer; shows a line
    ask: Ask
    say: Say
    readings: Readings  # what is known already, and what is measured
    keep: Callable[[], None]  # called after every frequency that was measured
    # `soft_dbfs`, `loud_dbfs`: the two levels; the loud one as far as the tone generator lets
    soft_dbfs: float = SOFT_DBFS
    loud_dbfs: float = DBFS_LIMITS[1]

    def measure(self, reference: ReferenceLevels) -> None:
        """Measure both ears at every frequency that is not measured yet."""
        for ear in (LEFT, RIGHT):
            self._measure_route(
                ear,
                reference.levels_db_spl,
                f"put the {ear} earphone on the coupler ({reference.coupler}), and the other on "
                "nobody; return: ",
            )
        self._check_microphone(reference.levels_db_spl[MICROPHONE_HZ])

    def measure_vibrator(self, forces: ReferenceForces) -> None:
        for route in OF_BONE:
            self._measure_route(
                route,
                forces.levels_db_un,
                f"put the vibrator on the coupler ({forces.coupler}) for its {route} channel, and "
                "the earphones on nobody; return: ",
            )

    def _check_microphone(self, zero_db_spl: float) -> None:
        """Go on only if the board's microphone, in a cushion, reads what sounds there."""
        if not self.sounds.instrument.has_microphone():
            return
        point = self.readings.points[LEFT][MICROPHONE_HZ]
        sensitivity_db_spl = point.sensitivity_db_spl
        level_db_spl = min(MICROPHONE_DB_HL + zero_db_spl, point.level_max_db_spl)
        wanted_dbfs = level_db_spl - sensitivity_db_spl
        while True:
            words = answer_of(self.ask, MICROPHONE_QUESTION)
            if words == "skip":
                self.say("the board's microphone was not checked")
                return
            if words:
                self.say(f"{words!r}; allowed are return, skip and quit")
                continue
            self.sounds.instrument.nobody_listens()
            played_db_spl = sensitivity_db_spl + self._sound(LEFT, MICROPHONE_HZ, wanted_dbfs)
            heard_db_spl = self.sounds.instrument.heard_db_spl(MICROPHONE_HZ)
            told = f"the board's microphone reads {heard_db_spl:.1f} dB SPL of {played_db_spl:.1f}"
            if abs(heard_db_spl - played_db_spl) <= MICROPHONE_OFF_DB:
                self.say(told)
                return
            self.say(f"cannot be right: {told}; allowed is {MICROPHONE_OFF_DB:g} dB off; again")

    def _measure_route(
        self, route: str, reference_db: Mapping[int, float], instruction: str
    ) -> None:
        number = len(self.readings.points[route])
        self._lower_to_the_limit(route)
        if number == len(self.readings.at_hz(route)):
            return
        wait_for_return(self.ask, self.say, instruction)
        self.sounds.instrument.nobody_listens()
        while number < len(at_hz := self.readings.at_hz(route)):
            try:
                self._measure_one(route, number, reference_db)
            except BackError:
                number = max(number - 1, 0)
            except LeftOutError:
                self.readings.leave_out(at_hz[number])
                self.say(f"{at_hz[number]} Hz is left out of both channels of the vibrator")
                self.keep()
            else:
                number += 1
                self.keep()

    def _lower_to_the_limit(self, route: str) -> None:
        """Let no reading of before allow more than what may be played now."""
        most_dbfs = min(self.loud_dbfs, self.sounds.limits_dbfs.get(route, self.loud_dbfs))
        points = self.readings.points[route]
        for frequency_hz, point in points.items():
            most_db = round(point.sensitivity_db_spl + most_dbfs, 2)
            points[frequency_hz] = Point(
                point.sensitivity_db_spl, min(point.level_max_db_spl, most_db)
            )

    def _measure_one(self, route: str, number: int, reference_db: Mapping[int, float]) -> None:
        at_hz = self.readings.at_hz(route)
        frequency_hz = at_hz[number]
        if may_be_left_out(route, frequency_hz):
            self.say(MAY_BE_LEFT_OUT.format(frequency_hz=frequency_hz))
        zero_db = reference_db[frequency_hz]
        points = self.readings.points[route]
        before = points[at_hz[number - 1]] if number else None
        point = self._point(route, frequency_hz, before, zero_db)
        points[frequency_hz] = point
        self.say(
            f"{route} {frequency_hz} Hz: 0 dBFS is {point.sensitivity_db_spl:.1f} "
            f"{unit_of(route)}; up to {point.level_max_db_spl - zero_db:.1f} dB HL"
        )

    def _point(
        self, ear: str, frequency_hz: int, before: Point | None, retspl_db_spl: float
    ) -> Point:
        """Measure one frequency of one ear until it can be true."""
        loud_dbfs = self.loud_dbfs
        while True:
            try:
                soft = self._reading(ear, frequency_hz, self.soft_dbfs)
                loud = self._reading(ear, frequency_hz, loud_dbfs)
                if soft is not None and loud is not None:
                    return point_of(soft, loud, before, retspl_db_spl)
                loud_dbfs = self._softer(
                    min(loud_dbfs, self.sounds.limits_dbfs.get(ear, loud_dbfs))
                )
            except ImplausibleError as error:
                self.say(f"cannot be right: {error}; both again")

    def _softer(self, loud_dbfs: float) -> float:
        if loud_dbfs - SOFTER_DB < self.soft_dbfs + APART_MIN_DB:
            raise ImplausibleError(
                f"{loud_dbfs:g} dBFS is the softest loud tone, {APART_MIN_DB:g} dB above the soft "
                "one at least"
            )
        return loud_dbfs - SOFTER_DB

    def _sound(self, ear: str, frequency_hz: int, asked_dbfs: float) -> float:
        lowest_dbfs = min(asked_dbfs, self.soft_dbfs + APART_MIN_DB)
        return self.sounds.play(ear, frequency_hz, asked_dbfs, lowest_dbfs)

    def _reading(self, ear: str, frequency_hz: int, level_dbfs: float) -> Reading | None:
        """Play a tone until there is a reading; None: it is to be softer."""
        while True:
            level_dbfs = self._sound(ear, frequency_hz, level_dbfs)
            unit = unit_of(ear)
            words = answer_of(self.ask, f"{ear} {frequency_hz} Hz at {level_dbfs:g} dBFS, {unit}: ")
            self.sounds.instrument.stop()
            if words == "softer":
                return None
            if words == "back":
                raise BackError
            if words == "skip" and may_be_left_out(ear, frequency_hz):
                raise LeftOutError
            if not words:
                continue
            try:
                return Reading(level_dbfs, float(words.replace(",", ".")), unit)
            except ImplausibleError as error:
                self.say(f"cannot be right: {error}; again")
            except ValueError:
                self.say(
                    f"{words!r} is no number; allowed are a number, return, softer, back, quit"
                )
