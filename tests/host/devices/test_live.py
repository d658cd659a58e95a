"""A test that is followed goes on as long as anything is said or done about it."""

import itertools
import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

import pytest
from rich.console import Console

from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route
from firmware_py.terms.tells import (
    BoardLostTold,
    EarCheckTold,
    EarphonesTold,
    EquipmentCheckTold,
    GoingOnTold,
    ListenerCheckTold,
    PlacingTold,
    Tell,
    ToneTold,
)
from firmware_py.terms.words import say as words_of
from host_tools.devices import live
from host_tools.devices.patience import SILENT_S_MAX, Wait
from host_tools.devices.processes import ConsoleLine, Operator
from host_tools.devices.unasked_lines import Progress
from host_tools.errors import HostError
from tests.said import line_of

SILENT = reason(Code.FELL_SILENT, count=9)
A_TONE = ToneTold(3, Route("left"), Purpose.MEASURE, 1000.0, 40.0)

LOOKS_PER_SILENCE = 6
OVER = "! session-over session=1"


class Standing:
    """A firmware and its operator: it answers, and does nothing by itself."""

    def __init__(
        self, state: str = "state=listening", answer: Callable[[str], object] = lambda _: None
    ) -> None:
        self.kills = 0
        self.firmware = self
        self.console: ConsoleLine | None = None
        self.state = state
        self.done: list[str] = []
        self._answer = answer

    def work_s(self) -> float:
        return 0.0

    def hear(self, wait: Wait) -> None:
        """It says nothing but at its console."""

    def restart_if_killed(self) -> bool:
        return False

    def greet(self) -> str:
        self.done.append("greeted")
        return self.state

    def ask(self, line: str, doubt: str = "") -> str:
        assert line != "SESS:STAT?" or "has said nothing for" in doubt
        self.done.append(line)
        self._answer(line)
        return self.state if line == "SESS:STAT?" else "OK"


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Iterator[ConsoleLine]:
    """A console; every look at the clock finds it much later."""
    times = itertools.count(0.0, SILENT_S_MAX / LOOKS_PER_SILENCE)
    monkeypatch.setattr(live, "Wait", partial(Wait, now_s=lambda: next(times)))
    console = ConsoleLine()
    yield console
    console.close()


@pytest.fixture
def say(console: ConsoleLine) -> Iterator[Callable[[Tell | str], object]]:
    port = os.open(console.port, os.O_RDWR | os.O_NOCTTY)

    def tell(told: Tell | str) -> None:
        os.write(port, f"{told if isinstance(told, str) else line_of(told)}\r\n".encode())

    yield tell
    os.close(port)


Say = Callable[[Tell | str], object]


def follow(
    console: ConsoleLine, firmware: Standing, board_work_s: Callable[[], float] = lambda: 0.0,
    place: Callable[[], None] | None = None, screen: Console | None = None,
) -> Iterator[str]:  # fmt: skip
    firmware.console = console
    operator = cast(Operator, firmware)
    shown = screen or Console(quiet=True)
    return live.follow(operator, shown, Progress(), board_work_s, place=place)


def test_a_test_that_does_not_go_on_is_told_with_its_state(console: ConsoleLine) -> None:
    firmware = Standing()
    words = (
        r"^the test does not go on: state=listening; the firmware did not tell of the test within "
        r"\d+ s: .* and does not work .*; run the command again"
    )
    with pytest.raises(HostError, match=words):
        list(follow(console, firmware))
    assert firmware.done == ["SESS:STAT?"]


def test_a_test_that_ended_unheard_has_ended(console: ConsoleLine) -> None:
    assert set(follow(console, Standing("state=finished"))) == {""}


def test_a_line_begins_a_wait_anew(console: ConsoleLine, say: Say) -> None:
    firmware = Standing()
    followed = follow(console, firmware)
    for _ in range(3 * LOOKS_PER_SILENCE):
        say(A_TONE)
        while next(followed) == "":
            continue
    say(OVER)
    assert OVER in [*followed]
    assert firmware.done == []


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (ListenerCheckTold(Route("left"), (SILENT,)), f"left ear, broken off: {words_of(SILENT)}"),
        (EquipmentCheckTold(Route("left"), (SILENT,)), f"left ear, broken off: {words_of(SILENT)}"),
        (EarCheckTold(SILENT), words_of(SILENT)),
        (EarphonesTold(SILENT), words_of(SILENT)),
        (BoardLostTold((SILENT,)), f"the tone generator is lost: {words_of(SILENT)}"),
    ],
)
def test_what_the_operator_is_to_do_is_shown(
    console: ConsoleLine, say: Say, told: Tell, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for each in (told, GoingOnTold(), OVER):
        say(each)
    list(follow(console, Standing(), screen=Console(width=100)))
    assert capsys.readouterr().out.splitlines() == [shown, "the test goes on"]


@pytest.mark.parametrize("somebody", [True, False])
def test_who_plays_the_operator_places_the_vibrator_and_says_so(
    console: ConsoleLine, say: Say, somebody: bool
) -> None:
    firmware = Standing(answer=lambda _: say(OVER))
    say(PlacingTold(SILENT))
    if not somebody:
        say(OVER)
    place = (lambda: firmware.done.append("placed")) if somebody else None
    list(follow(console, firmware, place=place))
    assert firmware.done == (["placed", "SESS:CONT"] if somebody else [])


@pytest.mark.parametrize("check", ["placing", "listener"])
def test_one_that_is_gone_on_with_may_wait_for_the_vibrator(check: str) -> None:
    waits = Standing(f"state=paused ear=left tones=3 heard=1 prior=shipped check={check} why=so")
    begun = live.begin(cast(Operator, waits), Namespace(), {}, Console(quiet=True))
    assert begun.placing == (check == "placing")


def test_a_firmware_that_was_killed_as_it_was_told_to_go_on_is_met_anew(
    console: ConsoleLine, say: Say
) -> None:
    """Another one neither knows of the vibrator nor tells anything unasked before it is asked."""

    def answer(_: str) -> None:
        firmware.kills = 1
        if len(firmware.done) > 2:
            say(OVER)

    waits = "state=paused ear=right transducer=bone tones=3 heard=1 check=placing why=place"
    firmware = Standing(waits, answer)
    say(PlacingTold(SILENT))
    list(follow(console, firmware, place=lambda: None))
    assert firmware.done == ["SESS:CONT", "greeted", "SESS:CONT"]


def test_while_the_board_computes_the_test_goes_on(console: ConsoleLine) -> None:
    firmware = Standing()
    worked = itertools.count(0.0, 0.5)
    followed = follow(console, firmware, lambda: next(worked))
    for _ in range(3 * LOOKS_PER_SILENCE):
        assert next(followed) == ""
    assert firmware.done == []
