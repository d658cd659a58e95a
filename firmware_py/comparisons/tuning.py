"""The tuning of a hearing aid: a pure state machine, as the hearing test is one.

The person hears the same speech at two settings, in turn, and presses the button while the better
one sounds; the second button says that there is no difference. Who presses nothing hears both once
more, and then counts as hearing no difference. The two settings are those of which the answer gains
most (`inference/preference`); at the end they are the best one and the prescription (`against`).
Which is heard first is drawn. Time comes in with every event, and nothing here has a clock.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal

from firmware_py.comparisons import tells
from firmware_py.comparisons.against import RESERVED, AgainstPrescription
from firmware_py.comparisons.events import (
    AidLost,
    AidReady,
    Answered,
    PlaySpeech,
    SpeechBegan,
    SpeechEnded,
    StopSpeech,
    UseSetting,
)
from firmware_py.comparisons.result import TuningFinding, TuningResult
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.comparisons.space import DIMENSIONS, PRESCRIPTION, STEP_DB
from firmware_py.inference.preference.answer import Answer
from firmware_py.inference.preference.estimator import Pair, PreferenceEstimator
from firmware_py.terms import events
from firmware_py.terms.events import HEARD_BUTTON, Action, Event
from firmware_py.terms.outcomes import SessionOutcome
from firmware_py.terms.randomness import ORDER_STREAM, uniform
from firmware_py.terms.reasons import Code, Reason, Reasons, reason
from firmware_py.terms.tells import (
    BoardLostTold,
    BoardReadyTold,
    FinishTold,
    GoingOnTold,
    PauseTold,
)

BAND_PROBABILITY: Final = 0.95
# A press so soon after a sound began means the one before it: nobody answers faster.
REACTION_US: Final = 400_000
SILENT_MAX: Final = 2  # comparisons in a row without a press: nobody is there
COMPARISONS_MIN: Final = 10  # fewer say little of whether somebody listens
REGRET_ENOUGH: Final = 0.5  # expected, of the best setting: 3 dB in one number
LISTENS_MIN: Final = 0.5  # probability of one wish; below it the prescription stays
NOBODY_LISTENS: Final = 0.02  # and with so little the tuning is over
# Each fourth comparison, of the best setting and the end of a range, shows whether somebody listens
# and whether more is wanted than there is.
CHECK_EVERY: Final = 4
HEARD_DB: Final = 0.5 * STEP_DB  # of what comes out: less is what was asked
AID: Final = "aid"
BOARD: Final = "board"
PLACES: Final = (Answer.FIRST, Answer.SECOND)


class State(StrEnum):
    """Where a tuning is."""

    READY = "ready"  # not begun
    PLAYING = "playing"  # speech
    GAP = "gap"  # silence between two sounds
    WINDOW = "window"  # silence after the last sound of a comparison, for an answer
    BETWEEN = "between"  # silence before the next comparison
    WAITING = "waiting"  # for the hearing aid or the tone generator with its button
    PAUSED = "paused"
    FINISHED = "finished"


@dataclass
class _Comparison:
    pair: Pair | None = None  # in the order of hearing; None: not drawn yet
    is_against: bool = False  # the prescription
    sound: int = 0  # how many of its sounds were before this one
    sound_us: int = 0  # when that began
    silences: int = 0  # without a press; it is asked again after the first
    # what comes out of each, where the aid says it
    comes_out_db: dict[int, tuple[float, ...]] = field(default_factory=dict)

    def heard(self) -> Pair:
        """Return what was heard: what was asked, unless a limit took half a step of it or more."""
        assert self.pair is not None
        out = [self.comes_out_db.get(place, asked) for place, asked in enumerate(self.pair)]
        first, second = (
            asked if math.dist(asked, heard) < HEARD_DB else heard
            for asked, heard in zip(self.pair, out, strict=True)
        )
        return first, second


class Tuning:
    """One tuning of a hearing aid.

    `handle` is a pure function of the events so far: the same events give the same actions, to the
    bit. Resuming and replaying a tuning rest on this.
    """

    def __init__(self, settings: TuningSettings) -> None:
        self.settings = settings
        self.estimator = PreferenceEstimator(
            ranges_db=settings.ranges_db,
            prior_sd_db=settings.prior_sd_db,
            max_comparisons=settings.comparisons_max,
        )
        self._against = AgainstPrescription()
        self.state = State.READY
        self.outcome: SessionOutcome | Literal[""] = ""
        self.waits_why: Reasons = ()  # why it is paused, and waits for the operator's word
        self.board = ""  # the tone generator that answered last, and has the button; "": unknown
        self.number = 0  # of the sound under way or the last one
        self._asked = _Comparison()
        self._silent_in_row = 0
        self._missing: set[str] = set()  # what the tuning waits for
        self._counts = {"same": 0, "silent": 0, "stray": 0}

    @property
    def comparison(self) -> int:
        return self.estimator.comparison_count + 1

    @property
    def takes_answers(self) -> bool:
        """Return whether both sounds of a comparison have been heard, or begun at least."""
        waits = self.state in (State.PLAYING, State.GAP, State.WINDOW)
        return waits and self._asked.sound >= 1

    def handle(self, now_us: int, event: Event) -> list[Action]:
        """Take in one event, and say what to do; `now_us`: since the tuning began, never less."""
        match event:
            case _ if self.state == State.FINISHED:
                return []
            case SpeechBegan(number) if number == self.number and self._asked.pair is not None:
                self._asked.comes_out_db[self._asked.sound % 2] = event.setting_db
                return []
            case SpeechEnded(number) if self.state == State.PLAYING and number == self.number:
                return self._sound_over(now_us)
            case events.TimePassed():
                return self._time_passed(now_us)
            case events.ButtonPressed(_, button):
                return self._take_press(now_us, button)
            case AidLost() | AidReady() | events.BoardLost() | events.BoardReady():
                return self._take_connection(now_us, event)
        return self._by_operator(now_us, event)

    def _by_operator(self, now_us: int, event: Event) -> list[Action]:
        match event:
            case events.Started(board=board) if self.state == State.READY:
                self.board = board
                return self._begin(now_us)
            case events.Paused(why):
                self.waits_why = why or self.waits_why
                return [] if self.state == State.PAUSED else self._pause()
            case events.Continued() if self.state == State.PAUSED:
                return self._go_on(now_us)
            case events.Aborted(why):
                return self._finish(SessionOutcome.ABORTED, why)
            case Answered(answer):
                return self._take_answer(now_us, Answer(answer), self.takes_answers)
        return []

    def _take_connection(self, now_us: int, event: Event) -> list[Action]:
        match event:
            case AidLost(why):
                return self._note_loss(AID, tells.AidLostTold(why))
            case events.BoardLost(why):
                return self._note_loss(BOARD, BoardLostTold(why))
            case AidReady():
                return self._back(now_us, AID, tells.AidReadyTold())
            case events.BoardReady(board=board):
                self.board = board
        return self._back(now_us, BOARD, BoardReadyTold())

    def result(self) -> TuningResult:
        estimator = self.estimator
        wish_db, _ = estimator.wish()
        low_db, high_db = estimator.wish_band(BAND_PROBABILITY)
        return TuningResult(
            self.outcome, self._finding(), self._setting_db(),
            tuple(map(float, wish_db)), tuple(map(float, low_db)), tuple(map(float, high_db)),
            float(estimator.expected_regret), estimator.comparison_count,
            self._counts["same"], self._counts["silent"], self._counts["stray"],
            tuple(self._remarks()),
        )  # fmt: skip

    # What the answers are enough for, and what may be said of them

    def _finding(self) -> TuningFinding:
        if not (self._listens and self._is_better):
            return TuningFinding.NONE
        return TuningFinding.WISH if self._is_known else TuningFinding.UNSURE

    @property
    def _listens(self) -> bool:
        return self.estimator.listens >= LISTENS_MIN

    @property
    def _is_better(self) -> bool:
        """Return whether the best setting is the prescription, or won against it."""
        return self.estimator.best() == PRESCRIPTION.values_db() or self._against.is_won

    @property
    def _is_known(self) -> bool:
        return self.estimator.expected_regret <= REGRET_ENOUGH

    def _asks_against(self) -> bool:
        """Return whether the next comparison is one with the prescription."""
        count = self.estimator.comparison_count
        due = count >= COMPARISONS_MIN and self._listens and self._is_known
        left = self.settings.comparisons_max - count
        return (due or left <= RESERVED) and not self._is_better

    def _is_enough(self) -> bool:
        """Return whether no further comparison is worth a person's time."""
        count, most = self.estimator.comparison_count, self.settings.comparisons_max
        if count < COMPARISONS_MIN or count >= most:
            return count >= most
        return self._finding() == TuningFinding.WISH or self.estimator.listens < NOBODY_LISTENS

    def _setting_db(self) -> tuple[float, ...]:
        if self._finding() == TuningFinding.NONE:
            return PRESCRIPTION.values_db()
        return tuple(map(float, self.estimator.best()))

    def _remarks(self) -> Iterator[Reason]:
        estimator, finding = self.estimator, self._finding()
        if not self._listens:
            changed = estimator.changed > 0.5 * (1.0 - estimator.listens)
            yield reason(Code.CHANGED if changed else Code.NO_WISH)
        elif finding == TuningFinding.NONE:
            told = {"won": self._against.won, "asked": self._against.asked}
            yield reason(Code.NOT_PREFERRED, **told)
        else:
            if finding == TuningFinding.UNSURE:
                yield reason(Code.NOT_SURE)
            yield from self._ends()

    def _ends(self) -> Iterator[Reason]:
        """Name the numbers of which more is wanted, perhaps, than can be had."""
        for number, end_db in self.estimator.ends_wished().items():
            yield reason(Code.RANGE_END, dimension=DIMENSIONS[number].word, change_db=end_db)

    # Playing

    def _begin(self, now_us: int) -> list[Action]:
        """Begin a comparison, or begin it anew: nothing of it counts before its answer."""
        if self._missing:
            self.state = State.WAITING
            return []
        if self._asked.pair is None:
            self._draw_pair()
        self._asked.sound = 0
        return self._play(now_us)

    def _draw_pair(self) -> None:
        estimator, asked = self.estimator, self._asked
        drawn = uniform(self.settings.seed, ORDER_STREAM, estimator.comparison_count)
        asked.is_against = self._asks_against()
        if asked.is_against:
            asked.pair = self._against.ask(estimator.best(), drawn)
            return
        check = self.comparison % CHECK_EVERY == 0
        one, other = map(_plain, estimator.check_pair() if check else estimator.next_pair())
        asked.pair = (other, one) if drawn < 0.5 else (one, other)

    def _play(self, now_us: int) -> list[Action]:
        assert self._asked.pair is not None
        place = self._asked.sound % 2
        self.number += 1
        self.state, self._asked.sound_us = State.PLAYING, now_us
        setting_db = self._asked.pair[place]
        told = tells.SpeechTold(self.number, self.comparison, PLACES[place], *setting_db)
        return [told, PlaySpeech(self.number, *setting_db)]

    def _sound_over(self, now_us: int) -> list[Action]:
        if self._asked.sound + 1 < 2 * self.settings.rounds:
            self.state = State.GAP
            return [_wait(now_us, self.settings.gap_ms)]
        self.state = State.WINDOW
        return [_wait(now_us, self.settings.window_ms)]

    def _time_passed(self, now_us: int) -> list[Action]:
        match self.state:
            case State.GAP:
                self._asked.sound += 1
                return self._play(now_us)
            case State.WINDOW:
                return self._nothing_pressed(now_us)
            case State.BETWEEN:
                return self._begin(now_us)
        return []

    # Answers

    def _take_press(self, now_us: int, button: int) -> list[Action]:
        nobody_was_there = self._silent_in_row >= SILENT_MAX and not self.waits_why
        if self.state == State.PAUSED and nobody_was_there:
            return self._go_on(now_us)  # somebody is there again
        if self.state not in (State.PLAYING, State.GAP, State.WINDOW):
            return []
        soon = self.state == State.PLAYING and now_us - self._asked.sound_us < REACTION_US
        meant = self._asked.sound - soon
        answer = PLACES[meant % 2] if button == HEARD_BUTTON else Answer.SAME
        return self._take_answer(now_us, answer, meant >= 1)

    def _take_answer(self, now_us: int, answer: Answer, both_heard: bool) -> list[Action]:
        if not both_heard:  # before one can be better
            self._counts["stray"] += 1
            return []
        self._silent_in_row = 0
        return self._answer(now_us, answer)

    def _nothing_pressed(self, now_us: int) -> list[Action]:
        self._asked.silences += 1
        if self._asked.silences < 2:
            return [tells.AgainTold(self.comparison), *self._begin(now_us)]
        self._silent_in_row += 1
        if self._silent_in_row >= SILENT_MAX:
            # Nobody is there; this comparison is asked anew when the tuning goes on.
            self._asked.silences = 0
            return [tells.NobodyTold(self._silent_in_row), *self._pause()]
        self._counts["silent"] += 1
        return self._answer(now_us, Answer.SAME)

    def _answer(self, now_us: int, answer: Answer) -> list[Action]:
        assert self._asked.pair is not None
        stop, number = self._stop(), self.comparison
        self.estimator.observe(*self._asked.heard(), answer)
        if self._asked.is_against:
            self._against.take(answer)
        self._counts["same"] += answer == Answer.SAME
        self._asked = _Comparison()
        regret = round(float(self.estimator.expected_regret), 2)
        told = tells.ComparisonTold(number, answer, regret)
        if self._is_enough():
            return [*stop, told, *self._finish(SessionOutcome.COMPLETE)]
        self.state = State.BETWEEN
        return [*stop, told, _wait(now_us, self.settings.between_ms)]

    # Pauses, losses, the end

    def _pause(self) -> list[Action]:
        stop, self.state = self._stop(), State.PAUSED
        return [*stop, PauseTold()]

    def _go_on(self, now_us: int) -> list[Action]:
        self._silent_in_row, self.waits_why = 0, ()
        return [GoingOnTold(), *self._begin(now_us)]

    def _note_loss(self, what: str, told: Action) -> list[Action]:
        if what in self._missing:
            return []
        self._missing.add(what)
        stop = self._stop() if what == BOARD else []
        if self.state not in (State.READY, State.PAUSED):
            self.state = State.WAITING
        return [*stop, told]

    def _back(self, now_us: int, what: str, told: Action) -> list[Action]:
        said = [told] if what in self._missing else []
        self._missing.discard(what)
        if self.state in (State.READY, State.PAUSED):
            return said
        # Whatever was under way there is over: it was started again, or was lost for a while.
        return [*self._stop(), *said, *self._begin(now_us)]

    def _stop(self) -> list[Action]:
        return [StopSpeech()] if self.state == State.PLAYING else []

    def _finish(self, outcome: SessionOutcome, why: Reasons = ()) -> list[Action]:
        stop = self._stop()
        self.state, self.outcome = State.FINISHED, outcome
        result = self.result()
        set_to = tells.SettingTold(result.finding, *result.setting_db)
        use, finish = UseSetting(*result.setting_db), events.Finish(result)
        return [*stop, use, set_to, FinishTold(outcome, why), finish]


def _wait(now_us: int, ms: int) -> events.Wait:
    return events.Wait(now_us + 1000 * ms)


def _plain(setting_db: tuple[float, ...]) -> tuple[float, ...]:
    """Return plain numbers, without a minus zero: they go into the journal."""
    return tuple(float(value_db) + 0.0 for value_db in setting_db)
