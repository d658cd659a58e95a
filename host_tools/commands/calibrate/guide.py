"""Guides a technician through the measurement: which tone sounds, and what the meter reads.

What was measured so far is kept in a file beside the calibration file.
"""

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from device.calibration.readings import ImplausibleError, Point, Reading, point_of, unit_of
from device.calibration.retfl import ReferenceForces
from device.calibration.retspl import ReferenceLevels
from firmware_py.calibration.file import OF_BONE
from firmware_py.operator.meter_tone import DBFS_LIMITS
from firmware_py.platform.named_file import TEXT, content_of
from firmware_py.terms.route import BY_AIR, LEFT, RIGHT
from host_tools.commands.console.command import Talk
from host_tools.errors import HostError
from host_tools.files import write_text

FORMAT_VERSION: Final = 1
# At which frequencies each route is measured.
AT_HZ: Final = {
    LEFT: BY_AIR.calibrated_hz,
    RIGHT: BY_AIR.calibrated_hz,
    **{text: route.kind.calibrated_hz for text, route in OF_BONE.items()},
}
FILE_BYTES_MAX: Final = 1 << 20


def kept_beside(output: Path) -> Path:
    return output.with_name(f"{output.name}.readings")


@dataclass
class Readings:
    """The readings of a session."""

    transducer: str  # whose RETSPL they were checked against
    # the answers to `TEXTS`: who measured, and the instruments
    texts: dict[str, str] = field(default_factory=dict)
    # of each route, from the first of its `calibrated_hz` on
    points: dict[str, dict[int, Point]] = field(
        default_factory=lambda: {each: {} for each in AT_HZ}
    )
    vibrator: str = ""  # whose RETFL; "": bone is not measured

    @property
    def count(self) -> int:
        return sum(len(found) for found in self.points.values())

    def save(self, path: Path) -> None:
        points = {
            ear: {str(f): [p.sensitivity_db_spl, p.level_max_db_spl] for f, p in found.items()}
            for ear, found in self.points.items()
        }
        content = {
            "format": FORMAT_VERSION,
            "transducer": self.transducer,
            "texts": self.texts,
            "points": points,
            "vibrator": self.vibrator,
        }
        write_text(path, json.dumps(content, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> Self:
        try:
            content = json.loads(content_of(path, FILE_BYTES_MAX).decode(TEXT))
            if content["format"] != FORMAT_VERSION:
                raise ValueError(f"format is {content['format']!r}; allowed is {FORMAT_VERSION}")
            texts = {str(name): str(text) for name, text in content["texts"].items()}
            found = {route: {} for route in OF_BONE} | content["points"]  # before bone: without
            points = {route: _points(found[route], at_hz) for route, at_hz in AT_HZ.items()}
            vibrator = str(content.get("vibrator", ""))
            return cls(str(content["transducer"]), texts, points, vibrator)
        except OSError as error:
            raise HostError(f"{path}: cannot be read: {error.strerror}") from None
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise HostError(f"{path}: these are no readings: {error}") from None


def _points(found: Mapping[str, Any], at_hz: tuple[int, ...]) -> dict[int, Point]:
    points = {int(f): Point(float(level), float(most)) for f, (level, most) in found.items()}
    if (*points,) != at_hz[: len(points)]:
        raise ValueError(f"they are at {[*points]} Hz")
    return points


SOFT_DBFS: Final = -30.0
SOFTER_DB: Final = 5.0  # per step, where the loud tone is distorted
LIMIT_STEP_DB: Final = 0.5  # in which the tone generator's own limit is looked for
APART_MIN_DB: Final = 10.0  # between the two levels, so that they show whether the meter follows
# From the command to the tone. The firmware gives up a board that does not answer by itself, and
# then the state is another one; on a busy machine that takes its time.
BEGIN_TIMEOUT_S: Final = 60.0
POLL_S: Final = 0.02
# The level in a cushion is not quite that in a coupler: so much a right microphone may be off.
MICROPHONE_OFF_DB: Final = 6.0
MICROPHONE_HZ: Final = 1000
MICROPHONE_DB_HL: Final = 70.0
MICROPHONE_QUESTION: Final = (
    "put the board's microphone into the cushion of the left earphone, and close it; return, or "
    "skip: "
)
BOARD_SERIAL: Final = re.compile(r",serial number ([^,]+)")

Ask = Callable[[str], str]
Say = Callable[[str], None]


class BackError(Exception):
    """The technician wants to measure the previous frequency again."""


class QuitError(Exception):
    """The technician ends the session."""


class Instrument:
    """The console of a firmware; `ask_secret` asks for the operator's PIN, if it wants one."""

    def __init__(self, talk: Talk, ask_secret: Ask) -> None:
        self._talk = talk
        self._ask_secret = ask_secret
        self._pin = ""

    def unlock(self) -> None:
        """Enter the PIN, if the firmware wants it: the first time, or after a long pause."""
        self._pin = self._talk.unlock(self._ask_secret, self._pin)

    def board_serial(self) -> str:
        told = BOARD_SERIAL.search(self._talk.insist("SYST:VERS?"))
        if told is None or told[1] == "-":
            raise HostError("the tone generator does not answer: nothing can be measured")
        return told[1]

    def nobody_listens(self) -> None:
        """Say that the earphones are on no ears: tones for the meter may be played."""
        self.unlock()
        self._talk.insist("CAL:NOB")

    def play(self, ear: str, frequency_hz: int, level_dbfs: float) -> bool:
        """Play a tone, and return when it sounds; False if the board's output limit is lower."""
        self.unlock()
        self._talk.insist(f"CAL:TONE {ear.upper()},{frequency_hz},{level_dbfs:g}")
        until_s = time.monotonic() + BEGIN_TIMEOUT_S
        while (state := self._talk.insist("CAL:TONE?")) == "asked" and time.monotonic() < until_s:
            time.sleep(POLL_S)
        if state == "refused limit":
            return False
        if state not in ("sounding", "over"):
            raise HostError(
                f"the tone of {frequency_hz} Hz at {level_dbfs:g} dBFS did not sound to its end: "
                f"{state}. A press of the button ends it, for then somebody wears the earphones; "
                "a simulated listener that presses none is gp-pta simulate --listener nobody"
            )
        return True

    def stop(self) -> None:
        self._talk.insist("CAL:STOP")

    def has_microphone(self) -> bool:
        with suppress(HostError):  # a firmware of before does not know the question
            return self._talk.insist("CAL:MIC?") != "none"
        return False

    def heard_db_spl(self, frequency_hz: int) -> float:
        """Return the last that the board's microphone tells of the tone that sounds; nan: never."""
        level_db_spl = math.nan
        while self._talk.insist("CAL:TONE?") == "sounding":
            for each in self._talk.insist("CAL:MIC?").split(";"):
                hz, _, level = each.partition(",")
                if hz == str(frequency_hz):
                    level_db_spl = float(level)
            time.sleep(POLL_S)
        return level_db_spl


@contextmanager
def instrument_at(url: str, ask_secret: Ask) -> Iterator[Instrument]:
    """Find a firmware at a port, or any URL that pyserial knows; end its tone afterwards."""
    talk = Talk(url, lambda _: None)
    try:
        talk.wake()
        instrument = Instrument(talk, ask_secret)
        try:
            yield instrument
        finally:
            with suppress(HostError):  # it is gone already
                instrument.stop()
    finally:
        talk.leave()


@dataclass
class Guide:
    """Leads through the measurement."""

    instrument: Instrument  # plays the tones
    # `ask`, `say`: asks the technician a question and returns the answer; shows a line
    ask: Ask
    say: Say
    readings: Readings  # what is known already, and what is measured
    keep: Callable[[], None]  # called after every frequency that was measured
    # `soft_dbfs`, `loud_dbfs`: the two levels; the loud one as far as the tone generator lets
    soft_dbfs: float = SOFT_DBFS
    loud_dbfs: float = DBFS_LIMITS[1]
    _limits_dbfs: dict[str, float] = field(default_factory=dict, init=False)  # of its ears

    def measure(self, reference: ReferenceLevels, forces: ReferenceForces | None = None) -> None:
        """Measure both ears, and the vibrator, at every frequency that is not measured yet."""
        for ear in (LEFT, RIGHT):
            self._measure_route(
                ear,
                reference.levels_db_spl,
                f"put the {ear} earphone on the coupler ({reference.coupler}), and the other on "
                "nobody; return: ",
            )
        self._check_microphone(reference.levels_db_spl[MICROPHONE_HZ])
        for route in OF_BONE if forces else ():
            assert forces is not None
            self._measure_route(
                route,
                forces.levels_db_un,
                f"put the vibrator on the coupler ({forces.coupler}) for its {route} channel, and "
                "the earphones on nobody; return: ",
            )

    def _check_microphone(self, zero_db_spl: float) -> None:
        """Go on only if the board's microphone, in a cushion, reads what sounds there."""
        if not self.instrument.has_microphone():
            return
        sensitivity_db_spl = self.readings.points[LEFT][MICROPHONE_HZ].sensitivity_db_spl
        wanted_dbfs = MICROPHONE_DB_HL + zero_db_spl - sensitivity_db_spl
        while True:
            if answer_of(self.ask, MICROPHONE_QUESTION) == "skip":
                self.say("the board's microphone was not checked")
                return
            self.instrument.nobody_listens()
            played_db_spl = sensitivity_db_spl + self._sound(LEFT, MICROPHONE_HZ, wanted_dbfs)
            heard_db_spl = self.instrument.heard_db_spl(MICROPHONE_HZ)
            told = f"the board's microphone reads {heard_db_spl:.1f} dB SPL of {played_db_spl:.1f}"
            if abs(heard_db_spl - played_db_spl) <= MICROPHONE_OFF_DB:
                self.say(told)
                return
            self.say(f"cannot be right: {told}; allowed is {MICROPHONE_OFF_DB:g} dB off; again")

    def _measure_route(
        self, route: str, reference_db: Mapping[int, float], instruction: str
    ) -> None:
        calibrated_hz = AT_HZ[route]
        number = len(self.readings.points[route])
        if number == len(calibrated_hz):
            return
        answer_of(self.ask, instruction)
        self.instrument.nobody_listens()
        while number < len(calibrated_hz):
            try:
                self._measure_one(route, number, reference_db)
            except BackError:
                number = max(number - 1, 0)
            else:
                number += 1
                self.keep()

    def _measure_one(self, route: str, number: int, reference_db: Mapping[int, float]) -> None:
        calibrated_hz = AT_HZ[route]
        frequency_hz = calibrated_hz[number]
        zero_db = reference_db[frequency_hz]
        points = self.readings.points[route]
        before = points[calibrated_hz[number - 1]] if number else None
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
                loud_dbfs = self._softer(min(loud_dbfs, self._limits_dbfs.get(ear, loud_dbfs)))
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
        """Play a tone, as loud as the tone generator's own limit lets; return its level."""
        known_dbfs = level_dbfs = min(asked_dbfs, self._limits_dbfs.get(ear, asked_dbfs))
        lowest_dbfs = min(asked_dbfs, self.soft_dbfs + APART_MIN_DB)
        while not self.instrument.play(ear, frequency_hz, level_dbfs):
            level_dbfs -= LIMIT_STEP_DB
            if level_dbfs < lowest_dbfs:
                raise HostError(
                    f"the tone generator's output limit in the {ear} ear is below {lowest_dbfs:g} "
                    f"dBFS; --soft is {self.soft_dbfs:g} dBFS, and the loud tone is "
                    f"{APART_MIN_DB:g} dB above it at least"
                )
        if level_dbfs < known_dbfs:
            self._limits_dbfs[ear] = level_dbfs
            self.say(f"{level_dbfs:g} dBFS is the tone generator's own limit in the {ear} ear")
        return level_dbfs

    def _reading(self, ear: str, frequency_hz: int, level_dbfs: float) -> Reading | None:
        """Play a tone until there is a reading; None: it is to be softer."""
        while True:
            level_dbfs = self._sound(ear, frequency_hz, level_dbfs)
            unit = unit_of(ear)
            words = answer_of(self.ask, f"{ear} {frequency_hz} Hz at {level_dbfs:g} dBFS, {unit}: ")
            self.instrument.stop()
            if words == "softer":
                return None
            if words == "back":
                raise BackError
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


def answer_of(ask: Ask, question: str) -> str:
    """Return what the technician answers, in small letters; `QuitError` if that is the end."""
    try:
        words = ask(question).strip().lower()
    except EOFError:
        raise QuitError from None
    if words == "quit":
        raise QuitError
    return words
