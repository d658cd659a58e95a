"""Serial ports by URL, with errors that name the port and the reason."""

import errno
import os
import select
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import serial

BAUD_RATE: Final = 115_200
READ_BYTES_MAX: Final = 4096
WRITE_BYTES_MAX: Final = 4096  # at once
UNSENT_BYTES_MAX: Final = 65536  # some six seconds of the line; more, and nobody reads there
WRITE_TIMEOUT_S: Final = 0.05  # of ports that cannot tell whether they take more
# What pyserial waits when a `socket://` is closed; other ports are closed at once.
CLOSE_S: Final = 0.3
DRAIN_LOOK_S: Final = 0.005


class PortError(Exception):
    """A port that cannot be opened, or is gone."""


class Port:
    """A serial port: a device, or any URL that pyserial knows (`socket://`, `spy://` ...).

    It is not opened yet. `role`: what it is for, in words, for messages.
    """

    def __init__(self, url: str, role: str) -> None:
        self.url = url
        self.role = role
        self._serial: serial.SerialBase | None = None
        self._unsent = bytearray()
        self._is_called = False  # by the lines of the other end, at the last look

    @property
    def is_open(self) -> bool:
        return self._serial is not None

    @property
    def is_full(self) -> bool:
        """Return whether bytes wait here until the other end takes more."""
        return bool(self._unsent)

    def open(self) -> None:
        """Open the port, for this program alone where the system can do that, or a `PortError`."""
        try:
            self._serial = serial.serial_for_url(
                self.url, baudrate=BAUD_RATE, timeout=0, write_timeout=0, do_not_open=True
            )
            if isinstance(self._serial, serial.Serial):
                self._serial.exclusive = True
            self._serial.open()
            if self.fileno() is None:
                self._serial.write_timeout = WRITE_TIMEOUT_S
        except (OSError, ValueError, TypeError, termios.error) as error:
            self._serial = None
            raise PortError(f"{self.role}: cannot open {self.url!r}: {_reason(error)}") from None

    def close(self) -> None:
        """Close the port at once; closing twice is no error. What was not sent yet is lost."""
        self._unsent.clear()
        self._is_called = False
        if self._serial is not None:
            with suppress(OSError, termios.error):  # it was gone already
                if self._in_system():  # the system would wait up to 30 s for the other end
                    self._serial.reset_output_buffer()
            with suppress(OSError):
                self._serial.close()
            self._serial = None

    def fileno(self) -> int | None:
        """Return the file descriptor to wait for, None if the port has none."""
        try:
            return None if self._serial is None else int(self._serial.fileno())
        except (OSError, AttributeError, NotImplementedError):
            return None

    def read(self) -> bytes:
        """Return what has come, without waiting; a `PortError` if the port is gone."""
        if self._serial is None:
            return b""
        try:
            return bytes(self._serial.read(READ_BYTES_MAX))
        except (OSError, TypeError) as error:
            raise self._give_up(error) from None

    def has_hung_up(self) -> bool:
        """Return whether another end that was there since the last look is not there any more.

        Its lines DSR and DCD tell, where there are any. Of a pty, and of a plug that is pulled,
        `read` tells.
        """
        was, self._is_called = self._is_called, False
        with suppress(OSError, NotImplementedError):
            self._is_called = any(getattr(self._serial, line, False) for line in ("dsr", "cd"))
        return was and not self._is_called

    def write(self, data: bytes) -> None:
        """Send bytes; what the other end does not take yet is kept for later.

        Only a port without a descriptor may wait, `WRITE_TIMEOUT_S` at most. A `PortError` if it is
        gone, or nobody reads at its other end; the port is closed then.
        """
        if self._serial is None:
            return
        self._unsent += data
        try:
            while self._unsent and self._takes_more():
                taken = self._serial.write(bytes(self._unsent[:WRITE_BYTES_MAX]))
                del self._unsent[:taken]
                if self.fileno() is None:  # it may have waited
                    break
        except (OSError, TypeError) as error:
            raise self._give_up(error) from None
        if len(self._unsent) > UNSENT_BYTES_MAX:
            unread = len(self._unsent)
            self.close()
            raise PortError(f"{self.role}: nobody reads at {self.url!r}; {unread} bytes are lost")

    def drain(
        self,
        seconds: float,
        now_s: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Give the other end so much time to take what was not sent yet; errors as of `write`."""
        until_s = now_s() + seconds
        while self._is_sending() and now_s() < until_s:
            sleep(DRAIN_LOOK_S)
            self.write(b"")

    def forget_unsent(self) -> None:
        """Forget what the other end did not take: who comes next shall not read it."""
        if self.is_full:
            self._unsent.clear()
            with suppress(OSError, termios.error):
                if self._in_system():
                    self._serial.reset_output_buffer()  # type: ignore[union-attr]

    def _takes_more(self) -> bool:
        """Return whether the other end takes more; a port that cannot tell is taken to do so."""
        descriptor = self.fileno()
        return descriptor is None or bool(select.select([], [descriptor], [], 0.0)[1])

    def _is_sending(self) -> bool:
        """Return whether bytes are still here, or in the system on their way to a device."""
        return bool(self._unsent or self._in_system())

    def _in_system(self) -> int:
        """Return how many bytes the system has for a device; 0 where it does not tell."""
        try:
            return int(getattr(self._serial, "out_waiting", 0))
        except OSError:  # it is gone
            return 0

    def _give_up(self, error: Exception) -> PortError:
        self.close()
        return PortError(f"{self.role}: {self.url!r} is gone: {_reason(error)}")


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number in (errno.EWOULDBLOCK, errno.EBUSY):
        return "another program has it open"
    if isinstance(number, int):
        return os.strerror(number)
    # pyserial puts some errors of the system into words, number and all.
    if os.strerror(errno.ENOTTY) in str(error):
        return "it is no serial port"
    if "returned no data" in str(error):
        return "the other end is closed, or another program reads there too"
    return str(error)
