"""The test of one ear: what to present next, and what the answers mean. No time in it.

Familiarisation, measurement and retest follow each other, and after both ears a confirmation if it
is wanted; catch trials stand between their tones. Each is a module of its own; this one joins them.

An answer is True (heard), False (silence) or None (unsure, where there is a button for that). What
unsure means outside the estimator, each phase says.
"""

from dataclasses import replace
from typing import Final

from firmware_py.ear.asking import Look, ReasonToAsk
from firmware_py.ear.caps import CHECKS_MAX
from firmware_py.ear.confirmation import confirmation_of
from firmware_py.ear.ear_parts import EarParts
from firmware_py.ear.familiarisation import Familiarisation
from firmware_py.ear.levels import Highest, no_limit
from firmware_py.ear.model_checks import Pauses
from firmware_py.ear.objective import BITS, Objective
from firmware_py.ear.reasons_to_ask import REASONS_TO_ASK
from firmware_py.inference.curves import Curves
from firmware_py.inference.mixture.population_prior import PopulationPrior
from firmware_py.inference.stories import Story
from firmware_py.terms.events import OTHER_EAR
from firmware_py.terms.outcomes import Outcome, Purpose, Why
from firmware_py.terms.person import UNKNOWN, Person
from firmware_py.terms.presentation import NO_COVER, Cover, Observation, Presentation
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings

# A tone by bone so far above what is expected is heard by nearly all.
FAMILIAR_SD: Final = 2.0
NORMAL_DB_HL: Final = 20.0  # by air, at all frequencies: no impairment (WHO 2021)


class EarTest(EarParts):
    """The test of one ear by a route.

    Parameters
    ----------
    route : Route
    settings : Settings
        Those of the session.
    person : Person, optional
        Who is tested.
    highest_db_hl : callable, optional
        Of route and frequency: the highest level that can be reached there.
    prior : PopulationPrior, optional
        In place of the one that is shipped.

    Raises
    ------
    SettingError
        If the estimator does not take these settings, or this person's age or sex.
    """

    def __init__(
        self,
        route: Route,
        settings: Settings,
        person: Person = UNKNOWN,
        highest_db_hl: Highest = no_limit,
        prior: PopulationPrior | None = None,
    ) -> None:
        super().__init__(route, settings, person, highest_db_hl, prior)
        self._reasons = {each.why: each() for each in REASONS_TO_ASK}
        # The reason to ask that is due; None: there is nothing more to present.
        self._due: ReasonToAsk | None = self._reasons[Why.FAMILIARISE]
        # The other ear and its evidence, which told of the listener before this one began.
        self.expected_of: tuple[Route, tuple[Observation | bool, ...]] | None = None

    @property
    def phase(self) -> Purpose | None:
        """Return what is asked now, but for silences; None: there is nothing more to present."""
        return None if self._due is None else self._due.purpose

    @property
    def over(self) -> bool:
        """Return whether there is nothing more to present."""
        return self._due is None

    @property
    def found(self) -> bool:
        """Return whether its thresholds have been found: at most the confirmation is to come."""
        return self._due is None or self._due.why in (Why.CONFIRM, Why.WHO_HEARS)

    @property
    def begun(self) -> bool:
        """Tell if more than the familiarisation was answered."""
        return any(o.presentation.purpose != Purpose.FAMILIARISE for o in self.observations)

    @property
    def observations(self) -> list[Observation]:
        """Return the answers that count."""
        return self.measurement.observations

    def next_presentation(self, number: int, objective: Objective = BITS) -> Presentation:
        """Return what to present; `number` counts the presentations of the session.

        `objective`: what the most informative tone is chosen for.

        A pure function of the answers so far: asked twice, it says the same.
        """
        proposed = (
            each.propose(self, self._due, number, objective) for each in self._reasons.values()
        )
        reasons = zip(self._reasons, proposed, strict=True)
        return next(replace(tone, why=why) for why, tone in reasons if tone is not None)

    def ask_for(self, why: Why | None) -> None:
        """Have this be the reason to ask that is due; None: there is nothing more to present."""
        self._due = None if why is None else self._reasons[why]

    def expect_listener(self, other: "EarTest", crossed: list[Observation]) -> None:
        """Begin with what the other ear told, and without the answers that it may have given."""
        if self.expected_of is None and not self.begun:
            self.measurement.expect_listener(other.estimator, crossed)
            self.attention.forget(crossed)
            self.expected_of = (other.route, tuple(other.measurement.evidence))
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
            self.catch_trials.take_answer(heard)
        else:
            self.levels.note_tone(presentation)
            self.catch_trials.tone_presented()
        if self.phase == Purpose.CONFIRM:  # no other number rests on its answers
            self._take(observation)
            self.ask_for(Why.CONFIRM if self._reasons[Why.CONFIRM].goes_on(self) else None)
            return
        self._count(observation, pressed)
        self._choose()

    def _count(self, observation: Observation, pressed: bool | None) -> None:
        """Count an answer, and give it to the estimator if it counts there."""
        purpose = observation.presentation.purpose
        if purpose != Purpose.CATCH:
            self.tally.count(observation.heard)
            self.attention.answers.append(observation)
        if self.settings.familiarisation_counts or purpose != Purpose.FAMILIARISE:
            if pressed is not None:
                self.attention.pauses += Pauses(1, int(pressed))
            self.measurement.observe(observation, pressed)
        self._take(observation)

    def _take(self, observation: Observation) -> None:
        """Give an answer to the reason that it was asked for; that to a silence is of none."""
        if observation.presentation.purpose != Purpose.CATCH and self._due is not None:
            self._due.take_answer(self, observation)

    def _choose(self, *, answered: bool = True) -> None:
        """Find the reason to ask that is due now, or that the ear is over.

        `answered`: what counts was answered.
        """
        look, before = Look(self, answered=answered), self._due
        doubt, *others = self._reasons.values()
        due = look.first_of([doubt])
        if due is None and not look.over and before is not None:
            if before.goes_on(self):
                return
            before.finish(self)
            due = look.first_of(others)
        self._due = due
        if due is None and look.enough:
            self.listening.look_for_change(self.attention, self.measurement)
        if look.stop is not None and self.phase in (None, Purpose.RETEST):
            self.outcome, self.why = look.stop.outcome, look.stop.why

    def _answer_check(self, presentation: Presentation, heard: bool | None) -> None:
        """Take an answer that is given to nobody else."""
        self.levels.note_tone(presentation)
        if self.listening.take_answer(presentation, heard):
            self.end_check(passed=True)

    @property
    def asks_equipment(self) -> bool:
        """Return whether to ask who hears tones of an ear in which nothing was heard.

        Once: a deaf ear looks like an earphone that is not plugged in, or nobody's ear.
        """
        return self.over and self.heard_nothing and not self.listening.equipment_asked

    def forget_witness(self) -> None:
        """Take in that somebody sits down anew: what was heard before tells nothing of now."""
        if not self.over:
            self.listening.equipment_heard_by = ""

    def begin_equipment_check(self) -> None:
        """Ask who hears its tones."""
        self.listening.begin_with_equipment()
        self.ask_for(Why.WHO_HEARS)

    def end_check(self, passed: bool = False) -> None:
        """Go on after a check: forget what its story explains away, and ask it again.

        Not if nobody passed the last one that there may be.
        """
        if self.listening.story is None:
            self.ask_for(None)
            return
        why, story = self.listening.why, self.listening.end()
        if passed and self.silent_with_noise and story.story == Story.SILENT:
            # Somebody listens: the silence is this ear's.
            self.listening.equipment_heard_by = OTHER_EAR
            self._choose(answered=False)
            return
        if not passed and self.listening.checks == CHECKS_MAX:
            self.outcome, self.why = Outcome.UNRELIABLE, why
            self.ask_for(None)
            return
        dropped, pauses = self.measurement.go_back(story.began)
        checks = self.attention.forget(dropped)
        self.attention.pauses = Pauses(len(pauses), sum(pauses))
        catches = self.catch_trials.forget(dropped)
        self.rule.allow(len(dropped) - checks - catches)
        self.retest = None
        self._choose(answered=False)

    def begin_confirmation(self) -> bool:
        """Measure the chosen frequencies once more, of an ear that is over.

        Once, and not if its answers mean nothing. Return whether there is something to ask.
        """
        known_hz = self.route.kind.frequencies_hz
        chosen_hz = [f for f in self.settings.confirmed_hz if f in known_hz]
        if not chosen_hz or self.confirmation is not None or self.outcome == Outcome.UNRELIABLE:
            return False
        self.confirmation = confirmation_of(chosen_hz, self.estimator, self.levels)
        self.ask_for(Why.CONFIRM)
        return True

    def begin_by_bone(self, expected: Curves, air: "EarTest") -> None:
        """Begin with what air told of the threshold, and of the listener.

        The familiar tone is loud enough to be heard. Of an ear that hears well by air no gap could
        change what is said: then it takes two or three tones.
        """
        self.measurement.expect_threshold(expected)
        self.expect_listener(air, [])
        known = air.audiogram.estimates()
        self.audiogram.is_rough = all(each.mean_db_hl <= NORMAL_DB_HL for each in known)
        familiar_hz = self.route.kind.familiar_hz
        mean_db_hl, sd_db = (each.item() for each in self.estimator.threshold([familiar_hz]))
        level_db_hl = mean_db_hl + FAMILIAR_SD * sd_db
        self.familiarisation = Familiarisation(level_db_hl, self.levels)

    def ask_again(self, observations: list[Observation], own: Curves | None = None) -> None:
        """Measure again, without these answers of an ear that is over.

        They may be the other ear's. Only frequencies near theirs are asked, `AGAIN_TONES_MAX` tones
        at most, and there is no second retest. `own`: what is expected of the ear alone, where its
        answers were those of either.
        """
        self.rule.ask_again()
        if own is not None:
            self.measurement.expect_own(own)
        self.forget(observations)
        self.outcome, self.why = Outcome.INCOMPLETE, ()
        self.ask_for(Why.MOST_INFORMATIVE)
