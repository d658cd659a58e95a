"""Serial ports by URL, with errors that name the port and the reason."""

import errno
import os

import serial

BAUD_RATE = 115_200
READ_BYTES_MAX = 4096
WRITE_TIMEOUT_S = 1.0


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

    @property
    def is_open(self) -> bool:
        """Return whether the port is open."""
        return self._serial is not None

    def open(self) -> None:
        """Open the port, for this program alone where the system can do that.

        Raises
        ------
        PortError
            If it cannot be opened.
        """
        try:
            self._serial = serial.serial_for_url(
                self.url, baudrate=BAUD_RATE, timeout=0, write_timeout=WRITE_TIMEOUT_S,
                do_not_open=True,
            )  # fmt: skip
            if isinstance(self._serial, serial.Serial):
                self._serial.exclusive = True
            self._serial.open()
        except (OSError, ValueError) as error:
            self._serial = None
            raise PortError(f"{self.role}: cannot open {self.url!r}: {_reason(error)}") from None

    def close(self) -> None:
        """Close the port; closing twice is no error."""
        if self._serial is not None:
            try:
                self._serial.close()
            except OSError:
                pass  # it was gone already
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
        """Send bytes.

        Raises
        ------
        PortError
            If the port is gone, or nobody reads at its other end.
        """
        if self._serial is None or not data:
            return
        try:
            self._serial.write(data)
        except (OSError, TypeError) as error:
            raise self._gone(error) from None

    def _gone(self, error: Exception) -> PortError:
        self.close()
        return PortError(f"{self.role}: {self.url!r} is gone: {_reason(error)}")


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number in (errno.EWOULDBLOCK, errno.EBUSY):
        return "another program has it open"
    if isinstance(number, int):
        return os.strerror(number)
    return str(error)
