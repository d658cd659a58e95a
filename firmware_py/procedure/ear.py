"""The test of one ear: what to present next, and what the answers mean. No time in it.

Familiarisation at 1 kHz as in ISO 8253-1 (20 dB down until silent, 10 dB up until heard), then the
estimator's tones, then a retest at 1 kHz by one ascent in 5 dB steps. Answers of the
familiarisation belong to somebody who is still learning the task and are not given to the
estimator.

An answer is True (heard), False (silence) or None (unsure, where there is a button for that). What
unsure means outside the estimator:

* In the familiarisation it is not yet heard. On the way down it tells that the threshold is near,
  as silence does; and the ascent shall end with a tone that was clear, answered by its button.
* In the retest the ascent goes on to the first tone that was surely heard. The threshold lies in
  the middle between where silence ended and where being sure began, which is what the estimator
  means by it, too; without an unsure answer the two are one.
* In a silence it is half a false alarm. Whoever is asked to say so when in doubt will sometimes
  doubt a silence, and is not unreliable for that; but whoever is unsure at every silence tells
  silence from tone no better than whoever presses at every second one.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from firmware_py.inference.estimator import Stimulus, ThresholdEstimator
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
    Outcome,
    Purpose,
)
from firmware_py.procedure.person import UNKNOWN, Person
from firmware_py.procedure.randomness import CATCH_STREAM, uniform
from firmware_py.procedure.reach import Highest, unlimited
from firmware_py.procedure.results import EarResult, ThresholdResult
from firmware_py.procedure.settings import (
    AUDIOGRAM_FREQUENCIES_HZ,
    FAMILIAR_FREQUENCY_HZ,
    INTER_OCTAVE_FREQUENCIES_HZ,
    STEP_UP_MAX_DB,
    STEP_UP_NEARBY_OCTAVES,
    SettingError,
    Settings,
)

# The profile whose band can be trusted to say that a frequency needs no more tones; the others are
# too sure of themselves, and choose by information alone.
HONEST_BANDS: Final = "default"

FAMILIAR_DOWN_DB: Final = 20.0
FAMILIAR_UP_DB: Final = 10.0
FAMILIAR_TONES_MAX: Final = 18  # from -10 to 120 dB HL by 8 dB, 10 rounded to the level step
LIMIT_TONES_FAMILIAR: Final = 2  # unheard at the limit so often ends the familiarisation
SAME_TONE_MAX: Final = 3  # the same tone at the limit unheard (at the floor heard) so often at most
LIMIT_TONES: Final = 6  # nothing heard, so often at the limit (all heard, at the floor): it ends
LIMIT_FREQUENCIES: Final = 4  # silent at so many of them: three say little about the others
CATCHES_BEFORE_HEARS_ALL: Final = 3
CATCHES_TO_JUDGE: Final = 4
UNRELIABLE_SHARE: Final = 0.5  # of them answered
UNSURE_ALARM: Final = 0.5  # of a false alarm, see above
BAND_PROBABILITY: Final = 0.95
# A mean at the limit is as likely an ear that hears there. It is no response only if the threshold
# lies beyond the limit by so many SD, with five chances in six (of a normal posterior), or if the
# loudest tone was not heard at this very frequency so often.
BEYOND_LIMIT_SDS: Final = 1.0
SILENT_AT_LIMIT_SURE: Final = 2
# An ear that ended short of what was wanted had an inattentive listener if more than so many of the
# clear tones were missed, or of the silences answered; 1 in 100 is usual.
LAPSE_RATE_HIGH: Final = 0.1
FALSE_ALARM_RATE_HIGH: Final = 0.1
CATCHES_ANSWERED_HIGH: Final = 0.25
NEAR_OCTAVES: Final = 1.0  # so far an answer tells much of the threshold at another frequency
CATCH_GAP: Final = 3  # presentations between two catch trials at least; fewer at high rates

# Tones above `tones_max` for what is asked again with noise: half an ear, if all was cross-heard.
AGAIN_TONES_MAX: Final = 20

RETEST_START_DB: Final = -10.0  # relative to the threshold found
RETEST_STEP_DB: Final = 5.0
RETEST_TONES_MAX: Final = 6


@dataclass(frozen=True)
class Presentation:
    """One presentation: a tone, or for a catch trial the absence of one.

    `information_bits` is what the answer was expected to tell when the estimator chose the tone;
    None of a tone that it did not choose.
    """

    purpose: Purpose
    frequency_hz: float
    level_db_hl: float
    information_bits: float | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Cover:
    """How the other ear was kept from hearing a tone.

    Attributes
    ----------
    noise_db_hl : float or None
        Effective masking level of the noise it had; None: it had none.
    why : str
        Why it needed noise, and if it had none, why not; "": it needed none.
    """

    noise_db_hl: float | None = None
    why: str = ""


NO_COVER: Final = Cover()


@dataclass(frozen=True)
class Observation:
    """A presentation and its answer."""

    presentation: Presentation
    heard: bool | None
    cover: Cover


@dataclass(frozen=True)
class Widest:
    """The audiogram frequency whose 95 % band is the widest, and half its width."""

    frequency_hz: int
    half_width_db: float


class EarTest:
    """The test of one ear.

    Parameters
    ----------
    ear : str
        "left" or "right".
    settings : Settings
        Those of the session.
    person : Person, optional
        Who is tested.
    highest_db_hl : callable, optional
        Of ear and frequency: the highest level that can be reached there.

    Raises
    ------
    SettingError
        If the estimator does not take these settings, or this person's age or sex.
    """

    def __init__(
        self,
        ear: str,
        settings: Settings,
        person: Person = UNKNOWN,
        highest_db_hl: Highest = unlimited,
    ) -> None:
        self.ear = ear
        self.estimator = _estimator(settings, person)
        self._settings = settings
        self._highest_db_hl = highest_db_hl
        self._limits_db_hl: dict[float, float] = {}  # what `limit_db_hl` has said
        self.phase: Purpose | Literal[""] = FAMILIARISE
        self.outcome: Outcome = INCOMPLETE
        self.why = ""
        self.tones = 0
        self.tones_heard = 0
        self.tones_unsure = 0
        self.catches = 0
        self.false_alarms = 0
        self.unsure_alarms = 0
        self.observations: list[Observation] = []  # that count
        self._again_hz: tuple[float, ...] = ()  # what is asked again with noise
        self._since_catch = 0
        self._last_level_db_hl: float | None = None
        self._loudest_db_hl: dict[float, float] = {}  # of what was presented, by frequency
        self._familiar_level_db_hl = settings.familiar_level_db_hl
        self._familiar_going_up = False
        self._familiar_limit_tones = 0
        self._at_limit_unheard = 0
        self._silent_at_limit: dict[float, int] = {}
        self._at_bound: dict[
            float, int
        ] = {}  # by frequency: unheard at the limit, heard at the floor
        self._at_floor_heard = 0
        self._once_more_hz: int | None = None
        self.familiar_threshold_db_hl: float | None = None
        self._retest_base_db_hl = 0.0
        self._retest_step = 0
        self._retest_below_db_hl: float | None = None
        self._retest_audible_db_hl: float | None = None
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

    @property
    def tones_answered(self) -> int:
        """Return how many tones were answered with either button."""
        return self.tones_heard + self.tones_unsure

    def limit_db_hl(self, frequency_hz: float) -> float:
        """Return the highest level that may be asked at a frequency, and can be reached there."""
        limit_db_hl = self._limits_db_hl.get(frequency_hz)
        if limit_db_hl is None:
            reach_db_hl = self._highest_db_hl(self.ear, frequency_hz)
            limit_db_hl = min(self._settings.level_max_db_hl, reach_db_hl)
            self._limits_db_hl[frequency_hz] = limit_db_hl
        return limit_db_hl

    def widest(self) -> Widest:
        """Return the widest 95 % band at an audiogram frequency that is not surely beyond a limit.

        If all are, the widest of all. 750 and 1500 Hz are not looked at.
        """
        estimates = [
            e for e in self.estimates() if e.frequency_hz not in INTER_OCTAVE_FREQUENCIES_HZ
        ]
        inside = [e for e in estimates if e.mark in (MEASURED, INCOMPLETE)]
        worst = max(inside or estimates, key=lambda e: e.half_width_db)
        return Widest(worst.frequency_hz, worst.half_width_db)

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
        if self._once_more_hz is not None:
            return self._tone(MEASURE, self._once_more_hz, self.limit_db_hl(self._once_more_hz))
        # At a bound an answer that was expected hardly moves Laplace's mode: the same tone would
        # seem as informative as before.
        exhausted_hz = [f for f, count in self._at_bound.items() if count >= SAME_TONE_MAX]
        if self._again_hz:
            known_hz = self.estimator.candidate_frequencies_hz
            exhausted_hz += [f for f in known_hz if not near(f, self._again_hz)]
        elif self._settings.profile == HONEST_BANDS:
            exhausted_hz += self._settled_hz()
        stimulus = self._most_informative(exhausted_hz)
        tone = self._tone(MEASURE, stimulus.frequency_hz, stimulus.level_db_hl)
        return replace(tone, information_bits=stimulus.information_bits)

    def _settled_hz(self) -> list[float]:
        """Return the frequencies that are known well enough to end the measurement."""
        candidates_hz = self.estimator.candidate_frequencies_hz
        low_db_hl, high_db_hl = self.estimator.threshold_band(candidates_hz, BAND_PROBABILITY)
        widest_db = 2.0 * self._settings.stop_half_width_db
        return [
            f
            for f, low, high in zip(candidates_hz, low_db_hl, high_db_hl, strict=True)
            if high - low <= widest_db
        ]

    def _most_informative(self, exhausted_hz: list[float]) -> Stimulus:
        """Return the tone that tells most now, or the first of the climb to one that tells more.

        What a tone far above the last ones would tell is shared among the tones it takes to come
        so far: nothing else ever asks at the foot of a steep loss, where no answer is in doubt.
        """
        candidates_hz = self.estimator.candidate_frequencies_hz
        allowed_db_hl = [self._ceiling_db_hl(f) for f in candidates_hz]
        now = self.estimator.next_stimulus(allowed_db_hl, exhausted_hz)
        wanted = self._most_informative_anywhere(exhausted_hz)
        above_db = wanted.level_db_hl - self._ceiling_db_hl(wanted.frequency_hz)
        tones = 1 + math.ceil(max(above_db, 0.0) / STEP_UP_MAX_DB)
        share_bits = wanted.information_bits / tones
        return (
            replace(wanted, information_bits=share_bits)
            if share_bits > now.information_bits
            else now
        )

    def _most_informative_anywhere(self, exhausted_hz: Sequence[float] = ()) -> Stimulus:
        """Return the tone that would tell most if the tones before it did not matter."""
        limits_db_hl = [self.limit_db_hl(f) for f in self.estimator.candidate_frequencies_hz]
        return self.estimator.next_stimulus(limits_db_hl, exhausted_hz)

    def answer(
        self, presentation: Presentation, heard: bool | None, cover: Cover = NO_COVER
    ) -> None:
        """Take the answer to a presentation into account; None: the listener was unsure."""
        if presentation.purpose == CATCH:
            self.catches += 1
            self.false_alarms += heard is True
            self.unsure_alarms += heard is None
            self._since_catch = 0
        else:
            self._count_tone(presentation, heard)
        if presentation.purpose == FAMILIARISE:
            self._familiarised(presentation, heard)
        else:
            self.observations.append(Observation(presentation, heard, cover))
            self._observe(presentation, heard)
        if presentation.purpose == RETEST:
            self._retested(presentation, heard)
        elif self.phase == MEASURE:
            self._judge()

    def forget(self, observations: list[Observation]) -> None:
        """Measure again, without these answers of an ear that is over.

        They may be the other ear's. Only frequencies near theirs are asked, `AGAIN_TONES_MAX` tones
        at most, and there is no second retest.
        """
        self.observations = [each for each in self.observations if each not in observations]
        self._again_hz = tuple(each.presentation.frequency_hz for each in observations)
        self.estimator.reset()
        for each in self.observations:
            self._observe(each.presentation, each.heard)
        if any(each.presentation.purpose == RETEST for each in observations):
            self.retest_difference_db = None
        self._once_more_hz = None
        self.outcome, self.why = INCOMPLETE, ""
        self.phase = MEASURE

    def result(self) -> EarResult:
        """Return what was found; nobody has looked at masking here."""
        by_frequency = self.outcome in (MEASURED, INCOMPLETE) and self.estimator.trial_count > 0
        thresholds = []
        for each in self.estimates():
            mark = each.mark if by_frequency else self.outcome
            found = ThresholdResult(
                each.frequency_hz,
                mark,
                each.mean_db_hl,
                each.sd_db,
                each.low_db_hl,
                each.high_db_hl,
                self._limit_beyond(mark, each.frequency_hz, by_frequency),
            )
            thresholds.append(found if mark == MEASURED else found.without_numbers(mark))
        return EarResult(
            self.ear,
            self.outcome,
            self.why,
            tuple(thresholds),
            self.tones,
            self.tones_heard,
            self.tones_unsure,
            self.catches,
            self.false_alarms,
            self.unsure_alarms,
            self.retest_difference_db,
        )

    def inattention(self) -> str:
        """Say in words what shows that the listener did not attend; "" if nothing does."""
        signs = []
        found = self.estimator.hyperparameters
        if found.lapse_rate > LAPSE_RATE_HIGH:
            signs.append(f"misses about {100.0 * found.lapse_rate:.0f} % of what can be heard")
        if self._judgeable() and self._alarm_share() > CATCHES_ANSWERED_HIGH:
            signs.append(self._false_alarm_words())
        elif found.false_alarm_rate > FALSE_ALARM_RATE_HIGH:
            percent = 100.0 * found.false_alarm_rate
            signs.append(f"answers about {percent:.0f} % of what cannot be heard")
        return "inattentive listener: " + ", ".join(signs) if signs else ""

    def _observe(self, presentation: Presentation, heard: bool | None) -> None:
        if presentation.purpose == CATCH:
            self.estimator.observe_silence(heard is not False)
        else:
            self.estimator.observe(presentation.frequency_hz, presentation.level_db_hl, heard)

    # What to present

    def _ceiling_db_hl(self, frequency_hz: float) -> float:
        """Return the highest level of the next tone, were it at this frequency.

        Nothing is much louder than the tone before, or than what was presented nearby already.
        """
        limit_db_hl = self.limit_db_hl(frequency_hz)
        if self._last_level_db_hl is None:
            return min(limit_db_hl, self._settings.familiar_level_db_hl)
        known_db_hl = [
            level_db_hl
            for known_hz, level_db_hl in self._loudest_db_hl.items()
            if abs(math.log2(known_hz / frequency_hz)) <= STEP_UP_NEARBY_OCTAVES
        ]
        return min(limit_db_hl, max([self._last_level_db_hl, *known_db_hl]) + STEP_UP_MAX_DB)

    def _tone(self, purpose: Purpose, frequency_hz: float, level_db_hl: float) -> Presentation:
        """Round the level to the step of the audiometer, and keep it within every limit.

        What asks for the highest level gets it, and not the last whole step below it.
        """
        s = self._settings
        limit = self.limit_db_hl(frequency_hz)
        level = limit
        if level_db_hl < limit:
            steps = round((level_db_hl - s.level_min_db_hl) / s.level_step_db)
            level = s.level_min_db_hl + steps * s.level_step_db
        level = max(min(level, self._ceiling_db_hl(frequency_hz)), s.level_min_db_hl)
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

    def _count_tone(self, presentation: Presentation, heard: bool | None) -> None:
        s = self._settings
        self.tones += 1
        self.tones_heard += heard is True
        self.tones_unsure += heard is None
        self._since_catch += 1
        self._last_level_db_hl = presentation.level_db_hl
        loudest_db_hl = self._loudest_db_hl.get(presentation.frequency_hz, -math.inf)
        self._loudest_db_hl[presentation.frequency_hz] = max(
            loudest_db_hl, presentation.level_db_hl
        )
        limit_db_hl = self.limit_db_hl(presentation.frequency_hz)
        at_limit_unheard = heard is False and presentation.level_db_hl >= limit_db_hl
        at_floor_heard = heard is True and presentation.level_db_hl <= s.level_min_db_hl
        self._at_limit_unheard += at_limit_unheard
        self._at_floor_heard += at_floor_heard
        if at_limit_unheard:
            times = self._silent_at_limit.get(presentation.frequency_hz, 0)
            self._silent_at_limit[presentation.frequency_hz] = times + 1
        if at_limit_unheard or at_floor_heard:
            count = self._at_bound.get(presentation.frequency_hz, 0)
            self._at_bound[presentation.frequency_hz] = count + 1

    def _familiarised(self, presentation: Presentation, heard: bool | None) -> None:
        s = self._settings
        level = presentation.level_db_hl
        if heard:
            self.familiar_threshold_db_hl = level
            done = self._familiar_going_up or level <= s.level_min_db_hl
            self._familiar_level_db_hl = max(level - FAMILIAR_DOWN_DB, s.level_min_db_hl)
        else:
            limit = self.limit_db_hl(FAMILIAR_FREQUENCY_HZ)
            self._familiar_limit_tones += level >= limit
            done = self._familiar_limit_tones >= LIMIT_TONES_FAMILIAR
            self._familiar_going_up = True
            self._familiar_level_db_hl = min(level + FAMILIAR_UP_DB, limit)
        if done or self.tones >= FAMILIAR_TONES_MAX:
            self.phase = MEASURE

    def _judge(self) -> None:
        """End the measurement of this ear, or begin the retest, if the answers are enough."""
        if self._judgeable() and self._alarm_share() >= UNRELIABLE_SHARE:
            self._end(UNRELIABLE, self._false_alarm_words())
        elif self._hears_nothing():
            self._end(NO_RESPONSE, f"no response at {self._limits_words()}")
        elif self._hears_all():
            self._judge_at_floor()
        elif self._both_sides() and self.estimator.trial_count and self._enough():
            self._once_more_hz = self._silent_once_hz()
            if self._once_more_hz is None:
                self.outcome = self._common_mark() or MEASURED
                self._begin_retest()

    def _silent_once_hz(self) -> int | None:
        """Return a frequency that is incomplete for want of a second silence at its limit.

        None: there is none, or no tone is left for it.
        """
        kept = RETEST_TONES_MAX if self._retest_to_come() else 0
        if self.tones >= self._tones_max - kept:
            return None
        once = [f for f in self.frequencies_hz if self._silent_at_limit.get(f) == 1]
        marks = {each.frequency_hz: each.mark for each in self.estimates()} if once else {}
        return next((f for f in once if marks[f] == INCOMPLETE), None)

    def _judge_at_floor(self) -> None:
        if self._needs_catches():
            return
        if self._alarm_share() >= UNRELIABLE_SHARE:
            self._end(UNRELIABLE, self._false_alarm_words())
        else:
            self._end(HEARS_ALL, f"everything heard at {self._settings.level_min_db_hl:g} dB HL")

    def _hears_nothing(self) -> bool:
        """Return whether nothing was heard, or by accident only, up to the limit."""
        if self.tones_answered == 0 and self.tones >= self._settings.tones_max:
            return True
        spread = len(self._silent_at_limit) >= min(LIMIT_FREQUENCIES, len(self.frequencies_hz))
        return (
            spread
            and self._at_limit_unheard >= LIMIT_TONES
            and (self.tones_answered == 0 or self._common_side() == NO_RESPONSE)
        )

    def _hears_all(self) -> bool:
        """Return whether everything was heard, but for accidents, down to the floor."""
        if self.tones_heard == self.tones >= self._settings.tones_max:
            return True
        return self._at_floor_heard >= LIMIT_TONES and (
            self.tones_heard == self.tones or self._common_side() == HEARS_ALL
        )

    def _both_sides(self) -> bool:
        """Return whether some tone was answered, and some was not surely heard."""
        return self.tones_answered > 0 and self.tones_heard < self.tones

    def _judgeable(self) -> bool:
        return self.catches >= CATCHES_TO_JUDGE

    def _alarm_share(self) -> float:
        """Return how much of the silences was answered, an unsure answer being half a one."""
        alarms = self.false_alarms + UNSURE_ALARM * self.unsure_alarms
        return alarms / self.catches if self.catches else 0.0

    def _false_alarm_words(self) -> str:
        answered = self.false_alarms + self.unsure_alarms
        unsure = f", {self.unsure_alarms} of them unsure" if self.unsure_alarms else ""
        return f"{answered} of {self.catches} catch trials without a tone were answered{unsure}"

    def _enough(self) -> bool:
        s = self._settings
        kept = RETEST_TONES_MAX if self._retest_to_come() else 0
        if self.tones < min(s.tones_min, self._tones_max - kept):
            return False
        widest = self.widest()
        if widest.half_width_db <= s.stop_half_width_db:
            self.why = f"95 % band at most {_plus_minus(widest)}"
            return True
        if self.tones >= self._tones_max - kept:
            self.why = self._short_words(self._cap_words(kept), widest)
            return True
        bits = math.inf
        if s.stop_information_bits > 0.0:
            bits = self._most_informative_anywhere().information_bits
        if bits <= s.stop_information_bits:
            self.why = self._short_words(f"the next answer would tell {bits:.2f} bit", widest)
            return True
        return False

    def _cap_words(self, kept: int) -> str:
        cap = f"the cap of {self._tones_max} tones"
        left = self._tones_max - self.tones
        if not kept:
            return cap
        spared = f"{kept} kept" if left >= kept else f"{left} left, too few"
        return f"{cap}: {self.tones} asked, {spared} for the retest"

    def _short_words(self, end: str, widest: Widest) -> str:
        """Say why the measurement ended short of what was wanted, and what it was short of."""
        s = self._settings
        wanted = f"+-{s.stop_half_width_db:g} wanted"
        words = [end, f"95 % band up to {_plus_minus(widest)}, {wanted}"]
        at_limit_hz = [e.frequency_hz for e in self.estimates() if e.mark == INCOMPLETE]
        if at_limit_hz:
            words.append(f"perhaps beyond {self._beyond_words(at_limit_hz)}")
        if self.inattention():
            words.append(self.inattention())
        return "; ".join(words)

    @property
    def _tones_max(self) -> int:
        return self._settings.tones_max + (AGAIN_TONES_MAX if self._again_hz else 0)

    def _retest_to_come(self) -> bool:
        return self._settings.retest and not self._again_hz

    def _begin_retest(self) -> None:
        mean_db_hl, _ = self.estimator.threshold([FAMILIAR_FREQUENCY_HZ])
        threshold = float(mean_db_hl[0])
        room = self._settings.tones_max - self.tones
        wanted = self._retest_to_come() and room >= RETEST_TONES_MAX
        if not wanted or self._side(FAMILIAR_FREQUENCY_HZ, threshold) != MEASURED:
            self.phase = ""
            return
        self.phase = RETEST
        self._retest_threshold_db_hl = threshold
        self._retest_base_db_hl = threshold + RETEST_START_DB

    def _retested(self, presentation: Presentation, heard: bool | None) -> None:
        """Find where silence ends and where being sure begins, each halfway between two levels."""
        level = presentation.level_db_hl
        self._retest_step += 1
        below = self._retest_below_db_hl
        crossed_db_hl = 0.5 * ((level - RETEST_STEP_DB if below is None else below) + level)
        if heard is not False and self._retest_audible_db_hl is None:
            self._retest_audible_db_hl = crossed_db_hl
        at_limit = level >= self.limit_db_hl(FAMILIAR_FREQUENCY_HZ)
        if heard:
            self._end_retest(crossed_db_hl)
        elif at_limit or self._retest_step >= RETEST_TONES_MAX:
            self._end_retest(level + 0.5 * RETEST_STEP_DB)
        self._retest_below_db_hl = level

    def _end_retest(self, sure_db_hl: float) -> None:
        audible_db_hl = self._retest_audible_db_hl
        audible_db_hl = sure_db_hl if audible_db_hl is None else audible_db_hl
        threshold_db_hl = 0.5 * (audible_db_hl + sure_db_hl)
        self.retest_difference_db = threshold_db_hl - self._retest_threshold_db_hl
        self.outcome = self._common_mark() or MEASURED  # the retest's answers count as well
        self.phase = ""

    def _end(self, outcome: Outcome, why: str) -> None:
        self.outcome = outcome
        self.why = why
        self.phase = ""

    def estimates(self) -> list["Estimate"]:
        """Return what is known at each audiogram frequency."""
        frequencies_hz = self.frequencies_hz
        figures = zip(
            frequencies_hz,
            *self.estimator.threshold(frequencies_hz),
            *self.estimator.threshold_band(frequencies_hz, BAND_PROBABILITY),
            strict=True,
        )
        return [
            Estimate(f, self._mark(f, float(mean), float(sd)), *map(float, (mean, sd, low, high)))
            for f, mean, sd, low, high in figures
        ]

    def _mark(self, frequency_hz: float, mean_db_hl: float, sd_db: float) -> Outcome:
        """Return the mark of a frequency.

        A threshold at the floor or below is not told apart from lower ones, and being wrong by a
        few dB there harms nobody. To say that there is no response has to be sure.
        """
        side = self._side(frequency_hz, mean_db_hl)
        if side != NO_RESPONSE:
            return side
        sure = mean_db_hl >= self.limit_db_hl(frequency_hz) + BEYOND_LIMIT_SDS * sd_db
        asked = self._silent_at_limit.get(frequency_hz, 0) >= SILENT_AT_LIMIT_SURE
        return NO_RESPONSE if sure or asked else INCOMPLETE

    def _common_mark(self) -> Outcome | None:
        """Return the mark of the ear if no frequency has a number, None otherwise."""
        marks = {estimate.mark for estimate in self.estimates()}
        if marks <= {NO_RESPONSE, INCOMPLETE}:
            return INCOMPLETE if INCOMPLETE in marks else NO_RESPONSE
        return HEARS_ALL if marks == {HEARS_ALL} else None

    def _common_side(self) -> Outcome | None:
        """Return on which side of the limits all audiogram frequencies lie, None if they differ.

        Of an ear that was silent at the limit again and again the means are sure enough.
        """
        mean_db_hl, _ = self.estimator.threshold(self.frequencies_hz)
        found = zip(self.frequencies_hz, mean_db_hl, strict=True)
        sides = {self._side(f, float(mean)) for f, mean in found}
        return sides.pop() if len(sides) == 1 else None

    def _side(self, frequency_hz: float, threshold_db_hl: float) -> Outcome:
        if threshold_db_hl >= self.limit_db_hl(frequency_hz):
            return NO_RESPONSE
        if threshold_db_hl <= self._settings.level_min_db_hl:
            return HEARS_ALL
        return MEASURED

    def _limit_beyond(self, mark: Outcome, frequency_hz: float, by_frequency: bool) -> float | None:
        """Return the limit that a threshold with this mark lies beyond, perhaps or surely."""
        if mark == HEARS_ALL:
            return self._settings.level_min_db_hl
        if mark == NO_RESPONSE or (mark == INCOMPLETE and by_frequency):
            return self.limit_db_hl(frequency_hz)
        return None

    def _limits_words(self) -> str:
        """Say what the limits of the audiogram frequencies are."""
        limits_db_hl = [self.limit_db_hl(f) for f in self.frequencies_hz]
        low, high = min(limits_db_hl), max(limits_db_hl)
        if low == high:
            return f"{high:g} dB HL"
        return f"the limit of each frequency, {low:g} to {high:g} dB HL"

    def _beyond_words(self, frequencies_hz: list[int]) -> str:
        """Name the limits at these frequencies."""
        limits_db_hl = {f: self.limit_db_hl(f) for f in frequencies_hz}
        if len({*limits_db_hl.values()}) == 1:
            limit = f"the limit of {limits_db_hl[frequencies_hz[0]]:g} dB HL"
            return f"{limit} at {', '.join(map(str, frequencies_hz))} Hz"
        each = ", ".join(f"{limit:g} dB HL at {f} Hz" for f, limit in limits_db_hl.items())
        return f"the limits of {each}"


@dataclass(frozen=True)
class Estimate:
    """What is known of the threshold at an audiogram frequency, with its 95 % band."""

    frequency_hz: int
    mark: Outcome
    mean_db_hl: float
    sd_db: float
    low_db_hl: float
    high_db_hl: float

    @property
    def half_width_db(self) -> float:
        """Return how far the band reaches to either side."""
        return 0.5 * (self.high_db_hl - self.low_db_hl)


def near(frequency_hz: float, others_hz: Iterable[float]) -> bool:
    """Return whether one of these frequencies lies so near that its answer tells much of this."""
    return any(abs(math.log2(f / frequency_hz)) <= NEAR_OCTAVES for f in others_hz)


def _plus_minus(widest: Widest) -> str:
    return f"+-{widest.half_width_db:.1f} dB ({widest.frequency_hz} Hz)"


def _estimator(settings: Settings, person: Person) -> ThresholdEstimator:
    try:
        return ThresholdEstimator(
            settings.profile,
            max_trials=settings.tones_max + (AGAIN_TONES_MAX if settings.masked else 0),
            response_noise_db=settings.response_noise_db,
            unsure_half_width_db=settings.unsure_half_width_db,
            age_years=person.age_years,
            sex=person.sex,
            level_limits_db_hl=(settings.level_min_db_hl, settings.level_max_db_hl),
            frequency_range_hz=(settings.frequency_min_hz, settings.frequency_max_hz),
        )
    except ValueError as error:
        raise SettingError(str(error)) from None
