"""The hearing test: a pure state machine. Time comes in with every event; nothing here has a clock.

It chooses the ear to go on with and asks it what to present; `presenter.py` presents it.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Literal

from firmware_py.procedure import events, tells, words
from firmware_py.procedure.asked import ASKED
from firmware_py.procedure.cross_hearing import CrossHearing
from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.ear_result import result_of
from firmware_py.procedure.events import Action, Event
from firmware_py.procedure.levels import Highest, unlimited
from firmware_py.procedure.listening import CHECK_US_MAX
from firmware_py.procedure.masking import Earphones
from firmware_py.procedure.model_checks import ClearTones, Pauses
from firmware_py.procedure.outcomes import MaskingMark, Outcome, Purpose, SessionOutcome
from firmware_py.procedure.person import UNKNOWN, Person
from firmware_py.procedure.presentation import NO_COVER, Presentation
from firmware_py.procedure.presenter import (
    FINISHED,
    PAUSE_BEFORE,
    PAUSED,
    READY,
    Answer,
    Presenter,
)
from firmware_py.procedure.results import EarResult, SessionResult
from firmware_py.procedure.settings import BETTER, BOTH, LEFT, RIGHT, Settings
from firmware_py.procedure.time_to_go import TimeToGo

ANY_EARPHONES: Final = Earphones()
UNSURE_SHARE_HIGH: Final = 0.9  # of the answers; a share this high is implausible


class HearingTest:
    """One hearing test of one or both ears.

    Parameters
    ----------
    settings : Settings
        Of this test.
    person : Person, optional
        Who is tested.
    highest_db_hl : callable, optional
        Of ear and frequency: the highest level that can be reached there. A function without
        memory, as all of this is.
    earphones : Earphones, optional
        What they let through to the other ear, and what noise they can be given; of unknown ones
        the least that is known of any.

    Raises
    ------
    SettingError
        If the estimator does not take these settings, or this person's age or sex.

    Notes
    -----
    `handle` is a pure function of the events so far: the same events give the same actions, to the
    bit. Resuming and replaying a session rest on this.
    """

    def __init__(
        self,
        settings: Settings,
        person: Person = UNKNOWN,
        highest_db_hl: Highest = unlimited,
        earphones: Earphones = ANY_EARPHONES,
    ) -> None:
        self.settings = settings
        self.person = person
        ears: tuple[str, ...] = (RIGHT, LEFT) if settings.ears == BOTH else (settings.ears,)
        if settings.first_ear in ears:
            ears = (settings.first_ear, *(e for e in ears if e != settings.first_ear))
        self.ears = {ear: EarTest(ear, settings, self.person, highest_db_hl) for ear in ears}
        self.cross_hearing = CrossHearing(settings, self.ears, earphones)
        self.outcome: SessionOutcome | Literal[""] = ""
        self.presenter = Presenter(settings, ears[0], self.cross_hearing)
        self.time_to_go = TimeToGo(settings, self.ears, self.presenter.pace)
        self._response_times_us: list[int] = []
        self._told_ear = ""
        self._check_until_us = 0

    @property
    def state(self) -> str:
        """Return where the test is: one of the states of the presenter."""
        return self.presenter.state

    @property
    def number(self) -> int:
        """Return the number of the presentation under way or due."""
        return self.presenter.number

    def handle(self, now_us: int, event: Event) -> list[Action]:
        """Take in one event at a time of the session, and say what to do.

        Parameters
        ----------
        now_us : int
            Time since the session began, microseconds; never less than at the event before.

        Returns
        -------
        list of Action
        """
        if self.state == FINISHED:
            return []
        match event:
            case events.Started(can_mask):
                return self._started(now_us, can_mask)
            case events.Paused():
                return self.presenter.pause()
            case events.Continued():
                return self._continued(now_us)
            case events.EquipmentHeard(by):
                return self._equipment_heard(now_us, by)
            case events.Aborted(why):
                return self._finish(SessionOutcome.ABORTED, why)
        actions = self.presenter.handle(now_us, event)
        if self.presenter.failure:
            actions += self._finish(SessionOutcome.FAILED, self.presenter.failure)
        elif self.presenter.answer is not None:
            actions += self._answered(now_us, self.presenter.answer)
        return actions

    def result(self) -> SessionResult:
        """Return the result so far."""
        times_us = self._response_times_us
        return SessionResult(
            self.outcome,
            tuple(self._ear_result(ear) for ear in self.ears.values()),
            self.number,
            self.presenter.silent_time.stray_presses,
            sum(times_us) / len(times_us) / 1000.0 if times_us else None,
            tuple(self._remarks()),
        )

    def _started(self, now_us: int, can_mask: bool) -> list[Action]:
        if self.state != READY:
            return []
        self.presenter.start(can_mask)
        return self._next(now_us)

    @property
    def checking(self) -> bool:
        """Return whether the test is broken off to see if anybody listens."""
        return self.state not in (READY, FINISHED) and self._ear.phase == Purpose.CHECK

    @property
    def asks_who_hears(self) -> bool:
        """Return whether the operator is to say who hears the tones."""
        return self.checking and self._ear.listening.story is None

    @property
    def _ear(self) -> EarTest:
        return self.ears[self.presenter.ear]

    def _continued(self, now_us: int) -> list[Action]:
        if self.checking and self.state != PAUSED:
            was_over = self.asks_who_hears
            self._ear.end_check()
            told = [self.presenter.fall_silent(PAUSE_BEFORE), tells.GoingOnTold()]
            over = [] if was_over else self._ear_over(self._ear)
            return [*told, *over, *self._next(now_us)]
        if self.state != PAUSED:
            return []
        if self.presenter.presentation is None:  # paused before it began
            return [tells.GoingOnTold(), *self._next(now_us)]
        return [tells.GoingOnTold(), *self.presenter.go_on(now_us)]

    def _equipment_heard(self, now_us: int, by: str) -> list[Action]:
        ear = self._ear
        if not self.checking or ear.listening.story is not None:
            return []
        ear.listening.equipment_heard_by = "" if by == events.NOBODY else by
        ear.end_check()
        return [self.presenter.fall_silent(PAUSE_BEFORE), tells.GoingOnTold(), *self._next(now_us)]

    def _next(self, now_us: int, since_us: int | None = None) -> list[Action]:
        """Go on with the next presentation, the next ear, or the end.

        `since_us`: the board's time of the answer before.
        """
        told: list[Action] = []
        ear = next_ear(self.settings, self.ears.values())
        if ear is None:
            ear = next(filter(self.cross_hearing.ask_again, self.ears), None)
            if ear is not None:
                told.append(tells.EarAgainTold(ear, words.CROSS_HEARD))
        if ear is None:
            check = self.cross_hearing.next_check()
            if check is not None:
                return self._present(now_us, *check, since_us)
        if ear is None:
            # Last of all: now both ears are known, and have noise where it is needed.
            ear = next((e for e in self.ears if self.ears[e].begin_confirmation()), None)
        if ear is None:
            ear = next((e for e in self.ears if self.ears[e].begin_equipment_check()), None)
            if ear is not None:
                self._check_until_us = now_us + CHECK_US_MAX
                told.append(tells.EquipmentCheckTold(ear, self.ears[ear].listening.why))
        if ear is None:
            return self._finish(SessionOutcome.COMPLETE, "")
        self._expect_listener(self.ears[ear])
        time = self.presenter.pace.trial_time if self.settings.per_second else None
        presentation = self.ears[ear].next_presentation(self.number + 1, time)
        return [*told, *self._present(now_us, ear, presentation, since_us)]

    def _present(
        self, now_us: int, ear: str, presentation: Presentation, since_us: int | None
    ) -> list[Action]:
        told: list[Action] = [] if ear == self._told_ear else [tells.EarTold(ear)]
        self._told_ear = ear
        return [*told, *self.presenter.begin(now_us, ear, presentation, since_us)]

    def _expect_listener(self, ear: EarTest) -> None:
        """Let an ear begin with what the other one, if it is known, told of the listener."""
        others = [e for e in self.ears.values() if e is not ear and e.found and e.observations]
        if others and not ear.begun and others[0].outcome != Outcome.UNRELIABLE:
            ear.expect_listener(others[0])

    def _answered(self, now_us: int, answer: Answer) -> list[Action]:
        presentation, ear = self.presenter.presentation, self.ears[self.presenter.ear]
        assert presentation is not None
        silence = presentation.purpose == Purpose.CATCH
        checking, asked = self.checking, self.asks_who_hears
        cover = NO_COVER if silence else self.presenter.noise.cover
        pressed, response_s = self.presenter.silent_time.take(), answer.response_s
        check = presentation.purpose == Purpose.PLATEAU
        if check:
            self.cross_hearing.checked(ear.ear, presentation, answer.heard, cover)
        else:
            ear.answer(presentation, answer.heard, cover, pressed, response_s)
        if answer.response_us is not None:
            self._response_times_us.append(answer.response_us)
            self.presenter.pace.answered(answer.response_us)
        elif not silence:
            self.presenter.pace.unanswered()
        self.time_to_go.answered(now_us)
        half_width_db = None
        if presentation.purpose in ASKED:
            half_width_db = round(ear.audiogram.widest().half_width_db, 2)
        told: list[Action] = [
            tells.AnswerTold(
                self.number, ear.ear, presentation.purpose, answer.heard, half_width_db,
                round(self.time_to_go.seconds()),
            )
        ]  # fmt: skip
        told += self._check_goes_on(now_us, checking)
        if not check and not asked:
            told += self._ear_over(ear)
        return [*told, *self._next(now_us, answer.at_us)]

    def _check_goes_on(self, now_us: int, before: bool) -> list[Action]:
        """Tell that a check begins or ends; `before`: there was one before this answer."""
        ear = self._ear
        if before and self.checking and now_us >= self._check_until_us:
            ear.end_check()
        if before and not self.checking:
            return [tells.GoingOnTold()]
        if before or not self.checking:
            return []
        self._check_until_us = now_us + CHECK_US_MAX
        return [tells.ListenerCheckTold(ear.ear, ear.listening.why)]

    @staticmethod
    def _ear_over(ear: EarTest) -> list[Action]:
        return [tells.EarOverTold(ear.ear, ear.outcome, ear.why)] if ear.over else []

    def _finish(self, outcome: SessionOutcome, why: str) -> list[Action]:
        self.outcome = outcome
        return [
            self.presenter.fall_silent(FINISHED),
            tells.FinishTold(outcome, why),
            events.Finish(self.result()),
        ]

    def _ear_result(self, ear: EarTest) -> EarResult:
        """Return the result of an ear, with the marks of masking."""
        result = result_of(ear)
        if not self.cross_hearing.judged:
            return result
        verdicts = self.cross_hearing.verdicts(ear.ear)
        thresholds = []
        for each in result.thresholds:
            verdict = verdicts[each.frequency_hz]
            marked = replace(each, masking=verdict.mark, air_bone_gap_db=verdict.air_bone_gap_db)
            # Where no tone was asked there was none that could be masked.
            thresholds.append(each if each.mark == Outcome.INFERRED else marked)
        masked = sum(each.cover.noise_db_hl is not None for each in ear.observations)
        return replace(result, thresholds=tuple(thresholds), tones_masked=masked)

    def _remarks(self) -> list[str]:
        """Say in words what makes the result less than sure."""
        remarks: list[str] = []
        for ear in self.ears.values():
            remarks += _happened(ear)
            remarks += [f"{ear.ear} ear: {doubt}" for doubt in _doubts(ear)]
            remarks += self._masking_doubts(ear)
        if signs := _inattention(self.ears.values()):
            remarks.append(words.INATTENTIVE.format(signs=", ".join(signs)))
        asked = [ear for ear in self.ears.values() if ear.tally.tones]
        answered = any(ear.tally.answered for ear in asked)
        # Whose equipment was heard was deaf: nothing of it is to be checked.
        heard = all(ear.listening.equipment_heard_by for ear in asked)
        if asked and not answered and not heard:
            remarks.append(words.NEVER_ANSWERED)
        return remarks

    def _masking_doubts(self, ear: EarTest) -> list[str]:
        """Say where the other ear may have heard the tones, and why it could."""
        if not self.cross_hearing.judged:
            return []
        found: dict[str, list[int]] = {}
        inferred_hz = [
            e.frequency_hz for e in result_of(ear).thresholds if e.mark == Outcome.INFERRED
        ]
        for frequency_hz, verdict in self.cross_hearing.verdicts(ear.ear).items():
            if verdict.mark == MaskingMark.UNCERTAIN and frequency_hz not in inferred_hz:
                found.setdefault(verdict.why, []).append(frequency_hz)
        sentence = words.MASKING_UNCERTAIN
        return [
            sentence.format(ear=ear.ear, frequencies_hz=", ".join(map(str, at_hz)), why=why)
            for why, at_hz in found.items()
        ]


def next_ear(settings: Settings, ears: Iterable[EarTest]) -> str | None:
    """Return the ear to go on with, None if all are over.

    All are familiarised first if the better one is to begin; then it is one after the other. A
    check comes before that.
    """
    tests = list(ears)
    waiting = [ear for ear in tests if not ear.over]
    if not waiting:
        return None
    if settings.first_ear != BETTER or len(tests) == 1:
        return waiting[0].ear
    checked = [ear for ear in waiting if ear.phase == Purpose.CHECK]
    strange = [ear for ear in waiting if ear.phase == Purpose.FAMILIARISE]
    begun = [ear for ear in waiting if ear.begun]
    return (checked or strange or begun or [min(waiting, key=_familiar_level)])[0].ear


def _familiar_level(ear: EarTest) -> float:
    level = ear.familiarisation.threshold_db_hl
    return float("inf") if level is None else level


def _happened(ear: EarTest) -> Iterable[str]:
    """Say what an ear was asked again for, and who heard its tones."""
    retest, listening = ear.retest, ear.listening
    if retest is not None and retest.verdict:
        difference_db = retest.difference_db or 0.0
        yield words.RETEST_DIFFERS.format(
            ear=ear.ear, verdict=retest.verdict, difference_db=difference_db
        )
    if listening.checks:
        yield words.BROKEN_OFF.format(ear=ear.ear, checks=listening.checks, why=listening.last_why)
    if listening.equipment_heard_by:
        by = words.HEARERS[listening.equipment_heard_by]
        yield words.EQUIPMENT_HEARD.format(ear=ear.ear, by=by)


def _doubts(ear: EarTest) -> Iterable[str]:
    """Say what makes the answers of an ear less than sure."""
    doubts = []
    tally = ear.tally
    if tally.unsure > UNSURE_SHARE_HIGH * tally.answered:
        doubts.append(words.MOSTLY_UNSURE.format(unsure=tally.unsure, answered=tally.answered))
    if ear.outcome != Outcome.UNRELIABLE:
        signs = []
        if ear.catch_trials.inattentive:
            signs.append(ear.catch_trials.alarm_words())
        if ear.attention.away_tones:
            signs.append(words.RUN_AWAY.format(away=ear.attention.away_tones))
        if signs:
            doubts.append(words.INATTENTIVE.format(signs=", ".join(signs)))
    return doubts


def _inattention(ears: Iterable[EarTest]) -> list[str]:
    """Say what shows in both ears together that the listener did not attend."""
    clear, pauses = ClearTones(), Pauses()
    for ear in ears:
        clear += ear.attention.clear()
        pauses += ear.attention.pauses
    signs = []
    if clear.inattentive:
        signs.append(words.MISSES.format(missed=clear.missed, asked=clear.asked))
    if pauses.inattentive:
        signs.append(words.PRESSED_IN_PAUSES.format(pressed=pauses.pressed, count=pauses.count))
    return signs
