"""The hearing test: a pure state machine. Time comes in with every event; nothing here has a clock.

A presentation is a random pause, a tone (or, for a catch trial, none), and a response window.
Whether a tone was answered is judged on the board's time alone, by its microseconds between tone
and button; before a tone counts as not heard, or as not begun, the board is asked for its time, so
that no press is lost to a slow wire or a busy processor. A presentation that was disturbed (paused,
cut short, board lost) is not an answer: the same stimulus is asked again.

The board knows nothing of a catch trial, but that is judged on its time all the same: the silence
begins so long after the last answer there, or the end of its tone if that is later, as the pause
takes, however late the board's words come here. After a disturbance the board is first asked for
its time.

The first press in the window is the answer, with the button it was of: heard, or unsure. A press
before the tone could be heard has the tone asked again after a new pause, once; the next such press
is passed over, so that whoever presses all the time does not hold up the test, and only a press in
the window counts. Where there is no second button its presses mean nothing.
"""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from firmware_py.procedure.cross_hearing import OTHER, CrossHearing
from firmware_py.procedure.ear import (
    NO_COVER,
    Cover,
    EarTest,
    Presentation,
)
from firmware_py.procedure.events import (
    UNSURE_BUTTON,
    Aborted,
    Action,
    AskBoardTime,
    BoardLost,
    BoardReady,
    BoardTime,
    ButtonPressed,
    ButtonReleased,
    Continued,
    Event,
    Finish,
    Mask,
    NoiseEnded,
    NoiseRefused,
    Paused,
    Play,
    Silence,
    Tell,
    TestStarted,
    TimePassed,
    ToneEnded,
    ToneStarted,
    Unmask,
    Wait,
)
from firmware_py.procedure.masking import Earphones
from firmware_py.procedure.outcomes import (
    ABORTED,
    CATCH,
    COMPLETE,
    FAILED,
    FAMILIARISE,
    UNCERTAIN,
    UNRELIABLE,
    UNSURE,
    SessionOutcome,
)
from firmware_py.procedure.person import UNKNOWN, Person
from firmware_py.procedure.randomness import PAUSE_STREAM, uniform
from firmware_py.procedure.reach import Highest, unlimited
from firmware_py.procedure.results import EarResult, SessionResult
from firmware_py.procedure.settings import BETTER, BOTH, LEFT, RIGHT, Settings

# States.
READY: Final = "ready"
PAUSE_BEFORE: Final = "waiting"  # the random pause before a presentation
STARTING: Final = "starting"  # told to play, the board has not begun
LISTENING: Final = "listening"  # the tone, and the response window after it
PAUSED: Final = "paused"
FINISHED: Final = "finished"

START_TIMEOUT_US: Final = 3_000_000  # from the command to the board's word that the tone began
STARTS_MAX: Final = 5  # of one presentation, before the test ends with an error
TIME_TIMEOUT_US: Final = 1_000_000  # the board's time is asked for again after
PAUSE_TOTAL_US_MAX: Final = 10_000_000  # stray presses prolong a pause up to this
RETEST_REPEATABLE_DB: Final = 5.0
RETEST_ACCEPTED_DB: Final = 10.0
ANY_EARPHONES: Final = Earphones()
CROSS_HEARD: Final = "the other ear may have heard some of its tones: they are asked with noise"
UNSURE_SHARE_HIGH: Final = 0.9  # near the threshold many answers are; all but a few, and it is odd


@dataclass
class ResponseTimes:
    """Count and sum of the response times, for the quality of the test."""

    count: int = 0
    total_us: int = 0

    def mean_ms(self) -> float | None:
        """Return the mean in milliseconds, None without a response."""
        return self.total_us / self.count / 1000.0 if self.count else None


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
        self.state = READY
        self.outcome: SessionOutcome | Literal[""] = ""
        self.number = 0  # of the presentation under way or due
        self.ear_under_test = ears[0]
        self.presentation: Presentation | None = None
        self.noise: Mask | None = None  # for this presentation; a silence has that of the last tone
        self._cover = NO_COVER
        self._noise_plays = False
        self.stray_presses = 0
        self._response_times = ResponseTimes()
        self._told_ear = ""
        self._deadline_us = 0
        self._pause_began_us = 0
        self._pause_since_us = 0  # this and the next on the board's clock
        self._onset_us: int | None = None  # of tone or silence; None: not known yet
        self._starts = 0
        self._void_why = ""  # of the last start that came to nothing
        self._early_presses = 0
        self._board_ready = True
        self._time_asked = False

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
            case TimePassed():
                return self._time_passed(now_us)
            case BoardLost(why):
                return self._board_lost(why)
            case BoardReady(tone_known, can_mask):
                return self._board_is_ready(now_us, tone_known, can_mask)
            case NoiseRefused(why):
                return self._noise_refused(why)
            case NoiseEnded():
                return self._noise_ended(now_us)
            case TestStarted() | Paused() | Continued() | Aborted():
                return self._operator_said(now_us, event)
            case _:
                return self._board_told(now_us, event)

    def result(self) -> SessionResult:
        """Return the result so far."""
        return SessionResult(
            self.outcome,
            tuple(self._ear_result(ear) for ear in self.ears.values()),
            self.number,
            self.stray_presses,
            self._response_times.mean_ms(),
            tuple(self._remarks()),
        )

    # Events

    def _operator_said(
        self, now_us: int, event: TestStarted | Paused | Continued | Aborted
    ) -> list[Action]:
        match event:
            case TestStarted(can_mask):
                return self._started(now_us, can_mask)
            case Paused():
                return self._paused()
            case Continued():
                return self._continued(now_us)
            case Aborted(why):
                return self._finish(ABORTED, why)

    def _board_told(
        self,
        now_us: int,
        event: ToneStarted | ToneEnded | ButtonPressed | ButtonReleased | BoardTime,
    ) -> list[Action]:
        match event:
            case ToneStarted(number, onset_us):
                return self._tone_started(now_us, number, onset_us)
            case ToneEnded(number, offset_us, cut):
                return self._tone_ended(now_us, number, offset_us, cut)
            case ButtonPressed(at_us, button):
                return self._pressed(now_us, at_us, button)
            case ButtonReleased():
                return []
            case BoardTime(at_us):
                return self._board_time(now_us, at_us)

    def _started(self, now_us: int, can_mask: bool) -> list[Action]:
        if self.state != READY:
            return []
        # It may have been lost before: of a test resumed before its start, over a bad wire.
        self._board_ready = True
        self.cross_hearing.can_mask = can_mask
        return self._next(now_us)

    def _time_passed(self, now_us: int) -> list[Action]:
        if now_us < self._deadline_us or not self._board_ready:
            return []
        if self.state == PAUSE_BEFORE:
            return self._present(now_us)
        if self.state in (STARTING, LISTENING):
            self._time_asked = True
            return [AskBoardTime(), *self._wait(now_us + TIME_TIMEOUT_US)]
        return []

    def _board_time(self, now_us: int, at_us: int) -> list[Action]:
        if self.state == STARTING and self._time_asked:
            if self._is_catch():
                self._pause_since_us = self._onset_us = at_us
                return self._begin_silence(now_us)
            return self._void(now_us, "the tone did not begin")
        if self.state != LISTENING:
            return []
        assert self._onset_us is not None
        over_us = self._onset_us + self._listening_us()
        # A press in the last microsecond counts, so that has to be over as well.
        left_us = over_us + 1 - at_us
        if left_us > 0:
            return self._wait(now_us + left_us)
        return self._answered(now_us, False, over_us)

    def _tone_started(self, now_us: int, number: int, onset_us: int) -> list[Action]:
        if self.state != STARTING or number != self.number:
            return []
        self.state = LISTENING
        self._onset_us = onset_us
        return self._wait(now_us + self._listening_us())

    def _tone_ended(self, now_us: int, number: int, offset_us: int, cut: bool) -> list[Action]:
        if self._is_catch():
            # The tone before may have gone on after its answer.
            if self._onset_us is not None and offset_us > self._pause_since_us:
                self._pause_since_us = offset_us
                self._onset_us = max(self._onset_us, offset_us + self._pause_us())
            return []
        if self.state != LISTENING or number != self.number or not cut:
            return []
        return self._void(now_us, "the tone was cut short")

    def _pressed(self, now_us: int, at_us: int, button: int) -> list[Action]:
        unsure = button == UNSURE_BUTTON
        if unsure and self.settings.unsure_half_width_db == 0.0:
            return []
        heard = None if unsure else True
        if self._is_catch():
            return self._pressed_without_tone(now_us, at_us, heard)
        if self.state != LISTENING:
            return self._stray_press(now_us)
        assert self._onset_us is not None
        since_onset_us = at_us - self._onset_us
        if since_onset_us > self._listening_us():
            return self._stray_press(now_us)
        if since_onset_us < 1000 * self.settings.response_ms_min:
            return self._early_press(now_us)
        self._response_times.count += 1
        self._response_times.total_us += since_onset_us
        return [self._silence(), *self._answered(now_us, heard, at_us)]

    def _pressed_without_tone(self, now_us: int, at_us: int, heard: bool | None) -> list[Action]:
        """Judge a press before a silence or in it; the word of it may come before its time."""
        if self._onset_us is None or at_us > self._onset_us + self._listening_us():
            return self._stray_press(now_us)
        if at_us < self._onset_us:
            until_us = at_us + 1000 * self.settings.pause_ms_min
            until_us = min(until_us, self._pause_since_us + PAUSE_TOTAL_US_MAX)
            self._onset_us = max(self._onset_us, until_us)
            return self._stray_press(now_us)
        told = [self._tell_catch()] if self.state == PAUSE_BEFORE else []
        return [*told, *self._answered(now_us, heard, at_us)]

    def _early_press(self, now_us: int) -> list[Action]:
        """Ask the tone again after the first press that was too early; pass over the others."""
        self.stray_presses += 1
        self._early_presses += 1
        if self._early_presses > 1:
            return []
        return self._void(now_us, "the button was pressed before the tone could be heard")

    def _stray_press(self, now_us: int) -> list[Action]:
        """Count a press without a tone, and begin the pause anew, within reason."""
        if self.state in (PAUSED, READY):
            return []
        self.stray_presses += 1
        if self.state != PAUSE_BEFORE:
            return []
        until_us = now_us + 1000 * self.settings.pause_ms_min
        until_us = min(until_us, self._pause_began_us + PAUSE_TOTAL_US_MAX)
        return self._wait(until_us) if until_us > self._deadline_us else []

    def _paused(self) -> list[Action]:
        if self.state == PAUSED:
            return []
        self.state = PAUSED
        self._onset_us = None
        return [self._silence(), Tell("paused", {})]

    def _continued(self, now_us: int) -> list[Action]:
        if self.state != PAUSED:
            return []
        told = Tell("continued", {})
        if self.presentation is None:  # paused before it began
            return [told, *self._next(now_us)]
        self._starts = 0  # a pause is no failure of the board
        return [told, *self._pause_before(now_us)]

    def _board_lost(self, why: str) -> list[Action]:
        if not self._board_ready:
            return []
        self._board_ready = False
        self._noise_plays = False  # the board falls silent by itself
        return [Tell("board-lost", {"why": why})]

    def _board_is_ready(self, now_us: int, tone_known: bool, can_mask: bool) -> list[Action]:
        self._board_ready = True
        self._noise_plays = False
        self.cross_hearing.can_mask = can_mask
        told: list[Action] = [Tell("board-ready", {})]
        whole = tone_known and not self._is_catch() and self.noise is None
        if self.state in (STARTING, LISTENING) and whole:
            wait_us = START_TIMEOUT_US if self.state == STARTING else self._listening_us()
            return [*told, *self._wait(now_us + wait_us)]
        if self.state in (PAUSE_BEFORE, STARTING, LISTENING):
            return [*told, *self._pause_before(now_us)]
        return told

    def _noise_refused(self, why: str) -> list[Action]:
        """Go on without noise, and remember that it was missing.

        Nothing of a refused command is done: the noise of the tone before may still play.
        """
        if self.noise is None:
            return []
        words = f"the tone generator refused the noise: {why}"
        self.noise, self._noise_plays = None, False
        self._cover = Cover(why=words)
        return [Unmask(), Tell("unmasked", {"number": self.number, "why": words})]

    def _noise_ended(self, now_us: int) -> list[Action]:
        """Ask the tone again, and its noise first."""
        if self.state != STARTING or self.noise is None:
            return []
        return self._void(now_us, "its noise had ended: this device stood still for a second")

    # The way of one presentation

    def _next(self, now_us: int, since_us: int | None = None) -> list[Action]:
        """Go on with the next presentation, the next ear, or the end.

        `since_us`: the board's time of the answer before.
        """
        told: list[Action] = []
        ear = self._choose_ear()
        if ear is None:
            ear = next(filter(self.cross_hearing.ask_again, self.ears), None)
            if ear is None:
                return self._finish(COMPLETE, "")
            told.append(Tell("ear-again", {"ear": ear, "why": CROSS_HEARD}))
        if ear != self.ear_under_test:
            self.noise = None
        self.ear_under_test = ear
        self.number += 1
        self.presentation = self.ears[ear].next_presentation(self.number)
        self._starts = 0
        self._void_why = ""
        self._early_presses = 0
        if ear != self._told_ear:
            self._told_ear = ear
            told.append(Tell("ear", {"ear": ear}))
        return [*told, *self._pause_before(now_us, since_us)]

    def _choose_ear(self) -> str | None:
        """Return the ear to go on with, None if all are over.

        All are familiarised first if the better one is to begin; then it is one after the other.
        """
        waiting = [ear for ear in self.ears.values() if not ear.over]
        if not waiting:
            return None
        if self.settings.first_ear == BETTER and len(self.ears) > 1:
            strange = [ear for ear in waiting if not ear.familiar]
            if strange:
                return strange[0].ear
            begun = [ear for ear in waiting if ear.estimator.trial_count]
            if not begun:
                return min(waiting, key=_familiar_level).ear
            return begun[0].ear
        return waiting[0].ear

    def _pause_before(self, now_us: int, since_us: int | None = None) -> list[Action]:
        self.state = PAUSE_BEFORE
        self._pause_began_us = now_us
        self._onset_us = None
        if since_us is not None and self._is_catch():
            self._pause_since_us = since_us
            self._onset_us = since_us + self._pause_us()
        return [*self._begin_noise(), *self._wait(now_us + self._pause_us())]

    def _pause_us(self) -> int:
        s = self.settings
        span_ms = s.pause_ms_max - s.pause_ms_min
        pause_ms = s.pause_ms_min + span_ms * uniform(s.seed, PAUSE_STREAM, self.number)
        return round(1000 * pause_ms)

    def _begin_noise(self) -> list[Action]:
        """Have the noise play that is due, or end the one that is not.

        From the pause on: so its beginning does not tell when the tone comes. A silence keeps the
        noise of the tone before it, or it would be known by that.
        """
        presentation = self.presentation
        assert presentation is not None
        if not self._is_catch():
            self._cover = self.cross_hearing.cover(self.ear_under_test, presentation)
            self.noise = self._noise_of(presentation)
        elif self.noise is not None:
            possible = self.cross_hearing.can_mask
            self.noise = replace(self.noise, number=self.number) if possible else None
        played, self._noise_plays = self._noise_plays, self.noise is not None
        if self.noise is not None:
            return [self.noise]
        return [Unmask()] if played else []

    def _noise_of(self, presentation: Presentation) -> Mask | None:
        level_db_hl, why = self._cover.noise_db_hl, self._cover.why
        if level_db_hl is None:
            return None
        other = OTHER[self.ear_under_test]
        return Mask(self.number, other, presentation.frequency_hz, level_db_hl, why)

    def _present(self, now_us: int) -> list[Action]:
        s, presentation = self.settings, self.presentation
        assert presentation is not None
        if self._is_catch():
            return self._begin_silence(now_us)
        self._starts += 1
        if self._starts > STARTS_MAX:
            why = f": {self._void_why}" if self._void_why else ""
            words = f"the tone generator did not play tone {self.number}{why}"
            return self._finish(FAILED, words)
        self._time_asked = False
        self.state = STARTING
        play = Play(
            self.number, self.ear_under_test, presentation.frequency_hz, presentation.level_db_hl,
            s.pulse_on_ms, s.pulse_off_ms, s.pulses, s.rise_ms,
        )  # fmt: skip
        return [self._tell_tone(presentation), play, *self._wait(now_us + START_TIMEOUT_US)]

    def _begin_silence(self, now_us: int) -> list[Action]:
        """Listen to a catch trial, or ask the board first what time it is."""
        if self._onset_us is None:
            self.state = STARTING
            self._time_asked = True
            return [AskBoardTime(), *self._wait(now_us + TIME_TIMEOUT_US)]
        self.state = LISTENING
        return [self._tell_catch(), *self._wait(now_us + self._listening_us())]

    def _answered(self, now_us: int, heard: bool | None, at_us: int) -> list[Action]:
        """Take the answer that was there at a time of the board."""
        presentation, ear = self.presentation, self.ears[self.ear_under_test]
        assert presentation is not None
        ear.answer(presentation, heard, NO_COVER if self._is_catch() else self._cover)
        about: dict[str, Any] = {
            "number": self.number,
            "ear": ear.ear,
            "purpose": presentation.purpose,
            "heard": UNSURE if heard is None else heard,
        }
        if presentation.purpose not in (CATCH, FAMILIARISE):
            about["half_width_db"] = round(ear.widest().half_width_db, 2)
        told: list[Action] = [Tell("answer", about)]
        if ear.over:
            told.append(Tell("ear-over", {"ear": ear.ear, "outcome": ear.outcome, "why": ear.why}))
        return [*told, *self._next(now_us, at_us)]

    def _void(self, now_us: int, why: str) -> list[Action]:
        self._void_why = why
        told = Tell("void", {"number": self.number, "why": why})
        return [self._silence(), told, *self._pause_before(now_us)]

    def _finish(self, outcome: SessionOutcome, why: str) -> list[Action]:
        self.state = FINISHED
        self.outcome = outcome
        self.noise = None
        told = Tell("finished", {"outcome": outcome, "why": why})
        return [self._silence(), told, Finish(self.result())]

    # Small things

    def _silence(self) -> Silence:
        self._noise_plays = False
        return Silence()

    def _ear_result(self, ear: EarTest) -> EarResult:
        """Return the result of an ear, with the marks of masking if the test looks for them."""
        result = ear.result()
        if not self.cross_hearing.watched:
            return result
        verdicts = self.cross_hearing.verdicts(ear.ear)
        thresholds = []
        for each in result.thresholds:
            verdict = verdicts[each.frequency_hz]
            gap_db = verdict.air_bone_gap_db
            thresholds.append(replace(each, masking=verdict.mark, air_bone_gap_db=gap_db))
        masked = sum(each.cover.noise_db_hl is not None for each in ear.observations)
        return replace(result, thresholds=tuple(thresholds), tones_masked=masked)

    def _masking_doubts(self, ear: EarTest) -> list[str]:
        """Say where the other ear may have heard the tones, and why it could."""
        if not self.cross_hearing.watched:
            return []
        found: dict[str, list[int]] = {}
        for frequency_hz, verdict in self.cross_hearing.verdicts(ear.ear).items():
            if verdict.mark == UNCERTAIN:
                found.setdefault(verdict.why, []).append(frequency_hz)
        return [
            f"{ear.ear} ear: masking uncertain at {', '.join(map(str, frequencies_hz))} Hz: {why}"
            for why, frequencies_hz in found.items()
        ]

    def _wait(self, until_us: int) -> list[Action]:
        self._deadline_us = until_us
        return [Wait(until_us)]

    def _listening_us(self) -> int:
        return 1000 * (self.settings.tone_ms + self.settings.response_window_ms)

    def _is_catch(self) -> bool:
        return self.presentation is not None and self.presentation.purpose == CATCH

    def _tell_catch(self) -> Tell:
        return Tell("catch", {"number": self.number, "ear": self.ear_under_test})

    def _tell_tone(self, presentation: Presentation) -> Tell:
        about: dict[str, Any] = {
            "number": self.number,
            "ear": self.ear_under_test,
            "purpose": presentation.purpose,
            "frequency_hz": presentation.frequency_hz,
            "level_db_hl": presentation.level_db_hl,
        }
        if presentation.information_bits is not None:
            about["information_bits"] = presentation.information_bits
        if self.noise is not None:
            about["noise_db_hl"] = self.noise.level_db_hl
        elif self._cover.why:
            about["unmasked"] = self._cover.why
        return Tell("tone", about)

    def _remarks(self) -> list[str]:
        """Say in words what makes the result less than sure."""
        remarks = []
        for ear in self.ears.values():
            difference_db = ear.retest_difference_db
            if difference_db is not None and abs(difference_db) > RETEST_REPEATABLE_DB:
                verdict = "rejected" if abs(difference_db) > RETEST_ACCEPTED_DB else "doubtful"
                remarks.append(
                    f"{ear.ear} ear {verdict}: 1 kHz came out {difference_db:+.0f} dB "
                    "different in the retest"
                )
            remarks += [f"{ear.ear} ear: {words}" for words in _doubts(ear)]
            remarks += self._masking_doubts(ear)
        tones = sum(ear.tones for ear in self.ears.values())
        if tones and not any(ear.tones_answered for ear in self.ears.values()):
            remarks.append("no tone was ever answered: check earphones and button")
        return remarks


def _doubts(ear: EarTest) -> list[str]:
    """Say what makes the answers of an ear less than sure."""
    doubts = []
    if ear.tones_unsure > UNSURE_SHARE_HIGH * ear.tones_answered:
        doubts.append(
            f"{ear.tones_unsure} of {ear.tones_answered} answers were unsure: are the buttons "
            "understood?"
        )
    if ear.outcome != UNRELIABLE and ear.inattention():
        doubts.append(ear.inattention())
    return doubts


def _familiar_level(ear: EarTest) -> float:
    level = ear.familiar_threshold_db_hl
    return float("inf") if level is None else level
