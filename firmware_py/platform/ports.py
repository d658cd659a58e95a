"""Serial ports by URL, with errors that name the port and the reason."""

import errno
import os
import select
import termios
import time
from contextlib import suppress
from typing import Final

import serial

BAUD_RATE: Final = 115_200
READ_BYTES_MAX: Final = 4096
WRITE_BYTES_MAX: Final = 4096  # at once
UNSENT_BYTES_MAX: Final = 65536  # some six seconds of the line; more, and nobody reads there
WRITE_TIMEOUT_S: Final = 1.0  # of ports that cannot tell whether they take more


class PortError(Exception):
    """A port that cannot be opened, or is gone."""


class Port:
    """A serial port: a device, or any URL that pyserial knows (`socket://`, `spy://` ...).

    Parameters
    ----------
    url : str
        What to open; nothing is opened yet.
    role : str
        What it is for, in words, for messages.
    """

    def __init__(self, url: str, role: str) -> None:
        self.url = url
        self.role = role
        self._serial: serial.SerialBase | None = None
        self._unsent = bytearray()

    @property
    def is_open(self) -> bool:
        """Return whether the port is open."""
        return self._serial is not None

    @property
    def is_full(self) -> bool:
        """Return whether bytes wait here until the other end takes more."""
        return bool(self._unsent)

    def open(self) -> None:
        """Open the port, for this program alone where the system can do that.

        Raises
        ------
        PortError
            If it cannot be opened.
        """
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
        """Close the port; closing twice is no error. What was not sent yet is lost."""
        self._unsent.clear()
        if self._serial is not None:
            with suppress(OSError):  # it was gone already
                self._serial.close()
            self._serial = None

    def fileno(self) -> int | None:
        """Return the file descriptor to wait for, None if the port has none."""
        try:
            return None if self._serial is None else int(self._serial.fileno())
        except (OSError, AttributeError, NotImplementedError):
            return None

    def read(self) -> bytes:
        """Return what has come, without waiting.

        Raises
        ------
        PortError
            If the port is gone.
        """
        if self._serial is None:
            return b""
        try:
            return bytes(self._serial.read(READ_BYTES_MAX))
        except (OSError, TypeError) as error:
            raise self._gone(error) from None

    def write(self, data: bytes) -> None:
        """Send bytes, without waiting; what the other end does not take yet is kept for later.

        Raises
        ------
        PortError
            If the port is gone, or nobody reads at its other end; the port is closed then.
        """
        if self._serial is None:
            return
        self._unsent += data
        try:
            while self._unsent and self._takes_more(0.0):
                taken = self._serial.write(bytes(self._unsent[:WRITE_BYTES_MAX]))
                del self._unsent[:taken]
        except (OSError, TypeError) as error:
            raise self._gone(error) from None
        if len(self._unsent) > UNSENT_BYTES_MAX:
            unread = len(self._unsent)
            self.close()
            raise PortError(f"{self.role}: nobody reads at {self.url!r}; {unread} bytes are lost")

    def drain(self, seconds: float) -> None:
        """Give the other end so much time to take what was not sent yet; errors as of `write`."""
        until_s = time.monotonic() + seconds
        while self._unsent and self._takes_more(max(until_s - time.monotonic(), 0.0)):
            self.write(b"")

    def _takes_more(self, seconds: float) -> bool:
        """Wait until the other end takes more; a port without a descriptor is taken to do so."""
        descriptor = self.fileno()
        return descriptor is None or bool(select.select([], [descriptor], [], seconds)[1])

    def _gone(self, error: Exception) -> PortError:
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
