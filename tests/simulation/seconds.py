"""A second person, operator and day: nothing of one may reach the other."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from device.simulator.virtual_clock import S
from firmware_py.platform.data_directory import SESSION
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms.settings import Settings
from tests.simulation.day import Day
from tests.simulation.violation import Violation

RESUME_WITHIN_S: Final = 15.0  # as the devices here are configured
AWAY_US_MIN: Final = 18 * S  # longer than that for sure, by any clock
BY_CHANCE: Final = "seed"
IDENTITY: Final = "SESS:IDEN?"
SETTINGS: Final = "SETT?"
CONFIGURED: Final = {k: v for k, v in Settings().as_record().items() if k != BY_CHANCE}


@dataclass
class Begun:
    life: int  # of the firmware, in which it began
    identifier: str | None


class Seconds:
    """Knows who sits there, and judges what is said, recorded and played."""

    def __init__(self, now_us: Callable[[], int], day: Day) -> None:
        self._now_us = now_us
        self.person = day.person  # who sits there
        self.named: str | None = None  # with the newest SESS:STAR
        self._life = 0
        # the life before; that of another day was long ago
        self._ended_us = now_us() - 2 * AWAY_US_MIN if day.known else None
        self._asks = False  # a session of an earlier life needs the operator's word
        self._begun = {
            path: Begun(self._life, header["person"]["identifier"])
            for path, header in day.known.items()
            if path.name.startswith(SESSION)
        }
        self._gone = dict[Path, Begun]()  # their journals were moved away
        self._typed_settings = True  # since the operator came

    @property
    def identifier(self) -> str:
        return f"P-{self.person}"

    def whose(self, path: Path) -> str | None:
        """Return for whom a session was begun; None: it never ran, or nobody was named."""
        begun = self._begun.get(path) or self._gone.get(path)
        return begun.identifier if begun else None

    def is_there(self, path: Path) -> bool:
        """Return whether a session was begun, and its journal not moved away since."""
        return path in self._begun

    def forget(self, path: Path) -> None:
        """Take in that a journal is no more there: another session may have its name."""
        if path in self._begun:
            self._gone[path] = self._begun.pop(path)

    # The device

    def end(self) -> None:
        if self._ended_us is None:
            self._ended_us = self._now_us()

    def starts(self) -> None:
        away_us = 0 if self._ended_us is None else self._now_us() - self._ended_us
        self._life += 1
        self._asks, self._ended_us = away_us > AWAY_US_MIN, None

    def session_runs(self, path: Path, header: SessionHeader) -> None:
        """Check, the first time, that a session is of the person it was begun for."""
        if path in self._begun:
            return
        identifier = header.person.identifier
        self._begun[path] = Begun(self._life, identifier)
        if identifier != self.named:
            raise Violation(f"{path.name} is of {identifier}, and was begun for {self.named}")

    def tone_of(self, path: Path) -> None:
        """Check that a tone of a session sounds only when the operator knows whose that is."""
        if self._asks and self._begun[path].life < self._life:
            raise Violation(f"{path.name} went on after a long time, and nobody was asked")

    # The operator

    def operator_comes(self) -> None:
        self._typed_settings = False

    def take_line(self, line: str) -> None:
        if line.startswith("SESS:STAR"):
            self.named = line.partition("ID=")[2].partition(",")[0] or None
        if line == "SESS:CONT":
            self._asks = False
        if line.startswith("SETT "):
            self._typed_settings = True

    def take_answer(self, line: str, answer: str) -> None:
        """Check what is said of settings, and of a session."""
        if not answer.startswith("{"):
            return
        if line == SETTINGS and not self._typed_settings:
            self._check_settings(json.loads(answer))
        if line == IDENTITY:
            self._check_identity(json.loads(answer))

    def _check_settings(self, told: dict[str, Any]) -> None:
        told.pop(BY_CHANCE)
        if told != CONFIGURED:
            other = {name: value for name, value in told.items() if CONFIGURED[name] != value}
            raise Violation(f"another operator finds the settings of the last one: {other}")

    def _check_identity(self, told: dict[str, Any]) -> None:
        number, identifier = told["session"], told["identifier"]
        for path, begun in self._begun.items():
            known = (None, begun.identifier)  # while the console is locked nobody is told
            if path.stem.endswith(f"{number:06d}") and identifier not in known:
                raise Violation(f"session {number} is told as that of {identifier}: {begun}")
