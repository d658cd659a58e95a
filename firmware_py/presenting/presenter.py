"""The way of one presentation: a random pause, a tone or none, and a response window.

Whether a tone was answered is judged on the board's time alone, by its microseconds between tone
and button. A tone counts as not heard only when the pause after it is over, and the board has told
its time: a press in that pause is a late answer, and none is lost to a slow wire or a busy
processor. A presentation that was disturbed (paused, cut short, board lost) is not an answer: the
same stimulus is asked again.

The board knows nothing of a catch trial, but that is judged on its time all the same. On its clock
the silence begins one pause after the last answer, or after the end of its tone if that is later.
After a disturbance the board is first asked for its time.

The first press in the window is the answer, with the button it was of: heard, or unsure. After a
press before the tone could be heard the tone is asked again, once, after a new pause; further such
presses, and a second one for the same tone (`silent_time.py`), hold up nothing.
"""

from dataclasses import dataclass
from typing import Final

from firmware_py.presenting.masking_noise import Masker, MaskingNoise
from firmware_py.presenting.pace import Pace
from firmware_py.presenting.silent_time import SilentTime
from firmware_py.terms import events, tells
from firmware_py.terms.events import UNSURE_BUTTON, Action, Event
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.reasons import Code, Reason, Reasons, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings

# States.
READY: Final = "ready"
PAUSE_BEFORE: Final = "waiting"  # the random pause before a presentation
STARTING: Final = "starting"  # told to play, the board has not begun
LISTENING: Final = "listening"  # the tone, and the response window after it
LATE: Final = "late"  # the pause after a tone that was not answered; a late press is its answer
PAUSED: Final = "paused"
FINISHED: Final = "finished"

START_TIMEOUT_US: Final = 3_000_000  # from the command to the board's word that the tone began
STARTS_MAX: Final = 5  # of one presentation, before the test ends with an error
TIME_TIMEOUT_US: Final = 1_000_000  # the board's time is asked for again after
SILENT_STATES: Final = (PAUSE_BEFORE, LATE)  # nothing sounds, and a press of nothing may be heard


@dataclass(frozen=True)
class Answer:
    """The answer to a presentation, at `at_us` of the board's time.

    `response_us`: from the onset to the press; None for a catch trial, or without a press.
    """

    heard: bool | None
    at_us: int
    response_us: int | None = None


@dataclass
class Trial:
    """What is presented, under which number, and what came of it so far."""

    number: int
    route: Route
    presentation: Presentation | None = None  # None: before the first
    starts: int = 0
    early_presses: int = 0
    void_why: Reason | None = None  # of the last start that came to nothing

    @property
    def is_catch(self) -> bool:
        return self.presentation is not None and self.presentation.purpose == Purpose.CATCH


@dataclass
class TrialTimes:
    """Its times: when it began, on the board's clock; and what is waited for, on the host's."""

    onset_us: int | None = None  # of the tone or silence, on the board's clock; None: not known yet
    pause_since_us: int = 0  # on the board's clock
    pause_began_us: int = 0
    deadline_us: int = 0
    asked: bool = False  # the board was asked for its time in this wait


class Presenter:
    """Presents one stimulus after the other."""

    def __init__(self, settings: Settings, route: Route, masker: Masker) -> None:
        self._settings = settings
        self._masker = masker
        self.noise = MaskingNoise(masker)
        self.pace = Pace(settings)
        self.silent_time = SilentTime(self.pace)
        self.state = READY
        self.trial = Trial(0, route)  # that is under way or due
        self.times = TrialTimes()
        self.answer: Answer | None = None  # with it the presentation is over, and waits for `begin`
        self.failure: Reasons = ()  # why the test cannot go on; none: it can
        self.board_ready = True  # the tone generator answers
        self._doubted = False  # whether nothing that the board tells of the tone counts

    # From the hearing test

    def start(self, can_mask: bool) -> None:
        """Make ready for the first presentation of a test that the operator starts."""
        # It may have been lost before: of a test resumed before its start, over a bad wire.
        self.board_ready = True
        self._masker.can_mask = can_mask

    def begin(
        self, now_us: int, route: Route, presentation: Presentation, since_us: int | None
    ) -> list[Action]:
        """Begin the next presentation; `since_us`: the board's time of the answer before."""
        number = self.trial.number + 1
        self.trial = Trial(number, route, presentation)
        # A late answer is followed by a pause as any other.
        heard = self.answer is not None and self.answer.heard is not False
        waited = self.state == LATE and self.answer is not None and not heard
        self.answer = None
        noise = self.noise.begin(number, route, presentation)
        self.silent_time.begin(since_us if heard else None)
        if waited and not self.noise.changed:
            # The pause has been: nothing of the last tone was heard that this one could follow.
            self.times.onset_us = self.times.pause_since_us = since_us or 0
            return [*noise, *self._present(now_us)]
        self.silent_time.pass_time(pause_us := self.pace.pause_us(number))
        return [*noise, *self._wait_for_it(now_us, pause_us, since_us)]

    def pause(self) -> list[Action]:
        if self.state == PAUSED:
            return []
        self.state = PAUSED
        self.times.onset_us = self.answer = None
        return [self._silence(), tells.PauseTold()]

    def go_on(self, now_us: int) -> list[Action]:
        self.trial.starts = 0  # a pause is no failure of the board
        return self._pause_again(now_us)

    def fall_silent(self, state: str) -> events.Silence:
        """Give up what is under way: for ever (`FINISHED`), or until `begin` (`PAUSE_BEFORE`)."""
        self.state = state
        self.noise.due = None
        return self._silence()

    def handle(self, now_us: int, event: Event) -> list[Action]:
        actions: list[Action] = []
        match event:
            case events.TimePassed():
                actions = self._time_passed(now_us)
            case events.ToneStarted(number, onset_us):
                actions = self._tone_started(now_us, number, onset_us)
            case events.ToneEnded(number, offset_us, cut):
                actions = self._tone_ended(now_us, number, offset_us, cut)
            case events.ButtonPressed(at_us, button):
                actions = self._take_press(now_us, at_us, button)
            case events.BoardTime(at_us):
                actions = self._board_time(now_us, at_us)
            case events.BoardLost(why):
                self._doubted = self._doubted or isinstance(event, events.BoardDisbelieved)
                actions = self._board_lost(why)
            case events.BoardReady(tone_known, can_mask):
                actions = self._board_is_ready(now_us, tone_known, can_mask)
            case events.NoiseRefused(why):
                actions = self.noise.take_refusal(self.trial.number, why)
            case events.NoiseEnded() if self.state == STARTING and self.noise.due is not None:
                actions = self._void(now_us, Code.NOISE_ENDED)
        return actions

    # Events

    def _time_passed(self, now_us: int) -> list[Action]:
        if now_us < self.times.deadline_us or not self.board_ready:
            return []
        if self.state == PAUSE_BEFORE:
            return self._present(now_us)
        if self.state == LISTENING and not self.trial.is_catch:
            self.state = LATE
            self.times.pause_began_us = now_us
            return self._wait(now_us + self.pace.pause_after_us(self.trial.number + 1))
        return self._ask_time(now_us) if self.state in (STARTING, LISTENING, LATE) else []

    def _ask_time(self, now_us: int) -> list[Action]:
        waiting = self._wait(now_us + TIME_TIMEOUT_US)
        self.times.asked = True
        return [events.AskBoardTime(), *waiting]

    def _board_time(self, now_us: int, at_us: int) -> list[Action]:
        if self.state == STARTING and self.times.asked:
            if self.trial.is_catch:
                self.times.pause_since_us = self.times.onset_us = at_us
                return self._begin_silence(now_us)
            return self._void(now_us, Code.NOT_BEGUN)
        # A tone's pause may not be over yet when the board tells its time, asked for before.
        waited = self.state == LATE and self.times.asked
        listened = self.state == LISTENING and self.trial.is_catch
        if self.times.onset_us is None or not (waited or listened):
            return []
        over_us = self.times.onset_us + self._listening_us()
        # A press in the last microsecond counts, so that has to be over as well.
        left_us = over_us + 1 - at_us
        if left_us > 0:
            return self._wait(now_us + left_us)
        if waited:
            pause_us = self.pace.pause_after_us(self.trial.number + 1)
            self.silent_time.pass_time(self.pace.window_us + pause_us - self.pace.late_us)
        self.answer = Answer(False, at_us if waited else over_us)
        return []

    def _tone_started(self, now_us: int, number: int, onset_us: int) -> list[Action]:
        if self.state != STARTING or number != self.trial.number:
            return []
        self.state = LISTENING
        self.times.onset_us = onset_us
        return self._wait(now_us + self._listening_us())

    def _tone_ended(self, now_us: int, number: int, offset_us: int, cut: bool) -> list[Action]:
        if self.trial.is_catch:
            # The tone before may have gone on after its answer.
            if self.times.onset_us is not None:
                self.times.pause_since_us = offset_us
                self.times.onset_us = max(
                    self.times.onset_us, offset_us + self.pace.pause_us(self.trial.number)
                )
            return []
        ended = cut and number == self.trial.number and self.state in (LISTENING, LATE)
        return self._void(now_us, Code.CUT_SHORT) if ended else []

    def _take_press(self, now_us: int, at_us: int, button: int) -> list[Action]:
        unsure = button == UNSURE_BUTTON
        if (unsure and not self._settings.unsure_button) or self.silent_time.again(at_us):
            return []
        heard = None if unsure else True
        if self.trial.is_catch:
            return self._take_press_without_tone(now_us, at_us, heard)
        if self.state not in (LISTENING, LATE) or self.times.onset_us is None:
            return self._stray_press(now_us)
        since_onset_us = at_us - self.times.onset_us
        if since_onset_us > self.pace.late_us:
            return self._stray_press(now_us)
        if since_onset_us < 1000 * self._settings.response_ms_min:
            return self._early_press(now_us)
        self.answer = Answer(heard, at_us, since_onset_us)
        return [self._silence()]

    def _take_press_without_tone(self, now_us: int, at_us: int, heard: bool | None) -> list[Action]:
        """Judge a press before a silence or in it; the word of it may come before its time."""
        times = self.times
        if times.onset_us is None or at_us > times.onset_us + self._listening_us():
            return self._stray_press(now_us)
        if at_us < times.onset_us:
            times.onset_us = max(times.onset_us, self.pace.anew_us(at_us, times.pause_since_us))
            return self._stray_press(now_us)
        self.answer = Answer(heard, at_us)
        told = tells.CatchTold(self.trial.number, self.trial.route)
        return [told] if self.state == PAUSE_BEFORE else []

    def _early_press(self, now_us: int) -> list[Action]:
        self.silent_time.count_press()
        self.trial.early_presses += 1
        return self._void(now_us, Code.TOO_EARLY) if self.trial.early_presses == 1 else []

    def _stray_press(self, now_us: int) -> list[Action]:
        """Count a press without a tone, however late it is told; begin a pause that lasts anew."""
        if self.state in (PAUSED, READY):
            return []
        self.silent_time.count_press()
        if self.state not in SILENT_STATES:
            return []
        until_us = self.pace.anew_us(now_us, self.times.pause_began_us)
        return self._wait(until_us) if until_us > self.times.deadline_us else []

    def _board_lost(self, why: Reasons) -> list[Action]:
        if not self.board_ready:
            return []
        self.board_ready = False
        return [tells.BoardLostTold(why)]

    def _board_is_ready(self, now_us: int, tone_known: bool, can_mask: bool) -> list[Action]:
        self.board_ready = True
        self.silent_time.shake()
        self.noise.note_silence()  # the board fell silent by itself
        self._masker.can_mask = can_mask
        told = tells.BoardReadyTold()
        whole = tone_known and not self._doubted and self.noise.due is None
        self._doubted = False
        if self.state in (STARTING, LISTENING, LATE) and whole:
            wait_us = START_TIMEOUT_US if self.state == STARTING else self._listening_us()
            return [told, *self._wait(now_us + wait_us)]
        if self.state in (PAUSE_BEFORE, STARTING, LISTENING, LATE):
            return [told, *self._pause_again(now_us)]
        return [told]

    # The way of the presentation

    def _pause_again(self, now_us: int) -> list[Action]:
        assert self.trial.presentation is not None
        self.silent_time.disturb()
        noise = self.noise.begin(self.trial.number, self.trial.route, self.trial.presentation)
        return [*noise, *self._wait_for_it(now_us, self.pace.pause_again_us(self.trial.number))]

    def _wait_for_it(self, now_us: int, pause_us: int, since_us: int | None = None) -> list[Action]:
        """Begin the pause; `since_us`: the board's time of the answer before."""
        self.state = PAUSE_BEFORE
        self.times.pause_began_us = now_us
        self.times.onset_us = None
        if since_us is not None and self.trial.is_catch:
            self.times.pause_since_us = since_us
            self.times.onset_us = since_us + pause_us
        return self._wait(now_us + pause_us)

    def _present(self, now_us: int) -> list[Action]:
        tone = self.trial.presentation
        if tone is None or self.trial.is_catch:
            return self._begin_silence(now_us)
        self.trial.starts += 1
        if self.trial.starts > STARTS_MAX:
            self.failure = (self._not_played(),)
            return []
        self.state = STARTING
        trial, due, s = self.trial, self.noise.due, self._settings
        told = tells.ToneTold(
            trial.number, trial.route, tone.purpose, tone.frequency_hz, tone.level_db_hl, tone.why,
            tone.information_bits,
            noise_db_hl=due.level_db_hl if due else None,
            unmasked=self.noise.cover.why if due is None else None,
        )  # fmt: skip
        play = events.Play(
            trial.number, trial.route, tone.frequency_hz, tone.level_db_hl, s.pulse_on_ms,
            s.pulse_off_ms, self.pace.pulses, s.rise_ms, s.response_ms_min, s.press_buttons,
            tone.why,
        )  # fmt: skip
        return [told, play, *self._wait(now_us + START_TIMEOUT_US)]

    def _not_played(self) -> Reason:
        number, why = self.trial.number, self.trial.void_why
        if why:
            return reason(Code.NOT_PLAYED_BUT, number=number, why=why)
        return reason(Code.NOT_PLAYED, number=number)

    def _begin_silence(self, now_us: int) -> list[Action]:
        """Listen to a catch trial, or ask the board first what time it is."""
        if self.times.onset_us is None:
            self.state = STARTING
            return self._ask_time(now_us)
        self.state = LISTENING
        told = tells.CatchTold(self.trial.number, self.trial.route)
        return [told, *self._wait(now_us + self._listening_us())]

    def _void(self, now_us: int, code: Code) -> list[Action]:
        self.trial.void_why = why = reason(code)
        return [self._silence(), tells.VoidTold(self.trial.number, why), *self._pause_again(now_us)]

    def _silence(self) -> events.Silence:
        self.noise.note_silence()
        return events.Silence()

    def _wait(self, until_us: int) -> list[Action]:
        self.times.deadline_us = until_us
        self.times.asked = False  # what the board tells from now on is for another wait
        return [events.Wait(until_us)]

    def _listening_us(self) -> int:
        # A silence is as long as a tone may be answered.
        return self.pace.late_us if self.trial.is_catch else self.pace.window_us
