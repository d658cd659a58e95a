"""Journals of every format so far are read for ever, and a change of the form has its reader."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from device.simulator.world import World
from firmware_py.journal import FORMAT_VERSION, JournalReadError, JournalWriter, read_journal
from firmware_py.platform.version import full_version
from firmware_py.sessions import format_1
from firmware_py.sessions.archive import glance, read_whole
from firmware_py.sessions.earlier_formats import READERS, replay_words
from firmware_py.sessions.replay import ReplayError, replay, replay_from
from firmware_py.sessions.session_course import Output, inputs_and_outputs
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms.outcomes import UNFINISHED, Verdict
from firmware_py.terms.reasons import Code, reasons_at
from firmware_py.terms.words import say
from firmware_py.tuning.tuning_record import TuningHeader
from tests.firmware.whole_sessions import a_listener
from tests.formats import FORMATS, data_of, journals_of
from tests.formats.form_of_records import ADDED, form_of_records
from tests.host.journals import write_again
from tests.host.reports import rows_in

HOW: str = (
    "records have another form than format {} has: see `firmware_py/journal/FORMATS.md`. Raise "
    "FORMAT_VERSION, add a reader of {} to READERS, keep journals of the new format in "
    "tests/formats, and its form: python -m tests.formats.form_of_records"
)


def outcomes_of(version: int) -> list[str]:
    return [glance(path).outcome for path in journals_of(version, "session")]


def test_every_format_but_todays_has_a_reader() -> None:
    assert [*READERS] == [*FORMATS][:-1]


@pytest.mark.parametrize("version", FORMATS)
def test_journals_of_a_format_are_read_whole(version: int) -> None:
    """What a device of that time left: each kind of end, and a tuning."""
    assert {"complete", "aborted", UNFINISHED} <= {*outcomes_of(version)}
    for path in journals_of(version, "session"):
        ends = read_whole(path)
        assert ends.header.journal == version
        assert (ends.result.outcome if ends.result else UNFINISHED) == glance(path).outcome
        assert ends.course is not None
        assert ends.course.seconds > 10.0
    (tuning,) = journals_of(version, "tuning")
    recovered = read_journal(tuning)
    header = TuningHeader.from_record(recovered.header)
    results = [
        each.result
        for each in inputs_and_outputs(header, recovered.records)
        if isinstance(each, Output) and each.result
    ]
    assert [each.outcome for each in results] == ["complete"]


@pytest.mark.parametrize("version", FORMATS)
def test_thresholds_are_those_that_were_recorded(version: int) -> None:
    """Every number of the file, by JSON alone, is in what is read, to the last bit."""
    for path in journals_of(version, "session"):
        told = [json.loads(line) for line in path.read_text().splitlines()]
        finish = [each["action"] for each in told if each.get("action", {}).get("what") == "finish"]
        read = read_whole(path).result
        assert (read is None) == (not finish)
        for ear, found in zip(
            finish[0]["result"]["ears"] if finish else [], read.ears if read else [], strict=True
        ):
            assert ear["ear"] == found.route.ear
            for was, each in zip(ear["thresholds"], found.thresholds, strict=True):
                names = [name for name in was if name not in ("mark", "masking")]
                assert {name: was[name] for name in names} == {
                    name: getattr(each, name) for name in names
                }
                assert (was["mark"], was["masking"]) == (each.mark, each.masking)


def test_todays_form_of_records_is_that_of_todays_format() -> None:
    """Whatever a journal of before lacks has to be given to it by a reader."""
    kept = (data_of(FORMAT_VERSION) / "form.txt").read_text().splitlines()
    now = form_of_records()
    gone = [line.rstrip() for line in kept if line not in now]
    new = [line for line in now if line not in kept and not line.startswith(ADDED)]
    assert (gone, new) == ([], []), HOW.format(FORMAT_VERSION, FORMAT_VERSION)


@pytest.mark.parametrize("version", [*FORMATS][:-1])
def test_an_earlier_format_is_not_replayed_and_says_who_does(version: int) -> None:
    for kind, header in (("session", SessionHeader), ("tuning", TuningHeader)):
        records = read_journal(journals_of(version, kind)[0]).records
        with pytest.raises(ReplayError, match=f"format {version}.*git worktree add") as caught:
            replay_from(header, records)
        assert READERS[version].last_commit in str(caught.value)


def test_a_version_that_names_its_commit_is_the_one_that_replays() -> None:
    words = replay_words({"firmware": "0.2.0.dev0+g0123456789ab", "journal": FORMAT_VERSION})
    assert "replays with commit 0123456789ab" in words
    assert "git" not in replay_words({"firmware": "0.3.0", "journal": FORMAT_VERSION})


@pytest.mark.parametrize("version", [*FORMATS][:-1])
def test_no_journal_of_an_earlier_format_is_gone_on_with(version: int, tmp_path: Path) -> None:
    """A line of today's form in it would be read as one of its own."""
    unfinished = next(p for p in journals_of(version, "session") if glance(p).outcome == UNFINISHED)
    journal = tmp_path / unfinished.name
    shutil.copy(unfinished, journal)
    with pytest.raises(JournalReadError, match=f"recorded by .* .format {version}.*gone on with"):
        JournalWriter.resume(journal)
    assert journal.read_bytes() == unfinished.read_bytes()


@pytest.mark.golden
def test_todays_format_replays_bit_for_bit() -> None:
    """Every tone of an unfinished test; the results of these journals are of another version."""
    path = journals_of(FORMAT_VERSION, "session")[3]
    assert glance(path).outcome == UNFINISHED
    assert replay(read_journal(path).records).differences == []


# Format 1


def test_format_1_is_read_as_not_judged_and_its_sentences_stand() -> None:
    complete = read_whole(journals_of(1, "session")[0])
    assert complete.result is not None
    assert {ear.verdict for ear in complete.result.ears} == {Verdict.NOT_JUDGED}
    assert [say(ear.why) for ear in complete.result.ears] == [
        "95 % band at most +-6.1 dB (2000 Hz)", "95 % band at most +-6.2 dB (2000 Hz)",
    ]  # fmt: skip
    assert complete.header.calibration.state == "CALIBRATED"
    assert complete.header.is_simulated(complete.result) is None
    remarks = format_1.result({"ears": [], "remarks": ["masking uncertain at 8000 Hz"]})["remarks"]
    assert [say(each) for each in reasons_at("remarks", remarks)] == [
        "masking uncertain at 8000 Hz"
    ]


def test_that_a_session_of_format_1_was_gone_on_with_is_kept_though_not_when() -> None:
    course = read_whole(journals_of(1, "session")[1]).course
    assert course is not None
    assert [(each.left, each.resumed) for each in course.breaks] == [
        ("2026-03-02T09:30:20+01:00", "")
    ]
    assert course.begun == ["2026-03-02T09:30:00+01:00"]


@pytest.mark.parametrize(
    ("judged_on", "code"), [("2027-02-01", Code.OVERDUE), ("2026-01-01", Code.CLOCK_IS_WRONG)]
)
def test_an_overdue_calibration_of_format_1_says_why(judged_on: str, code: Code) -> None:
    record = dict(read_journal(journals_of(1, "session")[0]).header)
    calibration = {**record["calibration"], "state": "OVERDUE", "why": "words"}
    calibration["judged_on"] = judged_on
    record |= {"calibration": calibration, "started": f"{judged_on}T08:00:00+01:00"}
    read = SessionHeader.from_record(record).calibration
    assert read.why is not None
    assert read.why.code == code


def test_a_file_that_was_refused_is_named_in_a_header_of_format_1() -> None:
    record: dict[str, Any] = dict(read_journal(journals_of(1, "session")[0]).header)
    record["calibration"] = {"state": "UNCALIBRATED", "full_scale_db_hl": 120.0, "why": "no table"}
    read = SessionHeader.from_record(record).calibration
    assert (read.full_scale_db_hl, "no table" in read.headline) == (120.0, True)


@pytest.mark.parametrize("nonsense", [None, 3, "text", [], {}, {"ears": 1}, {"ears": [None]},
                                      {"ears": [{"thresholds": [7]}], "remarks": [1]}])  # fmt: skip
def test_a_malformed_result_of_format_1_is_left_to_who_checks_it(nonsense: Any) -> None:
    format_1.result(nonsense)
    format_1.input_({"event": nonsense})
    format_1.header({"settings": nonsense, "calibration": nonsense})


# What another version recorded in today's format


def test_a_device_tells_the_recorded_result_of_a_session_that_does_not_come_out_again(
    tmp_path: Path,
) -> None:
    """The result is the one that was found then, whatever this version would find."""
    header, *told = read_journal(journals_of(FORMAT_VERSION, "session")[1]).records
    finish = next(r["action"] for r in told if r.get("action", {}).get("what") == "finish")
    found = finish["result"]["ears"][0]["thresholds"]
    measured = next(each for each in found if each["mark"] == "measured")
    measured["threshold_db_hl"] += 1.0
    write_again(tmp_path / "session-000002.journal", {**header, "firmware": "0.0.9"}, told)
    world = World(tmp_path, a_listener())
    (line,) = world.ask("THR?")
    assert world.wrong == []
    assert f"{measured['frequency_hz']},{measured['threshold_db_hl']:.1f}," in line
    paper = json.loads(world.ask("SESS:PAP?")[0])["paper"]
    (by,) = (row for row in rows_in(paper["sections"]) if row["code"] == "as-recorded")
    assert by == {"code": "as-recorded", "version": "0.0.9", "format": FORMAT_VERSION}
    world.close()


def test_who_goes_on_with_the_session_of_another_version_says_so(tmp_path: Path) -> None:
    unfinished = next(
        path
        for path in journals_of(FORMAT_VERSION, "session")
        if glance(path).outcome == UNFINISHED
    )
    header, *told = read_journal(unfinished).records
    for name, firmware, by in (("own", full_version(), None), ("other", "0.0.9", full_version())):
        directory = tmp_path / name
        directory.mkdir()
        journal = directory / unfinished.name
        write_again(journal, {**header, "firmware": firmware}, told)
        World(directory, a_listener()).close()
        resumed = [record for record in read_journal(journal).records if "resumed" in record]
        assert [record.get("firmware") for record in resumed] == [by]
