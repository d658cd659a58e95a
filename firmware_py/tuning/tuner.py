"""Drives tunings: what aid and button tell, and how the aid comes to play."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from firmware_py.board.board_connection import Reopening
from firmware_py.board.sounds import check_setting, play_speech, use_setting
from firmware_py.comparisons import events as aid_events
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.comparisons.space import Setting
from firmware_py.comparisons.tells import SettingTold
from firmware_py.comparisons.tuning import Tuning
from firmware_py.link import notices
from firmware_py.link.aid import (
    AidClient,
    AidGone,
    AidGreeted,
    AidNotice,
    AidRefused,
    SpeechBegan,
    SpeechPlayed,
)
from firmware_py.link.client import Client
from firmware_py.platform import room_on_disk
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import TUNING, DataDirectory
from firmware_py.platform.ports import Port, PortError
from firmware_py.sessions.driver import Driver
from firmware_py.sessions.identity import Identity
from firmware_py.sessions.resumption import RESUME_WITHIN_S, Absence
from firmware_py.sessions.session import Session
from firmware_py.terms import events
from firmware_py.terms.reasons import Code
from firmware_py.tuning.tuning_record import TuningHeader

TuningSession = Session[TuningHeader, Tuning]
NO_AID: Final = "the hearing aid does not answer"


class AidConnection:
    """The connection to the hearing aid by a port that is not open yet."""

    def __init__(self, port: Port, clock: SteadyClock) -> None:
        self.port = port
        self.client = AidClient()
        self.greeted: AidGreeted | None = None  # by the one that answers now
        self.why = "it was not reached yet"  # it does not answer
        self._clock = clock.of_wire()  # never faster than real
        self._reopening = Reopening(port, clock)

    def receive(self) -> list[AidNotice]:
        if self._reopening.try_again():
            self.client.connect()
        try:
            told = self.client.receive(self.port.read(), self._clock.now_us())
        except PortError as error:
            told = [AidGone(str(error))]
        for notice in told:
            self._notice(notice)
        return told

    def send(self) -> list[AidNotice]:
        try:
            self.port.write(self.client.transmit(self._clock.now_us()))
        except PortError as error:
            gone = AidGone(str(error))
            self._notice(gone)
            return [gone]
        return []

    def seconds_to_wait(self) -> float | None:
        deadline_us = self.client.next_deadline_us()
        if deadline_us is None or not self.port.is_open:
            return None
        return self._clock.seconds_until(deadline_us)

    def close(self, *, stop: bool = True) -> None:
        if stop and self.client.connected and not self.client.busy:
            self.client.stop()
            with suppress(PortError):
                self.port.write(self.client.transmit(self._clock.now_us()))
        self.port.close()

    def _notice(self, notice: AidNotice) -> None:
        match notice:
            case AidGreeted():
                self.greeted = notice
            case AidGone(why):
                self.greeted, self.why = None, why
                self.client.disconnect()
                self.port.close()
                self._reopening.delay()


class Tuner(Driver[TuningHeader, Tuning]):
    """Runs tunings, one after the other; `aid`: its port, not open yet; all else as of `Driver`."""

    HEADER = TuningHeader
    FOREIGN = Code.FOREIGN_AID

    def __init__(
        self,
        data: DataDirectory,
        client: Client,
        aid: Port,
        clock: SteadyClock,
        tell: Callable[[str, dict[str, Any]], None],
        resume_within_s: float = RESUME_WITHIN_S,
        ahead: Driver[Any, Any] | None = None,
    ) -> None:
        super().__init__(data, client, clock, tell, resume_within_s, ahead)
        self.aid = AidConnection(aid, clock)
        self._aid_away = Absence(clock, resume_within_s)

    @property
    def ports(self) -> list[Port]:
        return [self.aid.port]

    def begin(self, settings: TuningSettings, identifier: str | None) -> None:
        """Start a tuning; the aid answers.

        Raise `JournalError` if its journal cannot be written, and `DataDirectoryError` if the data
        directory cannot be read any more, or the disk has too little room.
        """
        assert self.aid.greeted is not None
        self._data.require_room(room_on_disk.of_tuning(settings))
        header = TuningHeader(
            self._data.next_number(TUNING), self._clock.date().isoformat(timespec="seconds"),
            settings, self.aid.greeted.aid, identifier, device=self._data.device,
        )  # fmt: skip
        self._begin(header, {"fit": settings.fit})

    def _take_up(self, session: TuningSession) -> None:
        super()._take_up(session)
        if self.session is not None:
            self._tell("tuning-resumed", {"tuning": session.number})

    def _was_away(self, seconds: float) -> None:
        super()._was_away(seconds)
        self._aid_away.begins(seconds)

    def _who_answers(self) -> Identity:
        aid, board = self.aid.greeted, self._client.board
        return super()._who_answers() if aid is None else Identity.of_aid(aid, board)

    # Inputs

    def _take_event(self, session: TuningSession, notice: notices.Notice) -> None:
        if self._ahead is not None and self._ahead.running:
            return  # the presses are answers to its tones
        if isinstance(notice, notices.ButtonPressed):
            self._look_at_pause()
            pressed = events.ButtonPressed(notice.at_us, notice.button)
            self.feed(pressed, self._mark(notice.event))

    def _aid_told(self, notice: AidNotice) -> None:
        match notice:
            case AidGreeted(aid=aid, fit=fit):
                self._tell("hearing-aid", {"aid": aid, "fit": fit})
                self._aid_greeted()
            case SpeechBegan(number, comes_out_db):
                self.feed(aid_events.SpeechBegan(number, *comes_out_db))
            case SpeechPlayed(number):
                self.feed(aid_events.SpeechEnded(number))
            case AidRefused(command, why):
                self.feed(events.Aborted.by(Code.AID_REFUSED, command=command, told=why))
            case AidGone(why):
                self._aid_away.begins()
                self.feed(aid_events.AidLost.by(Code.AID_LOST, told=why))

    def _aid_greeted(self) -> None:
        """Go on with a tuning, if the aid is fitted as it was, and for whom it was."""
        self._wait_if_away(self._aid_away)
        if self._wait_if_another("identifier", "aid", "fit"):
            self.feed(aid_events.AidReady())
        else:
            self.feed(aid_events.AidLost(self.foreign))

    def advance(self) -> None:
        for notice in self.aid.receive():
            self._aid_told(notice)
        super().advance()

    def seconds_to_wait(self) -> float | None:
        waits = [super().seconds_to_wait(), self.aid.seconds_to_wait()]
        return min((wait for wait in waits if wait is not None), default=None)

    # Outputs

    def settle(self) -> None:
        super().settle()
        for notice in self.aid.send():
            self._aid_told(notice)

    def _fall_silent(self) -> None:
        if self.aid.client.connected:
            self.aid.client.stop()

    def close(self) -> None:
        super().close()
        self.aid.close(stop=not self.foreign)

    def _do(self, action: events.Action) -> None:
        sent = self.aid.client.connected and not self.foreign
        match action:
            case aid_events.PlaySpeech() | aid_events.UseSetting() | SettingTold():
                if sent:  # or it is asked again when the aid is back
                    self._do_at(action)
            case aid_events.StopSpeech():
                if sent:
                    self.aid.client.stop()
            case _:
                super()._do(action)

    def _do_at(self, action: aid_events.PlaySpeech | aid_events.UseSetting | SettingTold) -> None:
        """Do what is done at a setting; one that the aid does not allow ends the tuning."""
        assert self.session is not None
        assert self.aid.greeted is not None
        client, setting = self.aid.client, _setting(action)
        allowed = self.session.header.settings.ranges_db, self.aid.greeted.ranges_db
        try:
            match action:
                case aid_events.PlaySpeech(number):
                    play_speech(client, number, setting, *allowed)
                case aid_events.UseSetting():
                    use_setting(client, setting, *allowed)
                case SettingTold():
                    check_setting(setting, *allowed)  # or the aid is not left at it
                    self._tell(action.WHAT, action.figures())
        except ValueError as error:
            what, told = action.WHAT, str(error)
            self.feed(events.Aborted.by(Code.AID_REFUSED, command=what, told=told))


def _setting(action: aid_events.PlaySpeech | aid_events.UseSetting | SettingTold) -> Setting:
    return Setting(action.overall_db, action.tilt_db, action.mid_db, action.soft_db)
