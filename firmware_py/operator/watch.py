"""Pauses a test that cannot go on: its button is held down, it stands still, nobody is there."""

from collections.abc import Iterable, Iterator
from typing import Any

from firmware_py.board.self_check import ButtonWatch, Part, clock_part
from firmware_py.board.standstill import Standstill
from firmware_py.console import grammar
from firmware_py.link.client import Client
from firmware_py.platform.clock import SteadyClock
from firmware_py.presenting.presenter import PAUSED
from firmware_py.sessions.resumption import Waits
from firmware_py.sessions.runner import Runner
from firmware_py.sessions.session import Session
from firmware_py.terms.events import Paused
from firmware_py.terms.reasons import Reason
from firmware_py.terms.settings import Settings


class Watch:
    """Watches the test under way.

    Parameters
    ----------
    runner : Runner
        Runs the tests.
    client : Client
        The wire to the tone generator.
    buttons : ButtonWatch
        Knows which button is held down.
    clock : SteadyClock
        Of the tests.
    """

    def __init__(
        self, runner: Runner, client: Client, buttons: ButtonWatch, clock: SteadyClock
    ) -> None:
        self._runner = runner
        self._client = client
        self._buttons = buttons
        self._clock = clock
        self._standstill = Standstill(clock.of_wire())
        self._waits = Waits()
        self._calibration_told: Reason | None = None  # what is wrong with it
        self.disk_fault = ""  # at the last look
        self._buttons_told_us = 0  # by which the button was looked at last

    def look_at_clock(self) -> Iterator[tuple[int, str]]:
        """Yield what is wrong with the date."""
        clock = clock_part(self._clock.date())
        if not clock.works:
            yield grammar.CLOCK, f"the clock was {clock.words}; sessions get a wrong date"

    def look_at_disk(self, disk: Part) -> Iterator[tuple[int, str]]:
        """Yield why no test can be recorded; `disk_fault` has it from then on."""
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
        """Pause a test whose listener cannot answer, before silence counts as not heard.

        Yields
        ------
        int, str
            The number of the error, and words.
        """
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
        for waits in self._waits.new(sessions):
            yield grammar.SESSION_WAITS, waits


def _held_us_max(settings: Settings) -> int:
    """Return how long after a press the next tone may be over, but cannot have been missed."""
    return 1000 * (settings.pause_ms_min + settings.window_ms_min)
