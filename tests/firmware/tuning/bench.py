"""A tuner, a simulated aid and a simulated person in one process and in no time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from device.simulator.aid import SimulatedAid
from device.simulator.clock import VirtualClock
from firmware_py.link.client import Client
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.ports import Port, PortError
from firmware_py.procedure.events import ButtonPressed
from firmware_py.procedure.tuning.events import Answered
from firmware_py.procedure.tuning.settings import TuningSettings
from firmware_py.procedure.tuning.tuning import State
from firmware_py.tuner import Tuner
from tests.journal.simulated_disk import SimulatedDisk

DATA = Path("/data")
TURNS_MAX = 20_000
STEP_US = 50_000


class BenchClock(VirtualClock):
    """A clock that the bench moves, for everything."""

    def world_s(self) -> float:
        return self.us / 1e6

    def of_wire(self) -> VirtualClock:
        return self


class AidLine(Port):
    """The port of a simulated aid, which can be pulled out."""

    def __init__(self, aid: SimulatedAid, clock: VirtualClock) -> None:
        super().__init__("socket://127.0.0.1:1", "hearing aid")
        self.aid = aid
        self.clock = clock
        self.pulled = False
        self._open = False

    @property
    def is_open(self) -> bool:
        return self._open

    def open(self) -> None:
        if self.pulled:
            raise PortError("hearing aid: pulled out")
        self._open = True

    def close(self) -> None:
        self._open = False
        self.aid.transmit()  # what was on the way is lost with the connection

    def read(self) -> bytes:
        if not self._open:
            return b""
        if self.pulled:
            raise PortError("hearing aid: pulled out")
        self.aid.advance(self.clock.us)
        return self.aid.transmit()

    def write(self, data: bytes) -> None:
        if self._open and data:
            self.aid.receive(data, self.clock.us)


# Is told what was said to the operator; returns an answer, a press of a button, or nothing.
Person = Callable[[str, dict[str, Any]], Answered | ButtonPressed | None]


class Bench:
    """What tunes a simulated aid."""

    def __init__(self, person: Person = lambda *_: None, disk: SimulatedDisk | None = None) -> None:
        self.clock = BenchClock(1)
        self.aid = SimulatedAid()
        self.line = AidLine(self.aid, self.clock)
        self.disk = disk or SimulatedDisk()
        self.person = person
        self.told: list[tuple[str, dict[str, Any]]] = []
        self._asked: list[tuple[str, dict[str, Any]]] = []
        self.tuner = self.started()

    def started(self) -> Tuner:
        """Return a new firmware's tuner, the aid's line open anew."""
        self.line.close()
        self.disk.close_all()
        data = DataDirectory(DATA, disk=self.disk)
        self.tuner = Tuner(data, Client(lambda: "0" * 8), self.line, self.clock, self._tell)
        data.close()
        return self.tuner

    def _tell(self, what: str, about: dict[str, Any]) -> None:
        self.told.append((what, about))
        self._asked.append((what, about))

    def begin(self, **changes: Any) -> None:
        """Meet the aid and begin."""
        self.run(lambda: self.tuner.aid.greeted is not None)
        greeted = self.tuner.aid.greeted
        assert greeted is not None
        settings = TuningSettings(
            greeted.fit, greeted.ranges_db, greeted.prior_sd_db, **{"seed": 1, **changes}
        )
        self.tuner.begin(settings, None)

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Go on until something holds, or the tuning is over, or waits for somebody."""
        for _ in range(TURNS_MAX):
            if until() or self.is_quiet():
                return
            self.turn()
        raise AssertionError(f"the tuning does not end: {self.told[-5:]}")

    def run_to(self, what: str, count: int) -> None:
        """Go on until so many of these were told."""
        self.run(lambda: len(self.of(what)) >= count)

    def is_quiet(self) -> bool:
        last = self.tuner.last
        return last is not None and last.state in (State.FINISHED, State.PAUSED)

    def turn(self) -> None:
        """One turn of the firmware's loop, and a step of time."""
        self.tuner.serve()
        self.tuner.advance()
        self.tuner.settle()
        self.tuner.serve()
        asked, self._asked = self._asked, []
        for what, about in asked:
            if event := self.person(what, about):
                self.tuner.feed(event)
        self.tuner.settle()
        self.clock.us += STEP_US

    def of(self, what: str) -> list[dict[str, Any]]:
        """Return all that was told under this name."""
        return [about for name, about in self.told if name == what]
