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
from firmware_py.terms.words import say
from host_tools.devices import live
from host_tools.devices.patience import SILENT_S_MAX, Wait
from host_tools.devices.processes import ConsoleLine, FirmwareProcess, Operator
from host_tools.devices.unasked_lines import Progress
from host_tools.errors import HostError
from tests.said import line_of

SILENT = reason(Code.FELL_SILENT, count=9)
A_TONE = ToneTold(3, Route("left"), Purpose.MEASURE, 1000.0, 40.0)

LOOKS_PER_SILENCE = 6


class Standing:
    """A firmware and its operator: it answers, and does nothing by itself."""

    def __init__(self, state: str = "state=listening") -> None:
        self.kills = 0
        self.state = state
        self.asked: list[str] = []

    def work_s(self) -> float:
        return 0.0

    def hear(self, wait: Wait) -> None:
        """It says nothing but at its console."""

    def restart_if_killed(self) -> bool:
        return False

    def ask(self, line: str, doubt: str) -> str:
        assert "has said nothing for" in doubt
        self.asked.append(line)
        return self.state


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> Iterator[ConsoleLine]:
    """A console; every look at the clock finds it much later."""
    times = itertools.count(0.0, SILENT_S_MAX / LOOKS_PER_SILENCE)
    monkeypatch.setattr(live, "Wait", partial(Wait, now_s=lambda: next(times)))
    console = ConsoleLine()
    yield console
    console.close()


def follow(
    console: ConsoleLine, firmware: Standing, board_work_s: Callable[[], float] = lambda: 0.0
) -> Iterator[str]:
    return live.follow(
        cast(Operator, firmware), console, cast(FirmwareProcess, firmware), Console(quiet=True),
        Progress(), board_work_s,
    )  # fmt: skip


def test_a_test_that_does_not_go_on_is_told_with_its_state(console: ConsoleLine) -> None:
    firmware = Standing()
    words = (
        r"^the test does not go on: state=listening; the firmware did not tell of the test within "
        r"\d+ s: .* and does not work .*; run the command again"
    )
    with pytest.raises(HostError, match=words):
        list(follow(console, firmware))
    assert firmware.asked == ["SESS:STAT?"]


def test_a_test_that_ended_unheard_has_ended(console: ConsoleLine) -> None:
    assert set(follow(console, Standing("state=finished"))) == {""}


def test_a_line_begins_a_wait_anew(console: ConsoleLine) -> None:
    firmware = Standing()
    port = os.open(console.port, os.O_RDWR | os.O_NOCTTY)
    followed = follow(console, firmware)
    for _ in range(3 * LOOKS_PER_SILENCE):
        os.write(port, f"{line_of(A_TONE)}\r\n".encode())
        while next(followed) == "":
            continue
    os.write(port, b"! session-over session=1\r\n")
    assert "! session-over session=1" in [*followed]
    assert firmware.asked == []
    os.close(port)


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (ListenerCheckTold(Route("left"), (SILENT,)), f"left ear, broken off: {say(SILENT)}"),
        (EquipmentCheckTold(Route("left"), (SILENT,)), f"left ear, broken off: {say(SILENT)}"),
        (EarCheckTold(SILENT), say(SILENT)),
        (EarphonesTold(SILENT), say(SILENT)),
        (BoardLostTold((SILENT,)), f"the tone generator is lost: {say(SILENT)}"),
    ],
)
def test_what_the_operator_is_to_do_is_shown(
    console: ConsoleLine, told: Tell, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    port = os.open(console.port, os.O_RDWR | os.O_NOCTTY)
    said = (line_of(told), line_of(GoingOnTold()), "! session-over session=1")
    os.write(port, "".join(f"{line}\r\n" for line in said).encode())
    firmware = cast(FirmwareProcess, Standing())
    list(live.follow(cast(Operator, firmware), console, firmware, Console(width=100), Progress()))
    assert capsys.readouterr().out.splitlines() == [shown, "the test goes on"]
    os.close(port)


@pytest.mark.parametrize("somebody", [True, False])
def test_who_plays_the_operator_places_the_vibrator_and_says_so(
    console: ConsoleLine, somebody: bool
) -> None:
    port = os.open(console.port, os.O_RDWR | os.O_NOCTTY)
    done: list[str] = []

    class Obedient(Standing):
        def ask(self, line: str, doubt: str = "") -> str:
            os.write(port, b"! session-over session=1\r\n")
            done.append(line)
            return "OK"

    os.write(port, f"{line_of(PlacingTold(SILENT))}\r\n".encode())
    if not somebody:
        os.write(port, b"! session-over session=1\r\n")
    list(live.follow(
        cast(Operator, Obedient()), console, cast(FirmwareProcess, Standing()),
        Console(quiet=True), Progress(),
        place=(lambda: done.append("placed")) if somebody else None,
    ))  # fmt: skip
    assert done == (["placed", "SESS:CONT"] if somebody else [])
    os.close(port)


@pytest.mark.parametrize("check", ["placing", "listener"])
def test_one_that_is_gone_on_with_may_wait_for_the_vibrator(check: str) -> None:
    class Waiting(Standing):
        def greet(self) -> str:
            return f"state=paused ear=left tones=3 heard=1 prior=shipped check={check} why=so"

    begun = live.begin(cast(Operator, Waiting()), Namespace(), {}, Console(quiet=True))
    assert begun.placing == (check == "placing")


def test_a_firmware_that_was_killed_as_it_was_told_to_go_on_is_met_anew(
    console: ConsoleLine,
) -> None:
    """Another one neither knows of the vibrator nor tells anything unasked before it is asked."""
    port = os.open(console.port, os.O_RDWR | os.O_NOCTTY)
    waits = "state=paused ear=right transducer=bone tones=3 heard=1 check=placing why=place"
    done: list[str] = []

    class Killed(Standing):
        def ask(self, line: str, doubt: str = "") -> str:
            self.kills = 1
            done.append(line)
            if len(done) > 2:
                os.write(port, b"! session-over session=1\r\n")
            return "OK"

        def greet(self) -> str:
            done.append("greeted")
            return waits

    os.write(port, f"{line_of(PlacingTold(SILENT))}\r\n".encode())
    firmware = Killed()
    list(live.follow(
        cast(Operator, firmware), console, cast(FirmwareProcess, firmware), Console(quiet=True),
        Progress(), place=lambda: None,
    ))  # fmt: skip
    assert done == ["SESS:CONT", "greeted", "SESS:CONT"]
    os.close(port)


def test_while_the_board_computes_the_test_goes_on(console: ConsoleLine) -> None:
    firmware = Standing()
    worked = itertools.count(0.0, 0.5)
    followed = follow(console, firmware, lambda: next(worked))
    for _ in range(3 * LOOKS_PER_SILENCE):
        assert next(followed) == ""
    assert firmware.asked == []
