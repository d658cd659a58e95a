"""Two sites live through a year, visit by visit, and put together what they recorded."""

import random
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from firmware_py.platform.data_directory import SESSION, TAKEN_NAME, session_number
from tests.formats import journals_of
from tests.simulation.day import ENDING, Day, of_kind
from tests.simulation.given import DATA
from tests.simulation.merged import Merged
from tests.simulation.register import UNFINISHED, Noted, Register, noted_before
from tests.simulation.run import Outcome, Run
from tests.simulation.violation import Violation
from tests.simulation.watch import WatchedFirmware
from tests.simulation.year import DISK_FULL, RECORDED_BEFORE, SITES, Visit, Year

FULL_BYTES: Final = 196_608  # less than any test needs
FINISH: Final = b'"what": "finish"'
OTHERS_MAX: Final = 3  # files in a data directory beside journals and what was cut off of them

Files = dict[Path, bytes]


@dataclass
class Clinic:
    """Both sites: what is on the disk of each device, and what its operator moved away."""

    year: Year
    firmware: type[WatchedFirmware] = WatchedFirmware
    register: Register = field(default_factory=Register)
    outcome: Outcome = field(default_factory=Outcome)

    def __post_init__(self) -> None:
        self.disks: dict[str, Files] = {name: {} for name in SITES}
        self.moved: dict[str, Files] = {name: {} for name in SITES}

    def live(self) -> None:
        self._have_records_of_before()
        for visit in self.year.visits:
            self._receive(visit)

    def check(self, merged: Merged) -> None:
        """Check what is told of the year."""
        self.register.check_list(merged.listed())
        self.register.check_export(merged.exported())
        self.register.check_people(merged.people())

    # A year

    def _have_records_of_before(self) -> None:
        journals = [*journals_of(self.year.before, SESSION)[: RECORDED_BEFORE[self.year.before]]]
        for path in journals:
            content = path.read_bytes()
            self.disks["N-1"][DATA / path.name] = content
            self.register.take(noted_before(content), "N-1", self.year.before)

    def _receive(self, visit: Visit) -> None:
        name = visit.device.name
        day = Day(
            visit.date, name, visit.person, visit.device.serial(visit.at),
            visit.device.on_file(visit.at), self.disks[name],
            FULL_BYTES if visit.luck == DISK_FULL else None,
        )  # fmt: skip
        run = Run(visit.story, self.firmware, day=day)
        outcome = run.live()
        self._note(visit, run, outcome)
        disk = run.world.disk
        paths = [path for path in disk.paths() if path.parent == DATA]
        self.disks[name] = {path: disk.durable(path) or b"" for path in paths}
        self.moved[name] |= run.world.moved
        others = [path.name for path in paths if not TAKEN_NAME.fullmatch(path.name)]
        if len(others) > OTHERS_MAX:
            raise Violation(f"{name} has {others} beside its journals")
        self._count(visit, outcome)

    def _note(self, visit: Visit, run: Run, outcome: Outcome) -> None:
        """Note the sessions of a day, as those who were there know them."""
        pages, world = run.world.ledger.pages, run.world
        there = [
            path
            for path in world.day.files
            if path not in world.moved or not world.seconds.is_there(path)
        ]
        begun = [path for path in pages if path not in there and pages[path].header]
        for path in of_kind(dict.fromkeys(begun, b""), SESSION):
            number = session_number(path)
            result = outcome.results.get(number)
            noted = Noted(
                visit.device.name,
                number,
                world.seconds.whose(path) or pages[path].header["person"]["identifier"] or "",
                visit.date.isoformat(),
                visit.calibration,
                str(result.outcome) if result else UNFINISHED,
                {str(ear.route): str(ear.verdict) for ear in result.ears} if result else {},
            )
            self.register.take(noted, visit.device.name)

    def _count(self, visit: Visit, outcome: Outcome) -> None:
        total = self.outcome
        total.lives += outcome.lives
        total.lines += outcome.lines
        total.simulated_s += outcome.simulated_s
        total.met += outcome.met
        total.sessions += len(outcome.results)
        told = (visit.luck, visit.calibration, "visits")
        total.met += Counter(filter(None, told))

    # In the end

    def merge(self, root: Path) -> Merged:
        """Copy all into one tree; by accident one folder twice, and a journal while it grew."""
        for name, site in SITES.items():
            for place in (root / site, *([root / "copy"] if name == self.year.twice else ())):
                _write(place / name, self.disks[name])
                _write(place / name / "moved", self.moved[name])
        chance = random.Random(f"stick {self.year.seed}")
        files = self.disks[self.year.visits[-1].device.name] if self.year.visits else {}
        grown = [path for path in of_kind(files, SESSION) if FINISH in files[path]]
        if grown:
            content = files[grown[-1]]
            size = chance.randrange(content.index(b"\n") + 1, len(content))
            other = DATA / f"{SESSION}-000999{ENDING}"
            _write(root / "stick", {chance.choice((grown[-1], other)): content[:size]})
        return Merged(root)


def _write(directory: Path, files: Mapping[Path, bytes]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        (directory / path.name).write_bytes(content)


def live_through(year: Year) -> Outcome:
    clinic = Clinic(year)
    clinic.live()
    with tempfile.TemporaryDirectory() as place:
        clinic.check(clinic.merge(Path(place, "all")))
    return clinic.outcome
