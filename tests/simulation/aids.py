"""A hearing aid, and another one in its place: each hears of its own tuning alone."""

from typing import Any, Final

from device.simulator.aid import SimulatedAid
from tests.simulation.violation import Violation

FITS: Final = ("0123456789ab", "ba9876543210")
ACTS: Final = ("play", "set")


class WatchedAid(SimulatedAid):
    """An aid that looks at what it is told, and when.

    Parameters
    ----------
    number : int
        Which of the two fits it has.
    person : str
        For whom that is.
    """

    def __init__(self, number: int, person: str) -> None:
        super().__init__(fit=FITS[number % len(FITS)], person=person)
        self.firmware: Any = None  # that runs

    def _do(self, line: str, now_us: int) -> None:
        verb = line.split(maxsplit=1)[0]
        if verb in ACTS:
            self._check(line)
        super()._do(line, now_us)

    def _check(self, line: str) -> None:
        tuner, runner = self.firmware.tuner, self.firmware.runner
        header = tuner.last_header
        if header is None or header.settings.fit != self.fit:
            raise Violation(f"{line!r} is sent to the aid with fit {self.fit}: {header}")
        if header.identifier not in (None, self.person):
            raise Violation(f"{line!r} is sent to the aid of {self.person}: {header}")
        if line.startswith("play") and runner.running:
            raise Violation(f"{line!r} is played in session {runner.session.number}")
