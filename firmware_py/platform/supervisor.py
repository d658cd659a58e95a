"""Whoever started the firmware: told that it is ready, that it lives, what it does, and its end.

systemd names a socket in the environment and takes datagrams of `NAME=value` lines there
(sd_notify(3), systemd.service(5)). Where none is named, only the words for people are said.
"""

import math
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

ALIVE_PER_WATCHDOG: Final = 4  # so that some may come late
WATCHDOG_US_MIN: Final = 4_000_000  # the idle loop looks around twice a second


class SupervisorError(ValueError):
    """An environment that asks for what cannot be done."""


class Supervisor:
    """Tells whoever started the firmware how it is.

    Parameters
    ----------
    environment : mapping
        Of the process: `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` count.
    say : callable, optional
        Told in words, once, that the firmware is ready.
    now_s : callable, optional
        Returns a time in seconds that never goes backwards.

    Raises
    ------
    SupervisorError
        If the socket cannot be reached, or the keep-alive is wanted oftener than it can come.
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
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)  # nobody reads: a keep-alive is lost, and no time
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
        """Tell that the loop goes round, as often as it has to be told, and what it does."""
        now_s = self._now_s()
        if status == self._status and now_s < self._due_s:
            return
        self._due_s = now_s + self._interval_s
        self._try_to_send(status, "WATCHDOG=1")

    def ending(self, words: str) -> None:
        """Tell that the firmware ends, and why."""
        self._try_to_send(words, "STOPPING=1")

    def close(self) -> None:
        """Tell nothing any more."""
        if self._address:
            self._address = ""
            self._socket.close()

    def _try_to_send(self, status: str, *lines: str) -> None:
        with suppress(OSError):  # the firmware goes on: its journal counts
            self._send(status, *lines)

    def _send(self, status: str, *lines: str) -> None:
        self._status = status
        if self._address:
            told = "\n".join([*lines, f"STATUS={' '.join(status.split())}"])
            self._socket.sendto(told.encode(), self._address)


def _address(name: str) -> str:
    """Return the address of a socket, "" for none; what begins with @ is no file."""
    if name and name[0] not in "/@":
        raise SupervisorError(
            f"NOTIFY_SOCKET is {name!r}; allowed are an absolute path and a name after @"
        )
    return f"\0{name[1:]}" if name.startswith("@") else name


def _interval_s(environment: Mapping[str, str]) -> float:
    """Return how often to tell that the loop lives, infinity if nobody waits for it."""
    wanted = environment.get("WATCHDOG_USEC", "")
    if not wanted or environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return math.inf
    if not (wanted.isascii() and wanted.isdigit() and int(wanted) >= WATCHDOG_US_MIN):
        raise SupervisorError(
            f"WATCHDOG_USEC is {wanted!r}; allowed are whole numbers from {WATCHDOG_US_MIN} on"
        )
    return int(wanted) / 1e6 / ALIVE_PER_WATCHDOG
