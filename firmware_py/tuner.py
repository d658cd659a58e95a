"""Runs tunings: carries events between the aid, the button and the procedure."""

from collections.abc import Callable
from typing import Any, Final

from firmware_py.aid_connection import AidConnection
from firmware_py.journal import JournalReadError, JournalUnstartedError, read_journal
from firmware_py.link import notices
from firmware_py.link.aid import AidGone, AidGreeted, AidRefused, SpeechPlayed
from firmware_py.link.client import Client
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import TUNING, DataDirectory
from firmware_py.platform.ports import Port
from firmware_py.procedure import events, tells
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
from firmware_py.procedure.tuning.tuning import Tuning
from firmware_py.session import ReplayError, Session
from firmware_py.session_loop import SessionLoop
from firmware_py.session_record import BoardMark
from firmware_py.tuning_record import TuningHeader, TuningSession, replay_tuning

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
    """

    def __init__(
        self,
        data: DataDirectory,
        board: Client,
        aid: Port,
        clock: SteadyClock,
        tell: Callable[[str, dict[str, Any]], None],
    ) -> None:
        self.aid = AidConnection(aid, clock)
        self.last: Tuning | None = None
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

    def load_last(self) -> list[str]:
        """Go on with an unfinished tuning; return what is wrong with the newest journal."""
        for path in reversed(self._data.journals(TUNING)):
            try:
                recovered = read_journal(path, disk=self._data.disk)
                if recovered.complete and not recovered.torn_bytes:
                    self.last = replay_tuning(recovered.records).test
                    return []
                session: TuningSession
                session, torn_bytes = Session.resume(
                    path, self._data.seal_key, disk=self._data.disk, replay=replay_tuning,
                    now=self._clock.date(),
                )  # fmt: skip
            except JournalUnstartedError:
                continue
            except (JournalReadError, ReplayError) as error:
                return [f"{path.name}: {error}; it is left as it is"]
            self._take_up(session)
            return [f"{path.name} had a torn end of {torn_bytes} bytes"] if torn_bytes else []
        return []

    def _take_up(self, session: TuningSession) -> None:
        self._adopt(session)
        self._board.remember(session.board.boot, session.board.event, session.board.us)
        if session.over:
            self._close()
        else:
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
            number, settings, self.aid.greeted.aid, identifier, started, self._data.device
        )
        session: TuningSession = Session.begin(
            path, header, self._data.seal_key, disk=self._data.disk
        )
        self._adopt(session)
        self._tell("tuning", {"tuning": number, "journal": path.name, "fit": settings.fit})
        self.feed(events.Started(board=self._board.board), self._mark(self._board.last_event))

    def _adopt(self, session: TuningSession) -> None:
        self._loop.adopt(session)
        self.last = session.test

    def feed(self, event: events.Event, board: BoardMark | None = None) -> None:
        """Give the tuning an event; without one, or after its end, it means nothing."""
        self._loop.feed(event, board)

    def notice(self, notice: notices.Notice) -> None:
        """Give the tuning what came over the wire of the tone generator."""
        match notice:
            case notices.Greeted(event=event):
                ready = events.BoardReady(False, board=self._board.board)
                self.feed(ready, self._mark(event))
            case notices.ButtonPressed(event, at_us, button):
                self.feed(events.ButtonPressed(at_us, button), self._mark(event))
            case notices.Lost(why):
                self.feed(events.BoardLost(why))

    def _mark(self, event: int) -> BoardMark:
        return BoardMark(self._board.boot, event)

    def serve(self) -> None:
        """Take in what the aid tells, and tell it what it is to do."""
        for notice in self.aid.serve():
            match notice:
                case AidGreeted(aid=aid, fit=fit):
                    self._tell("hearing-aid", {"aid": aid, "fit": fit})
                    self._greeted(fit)
                case SpeechPlayed(number):
                    self.feed(SpeechEnded(number))
                case AidRefused(command, why):
                    self.feed(events.Aborted(f"the hearing aid refused {command}: {why}"))
                case AidGone(why):
                    self.feed(AidLost(why))

    def _greeted(self, fit: str) -> None:
        """Go on with a tuning, if the aid is fitted as it was."""
        if self.session is None:
            return
        begun_with = self.session.header.settings.fit
        if fit == begun_with:
            self.feed(AidReady())
        else:
            words = f"the hearing aid has another fit, {fit}; the tuning began with {begun_with}"
            self.feed(events.Aborted(words))

    def advance(self) -> None:
        """Tell the tuning that the time it waits for has come."""
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
        self.aid.close()

    def _close(self) -> None:
        assert self.session is not None
        number = self.session.number
        self._loop.leave()
        self._tell("tuning-over", {"tuning": number})

    def _do(self, action: events.Action) -> None:
        match action:
            case tells.Tell():
                self._tell(action.WHAT, action.figures())
            case _ if not self.aid.client.connected:
                return  # it is asked again when the aid is back
            case PlaySpeech():
                self.aid.client.play(action.number, _setting(action).values_db())
            case StopSpeech():
                self.aid.client.stop()
            case UseSetting():
                self.aid.client.use(_setting(action).values_db())


def _setting(action: PlaySpeech | UseSetting) -> Setting:
    return Setting(action.overall_db, action.tilt_db, action.mid_db, action.soft_db)
