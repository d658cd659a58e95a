"""The test of one ear: what to present next, and what the answers mean. No time in it.

Familiarisation, measurement and retest follow each other; catch trials stand between their tones.
Each is a module of its own; this one joins them.

An answer is True (heard), False (silence) or None (unsure, where there is a button for that). What
unsure means outside the estimator, each phase says.
"""

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.procedure.audiogram import Audiogram
from firmware_py.procedure.catch_trials import CatchTrials
from firmware_py.procedure.familiarisation import Familiarisation
from firmware_py.procedure.levels import Highest, Levels, unlimited
from firmware_py.procedure.measurement import Measurement
from firmware_py.procedure.outcomes import Outcome, Purpose
from firmware_py.procedure.person import UNKNOWN, Person
from firmware_py.procedure.presentation import NO_COVER, SILENCE, Cover, Observation, Presentation
from firmware_py.procedure.results import EarResult, ThresholdResult
from firmware_py.procedure.retest import Retest
from firmware_py.procedure.settings import FAMILIAR_FREQUENCY_HZ, SettingError, Settings
from firmware_py.procedure.stopping import AGAIN_TONES_MAX, StoppingRule
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
        self.estimator = _estimator(settings, person)
        self.levels = Levels(ear, settings, highest_db_hl)
        self.tally = Tally()
        self.catch_trials = CatchTrials(settings)
        self.audiogram = Audiogram(settings, self.estimator, self.levels, self.tally)
        self._rule = StoppingRule(settings, self.audiogram, self.catch_trials)
        self.familiarisation = Familiarisation(settings.familiar_level_db_hl, self.levels)
        self.measurement = Measurement(settings, self.audiogram, self._rule)
        self.retest: Retest | None = None
        self.phase: Purpose | None = Purpose.FAMILIARISE  # None: there is nothing more to present
        self.outcome: Outcome = Outcome.INCOMPLETE
        self.why = ""

    @property
    def over(self) -> bool:
        """Return whether there is nothing more to present."""
        return self.phase is None

    @property
    def observations(self) -> list[Observation]:
        """Return the answers that count."""
        return self.measurement.observations

    @property
    def retest_difference_db(self) -> float | None:
        """Return by how much the retest came out higher, None without one."""
        return None if self.retest is None else self.retest.difference_db

    def next_presentation(self, number: int) -> Presentation:
        """Return what to present; `number` counts the presentations of the session.

        A pure function of the answers so far: asked twice, it says the same.
        """
        if self.phase == Purpose.FAMILIARISE:
            return self.familiarisation.tone()
        if self._rule.needs_catches or self.catch_trials.due(number):
            return SILENCE
        if self.phase == Purpose.RETEST and self.retest is not None:
            return self.retest.tone()
        return self.measurement.tone()

    def answer(
        self, presentation: Presentation, heard: bool | None, cover: Cover = NO_COVER
    ) -> None:
        """Take the answer to a presentation into account; None: the listener was unsure."""
        if presentation.purpose == Purpose.CATCH:
            self.catch_trials.answered(heard)
        else:
            self.tally.count(presentation, heard, self.levels)
            self.levels.presented(presentation)
            self.catch_trials.tone_presented()
        if presentation.purpose == Purpose.FAMILIARISE:
            self.familiarisation.answered(presentation.level_db_hl, heard)
            if self.familiarisation.over:
                self.phase = Purpose.MEASURE
        else:
            self.measurement.observe(Observation(presentation, heard, cover))
        if presentation.purpose == Purpose.RETEST and self.retest is not None:
            self.retest.answered(presentation.level_db_hl, heard)
            if self.retest.over:
                # Its answers count as well.
                self.outcome = self.audiogram.common_mark() or Outcome.MEASURED
                self.phase = None
        elif self.phase == Purpose.MEASURE:
            self._judge()

    def _judge(self) -> None:
        """End the measurement of this ear, or begin the retest, if the answers are enough."""
        stop = self.measurement.judge()
        if stop is None:
            return
        self.outcome, self.why, self.phase = stop.outcome, stop.why, None
        if stop.enough and self._rule.retest_fits:
            mean_db_hl, _ = self.estimator.threshold([FAMILIAR_FREQUENCY_HZ])
            threshold_db_hl = float(mean_db_hl[0])
            if self.levels.side(FAMILIAR_FREQUENCY_HZ, threshold_db_hl) == Outcome.MEASURED:
                self.phase = Purpose.RETEST
                self.retest = Retest(threshold_db_hl, self.levels)

    def forget(self, observations: list[Observation]) -> None:
        """Measure again, without these answers of an ear that is over.

        They may be the other ear's. Only frequencies near theirs are asked, `AGAIN_TONES_MAX` tones
        at most, and there is no second retest.
        """
        self.measurement.forget(observations)
        if any(each.presentation.purpose == Purpose.RETEST for each in observations):
            self.retest = None
        self.outcome, self.why, self.phase = Outcome.INCOMPLETE, "", Purpose.MEASURE

    def result(self) -> EarResult:
        """Return what was found; nobody has looked at masking here."""
        by_frequency = (
            self.outcome in (Outcome.MEASURED, Outcome.INCOMPLETE)
            and self.estimator.trial_count > 0
        )
        thresholds = []
        for each in self.audiogram.estimates():
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
            thresholds.append(found if mark == Outcome.MEASURED else found.without_numbers(mark))
        return EarResult(
            self.ear,
            self.outcome,
            self.why,
            tuple(thresholds),
            self.tally.tones,
            self.tally.heard,
            self.tally.unsure,
            self.catch_trials.count,
            self.catch_trials.false_alarms,
            self.catch_trials.unsure_alarms,
            self.retest_difference_db,
        )

    def _limit_beyond(self, mark: Outcome, frequency_hz: float, by_frequency: bool) -> float | None:
        """Return the limit that a threshold with this mark lies beyond, perhaps or surely."""
        if mark == Outcome.HEARS_ALL:
            return self.levels.floor_db_hl
        if mark == Outcome.NO_RESPONSE or (mark == Outcome.INCOMPLETE and by_frequency):
            return self.levels.limit_db_hl(frequency_hz)
        return None


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
