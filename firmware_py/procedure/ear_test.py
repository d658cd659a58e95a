"""The test of one ear: what to present next, and what the answers mean. No time in it.

Familiarisation at 1 kHz as in ISO 8253-1 (20 dB down until silent, 10 dB up until heard), then the
estimator's tones, then a retest at 1 kHz by one ascent in 5 dB steps. Answers of the familiarisation
belong to somebody who is still learning the task and are not given to the estimator.
"""

from dataclasses import dataclass
from typing import Any, Final

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.procedure.randomness import CATCH_STREAM, uniform
from firmware_py.procedure.settings import (
    AUDIOGRAM_FREQUENCIES_HZ,
    FAMILIAR_FREQUENCY_HZ,
    STEP_UP_MAX_DB,
    Settings,
)

# Purposes of a presentation.
FAMILIARISE: Final = "familiarise"
MEASURE: Final = "measure"
RETEST: Final = "retest"
CATCH: Final = "catch"

# Outcomes of an ear.
MEASURED: Final = "measured"
NO_RESPONSE: Final = "no-response"  # silent at the limit
HEARS_ALL: Final = "hears-all"  # everything heard at the floor
UNRELIABLE: Final = "unreliable"  # answers without tones
INCOMPLETE: Final = "incomplete"

FAMILIAR_DOWN_DB: Final = 20.0
FAMILIAR_UP_DB: Final = 10.0
FAMILIAR_TONES_MAX: Final = 16
LIMIT_TONES_FAMILIAR: Final = 2  # unheard at the limit so often ends the familiarisation
LIMIT_TONES: Final = 6  # all tones so far unheard (heard), so many at the limit (floor): it ends
CATCHES_BEFORE_HEARS_ALL: Final = 3
CATCHES_TO_JUDGE: Final = 4  # and half of them answered: unreliable
CATCH_GAP: Final = 3  # presentations between two catch trials at least

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
        self._at_floor_heard = 0
        self.familiar_threshold_db_hl: float | None = None
        self._retest_base_db_hl = 0.0
        self._retest_step = 0
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
        """Return the largest posterior SD at an audiogram frequency that lies within the limits."""
        mean_db_hl, sd_db = self.estimator.threshold(self.frequencies_hz)
        marks = [self._mark(float(mean)) for mean in mean_db_hl]
        inside = [float(sd) for sd, mark in zip(sd_db, marks, strict=True) if mark == MEASURED]
        return max(inside, default=0.0)

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
        stimulus = self.estimator.next_stimulus(self._ceiling_db_hl())
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
        """Return what was found, as JSON values; levels that were not reached are None."""
        thresholds = []
        mean_db_hl, sd_db = self.estimator.threshold(self.frequencies_hz)
        for frequency_hz, mean, sd in zip(self.frequencies_hz, mean_db_hl, sd_db, strict=True):
            mark = self.outcome
            if self.outcome in (MEASURED, INCOMPLETE):
                mark = self._mark(float(mean))
            known = mark == MEASURED and self.estimator.trial_count > 0
            thresholds.append(
                {
                    "frequency_hz": frequency_hz,
                    "mark": mark,
                    "threshold_db_hl": float(mean) if known else None,
                    "sd_db": float(sd) if known else None,
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
        """Round the level to the step of the audiometer, and keep it within every limit."""
        s = self._settings
        steps = round((level_db_hl - s.level_min_db_hl) / s.level_step_db)
        level = s.level_min_db_hl + steps * s.level_step_db
        level = max(min(level, self._ceiling_db_hl()), s.level_min_db_hl)
        return Presentation(purpose, frequency_hz, level)

    def _catch_due(self, number: int) -> bool:
        if self._needs_catches():
            return True
        rate = self._settings.catch_rate
        return self._since_catch >= CATCH_GAP and (
            uniform(self._settings.seed, CATCH_STREAM, number) < rate
        )

    def _needs_catches(self) -> bool:
        """Everything heard at the floor: is it heard, or is the button pressed anyhow?"""
        return self._all_heard_at_floor() and self.catches < CATCHES_BEFORE_HEARS_ALL

    # What the answers mean

    def _count_tone(self, presentation: Presentation, heard: bool) -> None:
        s = self._settings
        self.tones += 1
        self.tones_heard += heard
        self._since_catch += 1
        self._last_level_db_hl = presentation.level_db_hl
        self._at_limit_unheard += not heard and presentation.level_db_hl >= s.level_max_db_hl
        self._at_floor_heard += heard and presentation.level_db_hl <= s.level_min_db_hl

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
        """After an answer in the main phase: is this ear's measurement over?"""
        s = self._settings
        if self.catches >= CATCHES_TO_JUDGE and 2 * self.false_alarms >= self.catches:
            self._end(UNRELIABLE, self._false_alarm_words())
        elif self.tones_heard == 0 and self._at_limit_unheard >= LIMIT_TONES:
            self._end(NO_RESPONSE, f"no response at {s.level_max_db_hl:g} dB HL")
        elif self._all_heard_at_floor():
            self._judge_at_floor()
        elif self.estimator.trial_count and self._enough():
            self.outcome = MEASURED
            self._begin_retest()

    def _judge_at_floor(self) -> None:
        if self._needs_catches():
            return
        if 2 * self.false_alarms >= self.catches:
            self._end(UNRELIABLE, self._false_alarm_words())
        else:
            self._end(HEARS_ALL, f"everything heard at {self._settings.level_min_db_hl:g} dB HL")

    def _all_heard_at_floor(self) -> bool:
        return self.tones_heard == self.tones and self._at_floor_heard >= LIMIT_TONES

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
        bits = self.estimator.information_bits
        if bits <= s.stop_information_bits:
            self.why = f"the next answer would tell {bits:.2f} bit"
            return True
        return False

    def _begin_retest(self) -> None:
        mean_db_hl, _ = self.estimator.threshold([FAMILIAR_FREQUENCY_HZ])
        threshold = float(mean_db_hl[0])
        if not self._settings.retest or self._mark(threshold) != MEASURED:
            self.phase = ""
            return
        self.phase = RETEST
        self._retest_threshold_db_hl = threshold
        self._retest_base_db_hl = threshold + RETEST_START_DB

    def _retested(self, presentation: Presentation, heard: bool) -> None:
        """One ascent: the retest threshold lies half a step below the first level heard."""
        self._retest_step += 1
        at_limit = presentation.level_db_hl >= self._settings.level_max_db_hl
        if heard or at_limit or self._retest_step >= RETEST_TONES_MAX:
            retest_db_hl = presentation.level_db_hl + (-0.5 if heard else 0.5) * RETEST_STEP_DB
            self.retest_difference_db = retest_db_hl - self._retest_threshold_db_hl
            self.phase = ""

    def _end(self, outcome: str, why: str) -> None:
        self.outcome = outcome
        self.why = why
        self.phase = ""

    def _mark(self, threshold_db_hl: float) -> str:
        s = self._settings
        if threshold_db_hl >= s.level_max_db_hl:
            return NO_RESPONSE
        if threshold_db_hl <= s.level_min_db_hl:
            return HEARS_ALL
        return MEASURED
