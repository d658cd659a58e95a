"""What the test of one ear consists of: what is known, what was asked, and who judges it."""

from firmware_py.ear.attention import Attention
from firmware_py.ear.caps import tones_that_count_max
from firmware_py.ear.catch_trials import CatchTrials
from firmware_py.ear.confirmation import Confirmation
from firmware_py.ear.familiarisation import Familiarisation
from firmware_py.ear.levels import Highest, Levels
from firmware_py.ear.listening import Listening
from firmware_py.ear.measurement import Measurement
from firmware_py.ear.retest import Retest
from firmware_py.ear.stopping import StoppingRule
from firmware_py.ear.tally import Tally
from firmware_py.ear.threshold_estimates import ThresholdEstimates
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.person import Person
from firmware_py.terms.presentation import Observation
from firmware_py.terms.reasons import Reasons
from firmware_py.terms.route import Route, RouteKind
from firmware_py.terms.settings import (
    HONEST_PROFILES,
    SettingError,
    Settings,
)


class EarParts:
    """The parts of the test of one ear by a route, each with its own file.

    Attributes
    ----------
    retest : Retest or None
        Once it has begun.
    confirmation : Confirmation or None
        Once it has begun.
    outcome : Outcome
        What came out of the ear, as far as that is known.
    why : reasons
        For that outcome.
    """

    def __init__(
        self,
        route: Route,
        settings: Settings,
        person: Person,
        highest: Highest,
        prior: PopulationPrior | None,
    ) -> None:
        self.settings = settings
        levels = Levels(route, settings, highest)
        estimator = _estimator(settings, person, route.kind, prior)
        self.audiogram = ThresholdEstimates(settings, estimator, levels, Tally())
        self.catch_trials = CatchTrials(settings, self.estimator)
        self.attention = Attention(self.audiogram)
        self.rule = StoppingRule(settings, self.audiogram, self.catch_trials)
        self.familiarisation = Familiarisation(settings.familiar_level_db_hl, self.levels)
        self.measurement = Measurement(settings, self.audiogram)
        self.listening = Listening(settings, self.estimator, self.levels, self.audiogram.asked)
        self.retest: Retest | None = None
        self.confirmation: Confirmation | None = None
        self.outcome: Outcome = Outcome.INCOMPLETE
        self.why: Reasons = ()

    @property
    def route(self) -> Route:
        """Return the way to the ear that is tested."""
        return self.levels.route

    @property
    def estimator(self) -> ThresholdEstimator:
        return self.audiogram.estimator

    @property
    def levels(self) -> Levels:
        return self.audiogram.levels

    @property
    def tally(self) -> Tally:
        """Return how many tones were asked and heard."""
        return self.audiogram.tally

    @property
    def heard_nothing(self) -> bool:
        """Return whether no tone was ever answered, or by accident or the other ear only."""
        silent = all(each.heard is False for each in self.attention.answers)
        if self.route.by_bone:  # without noise the other ear has heard that it plays
            return self.tally.tones > 0 and silent
        return (self.tally.tones > 0 and silent) or self.outcome == Outcome.NO_RESPONSE

    @property
    def silent_with_noise(self) -> bool:
        """Return whether nothing was heard since the other ear has noise: this one may be deaf."""
        masked = [o for o in self.attention.answers if o.cover.noise_db_hl is not None]
        return self.route.by_bone and bool(masked) and all(o.heard is False for o in masked)

    def forget(self, observations: list[Observation]) -> None:
        """Measure as if these answers had not been given; only frequencies near them are asked."""
        self.measurement.forget(observations)
        if any(each.presentation.purpose == Purpose.RETEST for each in observations):
            self.retest = None


def _estimator(
    settings: Settings, person: Person, kind: RouteKind, prior: PopulationPrior | None
) -> ThresholdEstimator:
    if prior is not None and settings.profile not in HONEST_PROFILES:
        raise SettingError(
            f"profile is {settings.profile!r}, which makes no use of a prior of one's own; with "
            f"such a prior allowed are {', '.join(HONEST_PROFILES)}"
        )
    lowest_hz, highest_hz = kind.calibrated_hz[0], kind.calibrated_hz[-1]
    try:
        return ThresholdEstimator(
            settings.profile,
            max_trials=tones_that_count_max(settings, kind),
            response_noise_db=settings.response_noise_db,
            unsure_half_width_db=settings.dead_zone_half_width_db,
            age_years=person.age_years,
            sex=person.sex,
            prior=prior,
            level_limits_db_hl=(settings.level_min_db_hl, settings.level_max_db_hl),
            frequency_range_hz=(
                max(settings.frequency_min_hz, lowest_hz),
                min(settings.frequency_max_hz, highest_hz),
            ),
        )
    except ValueError as error:
        raise SettingError(str(error)) from None
