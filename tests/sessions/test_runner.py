"""The order of things between wire, procedure and journal, and what must not disturb it."""

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from device.simulator.virtual_clock import STARTED, S, VirtualClock
from device.simulator.world import World
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.ear import ear as ear_test
from firmware_py.ear.levels import Levels
from firmware_py.inference.estimator import InferenceError, ThresholdEstimator, TrialLimitError
from firmware_py.journal import JournalWriter, read_journal
from firmware_py.link.client import Client
from firmware_py.link.notices import Lost, Missed, ToneStarted, UnknownEvent
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.presenting.presenter import LISTENING, PAUSE_BEFORE, STARTING
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.runner import Runner
from firmware_py.sessions.session import HearingSession, Session
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms.events import Aborted, ButtonPressed, Started, as_record
from firmware_py.terms.person import UNKNOWN, Person
from firmware_py.terms.reasons import Code, as_json, reason
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.settings import Settings
from host_tools.errors import HostError
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.budget import quick
from tests.firmware.whole_sessions import (
    ONE_EAR,
    ONE_WHOLE_EAR,
    a_listener,
    asked_again_though_answered,
    records_of,
    result_of,
    run_session,
    stimuli_of,
)
from tests.journal.simulated_disk import Fault, SimulatedDisk
from tests.said import example

pytestmark = pytest.mark.usefixtures("quick_disk")

SETTINGS = Settings.from_record(ONE_EAR)
JOURNAL = Path("/data/session-000001.journal")  # on a simulated disk


def a_world(directory: Path, tones: int = 5, **options: Any) -> World:
    """Return a world in which a test has begun and some tones were played."""
    world = World(directory, a_listener("S2"), **options)
    world.begin(SETTINGS)
    world.until(lambda: len(world.board.played) == tones)
    return world


def test_a_journal_says_when_it_was_begun_by_the_clock_that_was_handed_in(one_ear: Path) -> None:
    assert read_journal(one_ear).header["started"] == STARTED.isoformat()


def test_what_comes_after_the_end_is_not_recorded(tmp_path: Path) -> None:
    """The press that ends a test and what follows it may come in the same bytes."""
    world = a_world(tmp_path)
    world.runner.feed(Aborted.by(Code.ABORTED))
    world.runner.feed(ButtonPressed(1))
    world.end()

    assert read_journal(world.journal()).complete
    assert records_of(world.journal(), "input")[-1] == {
        "what": "aborted",
        "why": [{"code": "aborted"}],
    }
    assert result_of(world.journal())["outcome"] == "aborted"


def test_a_tone_of_another_session_is_none_of_this_one(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    session = world.runner.session
    assert session is not None
    presenter = session.test.presenter
    world.until(lambda: presenter.state == PAUSE_BEFORE and not presenter.trial.is_catch)
    world.clock.us += 10 * S
    session.pass_time()
    assert presenter.state == STARTING
    for session_of_tone in ("2", "999", ""):
        tone_id = f"{session_of_tone}-{session.test.number}"
        world.runner.notice(ToneStarted(world.client.last_event, tone_id, world.board.now_us))
        assert presenter.state == STARTING
    own = f"1-{session.test.number}"
    world.runner.notice(ToneStarted(world.client.last_event, own, world.board.now_us))
    assert presenter.state == LISTENING
    world.close()


@pytest.mark.parametrize(
    ("disbelieved", "what"), [(True, "board-disbelieved"), (False, "board-lost")]
)
def test_a_board_that_told_what_cannot_be_is_lost_otherwise_than_one_that_is_silent(
    tmp_path: Path, *, disbelieved: bool, what: str
) -> None:
    world = a_world(tmp_path)
    world.runner.notice(Lost("its clock went back", disbelieved))
    world.runner.settle()
    assert records_of(world.journal(), "input")[-1]["what"] == what
    world.close()


@pytest.mark.parametrize("speed", quick([1, 40], 40))
@pytest.mark.parametrize("cut_s", [0.5, 1.5, 4.0])
def test_a_wire_that_is_cut_for_a_while_changes_nothing(
    tmp_path: Path, one_ear: Path, speed: int, cut_s: float
) -> None:
    world = a_world(tmp_path, speed=speed)
    session = world.runner.session
    assert session is not None
    world.until(lambda: session.test.state == PAUSE_BEFORE)
    world.wire_cut = True
    world.run(round(cut_s * S))
    world.wire_cut = False
    world.end()

    assert any(isinstance(notice, Lost) for notice in world.notices) == (cut_s > 2.0)
    assert stimuli_of(world.journal()) == stimuli_of(one_ear)
    assert result_of(world.journal()) == result_of(one_ear)


class SlowWire(World):
    """Every frame of the board takes five milliseconds, in which the test lives five seconds."""

    SPEED = 1000
    _free = False

    def _from_board(self) -> bytes:
        frames, self._free = int(self._free), False
        return self.board.transmit(frames_max=frames)

    def _next_us(self) -> int:
        self._free = True
        return self.clock.us + 5000


def test_a_tone_whose_beginning_is_told_late_is_not_asked_again(
    tmp_path: Path, one_ear: Path
) -> None:
    world = SlowWire(tmp_path, a_listener("S2"), speed=SlowWire.SPEED)
    world.begin(SETTINGS)
    world.end()

    plays = [a for a in records_of(world.journal(), "output") if a["what"] == "play"]
    assert plays == stimuli_of(one_ear)
    assert result_of(world.journal()) == result_of(one_ear)


def test_events_that_the_board_forgot_have_the_tone_asked_again(tmp_path: Path) -> None:
    """While the firmware was off, the button was pressed more often than the board remembers."""
    (tmp_path / "before").mkdir()
    world = World(tmp_path / "before", a_listener("S2", false_alarm_rate=1.0))
    world.begin(SETTINGS)
    world.until(lambda: len(world.board.played) == 5)
    world.board.advance(world.board.next_deadline_us() or 0)
    world.clock.us += 300 * S  # nobody asks, and a slot of 2.5 s has a press
    after = world.fork(tmp_path / "after")
    after.end()
    world.close()

    missed = [notice for notice in after.notices if isinstance(notice, Missed)]
    assert len(missed) == 1
    assert missed[0].count > 0
    why = [e["why"] for e in records_of(after.journal(), "input") if e["what"] == "board-lost"]
    assert why == [[{"code": "events-lost", "count": missed[0].count}]]
    marks = [r["board"][1] for r in read_journal(after.journal()).records if "board" in r]
    assert marks == sorted(marks), "none is ahead of what is recorded behind it"
    assert missed[0].event in marks
    assert replay_journal(after.journal()).code == IDENTICAL
    assert asked_again_though_answered(after.journal()) == []


def test_a_board_that_another_firmware_used_meanwhile(tmp_path: Path, one_ear: Path) -> None:
    """What happened is acknowledged, hence forgotten, and nobody here was told."""
    (tmp_path / "before").mkdir()
    world = a_world(tmp_path / "before")
    other = world.fork(tmp_path / "other")
    other.run(20 * S)
    world.board, world.clock.us = other.board, other.clock.us
    world.client.connect(world.clock.us)
    world.finish()
    for each in (world, other):
        each.close()

    assert stimuli_of(world.journal()) == stimuli_of(one_ear)
    assert replay_journal(world.journal()).code == IDENTICAL


# Two buttons


def buttons_of(journal: Path) -> list[int]:
    return [e["button"] for e in records_of(journal, "input") if e["what"] == "button-down"]


def test_both_buttons_are_recorded_and_what_was_recorded_comes_out_again(
    two_buttons: Path,
) -> None:
    assert set(buttons_of(two_buttons)) == {1, 2}
    (ear,) = result_of(two_buttons)["ears"]
    assert ear["tones_unsure"] == buttons_of(two_buttons).count(2)
    assert replay_journal(two_buttons).code == IDENTICAL
    assert replay_journal(two_buttons).unsure == ear["tones_unsure"]
    assert asked_again_though_answered(two_buttons) == []


def test_where_there_is_no_second_button_its_presses_are_recorded_and_ignored(
    tmp_path: Path,
) -> None:
    listener = a_listener("S2", unsure_half_width_db=4.0)
    journal = run_session(tmp_path / "data", listener, ONE_WHOLE_EAR)
    (ear,) = result_of(journal)["ears"]

    assert buttons_of(journal).count(2) > 3
    assert ear["tones_unsure"] == result_of(journal)["stray_presses"] == 0
    assert replay_journal(journal).code == IDENTICAL
    assert asked_again_though_answered(journal) == []


def test_an_event_that_is_not_of_the_wire_is_told_and_not_recorded(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    before = len(records_of(world.journal(), "input"))
    world.firmware.take([UnknownEvent(world.client.last_event + 1, "button-down")])
    world.runner.settle()

    assert world.told[-1] == ("foreign-event", {"verb": "button-down"})
    assert len(records_of(world.journal(), "input")) == before
    world.close()


# Who is tested


def test_the_header_says_who_was_tested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Person] = []
    real = ear_test._estimator

    def estimator(settings: Settings, person: Person, levels: Levels, prior: None) -> Any:
        told.append(person)
        return real(settings, UNKNOWN, levels, prior)

    monkeypatch.setattr(ear_test, "_estimator", estimator)
    (tmp_path / "before").mkdir()
    world = World(tmp_path / "before", a_listener("S2"))
    world.begin(SETTINGS, Person(67.5, "F"))
    world.until(lambda: len(world.board.played) == 3)
    other = world.fork(tmp_path / "after")
    other.end()
    world.close()

    assert read_journal(other.journal()).header["person"] == {
        "age_years": 67.5,
        "sex": "F",
        "identifier": None,
    }
    assert replay_journal(other.journal()).code == IDENTICAL
    assert told == [Person(67.5, "F")] * 3, "at the start, when resumed, and when replayed"


def test_the_longest_result_fits_into_a_record(tmp_path: Path) -> None:
    """Twenty numbers of full length, and all the words that there can be."""
    test = HearingTest(Settings(catch_rate=0.5, unsure_button=True))
    number = -100.12345678901234
    why = [
        example(Code.CAP_KEPT), example(Code.WIDE_STILL),
        reason(Code.PERHAPS_BEYOND, limit_db_hl=100.12, frequencies_hz=AUDIOGRAM_FREQUENCIES_HZ),
        example(Code.INATTENTIVE), example(Code.ANOTHER_LISTENER),
    ]  # fmt: skip
    told, result = as_json(why), test.result().to_record()
    for ear in result["ears"]:
        ear.update(why=told, outcome="incomplete", retest_difference_db=number)
        for found in ear["thresholds"]:
            found.update(dict.fromkeys(found, number), frequency_hz=8000, mark="no-response")
    result["response_time_mean_ms"] = number
    result["remarks"] = told * 3
    path = tmp_path / "session-000001.journal"
    a_journal(path, TOLD, {"kind": "output", "action": {"what": "finish", "result": result}})

    assert path.stat().st_size > 5000


# Journals that are not what they should be


HEADER = SessionHeader(
    1, STARTED.isoformat(), Settings.from_record(ONE_EAR), UNKNOWN, CalibrationInForce()
)
TOLD = HEADER.to_record()
STARTED_INPUT = {"kind": "input", "at_us": 1, "event": as_record(Started())}


def a_journal(path: Path, header: dict[str, Any], *records: dict[str, Any]) -> None:
    with JournalWriter.create(path, header) as writer:
        for record in records:
            writer.append(record)


def flip(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]


FOREIGN: dict[str, Any] = {
    "text": (b"hello\n" * 100, "is no journal: line 1"),
    "bytes": (bytes(range(256)) * 20, "is no journal: line 1"),
    "zeros": (bytes(5000), "was never begun: nothing had been recorded"),
    "empty": (b"", "was never begun: nothing had been recorded"),
    "other header": (({"a": 1},), "the header has no 'session'"),
    "other event": (
        (TOLD, {**STARTED_INPUT, "event": {"what": "dance"}}),
        "record 1: event is {'what': 'dance'}; allowed is",
    ),
    "event no event": ((TOLD, {**STARTED_INPUT, "event": ["started"]}), "record 1: "),
    "no event": ((TOLD, {"kind": "input", "at_us": 1}), "record 1: event is None; allowed is"),
    "other stimulus": (
        (TOLD, STARTED_INPUT, {"kind": "output", "action": {"what": "play", "number": 9}}),
        "it cannot be gone on with here",
    ),
}


@pytest.mark.parametrize("case", quick(FOREIGN, *[*FOREIGN][::3]))
def test_a_foreign_journal_is_named_and_left_and_the_next_test_takes_the_next_number(
    tmp_path: Path, case: str
) -> None:
    content, words = FOREIGN[case]
    path = tmp_path / "session-000001.journal"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        a_journal(path, *content)
    before = path.read_bytes()

    world = World(tmp_path, a_listener("S2"))
    (said,) = world.wrong
    world.begin(SETTINGS)
    world.end()

    assert words in said
    assert path.name in said
    assert path.read_bytes() == before
    assert world.journal().name == "session-000002.journal"
    assert result_of(world.journal())["outcome"] == "complete"


@pytest.mark.parametrize(
    ("kind", "named"),
    [(InferenceError, ""), (TrialLimitError, ""), (ZeroDivisionError, "ZeroDivisionError: ")],
)
def test_an_answer_that_cannot_be_weighed_ends_one_life_of_the_firmware_and_not_every_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Exception], named: str
) -> None:
    """Its input is in the journal, and comes to the same at every start."""
    observe = ThresholdEstimator.observe

    def failing(estimator: ThresholdEstimator, *answer: Any) -> None:
        observe(estimator, *answer)
        if estimator.trial_count == 3:
            raise kind("three are too many")

    monkeypatch.setattr(ThresholdEstimator, "observe", failing)
    world = a_world(tmp_path, tones=0)
    with pytest.raises(kind):
        world.finish()
    world.close()
    path = world.journal()
    before = path.read_bytes()

    again = World(tmp_path, a_listener("S2"))
    last = len(read_journal(path).records) - 1
    words = f"record {last}: {named}three are too many"
    assert again.wrong == [f"{path.name}: {words}; it is left as it is"]
    assert path.read_bytes() == before
    with pytest.raises(HostError, match=words):
        replay_journal(path)
    monkeypatch.undo()
    again.begin(SETTINGS)
    again.end()
    assert again.journal().name == "session-000002.journal"


@pytest.mark.parametrize("for_ever", [False, True])
def test_a_card_that_fails_to_read_once_often_reads_the_next_time(for_ever: bool) -> None:
    disk = SimulatedDisk()
    begun: HearingSession = Session.begin(JOURNAL, HEADER, VirtualClock(1), disk=disk)
    begun.close()
    runner = Runner(
        DataDirectory(JOURNAL.parent, disk=disk), Client(lambda: "0" * 8), VirtualClock(1),
        lambda what, about: None,
    )  # fmt: skip
    at = len(disk.calls) + 4  # after names, open and size: the header is read
    disk.fail(Fault(at, errno.EIO, for_ever))
    wrong = runner.load_last()
    assert runner.running is not for_ever
    assert len(wrong) == for_ever
    assert all("Input/output error (EIO); it is left as it is" in words for words in wrong)


@pytest.mark.parametrize("part", ["header", "middle", "before the end"])
def test_a_flipped_bit_is_named_and_what_came_before_it_counted(
    tmp_path: Path, one_ear: Path, part: str
) -> None:
    content = one_ear.read_bytes()
    at = {"header": 200, "middle": len(content) // 2, "before the end": len(content) - 4200}[part]
    path = tmp_path / "session-000001.journal"
    path.write_bytes(flip(content, at))

    world = World(tmp_path, a_listener("S2"))
    (said,) = world.wrong
    world.close()

    line = content[:at].count(b"\n") + 1
    assert f"damaged at line {line}" in said
    assert f"its first {line - 1} records are good; it is left as it is" in said
    assert path.read_bytes() == flip(content, at)


def test_something_that_is_no_file_is_left_and_its_number_not_used(tmp_path: Path) -> None:
    """A link or a pipe with such a name is nobody's journal either; nothing is read through it."""
    (tmp_path / "session-000001.journal").mkdir()
    world = World(tmp_path, a_listener("S2"))
    assert world.wrong == []
    world.begin(SETTINGS)
    world.close()
    assert world.journal().name == "session-000002.journal"


def test_a_session_over_but_for_its_last_record_is_ended(tmp_path: Path, one_ear: Path) -> None:
    lines = one_ear.read_bytes().splitlines(keepends=True)
    assert json.loads(lines[-1])["kind"] == "end"
    path = tmp_path / "session-000001.journal"
    path.write_bytes(b"".join(lines[:-1]))
    world = World(tmp_path, a_listener("S2"))
    assert world.runner.session is None
    assert world.runner.last_test is not None
    world.close()
    assert read_journal(path).complete
