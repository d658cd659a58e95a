"""Runs tunings: carries events between the aid, the button and the procedure."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from firmware_py.board.sounds import check_setting, play_speech, use_setting
from firmware_py.journal import JournalReadError, JournalUnstartedError, read_journal
from firmware_py.link import notices
from firmware_py.link.aid import AidGone, AidGreeted, AidRefused, SpeechPlayed
from firmware_py.link.client import Client
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import TUNING, DataDirectory
from firmware_py.platform.ports import Port
from firmware_py.procedure import events, tells
from firmware_py.procedure.reasons import Code, Reasons, reason
from firmware_py.procedure.tuning.events import (
    AidLost,
    AidReady,
    PlaySpeech,
    SpeechEnded,
    StopSpeech,
    UseSetting,
)
from firmware_py.procedure.tuning.settings import TuningSettings
from firmware_py.procedure.tuning.space import Setting
from firmware_py.procedure.tuning.tells import NobodyTold, SettingTold
from firmware_py.procedure.tuning.tuning import State, Tuning
from firmware_py.sessions.identity import Difference, Identity, Meeting, Rule, differences
from firmware_py.sessions.resumption import RESUME_WITHIN_S, Absence, away_for_s, why_to_wait
from firmware_py.sessions.session import HearingSession, ReplayError, Session, replay_from
from firmware_py.sessions.session_loop import SessionLoop
from firmware_py.sessions.session_record import BoardMark
from firmware_py.tuning.aid_connection import AidConnection
from firmware_py.tuning.tuning_record import TuningHeader

TuningSession = Session[TuningHeader, Tuning]
NO_AID: Final = "the hearing aid does not answer"


class Tuner:
    """Runs tunings, one after the other.

    Parameters
    ----------
    data : DataDirectory
        Where the journals are.
    board : Client
        The wire to the tone generator, whose button the person presses.
    aid : Port
        The port of the hearing aid, not yet open.
    clock : SteadyClock
        The clock of the tunings.
    tell : callable
        Told what happens, in words and figures, for the operator.
    resume_within_s : float, optional
        After a longer break than this a tuning waits for the operator.
    """

    def __init__(
        self,
        data: DataDirectory,
        board: Client,
        aid: Port,
        clock: SteadyClock,
        tell: Callable[[str, dict[str, Any]], None],
        resume_within_s: float = RESUME_WITHIN_S,
    ) -> None:
        self.aid = AidConnection(aid, clock)
        self.last: Tuning | None = None
        self.last_header: TuningHeader | None = None  # of the last tuning
        self._resume_within_s = resume_within_s
        self._board_away, self._aid_away = (Absence(clock, resume_within_s) for _ in range(2))
        self._person_away = Absence(clock, resume_within_s, Code.WAITS_PAUSED)
        self._data = data
        self._board = board
        self._clock = clock
        self._tell = tell
        self._loop: SessionLoop[TuningSession] = SessionLoop(clock, self._do)

    @property
    def session(self) -> TuningSession | None:
        """Return the tuning under way."""
        return self._loop.session

    @property
    def running(self) -> bool:
        """Return whether a tuning is under way."""
        return self._loop.session is not None

    @property
    def foreign(self) -> Reasons:
        """Return in what aid or board cannot be those of the tuning; nothing: they can."""
        for each in self._differences():
            if each.rule == Rule.REFUSED:
                return (reason(Code.FOREIGN_AID, differs=each.reason_for_anybody),)
        return ()

    def _differences(self) -> list[Difference]:
        """Return in what aid and board are others than the tuning had; unknown ones are none."""
        if self.session is None:
            return []
        session, aid, board = self.session, self.aid.greeted, self._board.board
        now = Identity.of_now(board=board) if aid is None else Identity.of_aid(aid, board)
        before = session.header.identity(session.test.board)
        return differences(Meeting.RESUME, before, now)

    def load_last(self, test: HearingSession | None = None) -> list[str]:
        """Go on with an unfinished tuning; return what is wrong with the newest journal.

        `test`: one that goes on, too, and before it.
        """
        for path in reversed(self._data.journals(TUNING)):
            try:
                recovered = read_journal(path, disk=self._data.disk)
                if recovered.complete and not recovered.torn_bytes:
                    state = replay_from(TuningHeader, recovered.records)
                    self.last, self.last_header = state.test, state.header
                    return []
                session: TuningSession
                session, torn_bytes = Session.resume(
                    path, self._data.seal_key, disk=self._data.disk,
                    replay=partial(replay_from, TuningHeader), now=self._clock.date(),
                )  # fmt: skip
            except JournalUnstartedError:
                continue
            except (JournalReadError, ReplayError) as error:
                return [f"{path.name}: {error}; it is left as it is"]
            self._take_up(session, test)
            return [f"{path.name} had a torn end of {torn_bytes} bytes"] if torn_bytes else []
        return []

    def _take_up(self, session: TuningSession, test: HearingSession | None) -> None:
        self._adopt(session)
        if test is None:  # whose presses they are that the board knows of
            self._board.remember(session.board.boot, session.board.event, session.board.us)
        if session.over:
            self._close()
            return
        before = session.header.identity(session.test.board)
        here = Identity.of_now(self._data.device)
        why = why_to_wait(session, before, here, self._clock, self._resume_within_s)
        if test is not None:
            why = (reason(Code.WAITS_TEST, number=test.number), *why)
        if why:
            self.feed(events.Paused(why))
        for away in (self._board_away, self._aid_away):
            away.begins(0.0 if why else away_for_s(session, self._clock))
        self._tell("tuning-resumed", {"tuning": session.number})

    def begin(self, settings: TuningSettings, identifier: str | None) -> None:
        """Start a tuning; the aid answers.

        Raises
        ------
        JournalError
            If its journal cannot be written.
        DataDirectoryError
            If the data directory cannot be read any more.
        """
        assert self.aid.greeted is not None
        number = self._data.next_number(TUNING)
        path = self._data.journal_path(number, TUNING)
        started = self._clock.date().isoformat(timespec="seconds")
        header = TuningHeader(
            number, started, settings, self.aid.greeted.aid, identifier, device=self._data.device
        )
        session: TuningSession = Session.begin(
            path, header, self._data.seal_key, disk=self._data.disk
        )
        self._adopt(session)
        self._tell("tuning", {"tuning": number, "journal": path.name, "fit": settings.fit})
        self.feed(events.Started(board=self._board.board), self._mark(self._board.last_event))

    def _adopt(self, session: TuningSession) -> None:
        self._person_away.ends()
        self._loop.adopt(session)
        self.last, self.last_header = session.test, session.header

    def feed(self, event: events.Event, board: BoardMark | None = None) -> None:
        """Give the tuning an event; without one, or after its end, it means nothing."""
        if isinstance(event, events.Continued):
            self._person_away.ends()
        if isinstance(event, events.Paused):
            self._person_away.begins()
        self._loop.feed(event, board)

    def notice(self, notice: notices.Notice, *, in_test: bool = False) -> None:
        """Give the tuning what came over the wire of the tone generator.

        `in_test`: a test is under way, which goes first: the presses are answers to its tones.
        """
        match notice:
            case notices.Greeted(event=event):
                self._board_greeted(event)
            case notices.ButtonPressed(event, at_us, button) if not in_test and not self.foreign:
                self._wait_if_long_away(self._person_away)
                self.feed(events.ButtonPressed(at_us, button), self._mark(event))
            case notices.Lost(why):
                self._board_away.begins()
                self.feed(events.BoardLost.by(Code.BOARD_LOST, told=why))

    def _wait_if_long_away(self, absence: Absence) -> None:
        """Have the tuning wait for the operator if what comes back was away for long."""
        why = absence.ends()
        if why and self.session is not None and not self.session.test.waits_why:
            self.feed(events.Paused(why))

    def _board_greeted(self, event: int) -> None:
        self._wait_if_long_away(self._board_away)
        if self.session is None:
            return
        board = self._board.board
        if self.session.test.state == State.READY:
            self.feed(events.Started(board=board), self._mark(event))
        elif self._wait_if_another("board", "board_kind"):
            self.feed(events.BoardReady(False, board=board), self._mark(event))

    def _wait_if_another(self, *fields: str) -> bool:
        """Have the tuning wait for the operator if one of these differs; return if it may go on."""
        another = [each for each in self._differences() if each.field in fields]
        for each in another[-1:]:
            differs = reason(Code.WAITS_DIFFERS, differs=each.reason_for_anybody)
            self.feed(events.Paused((differs,)))
        return all(each.rule != Rule.REFUSED for each in another)

    def _mark(self, event: int) -> BoardMark:
        return BoardMark(self._board.boot, event)

    def serve(self) -> None:
        """Take in what the aid tells, and tell it what it is to do."""
        for notice in self.aid.serve():
            match notice:
                case AidGreeted(aid=aid, fit=fit):
                    self._tell("hearing-aid", {"aid": aid, "fit": fit})
                    self._aid_greeted()
                case SpeechPlayed(number):
                    self.feed(SpeechEnded(number))
                case AidRefused(command, why):
                    refused = reason(Code.AID_REFUSED, command=command, told=why)
                    self.feed(events.Aborted((refused,)))
                case AidGone(why):
                    self._aid_away.begins()
                    self.feed(AidLost.by(Code.AID_LOST, told=why))

    def _aid_greeted(self) -> None:
        """Go on with a tuning, if the aid is fitted as it was, and for whom it was."""
        self._wait_if_long_away(self._aid_away)
        if self._wait_if_another("identifier", "aid", "fit"):
            self.feed(AidReady())
        else:
            self.feed(AidLost(self.foreign))

    def advance(self) -> None:
        """Tell the tuning that the time it waits for has come, or that the operator was away."""
        if self._person_away.why:
            self._wait_if_long_away(self._person_away)
        self._loop.advance()

    def seconds_to_wait(self) -> float | None:
        """Return how long nothing has to be done, None for any time."""
        waits = [self._loop.seconds_to_wait(), self.aid.seconds_to_wait()]
        return min((wait for wait in waits if wait is not None), default=None)

    def settle(self) -> None:
        """Put everything on the disk, then do what the procedure wants.

        Raises
        ------
        JournalError
            If the disk fails; nothing was done.
        """
        self._loop.settle()
        if self.session is not None and self.session.over:
            self._close()

    def close(self) -> None:
        """Leave a running tuning as it is; it is gone on with at the next start."""
        self._loop.close()
        self.aid.close(stop=not self.foreign)

    def _close(self) -> None:
        assert self.session is not None
        number = self.session.number
        self._loop.leave()
        self._tell("tuning-over", {"tuning": number})

    def _do(self, action: events.Action) -> None:
        sent = self.aid.client.connected and not self.foreign
        match action:
            case PlaySpeech() | UseSetting() | SettingTold():
                if sent:  # or it is asked again when the aid is back
                    self._do_at(action)
            case tells.Tell():
                self._tell(action.WHAT, action.figures())
                if isinstance(action, NobodyTold):
                    self._person_away.begins()
            case StopSpeech() if sent:
                self.aid.client.stop()

    def _do_at(self, action: PlaySpeech | UseSetting | SettingTold) -> None:
        """Do what is done at a setting; one that the aid does not allow ends the tuning.

        After its end such a setting is neither used nor told.
        """
        assert self.last is not None
        assert self.aid.greeted is not None
        client, setting = self.aid.client, _setting(action)
        allowed = self.last.settings.ranges_db, self.aid.greeted.ranges_db
        try:
            match action:
                case PlaySpeech(number):
                    play_speech(client, number, setting, *allowed)
                case UseSetting():
                    use_setting(client, setting, *allowed)
                case SettingTold():
                    check_setting(setting, *allowed)  # or the aid is not left at it
                    self._tell(action.WHAT, action.figures())
        except ValueError as error:
            refused = reason(Code.AID_REFUSED, command=action.WHAT, told=str(error))
            self.feed(events.Aborted((refused,)))


def _setting(action: PlaySpeech | UseSetting | SettingTold) -> Setting:
    return Setting(action.overall_db, action.tilt_db, action.mid_db, action.soft_db)
