"""A device on a bench, and a technician with meters who reads what is true of it."""

import datetime
import math
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar, Final

from device.simulator.simulated_board import PlayedTone
from firmware_py.terms.route import BY_AIR, BY_BONE
from host_tools.commands.calibrate.checking import BEGIN
from host_tools.commands.calibrate.command import calibrate
from host_tools.main import parser
from tests.calibration.calibrations import SENSITIVITY
from tests.host.bench import Device

TODAY: Final = datetime.date(2026, 5, 6)
TEXTS: Final = {
    "--technician": "A. Meyer", "--meter": "class 1", "--meter-serial": "M-1",
    "--serial-left": "L-1", "--serial-right": "R-1",
}  # fmt: skip
EARS: Final = ("left", "right")
OF_BONE: Final = ("left-bone", "right-bone")
BONE_HZ: Final = (*BY_BONE.calibrated_hz, *BY_BONE.where_calibrated_hz)
TRUTH: Final = {
    **{ear: dict(zip(BY_AIR.calibrated_hz, SENSITIVITY[ear], strict=True)) for ear in EARS},
    "left-bone": dict.fromkeys(BONE_HZ, 112.0),
    "right-bone": dict.fromkeys(BONE_HZ, 111.5),
}
ASKED_MAX: Final = 300  # it would be asked for ever
PIN: Final = "271828"
QUESTION: Final = re.compile(r"(left|right)(-bone)? \d+ Hz at -?[\d.]+ dBFS, dB (SPL|re 1 uN): ")


Devices = Callable[..., AbstractContextManager[Device]]


class Meters:
    """What meters show of the earphones; each may be wrong in some way.

    Attributes
    ----------
    swapped : bool
        Left and right are.
    apart_db : float
        How much softer the other earphone is.
    clips_at_v : float
        Nothing above it comes out, or is shown.
    """

    full_scale_v: ClassVar = {"left": 2.0, "right": 2.05}
    own_noise_v = 1e-8
    noise_nv = 60.0
    percent = 0.4
    rise_ms, fall_ms, plateau_ms = 20.3, 20.4, 190.0

    def __init__(
        self, *, swapped: bool = False, apart_db: float = 85.0, clips_at_v: float = 9.0
    ) -> None:
        self.swapped, self.apart_db, self.clips_at_v = swapped, apart_db, clips_at_v

    def sounding(self, tone: PlayedTone) -> str:
        return {"left": "right", "right": "left"}[tone.ear] if self.swapped else tone.ear

    def volts(self, tone: PlayedTone, ear: str) -> float:
        volts = self.full_scale_v[ear] * 10.0 ** (tone.level_dbfs / 20.0)
        softer = 1.0 if ear == self.sounding(tone) else 10.0 ** (-self.apart_db / 20.0)
        return min(math.hypot(volts * softer, self.own_noise_v), self.clips_at_v)

    def shows(self, question: str, tone: PlayedTone) -> str:
        """Return what is answered to a question of a check; "" to another."""
        if "which sounds" in question:
            return self.sounding(tone)
        if found := re.search(r"noise at the (left|right) earphone", question):
            return f"{self.noise_nv:g} nV"
        if found := re.search(r"at the (left|right) earphone, m?", question):
            return f"{1e3 * self.volts(tone, found[1]):.6f} mV"
        if "dB or volts" in question:
            return f"{1e6 * self.volts(tone, tone.ear):.5f} uV"
        if "% of distortion" in question:
            return f"{self.percent}"
        for name in ("rise", "fall", "plateau"):
            if f"dBFS, {name}" in question:
                return f"{getattr(self, f'{name}_ms')} ms"
        return ""


class Technician:
    """Answers with what the meter shows: the true sensitivity, and the tone that really sounds.

    Without `meters` there is but a sound level meter: the checks are skipped.
    """

    def __init__(
        self,
        device: Device,
        answers: dict[str, list[str]] | None = None,
        meters: Meters | None = None,
    ) -> None:
        self._board = device.world.board
        self._answers = answers or {}
        self._meters = meters
        self.said: list[str] = []
        self.asked: list[str] = []
        self.session: list[str] = []  # all that stands on the screen

    def ask(self, question: str) -> str:
        self.asked.append(question)
        assert len(self.asked) < ASKED_MAX, self.session[-10:]
        answer = self._answer(question)
        self.session.append(question + answer)
        return answer

    def _answer(self, question: str) -> str:
        scripted = next((a for key, a in self._answers.items() if key in question and a), None)
        if scripted:
            return scripted.pop(0)
        if self._meters is None and question == BEGIN:
            return "skip no meter"
        if not self._board.played:
            return ""
        tone = self._board.played[-1]
        if QUESTION.fullmatch(question) is not None:
            return f"{TRUTH[str(tone.route)][round(tone.frequency_hz)] + tone.level_dbfs:.1f}"
        return self._meters.shows(question, tone) if self._meters else ""

    def tell_pin(self, question: str) -> str:
        self.asked.append(question)
        return PIN

    def say(self, line: str) -> None:
        self.said.append(line)
        self.session.append(line)


def run(output: Path, technician: Technician, *options: str, without: str = "") -> int:
    """Calibrate a device that is to play up to full scale, if nothing else is said.

    `without`: the option that is asked for.
    """
    told = [word for pair in TEXTS.items() if pair[0] != without for word in pair]
    if not {"--limit", "--build"} & {*options}:
        told += ["--limit", "0"]
    command = ["calibrate", "/dev/console", "-o", str(output), *told, *options]
    return calibrate(
        parser().parse_args(command), technician.ask, technician.say, TODAY, technician.tell_pin
    )
