"""Carries events between the wire and a hearing test.

`session_loop.py` has the one safe order; what the board reported is acknowledged after it.
"""

from collections.abc import Callable
from typing import Any, Final

from firmware_py.board.sounds import TooLoudError, sound_of_test
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationInForce, CalibrationOnFile
from firmware_py.link import notices
from firmware_py.link.client import Client
from firmware_py.link.notices import Greeted, Lost, Missed, Notice, Refused, TimeTold, UnknownEvent
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.procedure import events, tells
from firmware_py.procedure.hearing import HearingTest
from firmware_py.procedure.person import UNKNOWN, Person
from firmware_py.procedure.presenter import READY, STARTING
from firmware_py.procedure.reasons import Code, Reason
from firmware_py.procedure.settings import Settings
from firmware_py.sessions.identity import Identity
from firmware_py.sessions.newest_journal import load_newest
from firmware_py.sessions.resumption import (
    RESUME_WITHIN_S,
    Absence,
    another_board,
    away_for_s,
    board_of,
    foreign_board,
    waits_words,
    why_to_wait,
)
from firmware_py.sessions.session import HearingSession, Session
from firmware_py.sessions.session_loop import SessionLoop
from firmware_py.sessions.session_record import BoardMark, SessionHeader

SESSIONS_IN_TONE_ID: Final = 1000  # an id has at most 8 characters: "999-9999"


class Runner:
    """Runs hearing tests, one after the other.

    Parameters
    ----------
    data : DataDirectory
        Where the journals are.
    client : Client
        The wire to the tone generator.
    clock : SteadyClock
        The clock of the tests.
    tell : callable
        Told what happens, in words and figures, for the operator.
    calibration : CalibrationOnFile, optional
        Of the sessions that begin from now on; one that goes on keeps its own.
    resume_within_s : float, optional
        After a longer break than this a test waits for the operator.
    """

    def __init__(
        self,
        data: DataDirectory,
        client: Client,
        clock: SteadyClock,
        tell: Callable[[str, dict[str, Any]], None],
        calibration: CalibrationOnFile = NO_CALIBRATION,
        resume_within_s: float = RESUME_WITHIN_S,
    ) -> None:
        self._data = data
        self._client = client
        self._clock = clock
        self._tell = tell
        self._calibration = calibration
        self.absence = Absence(clock, resume_within_s)  # of the board
        self._loop: SessionLoop[HearingSession] = SessionLoop(clock, self._do)
        self.last_test: HearingTest | None = None
        self.last_header: SessionHeader | None = None  # of the last test
        self.last_resumed = 0  # how many times the last test was
        self.has_begun = False  # the last test, itself; not one before it, whose test it took up
        self._taken_up_after: int | None = None  # so many tones, by this firmware
        self._told_event = 0
        # In what the board cannot be one for the test under way; None: it can.
        self.foreign_board: Reason | None = None

    @property
    def session(self) -> HearingSession | None:
        """Return the session under way."""
        return self._loop.session

    @property
    def last_calibration(self) -> CalibrationInForce:
        """Return that of the last test."""
        return self.last_header.calibration if self.last_header else CalibrationInForce()

    @property
    def running(self) -> bool:
        """Return whether a test is under way."""
        return self.session is not None

    # Beginning, going on, ending

    def load_last(self) -> list[str]:
        """Go on with an unfinished test, or show a finished one; see `load_newest`.

        Returns what is wrong with journals, in words.
        """
        newest = load_newest(self._data, self._clock.date())
        if newest.finished is not None:
            state = newest.finished
            self.last_test, self.last_header = state.test, state.header
            self.last_resumed = state.resumed
        if newest.session is not None:
            session = newest.session
            self._adopt(session)
            self._client.remember(session.board.boot, session.board.event, session.board.us)
            if session.over:
                self._close()
            else:
                ears = session.test.ears.values()
                self._taken_up_after = sum(ear.tally.tones for ear in ears)
                self._wait_if_unsure(session)
                self.tell_resumed()
        return newest.wrong

    def _wait_if_unsure(self, session: HearingSession) -> None:
        """Have a session that was taken up wait for the operator, if it may not go on by itself."""
        before = session.header.identity()
        here = Identity.of_now(self._data.device, "", self.calibration_today(board_of(session)))
        why = why_to_wait(session, before, here, self._clock, self.absence.within_s)
        if why:
            self.feed(events.Paused(why))
        self.absence.begins(0.0 if why else away_for_s(session, self._clock))

    def tell_resumed(self) -> None:
        """Tell that a test under way was taken up again, if it was."""
        if self.session is not None and self._taken_up_after is not None:
            about = {"session": self.session.number, "tones": self._taken_up_after}
            self._tell("resumed", about)

    def resumed_words(self) -> str:
        """Say which test goes on, and after how many tones; empty: none was taken up again."""
        if self.session is None or self._taken_up_after is None:
            return ""
        number, tones = self.session.number, self._taken_up_after
        return waits_words(self.session) or f"session {number} goes on, tones so far: {tones}"

    def begin(self, settings: Settings, person: Person = UNKNOWN) -> None:
        """Start a test.

        Raises
        ------
        SettingError
            If the estimator does not take these settings, or this person's age or sex.
        JournalError
            If its journal cannot be written.
        DataDirectoryError
            If the data directory cannot be read any more.
        """
        data, now, board = self._data, self._clock.date(), self._client.board
        today = self._calibration.judged(now.date(), board)
        number, speed = data.next_number(), self._clock.told_speed
        path = data.journal_path(number)
        started = now.isoformat(timespec="seconds")
        header = SessionHeader(
            number, started, settings, person, today,
            device=data.device, tone_generator=board, speed=speed,
        )  # fmt: skip
        session: HearingSession = Session.begin(path, header, data.seal_key, disk=data.disk)
        self._adopt(session)
        self.has_begun = True
        about = {"session": number, "journal": path.name, "calibration": today.state}
        self._tell("session", about)
        self._start(self._client.last_event)

    def _adopt(self, session: HearingSession) -> None:
        self._loop.adopt(session)
        self.last_test, self.last_header = session.test, session.header
        self.last_resumed, self._taken_up_after, self.foreign_board = session.resumed, None, None

    def _start(self, event: int) -> None:
        started = events.Started(self._client.can_mask, self._client.board)
        self.feed(started, self._mark(event))

    def _mark(self, event: int) -> BoardMark:
        """Return that everything up to this event of the board is known.

        The client may have taken in more: what came in the same bytes is recorded one by one, and
        the power may go in between.
        """
        return BoardMark(self._client.boot, event)

    def calibration_today(self, board: str = "") -> CalibrationInForce:
        """Return the calibration of a test that would begin now, with the board greeted last."""
        return self._calibration.judged(self._clock.date().date(), board or self._client.board)

    def close(self) -> None:
        """Leave a running test as it is; it is gone on with at the next start."""
        self._loop.close()

    def _close(self) -> None:
        if self.session is not None:
            number = self.session.number
            self._loop.leave()
            self._tell("session-over", {"session": number})

    # Inputs

    def feed(self, event: events.Event, board: BoardMark | None = None) -> None:
        """Give the running test an event; without a test, or after its end, it means nothing."""
        self._loop.feed(event, board)

    def notice(self, notice: Notice) -> None:
        """Give the running test what came over the wire."""
        match notice:
            case Greeted(event=event):
                self._told_event = event  # what was before is told no more, and may be forgotten
                self._greeted(notice)
            case UnknownEvent(number, verb):
                self._told_event = number
                self._tell("foreign-event", {"verb": verb})
            case (
                notices.ToneStarted()
                | notices.ToneEnded()
                | notices.ButtonPressed()
                | notices.ButtonReleased()
            ):
                self._told(notice)
            case TimeTold(us):
                self.feed(events.BoardTime(us))
            case Refused("tone", "noise") if self._tone_is_asked():
                self.feed(events.NoiseEnded())
            case Refused("tone", code, name) if self._tone_is_asked():
                what = f"{code} {name}".strip()
                self.feed(events.Aborted.by(Code.TONE_REFUSED, told=what))
            case Refused("mask", code, name):
                what = f"{code} {name}".strip()
                self.feed(events.NoiseRefused.by(Code.NOISE_REFUSED, told=what))
            case Missed(count, event) if not self.foreign_board:
                # Ask again what is under way: nobody knows what became of it.
                self.feed(events.BoardLost.by(Code.EVENTS_LOST, count=count))
                ready = events.BoardReady(False, self._client.can_mask, self._client.board)
                self.feed(ready, self._mark(event))
            case Lost(why, disbelieved):
                self.absence.begins()
                lost = events.BoardDisbelieved if disbelieved else events.BoardLost
                self.feed(lost.by(Code.BOARD_LOST, told=why))

    def _tone_is_asked(self) -> bool:
        """Return whether it is a tone of the test that the board owes an answer for.

        One for the sound level meter may be refused when a test has just begun.
        """
        return self.session is not None and self.session.test.state == STARTING

    def _greeted(self, board: Greeted) -> None:
        long_away = self.absence.ends()
        if self.session is None:
            return
        another = another_board(self.session, board.name)
        self.foreign_board = foreign_board(another)
        if long_away and not self.session.test.waits_why:
            self.feed(events.Paused(long_away))
        if another:
            self.feed(events.Paused.by(Code.WAITS_DIFFERS, differs=another[-1].reason))
        if self.foreign_board:
            return  # the test is told of no board until one of its own kind is back
        if self.session.test.state == READY:
            self._start(board.event)
            return
        under_way = self._tone_id(self.session.test.number)
        known = board.boot == self.session.board.boot and board.tone_id == under_way
        ready = events.BoardReady(known, board.can_mask, board.name)
        self.feed(ready, self._mark(board.event))

    def _told(self, notice: notices.KnownEvent) -> None:
        self._told_event = notice.event
        event = _board_event(notice, self._tone_id(0) if self.session else "")
        if event is not None and not self.foreign_board:
            self.feed(event, self._mark(notice.event))

    # Time

    def advance(self) -> None:
        """Tell the running test that the time it waits for has come.

        While the board owes an answer no time passes for the test: what it waits for may have
        happened, and its word be on the way.
        """
        if not self._client.busy:
            self._loop.advance()

    def seconds_to_wait(self) -> float | None:
        """Return how long nothing has to be done, None for any time."""
        return None if self._client.busy else self._loop.seconds_to_wait()

    # Outputs

    def settle(self) -> None:
        """Put everything on the disk, then do what the procedure wants, then acknowledge.

        Raises
        ------
        JournalError
            If the disk fails; nothing was done.
        """
        self._loop.settle()
        if self._told_event:
            self._client.acknowledge(self._told_event)
            self._told_event = 0
        if self.session is not None and self.session.over:
            self._close()

    def _do(self, action: events.Action) -> None:
        match action:
            case events.Play() | events.Mask() | events.Unmask():
                self._sound(action)
            case events.Silence():
                self._client.silence()
            case events.AskBoardTime():
                self._client.ask_time()
            case tells.Tell():
                self._tell(action.WHAT, self.last_calibration.in_unit(action.figures()))

    def _sound(self, sound: events.Play | events.Mask | events.Unmask) -> None:
        """Have the board sound; what is too loud ends the test instead, and its record is kept."""
        if not self._client.connected:
            return  # the board is lost; the tone and its noise are asked again when it is back
        assert self.last_header is not None
        number = sound.number if isinstance(sound, events.Play) else 0
        header = self.last_header
        try:
            sound_of_test(
                self._client, header.calibration, header.settings, self._tone_id(number), sound
            )
        except TooLoudError as error:
            self.feed(events.Aborted((error.reason_in_test(sound),)))

    def _tone_id(self, number: int) -> str:
        session = self.session.number if self.session else 0
        return f"{session % SESSIONS_IN_TONE_ID}-{number}"


def _board_event(notice: notices.KnownEvent, tone_id: str) -> events.Event | None:
    """Return what the board told as an event; None of a tone of another session.

    `tone_id` is that of any tone of the session, "" without one.
    """
    match notice:
        case notices.ButtonPressed(_, at_us, button):
            return events.ButtonPressed(at_us, button)
        case notices.ButtonReleased(_, at_us, button):
            return events.ButtonReleased(at_us, button)
    session, _, tone = notice.tone_id.partition("-")
    if session != tone_id.partition("-")[0] or not tone.isdecimal():
        return None
    if isinstance(notice, notices.ToneStarted):
        return events.ToneStarted(int(tone), notice.at_us)
    return events.ToneEnded(int(tone), notice.at_us, notice.cut)
