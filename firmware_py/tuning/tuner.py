"""Drives tunings: what aid and button tell, and how the aid comes to play."""

from collections.abc import Callable
from typing import Any, Final

from firmware_py.board.sounds import check_setting, play_speech, use_setting
from firmware_py.comparisons.events import (
    AidLost,
    AidReady,
    PlaySpeech,
    SpeechEnded,
    StopSpeech,
    UseSetting,
)
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.comparisons.space import Setting
from firmware_py.comparisons.tells import SettingTold
from firmware_py.comparisons.tuning import Tuning
from firmware_py.link import notices
from firmware_py.link.aid import AidGone, AidGreeted, AidNotice, AidRefused, SpeechPlayed
from firmware_py.link.client import Client
from firmware_py.platform import room_on_disk
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import TUNING, DataDirectory
from firmware_py.platform.ports import Port
from firmware_py.sessions.driver import Driver
from firmware_py.sessions.identity import Identity
from firmware_py.sessions.resumption import RESUME_WITHIN_S, Absence
from firmware_py.sessions.session import Session
from firmware_py.terms import events
from firmware_py.terms.reasons import Code
from firmware_py.tuning.aid_connection import AidConnection
from firmware_py.tuning.tuning_record import TuningHeader

TuningSession = Session[TuningHeader, Tuning]
NO_AID: Final = "the hearing aid does not answer"


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
            case SpeechPlayed(number):
                self.feed(SpeechEnded(number))
            case AidRefused(command, why):
                self.feed(events.Aborted.by(Code.AID_REFUSED, command=command, told=why))
            case AidGone(why):
                self._aid_away.begins()
                self.feed(AidLost.by(Code.AID_LOST, told=why))

    def _aid_greeted(self) -> None:
        """Go on with a tuning, if the aid is fitted as it was, and for whom it was."""
        self._wait_if_away(self._aid_away)
        if self._wait_if_another("identifier", "aid", "fit"):
            self.feed(AidReady())
        else:
            self.feed(AidLost(self.foreign))

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
            case PlaySpeech() | UseSetting() | SettingTold():
                if sent:  # or it is asked again when the aid is back
                    self._do_at(action)
            case StopSpeech():
                if sent:
                    self.aid.client.stop()
            case _:
                super()._do(action)

    def _do_at(self, action: PlaySpeech | UseSetting | SettingTold) -> None:
        """Do what is done at a setting; one that the aid does not allow ends the tuning."""
        assert self.session is not None
        assert self.aid.greeted is not None
        client, setting = self.aid.client, _setting(action)
        allowed = self.session.header.settings.ranges_db, self.aid.greeted.ranges_db
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
            what, told = action.WHAT, str(error)
            self.feed(events.Aborted.by(Code.AID_REFUSED, command=what, told=told))


def _setting(action: PlaySpeech | UseSetting | SettingTold) -> Setting:
    return Setting(action.overall_db, action.tilt_db, action.mid_db, action.soft_db)
