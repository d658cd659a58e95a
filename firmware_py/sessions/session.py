"""Run a session with its journal.

The journal holds every input of the procedure with its time, and every output that reaches the
listener: `replay.py` makes the state of the session of it again.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, Self

from firmware_py.journal import Disk, JournalError, JournalWriter, SealKey
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.own_prior import find_beside
from firmware_py.platform.version import full_version
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.replay import Replay, ReplayError, replay_from
from firmware_py.sessions.session_course import RESUMED, RESUMED_BY, input_of
from firmware_py.sessions.session_record import (
    BoardMark,
    First,
    SessionHeader,
    SessionRecordError,
    Test,
)
from firmware_py.terms.events import Action, Event, Finish, TimePassed, Wait, as_record, records_of
from firmware_py.terms.printable import show


class Session(Generic[First, Test]):
    """A running machine with its journal, in the one safe order: record, put on the disk, then act.

    Made by `begin` or `resume`. The machine is pure: a hearing test, or a tuning.
    """

    def __init__(
        self, journal: JournalWriter, state: Replay[First, Test, Any], clock: SteadyClock
    ) -> None:
        self.header = state.header
        self.journal = journal
        self.test = state.test
        self.at_us = state.at_us
        self.board = state.board
        self.last_input_at = state.last_input_at
        self.resumed = state.resumed
        self._resumes = ""  # when it is, for the next input to say
        self._clock = clock
        self._began_us = clock.now_us() - state.at_us
        self._wait_until_us: int | None = None
        self._actions: list[Action] = []  # that wait to be done

    @classmethod
    def begin(
        cls,
        path: Path,
        header: First,
        clock: SteadyClock,
        seal_key: SealKey | None = None,
        *,
        disk: Disk | None = None,
    ) -> Self:
        """Start a new journal, whose first record has all that its procedure begins from.

        Where nobody could read that record again no journal is begun: `SessionRecordError`.
        """
        record, test = header.to_record(), header.new_test(find_beside(path.parent, disk))
        if type(header).from_record(record) != header:
            raise SessionRecordError(f"the header comes back as another: {show(record)}")
        journal = JournalWriter.create(path, record, disk=disk, seal_key=seal_key)
        return cls(journal, Replay(header, test), clock)

    @classmethod
    def resume(
        cls,
        path: Path,
        kind: type[First],
        clock: SteadyClock,
        seal_key: SealKey | None = None,
        *,
        disk: Disk | None = None,
    ) -> "tuple[Self, int]":
        """Go on with a session; return it, and how many torn bytes were cut off its journal.

        `ReplayError` if it cannot be followed, or its outputs do not come out as recorded.
        """
        journal, recovered = JournalWriter.resume(path, disk=disk, seal_key=seal_key)
        try:
            state = replay_from(kind, recovered.records, None, find_beside(path.parent, disk))
            if state.differences:
                first = state.differences[0]
                raise ReplayError(
                    f"record {first.record} has {first.recorded}, this firmware "
                    f"({full_version()}) gives {first.replayed}: it cannot be gone on with here"
                )
            session = cls(journal, state, clock)
            if not recovered.complete:
                session._record_outputs(state.pending)
            if not session.over:
                session.resumed += 1
                session._resumes = clock.date().isoformat(timespec="seconds")
        except SessionRecordError as error:
            journal.close()
            raise ReplayError(str(error)) from None
        except BaseException:
            journal.close()
            raise
        return session, recovered.torn_bytes

    @property
    def number(self) -> int:
        return self.header.session

    @property
    def over(self) -> bool:
        return self.test.outcome != ""

    def feed(self, event: Event, board: BoardMark | None = None) -> None:
        """Give the machine an event; record it and what comes of it. After its end, nothing.

        Nothing is on the disk, and nothing reaches the listener, before `settle`.
        """
        if self.over:
            return
        at_us = max(self._now_us(), self.at_us)
        record: dict[str, Any] = {"kind": "input", "at_us": at_us, "event": as_record(event)}
        if board is not None:
            record["board"] = [board.boot, board.event]
        if self._resumes:
            record[RESUMED] = self._resumes
            if self.header.is_of_another_version:
                record[RESUMED_BY] = full_version()
        number = self.journal.record_count
        read = input_of(self.header, number, record, self.board)
        if read.event != event:
            raise SessionRecordError(f"record {number}: {show(record)} comes back as another")
        self.journal.append(record)
        self.at_us, self.board, self._resumes = at_us, read.board, ""
        actions = self.test.handle(self.at_us, event)
        self._record_outputs(records_of(actions))
        self._actions += actions

    def pass_time(self) -> None:
        if self._wait_until_us is not None and self._now_us() >= self._wait_until_us:
            self._wait_until_us = None
            self.feed(TimePassed())

    def seconds_to_wait(self) -> float | None:
        if self._wait_until_us is None:
            return None
        return self._clock.seconds_until(self._began_us + self._wait_until_us)

    def settle(self, do: Callable[[Action], None]) -> None:
        """Put everything on the disk, then have done what the machine wants; it waits here.

        After a `JournalError` nothing was done, the session cannot go on, and what was on the disk
        stays there.
        """
        self.sync()
        while self._actions:
            actions, self._actions = self._actions, []
            for action in actions:
                match action:
                    case Wait(until_us):
                        self._wait_until_us = until_us
                    case Finish():
                        self._wait_until_us = None
                    case _:
                        do(action)
            self.sync()

    def sync(self) -> None:
        """Put everything on the disk; `JournalError` as of `settle`."""
        if self.is_unsynced:
            self.journal.sync()

    @property
    def is_unsynced(self) -> bool:
        return self.journal.synced_count < self.journal.record_count

    def close(self) -> None:
        """Close the journal; what cannot be written any more was reported before."""
        try:
            self.journal.close()
        except JournalError:
            return

    def _record_outputs(self, outputs: list[dict[str, Any]]) -> None:
        for output in outputs:
            self.header.result_of(self.journal.record_count, output)  # it can be read again
            self.journal.append({"kind": "output", "action": output})
        if self.over:
            self.journal.append({"kind": "end"})

    def _now_us(self) -> int:
        return self._clock.now_us() - self._began_us


HearingSession = Session[SessionHeader, HearingTest]
