"""What has to be true of every state of a test, and of every word about its tone generator."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from device.simulator.virtual_clock import S
from firmware_py.console import grammar
from firmware_py.firmware import Firmware, FirmwareError
from firmware_py.presenting.presenter import FINISHED, PAUSED, READY
from firmware_py.sessions.runner import Runner
from firmware_py.sessions.session import HearingSession
from firmware_py.tuning.tuner import Tuner
from tests.journal.simulated_disk import SimulatedDisk
from tests.simulation.story import MISFITS
from tests.simulation.violation import Violation
from tests.simulation.watched_board import WatchedBoard

STATE_US_MAX: Final = 30 * S  # of one state of a short test while the board answers
PAUSE_IS_DONE_US: Final = 120 * S  # after the operator's word, on a slow machine
LATE_US: Final = 60 * S  # after it was let go, what is told of a button may be so late
CLOCKS_DIFFER: Final = frozenset(
    {kind for kind in MISFITS if "clock" in kind or "future" in kind} | {"asleep with its clock"}
)
# What may lose a board again and again.
WIRE_FAILS: Final = frozenset(MISFITS) | {
    "board reset", "board swapped", "board without noise", "board hangs", "tone port gone",
    "tone port renamed", "tone port leads elsewhere", "tone port takes nothing", "disk slow",
    "asleep with its clock", "not scheduled", "power cut of all",
}  # fmt: skip
OPEN_MAX: Final = 3
OPENED_AT_START_MAX: Final = 8
UNTRUE: Final = ("its clock", "has no ", "does not allow")

# What is reported when a test is paused without the operator.
PAUSED_FOR: Final = {
    grammar.BUTTON_STUCK, grammar.TONE_GENERATOR_CHANGED, grammar.SESSION_WAITS,
}  # fmt: skip


class Surroundings(Protocol):
    """What is true outside the firmware."""

    board: WatchedBoard
    befallen: set[str]
    reported: list[str]
    operator: Any
    clock: Any
    disk: SimulatedDisk
    story: Any


class WatchedFirmware(Firmware):
    """A firmware whose tests and reports are looked at."""

    watch: "Watch"

    @property
    def runner(self) -> Runner:
        return self._runner

    @property
    def tuner(self) -> Tuner | None:
        return next((each for each in self._drivers if isinstance(each, Tuner)), None)

    def _start(self) -> list[str]:
        with self.watch.starting():
            return super()._start()

    def step(self) -> None:
        super().step()
        self.watch.look(self._runner.session, answered=self._board.client.connected)

    def _report(self, number: int, words: str) -> None:
        self.watch.check_report(number, words)
        super()._report(number, words)

    def _last_words(self, code: int, number: int, words: str) -> FirmwareError:
        self.watch.ending(words)
        return super()._last_words(code, number, words)


class Watch:
    """Holds what the firmware says of boards and buttons to what they are."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._reasons: list[int] = []  # reported since the last look
        self._place: object = None
        self._lasted_us, self._looked_us = 0, around.clock.us
        self._was: tuple[Path, str] | None = None

    @contextmanager
    def starting(self) -> Iterator[None]:
        """Check that as much is read at a start, however many journals there are."""
        disk = self._around.disk
        before = disk.calls.count("open")
        yield
        opened = disk.calls.count("open") - before
        if opened > OPENED_AT_START_MAX:
            raise Violation(f"{opened} files were opened at a start")

    def look(self, session: HearingSession | None, *, answered: bool) -> None:
        """Check the state of the test under way: how long it lasts, and why it is paused."""
        if self._around.disk.opened > OPEN_MAX:
            raise Violation(f"{self._around.disk.opened} files are open")
        now_us = self._around.clock.us
        here = None if session is None else (session.journal.path, session.test.state)
        number = 0 if session is None else session.test.number
        stays = here is not None and here[1] not in (READY, PAUSED, FINISHED) and answered
        if (here, number) != self._place or not stays:
            self._place, self._lasted_us = (here, number), 0
        self._lasted_us += min(now_us - self._looked_us, S)  # in a longer turn it stood still
        if self._lasted_us > STATE_US_MAX:
            raise Violation(f"a test is {here} for {self._lasted_us} us")
        places = session is not None and session.test.placing.wanted is not None
        if here and here[1] == PAUSED and self._was and self._was != here and not places:
            self._check_pause(now_us)
        self._was, self._looked_us, self._reasons = here, now_us, []

    def _check_pause(self, now_us: int) -> None:
        said_us = self._around.operator.said_pause_us
        if PAUSED_FOR.isdisjoint(self._reasons) and now_us - said_us > PAUSE_IS_DONE_US:
            raise Violation("a test is paused, and nobody said so")

    def check_report(self, number: int, words: str) -> None:
        """Check that what is said of board and buttons is so."""
        self._reasons.append(number)
        self._around.reported.append(words)
        if number == grammar.BUTTON_STUCK:
            self._check_held(words)
        elif number == grammar.TEST_STANDS:
            raise Violation(f"a test stood still: {words}")
        elif number == grammar.TONE_GENERATOR_WRONG and "button unknown" not in self._befallen:
            raise Violation(f"no button was unknown: {words}")
        elif number == grammar.TONE_GENERATOR_LOST:
            self._check_lost(words)

    def _check_lost(self, words: str) -> None:
        if "its clock" in words and not self._befallen & CLOCKS_DIFFER:
            raise Violation(f"its clock was right: {words}")
        if any(untrue in words for untrue in UNTRUE) and not (
            self._befallen & (CLOCKS_DIFFER | {"board answers without fields"})
        ):
            raise Violation(f"it told nothing wrong: {words}")

    def ending(self, words: str) -> None:
        """Check that a board is lost for good only if something was wrong with it, or its wire."""
        self._around.reported.append(words)
        cable = any(vars(self._around.story.rates).values())
        if "lost for good" in words and not cable and not self._befallen & WIRE_FAILS:
            raise Violation(f"it was never lost: {words}")
        self._check_lost(words)

    @property
    def _befallen(self) -> set[str]:
        return self._around.befallen

    def _check_held(self, words: str) -> None:
        """Check that the button is, or was a moment ago, down for so long by the true time."""
        match = re.match(r"button (\d) is held down; the test is paused", words)
        if match is None:
            raise Violation(f"it is not said which button: {words}")
        settings = self._around.story.settings
        least_us = 1000 * settings["pause_ms_min"]  # a window comes on top
        held_us = longest_hold_us(self._around.board, int(match[1]))
        if held_us < least_us or match[1] != "1":
            raise Violation(f"nobody held it, at most {held_us} us: {words}")


def longest_hold_us(board: WatchedBoard, button: int) -> float:
    """Return the longest time that a button was down of late."""
    longest_us, down_us = 0.0, math.inf
    for verb, values in [*board.happened.values(), ("", {"us": board.now_us, "button": button})]:
        if values.get("button") != button:
            continue
        held_us = values["us"] - down_us
        if board.now_us - values["us"] < LATE_US:
            longest_us = max(longest_us, held_us)
        # One that is held is told again to a new host.
        down_us = min(down_us, values["us"]) if verb == "button-down" else math.inf
    return longest_us
