"""Whether anybody listens to one ear's tones, and what the test does when that is in doubt.

The estimator tells how probable it is that the listener fell silent, presses whatever is played, or
presses without any relation to the tones. The test breaks off, tells the operator, and checks: with
a tone that was clearly heard before, or with silences and such tones in turn. When that is passed,
at the operator's word, or after a minute, what the story explains away is asked again. After two
such checks the ear ends without a result. If nobody passes, and what was answered before the story
began was enough, the ear ends with that.
"""

from typing import Final

from firmware_py.ear.belief import Belief
from firmware_py.ear.caps import CHECKS_MAX
from firmware_py.ear.levels import Levels, near
from firmware_py.ear.marks import Marks
from firmware_py.inference.elementary import log
from firmware_py.inference.stories import ACCIDENT, Story, Suspicion, change_of_listener
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import SILENCE, Observation, Presentation
from firmware_py.terms.reasons import Code, Reason, Reasons, reason, reason_by
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings

LIKELY: Final = 0.95  # a story that is so probable breaks off the test
DOUBTED: Final = 0.2  # one that is so probable at the end leaves the result in doubt
# Tones at the beginning that were missed, heard or not, because the task was not understood.
LATE_TONES_MIN: Final = 4
LATE_TONES_MAX: Final = 14
LOG_LATE: Final = log(0.02)  # of sessions
LAST_TONES_MAX: Final = 12  # a doubt about so few is settled before the ear ends
CHECK_US_MAX: Final = 60_000_000  # then the test goes on by itself


class Check:
    """A check: a tone that was heard before, and silences before it where a story is of presses.

    `story`: what it is about; None: of nothing that the listener does, or it is over.
    """

    def __init__(self, frequency_hz: float, level_db_hl: float, story: Suspicion | None) -> None:
        self.frequency_hz, self.level_db_hl, self.story = frequency_hz, level_db_hl, story
        self._silence_due = story is not None and story.story != Story.SILENT
        self._silence_kept = not self._silence_due

    def presentation(self, levels: Levels) -> Presentation:
        if self._silence_due:
            return SILENCE
        return levels.tone(Purpose.CHECK, self.frequency_hz, self.level_db_hl)

    def take_answer(self, presentation: Presentation, heard: bool | None) -> bool:
        if self.story is None:
            return False  # who presses is not known: the operator has to say who hears it
        if presentation.purpose == Purpose.CATCH:
            self._silence_kept, self._silence_due = heard is False, False
            return False
        passed = heard is not False and self._silence_kept
        self._silence_due = self.story.story != Story.SILENT
        return passed


class Listening:
    """The checks of one ear."""

    def __init__(self, settings: Settings, belief: Belief, levels: Levels) -> None:
        self._settings = settings
        self._belief = belief
        self._levels = levels
        self.check = self._familiar(None)  # the one under way, or the last
        self.checks = 0  # that were begun
        self.why: Reasons = ()  # of the last one, for the operator
        self.last_why: Reasons = ()  # of the last one about the listener
        self.equipment_asked = False  # whether the operator was asked who hears its tones
        self.equipment_heard_by = ""  # "operator" or "other-ear", by their word; "": nobody
        # Nobody passed, and the answers to so many tones had been enough: the ear ended by them.
        self.kept_tones: int | None = None
        self.change: Suspicion | None = None  # of the listener; None: nothing made one look

    @property
    def story(self) -> Suspicion | None:
        return self.check.story

    def _familiar(self, story: Suspicion | None) -> Check:
        familiar_hz = self._levels.route.kind.familiar_hz
        return Check(familiar_hz, self._settings.familiar_level_db_hl, story)

    def likely(self) -> Suspicion | None:
        return self.probable(LIKELY)

    def probable(self, least: float) -> Suspicion | None:
        """Return the most probable story if all together are so probable, None otherwise."""
        stories = self._belief.estimator.stories
        if sum(each.probability for each in stories) < least:
            return None  # nearly always: the answers need not be gone through
        if self.equipment_heard_by:  # silence is no story any more: the ear was deaf
            stories = [each for each in stories if each.story != Story.SILENT]
        if self._may_be_heard_across():  # presses that nothing explains are the other ear's
            stories = [each for each in stories if each.story == Story.SILENT]
        if sum(each.probability for each in stories) < least:
            return None
        return max(stories, key=lambda each: each.probability)

    def doubt_of_last(self) -> Suspicion | None:
        """Return a story that leaves the last tones only in doubt: they are soon asked again."""
        story, tones = None if self.checks == CHECKS_MAX else self.probable(DOUBTED), self._tones
        return story if story and len(tones) - story.began <= LAST_TONES_MAX else None

    @property
    def _tones(self) -> list[Observation]:
        return self._belief.evidence.tones

    def _may_be_heard_across(self) -> bool:
        """Return whether a tone needed noise and had none, or noise silenced what was heard."""
        answers = self._belief.evidence.observations
        unmasked = any(each.cover.why and each.cover.noise_db_hl is None for each in answers)
        return unmasked or Marks(self._levels, answers).moves_with_noise()

    def late_start(self) -> list[Observation]:
        """Return the first tones if the listener probably answered none of them, heard or not.

        Some do not understand the task at once. What comes before the first press, or before the
        second, is held against the same answers of an ear.
        """
        tones, evidence = self._tones, self._belief.evidence
        pressed = [place for place, each in enumerate(tones) if each.heard is not False]
        usual = self._belief.estimator.log_evidence
        for missed in pressed[1::-1]:  # one of them may be an accident
            count = sum(each.heard is False for each in tones[:missed])
            if count >= LATE_TONES_MIN and missed <= LATE_TONES_MAX:
                accidents = missed - count
                story = LOG_LATE + count * log(1.0 - ACCIDENT) + accidents * log(ACCIDENT)
                rest = evidence.without(tones[:missed])
                story += self._belief.suppose(rest, lambda estimator: estimator.log_evidence)
                if story >= usual:
                    return tones[:missed]
        return []

    def change_of(self, answers: list[Observation]) -> Suspicion | None:
        """Return whether the answers of an ear that is known are better explained by two listeners.

        All are gone through twice: that is for answers that surprise. What was forgotten because
        nobody seemed to attend may be the first one's.
        """
        unless = None if self._settings.familiarisation_counts else Purpose.FAMILIARISE
        tones = [each for each in answers if each.presentation.purpose != unless]
        if self._may_be_heard_across() or len(tones) > self._belief.estimator.max_trials:
            return None
        return change_of_listener(*self._belief.log_evidence_around(tones))

    def begin(self, story: Suspicion) -> None:
        tones = self._tones
        self.checks += 1
        self.check = check = self._familiar(story)
        self.why = self.last_why = (story_reason(story, tones, self._levels.route),)
        # What was heard before is heard again, if anybody listens; and it is no louder: what was
        # faint at another frequency may hurt at this one.
        before = [each.presentation for each in tones[: story.began] if each.heard is not False]
        familiar = [each for each in before if near(each.frequency_hz, [check.frequency_hz])]
        if familiar:
            check.level_db_hl = max(check.level_db_hl, *(each.level_db_hl for each in familiar))
        elif before:
            check.frequency_hz, check.level_db_hl = before[-1].frequency_hz, before[-1].level_db_hl

    def begin_with_equipment(self) -> None:
        self.equipment_asked, self.check = True, self._familiar(None)
        self.why = (reason_by(self._levels.route, Code.WHO_HEARS),)

    def end(self) -> Suspicion:
        story, self.check.story = self.story, None
        assert story is not None
        return story


def story_reason(story: Suspicion, tones: list[Observation], route: Route) -> Reason:
    """Say what seems to have happened, and what to look after: by this route."""
    began = story.began
    match story.story:
        case Story.SILENT if began:
            return reason_by(route, Code.FELL_SILENT_SINCE, count=len(tones) - began, began=began)
        case Story.SILENT:
            return reason_by(route, Code.FELL_SILENT, count=len(tones))
        case Story.PRESSING if began:
            return reason(Code.PRESSES_ANYWAY_SINCE, began=began)
        case Story.PRESSING:
            return reason(Code.PRESSES_ANYWAY)
        case Story.CHANGED:
            return reason_by(route, Code.ANOTHER_LISTENER, began=began + 1)
    return reason(Code.PRESSES_UNRELATED)
