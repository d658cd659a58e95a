"""The hearing test: a pure state machine. Time comes in with every event; nothing here has a clock.

It chooses the ear to go on with and asks it what to present; `presenting/presenter.py` presents it.
"""

from collections.abc import Sequence
from typing import Final, Literal

from firmware_py.ear import course
from firmware_py.ear.agenda import take_first
from firmware_py.ear.ear import EarTest
from firmware_py.ear.levels import AudiogramHz, Highest, no_limit, usual_hz
from firmware_py.ear.listening import CHECK_US_MAX
from firmware_py.ear.objective import Objective, objective_of
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.stories import Story
from firmware_py.presenting.answers_given import AnswersGiven
from firmware_py.presenting.presenter import (
    FINISHED,
    PAUSE_BEFORE,
    PAUSED,
    READY,
    Answer,
    Presenter,
)
from firmware_py.session import agenda
from firmware_py.session.boards import Boards
from firmware_py.session.cross_hearing import CrossHearing
from firmware_py.session.ear_result import result_in
from firmware_py.session.masking import Earphones
from firmware_py.session.remarks import remarks_on, remarks_on_room
from firmware_py.session.room import Room
from firmware_py.session.time_to_go import TimeToGo
from firmware_py.session.way import Skull
from firmware_py.session.which_ear import EarCheck
from firmware_py.terms import events, tells
from firmware_py.terms.events import Action, Event
from firmware_py.terms.outcomes import Purpose, SessionOutcome, Why
from firmware_py.terms.person import UNKNOWN, Person
from firmware_py.terms.presentation import NO_COVER, Presentation
from firmware_py.terms.reasons import Code, Reasons, reason
from firmware_py.terms.results import SessionResult
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings

ANY_EARPHONES: Final = Earphones()


class HearingTest:
    """One hearing test of one or both ears.

    `highest_db_hl`: of route and frequency, the highest level that can be reached there; a function
    without memory, as all of this is. `earphones`: what they let through to the other ear, and what
    noise they take; unknown: the least of any. `prior`: in place of the one that is shipped.
    `audiogram_hz`: of a route, the frequencies of its audiogram. Raises `SettingError` if the
    estimator does not take these settings, or this person's age or sex.

    `handle` is a pure function of the events so far: the same events give the same actions, to the
    bit. Resuming and replaying a session rest on this.
    """

    def __init__(
        self,
        settings: Settings,
        person: Person = UNKNOWN,
        highest_db_hl: Highest = no_limit,
        earphones: Earphones = ANY_EARPHONES,
        prior: PopulationPrior | None = None,
        audiogram_hz: AudiogramHz = usual_hz,
    ) -> None:
        self.settings = settings
        self.ears = {
            route: EarTest(route, settings, person, highest_db_hl, prior, audiogram_hz)
            for route in settings.tested_routes
        }
        self.cross_hearing = CrossHearing(Skull(settings, self.ears, earphones, person))
        self.cross_hearing.bone.prior = prior
        self.placing = self.cross_hearing.placing
        self.ear_check = EarCheck(settings, {route: ear.levels for route, ear in self.ears.items()})
        self.outcome: SessionOutcome | Literal[""] = ""
        self.presenter = Presenter(settings, next(iter(self.ears)), self.cross_hearing)
        self.time_to_go = TimeToGo(settings, self.cross_hearing, self.presenter.pace)
        self.given = AnswersGiven()
        self._told_route: Route | None = None
        self._check_until_us = 0
        self.boards = Boards()
        self.room = Room(earphones.kind)
        # levels of discomfort that somebody measured, by ear
        self.discomfort: dict[str, events.DiscomfortTold] = {}
        self.waits_why: Reasons = ()  # why it is paused, and waits for the operator's word

    @property
    def state(self) -> str:
        return self.presenter.state

    @property
    def board(self) -> str:
        return self.boards.now

    @property
    def number(self) -> int:
        return self.presenter.trial.number

    def handle(self, now_us: int, event: Event) -> list[Action]:
        """Take in one event, and say what to do.

        `now_us`: time since the session began, microseconds; never less than at the event before.
        """
        if self.state == FINISHED:
            return []
        match event:
            case events.Started(can_mask, board):
                self.boards.now = board
                return self._start(now_us, can_mask)
            case events.Paused(why):
                self.waits_why = why or self.waits_why
                return self.presenter.pause()
            case events.Continued():
                return self._continue(now_us)
            case events.EquipmentHeard(by):
                return self._equipment_heard(now_us, by)
            case events.EarNamed(named):
                return self._ear_named(now_us, named)
            case events.Aborted(why):
                return self._finish(SessionOutcome.ABORTED, why)
            case events.BoardReady(board=board):
                self.boards.now = board
        return self._hand_on(now_us, event)

    def _hand_on(self, now_us: int, event: Event) -> list[Action]:
        """Let the presenter take an event, and take the answer that it makes of it."""
        if isinstance(event, events.RoomTold | events.RoomHeard):
            return self._take_room(event)
        if isinstance(event, events.DiscomfortTold):
            self.discomfort[event.ear] = event
            return []
        if isinstance(event, events.ToneStarted):
            for ear in self.ears.values():
                ear.levels.hidden_db_hl = {}  # by noise around the tone before
        actions = self.presenter.handle(now_us, event)
        if self.presenter.failure:
            actions += self._finish(SessionOutcome.FAILED, self.presenter.failure)
        elif self.presenter.answer is not None:
            answer = self.presenter.answer
            hidden = self._is_hidden(answer)
            actions += (self._void if hidden else self._take_answer)(now_us, answer)
        return actions

    def _is_hidden(self, answer: Answer) -> bool:
        """Return whether a silence tells of the noise of the room; what is heard is heard in it."""
        tone = self.presenter.trial.presentation
        assert tone is not None
        silent = answer.heard is not True and tone.purpose != Purpose.CATCH
        return silent and self.ear.levels.hides(tone)

    def _void(self, now_us: int, answer: Answer) -> list[Action]:
        assert self.presenter.trial.presentation is not None
        self.ear.levels.note_tone(self.presenter.trial.presentation)  # the next may be louder
        void = tells.VoidTold(self.number, reason(Code.ROOM_HID))
        return [void, *self._next(now_us, answer.at_us)]

    def _take_room(self, event: events.RoomTold | events.RoomHeard) -> list[Action]:
        before, room = self.room.about, self.room
        room.take(event)
        for ear in self.ears.values():
            if not ear.found:  # what is said of one whose thresholds were found stays
                told = isinstance(event, events.RoomTold)
                ear.levels.hear_room(room.floors_db_hl(ear.route.kind), anew=told)
                ear.levels.hidden_db_hl = room.hidden_db_hl(ear.route.kind)
        return [tells.RoomSaid(each) for each in room.about if each not in before]

    def result(self) -> SessionResult:
        known = self.cross_hearing, self.ear_check.found, self.boards
        found = [(ear, result_in(ear, *known)) for ear in self.ears.values()]
        return SessionResult(
            self.outcome, tuple(of_ear for _, of_ear in found), self.number,
            self.presenter.silent_time.stray_presses, self.given.mean_response_ms,
            (*remarks_on(found, *known), *remarks_on_room(self.room, self.ears.values())),
            self.ear_check.found,
        )  # fmt: skip

    def _start(self, now_us: int, can_mask: bool) -> list[Action]:
        if self.state != READY:
            return []
        self.presenter.start(can_mask)
        return self._next(now_us)

    @property
    def checking(self) -> bool:
        """Return whether the test is broken off to see if anybody listens."""
        return self.state not in (READY, FINISHED) and self.ear.phase == Purpose.CHECK

    @property
    def asks_who_hears(self) -> bool:
        return self.checking and self.ear.listening.story is None

    def takes_word_of(self, by: str) -> bool:
        """Return whether it helps to know who hears the tones; that nobody does, if it is asked."""
        story = self.ear.listening.story
        silent = self.checking and story is not None and story.story == Story.SILENT
        return self.asks_who_hears or (silent and by != events.NOBODY)

    @property
    def asks_which_ear(self) -> bool:
        return self.state not in (READY, FINISHED) and self.ear_check.asks

    @property
    def ear(self) -> EarTest:
        return self.ears[self.presenter.trial.route]

    def _continue(self, now_us: int) -> list[Action]:
        anew, self.waits_why = bool(self.waits_why), ()
        if self.state == PAUSED:
            return [tells.GoingOnTold(), *self._end_pause(now_us, anew)]
        if self.asks_which_ear:
            self.ear_check.give_up()
            return self._go_on_with(now_us)
        return self._end_check(now_us) if self.checking else []

    def _end_pause(self, now_us: int, anew: bool) -> list[Action]:
        self._check_until_us = now_us + CHECK_US_MAX
        if anew and self.ear.route.by_bone:
            self.ear.forget_witness()
        looked_at, moved = self.ear_check.end_pause(now_us), self.placing.take_word(anew)
        if looked_at or moved or self.presenter.trial.presentation is None:
            return self._next(now_us)
        return self.presenter.go_on(now_us)

    def _equipment_heard(self, now_us: int, by: str) -> list[Action]:
        if not self.takes_word_of(by):
            return []
        self.ear.listening.equipment_heard_by = "" if by == events.NOBODY else by
        if by != events.NOBODY:
            self.placing.forget()  # it was held to somebody's head
        return self._end_check(now_us, passed=True)

    def _end_check(self, now_us: int, passed: bool = False) -> list[Action]:
        ear, was_over = self.ear, self.asks_who_hears
        course.end_check(ear, passed)
        return self._go_on_with(now_us, [] if was_over else _ear_over(ear))

    def _ear_named(self, now_us: int, named: str) -> list[Action]:
        if not self.asks_which_ear:
            return []
        self.ear_check.take_word(named)
        if self.ear_check.waits:
            return [tells.EarphonesTold(self.ear_check.why), *self.presenter.pause()]
        return self._go_on_with(now_us)

    def _go_on_with(self, now_us: int, over: Sequence[Action] = ()) -> list[Action]:
        told = [self.presenter.fall_silent(PAUSE_BEFORE), tells.GoingOnTold(), *over]
        return [*told, *self._next(now_us)]

    def _next(self, now_us: int, since_us: int | None = None) -> list[Action]:
        """Go on with what is next; `since_us`: the board's time of the answer before."""
        actions: list[Action] = []

        def do(step: agenda.Step) -> bool:
            match step:
                case agenda.Present(route, tone):
                    actions.extend(self._present(now_us, route, tone, since_us))
                case agenda.AskEar(route):
                    self.cross_hearing.ways[route].let_begin()
                    number, objective = self.number + 1, self.objective()
                    tone = course.next_presentation(self.ears[route], number, objective)
                    actions.extend(self._present(now_us, route, tone, since_us))
                case agenda.Wait(place):
                    self.placing.wait_for(place)
                    actions.extend([tells.PlacingTold(self.placing.why), *self.presenter.pause()])
                case _:
                    actions.extend(self._begin(now_us, step))
                    return False
            return True

        known = agenda.SessionState(self.settings, self.cross_hearing, self.ear_check)
        found = take_first(agenda.SESSION_REASONS, known, do)
        return actions if found else [*actions, *self._finish(SessionOutcome.COMPLETE)]

    def _begin(self, now_us: int, step: agenda.Step) -> list[Action]:
        """Do what a reason proposed before something is presented for it."""
        match step:
            case agenda.WantBehindNoise(again):
                self.cross_hearing.ways[again.route].want_behind_noise(again)
            case agenda.AskAgain(again):
                self.cross_hearing.ways[again.route].ask_again(again)
                return [tells.EarAgainTold(again.route, reason(Code.CROSS_HEARD))]
            case agenda.BeginConfirmation(route):
                self.ears[route].begin_confirmation()
            case agenda.BeginWhoHears(route):
                self.ears[route].begin_equipment_check()
                self._check_until_us = now_us + CHECK_US_MAX
                return [tells.EquipmentCheckTold(route, self.ears[route].listening.why)]
        return []

    def objective(self) -> Objective:
        return objective_of(self.settings, self.presenter.pace.trial_time)

    def _present(
        self, now_us: int, route: Route, tone: Presentation, since_us: int | None
    ) -> list[Action]:
        if tone.purpose == Purpose.PLATEAU:
            self.cross_hearing.ways[route].begin_check()
        route, tone = self.cross_hearing.before(route, tone)
        told: list[Action] = []
        beside = self.ear_check.under_way or tone.why == Why.NOISE_REACHES
        if route != self._told_route and not beside:
            self._told_route = route
            told = [tells.EarTold(route)]
        return [*told, *self.presenter.begin(now_us, route, tone, since_us)]

    def _take_answer(self, now_us: int, answer: Answer) -> list[Action]:
        presentation, ear = self.presenter.trial.presentation, self.ears[self.presenter.trial.route]
        assert presentation is not None
        for each in self.ears.values():
            if each.route.ear == ear.route.ear and each is not ear:
                each.levels.note_beside(presentation)  # by another route, in the same ear
        if self.ear_check.under_way:
            return self._clear_tone_answered(now_us, presentation, answer)
        if presentation.why == Why.NOISE_REACHES:
            return self._noise_checked(now_us, presentation, answer)
        self.boards.take_answer(ear.route)
        self.given.add(now_us, self.number, self.presenter, answer)
        silence = presentation.purpose == Purpose.CATCH
        checking, asked = self.checking, self.asks_who_hears
        cover = NO_COVER if silence else self.presenter.noise.cover
        pressed = self.presenter.silent_time.take()
        check = presentation.purpose == Purpose.PLATEAU
        if check:
            ear.levels.note_tone(presentation)
            way = self.cross_hearing.ways[ear.route]
            way.take_check(presentation, answer.heard is True, cover)
        else:
            course.take_answer(ear, presentation, answer.heard, cover, pressed)
        if answer.response_us is not None:
            self.presenter.pace.take_answer(answer.response_us)
        elif not silence:
            self.presenter.pace.take_silence()
        self.time_to_go.take_answer(now_us)
        half_width_db = None
        if presentation.is_asked:
            half_width_db = round(ear.audiogram.widest().half_width_db, 2)
        to_go_s, of = round(self.time_to_go.seconds()), presentation.purpose
        told: list[Action] = [
            tells.AnswerTold(self.number, ear.route, of, answer.heard, half_width_db, to_go_s)
        ]
        told += self._check_goes_on(now_us, checking)
        if not check and not asked:
            told += _ear_over(ear)
        return [*told, *self._next(now_us, answer.at_us)]

    def _clear_tone_answered(self, now_us: int, tone: Presentation, answer: Answer) -> list[Action]:
        """Take the answer to a tone of the ear check, which tells of nothing else."""
        told = self._tell_of_check(now_us, tone, answer)
        route = self.presenter.trial.route
        check = self.ear_check.take_answer(now_us, route, tone, answer.heard)
        return [told, *check, *self._next(now_us, answer.at_us)]

    def _noise_checked(self, now_us: int, tone: Presentation, answer: Answer) -> list[Action]:
        """Take the answer to a tone that tells of the noise alone."""
        told = self._tell_of_check(now_us, tone, answer)
        route, cover = self.presenter.trial.route, self.presenter.noise.cover
        self.ears[route].levels.note_tone(tone)
        if not self.cross_hearing.noise_check.take_answer(route, answer.heard, cover):
            return [told, *self._next(now_us, answer.at_us)]
        self.placing.look_at(reason(Code.LOOK_AT_NOISE, ear=str(route)))
        return [told, tells.PlacingTold(self.placing.why), *self.presenter.pause()]

    def _tell_of_check(self, now_us: int, tone: Presentation, answer: Answer) -> Action:
        route, to_go_s = self.presenter.trial.route, round(self.time_to_go.seconds())
        self.presenter.silent_time.take()
        self.given.add(now_us, self.number, self.presenter, answer, of_ear_check=True)
        return tells.AnswerTold(self.number, route, tone.purpose, answer.heard, None, to_go_s)

    def _check_goes_on(self, now_us: int, before: bool) -> list[Action]:
        """Tell that a check begins or ends; `before`: there was one before this answer."""
        ear = self.ear
        if before and self.checking and now_us >= self._check_until_us:
            course.end_check(ear)
        if before and not self.checking:
            return [tells.GoingOnTold()]
        if before or not self.checking:
            return []
        self._check_until_us = now_us + CHECK_US_MAX
        return [tells.ListenerCheckTold(ear.route, ear.listening.why)]

    def _finish(self, outcome: SessionOutcome, why: Reasons = ()) -> list[Action]:
        self.outcome = outcome
        silence = self.presenter.fall_silent(FINISHED)
        return [silence, tells.FinishTold(outcome, why), events.Finish(self.result())]


def _ear_over(ear: EarTest) -> list[Action]:
    return [tells.EarOverTold(ear.route, ear.outcome, ear.why)] if ear.over else []
