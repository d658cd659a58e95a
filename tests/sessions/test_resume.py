"""Resuming is replaying: wherever a session was cut, it ends as if it had not been."""

import itertools
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from device.simulator.virtual_clock import MS, S
from device.simulator.world import World
from firmware_py.journal import SealKey, read_journal
from firmware_py.link.notices import ButtonPressed, Greeted, Lost
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.presenting.pace import Pace
from firmware_py.presenting.presenter import FINISHED, LATE, PAUSE_BEFORE
from firmware_py.terms.events import Continued, Paused
from firmware_py.terms.settings import Settings
from tests.budget import either, quick
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
from tests.link.misfits import MisfitBoard

# They cut the same sessions, which are run once.
pytestmark = [pytest.mark.usefixtures("quick_disk"), pytest.mark.xdist_group("resume")]

PARTS = 32  # of the cuts: one is enough to see that it works, all to see that it does everywhere
KILLS_PARTS = 4
RECORDS_TO_A_CUT_INSIDE = 3
STEPS_BETWEEN_KILLS = 7
NEW_BOOT = 0xB008
SLOW_S = 0.5  # the median response time of somebody of whose answers some are late


def parts(count: int) -> list[Any]:
    """Return the numbers of parts, of which only the first is for every day."""
    return quick(range(count), 0)


def resume(directory: Path, content: bytes, audiogram: str, **listener: Any) -> World:
    """Return a world with this journal, and a board that was started anew, after its session."""
    directory.mkdir()
    (directory / "session-000001.journal").write_bytes(content)
    world = World(directory, a_listener(audiogram, **listener), boot=NEW_BOOT)
    world.end()
    return world


def ends(content: bytes) -> list[int]:
    """Return where the records end, the header first."""
    return [*itertools.accumulate(len(line) for line in content.splitlines(keepends=True))]


def cuts(content: bytes) -> Iterator[int]:
    """Return every record boundary behind the header, and a byte inside every third record."""
    chance = random.Random(1)
    yield from ends(content)
    for begin, end in [*itertools.pairwise(ends(content))][::RECORDS_TO_A_CUT_INSIDE]:
        yield chance.randrange(begin + 1, end)


def assert_ends_as_uncut(
    directory: Path, journal: Path, cut: int, audiogram: str, **listener: float
) -> None:
    """Nothing that was recorded is touched, and the rest comes as it did."""
    content = journal.read_bytes()
    world = resume(directory / f"at-{cut}", content[:cut], audiogram, **listener)

    assert result_of(world.journal()) == result_of(journal), cut
    assert stimuli_of(world.journal()) == stimuli_of(journal), cut
    recorded = max(end for end in ends(content) if end <= cut)
    assert world.journal().read_bytes().startswith(content[:recorded]), cut
    assert [("torn end" in words) for words in world.wrong] == [True] * (recorded < cut), cut


@pytest.mark.parametrize("part", parts(PARTS))
def test_a_session_cut_at_any_byte_ends_as_if_it_had_not_been(
    tmp_path: Path, one_ear: Path, part: int
) -> None:
    for cut in [*cuts(one_ear.read_bytes())][part::PARTS]:
        assert_ends_as_uncut(tmp_path, one_ear, cut, "S2")


# Audiogram, listener, and settings or the fixture that has the session; of how many records there
# is a cut, every day and in the thorough tests; how many of the end are cut, 0: all.
OTHER_SESSIONS: dict[str, tuple[str, dict[str, Any], Any, tuple[int, int], int]] = {
    "two ears": ("N4", {}, "two_ears", (370, 37), 0),
    "unsure answers": ("N3", {"unsure_half_width_db": 4.0}, "two_buttons", (110, 7), 0),
    "clinical": ("S2", {}, {**ONE_EAR, "conduct": "clinical"}, (110, 11), 0),
    "confirmation": ("S2", {}, {**ONE_WHOLE_EAR, "confirm": "hughson-westlake"}, (30, 7), 60),
}


@pytest.mark.parametrize("what", OTHER_SESSIONS)
def test_the_same_with_other_sessions(
    tmp_path: Path, what: str, request: pytest.FixtureRequest
) -> None:
    audiogram, listener, of, steps, last = OTHER_SESSIONS[what]
    journal: Path = (
        request.getfixturevalue(of) if isinstance(of, str)
        else run_session(tmp_path / "whole", a_listener(audiogram, **listener), of)
    )  # fmt: skip
    confirmed = [each for ear in result_of(journal)["ears"] for each in ear["confirmed"]]
    assert len(confirmed) == 2 * (what == "confirmation")
    for cut in ends(journal.read_bytes())[-last :: either(*steps)]:
        assert_ends_as_uncut(tmp_path, journal, cut, audiogram, **listener)


def test_the_same_with_late_answers_and_a_window_that_follows_them(tmp_path: Path) -> None:
    """Cut at every event of a tone with a late answer: the pause goes on, and the press counts."""
    slow: dict[str, Any] = {"response_time_s": SLOW_S}
    settings = {**ONE_WHOLE_EAR, "tones_max": 40}
    journal = run_session(tmp_path / "whole", a_listener("N2", **slow), settings)
    late, windows_us, pulses = course_of(journal)
    print(f"late answers to {sorted(late)}; windows {windows_us} us; {pulses} pulses")

    assert late
    assert len(set(windows_us)) > 5
    assert len(pulses) > 1, "the train ends with its window"
    assert asked_again_though_answered(journal) == []
    records = read_journal(journal).records
    cut_at = {
        n + 1 for n, inner in enumerate(r.get("event") or r.get("action") or {} for r in records)
        if inner.get("number") in late or inner.get("what") in ("button-down", "board-time")
    }  # fmt: skip
    for n in sorted(cut_at)[:: either(30, 5)]:
        cut = ends(journal.read_bytes())[n - 1]
        assert_ends_as_uncut(tmp_path, journal, cut, "N2", **slow)


def course_of(journal: Path) -> tuple[set[int], list[int], set[int]]:
    """Return which tones had late answers, the window of each tone, and the lengths of trains."""
    records = read_journal(journal).records
    pace = Pace(Settings.from_record(records[0]["settings"]))
    late, windows_us, pulses = set[int](), list[int](), set[int]()
    number, onset_us = 0, None
    for what in (record.get("event") or record.get("action") or {} for record in records):
        match what:
            case {"what": "play"}:
                number, onset_us = what["number"], None
                windows_us.append(pace.window_us)
                pulses.add(what["pulses"])
            case {"what": "tone-on"}:
                onset_us = what["onset_us"]
            case {"what": "button-down", "at_us": at_us} if onset_us is not None:
                if at_us - onset_us > pace.window_us:
                    late.add(number)
                pace.take_answer(at_us - onset_us)
                onset_us = None
    return late, windows_us, pulses


@pytest.mark.parametrize("part", parts(KILLS_PARTS))
def test_a_firmware_killed_at_any_moment_beside_a_board_that_goes_on(
    tmp_path: Path, part: int
) -> None:
    """A press on its way when the tone was cut is one on its own afterwards; all else is equal."""
    listener = a_listener("S2")
    undisturbed = run_session(tmp_path / "undisturbed", listener, ONE_EAR)
    world = World(tmp_path / "world", listener)
    world.begin(Settings.from_record(ONE_EAR))
    for step in itertools.count():
        if world.runner.session is None:
            break
        if step % (KILLS_PARTS * STEPS_BETWEEN_KILLS) == part * STEPS_BETWEEN_KILLS:
            other = world.fork(tmp_path / f"killed-{step}")
            other.end()

            _assert_same_but_stray_presses(other.journal(), undisturbed)
            assert asked_again_though_answered(other.journal()) == [], step
        world.step()
    world.close()


def greet_with_a_press(world: World) -> int:
    """Greet the board anew and have a button pressed, told in the bytes of its last answer.

    Or with the first time, if the board was not met before. Return when, on the board's clock.
    """
    world.client.connect(world.clock.us)
    for _ in ("hello", "serial"):
        world.board.receive(world.client.transmit(), world.board_us())
        world.firmware.take(world.client.receive(world.board.transmit(), world.clock.us))
    world.board.receive(world.client.transmit(), world.board_us())
    pressed_us = world.board_us()
    press = {"us": pressed_us, "button": 1}
    world.board.server.outbox.put_event("button-down", press)
    world.firmware.take(world.client.receive(world.board.transmit(), world.clock.us))
    for _ in ("ping", "events"):
        if not isinstance(world.notices[-1], ButtonPressed):
            world.client.advance(world.clock.us)
            world.board.receive(world.client.transmit(), world.board_us())
            world.firmware.take(world.client.receive(world.board.transmit(), world.clock.us))
    world.runner.settle()
    assert [type(notice) for notice in world.notices[-2:]] == [Greeted, ButtonPressed]
    return pressed_us


def begin_test(directory: Path) -> World:
    """Return a world killed when its test had begun, and before the board was met again."""
    world = World(directory, a_listener("S2"))
    world.begin(Settings.from_record(ONE_EAR))
    world.close()
    header = world.journal().read_bytes().splitlines(keepends=True)[0]
    world.journal().write_bytes(header)
    return world.fork(directory.with_name("again"))


def in_a_pause(directory: Path) -> World:
    """Return a world in the pause before a tone, in which all that happened has been told."""
    world = World(directory, a_listener("S2"))
    world.begin(Settings.from_record(ONE_EAR))
    world.until(lambda: len(world.board.played) == 3)
    session = world.runner.session
    assert session is not None

    def all_is_told() -> bool:
        world.board.advance(world.board_us())
        told = world.client.last_event == world.board.server.outbox.newest_event
        return told and world.board.tone is None and session.test.state == PAUSE_BEFORE

    world.until(all_is_told)
    return world


@pytest.mark.parametrize(("before", "last"), [(begin_test, "started"), (in_a_pause, "board-ready")])
def test_a_press_that_came_with_a_greeting_is_asked_for_again_if_only_that_was_recorded(
    tmp_path: Path, before: Callable[[Path], World], last: str
) -> None:
    """A power cut may tear what is written in two: the greeting is then no word of the press."""
    world = before(tmp_path / "world")
    pressed_us = greet_with_a_press(world)
    world.close()
    tear_after(world.journal(), last)
    release = {"us": world.board_us() + MS, "button": 1}
    world.board.server.outbox.put_event("button-up", release)

    after = world.fork(tmp_path / "after")
    after.end()

    presses = [e for e in records_of(after.journal(), "input") if e["what"] == "button-down"]
    assert [press["at_us"] for press in presses].count(pressed_us) == 1


def tear_after(path: Path, last: str) -> None:
    """Cut a journal behind its last input of this kind, within the record that follows."""
    lines = path.read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line).get("event", {}).get("what") for line in lines]
    at = len(kinds) - 1 - kinds[::-1].index(last)
    assert "button-down" in kinds[at + 1 :]
    path.write_bytes(b"".join(lines[: at + 1]) + lines[at + 1][:20])


def test_a_journal_that_was_never_begun_is_passed_over(tmp_path: Path, one_ear: Path) -> None:
    header = one_ear.read_bytes()[: ends(one_ear.read_bytes())[0]]
    (tmp_path / "session-000001.journal").write_bytes(one_ear.read_bytes())
    for cut in (0, 1, len(header) // 2, len(header) - 1):
        (tmp_path / "session-000002.journal").write_bytes(header[:cut])
        world = World(tmp_path, a_listener())
        assert world.wrong == ["session-000002.journal was never begun: nothing had been recorded"]
        assert world.runner.last_test is not None, "the result of the session before is shown"
        assert world.runner.last_test.state == FINISHED
        world.close()


KEY = SealKey(bytes(range(32)))
STILL_THERE = "; it is left as it is"


def leave_alone(directory: Path, content: bytes, name: str, key: SealKey | None) -> list[str]:
    """Start a device with a journal that is not gone on with; return what is said."""
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_bytes(content)
    world = World(directory, a_listener(), data=partial(DataDirectory, seal_key=key))
    world.close()
    assert world.runner.session is None
    assert world.runner.last_test is None, "nor is its result shown"
    assert path.read_bytes() == content
    assert not any(what == "resumed" for what, _ in world.told)
    return world.wrong


@pytest.mark.parametrize("key", quick([KEY, None], KEY))
@pytest.mark.parametrize("records", [80, None])
def test_a_journal_with_the_name_of_another_session_is_left_alone(
    tmp_path: Path, key: SealKey | None, records: int | None
) -> None:
    """Cut or whole: it would be taken for that of the person who sits there now."""
    settings = Settings.from_record({**ONE_EAR, "tones_max": 20})
    world = World(tmp_path / "begun", a_listener(), data=partial(DataDirectory, seal_key=key))
    world.begin(settings)
    content = b"".join(world.end().read_bytes().splitlines(keepends=True)[:records])

    wrong = leave_alone(tmp_path / "renamed", content, "session-000009.journal", key)
    own_name = World(tmp_path / "begun", a_listener(), data=partial(DataDirectory, seal_key=key))
    own_name.close()

    assert wrong == [f"session-000009.journal: its header is that of session 1{STILL_THERE}"]
    assert own_name.wrong == []


def test_a_journal_whose_seals_were_taken_off_is_left_alone(tmp_path: Path, one_ear: Path) -> None:
    """Of a device without a key it is a good one; anybody may have written it."""
    content = b"".join(one_ear.read_bytes().splitlines(keepends=True)[:80])
    name = "session-000001.journal"

    (wrong,) = leave_alone(tmp_path / "stripped", content, name, KEY)

    reason = "is not sealed, and this device seals its journals"
    assert wrong == f"{tmp_path / 'stripped' / name}: {reason}{STILL_THERE}"


def test_a_paused_session_is_still_paused(tmp_path: Path) -> None:
    world = World(tmp_path / "world", a_listener())
    world.begin(Settings.from_record(ONE_EAR))
    world.run(20 * S)
    world.runner.feed(Paused())
    world.step()
    other = world.fork(tmp_path / "other")
    tones = len(other.board.played)
    other.run(60 * S)
    assert len(other.board.played) == tones

    other.runner.feed(Continued())
    other.end()
    world.close()
    assert result_of(other.journal())["outcome"] == "complete"


def _assert_same_but_stray_presses(journal: Path, other: Path) -> None:
    result, wanted = result_of(journal), result_of(other)
    for each in (result, wanted):
        each.pop("stray_presses")
    assert result == wanted
    assert stimuli_of(journal) == stimuli_of(other)


def test_a_board_whose_clock_went_back_while_the_firmware_was_gone_is_asked_again(
    tmp_path: Path,
) -> None:
    """It still knows the tone; but when that was nobody knows any more."""
    listener = a_listener("N7")
    board = MisfitBoard(listener, boot=0xB007)
    world = World(tmp_path / "world", listener, board=board)
    world.begin(Settings.from_record(ONE_EAR))
    world.until(lambda: world.runner.last_test is not None and world.runner.last_test.state == LATE)
    other = world.fork(tmp_path / "other")
    world.close()
    (session,) = {other.runner.session}
    assert session is not None
    assert 0 < session.board.us <= board.now_us

    assert isinstance(other.board, MisfitBoard)
    back_us = session.board.us
    other.board.server.set_clock(lambda us: us - back_us)
    other.run(20 * S)
    (lost,) = (notice for notice in other.notices if isinstance(notice, Lost))
    assert f"its clock has gone back from {back_us}" in lost.why
    assert session.test.number > 1
    other.close()
