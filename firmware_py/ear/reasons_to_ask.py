"""Which tone of an ear comes next, and why: the reasons to ask, in order.

After every answer they are asked from the first, and the first that proposes to ask is due. What
goes on, familiarisation and retest, is interrupted by `INTERRUPTS` only. An ear is over when none
proposes anything. They change nothing: what is proposed, `EarTest.do` does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final

from firmware_py.ear import agenda
from firmware_py.ear.bracketing import SAME_TONE_MAX
from firmware_py.ear.caps import CHECKS_MAX, RUN_AGAIN_TONES, RUNS_AGAIN_MAX
from firmware_py.ear.confirmation import Confirmation
from firmware_py.ear.ear import EarTest
from firmware_py.ear.familiarisation import Familiarisation
from firmware_py.ear.in_place import InPlace
from firmware_py.ear.levels import near
from firmware_py.ear.listening import story_reason
from firmware_py.ear.objective import Objective
from firmware_py.ear.retest import Retest, retest_of
from firmware_py.ear.stopping import Stop
from firmware_py.inference.stories import Suspicion
from firmware_py.terms.outcomes import Outcome, Purpose, Why
from firmware_py.terms.presentation import Observation, Presentation
from firmware_py.terms.reasons import Code, reason

Steps = Sequence[agenda.EarStep]

ASK_ALL_SPARE_TONES: Final = 4  # for answers that were not expected, where all is to be asked


@dataclass(frozen=True)
class Look:
    """One look at an ear; `answered`: after an answer that counts, not after a check."""

    ear: EarTest
    answered: bool = True

    @cached_property
    def stop(self) -> Stop | None:
        """Return the end of the measurement, None if the answers are not enough yet."""
        return self.ear.rule.judge()

    @property
    def enough(self) -> bool:
        return self.stop is not None and self.stop.enough

    @property
    def after_clear_tone(self) -> bool:
        """Return whether its answer is the last one: that lies above all thresholds."""
        return self.ear.due is not None and self.ear.due.why == Why.CLEAR_TONE

    @property
    def spare(self) -> bool:
        """Return whether something may still be asked before that end."""
        sound = self.stop is not None and self.stop.outcome != Outcome.UNRELIABLE
        return sound and self.ear.rule.tones_left > 0


class ReasonToAsk:
    """A reason to ask, with its name in the record and the purpose of what it asks."""

    why: ClassVar[Why]
    purpose: ClassVar[Purpose] = Purpose.MEASURE
    silences: ClassVar[bool] = True  # stand between its tones

    def propose(self, _look: Look, /) -> Steps:
        """Return what is to be done for it; nothing: there is no cause."""
        return ()

    def ask(self, tone: tuple[float, float] | None = None) -> agenda.Ask:
        return agenda.Ask(self.why, self.purpose, tone)

    def presentation(self, ear: EarTest, _objective: Objective) -> Presentation:
        return ear.levels.tone(self.purpose, *_wanted_tone(ear))

    def take_answer(self, ear: EarTest, observation: Observation) -> None:
        """Take the answer to its tone."""

    def goes_on(self, _ear: EarTest) -> bool:
        """Return whether it has more to ask before the reasons below the first are looked at."""
        return False

    def finish(self, ear: EarTest) -> None:
        """Take in that it has nothing more to ask."""


class Phase(ReasonToAsk):
    """A reason that goes on to its end, by a part of the ear that says its tones."""

    def part(self, ear: EarTest) -> Familiarisation | InPlace | Retest | Confirmation | None:
        raise NotImplementedError

    def goes_on(self, ear: EarTest) -> bool:
        part = self.part(ear)
        return part is not None and not part.over

    def presentation(self, ear: EarTest, _objective: Objective) -> Presentation:
        part = self.part(ear)
        assert part is not None
        return part.tone()

    def take_answer(self, ear: EarTest, observation: Observation) -> None:
        part = self.part(ear)
        assert part is not None
        part.take_answer(observation.presentation.level_db_hl, observation.heard)


def _wanted_tone(ear: EarTest) -> tuple[float, float]:
    tone = None if ear.due is None else ear.due.tone
    assert tone is not None, "the reason that is due wants one"
    return tone


class StoryInDoubt(ReasonToAsk):
    """Nobody seems to listen: silences, and tones that were heard before, until somebody does."""

    why = Why.STORY_IN_DOUBT
    purpose = Purpose.CHECK
    silences = False

    def propose(self, look: Look, /) -> Steps:
        """Propose a check, or the end of the ear after too many."""
        # A deaf ear falls silent at once, too: who hears its tones is asked when it is over.
        ear = look.ear
        story = ear.listening.likely() if look.answered else None
        if story is None or ear.heard_nothing:
            return ()
        if ear.listening.checks == CHECKS_MAX:
            why = story_reason(story, ear.evidence.tones, ear.route)
            return (ear.end_before(story) or agenda.End(Outcome.UNRELIABLE, (why,)),)
        return self.check(story)

    def check(self, story: Suspicion) -> Steps:
        return agenda.Begin(story), self.ask()

    def presentation(self, ear: EarTest, _objective: Objective) -> Presentation:
        return ear.listening.check.presentation(ear.levels)


class Familiarise(Phase):
    """The listener learns the task: 1 kHz, 20 dB down until not heard, 10 dB up until heard."""

    why = Why.FAMILIARISE
    purpose = Purpose.FAMILIARISE
    silences = False

    def part(self, ear: EarTest) -> Familiarisation:
        return ear.familiarisation

    def propose(self, look: Look, /) -> Steps:
        return () if look.ear.familiarisation.over else (self.ask(),)


class SilenceDue(ReasonToAsk):
    """Is the button pressed without a tone? Between all tones but of checks and familiarising."""

    why = Why.SILENCE_DUE
    purpose = Purpose.CATCH


class Bracket(ReasonToAsk):
    """A frequency is known from others only: a tone on the side of the threshold without answer.

    Or its threshold depends on one answer: another on that side. Where all is to be asked, it is
    also due when no more tones are left than that takes.
    """

    why = Why.BRACKET

    def propose(self, look: Look, /) -> Steps:
        """Propose a tone at one end of the band."""
        ear = look.ear
        if ear.audiogram.is_rough:
            now = False
        elif look.stop is None:
            wanted = ear.bracketing.tones_missing() + ASK_ALL_SPARE_TONES
            now = ear.settings.ask_all and ear.rule.tones_left <= wanted
        else:
            now = look.spare
        tone = ear.bracketing.next_tone(ear.again_hz) if now else None
        if tone is None and look.enough and not look.after_clear_tone:
            beside = ear.listening.may_decide
            tone = ear.bracketing.second_tone(ear.again_hz) if look.spare or beside else None
        return () if tone is None else (self.ask(tone),)

    def take_answer(self, ear: EarTest, _observation: Observation) -> None:
        frequency_hz, _ = _wanted_tone(ear)
        ear.bracketing.count_tone(int(frequency_hz))
        if ear.rule.tones_left < 0:
            ear.decide_beside()


class MostInformative(ReasonToAsk):
    """The answers are not enough: the tone whose answer is expected to tell most."""

    why = Why.MOST_INFORMATIVE

    def propose(self, look: Look, /) -> Steps:
        return (self.ask(),) if look.stop is None else ()

    def presentation(self, ear: EarTest, objective: Objective) -> Presentation:
        # At a bound an answer that was expected hardly moves Laplace's mode: the same tone would
        # seem as informative as before.
        marks, levels, kind = ear.audiogram.marks, ear.levels, ear.route.kind
        at_bound = marks.all_silent_at_limit() + marks.all_heard_at_floor()
        known_hz = ear.estimator.candidate_frequencies_hz
        never_hz = levels.left_out_hz + [f for f in known_hz if levels.is_out_of_reach(f)]
        if kind.follows_air and not ear.settings.ask_all:
            never_hz += kind.inter_octave_hz
        exhausted_hz = [f for f, count in at_bound.items() if count >= SAME_TONE_MAX] + never_hz
        if ear.again_hz:
            exhausted_hz += [f for f in known_hz if not near(f, ear.again_hz)]
        elif ear.settings.honest:
            # Its bands can be trusted to say that a frequency needs no more tones; the paper's are
            # too sure of themselves, and it chooses by information alone.
            exhausted_hz += ear.audiogram.settled_hz()
        allowed_db_hl = [levels.ceiling_db_hl(f) for f in known_hz]
        floors_db_hl = [levels.worth_asking_db_hl(f) for f in known_hz]
        # Where only softer tones are allowed yet than the room lets be heard: not now.
        reach = zip(known_hz, floors_db_hl, allowed_db_hl, strict=True)
        exhausted_hz += [f for f, floor, allowed in reach if floor > allowed]
        if {*exhausted_hz} >= {*known_hz}:
            exhausted_hz = never_hz  # once more at a bound: what is left out tells nothing
        stimulus = objective.choose(ear.estimator, allowed_db_hl, exhausted_hz, floors_db_hl)
        tone = levels.tone(self.purpose, stimulus.frequency_hz, stimulus.level_db_hl)
        return replace(tone, information_bits=stimulus.information_bits)


class LateStart(MostInformative):
    """The task was not understood at first: what was answered until then is asked again."""

    why = Why.LATE_START

    def propose(self, look: Look, /) -> Steps:
        """Propose to forget the first tones if none of them was answered, heard or not; once."""
        if not look.enough or self.why in look.ear.looked_at:
            return ()
        late = look.ear.listening.late_start()
        looked = agenda.LookedAt(self.why)
        if not late:
            return (looked,)
        return looked, agenda.Allow(len(late)), agenda.Forget(late, self.why), self.ask()


class StillInPlace(StoryInDoubt):
    """The earphone seems to have moved: in silence the operator looks after it; once."""

    why = Why.STILL_IN_PLACE

    def propose(self, look: Look, /) -> Steps:
        listening = look.ear.listening
        if not look.enough or listening.looks or look.ear.heard_nothing:
            return ()
        moved = listening.moved()
        return () if moved is None else (agenda.Begin(moved), self.ask())


class InPlaceAgain(Phase):
    """The earphone was looked after: two tones that decide if it is again where it was."""

    why = Why.IN_PLACE_AGAIN

    def part(self, ear: EarTest) -> InPlace | None:
        return ear.in_place

    def finish(self, ear: EarTest) -> None:
        """Ask again what was answered since it moved, if it is where it was."""
        in_place = ear.in_place
        if in_place is None:
            return
        ear.rule.leave_out(in_place.asked)
        if in_place.as_before:
            ear.go_back(in_place.moved.began)


class Deciding(ReasonToAsk):
    """An earphone may have moved, or a press be no answer: a tone whose answer tells which."""

    why = Why.DECIDING

    def propose(self, look: Look, /) -> Steps:
        if not look.enough or look.ear.heard_nothing:
            return ()
        tone = look.ear.listening.deciding_tone()
        return () if tone is None else (self.ask(tone),)

    def take_answer(self, ear: EarTest, _observation: Observation) -> None:
        ear.decide_beside()


class WithoutAttention(MostInformative):
    """A run of tones was answered without attention: it is asked again, once."""

    why = Why.WITHOUT_ATTENTION

    def propose(self, look: Look, /) -> Steps:
        """Propose to forget the answers of such a run; to end the ear if that was done before."""
        ear, attention = look.ear, look.ear.attention
        away = attention.away(ear.evidence.tones) if look.enough else []
        if not away:
            return ()
        if attention.runs_asked_again == RUNS_AGAIN_MAX:
            count, tones = len(away) + attention.away_tones, ear.tally.tones
            return (agenda.End(Outcome.UNRELIABLE, (reason(Code.AWAY, away=count, tones=tones),)),)
        return agenda.Allow(RUN_AGAIN_TONES), agenda.Forget(away, self.why), self.ask()


class RetestDue(Phase):
    """Does 1 kHz come out again? One ascent in 5 dB steps; not in a brisk test."""

    why = Why.RETEST
    purpose = Purpose.RETEST

    def propose(self, look: Look, /) -> Steps:
        """Propose it, if its frequency has a threshold within the limits."""
        fits = look.enough and look.ear.rule.retest_fits
        retest = retest_of(look.ear.estimator, look.ear.levels) if fits else None
        return () if retest is None else (agenda.Begin(retest), self.ask())

    def part(self, ear: EarTest) -> Retest | None:
        return ear.retest

    def finish(self, ear: EarTest) -> None:
        """Free its tones; its answers count as well, so an end is judged by all of them."""
        ear.rule.retest_is_over()


class ClearTone(ReasonToAsk):
    """Does the listener attend? Tones well above the threshold; more after one was missed."""

    why = Why.CLEAR_TONE

    def propose(self, look: Look, /) -> Steps:
        attention = look.ear.attention
        if not (look.enough and attention.modelled):
            return ()
        wanted = attention.checks_wanted(look.ear.evidence.tones)
        tone = attention.next_check(wanted)
        return (agenda.ExpectChecks(wanted), *([] if tone is None else [self.ask(tone)]))

    def take_answer(self, ear: EarTest, observation: Observation) -> None:
        ear.attention.take_check(observation)


class LastTonesInDoubt(StoryInDoubt):
    """A story would leave the result in doubt for the last tones only: it is checked, too."""

    why = Why.LAST_TONES_IN_DOUBT

    def propose(self, look: Look, /) -> Steps:
        story = look.ear.listening.doubt_of_last() if look.enough else None
        return () if story is None or look.ear.heard_nothing else self.check(story)


class Confirm(Phase):
    """Chosen frequencies once more, by the classical rule, when both ears are known."""

    why = Why.CONFIRM
    purpose = Purpose.CONFIRM

    def part(self, ear: EarTest) -> Confirmation | None:
        return ear.confirmation


class WhoHears(StoryInDoubt):
    """Nothing was heard: who hears these tones? The operator, the other ear, or nobody."""

    why = Why.WHO_HEARS

    def propose(self, _look: Look, /) -> Steps:
        return ()


# The order in which they are asked: what may interrupt, and the others.
INTERRUPTS: Final[tuple[ReasonToAsk, ...]] = (StoryInDoubt(),)
REASONS_TO_ASK: Final[tuple[ReasonToAsk, ...]] = (
    Familiarise(), Bracket(), LateStart(), Deciding(), StillInPlace(), WithoutAttention(),
    RetestDue(), ClearTone(), LastTonesInDoubt(), MostInformative(),
)  # fmt: skip
# What a session has an ear begin when it is over (`session/agenda.py`).
AFTERWARDS: Final[tuple[ReasonToAsk, ...]] = (InPlaceAgain(), Confirm(), WhoHears())
BY_NAME: Final = {each.why: each for each in (*INTERRUPTS, *REASONS_TO_ASK, *AFTERWARDS)}


def about(reason: object) -> str:
    """Return when a reason asks, and what: its docstring, for a page."""
    return " ".join((reason.__doc__ or "").split())
