"""What the host knows of one start of a board: which events it has told, and how its clock goes.

What a ping tells was the board's time at some moment between question and answer. So every answer
bounds by how much its clock is ahead of the host's. As time passes the bounds widen by what the
rates may differ; every answer narrows them again. When nothing is left between them, the board's
clock does not keep what the wire page says of `us`.
"""

import math
from dataclasses import dataclass, field
from typing import Final

from firmware_py.link.messages import FieldError
from firmware_py.link.notices import Missed, Notice, UnknownEvent, as_notice, wrong_field

ASKS_MAX: Final = 5  # for the same events, before they count as missed

RATE_TOLERANCE: Final = 0.01  # by so much a board's clock may be faster or slower than the host's
EARLY_US: Final = 100_000  # by so much any `us` may be wrong
BEHIND_US: Final = 250_000  # and so far that of a ping may be behind: a contact still bounces
DISORDER_US: Final = EARLY_US + BEHIND_US  # an event may come so long after a later one


class BoardError(Exception):
    """A board that says what cannot be; the text says what that was."""


class ClockCheck:
    """Holds the clock of a board to that of the host.

    It goes `speed` times faster than the host's: above 1 in a demonstration. At `latest_us` was the
    latest event that is known of it.
    """

    def __init__(self, speed: float = 1.0, latest_us: int = 0) -> None:
        self.speed = speed
        # How far it is ahead of the host's, as of the host's time of the last answer.
        self._low_us, self._high_us = -math.inf, math.inf
        self._bounded_at_us = 0
        self._told_us = 0  # by the last answer to a ping
        self._known_us = latest_us
        self._latest_us = latest_us  # of all events

    @property
    def bounded(self) -> bool:
        """Return whether a ping has told the time; before, no event can be judged."""
        return math.isfinite(self._high_us)

    def bound(self, us: int, asked_us: int, now_us: int) -> None:
        """Take in the board's time, asked first at `asked_us`; `BoardError` if it cannot be."""
        if us < self._told_us or us < self._known_us - DISORDER_US * self.speed:
            before_us = max(self._told_us, self._known_us)
            raise BoardError(f"its clock has gone back from {before_us} to {us} us")
        widened_us = RATE_TOLERANCE * (now_us - self._bounded_at_us)
        low_us, high_us = self._low_us - widened_us, self._high_us + widened_us
        least_us = us / self.speed - now_us - EARLY_US
        most_us = us / self.speed - asked_us + EARLY_US + BEHIND_US
        for off_us, how in ((least_us - high_us, "ahead of"), (low_us - most_us, "behind")):
            if off_us > 0:
                raise BoardError(
                    f"its clock, at {us} us, is {off_us / 1e6:.2f} s too far {how} this device's"
                )
        self._low_us, self._high_us = max(low_us, least_us), min(high_us, most_us)
        self._bounded_at_us = now_us
        self._check_future(self._latest_us, now_us)

    def note_ping(self, us: int, asked_us: int) -> int:
        """Take in that a ping, asked then, has told all events up to this time.

        Return a time of the board that has passed for certain; all that happened before it is told.
        """
        self._told_us = us
        return min(us, int((asked_us + self._high_us) * self.speed))

    def passed_us(self, now_us: int) -> int:
        """Return a time of the board that has passed for certain; 0 of one that told none."""
        if not self.bounded:
            return 0
        least_us = now_us + self._low_us - RATE_TOLERANCE * (now_us - self._bounded_at_us)
        return max(int(least_us * self.speed), 0)

    def check_event(self, us: int, now_us: int) -> None:
        """Take in when a new event was; raise BoardError if it is of the future, or was told."""
        if us < self._told_us - EARLY_US * self.speed:
            raise BoardError(
                f"its clock has an event at {us} us, and had told all before {self._told_us} us"
            )
        if us < self._latest_us - DISORDER_US * self.speed:
            raise BoardError(
                f"its clock has an event at {us} us, and had one at {self._latest_us} us before"
            )
        self._latest_us = max(self._latest_us, us)
        self._check_future(us, now_us)

    def _check_future(self, us: float, now_us: int) -> None:
        widened_us = RATE_TOLERANCE * (now_us - self._bounded_at_us)
        off_us = us / self.speed - (now_us + self._high_us + widened_us)
        if off_us > 0:
            raise BoardError(
                f"its clock has an event at {us:.0f} us, {off_us / 1e6:.2f} s in the future"
            )


@dataclass
class BoardStart:
    """One start of the board at the other end, by its `boot`.

    `asks`: how often the board agreed to send the events after the last one, and they did not come.
    """

    clock: ClockCheck = field(default_factory=ClockCheck)
    boot: str = ""
    last_event: int = 0
    acknowledged: int = 0
    asks: int = 0

    def another(self, boot: str = "", last_event: int = 0, latest_us: int = 0) -> "BoardStart":
        """Return another start; all is known of it up to an event, the latest at this time."""
        return BoardStart(ClockCheck(self.clock.speed, latest_us), boot, last_event)

    def owes(self, newest: int) -> bool:
        """Return whether events up to the newest are missing, and it is worth asking for them."""
        return newest > self.last_event and self.asks < ASKS_MAX

    def pass_over(self, upto: int) -> list[Notice]:
        """Go on without the events up to this one, if the board does not have them any more."""
        missed = upto - self.last_event
        if missed <= 0:
            return []
        self.last_event, self.asks = upto, 0
        return [Missed(missed, upto)]

    def event(self, number: int, verb: str, fields: dict[str, str], now_us: int) -> list[Notice]:
        """Take in an event, after those before it; raise BoardError if it cannot have happened."""
        notices = self.pass_over(number - 1)
        self.last_event, self.asks = number, 0
        try:
            notice = as_notice(number, verb, fields)
        except FieldError as error:
            raise BoardError(wrong_field(repr(verb), error.key, fields)) from None
        if not isinstance(notice, UnknownEvent):
            self.clock.check_event(notice.at_us, now_us)
        return [*notices, notice]
