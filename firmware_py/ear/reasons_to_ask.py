"""Which tone of an ear comes next, and why: the reasons to ask, in order.

After every answer they are tried from the first, and the first that has cause is due. What goes on,
familiarisation and retest, is interrupted by the first of them only. An ear is over when none has
cause.
"""

from collections.abc import Iterator
from typing import Final

from firmware_py.ear.asking import Look, ReasonToAsk
from firmware_py.ear.bracketing import SAME_TONE_MAX
from firmware_py.ear.caps import CHECKS_MAX, RUN_AGAIN_TONES, RUNS_AGAIN_MAX
from firmware_py.ear.ear_parts import EarParts
from firmware_py.ear.listening import story_reason
from firmware_py.ear.objective import Objective
from firmware_py.ear.retest import retest_of
from firmware_py.ear.stopping import Stop
from firmware_py.inference.stories import Told
from firmware_py.terms.outcomes import Outcome, Purpose, Why
from firmware_py.terms.presentation import SILENCE, Observation, Presentation
from firmware_py.terms.reasons import Code

ASK_ALL_SPARE_TONES: Final = 4  # for answers that were not expected, where all is to be asked
DOUBTED_TONES_MAX: Final = 2  # of an ear, before it ends, where answers leave two explanations


class StoryInDoubt(ReasonToAsk):
    """Nobody seems to listen: silences, and tones that were heard before, until somebody does."""

    why = Why.STORY_IN_DOUBT
    purpose = Purpose.CHECK

    def has_cause(self, ear: EarParts, look: Look) -> bool:
        """Begin a check, or end the ear after too many."""
        # A deaf ear falls silent at once, too: who hears its tones is asked when it is over.
        story = ear.listening.likely() if look.answered else None
        if story is None or ear.heard_nothing:
            return False
        if ear.listening.checks == CHECKS_MAX:
            why = story_reason(story, ear.measurement.tones(), ear.route)
            look.end(Stop(Outcome.UNRELIABLE, (why,)))
            return False
        return self._begin(ear, story)

    @staticmethod
    def _begin(ear: EarParts, story: Told) -> bool:
        ear.listening.begin(story, ear.measurement.tones())
        return True

    def presentation(self, ear: EarParts, _objective: Objective) -> Presentation:
        """Return the next silence or tone of the check."""
        return ear.listening.presentation()


class Familiarise(ReasonToAsk):
    """The listener learns the task: 1 kHz, 20 dB down until not heard, 10 dB up until heard."""

    why = Why.FAMILIARISE
    purpose = Purpose.FAMILIARISE

    def has_cause(self, ear: EarParts, _look: Look) -> bool:
        return self.goes_on(ear)

    def goes_on(self, ear: EarParts) -> bool:
        return not ear.familiarisation.over

    def presentation(self, ear: EarParts, _objective: Objective) -> Presentation:
        """Return its next tone."""
        return ear.familiarisation.tone()

    def take_answer(self, ear: EarParts, observation: Observation) -> None:
        """Go down or up."""
        level_db_hl = observation.presentation.level_db_hl
        ear.familiarisation.take_answer(level_db_hl, observation.heard)


class SilenceDue(ReasonToAsk):
    """Is the button pressed without a tone? Between the tones of reasons below, but for checks."""

    why = Why.SILENCE_DUE
    purpose = Purpose.CATCH

    def propose(
        self, ear: EarParts, due: ReasonToAsk | None, number: int, _objective: Objective
    ) -> Presentation | None:
        """Return a silence if one is due at this number of a presentation."""
        if due is None or due.purpose == Purpose.CHECK:
            return None
        is_due = ear.rule.needs_catches or ear.catch_trials.due(number)
        return SILENCE if is_due else None


class LimitOnceMore(ReasonToAsk):
    """A threshold may lie beyond the limit: another answer there may make it sure."""

    why = Why.LIMIT_ONCE_MORE

    def has_cause(self, ear: EarParts, look: Look) -> bool:
        """Return whether there is such a frequency, and the answers are enough otherwise."""
        self._frequency_hz = self._perhaps_beyond_hz(ear) if look.enough and look.spare else None
        return self._frequency_hz is not None

    @staticmethod
    def _perhaps_beyond_hz(ear: EarParts) -> int | None:
        """Return the frequency, None if there is none.

        Whoever hears at the limit, and misses there as well, has a threshold at the limit.
        """
        asked = ear.audiogram.asked
        for each in ear.audiogram.estimates():
            f = each.frequency_hz
            silent, heard = asked.silent_at_limit(f), asked.times_heard_at_limit(f)
            if each.mark == Outcome.INCOMPLETE and silent and silent + heard < SAME_TONE_MAX:
                return f
        return None

    def presentation(self, ear: EarParts, _objective: Objective) -> Presentation:
        assert self._frequency_hz is not None
        limit_db_hl = ear.levels.limit_db_hl(self._frequency_hz)
        return ear.levels.tone(self.purpose, self._frequency_hz, limit_db_hl)


class Bracket(ReasonToAsk):
    """A frequency is known from others only: a tone on the side of the threshold without answer.

    Where all is to be asked, it is also due when no more tones are left than that takes.
    """

    why = Why.BRACKET

    def has_cause(self, ear: EarParts, look: Look) -> bool:
        """Return whether there is such a frequency."""
        measurement, rule = ear.measurement, ear.rule
        if ear.audiogram.is_rough:
            now = False
        elif look.stop is None:
            now = ear.settings.ask_all and rule.tones_left <= self._tones_wanted(ear)
        else:
            now = look.spare
        self._tone = measurement.bracketing.next_tone(measurement.again_hz) if now else None
        return self._tone is not None

    @staticmethod
    def _tones_wanted(ear: EarParts) -> int:
        return ear.measurement.bracketing.tones_missing() + ASK_ALL_SPARE_TONES

    def presentation(self, ear: EarParts, _objective: Objective) -> Presentation:
        """Return the tone at one end of the band."""
        assert self._tone is not None
        return ear.levels.tone(self.purpose, *self._tone)

    def take_answer(self, ear: EarParts, _observation: Observation) -> None:
        assert self._tone is not None
        ear.measurement.bracketing.count_tone(self._tone[0])


class DoubtedAnswer(ReasonToAsk):
    """An answer leaves two explanations, an accident or an unusual ear: the same tone again."""

    why = Why.DOUBTED_ANSWER

    def has_cause(self, ear: EarParts, look: Look) -> bool:
        """Return whether an answer is ambiguous enough; doubt can last, so this is limited."""
        may = look.enough and look.spare and ear.measurement.doubted_tones < DOUBTED_TONES_MAX
        return may and ear.estimator.ambiguous

    def presentation(self, ear: EarParts, _objective: Objective) -> Presentation:
        """Return the tone whose answer is the most ambiguous."""
        tone = ear.measurement.most_doubted()
        return ear.levels.tone(self.purpose, tone.frequency_hz, tone.level_db_hl)

    def take_answer(self, ear: EarParts, _observation: Observation) -> None:
        ear.measurement.doubted_tones += 1


class MostInformative(ReasonToAsk):
    """The answers are not enough: the tone whose answer is expected to tell most."""

    why = Why.MOST_INFORMATIVE

    def has_cause(self, ear: EarParts, look: Look) -> bool:
        """Return whether the answers are not enough."""
        return look.stop is None

    def presentation(self, ear: EarParts, objective: Objective) -> Presentation:
        return ear.measurement.tone(objective)


class LateStart(MostInformative):
    """The task was not understood at first: what was answered until then is asked again."""

    why = Why.LATE_START

    def has_cause(self, ear: EarParts, look: Look) -> bool:
        """Forget the first tones if none of them was answered, heard or not; once an ear."""
        late = ear.listening.late_start(ear.measurement) if look.enough else []
        if late:
            ear.attention.forget(late)
            ear.rule.allow(len(late))
            ear.forget(late)
        return bool(late)


class WithoutAttention(MostInformative):
    """A run of tones was answered without attention: it is asked again, once."""

    why = Why.WITHOUT_ATTENTION

    def has_cause(self, ear: EarParts, look: Look) -> bool:
        """Forget the answers of such a run; end the ear if that was done before."""
        attention = ear.attention
        away = attention.away(ear.measurement.tones()) if look.enough else []
        if away and attention.runs_asked_again == RUNS_AGAIN_MAX:
            count, tones = len(away) + attention.away_tones, ear.tally.tones
            look.end(Stop.by(Outcome.UNRELIABLE, Code.AWAY, away=count, tones=tones))
            return False
        if away:
            attention.runs_asked_again += 1
            attention.away_tones += len(away)
            ear.rule.allow(RUN_AGAIN_TONES)
            ear.forget(away)
        return bool(away)


class RetestDue(ReasonToAsk):
    """Does 1 kHz come out again? One ascent in 5 dB steps; not in a brisk test."""

    why = Why.RETEST
    purpose = Purpose.RETEST

    def has_cause(self, ear: EarParts, look: Look) -> bool:
        """Begin it, if its frequency has a threshold within the limits."""
        if look.enough and ear.rule.retest_fits:
            ear.retest = retest_of(ear.estimator, ear.levels)
            return ear.retest is not None
        return False

    def goes_on(self, ear: EarParts) -> bool:
        return ear.retest is not None and not ear.retest.over

    def presentation(self, ear: EarParts, _objective: Objective) -> Presentation:
        """Return its next tone."""
        assert ear.retest is not None
        return ear.retest.tone()

    def take_answer(self, ear: EarParts, observation: Observation) -> None:
        """Go on with the ascent."""
        assert ear.retest is not None
        ear.retest.take_answer(observation.presentation.level_db_hl, observation.heard)

    def finish(self, ear: EarParts) -> None:
        """Free its tones; its answers count as well, so an end is judged by all of them."""
        ear.rule.retest_is_over()


class ClearTone(ReasonToAsk):
    """Does the listener attend? Tones well above the threshold; more after one was missed."""

    why = Why.CLEAR_TONE

    def has_cause(self, ear: EarParts, look: Look) -> bool:
        """Return whether one is wanted, and there is one."""
        self._tone = ear.attention.next_check(ear.measurement.tones()) if look.enough else None
        return self._tone is not None

    def presentation(self, ear: EarParts, _objective: Objective) -> Presentation:
        assert self._tone is not None
        return ear.levels.tone(self.purpose, *self._tone)

    def take_answer(self, ear: EarParts, observation: Observation) -> None:
        ear.attention.take_check(observation)


class LastTonesInDoubt(StoryInDoubt):
    """A story would leave the result in doubt for the last tones only: it is checked, too."""

    why = Why.LAST_TONES_IN_DOUBT

    def has_cause(self, ear: EarParts, look: Look) -> bool:
        """Begin a check."""
        story = ear.listening.doubt_of_last(ear.measurement.tones()) if look.enough else None
        return story is not None and not ear.heard_nothing and self._begin(ear, story)


class Confirm(ReasonToAsk):
    """Chosen frequencies once more, by the classical rule, when both ears are known."""

    why = Why.CONFIRM
    purpose = Purpose.CONFIRM

    def goes_on(self, ear: EarParts) -> bool:
        return ear.confirmation is not None and not ear.confirmation.over

    def presentation(self, ear: EarParts, _objective: Objective) -> Presentation:
        """Return its next tone."""
        assert ear.confirmation is not None
        return ear.confirmation.tone()

    def take_answer(self, ear: EarParts, observation: Observation) -> None:
        assert ear.confirmation is not None
        ear.confirmation.take_answer(observation.presentation.level_db_hl, observation.heard)


class WhoHears(StoryInDoubt):
    """Nothing was heard: who hears these tones? The operator, the other ear, or nobody."""

    why = Why.WHO_HEARS

    def has_cause(self, _ear: EarParts, _look: Look) -> bool:
        """Return that it is begun by name, when the ear is over."""
        return False


# The order in which they are tried.
REASONS_TO_ASK: Final[tuple[type[ReasonToAsk], ...]] = (
    StoryInDoubt, Familiarise, SilenceDue, LimitOnceMore, Bracket, DoubtedAnswer, LateStart,
    WithoutAttention, RetestDue, ClearTone, LastTonesInDoubt, MostInformative, Confirm, WhoHears,
)  # fmt: skip


def table_lines() -> Iterator[str]:
    """Yield the rows of the developers' page."""
    yield "| reason | when, and what is asked |"
    yield "|---|---|"
    for each in REASONS_TO_ASK:
        text, _, _ = (each.__doc__ or "").partition("\n\n")
        yield f"| `{each.why}` | {' '.join(text.split())} |"
