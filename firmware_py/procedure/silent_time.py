"""Pauses as silent trials: what they tell of a listener who presses without a tone.

A catch trial takes a person's time. The pauses cost nothing and are silent as well. Pauses that are
together as long as a tone may be answered are one trial; a press ends it.

Each counts once, for as long as it was meant to be: so the result depends neither on the speed of
the wire nor on disturbances. After a disturbance presses are not counted until the next
presentation: they may belong to a tone that was cut short, or be none of the test's business.
"""

from firmware_py.procedure.pace import Pace


class SilentTime:
    """The pauses since the last silent trial."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._silent_us = 0
        self._pressed = False
        self._counts = False
        self._shaken = True  # a first press may answer what sounded before the test

    def begin(self) -> None:
        """Count presses from this presentation on, unless it was `shaken` since the last."""
        self._counts, self._shaken = not self._shaken, False

    def disturbed(self) -> None:
        """Count no more presses of this presentation, which is begun again."""
        self._counts = False

    def shaken(self) -> None:
        """Count no more presses of this presentation, nor of the next: the board was lost."""
        self._counts, self._shaken = False, True

    def passed(self, silent_us: int) -> None:
        """Count a time in which a tone was neither heard nor could be answered any more."""
        self._silent_us += max(silent_us, 0)

    def pressed(self) -> None:
        """Count a press in it."""
        if self._counts:
            self._pressed = True

    def take(self) -> bool | None:
        """Return whether the button was pressed in a silent trial; None: none has ended."""
        if self._pressed:
            self._pressed, self._silent_us = False, 0
            return True
        if self._silent_us < self._pace.late_us:
            return None
        self._silent_us -= self._pace.late_us
        return False
