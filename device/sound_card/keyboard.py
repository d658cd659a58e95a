"""Keys of a terminal as the listener's buttons.

A terminal tells that a key has gone down, again and again while it is held, and never that it has
come up. So the first byte is a press, at the time it is read; what follows before the release is
the same press. The release is a guess: `FIRST_REPEAT_US` after a byte that stayed alone, by when a
key that is held would have repeated, and `NEXT_REPEAT_US` after the last of several. Two presses
within `FIRST_REPEAT_US` are one: a listener answers a tone once.
"""

import os
import select
import sys
import termios
import tty
from typing import Any, Final, Self

FIRST_REPEAT_US: Final = 750_000  # terminals wait for 0.25 to 0.66 s before they repeat a key
NEXT_REPEAT_US: Final = 150_000  # they repeat it every 30 to 100 ms then
READ_BYTES_MAX: Final = 64


class KeyButton:
    """A button of the wire whose key, as the terminal tells it, is only told to go down."""

    def __init__(self, number: int, key: bytes) -> None:
        self.number = number
        self.key = key
        self.down = False
        self._told_us = 0
        self._repeated = False

    def press(self, now_us: int) -> bool:
        """Take the key; return whether the button has gone down."""
        self._told_us = now_us
        self._repeated = self.down
        self.down = True
        return not self._repeated

    def is_released(self, now_us: int) -> bool:
        wait_us = NEXT_REPEAT_US if self._repeated else FIRST_REPEAT_US
        if not self.down or now_us - self._told_us < wait_us:
            return False
        self.down = False
        return True


class Keyboard:
    """What somebody types, key by key and without an echo; used in a `with` statement."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = sys.stdin.fileno() if descriptor is None else descriptor
        self._before: Any = None
        self._open = True

    def __enter__(self) -> Self:
        if os.isatty(self._descriptor):
            self._before = termios.tcgetattr(self._descriptor)
            tty.setcbreak(self._descriptor)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)

    def keys(self, wait_s: float | None = 0.0) -> bytes:
        """Return the keys that have come, by default without waiting; nothing at the end of all."""
        if not self._open or not select.select([self._descriptor], [], [], wait_s)[0]:
            return b""
        keys = os.read(self._descriptor, READ_BYTES_MAX)
        self._open = bool(keys)
        return keys

    def wait_for(self, key: bytes) -> None:
        while self._open and key not in self.keys(None):
            continue
