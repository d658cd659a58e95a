"""A whole device with a simulated aid, and a simulated person who answers, in no time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from device.simulator.aid import SimulatedAid
from device.simulator.world import World
from firmware_py.comparisons.events import Answered
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.comparisons.tuning import State, Tuning
from firmware_py.journal import read_journal
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.sessions.replay import replay_from
from firmware_py.terms.events import ButtonPressed
from firmware_py.tuning.tuner import Tuner
from firmware_py.tuning.tuning_record import TuningHeader
from tests.firmware.whole_sessions import a_listener
from tests.journal.simulated_disk import SimulatedDisk

DATA = Path("/data")
JOURNAL = DATA / "tuning-000001.journal"

# Is told what was said to the operator; returns an answer, a press of a button, or nothing.
Person = Callable[[str, dict[str, Any]], Answered | ButtonPressed | None]


class Bench(World):
    """What tunes a simulated aid."""

    def __init__(self, person: Person = lambda *_: None) -> None:
        self.person = person
        self.simulated_disk = SimulatedDisk()
        self.simulated_aid = SimulatedAid()
        self._heard = 0  # of what was told, by the person
        super().__init__(
            DATA, a_listener(), aid=self.simulated_aid,
            data=lambda path: DataDirectory(path, None, self.simulated_disk),
        )  # fmt: skip

    @property
    def tuner(self) -> Tuner:
        return self.firmware.tuner

    @property
    def tuning(self) -> Tuning:
        """Return the last tuning that was begun."""
        assert self.tuner.last_test is not None
        return self.tuner.last_test

    def replayed(self, journal: Path = JOURNAL) -> Any:
        """Return what the journal of a tuning replays to."""
        return replay_from(TuningHeader, read_journal(journal, disk=self.simulated_disk).records)

    def tune(self, identifier: str | None = None, **changes: Any) -> None:
        """Meet the aid and begin."""
        self.meet()
        greeted = self.tuner.aid.greeted
        assert greeted is not None
        of_aid = (greeted.fit, greeted.ranges_db, greeted.prior_sd_db)
        self.tuner.begin(TuningSettings(*of_aid, **{"seed": 1, **changes}), identifier)

    def meet(self) -> None:
        self.until(lambda: self.tuner.aid.greeted is not None)

    def plug(self, aid: SimulatedAid | None) -> None:
        """Take away the aid that is there, and bring this one."""
        self.aids.vanish()
        self.step()
        self.aid, self.aids.there = aid, True

    def go_on(self) -> None:
        """Go on until the tuning is over, or waits for somebody."""
        self.until(self.is_quiet)

    def run_to(self, what: str, count: int) -> None:
        """Go on until so many of these were told."""
        self.until(lambda: len(self.of(what)) >= count or self.is_quiet())

    def is_quiet(self) -> bool:
        last = self.tuner.last_test
        return last is not None and last.state in (State.FINISHED, State.PAUSED)

    def step(self) -> None:
        super().step()
        told = self.told[self._heard :]
        self._heard = len(self.told)
        for what, about in told:
            if event := self.person(what, about):
                self.tuner.feed(event)
        self.tuner.settle()

    def restart(self) -> None:
        self._heard = 0
        super().restart()

    def of(self, what: str) -> list[dict[str, Any]]:
        return [about for name, about in self.told if name == what]
