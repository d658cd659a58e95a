"""Ports in memory that come and go."""

from collections.abc import Callable
from typing import Final

from firmware_py.platform.ports import Port, PortError

UNSENT_BYTES_MAX: Final = 2000  # far fewer than a real port keeps, so that it comes to that


def _nothing() -> None:
    pass


class SimulatedLine(Port):
    """A serial port in memory.

    Parameters
    ----------
    url : str
        What the firmware opens it by.
    taken : callable
        Given what the firmware writes.
    check : callable, optional
        Called first by everything: raises where the firmware has no power any more.
    overflowed : callable, optional
        Called when it is closed because the other end takes too little.

    Attributes
    ----------
    there : bool
        Whether there is such a port now.
    next_url : str
        What it is called when the firmware is started again.
    takes : bool
        Whether the other end takes bytes now; if not, they wait.
    incoming : bytearray
        What the firmware has not read yet.
    """

    elsewhere = False  # whether its name leads to another device, which takes all and says nothing
    is_open = False  # set here, not found out as that of a real port

    def __init__(
        self, url: str, taken: Callable[[bytes], None], check: Callable[[], None] = _nothing,
        overflowed: Callable[[], None] = _nothing,
    ) -> None:  # fmt: skip
        super().__init__(url, "")
        self.next_url = url
        self.there = self.takes = True
        self.incoming = bytearray()
        self._hung_up = self._leads_elsewhere = False
        self._taken = taken
        self._check = check
        self._overflowed = overflowed

    def open(self) -> None:
        self._check()
        if not self.there:
            raise PortError(f"cannot open {self.url!r}: No such file or directory")
        self.incoming.clear()
        self.is_open, self._leads_elsewhere = True, self.elsewhere

    @property
    def is_ready(self) -> bool:
        """Return whether there is something to be read, or sent, or an error."""
        return bool(self.incoming) or self._hung_up or (self.is_full and self.takes)

    @property
    def is_talking(self) -> bool:
        """Return whether the firmware has it open, and it is there."""
        return self.is_open and not self._hung_up and not self._leads_elsewhere

    def vanish(self) -> None:
        """Go away; who has it open has to open it again, however soon it is back."""
        self.there = False
        self._hung_up = self.is_open
        self.incoming.clear()

    def close(self) -> None:
        """Close it; what is on the way is lost."""
        self.is_open = self._hung_up = False
        self.incoming.clear()
        self._unsent.clear()

    def read(self) -> bytes:
        self._touch()
        come = bytes(self.incoming)
        self.incoming.clear()
        return come

    def write(self, data: bytes) -> None:
        """Send bytes; what the other end does not take is kept."""
        self._touch()
        if not self.is_open:
            return
        self._unsent += data
        if self.takes and self._unsent:
            sent = bytes(self._unsent)
            self._unsent.clear()
            if not self._leads_elsewhere:
                self._taken(sent)
        if len(self._unsent) > UNSENT_BYTES_MAX:
            self.close()
            self._overflowed()
            raise PortError(f"nobody reads at {self.url!r}")

    def drain(self, seconds: float, *_: object) -> None:
        self.write(b"")

    def _touch(self) -> None:
        self._check()
        if self._hung_up:
            self.close()
            raise PortError(f"{self.url!r} is gone: No such device")
