"""Whether anybody listens to one ear's tones, and what the test does when that is in doubt.

The estimator tells how probable it is that the listener fell silent, presses whatever is played, or
presses without any relation to the tones. The test breaks off, tells the operator, and checks: with
a tone that was clearly heard before, or with silences and such tones in turn. When that is passed,
at the operator's word, or after a minute, what the story explains away is asked again. After two
such checks the ear ends without a result. If nobody passes, and what was answered before the story
began was enough, the ear ends with that.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from firmware_py.ear.belief import Belief
from firmware_py.ear.caps import CHECKS_MAX, DECIDING_TONES_MAX
from firmware_py.ear.evidence import Evidence, Item
from firmware_py.ear.in_place import InPlace
from firmware_py.ear.levels import Levels, near
from firmware_py.ear.marks import Marks
from firmware_py.ear.otherwise import Explanations, Otherwise, probability_of
from firmware_py.inference.elementary import log
from firmware_py.inference.kernel import Array
from firmware_py.inference.stories import ACCIDENT, Story, Suspicion, change_of_listener
from firmware_py.terms.outcomes import Purpose, Why
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
# A pitch may be any of seven, and a normal ear has no tones far enough below the threshold to tell.
DOUBTED_PITCH: Final = 0.3
CHECK_US_MAX: Final = 60_000_000  # then the test goes on by itself
# What is so probable may be asked about, by so many tones of which the answers tell.
PERHAPS: Final = 0.04
DECIDED_NOISES: Final = 2.0  # thresholds that differ so much can be told from one another
MOSTLY: Final = 0.4  # of the tones
FAR_BELOW_DB: Final = 25.0  # a threshold: nobody hears that
BELOW_NOISES: Final = 2.5  # or so many SDs of the response noise, if it can be no softer
CLEAR_DB: Final = 15.0  # louder: heard by who notices only what is louder, too
LOUDER_DB: Final = 2.0  # than another tone, so that this is sure


class Check:
    """A check: a tone that was heard before, and silences before it where a story is of presses.

    `story`: what it is about; None: of nothing that the listener does, or it is over.
    """

    def __init__(self, frequency_hz: float, level_db_hl: float, story: Suspicion | None) -> None:
        self.frequency_hz, self.level_db_hl, self.story = frequency_hz, level_db_hl, story
        self._silence_due = story is not None and story.story != Story.SILENT
        self._silence_kept = not self._silence_due

    def presentation(self, levels: Levels) -> Presentation:
        if self._silence_due or self.moved:
            return SILENCE
        return levels.tone(Purpose.CHECK, self.frequency_hz, self.level_db_hl)

    @property
    def moved(self) -> bool:
        """Return whether it is about the earphone: in silence the operator looks after it."""
        return self.story is not None and self.story.story == Story.MOVED

    def take_answer(self, presentation: Presentation, heard: bool | None) -> bool:
        if self.story is None or self.moved:
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
        self.looks = 0  # after the earphone
        self.across = False  # by bone: the way or noise may take some dB away
        self.deciding_asked = 0  # tones about what may have been otherwise
        self._otherwise: tuple[Evidence, list[Otherwise]] | None = None

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

    def otherwise(self) -> list[Otherwise]:
        """Return what may have been otherwise, the most probable first.

        Where the other ear may have answered, that is no story of this ear alone. What is
        improbable is no less so after clear tones that were heard. A look changes nothing: an
        operator may look at any time, and no replay knows of it.
        """
        if self._otherwise is not None and self._tells_no_more(*self._otherwise):
            return self._otherwise[1]
        estimator = self._belief.estimator
        modelled = len(estimator.listener_shares) > 1
        if not modelled or self._may_be_heard_across():
            return []
        explanations, by_bone = Explanations(estimator, self._tones), self._levels.route.by_bone
        found = explanations.all(by_bone=by_bone, across=self.across)
        return sorted(found, key=lambda each: -each.log_odds)

    def _tells_no_more(self, known: Evidence, found: list[Otherwise]) -> bool:
        new = self._belief.evidence.new_since(known)
        if new is None:
            return False
        return not new or (probability_of(found) < PERHAPS and all(map(_is_clear_and_heard, new)))

    def doubted_otherwise(self) -> Otherwise | None:
        """Return what leaves the result in doubt."""
        found = self.otherwise()
        least = DOUBTED_PITCH if found and found[0].story == Story.PITCH else DOUBTED
        return found[0] if probability_of(found) >= least else None

    def moved(self) -> Otherwise | None:
        """Return how the earphone seems to have moved, None: it does not."""
        doubted = self.doubted_otherwise()
        return doubted if doubted is not None and doubted.story == Story.MOVED else None

    @property
    def may_decide(self) -> bool:
        """Return whether more tones may be asked beside those that the cap counts.

        None where skull or noise may take away as much as a vibrator that slipped.
        """
        return self.deciding_asked < DECIDING_TONES_MAX and not self.across

    def deciding_tone(self) -> tuple[float, float] | None:
        """Return frequency and level of a tone that tells if something was otherwise."""
        found = self.otherwise()
        self._otherwise = self._belief.evidence, found
        probability = probability_of(found)
        if not (self.may_decide and PERHAPS <= probability < LIKELY):
            return None
        story = found[0]
        at_hz = self._frequencies_of(story)
        if not at_hz:
            return None
        if story.share == 0.0:
            return self._tone_between(story, at_hz)
        # What is mostly pressed unheard tells by a press; what seldom is, by a silence.
        if story.share > MOSTLY:
            return self._unheard_tone(at_hz) or self._tone_between(story, at_hz)
        return self._tone_between(story, at_hz) or self._unheard_tone(at_hz)

    def _tone_between(self, story: Otherwise, at_hz: Sequence[float]) -> tuple[float, float] | None:
        """Return one half way between the thresholds as they are believed, and by a story.

        None if they differ nowhere by so much that an answer tells. Where a louder tone has to come
        before, that is the one.
        """
        estimator = self._belief.estimator
        believed_db_hl, _ = estimator.threshold(at_hz)
        told_db_hl = self._thresholds_by(story, at_hz) + story.softer_db
        place = int(np.argmax(np.abs(told_db_hl - believed_db_hl)))
        differs_db = float(told_db_hl[place] - believed_db_hl[place])
        if abs(differs_db) < DECIDED_NOISES * estimator.hyperparameters.response_noise_db:
            return None
        above_db = 0.5 * differs_db
        if story.story == Story.RISING and self._last_above_db() < above_db + LOUDER_DB:
            above_db += CLEAR_DB
        level_db_hl = float(believed_db_hl[place]) + above_db
        return at_hz[place], self._levels.within_db_hl(at_hz[place], level_db_hl)

    def _thresholds_by(self, story: Otherwise, at_hz: Sequence[float]) -> Array:
        """Return the means of the thresholds had things been as a story says."""
        supposed = story.softer, story.pressed_unheard
        return self._belief.estimator.threshold_otherwise(*supposed, at_hz)

    def _last_above_db(self) -> float:
        last = self._tones[-1].presentation
        (mean_db_hl,), _ = self._belief.estimator.threshold([last.frequency_hz])
        return last.level_db_hl - float(mean_db_hl)

    def _unheard_tone(self, at_hz: Sequence[float]) -> tuple[float, float] | None:
        """Return one far below the threshold, None if it cannot be so soft."""
        mean_db_hl, _ = self._belief.estimator.threshold(at_hz)
        highest_db_hl, frequency_hz = max(zip(mean_db_hl.tolist(), at_hz, strict=True))
        level_db_hl = max(highest_db_hl - FAR_BELOW_DB, self._levels.floor_db_hl(frequency_hz))
        below_db = highest_db_hl - level_db_hl
        least_db = BELOW_NOISES * self._belief.estimator.hyperparameters.response_noise_db
        return (frequency_hz, level_db_hl) if below_db >= least_db else None

    def _frequencies_of(self, story: Otherwise) -> list[float]:
        """Return the frequencies of which a story tells: those of everybody, or what was asked."""
        kind = self._levels.route.kind
        low_hz, high_hz = self._belief.estimator.frequency_range_hz
        usual = [f for f in self._levels.frequencies_hz if f not in kind.inter_octave_hz]
        found: list[float] = [f for f in usual if low_hz <= f <= high_hz]
        asked = dict.fromkeys(each.presentation.frequency_hz for each in self._tones)
        left_out_hz = self._levels.left_out_hz
        return [f for f in found or asked if story.holds(f) and f not in left_out_hz]

    def in_place(self, moved: Otherwise) -> InPlace:
        """Return the tones that decide if it is where it was, where thresholds are known best."""
        at_hz = self._frequencies_of(moved)
        _, sd_db = self._belief.estimator.threshold(at_hz)
        before_db_hl = self._thresholds_by(moved, at_hz).tolist()
        known = sorted(zip(sd_db.tolist(), at_hz, before_db_hl, strict=True))
        return InPlace(moved, [(f, level) for _, f, level in known], self._levels)

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

    def begin_look(self, moved: Otherwise) -> None:
        """Let the operator look after the earphone."""
        probability = probability_of([moved])
        self.check = self._familiar(Suspicion(Story.MOVED, probability, moved.began))
        self.why = self.last_why = (otherwise_reason(moved, self._levels.route),)
        self.looks += 1

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


def _is_clear_and_heard(item: Item) -> bool:
    """Return whether it is that, or a pause without a press."""
    if isinstance(item, bool):
        return not item
    return item.heard is True and item.presentation.why == Why.CLEAR_TONE


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


def otherwise_reason(found: Otherwise, route: Route) -> Reason:
    """Say what may have been otherwise, and what to do about it: by this route."""
    began, by_db = found.began + 1, round(abs(found.softer_db))
    match found.story:
        case Story.PITCH:
            return reason(Code.NEAR_A_PITCH, frequency_hz=found.pitch_hz)
        case Story.CUE:
            return reason(Code.ANSWERS_UNHEARD)
        case Story.RISING:
            return reason(Code.ONLY_LOUDER)
    low_hz, high_hz = found.region_hz
    if found.softer_db > 0.0 and low_hz == 0.0 and high_hz < math.inf:
        return reason(Code.LEAKS, began=began, by_db=by_db, below_hz=round(high_hz))
    code = Code.MOVED_POORER if found.softer_db > 0.0 else Code.MOVED_BETTER
    return reason_by(route, code, began=began, by_db=by_db)
