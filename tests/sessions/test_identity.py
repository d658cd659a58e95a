"""What has to agree where two sessions meet, and what waits for the operator."""

import datetime
import json
import math
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

import pytest

from device.simulator.simulated_board import SimulatedBoard
from device.simulator.virtual_clock import S
from device.simulator.world import WholeRun, World
from firmware_py.calibration import simulated
from firmware_py.calibration.file import calibration_from
from firmware_py.calibration.in_force import CalibrationOnFile
from firmware_py.installation.configuration import Configuration
from firmware_py.journal import read_journal
from firmware_py.link.notices import ButtonPressed, Missed, Refused, TimeTold
from firmware_py.platform import clock
from firmware_py.platform.clock import SteadyClock
from firmware_py.sessions.broken_off import Course
from firmware_py.sessions.identity import RULES, Identity, Meeting, Rule, differences
from firmware_py.sessions.replay import replay
from firmware_py.sessions.resumption import away_for_s, why_to_wait
from firmware_py.sessions.session_course import inputs_and_outputs
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms.person import Person
from firmware_py.terms.reasons import Code
from firmware_py.terms.settings import Settings
from firmware_py.terms.words import SENTENCES, say
from tests.calibration.calibrations import MADE, calibration, with_bone
from tests.firmware.whole_sessions import a_listener
from tests.said import reason_words

SOMEBODY: Final = Identity(
    "P-A", "F", 1960.0, "box-1", "pico", "pico e66", "e66", "digest", "TDH39", "L-1, R-1",
    "B71, V-1", "aid 1", "fit",
)  # fmt: skip
MINUTE_US: Final = 60 * S


@pytest.mark.parametrize("meeting", Meeting)
def test_each_field_has_one_rule_in_each_meeting_and_the_same_differs_in_nothing(
    meeting: Meeting,
) -> None:
    assert differences(meeting, SOMEBODY, SOMEBODY) == []
    assert RULES[meeting].keys() <= {field.name for field in fields(Identity)}
    for name, rule in RULES[meeting].items():
        value: Any = 1990.0 if name == "born_year" else "another"
        (told,) = differences(meeting, SOMEBODY, replace(SOMEBODY, **{name: value}))
        assert (told.field, told.rule) == (name, rule)
        assert SENTENCES[f"field-{name.replace('_', '-')}"] in told.words
        unknown: Any = {name: None}
        assert differences(meeting, SOMEBODY, replace(SOMEBODY, **unknown)) == []


def test_an_age_told_twice_is_one_person() -> None:
    older = replace(SOMEBODY, born_year=1960.9)
    assert differences(Meeting.VISITS, SOMEBODY, older) == []
    (told,) = differences(Meeting.VISITS, SOMEBODY, replace(SOMEBODY, born_year=1980.0))
    assert (told.rule, told.words) == (Rule.ASKED, "year of birth 1960, not 1980")


def start_at(directory: Path, minutes: int, **more: Any) -> World:
    """A device that is switched on so long after the clock's beginning."""
    world = WholeRun(directory, a_listener("S2"), **more)
    world.clock.us = minutes * MINUTE_US
    world.firmware.start()
    return world


def leave(directory: Path, **more: Any) -> None:
    """Cut a test off after 20 s, an hour after the clock's beginning."""
    world = start_at(directory, 60, **more)
    world.begin(Settings(ears="left", seed=3), Person(identifier="P-A"))
    world.run(20 * S)
    world.close()


def assert_waits(world: World, why: str) -> None:
    """Nothing is played before the operator's word; then the test goes on, and replays."""
    world.until(lambda: world.client.connected)
    world.run(MINUTE_US)
    assert world.board.played == []
    assert f' check=identity why="{why}" reasons=[' in world.ask("SESS:STAT?")[0]
    assert json.loads(world.ask("SESS:IDEN?")[0])["identifier"] == "P-A"
    assert world.ask("SESS:CONT") == ["OK"]
    world.finish()
    state = replay(read_journal(world.journal()).records)
    assert (state.differences, state.resumed) == ([], 1)
    paper = json.loads(world.ask("SESS:PAP?")[0])
    assert [reason_words(each["why"]) for each in paper["waits"]] == [why]
    assert len(paper["breaks"]) == 1
    assert paper["settings"]["seed"] == 3
    assert paper["minutes"] == round(state.at_us / MINUTE_US, 1)
    world.close()


SAME_PERSON: Final = ": is it the same person?"
UNKNOWN_AGE: Final = f"the clock does not say how long ago it was broken off{SAME_PERSON}"
SAME_LEVELS: Final = "are the levels the same?"
OTHER_CALIBRATION: Final = (
    f"calibration: now there is {calibration().digest[:8]!r}, it began with "
    f"{simulated.CALIBRATION.digest[:8]!r}: {SAME_LEVELS}; earphones: now there is 'TDH39', it "
    f"began with 'simulated': {SAME_LEVELS}"
)


@pytest.mark.usefixtures("quick_disk")
@pytest.mark.parametrize(
    ("minutes", "on_s", "beside", "why"),
    [
        (90, math.inf, {}, f"it was broken off 29 minutes ago{SAME_PERSON}"),
        (60 + 4 * 60, math.inf, {}, f"it was broken off 3 hours ago{SAME_PERSON}"),
        (50, math.inf, {}, UNKNOWN_AGE),
        # The clock stood still while the machine was off.
        (62, 20.0, {}, UNKNOWN_AGE),
        (61, math.inf, {"calibration": CalibrationOnFile(calibration())}, OTHER_CALIBRATION),
    ],
)
def test_a_test_waits_for_the_operator_after_a_long_break_or_beside_other_things(
    tmp_path: Path, minutes: int, on_s: float, beside: dict[str, Any], why: str
) -> None:
    leave(tmp_path)
    world = WholeRun(tmp_path, a_listener("S2"), boot=2, **beside)
    world.clock.us = minutes * MINUTE_US
    world.clock.date_known_s = lambda: on_s  # type: ignore[method-assign]
    world.firmware.start()
    assert world.ask("SYST:ERR?")[0] == f'111,"session 1 waits: {why}"'
    assert_waits(world, why)


@pytest.mark.usefixtures("quick_disk")
def test_after_a_short_break_it_goes_on_by_itself_and_the_configuration_says_what_is_short(
    tmp_path: Path,
) -> None:
    leave(tmp_path)
    world = start_at(tmp_path, 70, boot=2)
    assert " check=" not in world.ask("SESS:STAT?")[0]
    world.close()
    strict = start_at(tmp_path, 75, boot=3, configuration=Configuration(resume_within_min=1.0))
    assert " check=identity " in strict.ask("SESS:STAT?")[0]
    strict.close()


@pytest.mark.usefixtures("quick_disk")
@pytest.mark.parametrize(("longer_s", "why"), [(0.0, []), (1.0, [Code.WAITS_LONG])])
def test_a_break_as_long_as_is_allowed_is_short(
    tmp_path: Path, longer_s: float, why: list[Code]
) -> None:
    leave(tmp_path)
    world = start_at(tmp_path, 70, boot=2)
    session = world.runner.session
    assert session is not None
    within_s = away_for_s(session, world.clock) - longer_s
    found = why_to_wait(session, SOMEBODY, SOMEBODY, world.clock, within_s)
    assert [each.code for each in found] == why
    world.close()


@pytest.mark.usefixtures("quick_disk")
@pytest.mark.parametrize("broken_off", [True, False])
def test_a_tone_generator_that_was_away_for_long_is_a_long_break_too(
    tmp_path: Path, broken_off: bool
) -> None:
    """Also after a short one, behind which the firmware waited for it, each for ten minutes."""
    if broken_off:
        leave(tmp_path)
    patient = Configuration(reconnect_s=3600.0)
    world = start_at(tmp_path, 70, boot=2, configuration=patient, wait=True)
    if not broken_off:
        world.begin(Settings(ears="left", seed=3), Person(identifier="P-A"))
        world.run(20 * S)
    played = len(world.board.played)
    world.wire_cut = True
    world.run((10 if broken_off else 20) * MINUTE_US)
    world.wire_cut = False
    world.until(lambda: world.client.connected)
    world.run(MINUTE_US)
    assert len(world.board.played) == played, "nothing is played before the operator's word"
    away = "it was broken off [12][0-9] minutes ago: is it the same person"
    assert re.search(f' check=identity why="{away}', world.ask("SESS:STAT?")[0])
    errors = [about["words"] for what, about in world.told if what == "error"]
    assert re.fullmatch(rf"session 1 waits: {away}\?", errors[-1])
    assert world.ask("SESS:CONT") == ["OK"]
    world.finish()
    world.close()


@pytest.mark.usefixtures("quick_disk")
def test_a_test_that_was_paused_for_long_waits_to_be_told_whose_it_is(tmp_path: Path) -> None:
    soon = Configuration(resume_within_min=2.0)
    world = World(tmp_path, a_listener("S2"), configuration=soon)
    world.begin(Settings(ears="left", seed=3), Person(identifier="P-A"))
    world.run(20 * S)
    why = "it has been paused for 2 minutes and more: is it the same person?"
    for _ in range(2):  # the second time it is told, too
        assert world.ask("SESS:PAUS") == ["OK"]
        world.run(MINUTE_US)
        assert " check=identity" not in world.ask("SESS:STAT?")[0]
        world.run(10 * MINUTE_US)
        assert world.ask("SYST:ERR?") == [f'111,"session 1 waits: {why}"']
        assert world.ask("SYST:ERR?") == ['0,"No error"']
        assert f' check=identity why="{why}"' in world.ask("SESS:STAT?")[0]
        assert world.ask("SESS:CONT") == ["OK"]
        assert " check=identity" not in world.ask("SESS:STAT?")[0]
    world.ask("SESS:ABOR")
    records = read_journal(world.journal()).records
    assert replay(records).differences == []
    header = SessionHeader.from_record(records[0])
    course = Course.of(header, inputs_and_outputs(header, records))
    assert [say(each.why) for each in course.waits] == [why, why]
    world.close()


@pytest.mark.usefixtures("quick_disk")
def test_a_clock_that_was_not_set_when_it_was_broken_off_says_nothing(tmp_path: Path) -> None:
    leave(tmp_path)
    world = WholeRun(tmp_path, a_listener("S2"), boot=2)
    never_set = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    world.clock.date = lambda: never_set  # type: ignore[method-assign]
    world.firmware.start()
    assert_of_unknown_age(world)
    assert_of_unknown_age(start_at(tmp_path, 62, boot=3))


def assert_of_unknown_age(world: World) -> None:
    why = "the clock does not say how long ago it was broken off"
    assert f' check=identity why="{why}' in world.ask("SESS:STAT?")[0]
    world.until(lambda: world.client.connected)
    assert world.ask("SESS:CONT") == ["OK"]
    world.close()


def test_a_clock_without_a_battery_is_sure_since_the_start_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "KEEPS_DATE", (str(tmp_path / "rtc0"),))
    assert 0.0 < SteadyClock().date_known_s() < math.inf
    (tmp_path / "rtc0").touch()
    assert SteadyClock().date_known_s() == math.inf


def test_other_earphones_are_asked_about_in_a_test_and_said_between_visits() -> None:
    """Nothing but a calibration tells which ones are plugged in."""
    one, other = (
        Identity.of_now(calibration=CalibrationOnFile(calibration(changes)).judge(MADE))
        for changes in (None, {"transducer.serial_left": "L-2"})
    )
    in_a_test, between_visits = (
        [(each.rule, each.words) for each in differences(meeting, one, other)][-1]
        for meeting in (Meeting.RESUME, Meeting.VISITS)
    )
    assert in_a_test == (
        Rule.ASKED,
        "serial numbers of the earphones: now there is 'L-2, R-1', it began with 'L-1, R-1'",
    )
    assert between_visits[0] == Rule.SAID


def test_another_vibrator_is_asked_about_in_a_test_by_bone_and_said_between_visits() -> None:
    """A test by air alone has none, whatever its calibration has."""
    own, other = (
        CalibrationOnFile(calibration_from(with_bone(changes))).judge(MADE)
        for changes in (None, {"vibrator.serial": "B-2"})
    )

    def vibrators(meeting: Meeting, routes: str) -> list[tuple[Rule, str]]:
        header = SessionHeader(
            1, "2026-01-02T10:00:00+00:00", Settings(routes=routes), Person(), own
        )
        now = Identity.of_now(calibration=other)
        found = differences(meeting, header.identity(), now)
        return [(each.rule, each.words) for each in found if each.field == "vibrator"]

    asked = "bone vibrator: now there is 'Radioear B71, B-2', it began with 'Radioear B71, B-1'"
    assert vibrators(Meeting.RESUME, "air, bone") == [(Rule.ASKED, asked)]
    said = "bone vibrator 'Radioear B71, B-1', not 'Radioear B71, B-2'"
    assert vibrators(Meeting.VISITS, "air, bone") == [(Rule.SAID, said)]
    assert vibrators(Meeting.RESUME, "air") == vibrators(Meeting.VISITS, "air") == []


@pytest.mark.usefixtures("quick_disk")
@pytest.mark.parametrize(
    ("only_header", "other", "why"),
    [
        *(
            (header, {"name": "pico"},
             "kind of tone generator: now there is 'pico', it began with 'sim'")
            for header in (False, True)
        ),
        (
            False,
            {"serial": "another"},
            "tone generator of the calibration: now there is 'another', it began with "
            "'51b0000000000001'",
        ),
    ],
)  # fmt: skip
def test_another_kind_of_board_never_goes_on_with_a_test_nor_one_the_calibration_is_not_of(
    tmp_path: Path, *, only_header: bool, other: dict[str, Any], why: str
) -> None:
    """A simulated listener would finish the test of a person; or the levels would be others."""
    leave(tmp_path)
    if only_header:  # the power went before anything else was on the disk
        journal = tmp_path / "session-000001.journal"
        header, _, _ = journal.read_bytes().partition(b"\n")
        journal.write_bytes(header + b"\n")
    world = start_at(tmp_path, 61, board=SimulatedBoard(a_listener("S2"), boot=2, **other))
    world.until(lambda: world.client.connected)
    world.run(MINUTE_US)
    assert world.board.played == []
    recorded = world.journal().read_bytes()
    told_us = world.board.now_us
    for notice in (
        Missed(3, 7), ButtonPressed(8, told_us, 1), TimeTold(told_us), Refused("mask", "limit", "")
    ):  # fmt: skip
        world.runner.notice(notice)
    world.runner.settle()
    assert world.journal().read_bytes() == recorded, "what that one tells is not of the test"
    (refused,) = world.ask("SESS:CONT")
    assert refused == f'ERROR -221,"{why}: use the one it began with, or end the test"'
    world.swap_board(SimulatedBoard(a_listener("S2"), boot=3))
    world.until(lambda: world.ask("SESS:CONT") == ["OK"])
    world.finish()
    (ear,) = replay(read_journal(world.journal()).records).test.result().ears
    assert [board.partition(" ")[0] for board in ear.boards] == ["sim"]
    world.close()


@pytest.mark.usefixtures("quick_disk")
def test_after_the_end_of_that_test_another_kind_of_board_is_one_like_any(tmp_path: Path) -> None:
    leave(tmp_path)
    world = start_at(tmp_path, 61, board=SimulatedBoard(a_listener("S2"), boot=2, name="pico"))
    world.until(lambda: world.client.connected)
    assert world.ask("SESS:ABOR") == ["OK"]
    for line in ("SESS:STAR LEFT", "SESS:PAUS", "SESS:CONT"):
        assert world.ask(line) == ["OK"]
    world.close()
