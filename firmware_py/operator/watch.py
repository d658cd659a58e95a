"""Pauses a test that cannot go on: its button is held down, it stands still, nobody is there."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from firmware_py.board.self_check import ButtonWatch, Part, clock_part
from firmware_py.console import grammar
from firmware_py.link.client import Client
from firmware_py.platform.clock import SteadyClock
from firmware_py.presenting.presenter import FINISHED, PAUSED, READY
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.resumption import waits_words
from firmware_py.sessions.runner import Runner
from firmware_py.sessions.session import Session
from firmware_py.terms.events import Paused
from firmware_py.terms.reasons import Reason
from firmware_py.terms.settings import Settings

STATE_S_MAX: Final = 60.0  # the longest pause that may be set is 20 s
PRESENTATION_S_MAX: Final = 300.0  # five starts of a tone, each with that pause
TURN_US_MAX: Final = 1_000_000  # of the loop; in a longer one this machine stood still
WAITS_FOR_SOMEBODY: Final = (READY, PAUSED, FINISHED)  # for the operator, or a tone generator


class _Place:
    """Where a test is, and for how long."""

    def __init__(self) -> None:
        self.where: object = None
        self.us = 0

    def lasts(self, where: object, us: int) -> float:
        """Return for how many seconds it has been there, after so much more time."""
        self.us = self.us + us if where == self.where else 0
        self.where = where
        return self.us / 1e6


class Standstill:
    """Notices a test that does not go on, by the clock of the wire."""

    def __init__(self, clock: SteadyClock) -> None:
        self._clock = clock
        self._looked_us = clock.now_us()
        self._test: HearingTest | None = None
        self._state, self._presentation = _Place(), _Place()

    def look(self, test: HearingTest | None, *, answered: bool) -> str:
        """Look at the test under way; `answered`: its tone generator answers. Say what is wrong."""
        now_us = self._clock.now_us()
        us = min(now_us - self._looked_us, TURN_US_MAX) if answered else 0
        self._looked_us = now_us
        if test is not self._test or test is None or test.state in WAITS_FOR_SOMEBODY:
            self._test, self._state, self._presentation = test, _Place(), _Place()
            return ""
        state_s = self._state.lasts((test.number, test.state), us)
        presentation_s = self._presentation.lasts(test.number, us)
        if state_s >= STATE_S_MAX:
            return f"presentation {test.number} was {test.state!r} for {STATE_S_MAX:g} s"
        if presentation_s >= PRESENTATION_S_MAX:
            return f"presentation {test.number} was not over in {PRESENTATION_S_MAX:g} s"
        return ""


class Watch:
    """Watches the test under way."""

    def __init__(
        self, runner: Runner, client: Client, buttons: ButtonWatch, clock: SteadyClock
    ) -> None:
        self._runner = runner
        self._client = client
        self._buttons = buttons
        self._clock = clock
        self._standstill = Standstill(clock.of_wire())
        self._waits_told: set[str] = set()
        self._calibration_told: Reason | None = None  # what is wrong with it
        self.disk_fault = ""  # at the last look
        self._buttons_told_us = 0  # by which the button was looked at last

    def look_at_clock(self) -> Iterator[tuple[int, str]]:
        clock = clock_part(self._clock.date())
        if not clock.works:
            yield grammar.CLOCK, f"the clock was {clock.words}; sessions get a wrong date"

    def look_at_disk(self, disk: Part) -> Iterator[tuple[int, str]]:
        self.disk_fault = "" if disk.works else f"no test can be recorded: {disk.words}"
        if self.disk_fault:
            yield grammar.MASS_STORAGE, self.disk_fault

    def look_at_calibration(self) -> Iterator[tuple[int, str]]:
        """Yield once what is wrong with the calibration, at the start and with another board."""
        today = self._runner.calibration_today()
        why, self._calibration_told = self._calibration_told, today.why
        if today.why not in (None, why):
            yield grammar.CALIBRATION, today.headline

    def look_at_buttons(self) -> Iterator[tuple[int, str]]:
        """Pause a test whose listener cannot answer, before silence counts as not heard."""
        told_us, before_us = self._client.told_until_us, self._buttons_told_us
        self._buttons_told_us = told_us
        if told_us == before_us:  # who goes on with a test waits for what the board says now
            return
        test = self._runner.last_test
        if test is None or not self._runner.running or test.state == PAUSED:
            return
        settings = test.settings
        button = self._buttons.held_button(told_us, _held_us_max(settings), settings.press_buttons)
        if button is not None:
            paused = "the test is paused: let go of it, then SESS:CONT"
            yield grammar.BUTTON_STUCK, f"button {button} is held down; {paused}"
            self._runner.feed(Paused())

    def look_at_test(self) -> Iterator[tuple[int, str]]:
        """Pause a test that does not go on, whatever the tone generator says; as the other."""
        test = self._runner.last_test if self._runner.running else None
        stands = self._standstill.look(test, answered=self._client.connected)
        if stands:
            paused = "the test is paused: SESS:CONT goes on with it"
            yield grammar.TEST_STANDS, f"{stands}; {paused}"
            self._runner.feed(Paused())

    def look_at_waits(self, sessions: Iterable[Session[Any, Any]]) -> Iterator[tuple[int, str]]:
        """Yield once what waits to be told whose it is, as the others."""
        waits = [*filter(None, map(waits_words, sessions))]
        for each in waits:
            if each not in self._waits_told:
                yield grammar.SESSION_WAITS, each
        self._waits_told = {*waits}


def _held_us_max(settings: Settings) -> int:
    """Return how long after a press the next tone may be over, but cannot have been missed."""
    return 1000 * (settings.pause_ms_min + settings.window_ms_min)
