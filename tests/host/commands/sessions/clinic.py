"""A directory of journals of several people, for what is said of people."""

import datetime
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from device.simulator.audiogram import Audiogram
from device.simulator.listener import EARS, SimulatedListener
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.world import World
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.journal import read_journal
from firmware_py.terms.person import Person as Told
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.settings import Settings
from host_tools.commands.sessions.choice import in_order
from host_tools.commands.sessions.people import VISIT, Person, findings_of, people_of
from host_tools.recordings.doubles import without_doubles
from host_tools.recordings.entry import Entry
from host_tools.recordings.look import entry_of
from tests.calibration import calibrations
from tests.host.journals import on_day, write_again

FREQUENCIES_HZ: Final = tuple(float(f) for f in AUDIOGRAM_FREQUENCIES_HZ)
BEFORE_DB_HL: Final = (10.0, 10.0, 10.0, 15.0, 15.0, 20.0, 25.0, 30.0, 30.0, 30.0)
WORSE_DB: Final = 30.0


def an_ear(worse_db: float) -> Audiogram:
    levels = [
        level + (worse_db if f >= 3000.0 else 0.0)
        for f, level in zip(FREQUENCIES_HZ, BEFORE_DB_HL, strict=True)
    ]
    return Audiogram(FREQUENCIES_HZ, tuple(levels))


def a_session(
    directory: Path,
    number: int,
    day: str,
    worse_db: float,
    told: Told,
    calibration: CalibrationOnFile | None = None,
    device: str = "box-1",
) -> Path:
    """Measure the left ear of a listener, whose right one is not tested, and return the journal."""
    listener = SimulatedListener(
        dict.fromkeys(EARS, an_ear(worse_db)), lapse_rate=0.0, false_alarm_rate=0.0, seed=number
    )
    place = directory.parent / f"device-{number}"
    place.mkdir()
    date = datetime.date.fromisoformat(day)
    due = date + datetime.timedelta(days=365)
    changes = {"calibration.date": day, "calibration.due": due.isoformat()}
    calibrated = calibrations.on_file(changes) if calibration is None else calibration
    # The simulated board has a calibration of its own; another one has none.
    board = SimulatedBoard(listener, boot=0xB007, serial="51b0000000000002")
    if calibrated.calibration is not None:
        board = calibrations.CalibratedBoard(listener, calibrated.calibration)
    world = World(place, board=board, calibration=calibrated)
    world.begin(Settings.from_record({"ears": "left", "seed": number, "masking": "off"}), told)
    header, *records = read_journal(world.end()).records
    path = directory / f"session-{number:06d}.journal"
    write_again(path, {**on_day(header, day), "session": number, "device": device}, records)
    return path


def people_in(directory: Path) -> dict[str, Person]:
    """Return the people of a directory by their identifiers."""
    entries = [entry_of(path) for path in sorted(directory.glob("*.journal"))]
    once = without_doubles(entries, lambda entry: entry.about).kept
    return {person.identifier: person for person in people_among(once)}


def people_among(entries: Iterable[Entry]) -> list[Person]:
    left_out = list[str]()
    people = people_of(
        in_order(entries),
        lambda entry: findings_of(entry)[VISIT],
        lambda items, *_: items,
        left_out,
    )
    return [*people]


def write_clinic(directory: Path) -> None:
    """Write the journals of an ear that grew worse, one that did not, and others."""
    worse, same, sexes = Told(60, "M", "W-1"), Told(40, "F", "S-2"), Told(30, "F", "T-3")
    # At another device the first session may be the later one.
    later = replace(worse, age_years=65)
    a_session(directory, 1, "2031-03-01", WORSE_DB, later, device="box-2")
    a_session(directory, 2, "2026-03-01", 0.0, worse)
    a_session(directory, 3, "2027-03-01", 0.0, same)
    a_session(directory, 4, "2029-03-01", 0.0, replace(same, age_years=42))
    a_session(directory, 5, "2029-04-01", 0.0, sexes, NO_CALIBRATION)
    a_session(directory, 6, "2030-01-01", WORSE_DB, replace(sexes, sex="M"), NO_CALIBRATION)
    a_session(directory, 7, "2030-02-01", 0.0, Told())
