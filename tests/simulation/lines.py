"""Ports in memory that come and go."""

from collections.abc import Callable

from firmware_py.ports import PortError


class SimulatedLine:
    """A serial port in memory.

    Parameters
    ----------
    url : str
        What the firmware opens it by.
    taken : callable
        Given what the firmware writes.
    check : callable
        Called first by everything: raises where the firmware has no power any more.

    Attributes
    ----------
    there : bool
        Whether there is such a port now.
    next_url : str
        What it is called when the firmware is started again.
    incoming : bytearray
        What the firmware has not read yet.
    """

    is_full = False

    def __init__(self, url: str, taken: Callable[[bytes], None], check: Callable[[], None]) -> None:
        self.url = self.next_url = url
        self.there = True
        self.incoming = bytearray()
        self.is_open = False
        self._hung_up = False
        self._taken = taken
        self._check = check

    def open(self) -> None:
        self._check()
        if not self.there:
            raise PortError(f"cannot open {self.url!r}: No such file or directory")
        self.incoming.clear()
        self.is_open = True

    @property
    def is_ready(self) -> bool:
        """Return whether there is something to be read, or an error."""
        return bool(self.incoming) or self._hung_up

    @property
    def is_talking(self) -> bool:
        """Return whether the firmware has it open, and it is there."""
        return self.is_open and not self._hung_up

    def vanish(self) -> None:
        """Go away; who has it open has to open it again, however soon it is back."""
        self.there = False
        self._hung_up = self.is_open
        self.incoming.clear()

    def close(self) -> None:
        self.is_open = self._hung_up = False
        self.incoming.clear()

    def fileno(self) -> None:
        return None

    def read(self) -> bytes:
        self._touch()
        come = bytes(self.incoming)
        self.incoming.clear()
        return come

    def write(self, data: bytes) -> None:
        self._touch()
        if self.is_open and data:
            self._taken(data)

    def drain(self, seconds: float) -> None:
        self._touch()

    def _touch(self) -> None:
        self._check()
        if self._hung_up:
            self.close()
            raise PortError(f"{self.url!r} is gone: No such device")
