"""A clinic's year: it is told as it was, and each promise rings when it is broken."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from firmware_py.sessions.earlier_formats import READERS
from firmware_py.terms.calibration_states import CALIBRATED, OVERDUE, UNCALIBRATED
from host_tools.commands.sessions import command
from host_tools.recordings.entry import Entry
from tests.formats.next_format import ROOT, make_next, run_next
from tests.simulation import broken
from tests.simulation.clinic import Clinic, live_through
from tests.simulation.merged import Merged
from tests.simulation.soak import main
from tests.simulation.violation import Violation
from tests.simulation.year import BEFORE, CLOCK_LOST, DISK_FULL, SITES, Year, draw_year

# Few visits, at which all comes that may come in a year.
SMALL: Final = draw_year(67, visits=6)
LISTING: Final = "import sys; from host_tools.main import main; sys.exit(main(sys.argv[1:]))"
# Those to the device whose disk fills alone.
FILLED: Final = next(visit.device.name for visit in SMALL.visits if visit.luck == DISK_FULL)


def only(device: str) -> Year:
    return SMALL.only([n for n, visit in enumerate(SMALL.visits) if visit.device.name == device])


class Lived(NamedTuple):
    clinic: Clinic
    merged: Merged


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    clinic = Clinic(SMALL)
    clinic.live()
    return Lived(clinic, clinic.merge(tmp_path_factory.mktemp("clinic") / "all"))


def test_a_year_is_told_as_it_was(lived: Lived) -> None:
    lived.clinic.check(lived.merged)
    met = lived.clinic.outcome.met
    assert {CALIBRATED, OVERDUE, UNCALIBRATED, CLOCK_LOST, DISK_FULL} <= met.keys()
    assert lived.clinic.moved[FILLED]
    assert len(lived.clinic.register.noted) >= len(SMALL.visits) + 3


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_so_are_other_years(seed: int) -> None:
    live_through(draw_year(seed))


@pytest.mark.thorough
def test_the_next_program_tells_it_as_it_was_recorded(lived: Lived, tmp_path: Path) -> None:
    """Every journal of the year is of an earlier format for a program that is updated after it."""
    place = make_next(tmp_path / "next")
    words = ["sessions", *map(str, lived.merged.places), "--no-index", "--json"]
    today, later = (
        json.loads(run_next(there, LISTING, *words).stdout)["sessions"] for there in (ROOT, place)
    )
    assert all(each.pop("recorded_by") for each in later)
    assert [{**each, "recorded_by": ""} for each in later] == [
        {**each, "recorded_by": ""} for each in today
    ]


def test_years_have_all_that_a_year_may_have() -> None:
    years = [draw_year(seed) for seed in range(40)]
    visits = [visit for year in years for visit in year.visits]
    assert {year.before for year in years} == {*BEFORE}
    assert {year.twice for year in years} == {*SITES}
    assert {visit.device.serial(visit.at) for visit in visits} >= {"51b0c2", "51b00000000000a1"}
    assert all({v.luck for v in year.visits} == {CLOCK_LOST, DISK_FULL, ""} for year in years)
    assert draw_year(3) == draw_year(3) != draw_year(4)


def test_a_year_can_be_told_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--year", "1", "--troubles", "0"]) == 0
    told = capsys.readouterr().out
    assert str(draw_year(1).only([0])) in told
    assert "lived through" in told


# --- promises, broken on purpose

Told = list[dict[str, Any]]
Change = Callable[[Told], Told]


def changing(name: str, value: Any, of: Callable[[dict[str, Any]], bool] = bool) -> Change:
    """Tell something else of the first session of these."""

    def change(told: Told) -> Told:
        place = next(place for place, each in enumerate(told) if of(each))
        return [*told[:place], {**told[place], name: value}, *told[place + 1 :]]

    return change


def is_overdue(entry: dict[str, Any]) -> bool:
    return bool(entry["calibration"] == OVERDUE)


# By the words of the violation: what is told of the year, and how that is changed.
CHANGES: Final[dict[str, tuple[str, Change]]] = {
    "is listed 0 times": ("listed", lambda told: told[:-1]),
    "is listed 2 times": ("listed", lambda told: [*told, told[0]]),
    "are listed, and never were": ("listed", lambda told: [*told, {**told[0], "session": 99}]),
    "has calibration 'CALIBRATED', and it was 'OVERDUE'": (
        "listed", changing("calibration", CALIBRATED, is_overdue),
    ),
    "has identifier 'P-9', and": ("listed", changing("identifier", "P-9")),
    "has date '2026-01-31', and": ("listed", changing("started", "2026-01-31T09:00:00+00:00")),
    "has outcome 'aborted', and": ("listed", changing("outcome", "aborted")),
    "has verdicts .*'invalid'.*, and": (
        "listed", changing("verdict_left", "invalid", lambda each: bool(each["verdict_left"])),
    ),
    "is told as recorded by ''": (
        "listed", changing("recorded_by", "", lambda each: bool(each["recorded_by"])),
    ),
    "is exported 0 times": ("exported", lambda told: told[1:]),
    "is exported 2 times": ("exported", lambda told: [*told, told[-1]]),
    "are exported, and never were": ("exported", lambda told: [*told, {**told[0], "device": "X"}]),
}  # fmt: skip


@pytest.fixture(scope="module")
def told(lived: Lived) -> dict[str, Told]:
    return {"listed": lived.merged.listed(), "exported": lived.merged.exported()}


@pytest.mark.parametrize("words", CHANGES)
def test_the_alarm_rings_when_something_else_is_told(
    words: str, lived: Lived, told: dict[str, Told]
) -> None:
    how, change = CHANGES[words]
    register = lived.clinic.register
    check = {"listed": register.check_list, "exported": register.check_export}[how]
    check(told[how])
    with pytest.raises(Violation, match=words):
        check(change(told[how]))


def by_the_clock(entries: Iterable[Entry], _shared: object) -> list[tuple[Entry, float]]:
    return [(entry, 0.0) for entry in sorted(entries, key=lambda entry: entry.started)]


def test_the_alarm_rings_when_sessions_go_by_the_clock_alone(
    lived: Lived, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "in_order", by_the_clock)
    with pytest.raises(Violation, match=r"has sessions .*, and they were"):
        lived.clinic.register.check_people(lived.merged.people())


NOBODY: Final = {"identifier": None, "age_years": None, "sex": None}


def test_the_alarm_rings_when_a_reader_of_a_format_tells_something_else(
    lived: Lived, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = READERS[SMALL.before]
    other = replace(reader, header=lambda record: reader.header({**record, "person": NOBODY}))
    monkeypatch.setitem(READERS, SMALL.before, other)
    lived.merged.forget_index()
    with pytest.raises(Violation, match="has identifier '', and it was 'P-17'"):
        lived.clinic.register.check_list(lived.merged.listed())
    lived.merged.forget_index()


def test_the_alarm_rings_when_a_number_is_given_twice() -> None:
    """Numbers go on though all journals are moved away, for the device remembers the last one."""
    with pytest.raises(Violation, match=f"{FILLED} has given number 1 after"):
        Clinic(only(FILLED), broken.spoilt(broken.unremembering)).live()


def test_the_alarm_rings_when_files_are_left() -> None:
    with pytest.raises(Violation, match=r"left-0.* beside its journals"):
        Clinic(only(FILLED).only([0]), broken.spoilt(broken.littering)).live()


def test_the_alarm_rings_when_a_test_is_begun_on_a_full_disk() -> None:
    full = [n for n, visit in enumerate(SMALL.visits) if visit.luck == DISK_FULL]
    with pytest.raises(Violation, match="were begun on a full disk"):
        Clinic(SMALL.only(full), broken.spoilt(broken.roomy)).live()


def test_the_alarm_rings_when_a_device_has_no_name(tmp_path: Path) -> None:
    clinic = Clinic(only(FILLED).only([0]), broken.spoilt(broken.nameless))
    clinic.live()
    with pytest.raises(Violation, match=r"session \('N-1', 5\) is listed 0 times"):
        clinic.check(clinic.merge(tmp_path / "all"))
