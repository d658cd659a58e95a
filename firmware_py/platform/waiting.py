"""Waiting for something to happen: bytes at a port, the time, or a word to stop."""

import os
import select
import time
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from firmware_py.platform.ports import Port

POLL_S: Final = 0.005  # for a port without a file descriptor


class Waiting(Protocol):
    """What the loop waits with."""

    def wait(self, ports: Sequence[Port], seconds: float) -> None:
        """Wait until a port has bytes, a full one takes more, the time is over, or it is rung."""

    def sleep(self, seconds: float) -> None:
        """Let so much time pass, whatever happens."""

    def ring(self) -> None:
        """End the wait, and every later one at once; a signal handler may call this."""

    def close(self) -> None: ...


class SystemWaiting:
    """Waits with the system's `select`."""

    def __init__(self) -> None:
        self._rung, self._bell = os.pipe()

    def wait(self, ports: Sequence[Port], seconds: float) -> None:
        readers = _descriptors(ports)
        if len(readers) < len(ports):
            seconds = min(seconds, POLL_S)
        writers = _descriptors(port for port in ports if port.is_full)
        select.select([*readers, self._rung], writers, [], seconds)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def ring(self) -> None:
        os.write(self._bell, b"!")

    def close(self) -> None:
        os.close(self._rung)
        os.close(self._bell)


def _descriptors(ports: Iterable[Port]) -> list[int]:
    return [fd for fd in (port.fileno() for port in ports) if fd is not None]
