"""Runs one session, in the one safe order: record, put it on the disk, and only then act.

What comes in is journaled and handed to the procedure; what the procedure wants is done only after
the journal is on the disk.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from firmware_py.platform.clock import SteadyClock
from firmware_py.procedure import events
from firmware_py.sessions.session import Session
from firmware_py.sessions.session_record import BoardMark

Running = TypeVar("Running", bound=Session[Any, Any])


class SessionLoop(Generic[Running]):
    """Runs sessions, one after the other.

    Parameters
    ----------
    clock : SteadyClock
        The clock of the sessions.
    do : callable
        Does what a procedure wants; waiting is done here.
    """

    def __init__(self, clock: SteadyClock, do: Callable[[events.Action], None]) -> None:
        self.session: Running | None = None
        self._clock = clock
        self._do = do
        self._began_us = 0
        self._wait_until_us: int | None = None
        self._actions: list[events.Action] = []

    def adopt(self, session: Running) -> None:
        """Begin with a session, or go on with one."""
        self.session = session
        self._began_us = self._clock.now_us() - session.at_us
        self._wait_until_us = None

    def leave(self) -> None:
        """Put the session on the disk, close its journal and forget it."""
        if self.session is not None:
            self.session.sync()
            self.session.close()
            self.session = None
            self._wait_until_us = None

    def close(self) -> None:
        """Leave a running session as it is; it is gone on with at the next start."""
        if self.session is not None:
            self.session.close()

    def feed(self, event: events.Event, board: BoardMark | None = None) -> None:
        """Give the session an event; without one, or after its end, it means nothing."""
        if self.session is not None and not self.session.over:
            self._actions += self.session.feed(self._now_us(), event, board)

    def advance(self) -> None:
        """Tell the session that the time it waits for has come."""
        if self._wait_until_us is not None and self._now_us() >= self._wait_until_us:
            self._wait_until_us = None
            self.feed(events.TimePassed())

    def seconds_to_wait(self) -> float | None:
        """Return how long nothing has to be done, None for any time."""
        if self._wait_until_us is None:
            return None
        return self._clock.seconds_until(self._began_us + self._wait_until_us)

    def settle(self) -> None:
        """Put everything on the disk, then do what the procedure wants.

        Raises
        ------
        JournalError
            If the disk fails; nothing was done.
        """
        self._sync()
        while self._actions:
            actions, self._actions = self._actions, []
            for action in actions:
                self._take(action)
            self._sync()

    def _take(self, action: events.Action) -> None:
        match action:
            case events.Wait(until_us):
                self._wait_until_us = until_us
            case events.Finish():
                self._wait_until_us = None
            case _:
                self._do(action)

    def _sync(self) -> None:
        if self.session is not None:
            self.session.sync()

    def _now_us(self) -> int:
        return self._clock.now_us() - self._began_us
