"""Boards whose clock or answers are not what the wire page has: named, and believed no more."""

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from firmware_py import link
from firmware_py.board.board_connection import LOSSES_MAX, SOUND_S, TRUE_S
from firmware_py.installation.configuration import Configuration
from firmware_py.link.board_start import (
    BEHIND_US,
    DISORDER_US,
    EARLY_US,
    RATE_TOLERANCE,
    BoardError,
    ClockCheck,
)
from firmware_py.link.client import REPEATS_MAX, Client
from firmware_py.link.command import ANSWER_TIMEOUT_US
from firmware_py.link.notices import ButtonPressed, Greeted, Lost, Notice, TimeTold, ToneStarted
from firmware_py.operator.watch import PRESENTATION_S_MAX, STATE_S_MAX
from tests.link.misfits import Clock, MisfitBoard, MisfitServer
from tests.link.test_client import STEP_US, TONE, Line, connect, make_board, make_client

S = 1_000_000
BROKEN_AT_US = 3 * S


def misfit_line(fault_rate: float = 0.0, seed: int = 11) -> tuple[Line, MisfitServer]:
    """Return a client that has met such a board, which has been right so far."""
    board = MisfitBoard(make_board().hand.listener, boot=0xB007)
    line = Line(make_client(), board, fault_rate, seed)
    line.client.connect(0)
    line.run(BROKEN_AT_US)
    assert line.client.connected
    return line, board.server


def losses(notices: list[Notice]) -> list[Lost]:
    return [notice for notice in notices if isinstance(notice, Lost)]


def standing(us: int) -> int:
    return min(us, BROKEN_AT_US)


def jumping(by_us: int) -> Clock:
    return lambda us: us + by_us * (us >= BROKEN_AT_US)


def drifting(rate: float) -> Clock:
    return lambda us: us + round(rate * max(us - BROKEN_AT_US, 0))


def wrapping(at_us: int) -> Clock:
    return lambda us: us % at_us


BROKEN: dict[str, tuple[Clock, float, str]] = {
    "stands still": (standing, 2.0, "s too far behind this device's"),
    "jumps ahead by an hour": (jumping(3600 * S), 0.5, "s too far ahead of this device's"),
    "jumps ahead by half a second": (jumping(S // 2), 0.5, "s too far ahead of this device's"),
    "jumps back": (jumping(-S), 0.5, "its clock has gone back from"),
    "wraps": (wrapping(5 * S), 3.0, "its clock has gone back from"),
    "goes 5 % too fast": (drifting(0.05), 15.0, "s too far ahead of this device's"),
    "goes 5 % too slow": (drifting(-0.05), 15.0, "s too far behind this device's"),
    "counts milliseconds": (lambda us: us // 1000, 0.5, "its clock has gone back from"),
    "is negative": (lambda us: -us, 0.5, "which wire 1 does not allow"),
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("fault_rate", [0.0, 0.05])
def test_a_clock_that_is_not_that_of_the_page_is_named(how: str, fault_rate: float) -> None:
    line, server = misfit_line(fault_rate)
    clock, within_s, words = BROKEN[how]
    server.set_clock(clock)
    before_us = line.client.told_until_us
    told = line.run(round(within_s * S) + 3 * S * (fault_rate > 0.0))

    (lost,) = losses(told)
    assert words in lost.why
    assert not line.client.connected
    assert before_us > 0


@pytest.mark.parametrize("clock", [lambda _: 7, drifting(0.05), wrapping(S)])
def test_a_clock_is_judged_that_was_never_right(clock: Clock) -> None:
    board = MisfitBoard(make_board().hand.listener, boot=0xB007)
    board.server.set_clock(clock)
    assert len(losses(connect(15 * S, board=board).notices)) == 1


@pytest.mark.parametrize(
    ("clock", "words"),
    [
        (lambda us: us + 10 * S, "s in the future"),
        (lambda us: us - 2 * S, "and had told all before"),
        (lambda _: 0, "and had told all before"),
    ],
)
def test_an_event_of_the_future_or_the_past_is_named(clock: Clock, words: str) -> None:
    line, server = misfit_line()
    server.outbox.clock = clock
    line.client.play(TONE)
    told = line.run(S)
    (lost,) = losses(told)
    assert words in lost.why
    assert lost.disbelieved
    assert not any(isinstance(notice, ToneStarted) for notice in told)


def test_an_event_of_the_future_is_found_out_at_the_first_ping() -> None:
    board = MisfitBoard(make_board().hand.listener, boot=0xB007)
    board.server.outbox.clock = lambda us: us + 60 * S
    (lost,) = losses(connect(S, TONE, board=board).notices)
    assert "in the future" in lost.why


def test_no_event_is_told_before_a_ping_has_told_the_time() -> None:
    """Or the clock may jump between a tone and its press, and nobody could see it."""
    board = MisfitBoard(make_board().hand.listener, boot=0xB007)
    board.server.deaf_to = "ping"
    line = connect(S, board=board)
    board.server.button(1, True, line.now_us)
    line.run(S // 2)
    assert line.client.connected
    assert line.board_events() == []

    board.server.deaf_to = ""
    line.run(S)
    (pressed,) = line.board_events()
    assert isinstance(pressed, ButtonPressed)
    assert (pressed.event, pressed.at_us) == (1, S)


def test_a_clock_that_goes_back_between_two_events_is_named() -> None:
    """Before a ping has told that all is told."""
    clock = ClockCheck()
    clock.bound(10 * S, 1 * S, 1 * S)
    clock.check_event(9 * S, 1 * S)
    clock.check_event(9 * S - DISORDER_US, 1 * S)
    with pytest.raises(BoardError, match="at 8000000 us, and had one at 9000000 us before"):
        clock.check_event(8 * S, 1 * S)


def test_a_press_that_bounced_while_a_tone_began_is_believed_after_a_restart_too() -> None:
    """The journal has the tone, which is later and came first; no ping said that all was told."""
    clock = ClockCheck(latest_us=10 * S)
    clock.bound(11 * S, 1 * S, 1 * S)
    clock.check_event(10 * S - DISORDER_US, 1 * S)
    with pytest.raises(BoardError, match="its clock has gone back from 10000000 to 9000000 us"):
        ClockCheck(latest_us=10 * S).bound(9 * S, 1 * S, 1 * S)


def test_a_ping_whose_answer_was_lost_may_tell_a_time_before_the_events_since() -> None:
    """Asked again it has the answer of then."""
    clock = ClockCheck()
    clock.bound(10 * S, 1 * S, 1 * S)
    clock.check_event(11 * S, 2 * S)
    clock.bound(10 * S + S // 2, 1 * S + S // 2, 2 * S)


@pytest.mark.parametrize("seed", range(5))
def test_a_jump_of_the_clock_never_makes_a_press_a_long_one(seed: int) -> None:
    """Whatever the line loses: what `told_until_us` says, a board whose clock is right could say.

    So a press is not taken for a held button.
    """
    line, server = misfit_line(fault_rate=0.3, seed=seed)
    jump_us = random.Random(seed).randrange(S, 100 * S)
    server.set_clock(lambda us: us + jump_us * (us >= BROKEN_AT_US + 200_000))
    server.button(1, True, line.now_us)
    for _ in range(1000):
        line.run(5_000)
        assert line.client.told_until_us <= line.now_us + EARLY_US + BEHIND_US + S // 20
        if losses(line.notices):
            return
    raise AssertionError(f"a jump by {jump_us} us was not noticed")


def test_a_board_that_is_right_is_believed_however_bad_its_line() -> None:
    for fault_rate, offset_us, rate in ((0.3, 10**15, 0.0), (0.1, 0, 0.005), (0.1, 5, -0.005)):
        board = MisfitBoard(make_board().hand.listener, boot=0xB007)
        board.server.set_clock(lambda us, o=offset_us, r=rate: o + us + round(r * us))  # type: ignore[misc]
        line = connect(0, None, fault_rate, board)
        for number in range(8):
            line.client.play(TONE)
            told = line.run(15 * S)
            assert not losses(told), f"{number}: {losses(told)}"
        assert any(isinstance(notice, ButtonPressed) for notice in line.notices)


def test_a_late_answer_says_nothing_against_a_clock() -> None:
    """What took from 2 s to 3 s may tell any time of that second, and no other."""
    for told_us, is_right in ((6 * S, True), (7 * S, True), (8 * S, False), (5 * S, False)):
        clock = ClockCheck()
        clock.bound(5 * S, 1 * S, 1 * S)
        if is_right:
            clock.bound(told_us, 2 * S, 3 * S)
        else:
            with pytest.raises(BoardError, match=r"behind|ahead"):
                clock.bound(told_us, 2 * S, 3 * S)


def test_a_contact_that_bounces_may_hold_the_time_back_a_little() -> None:
    clock = ClockCheck()
    clock.bound(5 * S, 1 * S, 1 * S)
    clock.bound(6 * S - BEHIND_US, 2 * S, 2 * S)
    with pytest.raises(BoardError, match="behind"):
        clock.bound(6 * S - BEHIND_US, 3 * S, 3 * S)


def test_a_board_that_was_not_believed_is_met_anew_and_its_time_told_again() -> None:
    line, server = misfit_line()
    server.set_clock(jumping(-2 * S))
    line.run(S)
    assert not line.client.connected
    line.client.connect(line.now_us)
    line.run(S)
    line.client.ask_time()
    told = line.run(S)
    assert [type(notice) for notice in told] == [TimeTold]
    greeted = [notice for notice in line.notices if isinstance(notice, Greeted)]
    assert len(greeted) == 2


def test_an_answer_without_fields_and_none_at_all_lose_the_board() -> None:
    for spoil, words in (
        ({"without_fields": True}, "the answer to 'ping' has no event, and wire 1 asks for it"),
        ({"deaf_to": "ping"}, "'ping' was sent 9 times without answer"),
        ({"refuses": "ping"}, "the tone generator refused 'ping': verb"),
    ):
        line, server = misfit_line()
        vars(server).update(spoil)
        assert losses(line.run(3 * S)) == [Lost(words)]


def test_a_board_that_forgets_what_it_has_told_is_lost() -> None:
    """Nobody would ask it for an event that was lost on the way, say the answer to a tone."""
    line, server = misfit_line()
    line.run(1 * S)
    server.button(1, True, line.now_us)
    server.button(1, False, line.now_us)
    assert losses(line.run(1 * S)) == []
    server.forgets = True
    why = "its newest event is 0, and it had told 2 before"
    assert losses(line.run(1 * S)) == [Lost(why, disbelieved=True)]


class SlowLine(Line):
    """Carries so many bytes a second each way, and keeps what waits."""

    def __init__(self, bytes_per_s: float) -> None:
        super().__init__(make_client(), make_board())
        self._bytes_per_s = bytes_per_s
        self._waiting = {"out": b"", "in": b""}
        self._carried = dict.fromkeys(self._waiting, 0.0)

    def _through(self, way: str, data: bytes) -> bytes:
        self._waiting[way] += data
        self._carried[way] += self._bytes_per_s * STEP_US / S
        count = int(self._carried[way])
        self._carried[way] -= count
        come, self._waiting[way] = self._waiting[way][:count], self._waiting[way][count:]
        return come

    def run(self, duration_us: int) -> list[Notice]:
        fresh, end_us = len(self.notices), self.now_us + duration_us
        while self.now_us < end_us:
            self.now_us += STEP_US
            self.notices += self.client.advance(self.now_us)
            self.board.receive(self._through("out", self.client.transmit()), self.now_us)
            come = self._through("in", self.board.transmit())
            self.notices += self.client.receive(come, self.now_us)
        return self.notices[fresh:]


@pytest.mark.parametrize(("bytes_per_s", "works"), [(1, False), (150, False), (600, True)])
def test_a_line_that_is_too_slow_is_no_board_and_one_of_600_bytes_a_second_works(
    bytes_per_s: float, works: bool
) -> None:
    line = SlowLine(bytes_per_s)
    line.client.connect(0)
    for number in range(5):
        line.run(S)
        if line.client.connected:
            line.client.play(replace(TONE, tone_id=f"1-{number}"))
        line.run(6 * S)
    assert bool(losses(line.notices)) is not works
    assert any(isinstance(notice, ButtonPressed) for notice in line.notices) is works


PAGE = (Path(link.__file__).parent / "README.md").read_text(encoding="utf-8")


def test_the_page_has_the_bounds_of_a_clock_and_of_losses() -> None:
    for bound in (
        f"to {RATE_TOLERANCE * 100:g} %", f"to {EARLY_US / S:g} s",
        f"up to {BEHIND_US / S:g} s behind", f"{DISORDER_US / S:g} s.",
        f"{REPEATS_MAX + 1} times, {ANSWER_TIMEOUT_US / S:g} s",
        f"after {LOSSES_MAX} losses in a row, each less than {SOUND_S:g} s",
        f"without {TRUE_S / 60:g} minutes in a row",
        f"`reconnect_s` ({Configuration().reconnect_s:g} s)",
        f"longer than {STATE_S_MAX:g} s", f"asked for {PRESENTATION_S_MAX:g} s",
    ):  # fmt: skip
        assert re.search(re.escape(bound).replace(r"\ ", r"\s"), PAGE), bound


def test_a_clock_that_went_back_while_the_firmware_was_gone_is_named() -> None:
    line, _ = misfit_line()
    boot, event = line.client.boot, line.client.last_event
    for known_us, named in ((line.now_us, False), (60 * S, True)):
        again = Line(Client(lambda: "0000ffff"), line.board)
        again.now_us = line.now_us
        again.client.remember(boot, event, known_us)
        again.client.connect(line.now_us)
        found = losses(again.run(S))
        assert bool(found) is named
        assert all("gone back from 60000000" in lost.why for lost in found)
        line.now_us = again.now_us


def test_for_how_long_a_board_is_on_is_known_between_its_answers_and_never_too_long() -> None:
    clock = ClockCheck()
    assert clock.passed_us(3 * S) == 0, "it has told no time"
    clock.bound(40 * S, asked_us=S, now_us=S + 20_000)
    for later_s in (0, 1, 100):
        was_us = (40 + later_s) * S  # at least: it may have answered before `now_us`
        low_us = was_us - EARLY_US - RATE_TOLERANCE * later_s * S - 1
        assert low_us <= clock.passed_us((1 + later_s) * S + 20_000) <= was_us
