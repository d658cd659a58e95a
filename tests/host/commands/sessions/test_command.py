"""`gp-pta sessions` lists whatever is there, the second time without reading it again."""

import json
import math
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from firmware_py.findings.rows import verdicts_row
from firmware_py.journal import is_unbroken, read_journal
from firmware_py.sessions.archive import recorded_result
from host_tools.catalogue import language_of
from host_tools.commands.sessions.choice import Choice, arrange, contradictions, in_order
from host_tools.errors import HostError
from host_tools.recordings.entry import Entry
from host_tools.recordings.index import looked_at
from host_tools.recordings.look import entry_of
from tests.host.journals import BOTH, GOLDEN, GpPta, journal, on_day, write_again

pytestmark = pytest.mark.usefixtures("cache")


def entries_of(directory: Path) -> list[Entry]:
    """Return what is listed of a directory, and keep nothing of it."""
    with looked_at([directory], lambda items, *_: items, keep=False) as index:
        return index.entries()


# What is listed


@pytest.mark.usefixtures("as_if_calibrated")
@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.journal")), ids=lambda path: path.stem)
def test_a_recorded_session_is_listed_as_it_was_recorded(path: Path) -> None:
    result, header = recorded_result(path).result, read_journal(path).header
    entry = entry_of(path)

    assert (entry.outcome, entry.started) == (result.outcome, header["started"])
    assert (entry.session, entry.ears) == (header["session"], header["settings"]["ears"])
    assert entry.routes == header["settings"]["routes"]
    assert entry.tones == sum(ear.tones for ear in result.ears)
    assert entry.verdicts == {str(ear.route): ear.verdict for ear in result.ears}
    for ear in result.ears:
        levels = {t.frequency_hz: t.threshold_db_hl for t in ear.thresholds}
        four = [level for f in (500, 1000, 2000, 4000) if (level := levels[f]) is not None]
        if len(four) == 4 and not ear.route.by_bone:
            assert entry.pta4_db_hl[ear.route.ear] == pytest.approx(sum(four) / 4, abs=0.001)


def test_a_session_with_bone_conduction_is_told_from_one_by_air(gp_pta: GpPta) -> None:
    heading, *lines = gp_pta("sessions", GOLDEN, "--no-index")[1].splitlines()
    at = heading.index("routes")
    told = {line.split()[0]: line[at : at + 9].rstrip() for line in lines}
    assert told.pop("bone.journal") == "air, bone"
    assert {*told.values()} == {"air"}


def test_a_doubtful_test_by_bone_is_listed_as_doubtful(tmp_path: Path, gp_pta: GpPta) -> None:
    """The list said "valid" of it, and the report and exports said otherwise."""
    header, *records = read_journal(GOLDEN / "bone.journal").records
    (of_bone,) = (
        ear
        for ear in records[-2]["action"]["result"]["ears"]
        if (ear["ear"], ear.get("transducer")) == ("right", "bone")
    )
    assert of_bone["verdict"] == "valid"
    of_bone |= {"verdict": "doubtful", "reasons": []}
    write_again(tmp_path / "session-000001.journal", dict(header), records)

    (entry,) = entries_of(tmp_path)
    verdicts = {"right": "valid", "left": "valid", "right-bone": "doubtful", "left-bone": "valid"}
    assert entry.verdicts == verdicts
    _, out, _ = gp_pta("sessions", tmp_path, "--no-index")
    assert language_of("en").say(verdicts_row(verdicts)) in out


@pytest.mark.usefixtures("as_if_calibrated")
def test_a_deaf_ear_has_its_limit_and_one_that_could_not_be_tested_nothing(deaf_ear: Path) -> None:
    deaf = entry_of(deaf_ear)
    assert (deaf.pta4_db_hl, deaf.at_least) == ({"left": 100.0}, "left")
    for name in ("silent-ear", "always-answering"):
        untested = entry_of(GOLDEN / f"{name}.journal")
        assert (untested.pta4_db_hl, untested.at_least) == ({}, "")


def test_identifiers_of_any_script_are_listed_and_found_however_they_are_typed(
    tmp_path: Path, gp_pta: GpPta
) -> None:
    """Also "-", which nobody could tell a device any more."""
    header, *records = read_journal(BOTH).records
    names = ["患者7", "Zoë", "Иванов-3", "-"]
    for number, name in enumerate(names, 1):
        person = {"age_years": None, "sex": None, "identifier": name}
        write_again(tmp_path / f"{number}.journal", {**header, "person": person}, records)

    _, out, _ = gp_pta("sessions", tmp_path)
    assert [line.split()[-1] for line in out.splitlines()[1:]] == names
    _, out, _ = gp_pta("export", tmp_path, "--format", "json")
    assert [each["person"]["identifier"] for each in json.loads(out)["sessions"]] == names
    for pattern in ("Zoe\u0308", "Zo\u00eb", "Z*"):
        _, out, _ = gp_pta("sessions", tmp_path, "--identifier", pattern, "--json")
        assert [entry["identifier"] for entry in json.loads(out)["sessions"]] == ["Zoë"]


def test_what_is_broken_or_foreign_is_listed_by_name(tmp_path: Path, gp_pta: GpPta) -> None:
    good = BOTH.read_bytes()
    damaged = bytearray(good)
    damaged[20_000] ^= 4
    files = {
        "a-letter": b"Dear sirs,\n",
        "b-nothing": b"",
        "c-torn-header": good[:200],
        "d-unfinished": journal("both-ears-n3", 77)[:30_000],
        "e-damaged": bytes(damaged),
        "f-torn-after-its-end": good + b"{",
        "g-of-soup": b'{"n": 0, "synced": 0, "kind": "header", "journal": 3',
        "h-noise": bytes(range(256)) * 400,
    }
    for name, content in files.items():
        (tmp_path / f"{name}.journal").write_bytes(content)
    (tmp_path / "i-folder.journal").mkdir()  # which has none in it
    (tmp_path / "j-nowhere.journal").symlink_to(tmp_path / "none")
    code, out, err = gp_pta("sessions", tmp_path)
    told = {line.split()[0]: line for line in out.splitlines()[1:]}
    outcomes = {
        "a-letter": "foreign: is no journal",
        "b-nothing": "unstarted: is empty",
        "c-torn-header": "unstarted: has a torn header",
        "d-unfinished": "unfinished",
        "e-damaged": "damaged: line ",
        "f-torn-after-its-end": "complete",
        "g-of-soup": "unstarted: has a torn header",
        "h-noise": "foreign: is no journal",
        "j-nowhere": "unreadable: No such file",
    }
    assert code == 0
    assert list(told) == [f"{name}.journal" for name in outcomes]
    for name, words in outcomes.items():
        assert words in told[f"{name}.journal"]
    assert err == "9 of 9 journals, 1 damaged, 2 foreign, 1 unreadable, 3 unstarted\n"


def test_a_name_that_is_not_utf_8_is_listed_and_exported(
    archive: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    strange, out = os.fsdecode(b"a-bad-\xff.journal"), tmp_path / "all.csv"
    shutil.copy(BOTH, archive / strange)
    without = gp_pta("sessions", archive, "--no-index")
    assert r"a-bad-\udcff.journal" in without[1].splitlines()[1]
    assert gp_pta("sessions", archive) == gp_pta("sessions", archive) == without
    assert json.loads(gp_pta("sessions", archive, "--json")[1])["sessions"][0]["name"] == strange
    assert gp_pta("sessions", archive, "--export", out)[0] == 0
    assert r"a-bad-\udcff.journal" in out.read_text(encoding="utf-8")

    (archive / strange).unlink()
    assert strange not in [entry.name for entry in entries_of(archive)]


def test_the_check_of_every_line_is_that_of_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "session-000001.journal"
    lines = BOTH.read_bytes().splitlines(keepends=True)[:12]
    for changed in (lines[:5] + lines[6:], lines[:3] + lines[2:], lines[1:], [], [*lines, b"x\n"]):
        path.write_bytes(b"".join(changed))
        assert not is_unbroken(path)
    path.write_bytes(b"".join(lines))
    assert is_unbroken(path)


# The choice


# Of the golden session of both ears: PTA4 is 47 dB HL, of either ear.
MEAN_DB_HL: Final = 47.0


@pytest.fixture(scope="module")
def chosen_from(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a session of a person, and a file that is no journal."""
    directory = tmp_path_factory.mktemp("chosen")
    header, *records = read_journal(BOTH).records
    told = {"age_years": None, "sex": None, "identifier": "P-17"}
    header = {**on_day(header, "2026-03-04"), "device": "box-1", "person": told}
    write_again(directory / "session-000001.journal", header, records)
    (directory / "empty.journal").touch()
    return directory


@pytest.mark.parametrize(
    ("choice", "taken"),
    [
        (Choice(), True),
        (Choice(identifier="P-17"), True),
        (Choice(identifier="P-1"), False),
        (Choice(identifier="P-1*"), True),
        (Choice(since="2026-03-04", until="2026-03-04"), True),
        (Choice(since="2026-03-05"), False),
        (Choice(until="2026-03-03"), False),
        (Choice(outcome="complete"), True),
        (Choice(outcome="aborted"), False),
        (Choice(calibration="SIMULATED"), True),
        (Choice(calibration="OVERDUE"), False),
        (Choice(ear="left"), True),
        (Choice(device="box-1"), True),
        (Choice(device="box-?"), True),
        (Choice(device="box"), False),
        (Choice(device="[b]ox-1"), False),
        (Choice(verdict="valid"), True),
        (Choice(verdict="doubtful"), False),
        (Choice(prior="shipped"), True),
        (Choice(prior="*"), False),
        (Choice(prior="a*"), False),
        (Choice(pta4_min_db_hl=MEAN_DB_HL - 2.0), True),
        (Choice(pta4_min_db_hl=30.0, pta4_max_db_hl=40.0), False),
        (Choice(pta4_max_db_hl=MEAN_DB_HL + 2.0), True),
        (Choice(identifier="P-17", pta4_min_db_hl=MEAN_DB_HL + 2.0), False),
    ],
)
def test_every_filter_has_to_agree(chosen_from: Path, choice: Choice, taken: bool) -> None:
    with looked_at([chosen_from], lambda items, *_: items, keep=False) as index:
        found = [entry.name for entry in index.entries(choice.where)]
    assert ("session-000001.journal" in found) is taken
    assert ("empty.journal" in found) is (choice == Choice()), "of what is none nothing is known"


def test_levels_that_nothing_can_be_asked_with_are_refused() -> None:
    with pytest.raises(HostError, match="--pta4-min is nan; allowed is a level in dB HL"):
        Choice(pta4_min_db_hl=math.nan)
    with pytest.raises(HostError, match="--pta4-min 50 is above --pta4-max 10"):
        Choice(pta4_min_db_hl=50.0, pta4_max_db_hl=10.0)


def test_what_is_not_known_is_sorted_last() -> None:
    known = Entry("session-000001.journal", "complete", session=1, started="2026-03-04T23:59:00",
                  identifier="P-17", pta4_right_db_hl=20.0, pta4_left_db_hl=60.0)  # fmt: skip
    unknown = Entry("session-000002.journal", "unstarted")
    left = replace(known, name="session-000003.journal", session=3, pta4_left_db_hl=90.0)
    for order in ("started", "identifier", "pta4"):
        assert arrange([unknown, known, left], order, reverse=False)[-1] == unknown
    assert arrange([known, left], "pta4", reverse=False) == [left, known]
    assert arrange([known, left], "name", reverse=True) == [left, known]


def test_sessions_of_a_device_are_sorted_by_number_when_its_clock_was_wrong() -> None:
    days = {1: "1970-01-01", 2: "2027-01-01", 3: "1970-01-01", 4: "2026-06-01"}
    of_box = [
        Entry(str(n), "complete", session=n, device="box-1", started=f"{day}T00:00:00+00:00")
        for n, day in days.items()
    ]
    other = replace(of_box[0], name="5", device="box-2", started="2027-02-01T00:00:00+00:00")
    for reverse in (False, True):
        listed = arrange([other, *of_box[::-1]], "started", reverse=reverse)
        assert [entry.name for entry in listed] == sorted("12345", reverse=reverse)
    found = contradictions(entry for entry, _ in in_order(of_box))
    assert [(first.name, last.name) for first, last in found] == [("2", "4")]


def test_sessions_under_a_shared_serial_number_are_in_the_order_of_the_clock() -> None:
    """The ninth of one of two devices began before the first of the other."""
    days = {9: "2026-03-01", 1: "2027-03-01"}
    of_both = [
        Entry(str(n), "complete", session=n, device="box-1", started=f"{day}T00:00:00+00:00")
        for n, day in days.items()
    ]
    for shared, names in (((), ["1", "9"]), (("box-1",), ["9", "1"])):
        assert [each.name for each, _ in in_order(of_both, shared)] == names
        assert [each.name for each in arrange(of_both, "started", False, shared)] == names


def test_two_sites_are_listed_together_and_a_copy_counts_once(
    archive: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    other = tmp_path / "other site" / "2026"
    other.mkdir(parents=True)
    shutil.copy(archive / "session-000003.journal", other / "renamed")
    (other / "session-000001.journal").write_bytes(journal("both-ears-n3", 99))
    code, out, err = gp_pta("sessions", archive, other.parent, "--json")
    told = json.loads(out)
    names = [each["name"] for each in told["sessions"]]
    assert (code, told["directories"]) == (0, [str(archive), str(other.parent)])
    assert len(names) == 9
    assert names.count(str(other / "session-000001.journal")) == 1
    kept, copy = (str(each) for each in (archive / "session-000003.journal", other / "renamed"))
    assert err == f"left out: {copy} is a copy of {kept}\n9 of 10 journals, 1 there twice\n"
    assert [each["path"] for each in told["sessions"]] == names, "to be opened"


def test_options_choose(archive: Path, gp_pta: GpPta) -> None:
    entries = entries_of(archive)
    both = [entry.name for entry in entries if entry.ears == "both"]
    code, out, err = gp_pta("sessions", archive, "--ear", "right", "--identifier", "P-*", "--json")
    names = [entry["name"] for entry in json.loads(out)["sessions"]]

    assert code == 0
    assert 0 < len(both) < len(names) < 8
    assert set(both) <= set(names)
    assert err == f"{len(names)} of 8 journals\n"


def test_an_empty_directory_has_no_journals(tmp_path: Path, gp_pta: GpPta) -> None:
    assert gp_pta("sessions", tmp_path)[2] == f"no journals in {str(tmp_path)!r}\n"


# Together


def test_what_is_chosen_is_exported_and_what_has_no_result_is_named(
    archive: Path, tmp_path: Path, gp_pta: GpPta
) -> None:
    (archive / "session-000001.journal").write_bytes(journal("both-ears-n3", 1)[:30_000])
    (archive / "session-000002.journal").write_text("Dear sirs,\n")
    out = tmp_path / "all.json"
    code, _, err = gp_pta("sessions", archive, "--export", out, "--sort", "started")
    sessions = json.loads(out.read_text())["sessions"]

    assert code == 1
    assert {session["journal"] for session in sessions} == {
        f"session-{number:06d}.journal" for number in range(3, 9)
    }
    assert [s["started"] for s in sessions] == sorted(s["started"] for s in sessions)
    assert f"left out: {archive}/session-000001.journal: it was not finished" in err
    assert f"left out: {archive}/session-000002.journal: is no journal" in err
    assert f"{out}: 6 sessions" in err
    assert gp_pta("sessions", archive, "--export", out)[0] == 2, "nothing is overwritten"
