"""The test of one ear: what to present next, and what the answers mean. No time in it.

Familiarisation at 1 kHz as in ISO 8253-1 (20 dB down until silent, 10 dB up until heard), then the
estimator's tones, then a retest at 1 kHz by one ascent in 5 dB steps. Answers of the
familiarisation belong to somebody who is still learning the task and are not given to the
estimator.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.procedure.outcomes import (
    CATCH,
    FAMILIARISE,
    HEARS_ALL,
    INCOMPLETE,
    MEASURE,
    MEASURED,
    NO_RESPONSE,
    RETEST,
    UNRELIABLE,
)
from firmware_py.procedure.randomness import CATCH_STREAM, uniform
from firmware_py.procedure.settings import (
    AUDIOGRAM_FREQUENCIES_HZ,
    FAMILIAR_FREQUENCY_HZ,
    STEP_UP_MAX_DB,
    Settings,
)

FAMILIAR_DOWN_DB: Final = 20.0
FAMILIAR_UP_DB: Final = 10.0
FAMILIAR_TONES_MAX: Final = 18  # from -10 to 120 dB HL by 8 dB, 10 rounded to the level step
LIMIT_TONES_FAMILIAR: Final = 2  # unheard at the limit so often ends the familiarisation
SAME_TONE_MAX: Final = 3  # the same tone at the limit unheard (at the floor heard) so often at most
LIMIT_TONES: Final = 6  # nothing heard, so often at the limit (all heard, at the floor): it ends
CATCHES_BEFORE_HEARS_ALL: Final = 3
CATCHES_TO_JUDGE: Final = 4  # and half of them answered: unreliable
CATCH_GAP: Final = 3  # presentations between two catch trials at least; fewer at high rates

RETEST_START_DB: Final = -10.0  # relative to the threshold found
RETEST_STEP_DB: Final = 5.0
RETEST_TONES_MAX: Final = 6


@dataclass(frozen=True)
class Presentation:
    """One presentation: a tone, or for a catch trial the absence of one."""

    purpose: str
    frequency_hz: float
    level_db_hl: float


class EarTest:
    """The test of one ear.

    Parameters
    ----------
    ear : str
        "left" or "right".
    settings : Settings
        Those of the session.
    """

    def __init__(self, ear: str, settings: Settings) -> None:
        self.ear = ear
        self.estimator = ThresholdEstimator(
            settings.profile,
            max_trials=settings.tones_max,
            response_noise_db=settings.response_noise_db,
            level_limits_db_hl=(settings.level_min_db_hl, settings.level_max_db_hl),
            frequency_range_hz=(settings.frequency_min_hz, settings.frequency_max_hz),
        )
        self._settings = settings
        self.phase = FAMILIARISE
        self.outcome = INCOMPLETE
        self.why = ""
        self.tones = 0
        self.tones_heard = 0
        self.catches = 0
        self.false_alarms = 0
        self._since_catch = 0
        self._last_level_db_hl: float | None = None
        self._familiar_level_db_hl = settings.familiar_level_db_hl
        self._familiar_going_up = False
        self._at_limit_unheard = 0
        self._at_bound: dict[
            float, int
        ] = {}  # by frequency: unheard at the limit, heard at the floor
        self._at_floor_heard = 0
        self.familiar_threshold_db_hl: float | None = None
        self._retest_base_db_hl = 0.0
        self._retest_step = 0
        self._retest_unheard_db_hl: float | None = None
        self.retest_difference_db: float | None = None

    @property
    def familiar(self) -> bool:
        """Return whether the familiarisation is over."""
        return self.phase != FAMILIARISE

    @property
    def over(self) -> bool:
        """Return whether there is nothing more to present."""
        return self.phase == ""

    @property
    def frequencies_hz(self) -> tuple[int, ...]:
        """Return the audiogram frequencies within the range of the test."""
        s = self._settings
        return tuple(
            f for f in AUDIOGRAM_FREQUENCIES_HZ if s.frequency_min_hz <= f <= s.frequency_max_hz
        )

    def largest_sd_db(self) -> float:
        """Return the largest posterior SD at an audiogram frequency within the limits of level.

        If the threshold lies outside the limits everywhere, the largest of all.
        """
        mean_db_hl, sd_db = self.estimator.threshold(self.frequencies_hz)
        marks = [self._mark(float(mean)) for mean in mean_db_hl]
        inside = [float(sd) for sd, mark in zip(sd_db, marks, strict=True) if mark == MEASURED]
        return max(inside or map(float, sd_db))

    def next_presentation(self, number: int) -> Presentation:
        """Return what to present; `number` counts the presentations of the session.

        A pure function of the answers so far: asked twice, it says the same.
        """
        if self.phase == FAMILIARISE:
            return self._tone(FAMILIARISE, FAMILIAR_FREQUENCY_HZ, self._familiar_level_db_hl)
        if self._catch_due(number):
            return Presentation(CATCH, 0.0, 0.0)
        if self.phase == RETEST:
            level = self._retest_base_db_hl + self._retest_step * RETEST_STEP_DB
            return self._tone(RETEST, FAMILIAR_FREQUENCY_HZ, level)
        # At a bound an answer that was expected hardly moves Laplace's mode: the same tone would
        # seem as informative as before.
        exhausted_hz = [f for f, count in self._at_bound.items() if count >= SAME_TONE_MAX]
        stimulus = self.estimator.next_stimulus(self._ceiling_db_hl(), exhausted_hz)
        return self._tone(MEASURE, stimulus.frequency_hz, stimulus.level_db_hl)

    def answer(self, presentation: Presentation, heard: bool) -> None:
        """Take the answer to a presentation into account."""
        if presentation.purpose == CATCH:
            self.catches += 1
            self.false_alarms += heard
            self._since_catch = 0
        else:
            self._count_tone(presentation, heard)
        if presentation.purpose == FAMILIARISE:
            self._familiarised(presentation, heard)
        elif presentation.purpose in (MEASURE, RETEST):
            self.estimator.observe(presentation.frequency_hz, presentation.level_db_hl, heard)
        if presentation.purpose == RETEST:
            self._retested(presentation, heard)
        elif self.phase == MEASURE:
            self._judge()

    def result(self) -> dict[str, Any]:
        """Return what was found, as JSON values.

        A threshold beyond the limits is None; `limit_db_hl` is then the limit it lies beyond.
        """
        s = self._settings
        thresholds = []
        mean_db_hl, sd_db = self.estimator.threshold(self.frequencies_hz)
        for frequency_hz, mean, sd in zip(self.frequencies_hz, mean_db_hl, sd_db, strict=True):
            mark = self.outcome
            if self.outcome in (MEASURED, INCOMPLETE) and self.estimator.trial_count:
                mark = self._mark(float(mean))
            known = mark == MEASURED
            limits = {NO_RESPONSE: s.level_max_db_hl, HEARS_ALL: s.level_min_db_hl}
            thresholds.append(
                {
                    "frequency_hz": frequency_hz,
                    "mark": mark,
                    "threshold_db_hl": float(mean) if known else None,
                    "sd_db": float(sd) if known else None,
                    "limit_db_hl": limits.get(mark),
                }
            )
        return {
            "ear": self.ear,
            "outcome": self.outcome,
            "why": self.why,
            "thresholds": thresholds,
            "tones": self.tones,
            "tones_heard": self.tones_heard,
            "catch_trials": self.catches,
            "false_alarms": self.false_alarms,
            "retest_difference_db": self.retest_difference_db,
        }

    # What to present

    def _ceiling_db_hl(self) -> float:
        limit = self._settings.level_max_db_hl
        if self._last_level_db_hl is None:
            return min(limit, self._settings.familiar_level_db_hl)
        return min(limit, self._last_level_db_hl + STEP_UP_MAX_DB)

    def _tone(self, purpose: str, frequency_hz: float, level_db_hl: float) -> Presentation:
        """Round the level to the step of the audiometer, and keep it within every limit.

        What asks for the highest level gets it, and not the last whole step below it.
        """
        s = self._settings
        level = s.level_max_db_hl
        if level_db_hl < s.level_max_db_hl:
            steps = round((level_db_hl - s.level_min_db_hl) / s.level_step_db)
            level = s.level_min_db_hl + steps * s.level_step_db
        level = max(min(level, self._ceiling_db_hl()), s.level_min_db_hl)
        return Presentation(purpose, frequency_hz, level)

    def _catch_due(self, number: int) -> bool:
        """Return whether no tone is due: at random, so that one in `catch_rate` is a catch trial.

        After a gap of g presentations each is one with probability p; the mean distance
        g + 1/p is the inverse of the rate.
        """
        if self._needs_catches():
            return True
        rate = self._settings.catch_rate
        if rate == 0.0:
            return False
        gap = CATCH_GAP if rate * (CATCH_GAP + 2) <= 1.0 else math.ceil(1.0 / rate) - 2
        return self._since_catch >= gap and (
            uniform(self._settings.seed, CATCH_STREAM, number) < rate / (1.0 - gap * rate)
        )

    def _needs_catches(self) -> bool:
        """Return whether it has to be seen if the button is pressed without a tone as well."""
        return self._hears_all() and self.catches < CATCHES_BEFORE_HEARS_ALL

    # What the answers mean

    def _count_tone(self, presentation: Presentation, heard: bool) -> None:
        s = self._settings
        self.tones += 1
        self.tones_heard += heard
        self._since_catch += 1
        self._last_level_db_hl = presentation.level_db_hl
        at_limit_unheard = not heard and presentation.level_db_hl >= s.level_max_db_hl
        at_floor_heard = heard and presentation.level_db_hl <= s.level_min_db_hl
        self._at_limit_unheard += at_limit_unheard
        self._at_floor_heard += at_floor_heard
        if at_limit_unheard or at_floor_heard:
            count = self._at_bound.get(presentation.frequency_hz, 0)
            self._at_bound[presentation.frequency_hz] = count + 1

    def _familiarised(self, presentation: Presentation, heard: bool) -> None:
        s = self._settings
        level = presentation.level_db_hl
        if heard:
            self.familiar_threshold_db_hl = level
            done = self._familiar_going_up or level <= s.level_min_db_hl
            self._familiar_level_db_hl = max(level - FAMILIAR_DOWN_DB, s.level_min_db_hl)
        else:
            done = self._at_limit_unheard >= LIMIT_TONES_FAMILIAR
            self._familiar_going_up = True
            self._familiar_level_db_hl = min(level + FAMILIAR_UP_DB, s.level_max_db_hl)
        if done or self.tones >= FAMILIAR_TONES_MAX:
            self.phase = MEASURE

    def _judge(self) -> None:
        """End the measurement of this ear, or begin the retest, if the answers are enough."""
        if self.catches >= CATCHES_TO_JUDGE and 2 * self.false_alarms >= self.catches:
            self._end(UNRELIABLE, self._false_alarm_words())
        elif self._hears_nothing():
            self._end(NO_RESPONSE, f"no response at {self._settings.level_max_db_hl:g} dB HL")
        elif self._hears_all():
            self._judge_at_floor()
        elif 0 < self.tones_heard < self.tones and self.estimator.trial_count and self._enough():
            self.outcome = self._common_mark() or MEASURED
            self._begin_retest()

    def _judge_at_floor(self) -> None:
        if self._needs_catches():
            return
        if 2 * self.false_alarms >= self.catches:
            self._end(UNRELIABLE, self._false_alarm_words())
        else:
            self._end(HEARS_ALL, f"everything heard at {self._settings.level_min_db_hl:g} dB HL")

    def _hears_nothing(self) -> bool:
        """Return whether nothing was heard, or by accident only, up to the limit."""
        if self.tones_heard == 0 and self.tones >= self._settings.tones_max:
            return True
        return self._at_limit_unheard >= LIMIT_TONES and (
            self.tones_heard == 0 or self._common_mark() == NO_RESPONSE
        )

    def _hears_all(self) -> bool:
        """Return whether everything was heard, but for accidents, down to the floor."""
        if self.tones_heard == self.tones >= self._settings.tones_max:
            return True
        return self._at_floor_heard >= LIMIT_TONES and (
            self.tones_heard == self.tones or self._common_mark() == HEARS_ALL
        )

    def _false_alarm_words(self) -> str:
        return f"{self.false_alarms} of {self.catches} catch trials without a tone were answered"

    def _enough(self) -> bool:
        s = self._settings
        if self.tones >= s.tones_max - (RETEST_TONES_MAX if s.retest else 0):
            self.why = f"the limit of {s.tones_max} tones"
            return True
        if self.tones < s.tones_min:
            return False
        sd_db = self.largest_sd_db()
        if sd_db <= s.stop_sd_db:
            self.why = f"largest SD {sd_db:.1f} dB"
            return True
        bits = self.estimator.information_bits if s.stop_information_bits > 0.0 else math.inf
        if bits <= s.stop_information_bits:
            self.why = f"the next answer would tell {bits:.2f} bit"
            return True
        return False

    def _begin_retest(self) -> None:
        mean_db_hl, _ = self.estimator.threshold([FAMILIAR_FREQUENCY_HZ])
        threshold = float(mean_db_hl[0])
        room = self._settings.tones_max - self.tones
        wanted = self._settings.retest and room >= RETEST_TONES_MAX
        if not wanted or self._mark(threshold) != MEASURED:
            self.phase = ""
            return
        self.phase = RETEST
        self._retest_threshold_db_hl = threshold
        self._retest_base_db_hl = threshold + RETEST_START_DB

    def _retested(self, presentation: Presentation, heard: bool) -> None:
        """Find the retest threshold, halfway between the last level unheard and the first heard."""
        level = presentation.level_db_hl
        self._retest_step += 1
        at_limit = level >= self._settings.level_max_db_hl
        if heard:
            below = self._retest_unheard_db_hl
            below = level - RETEST_STEP_DB if below is None else below
            self._end_retest(0.5 * (below + level))
        elif at_limit or self._retest_step >= RETEST_TONES_MAX:
            self._end_retest(level + 0.5 * RETEST_STEP_DB)
        self._retest_unheard_db_hl = level

    def _end_retest(self, threshold_db_hl: float) -> None:
        self.retest_difference_db = threshold_db_hl - self._retest_threshold_db_hl
        self.outcome = self._common_mark() or MEASURED  # the retest's answers count as well
        self.phase = ""

    def _end(self, outcome: str, why: str) -> None:
        self.outcome = outcome
        self.why = why
        self.phase = ""

    def _common_mark(self) -> str:
        """Return the mark of all audiogram frequencies, "" if they differ."""
        mean_db_hl, _ = self.estimator.threshold(self.frequencies_hz)
        marks = {self._mark(float(mean)) for mean in mean_db_hl}
        return marks.pop() if len(marks) == 1 else ""

    def _mark(self, threshold_db_hl: float) -> str:
        s = self._settings
        if threshold_db_hl >= s.level_max_db_hl:
            return NO_RESPONSE
        if threshold_db_hl <= s.level_min_db_hl:
            return HEARS_ALL
        return MEASURED
