"""The lock behind the operator's PIN, seen from outside."""

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from device.simulator.virtual_clock import S
from firmware_py.console.pin import PinHash
from tests.simulation.violation import Violation

PIN: Final = "271828"
SALT: Final = b"0123456789abcdef"
ITERATIONS: Final = 1000  # the fewest there may be: here nobody guesses

# What needs the PIN, as its page has it: settings, the meter's tones, and what is known of people.
PROTECTED: Final = re.compile(
    r"TUNE:STAR (.*,)?ID=.+|SETT [^,]+,[^,]+|CAL:NOB|CAL:TONE [^,]+,[^,]+,[^,]+"
    r"|SESS:STAR (.*,)?(AGE|SEX|ID)=.+|SESS:LIST\?( \d+)?|(SESS:RES\?|AUD) \d+|THR\? .*,\d+"
)
# What tells a result without a number: that of the last test.
LAST_RESULT: Final = re.compile(r"SESS:RES\?|AUD|THR\?( LEFT| RIGHT)?")
START: Final = "SESS:STAR"
REFUSED: Final = "ERROR -203"
ENTER: Final = "SYST:PIN "
STAYS_OPEN_S: Final = 290  # without anything that needs it; a little less than promised
DELAY_S_FIRST: Final = 1
DELAY_S_MAX: Final = 600


class Lock:
    """Checks that nothing protected is done without the PIN, and that guesses cost time."""

    def __init__(self, disk_keeps: bool) -> None:
        self._disk_keeps = disk_keeps
        self._wrong = self._next_us = 0  # until then no PIN may be looked at
        self._open_until_us = 0
        self.is_open = False
        self._begun = False  # a test, perhaps, since the last start

    def take_line(self, line: str) -> None:
        self._begun |= line.startswith(START)

    def restart(self) -> None:
        self.close()
        self._begun = False
        if not self._disk_keeps:
            self._next_us = self._wrong = 0

    def close(self) -> None:
        """Take in that it is locked: the console is gone, or somebody locked it."""
        self.is_open = False

    def look_at(self, now_us: int, right: bool) -> None:
        if now_us < self._next_us:
            raise Violation(
                f"a PIN is looked at {(self._next_us - now_us) / S:.1f} s too early after "
                f"{self._wrong} wrong ones"
            )
        self._wrong = 0 if right else self._wrong + 1
        if self._wrong:
            delay_s = min(DELAY_S_FIRST * 2 ** (self._wrong - 1), DELAY_S_MAX)
            self._next_us = now_us + delay_s * S

    def take_answer(self, now_us: int, line: str, answer: str) -> None:
        if line.startswith(ENTER):
            self._enter(now_us, line, answer)
        elif line == "SYST:LOCK":
            self.close()
        elif PROTECTED.fullmatch(line) or (LAST_RESULT.fullmatch(line) and not self._begun):
            refused = answer.startswith(REFUSED)
            if not self.is_open and not answer.startswith("ERROR"):
                raise Violation(f"{line!r} was done without the PIN")
            if refused and self.is_open and now_us < self._open_until_us:
                raise Violation(f"{line!r} was refused in spite of the PIN")
            if not refused:
                self._open_until_us = now_us + STAYS_OPEN_S * S

    def _enter(self, now_us: int, line: str, answer: str) -> None:
        if answer == "OK":
            if line.removeprefix(ENTER) != PIN:
                raise Violation(f"{line!r} has opened the lock")
            self.is_open, self._open_until_us = True, now_us + STAYS_OPEN_S * S
        elif "wrong PIN;" in answer:
            if line.removeprefix(ENTER) == PIN:
                raise Violation("the right PIN was called wrong")
            self.close()


@dataclass(frozen=True)
class WatchedPin(PinHash):
    """The PIN as it is kept, that tells when one is looked at, and whether it was right."""

    told: Callable[[bool], None] = lambda right: None

    @classmethod
    def that_tells(cls, told: Callable[[bool], None]) -> Self:
        digest = hashlib.pbkdf2_hmac("sha256", PIN.encode(), SALT, ITERATIONS)
        return cls(ITERATIONS, SALT, digest, told)

    def is_of(self, pin: str) -> bool:
        right = super().is_of(pin)
        self.told(right)
        return right
