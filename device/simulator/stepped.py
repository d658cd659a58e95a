"""The firmware, for somebody who goes round its loop from outside and listens to what it tells."""

from collections.abc import Iterable
from typing import Any

from firmware_py.firmware import Firmware
from firmware_py.link.client import Client
from firmware_py.link.notices import Notice
from firmware_py.operator.meter_tone import MeterTone
from firmware_py.sessions.runner import Runner
from firmware_py.tuning.tuner import Tuner


class SteppedFirmware(Firmware):
    """A firmware whose loop can be gone round from outside, too, and whose words are kept.

    `told`: of the test and of the board, and about it; `notices`: came over the wire; `wrong`: with
    journals at the start.
    """

    def __init__(self, *about: Any, **more: Any) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.notices: list[Notice] = []
        self.wrong: list[str] = []
        self._is_stepped = False
        super().__init__(*about, **more)
        self.runner: Runner = self._runner
        self.client: Client = self._board.client
        self.meter_tone: MeterTone = self._instrument.manual_tone.for_meter

    @property
    def tuner(self) -> Tuner:
        """Return what tunes the hearing aid; there has to be one."""
        for driver in self._drivers:
            if isinstance(driver, Tuner):
                return driver
        raise ValueError("there is no hearing aid in this world")

    @property
    def is_stopping(self) -> bool:
        return self._end != ""

    def start(self) -> None:
        """Do what `run` does before its loop."""
        self._is_stepped = True
        self.wrong += self._start()

    def take(self, notices: Iterable[Notice]) -> None:
        for notice in notices:
            self._notice(notice)

    def let_time_pass(self) -> None:
        """Wait as `step` does; that waits no more."""
        super()._wait()

    def leave(self) -> None:
        """Close what is open, and say no word; a running test is gone on with at the next start."""
        for driver in self._drivers:
            driver.close()

    def _wait(self) -> None:
        if not self._is_stepped:
            super()._wait()

    def _tell(self, what: str, about: dict[str, Any]) -> None:
        self.told.append((what, about))
        super()._tell(what, about)

    def _notice(self, notice: Notice) -> None:
        self.notices.append(notice)
        super()._notice(notice)
