"""Finds out that a test under way cannot go on: its button is held down, or it stands still."""

from collections.abc import Iterator

from firmware_py.console import grammar
from firmware_py.link.client import Client
from firmware_py.procedure.presenter import PAUSED
from firmware_py.procedure.settings import Settings
from firmware_py.runner import Runner
from firmware_py.self_check import ButtonWatch
from firmware_py.standstill import Standstill


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
    standstill : Standstill
        Knows how long a test stays in one place.
    """

    def __init__(
        self, runner: Runner, client: Client, buttons: ButtonWatch, standstill: Standstill
    ) -> None:
        self._runner = runner
        self._client = client
        self._buttons = buttons
        self._standstill = standstill
        self._buttons_told_us = 0  # by which the button was looked at last

    def look_at_buttons(self) -> Iterator[tuple[int, str]]:
        """Yield why a listener cannot answer, before silence counts as not heard.

        Yields
        ------
        int, str
            The number of the error, and words; the test has to be paused.
        """
        told_us, before_us = self._client.told_until_us, self._buttons_told_us
        self._buttons_told_us = told_us
        if told_us == before_us:  # who goes on with a test waits for what the board says now
            return
        test = self._runner.last_test
        if test is None or not self._runner.running or test.state == PAUSED:
            return
        settings = test.settings
        button = self._buttons.held(told_us, _held_us_max(settings), settings.press_buttons)
        if button is not None:
            words = "the test is paused: let go of it, then SESS:CONT"
            yield grammar.BUTTON_STUCK, f"button {button} is held down; {words}"

    def look_at_test(self) -> Iterator[tuple[int, str]]:
        """Yield why a test does not go on, whatever the tone generator says; as the other."""
        test = self._runner.last_test if self._runner.running else None
        words = self._standstill.look(test, answered=self._client.connected)
        if words:
            paused = "the test is paused: SESS:CONT goes on with it"
            yield grammar.TEST_STANDS, f"{words}; {paused}"


def _held_us_max(settings: Settings) -> int:
    """Return how long after a press the next tone may be over, but cannot have been missed."""
    return 1000 * (settings.pause_ms_min + settings.window_ms_min)
