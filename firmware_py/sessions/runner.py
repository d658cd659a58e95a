"""Drives hearing tests: which notices are their events, and how their tones come to be played."""

from collections.abc import Callable
from typing import Any, Final

from firmware_py.board.sounds import TooLoudError, sound_of_test
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationInForce, CalibrationOnFile
from firmware_py.link import notices
from firmware_py.link.client import Client
from firmware_py.link.notices import Greeted, Missed, Notice, Refused, TimeTold
from firmware_py.platform import room_on_disk
from firmware_py.platform.clock import SteadyClock
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.own_prior import OwnPrior, shorten
from firmware_py.presenting.presenter import STARTING
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.attendance import check_of
from firmware_py.sessions.driver import Driver
from firmware_py.sessions.identity import Identity
from firmware_py.sessions.resumption import RESUME_WITHIN_S, waits_words
from firmware_py.sessions.session import HearingSession, Session
from firmware_py.sessions.session_record import SessionHeader
from firmware_py.terms import events, tells
from firmware_py.terms.person import UNKNOWN, Person
from firmware_py.terms.reasons import Code, Reasons, reason
from firmware_py.terms.settings import SettingError, Settings
from firmware_py.terms.words import say

SESSIONS_IN_TONE_ID: Final = 1000  # an id has at most 8 characters: "999-9999"


class Runner(Driver[SessionHeader, HearingTest]):
    """Runs hearing tests, one after the other.

    `calibration` and `prior` are of the sessions that begin from now on; one that goes on keeps its
    own. No prior: the one that ships.
    """

    HEADER = SessionHeader
    FOREIGN = Code.FOREIGN_BOARD

    def __init__(
        self,
        data: DataDirectory,
        client: Client,
        clock: SteadyClock,
        tell: Callable[[str, dict[str, Any]], None],
        calibration: CalibrationOnFile = NO_CALIBRATION,
        resume_within_s: float = RESUME_WITHIN_S,
        prior: OwnPrior | None = None,
    ) -> None:
        super().__init__(data, client, clock, tell, resume_within_s)
        self._calibration, self._prior = calibration, prior
        self.room: events.RoomTold | None = None  # of the tests from now on; None: nobody told it
        self.has_begun = False  # the last test, itself; not one before it, whose test it took up
        self._taken_up_after: int | None = None  # so many tones, by this firmware

    @property
    def last_calibration(self) -> CalibrationInForce:
        return self.last.header.calibration if self.last else CalibrationInForce()

    # Beginning, going on

    def _take_up(self, session: HearingSession) -> None:
        super()._take_up(session)
        if self.session is not None:
            self._taken_up_after = sum(ear.tally.tones for ear in session.test.ears.values())
            self.tell_resumed()

    def tell_resumed(self) -> None:
        """Tell that a test under way was taken up again, if it was, and for what it waits."""
        if self.session is not None and self._taken_up_after is not None:
            about = {"session": self.session.number, "tones": self._taken_up_after}
            self._tell("resumed", about)
        if self.session is not None and check_of(self.session.test) == "placing":
            self._do(tells.PlacingTold(self.session.test.placing.why))

    def resumed_words(self) -> str:
        """Say which test goes on, and after how many tones; empty: none was taken up again."""
        if self.session is None or self._taken_up_after is None:
            return ""
        number, tones = self.session.number, self._taken_up_after
        goes_on = f"session {number} goes on, tones so far: {tones}"
        if check_of(self.session.test) == "placing":
            goes_on = f"session {number} waits: {say(self.session.test.placing.why)}"
        words = waits_words(self.session) or goes_on
        return "; ".join(filter(None, (words, self._other_prior_words())))

    def _other_prior_words(self) -> str:
        """Say which prior the session that was taken up goes on with, if it is not today's."""
        began = self.session.header.prior if self.session is not None else self._digest
        if began == self._digest:
            return ""
        of_session = f"prior {shorten(began)}" if began else "the prior that ships"
        return f"it was begun with {of_session}, and goes on with that"

    @property
    def _digest(self) -> str:
        return self._prior.digest if self._prior else ""

    def prior_words(self) -> str:
        return self._prior.words if self._prior else ""

    def begin(self, settings: Settings, person: Person = UNKNOWN) -> None:
        """Start a test; `SettingError` if there can be none, or what the disk refuses."""
        if lacking := self.lacking(settings):
            raise SettingError(say(lacking))
        self._data.require_room(self.needed_bytes(settings))
        data, now, board = self._data, self._clock.date(), self._client.board
        today = self._calibration.judge(now.date(), board)
        header = SessionHeader(
            data.next_number(), now.isoformat(timespec="seconds"), settings, person, today,
            device=data.device, tone_generator=board, speed=self._clock.told_speed,
            prior=self._digest,
        )  # fmt: skip
        own = {}
        if self._prior is not None:
            self._prior.keep(data.path, data.disk)
            own = {"prior": shorten(self._digest)}
        self._begin(header, {"calibration": today.state, **own})
        self.has_begun = True

    def _start(self, event: int) -> None:
        if self.room is not None:
            self.feed(self.room)
        super()._start(event)

    def tell_room(self, room: events.RoomTold | None) -> None:
        """Take in the noise of the room; a test under way is told as well."""
        self.room = room
        if room is not None:
            self.feed(room)

    def needed_bytes(self, settings: Settings) -> int:
        """Return how much room the disk must have: to end the test under way, or to begin one."""
        if self.running:
            return room_on_disk.TO_END_BYTES
        kept_beside = len(self._prior.content) if self._prior else 0
        return room_on_disk.of_test(settings) + kept_beside

    def lacking(self, settings: Settings) -> Reasons:
        for route in settings.tested_routes if self._client.connected else ():
            if not self._client.reaches(route):
                return (reason(Code.NO_TRANSDUCER, ear=str(route)),)
        return ()

    def _adopt(self, session: Session[Any, Any]) -> None:
        super()._adopt(session)
        self._taken_up_after = None

    # What is plugged in

    def calibration_today(self, board: str = "") -> CalibrationInForce:
        """Return the calibration of a test that would begin now, with the board greeted last."""
        return self._calibration.judge(self._clock.date().date(), board or self._client.board)

    def _here(self, board: str) -> Identity:
        return Identity.of_now(self._data.device, "", self.calibration_today(board))

    @property
    def _can_mask(self) -> bool:
        return self._client.can_mask

    def _is_known(self, board: Greeted) -> bool:
        assert self.session is not None
        under_way = self._tone_id(self.session.test.number)
        return board.boot == self.session.board.boot and board.tone_id == under_way

    @property
    def _is_timeless(self) -> bool:
        """Return whether the board owes an answer.

        What the test waits for may have happened, and its word be on the way.
        """
        return self._client.busy

    # Inputs

    def _take_event(self, session: HearingSession, notice: Notice) -> None:
        # A tone for the sound level meter may be refused when a test has just begun.
        is_asked = session.test.state == STARTING
        match notice:
            case notices.ButtonPressed(event, at_us, button):
                self.feed(events.ButtonPressed(at_us, button), self._mark(event))
            case notices.ButtonReleased(event, at_us, button):
                self.feed(events.ButtonReleased(at_us, button), self._mark(event))
            case notices.ToneStarted(event, tone_id, at_us) if number := self._own(tone_id):
                self.feed(events.ToneStarted(number, at_us), self._mark(event))
            case notices.ToneEnded(event, tone_id, at_us, cut, room) if number := self._own(
                tone_id
            ):
                self._hear_room(room)  # before what the end of its tone decides
                self.feed(events.ToneEnded(number, at_us, cut), self._mark(event))
            case TimeTold(us):
                self.feed(events.BoardTime(us))
            case Refused("tone", "noise") if is_asked:
                self.feed(events.NoiseEnded())
            case Refused("tone", code, name) if is_asked:
                what = f"{code} {name}".strip()
                self.feed(events.Aborted.by(Code.TONE_REFUSED, told=what))
            case Refused("mask", code, name):
                what = f"{code} {name}".strip()
                self.feed(events.NoiseRefused.by(Code.NOISE_REFUSED, told=what))
            case Missed(count, event):
                # Ask again what is under way: nobody knows what became of it.
                self.feed(events.BoardLost.by(Code.EVENTS_LOST, count=count))
                ready = events.BoardReady(False, self._can_mask, self._client.board)
                self.feed(ready, self._mark(event))

    def _hear_room(self, levels_db_spl: tuple[float, ...]) -> None:
        if levels_db_spl:
            self.feed(events.RoomHeard(levels_db_spl))

    # Outputs

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
        if isinstance(sound, events.Play) and not self._client.reaches(sound.route):
            self.feed(events.Aborted.by(Code.NO_TRANSDUCER, ear=str(sound.route)))
            return
        assert self.last is not None
        number = sound.number if isinstance(sound, events.Play) else 0
        header = self.last.header
        try:
            sound_of_test(
                self._client, header.calibration, header.settings, self._tone_id(number), sound
            )
        except TooLoudError as error:
            self.feed(events.Aborted((error.reason_in_test(sound),)))

    def _tone_id(self, number: int) -> str:
        session = self.session.number if self.session else 0
        return f"{session % SESSIONS_IN_TONE_ID}-{number}"

    def _own(self, tone_id: str) -> int:
        """Return the number of a tone; 0 of one of another session."""
        session, _, tone = tone_id.partition("-")
        own, _, _ = self._tone_id(0).partition("-")
        return int(tone) if session == own and tone.isdecimal() else 0
