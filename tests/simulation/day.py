"""The day on which a story begins: of which device, with which board, records, calibration."""

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from device.simulator.virtual_clock import STARTED
from firmware_py.calibration.in_force import CalibrationOnFile
from firmware_py.calibration.simulated import SERIAL
from firmware_py.platform.data_directory import JOURNAL_NAME, SESSION, TUNING

NEVER_SET: Final = datetime.date(1970, 1, 1)  # the date of a clock that has lost its time
TODAY: Final = STARTED.date()
ENDING: Final = ".journal"


@dataclass(frozen=True)
class Day:
    """What a device is found with; by default it is new, and as its story says.

    `on_file`: the calibration of the day; None: that of the story. `files`: what is on the disk.
    `free_bytes`: how much room there is until the operator moves journals away.
    """

    date: datetime.date = TODAY  # by the clock of the device
    device: str = ""
    person: int = 0  # who comes
    serial: str = SERIAL  # of the board that belongs there
    on_file: CalibrationOnFile | None = None
    files: Mapping[Path, bytes] = field(default_factory=dict)
    free_bytes: int | None = None

    @property
    def jump(self) -> datetime.timedelta:
        return self.date - TODAY

    @property
    def known(self) -> dict[Path, dict[str, Any]]:
        """Return the headers of all journals that were begun."""
        journals = [path for kind in (SESSION, TUNING) for path in of_kind(self.files, kind)]
        lines = {path: self.files[path].partition(b"\n") for path in journals}
        return {path: json.loads(header) for path, (header, end, _) in lines.items() if end}

    def moved(self, paths: Mapping[Path, bytes], under_way: Path | None) -> list[Path]:
        """Return which files the operator moves: journals, and what was cut off of each."""
        gone = [
            path.name
            for kind in (SESSION, TUNING)
            for path in of_kind(paths, kind)
            if path != under_way
        ]
        return [path for path in paths if path.name.partition(ENDING)[0] + ENDING in gone]


USUAL_DAY: Final = Day()


def of_kind(paths: Mapping[Path, bytes], kind: str) -> list[Path]:
    """Return the journals of a kind, by their numbers."""
    named = (path for path in paths if JOURNAL_NAME.fullmatch(path.name))
    found = [path for path in named if path.name.startswith(kind)]
    return sorted(found, key=lambda path: (len(path.name), path.name))
