"""The operator's PIN: its salted hash, the lock, and the delay after a wrong one.

The PIN itself is stored nowhere. Its hash keeps it from being read by chance; it does not protect
from somebody who has a copy of the card, since a PIN is short and all of them can be tried. At the
console every wrong PIN makes the wait for the next one longer. Wrong PINs are counted on the disk,
so that switching off does not end the wait: nobody has more than 15 guesses an hour.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from firmware_py.console.grammar import COMMAND_PROTECTED, ILLEGAL_PARAMETER, ConsoleError
from firmware_py.platform.wrong_pins import WrongPins

PIN_FORM: Final = re.compile(r"[0-9]{4,12}", re.ASCII)
PIN_WORDS: Final = "4 to 12 digits"

METHOD: Final = "pbkdf2-sha256"
# 10 ms of a desktop processor, a quarter of a second of a small Arm core: the loop stands still so
# long, and the board falls silent after one second without a word.
ITERATIONS: Final = 50_000
ITERATIONS_LIMITS: Final = (1_000, 200_000)
SALT_BYTES: Final = 16
_STORED_FORM: Final = re.compile(
    METHOD + r"\$([1-9][0-9]{3,5})\$([0-9a-f]{32})\$([0-9a-f]{64})", re.ASCII
)

DELAY_S_FIRST: Final = 1.0  # after a wrong PIN; twice as long after every further one ...
DELAY_S_MAX: Final = 600.0  # ... up to this: 10,000 PINs take 69 days
RELOCK_S: Final = 300.0  # without a command that needs the PIN

NONE: Final = "NONE"  # no PIN is configured
LOCKED: Final = "LOCKED"
UNLOCKED: Final = "UNLOCKED"


@dataclass(frozen=True)
class PinHash:
    """A PIN as it is kept; the text of it is `pbkdf2-sha256$ITERATIONS$SALT$HASH`, both in hex."""

    iterations: int
    salt: bytes
    digest: bytes

    @classmethod
    def of(cls, pin: str, salt: bytes) -> Self:
        """Return the hash of a new PIN; a `ValueError` does not repeat it."""
        if not PIN_FORM.fullmatch(pin):
            raise ValueError(f"a PIN has {PIN_WORDS}; this one has not")
        return cls(ITERATIONS, salt, _digest(pin, salt, ITERATIONS))

    @classmethod
    def parse(cls, text: object) -> Self:
        """Read the text of a hash; a `ValueError` does not repeat it, for it may be a PIN."""
        match = _STORED_FORM.fullmatch(text) if isinstance(text, str) else None
        low, high = ITERATIONS_LIMITS
        if match is None or not low <= int(match[1]) <= high:
            raise ValueError(
                "is not the hash of a PIN, which is not repeated here; allowed is what "
                "gp-pta-device --hash-pin prints"
            )
        return cls(int(match[1]), bytes.fromhex(match[2]), bytes.fromhex(match[3]))

    def __str__(self) -> str:
        return f"{METHOD}${self.iterations}${self.salt.hex()}${self.digest.hex()}"

    def is_of(self, pin: str) -> bool:
        """Tell whether this is the PIN, in a time that does not tell how much of it is right."""
        from hmac import compare_digest

        return compare_digest(self.digest, _digest(pin, self.salt, self.iterations))


class PinLock:
    """Refuses what needs the PIN until the PIN was entered, and again after some idle time.

    With no PIN `stored` nothing is ever refused. `now_s` returns a time that never goes backwards.
    If `wrong` has counted some before, the wait begins anew.
    """

    def __init__(
        self,
        stored: PinHash | None,
        now_s: Callable[[], float],
        wrong: WrongPins | None = None,
    ) -> None:
        self._stored = stored
        self._now_s = now_s
        self._unlocked_until_s: float | None = None
        self._wrong = wrong or WrongPins()
        self._began_s = now_s()
        self._wait_until_s = self._began_s + self._delay_s()

    @property
    def state(self) -> str:
        if self._stored is None:
            return NONE
        if self._unlocked_until_s is None or self._now_s() >= self._unlocked_until_s:
            return LOCKED
        return UNLOCKED

    @property
    def is_over(self) -> bool:
        """Return whether it was unlocked, and is not any more: of time, or of a wrong PIN."""
        return self._unlocked_until_s is not None and self.state == LOCKED

    def require(self) -> None:
        """Refuse what needs the PIN while it is locked; otherwise begin the idle time anew."""
        state = self.state
        if state == LOCKED:
            raise ConsoleError(
                COMMAND_PROTECTED, "this needs the operator's PIN: SYST:PIN; nothing was done"
            )
        if state == UNLOCKED:
            self._unlocked_until_s = self._now_s() + RELOCK_S

    def enter(self, pin: str) -> None:
        """Unlock, if the PIN is right; one too soon after a wrong one is not looked at."""
        if self._stored is None:
            raise ConsoleError(COMMAND_PROTECTED, "no PIN is configured, and none is needed")
        now_s = self._now_s()
        if now_s < self._wait_until_s:
            raise ConsoleError(
                COMMAND_PROTECTED,
                "the last PIN was wrong: the next one is looked at in "
                f"{math.ceil(self._wait_until_s - now_s)} s",
            )
        if not PIN_FORM.fullmatch(pin):
            raise ConsoleError(ILLEGAL_PARAMETER, f"a PIN has {PIN_WORDS}; this is none")
        # Counted before it is looked at: the power may go when the answer is known. Where a start
        # would undo that, the first one after a start waits as if there had been many.
        left_s = self._began_s + DELAY_S_MAX - now_s
        if not self._wrong.expect() and left_s > 0.0:
            raise ConsoleError(
                COMMAND_PROTECTED,
                "wrong PINs cannot be counted on the disk: the first one is looked at in "
                f"{math.ceil(left_s)} s",
            )
        if self._stored.is_of(pin):
            self._wrong.clear()
            self._unlocked_until_s = self._now_s() + RELOCK_S
            return
        self._wrong.was_wrong()
        if self._unlocked_until_s is not None:
            self._unlocked_until_s = now_s  # it is over: see `is_over`
        delay_s = self._delay_s()
        self._wait_until_s = self._now_s() + delay_s  # to look at it took its time
        raise ConsoleError(
            COMMAND_PROTECTED, f"wrong PIN; the next one is looked at in {delay_s:.0f} s"
        )

    def _delay_s(self) -> float:
        """Return how long after the last wrong PIN the next one is looked at."""
        wrong = self._wrong.count()
        return min(DELAY_S_FIRST * 2.0 ** min(wrong - 1, 30), DELAY_S_MAX) if wrong else 0.0

    def lock(self) -> None:
        self._unlocked_until_s = None


def _digest(pin: str, salt: bytes, iterations: int) -> bytes:
    from hashlib import pbkdf2_hmac  # 4 MB that a device without a PIN does not need

    return pbkdf2_hmac("sha256", pin.encode(), salt, iterations)
