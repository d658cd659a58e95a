"""The test of one ear by a route: what is known, what is due, and what changes it. No time in it.

What comes next is in `course.py`; each part has a file of its own.
"""

from dataclasses import replace
from typing import Final

from firmware_py.ear import agenda
from firmware_py.ear.attention import Attention
from firmware_py.ear.belief import Belief
from firmware_py.ear.bracketing import Bracketing
from firmware_py.ear.caps import tones_that_count_max
from firmware_py.ear.catch_trials import CatchTrials
from firmware_py.ear.confirmation import Confirmation
from firmware_py.ear.evidence import Evidence, OtherEar
from firmware_py.ear.familiarisation import Familiarisation
from firmware_py.ear.in_place import InPlace
from firmware_py.ear.levels import AudiogramHz, Highest, Levels, no_limit, usual_hz
from firmware_py.ear.listening import DOUBTED, Listening
from firmware_py.ear.otherwise import Otherwise
from firmware_py.ear.retest import Retest
from firmware_py.ear.stopping import StoppingRule, Tally
from firmware_py.ear.threshold_estimates import ThresholdEstimates
from firmware_py.inference.curves import Curves
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.stories import Suspicion
from firmware_py.terms.outcomes import Outcome, Purpose, Why
from firmware_py.terms.person import UNKNOWN, Person
from firmware_py.terms.presentation import Observation
from firmware_py.terms.reasons import Reasons
from firmware_py.terms.route import Route
from firmware_py.terms.settings import DEFAULT_PROFILE, SettingError, Settings

# A tone by bone so far above what is expected is heard by nearly all.
FAMILIAR_SD: Final = 2.0
NORMAL_DB_HL: Final = 20.0  # by air, at all frequencies: no impairment (WHO 2021)


class EarTest:
    """The test of one ear by a route; `prior`: in place of the one that is shipped.

    Raise `SettingError` if the estimator does not take these settings, or this person's age or sex.
    """

    def __init__(
        self,
        route: Route,
        settings: Settings,
        person: Person = UNKNOWN,
        highest_db_hl: Highest = no_limit,
        prior: PopulationPrior | None = None,
        audiogram_hz: AudiogramHz = usual_hz,
    ) -> None:
        self.settings, self.route = settings, route
        self.levels = levels = Levels(route, settings, highest_db_hl, audiogram_hz)
        self.estimator = _estimator(settings, person, levels, prior)
        self.belief = belief = Belief(self.estimator)
        self.audiogram = ThresholdEstimates(settings, belief, levels)
        self.tally = Tally()
        self.catch_trials = CatchTrials(settings, self.estimator)
        self.attention = Attention(self.audiogram)
        self.rule = StoppingRule(settings, self.audiogram, self.catch_trials, self.tally)
        self.familiarisation = Familiarisation(settings.familiar_level_db_hl, levels)
        self.listening = Listening(settings, belief, levels)
        self.bracketing = Bracketing(settings, self.audiogram)
        self.retest: Retest | None = None  # once it has begun, as the next
        self.in_place: InPlace | None = None
        self.confirmation: Confirmation | None = None
        self.again_hz: tuple[float, ...] = ()  # only near these is asked, again; none: anywhere
        self.looked_at: set[Why] = set()
        # What is asked now, but for silences; None: there is nothing more to present.
        self.due: agenda.Ask | None = agenda.Ask(Why.FAMILIARISE, Purpose.FAMILIARISE)
        self.outcome: Outcome = Outcome.INCOMPLETE  # as far as it is known
        self.why: Reasons = ()
        self._everything: Evidence | None = None  # with what was dropped since; None: nothing was

    # What is known

    @property
    def evidence(self) -> Evidence:
        return self.belief.evidence

    @property
    def observations(self) -> list[Observation]:
        return self.evidence.observations

    @property
    def phase(self) -> Purpose | None:
        """Return what is asked now, but for silences; None: there is nothing more to present."""
        return None if self.due is None else self.due.purpose

    @property
    def over(self) -> bool:
        return self.due is None

    @property
    def found(self) -> bool:
        """Return whether its thresholds have been found: at most the confirmation is to come."""
        return self.due is None or self.due.why in (Why.CONFIRM, Why.WHO_HEARS)

    @property
    def begun(self) -> bool:
        return any(o.presentation.purpose != Purpose.FAMILIARISE for o in self.observations)

    @property
    def heard_nothing(self) -> bool:
        """Return whether no tone was ever answered, or by accident or the other ear only."""
        silent = all(each.heard is False for each in self.attention.answers)
        # By bone, without noise, the other ear has heard that it plays.
        without_response = self.outcome == Outcome.NO_RESPONSE and not self.route.by_bone
        return (self.tally.tones > 0 and silent) or without_response

    @property
    def silent_with_noise(self) -> bool:
        """Return whether nothing was heard since the other ear has noise: this one may be deaf."""
        masked = [o for o in self.attention.answers if o.cover.noise_db_hl is not None]
        return self.route.by_bone and bool(masked) and all(o.heard is False for o in masked)

    @property
    def asks_equipment(self) -> bool:
        """Return whether to ask, once, who hears tones of an ear in which nothing was heard."""
        return self.over and self.heard_nothing and not self.listening.equipment_asked

    @property
    def frequencies_to_confirm_hz(self) -> list[int]:
        """Return what the classical rule is still to measure, if the answers mean something."""
        if self.confirmation is not None or self.outcome == Outcome.UNRELIABLE:
            return []
        return [f for f in self.settings.confirmed_hz if f in self.levels.frequencies_hz]

    @property
    def suspected_in_vain(self) -> bool:
        """Return whether all answers, dropped ones too, say that the listener was there throughout.

        And that the earphone was where it is. All are inferred anew.
        """
        everything = self._everything or self.evidence
        put_back = self.in_place is not None and self.in_place.as_before
        if put_back or len(everything.tones) > self.estimator.max_trials:
            return False
        return self.belief.suppose(everything, self._finds_nothing)

    def _finds_nothing(self, _estimator: ThresholdEstimator) -> bool:
        listening = self.listening
        doubted = listening.probable(DOUBTED) or listening.doubted_otherwise()
        return doubted is None and not self.attention.away(self.evidence.tones)

    # What changes it

    def do(self, step: agenda.EarStep) -> bool:
        match step:
            case agenda.Ask():
                self.due = step
            case agenda.End(outcome, why, tones):
                if tones is not None:
                    self.go_back(tones)
                    self.listening.kept_tones = tones
                self.outcome, self.why, self.due = outcome, why, None
            case agenda.Forget(answers, why):
                self._set_aside()
                self.attention.forget_by(why, answers)
                self.forget(answers)
            case agenda.Allow(tones):
                self.rule.allow(tones)
            case agenda.Begin(what):
                self._begin(what)
            case agenda.LookedAt(why):
                self.looked_at.add(why)
            case agenda.ExpectChecks(count):
                self.attention.checks_expected = count
        return isinstance(step, agenda.Ask | agenda.End)

    def _begin(self, what: Suspicion | Otherwise | InPlace | Retest) -> None:
        match what:
            case Retest():
                self.retest = what
            case InPlace():
                self.in_place = what
            case Otherwise():
                self.listening.begin_look(what)
            case Suspicion():
                self.listening.begin(what)

    def decide_beside(self) -> None:
        """Take in that a tone decided something, which the cap does not count."""
        self.listening.deciding_asked += 1
        self.rule.leave_out(1)

    def end_before(self, story: Suspicion) -> agenda.End | None:
        """Return the end that the answers before a story were enough for; None: they were not."""
        now = self.evidence
        self.belief.take(now.up_to(story.began))
        stop = self.rule.judge()
        complete = self.bracketing.next_tone() is None
        self.belief.take(now)
        if stop is None or not stop.enough or stop.cap is not None or not complete:
            return None
        return agenda.End(stop.outcome, stop.why, story.began)

    def observe(self, observation: Observation, pressed: bool | None = None) -> None:
        """Take an answer into account, that to a catch trial or to the retest as well.

        `pressed`: whether a button was pressed in the pauses before it; None: they were too short.
        """
        self.belief.take(self.evidence.with_answer(observation, pressed))
        if self._everything is not None:
            self._everything = self._everything.with_answer(observation, pressed)

    def count(self, observation: Observation, pressed: bool | None) -> None:
        purpose = observation.presentation.purpose
        if purpose != Purpose.CATCH:
            self.tally.count(observation.heard)
            self.attention.answers.append(observation)
        if self.settings.familiarisation_counts or purpose != Purpose.FAMILIARISE:
            self.observe(observation, pressed)

    def _set_aside(self) -> None:
        """Keep what is known: some of it is dropped."""
        self._everything = self._everything or self.evidence

    def forget(self, observations: list[Observation]) -> None:
        """Measure as if these answers had not been given; only frequencies near them are asked."""
        self._measure_again(self.evidence, observations)
        if any(each.presentation.purpose == Purpose.RETEST for each in observations):
            self.retest = None

    def _measure_again(self, evidence: Evidence, dropped: list[Observation]) -> None:
        self.again_hz = tuple(each.presentation.frequency_hz for each in dropped)
        self.bracketing.begin_again()
        self.belief.take(evidence.without(dropped))

    def go_back(self, tones: int) -> None:
        """Measure as if nothing had come after so many tones; allow as many anew."""
        kept = self.evidence.up_to(tones)
        self._set_aside()
        dropped = self.observations[len(kept.observations) :]
        self.bracketing.begin_again()
        self.belief.take(kept)
        checks, catches = self.attention.forget(dropped), self.catch_trials.forget(dropped)
        self.rule.allow(len(dropped) - checks - catches)
        self.retest = None

    def expect_listener(self, other: "EarTest", crossed: list[Observation]) -> None:
        """Begin with what the other ear told, and without the answers that it may have given."""
        if self.evidence.listener is None:
            told = OtherEar(other.route, other.evidence, other.estimator.listener_shares)
            self.belief.take(replace(self.evidence.without(crossed), listener=told))
            self.attention.forget(crossed)
            self.attention.doubted = other.attention.clear().missed > 0

    def begin_by_bone(self, expected: Curves, air: "EarTest", *others: "EarTest") -> None:
        """Begin with what air told of the threshold, and of the listener.

        The familiar tone is loud enough to be heard. Of ears that hear well by air no gap could
        change what is said: then it takes two or three tones. Beside one that does not, the good
        ear shows whether the vibrator does what it should. `others`: the other ear by air.
        """
        self.belief.take(replace(self.evidence, threshold=expected))
        self.expect_listener(air, [])
        known = [found for each in (air, *others) for found in each.audiogram.estimates()]
        self.audiogram.is_rough = all(each.mean_db_hl <= NORMAL_DB_HL for each in known)
        familiar_hz = self.route.kind.familiar_hz
        mean_db_hl, sd_db = (each.item() for each in self.estimator.threshold([familiar_hz]))
        level_db_hl = mean_db_hl + FAMILIAR_SD * sd_db
        self.familiarisation = Familiarisation(level_db_hl, self.levels)

    def would_tell(self, expected: Curves, answers: list[Observation]) -> tuple[Curves, float]:
        """Return what these answers alone would tell, and their log evidence.

        `expected`: what is known of this very ear before them.
        """
        supposed = replace(self.evidence, given=tuple(answers), threshold=expected)
        return self.belief.suppose(supposed, lambda e: (e.curves_at_knots(), e.log_evidence))

    def expect_own(self, expected: Curves, dropped: list[Observation]) -> None:
        """Go on with what is expected of this ear alone: answers of either ear count in that."""
        self._measure_again(self.evidence.of_own(expected), dropped)

    def ask_again(self, observations: list[Observation], own: Curves | None = None) -> None:
        """Measure again, without these answers of an ear that is over: they may be the other ear's.

        There is no second retest. `own`: see `expect_own`.
        """
        self.rule.ask_again()
        if own is not None:
            self.belief.take(self.evidence.of_own(own))
        self.forget(observations)
        self.outcome, self.why = Outcome.INCOMPLETE, ()
        self.due = agenda.Ask(Why.MOST_INFORMATIVE, Purpose.MEASURE)

    def forget_witness(self) -> None:
        """Take in that somebody sits down anew: what was heard before tells nothing of now."""
        if not self.over:
            self.listening.equipment_heard_by = ""

    def begin_equipment_check(self) -> None:
        self.listening.begin_with_equipment()
        self.due = agenda.Ask(Why.WHO_HEARS, Purpose.CHECK)

    def begin_confirmation(self) -> None:
        chosen_hz = self.frequencies_to_confirm_hz
        self.confirmation = Confirmation(chosen_hz, self.estimator, self.levels)
        self.due = agenda.Ask(Why.CONFIRM, Purpose.CONFIRM)


def _estimator(
    settings: Settings, person: Person, levels: Levels, prior: PopulationPrior | None
) -> ThresholdEstimator:
    if prior is not None and not settings.honest:
        raise SettingError(
            f"profile is {settings.profile!r}, which makes no use of a prior of one's own; with "
            f"such a prior allowed is {DEFAULT_PROFILE}"
        )
    kind = levels.route.kind
    lowest_hz = max(settings.frequency_min_hz, kind.calibrated_hz[0])
    highest_hz = min(settings.frequency_max_hz, levels.frequencies_hz[-1])
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
            frequency_range_hz=(lowest_hz, highest_hz),
        )
    except ValueError as error:
        raise SettingError(str(error)) from None
