"""What the firmware tells its supervisor, usually systemd: that it is ready, alive, or ending.

systemd names a socket in the environment and takes datagrams of `NAME=value` lines there
(sd_notify(3), systemd.service(5)). Where it names none, nothing is sent.
"""

import math
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from firmware_py.terms.printable import printable

ALIVE_PER_WATCHDOG: Final = 4  # keep-alives per interval, so that some may come late
WATCHDOG_US_MIN: Final = 4_000_000  # an idle loop turns twice a second
US_DIGITS_MAX: Final = 19  # of 64 bits


class SupervisorError(ValueError):
    """A socket that cannot be reached, or an interval that cannot be kept."""


class Supervisor:
    """Tells the program that started the firmware how the firmware is.

    A `SupervisorError` if the socket cannot be reached, or the keep-alive is wanted more often than
    it can come.

    Parameters
    ----------
    environment : mapping
        Of the process; `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` are read.
    say : callable, optional
        Called once, with words for people, when the firmware is ready.
    now_s : callable, optional
        Returns a time in seconds that never goes backwards.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        say: Callable[[str], None] | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._say = say
        self._now_s = now_s
        self._interval_s = _interval_s(environment)
        self._due_s = 0.0
        self._status = ""
        self._address = _address(environment.get("NOTIFY_SOCKET", ""))
        if not self._address:
            return
        import socket  # 330 kB that a device without a supervisor does not need

        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)  # if nobody reads, a keep-alive is lost, but no time
        try:
            self._send("starting")
        except OSError as error:
            shown = environment["NOTIFY_SOCKET"]
            self.close()
            raise SupervisorError(
                f"NOTIFY_SOCKET {shown!r} cannot be reached: {error.strerror}"
            ) from None

    def ready(self, words: str) -> None:
        """Tell that commands are taken."""
        if self._say is not None:
            self._say(words)
        self._try_to_send(words, "READY=1")

    def alive(self, status: str) -> None:
        """Tell that the loop turns, as often as necessary, and what it does."""
        now_s = self._now_s()
        if status == self._status and now_s < self._due_s:
            return
        self._due_s = now_s + self._interval_s
        self._try_to_send(status, "WATCHDOG=1")

    def ending(self, words: str) -> None:
        self._try_to_send(words, "STOPPING=1")

    def close(self) -> None:
        if self._address:
            self._address = ""
            self._socket.close()

    def _try_to_send(self, status: str, *lines: str) -> None:
        with suppress(OSError):  # the firmware goes on: its journal matters more
            self._send(status, *lines)

    def _send(self, status: str, *lines: str) -> None:
        self._status = status
        if self._address:
            told = "\n".join([*lines, f"STATUS={printable(' '.join(status.split()))}"])
            self._socket.sendto(told.encode(), self._address)


def _address(name: str) -> str:
    """Return the address of a socket, "" for none; a name after @ is an abstract one."""
    if name and name[0] not in "/@":
        raise SupervisorError(
            f"NOTIFY_SOCKET is {name!r}; allowed are an absolute path and a name after @"
        )
    return f"\0{name[1:]}" if name.startswith("@") else name


def _interval_s(environment: Mapping[str, str]) -> float:
    """Return the seconds between two keep-alives, infinite if nobody waits for any."""
    wanted = environment.get("WATCHDOG_USEC", "")
    if not wanted or environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return math.inf
    whole = wanted.isascii() and wanted.isdigit() and len(wanted) <= US_DIGITS_MAX
    if not (whole and int(wanted) >= WATCHDOG_US_MIN):
        raise SupervisorError(
            f"WATCHDOG_USEC is {wanted!r}; allowed are whole numbers from {WATCHDOG_US_MIN} on"
        )
    return int(wanted) / 1e6 / ALIVE_PER_WATCHDOG
