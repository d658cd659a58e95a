"""The test of one ear: what to present next, and what the answers mean. No time in it.

Familiarisation, measurement and retest follow each other, and after both ears a confirmation if it
is wanted; catch trials stand between their tones. Each is a module of its own; this one joins them.

An answer is True (heard), False (silence) or None (unsure, where there is a button for that). What
unsure means outside the estimator, each phase says.
"""

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.stories import Told
from firmware_py.inference.trial_time import TrialTime
from firmware_py.procedure.attention import (
    ATTENTION_TONES_MAX,
    RUN_AGAIN_TONES,
    RUNS_AGAIN_MAX,
    Attention,
)
from firmware_py.procedure.audiogram import Audiogram
from firmware_py.procedure.catch_trials import CatchTrials
from firmware_py.procedure.confirmation import Confirmation, confirmation_of
from firmware_py.procedure.familiarisation import Familiarisation
from firmware_py.procedure.levels import Highest, Levels, unlimited
from firmware_py.procedure.listening import CHECKS_MAX, Listening, story_reason
from firmware_py.procedure.measurement import Measurement
from firmware_py.procedure.model_checks import Pauses
from firmware_py.procedure.outcomes import Outcome, Purpose
from firmware_py.procedure.person import UNKNOWN, Person
from firmware_py.procedure.presentation import NO_COVER, SILENCE, Cover, Observation, Presentation
from firmware_py.procedure.reasons import Code, Reasons
from firmware_py.procedure.retest import Retest, retest_of
from firmware_py.procedure.settings import SettingError, Settings
from firmware_py.procedure.stopping import AGAIN_TONES_MAX, Stop, StoppingRule
from firmware_py.procedure.tally import Tally


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
        self._settings = settings
        self.estimator = _estimator(settings, person)
        self.levels = Levels(ear, settings, highest_db_hl)
        self.tally = Tally()
        self.catch_trials = CatchTrials(settings, self.estimator)
        self.audiogram = Audiogram(settings, self.estimator, self.levels, self.tally)
        self.attention = Attention(self.audiogram)
        self._check: tuple[float, float] | None = None  # a clear tone that is due
        self._rule = StoppingRule(settings, self.audiogram, self.catch_trials)
        self.familiarisation = Familiarisation(settings.familiar_level_db_hl, self.levels)
        self.measurement = Measurement(settings, self.audiogram, self._rule)
        self.retest: Retest | None = None
        # The other ear and its evidence, which told of the listener before this one began.
        self.expected_of: tuple[str, tuple[Observation | bool, ...]] | None = None
        self.confirmation: Confirmation | None = None
        self.listening = Listening(settings, self.estimator, self.levels, self.audiogram.asked)
        self.phase: Purpose | None = Purpose.FAMILIARISE  # None: there is nothing more to present
        self.outcome: Outcome = Outcome.INCOMPLETE
        self.why: Reasons = ()

    @property
    def over(self) -> bool:
        """Return whether there is nothing more to present."""
        return self.phase is None

    @property
    def found(self) -> bool:
        """Return whether its thresholds have been found: at most the confirmation is to come."""
        asked_for_hearers = self.phase == Purpose.CHECK and self.listening.story is None
        return asked_for_hearers or self.phase in (None, Purpose.CONFIRM)

    @property
    def begun(self) -> bool:
        """Tell if more than the familiarisation was answered."""
        return any(o.presentation.purpose != Purpose.FAMILIARISE for o in self.observations)

    @property
    def observations(self) -> list[Observation]:
        """Return the answers that count."""
        return self.measurement.observations

    def next_presentation(self, number: int, time: TrialTime | None = None) -> Presentation:
        """Return what to present; `number` counts the presentations of the session.

        `time`: what one takes, if information is to be per time.

        A pure function of the answers so far: asked twice, it says the same.
        """
        if self.phase == Purpose.FAMILIARISE:
            return self.familiarisation.tone()
        if self.phase == Purpose.CHECK:
            return self.listening.presentation()
        if self._rule.needs_catches or self.catch_trials.due(number):
            return SILENCE
        if self.phase == Purpose.RETEST and self.retest is not None:
            return self.retest.tone()
        if self.phase == Purpose.CONFIRM and self.confirmation is not None:
            return self.confirmation.tone()
        if self._check is not None:
            return self.levels.tone(Purpose.MEASURE, *self._check)
        return self.measurement.tone(time)

    def expect_listener(self, other: "EarTest", crossed: list[Observation]) -> None:
        """Begin with what the other ear told, and without the answers that it may have given."""
        if self.expected_of is None and not self.begun:
            self.measurement.expect_listener(other.estimator, crossed)
            self.attention.forget(crossed)
            self.expected_of = (other.ear, tuple(other.measurement.evidence))
            self.attention.doubted = other.attention.clear().missed > 0

    def answer(
        self,
        presentation: Presentation,
        heard: bool | None,
        cover: Cover = NO_COVER,
        pressed: bool | None = None,
        response_s: float | None = None,
    ) -> None:
        """Take the answer to a presentation into account; None: the listener was unsure.

        `pressed`: what the pauses before it told, see `SilentTime.take`; `response_s`: the time
        from the onset to the press.
        """
        if self.phase == Purpose.CHECK:
            self._answer_check(presentation, heard)
            return
        observation = Observation(presentation, heard, cover, response_s)
        if presentation.purpose == Purpose.CATCH:
            self.catch_trials.answered(heard)
        else:
            self.levels.presented(presentation)
            self.catch_trials.tone_presented()
        if self.phase == Purpose.CONFIRM:
            self._confirm(presentation, heard)
            return
        self._count(observation, pressed)
        if not self._nobody_listens():
            self._go_on(presentation, heard)

    def _count(self, observation: Observation, pressed: bool | None) -> None:
        """Count an answer, and give it to the estimator if it counts there."""
        presentation, heard = observation.presentation, observation.heard
        if presentation.purpose != Purpose.CATCH:
            self.tally.count(heard)
            self.attention.answers.append(observation)
        if presentation.purpose == Purpose.FAMILIARISE:
            self.familiarisation.answered(presentation.level_db_hl, heard)
            if self.familiarisation.over:
                self.phase = Purpose.MEASURE
        if self._settings.familiarisation_counts or presentation.purpose != Purpose.FAMILIARISE:
            if pressed is not None:
                self.attention.pauses += Pauses(1, int(pressed))
            self.measurement.observe(observation, pressed)
            if self._check is not None and presentation.purpose == Purpose.MEASURE:
                self.attention.checked(observation)

    def _go_on(self, presentation: Presentation, heard: bool | None) -> None:
        """Say whether the answers are enough, after one that counts."""
        if presentation.purpose == Purpose.RETEST and self.retest is not None:
            self.retest.answered(presentation.level_db_hl, heard)
            if self.retest.over:
                # Its answers count as well: an end is judged by all of them.
                self.phase = Purpose.MEASURE
                self._rule.retest_is_over()
                self._judge()
        elif self.phase == Purpose.MEASURE:
            self._judge()

    def _answer_check(self, presentation: Presentation, heard: bool | None) -> None:
        """Take an answer that is given to nobody else."""
        self.levels.presented(presentation)
        if self.listening.answered(presentation, heard):
            self.end_check(passed=True)

    def _nobody_listens(self) -> bool:
        """Break off for a check if a story has become likely, or end the ear after too many."""
        # A deaf ear falls silent at once, too: who hears its tones is asked when it is over.
        if (story := self.listening.likely()) is None or self.heard_nothing:
            return False
        if self.listening.checks == CHECKS_MAX:
            why = story_reason(story, self.measurement.tones())
            self.outcome, self.why, self.phase = Outcome.UNRELIABLE, (why,), None
        else:
            self._begin_check(story)
        return True

    def _begin_check(self, story: Told) -> None:
        self.listening.begin(story, self.measurement.tones())
        self.phase = Purpose.CHECK

    def begin_equipment_check(self) -> bool:
        """Ask who hears tones of an ear in which nothing was heard; return whether to ask.

        Once: a deaf ear looks like an earphone that is not plugged in, or nobody's ear.
        """
        asks = self.over and self.heard_nothing and self.listening.begin_with_equipment()
        self.phase = Purpose.CHECK if asks else self.phase
        return asks

    @property
    def heard_nothing(self) -> bool:
        """Return whether no tone was ever answered, or by accident or the other ear only."""
        silent = all(each.heard is False for each in self.attention.answers)
        return (self.tally.tones > 0 and silent) or self.outcome == Outcome.NO_RESPONSE

    def end_check(self, passed: bool = False) -> None:
        """Go on after a check: forget what its story explains away, and ask it again.

        Not if nobody passed the last one that there may be.
        """
        if self.listening.story is None:
            self.phase = None
            return
        why, story = self.listening.why, self.listening.end()
        if not passed and self.listening.checks == CHECKS_MAX:
            self.outcome, self.why, self.phase = Outcome.UNRELIABLE, why, None
            return
        dropped, pauses = self.measurement.go_back(story.began)
        checks = self.attention.forget(dropped)
        self.attention.pauses = Pauses(len(pauses), sum(pauses))
        self.catch_trials.forget(dropped)
        self._rule.allow(len(dropped) - checks)
        self.retest, self._check = None, None
        self.phase = Purpose.MEASURE if self.familiarisation.over else Purpose.FAMILIARISE
        if self.phase == Purpose.MEASURE:
            self._judge()

    def _judge(self) -> None:
        """End the measurement of this ear, or begin the retest, if the answers are enough."""
        self._check = None
        stop = self.measurement.judge()
        if stop is not None and stop.enough and self._without_late_start():
            stop = None
        if stop is not None and stop.enough:
            stop = self._without_runs(stop)
        if stop is None:
            return
        if stop.enough and self._rule.retest_fits and self._begin_retest():
            self.outcome, self.why = stop.outcome, stop.why
            return
        if stop.enough:
            self._check = self.attention.next_check(self.measurement.tones())
            if self._check is not None:
                return
            doubt = self.listening.doubt_of_last(self.measurement.tones())
            if doubt is not None and not self.heard_nothing:
                self._begin_check(doubt)
                return
            self.listening.look_for_change(self.attention, self.measurement)
        self.outcome, self.why, self.phase = stop.outcome, stop.why, None

    def _begin_retest(self) -> bool:
        """Begin the retest; return whether its frequency has a threshold within the limits."""
        self.retest = retest_of(self.estimator, self.levels)
        self.phase = self.phase if self.retest is None else Purpose.RETEST
        return self.retest is not None

    def _without_runs(self, stop: Stop) -> Stop | None:
        """Forget what was answered in runs without attention; return None if it is asked again."""
        away = self.attention.away(self.measurement.tones())
        if not away:
            return stop
        if self.attention.runs_asked_again == RUNS_AGAIN_MAX:
            tones = len(away) + self.attention.away_tones
            return Stop.by(Outcome.UNRELIABLE, Code.AWAY, away=tones, tones=self.tally.tones)
        self.attention.runs_asked_again += 1
        self.attention.away_tones += len(away)
        self._rule.allow(RUN_AGAIN_TONES)
        self._forget(away)
        return None

    def _without_late_start(self) -> bool:
        """Forget the first tones, and ask them again, if the task was not understood until then."""
        if late := self.listening.late_start(self.measurement):
            self.attention.forget(late)
            self._rule.allow(len(late))
            self._forget(late)
        return bool(late)

    def begin_confirmation(self) -> bool:
        """Measure the chosen frequencies once more, of an ear that is over.

        Once, and not if its answers mean nothing. Return whether there is something to ask.
        """
        chosen_hz = self._settings.confirmed_hz
        if not chosen_hz or self.confirmation is not None or self.outcome == Outcome.UNRELIABLE:
            return False
        self.confirmation = confirmation_of(chosen_hz, self.estimator, self.levels)
        self.phase = Purpose.CONFIRM
        return True

    def _confirm(self, presentation: Presentation, heard: bool | None) -> None:
        """Take an answer of the confirmation, on which no other number rests."""
        if presentation.purpose == Purpose.CONFIRM and self.confirmation is not None:
            self.confirmation.answered(presentation.level_db_hl, heard)
            if self.confirmation.over:
                self.phase = None

    def forget(self, observations: list[Observation]) -> None:
        """Measure again, without these answers of an ear that is over.

        They may be the other ear's. Only frequencies near theirs are asked, `AGAIN_TONES_MAX` tones
        at most, and there is no second retest.
        """
        self._rule.ask_again()
        self._forget(observations)
        self.outcome, self.why, self.phase = Outcome.INCOMPLETE, (), Purpose.MEASURE

    def _forget(self, observations: list[Observation]) -> None:
        self.measurement.forget(observations)
        if any(each.presentation.purpose == Purpose.RETEST for each in observations):
            self.retest = None


def _trials_max(settings: Settings) -> int:
    again = AGAIN_TONES_MAX if settings.masked else 0
    return settings.tones_max + again + ATTENTION_TONES_MAX


def _estimator(settings: Settings, person: Person) -> ThresholdEstimator:
    try:
        return ThresholdEstimator(
            settings.profile,
            max_trials=_trials_max(settings),
            response_noise_db=settings.response_noise_db,
            unsure_half_width_db=settings.dead_zone_half_width_db,
            age_years=person.age_years,
            sex=person.sex,
            level_limits_db_hl=(settings.level_min_db_hl, settings.level_max_db_hl),
            frequency_range_hz=(settings.frequency_min_hz, settings.frequency_max_hz),
        )
    except ValueError as error:
        raise SettingError(str(error)) from None
