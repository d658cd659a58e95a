"""A hearing aid, one that lies, and another one: each hears of its own tuning alone."""

from typing import Any, Final

from device.simulator.aid import SimulatedAid
from tests.simulation.violation import Violation

FITS: Final = ("0123456789ab", "ba9876543210")
ACTS: Final = ("play", "set")
# What no aid says, at any time: too much, what nobody asked for, what nobody can read.
LIES: Final = (
    b"played number=" + b"7" * 900 + b"\n",
    b"played number=" + b"7" * 5000 + b"\n",
    b"played number=-1\n",
    b"played number=999999999\n",
    b"played\n",
    b"ok aid=open\x1b[2Jmha version=1\n",
    b"ok\n",
    b"lost why='\x1b]0;x\x07'\n",
    b"\xff\n",
    b"x" * 3000,
)
# What it may say of itself in place of the truth.
FALSE_WORDS: Final = (
    ("aid=simulated", "aid=\x1b[31msimulated"), ("aid=simulated", f"aid={'a' * 500}"),
    ("aid=simulated", "aid="), ("overall_sd_db=", f"overall_sd_db={'9' * 400}"),
    ("overall_db=", "overall_db=nan,"), ("tilt_db=", "tilt_db=-1e9"), (" person=", " person=%1B"),
)  # fmt: skip


class WatchedAid(SimulatedAid):
    """An aid with one of the two fits, for a person, that looks at what it is told, and when."""

    def __init__(self, number: int, person: str) -> None:
        super().__init__(fit=FITS[number % len(FITS)], person=person)
        self.firmware: Any = None  # that runs
        self.false_words: tuple[str, str] | None = None  # in its next greeting

    def _greeting(self) -> str:
        words, self.false_words = self.false_words or ("", ""), None
        return super()._greeting().replace(*words, 1)

    def _do(self, line: str, now_us: int) -> None:
        verb = line.split(maxsplit=1)[0]
        if verb in ACTS:
            self._check(line)
        super()._do(line, now_us)

    def _check(self, line: str) -> None:
        tuner, runner = self.firmware.tuner, self.firmware.runner
        header = tuner.last and tuner.last.header
        if header is None or header.settings.fit != self.fit:
            raise Violation(f"{line!r} is sent to the aid with fit {self.fit}: {header}")
        if header.identifier not in (None, self.person):
            raise Violation(f"{line!r} is sent to the aid of {self.person}: {header}")
        if line.startswith("play") and runner.running:
            raise Violation(f"{line!r} is played in session {runner.session.number}")
