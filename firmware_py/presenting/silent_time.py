"""Pauses as silent trials: what they tell of a listener who presses without a tone.

A catch trial takes a person's time. The pauses cost nothing and are silent as well. Pauses that are
together as long as a tone may be answered are one trial; a press ends it.

Each counts once, for as long as it was meant to be: so the result depends neither on the speed of
the wire nor on disturbances. After a disturbance presses are not counted until the next
presentation: they may belong to a tone that was cut short, or be none of the test's business.

Some people press twice. What comes so soon after the press of an answer that no tone between them
could be heard belongs to that answer: this time is neither silent nor pressed in. But a listener
who does so now and then only is one who presses without a tone.
"""

from typing import Final

from firmware_py.presenting.pace import Pace

TWICE_USUAL: Final = 2  # who presses twice does so for one answer in so many at least


class SilentTime:
    """The pauses since the last silent trial."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self.stray_presses = 0  # without a tone, so far
        self._silent_us = 0
        self._pressed = False
        self._counts = False
        self._shaken = True  # a first press may answer what sounded before the test
        self._answered_us: int | None = None
        self._answers = self._pressed_twice = 0
        self._taken_us = 0  # of the pause that comes, by the answer before it

    def begin(self, answered_us: int | None = None) -> None:
        """Count presses from this presentation on, unless they were shaken since the last.

        `answered_us`: the board's time of the press before it that was an answer; None: there was
        none.
        """
        self._counts, self._shaken = not self._shaken, False
        self._answered_us = answered_us
        self._answers += answered_us is not None
        taken = answered_us is not None and self._pressed_twice > 0 and self._usual
        self._taken_us = self._pace.again_us if taken else 0

    @property
    def _usual(self) -> bool:
        """Return whether this listener may well be one who presses twice, by all answers so far."""
        return (self._pressed_twice + 1) * TWICE_USUAL >= self._answers + 2

    def again(self, pressed_us: int) -> bool:
        """Return whether a press at this time of the board belongs to the answer before."""
        answered_us = self._answered_us
        if answered_us is None or not 0 <= pressed_us - answered_us <= self._pace.again_us:
            return False
        self._pressed_twice += 1
        self.stray_presses += self._usual
        return self._usual

    def disturb(self) -> None:
        """Count no more presses of this presentation, which is begun again."""
        self._counts = False

    def shake(self) -> None:
        """Count no more presses of this presentation, nor of the next: the board was lost."""
        self._counts, self._shaken = False, True
        self._answered_us = None  # the board's clock may begin anew

    def pass_time(self, silent_us: int) -> None:
        """Count a time in which a tone was neither heard nor could be answered any more."""
        self._silent_us += max(silent_us - self._taken_us, 0)
        self._taken_us = 0

    def count_press(self) -> None:
        """Count a press without a tone; it ends this trial."""
        self.stray_presses += 1
        self._pressed = self._pressed or self._counts

    def take(self) -> bool | None:
        """Return whether the button was pressed in a silent trial; None: none has ended."""
        if self._pressed:
            self._pressed, self._silent_us = False, 0
            return True
        if self._silent_us < self._pace.late_us:
            return None
        self._silent_us -= self._pace.late_us
        return False
