"""Drives sessions of one kind, one after the other: what the ports tell goes in, what they do out.

`Driver` is the same for every machine. What a kind of session has of its own is in a class below
it: which of the notices are its events, and how its actions are done.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Generic

from firmware_py.link.client import Client
from firmware_py.link.notices import Greeted, Lost, Notice
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.ports import Port
from firmware_py.presenting.presenter import PAUSED, READY
from firmware_py.sessions.disk_trouble import DiskTrouble
from firmware_py.sessions.identity import Difference, Identity, Meeting, Rule, differences
from firmware_py.sessions.newest_journal import Recorded
from firmware_py.sessions.replay import Replay
from firmware_py.sessions.resumption import (
    RESUME_WITHIN_S,
    Absence,
    away_for_s,
    board_of,
    why_to_wait,
)
from firmware_py.sessions.session import Session
from firmware_py.sessions.session_record import BoardMark, First, Header, Test
from firmware_py.terms import events, tells
from firmware_py.terms.reasons import Code, Reasons, reason

OF_BOARD: Final = ("board", "board_kind", "measured")  # what differs of another tone generator


class Driver(Generic[First, Test]):
    """Runs sessions of one kind, one after the other.

    The person presses the button of the `client`. `tell` is told what happens, in words and
    figures, for the operator. After a longer break than `resume_within_s` a session waits for the
    operator. The driver `ahead` is that of the sessions that go first: the presses are answers to
    their sounds.
    """

    HEADER: ClassVar[type[Header[Any, Any]]]
    FOREIGN: ClassVar[Code]  # why no session goes on with what is plugged in; its part: `differs`

    def __init__(
        self,
        data: DataDirectory,
        client: Client,
        clock: SteadyClock,
        tell: Callable[[str, dict[str, Any]], None],
        resume_within_s: float = RESUME_WITHIN_S,
        ahead: "Driver[Any, Any] | None" = None,
    ) -> None:
        self.session: Session[First, Test] | None = None  # under way
        # or the one before; as it was recorded, if another version replays it
        self.last: Session[First, Test] | Replay[First, Test, Any] | None = None
        self.recorded: Recorded[First] | None = None
        self.absence = Absence(clock, resume_within_s)  # of the board
        self.disk = DiskTrouble(data)
        self._pause = Absence(clock, resume_within_s, Code.WAITS_PAUSED)
        self._data = data
        self._client = client
        self._clock = clock
        self._tell = tell
        self._ahead = ahead

    @property
    def running(self) -> bool:
        return self.session is not None

    @property
    def last_test(self) -> Test | None:
        return self.last.test if self.last else None

    @property
    def ports(self) -> list[Port]:
        """Return the ports of its own, beside that of the tone generator."""
        return []

    # Beginning, going on, ending

    def load_last(self) -> list[str]:
        """Go on with what is unfinished, or show what is over; return what is wrong, in words."""
        newest = self.disk.load_newest(self.HEADER, self._clock)
        self.last, self.recorded = newest.finished, newest.recorded
        if newest.session is not None:
            self._take_up(newest.session)
        return newest.wrong

    def _take_up(self, session: Session[Any, Any]) -> None:
        """Go on with a session; have it wait for the operator, if it may not go on by itself."""
        self._adopt(session)
        ahead = self._ahead.session if self._ahead else None
        if ahead is None:  # whose presses they are that the board knows of
            self._client.remember(session.board.boot, session.board.event, session.board.us)
        if session.over:
            self.settle()
            return
        before, here = session.header.identity(), self._here(board_of(session))
        why = why_to_wait(session, before, here, self._clock, self.absence.within_s)
        if ahead is not None:
            why = (reason(Code.WAITS_TEST, number=ahead.number), *why)
        if why:
            self.feed(events.Paused(why))
        self._was_away(0.0 if why else away_for_s(session, self._clock))

    def _was_away(self, seconds: float) -> None:
        """Take in how long the firmware was away from what it is connected to."""
        self.absence.begins(seconds)

    def _begin(self, header: Any, about: Mapping[str, Any]) -> None:
        """Start a session; `about` it, for the operator. Errors are those of `Session.begin`."""
        data, kind = self._data, header.KIND
        path = data.journal_path(header.session, kind)
        self._adopt(Session.begin(path, header, self._clock, data.seal_key, disk=data.disk))
        data.remember(header.session, kind)
        self._tell(kind, {kind: header.session, "journal": path.name, **about})
        self._start(self._client.last_event)

    def _adopt(self, session: Session[Any, Any]) -> None:
        self.session = self.last = session
        self.recorded = None
        self._pause.ends()
        self.disk.begins_anew()

    def _start(self, event: int) -> None:
        self.feed(events.Started(self._can_mask, self._client.board), self._mark(event))

    def close(self) -> None:
        """Leave a running session as it is; it is gone on with at the next start."""
        if self.session is not None:
            self.session.close()

    def _leave(self) -> None:
        assert self.session is not None
        kind, number = self.HEADER.KIND, self.session.number
        self.session.sync()
        self.session.close()
        self.session = None
        self._tell(f"{kind}-over", {kind: number})

    # What is plugged in

    def _here(self, board: str) -> Identity:
        """Return what a session is gone on with, but for the tone generator, which was `board`."""
        return Identity.of_now(self._data.device)

    def _who_answers(self) -> Identity:
        return Identity.of_now(board=self._client.board)

    @property
    def _can_mask(self) -> bool:
        return False

    def differences(self) -> list[Difference]:
        """Return in what others answer now than the session had; unknown ones are none."""
        if self.session is None:
            return []
        before = self.session.header.identity(board_of(self.session))
        return differences(Meeting.RESUME, before, self._who_answers())

    @property
    def foreign(self) -> Reasons:
        """Return in what these cannot be those of the session; nothing: they can."""
        for each in self.differences():
            if each.rule == Rule.REFUSED:
                return (reason(self.FOREIGN, differs=each.reason_for_anybody),)
        return ()

    def _wait_if_another(self, *fields: str) -> bool:
        """Have the session wait for the operator if one of these differs; return if it may go."""
        another = [each for each in self.differences() if each.field in fields]
        for each in another[-1:]:
            self.feed(events.Paused.by(Code.WAITS_DIFFERS, differs=each.reason_for_anybody))
        return all(each.rule != Rule.REFUSED for each in another)

    def _wait_if_away(self, absence: Absence) -> None:
        """Have the session wait for the operator if what comes back was away for long."""
        why = absence.ends()
        if why and self.session is not None and not self.session.test.waits_why:
            self.feed(events.Paused(why))

    def _look_at_pause(self) -> None:
        """Have a session that was paused for long wait to be told whose it is."""
        test: Any = self.session.test if self.session else None
        if test is None or test.waits_why or test.state != PAUSED:
            self._pause.ends()
            return
        self._pause.begins()
        if why := self._pause.why:
            self.feed(events.Paused(why))

    # Inputs

    def feed(self, event: events.Event, board: BoardMark | None = None) -> None:
        """Give the session under way an event; without one, or after its end, it means nothing."""
        if isinstance(event, events.Continued):
            self._pause.ends()  # what follows may be a pause of its own
        if self.session is not None and self.disk.failure is None:
            with self.disk.noting():  # then the session is left with the next `record`
                self.session.feed(event, board)

    def notice(self, notice: Notice) -> None:
        match notice:
            case Greeted():
                self._meet(notice)
            case Lost(why, disbelieved):
                self.absence.begins()
                lost = events.BoardDisbelieved if disbelieved else events.BoardLost
                self.feed(lost.by(Code.BOARD_LOST, told=why))
            case _ if self.session is not None and not self.foreign:
                self._take_event(self.session, notice)

    def _take_event(self, session: Session[First, Test], notice: Notice) -> None:
        """Take in what a tone generator of this session told: which of it are events."""
        raise NotImplementedError

    def _meet(self, board: Greeted) -> None:
        self._wait_if_away(self.absence)
        # A session is told of no board until one of its own kind is back.
        if self.session is None or not self._wait_if_another(*OF_BOARD):
            return
        if self.session.test.state == READY:
            self._start(board.event)
            return
        ready = events.BoardReady(self._is_known(board), self._can_mask, board.name)
        self.feed(ready, self._mark(board.event))

    def _is_known(self, board: Greeted) -> bool:
        return False

    def _mark(self, event: int) -> BoardMark:
        """Return that everything up to this event of the board is known.

        The client may have taken in more: what came in the same bytes is recorded one by one, and
        the power may go in between.
        """
        return BoardMark(self._client.boot, event)

    # Time

    @property
    def _is_timeless(self) -> bool:
        return False

    def advance(self) -> None:
        """Tell the session that the time it waits for has come, or that nobody was there."""
        self._look_at_pause()
        if self.session is not None and not self._is_timeless:
            self.session.pass_time()

    def seconds_to_wait(self) -> float | None:
        if self.session is None or self._is_timeless:
            return None
        return self.session.seconds_to_wait()

    # Outputs

    def record(self) -> None:
        """Put everything on the disk. A session is ended in time, while there is room for that.

        One of which the disk refuses something is left as it is there: `disk` has the words.
        """
        if (session := self.session) is None:
            return
        why = self.disk.why_to_end() if session.is_unsynced and not session.over else ()
        if why:
            self.feed(events.Aborted(why))
        with self.disk.noting():
            if self.disk.failure is None:
                session.sync()
                self.disk.end(f"{self.HEADER.KIND} {session.number}", why)
        self._leave_if_refused()

    def settle(self) -> None:
        """Put everything on the disk, as `record`; only then do what the session wants."""
        self.record()
        if self.session is None:
            return
        with self.disk.noting():
            self.session.settle(self._do)
            if self.session.over and self.disk.failure is None:
                self._leave()
        self._leave_if_refused()

    def _leave_if_refused(self) -> None:
        """Leave a session that cannot be recorded any more, and end what sounds."""
        if self.session is None or self.disk.failure is None:
            return
        session, self.session, self.last = self.session, None, None
        self.recorded = Recorded(session.header, None)
        session.close()
        self.disk.leave(f"{self.HEADER.KIND} {session.number}", str(self.disk.failure))
        self._fall_silent()

    def _fall_silent(self) -> None:
        self._client.silence()

    def _do(self, action: events.Action) -> None:
        """Do what the machine wants; what the operator is told is the same for all."""
        if isinstance(action, tells.Tell):
            self._tell(action.WHAT, action.figures())
