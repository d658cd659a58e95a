"""The course of an ear's test: what to present next, and what an answer leads to.

Familiarisation, measurement and retest follow each other, and after both ears a confirmation if it
is wanted; catch trials stand between their tones.

An answer is True (heard), False (silence) or None (unsure, where there is a button for that). What
unsure means outside the estimator, each phase says.
"""

from dataclasses import replace

from firmware_py.ear.agenda import Ask, Begin, End, take_first
from firmware_py.ear.caps import CHECKS_MAX
from firmware_py.ear.ear import EarTest
from firmware_py.ear.objective import BITS, Objective
from firmware_py.ear.reasons_to_ask import BY_NAME, INTERRUPTS, REASONS_TO_ASK, Look
from firmware_py.inference.stories import Story, Suspicion
from firmware_py.terms.events import OTHER_EAR
from firmware_py.terms.outcomes import Outcome, Purpose, Why
from firmware_py.terms.presentation import NO_COVER, SILENCE, Cover, Observation, Presentation
from firmware_py.terms.reasons import Reasons


def next_presentation(ear: EarTest, number: int, objective: Objective = BITS) -> Presentation:
    """Return what to present of an ear that is not over; `number` counts those of the session.

    A pure function of the answers so far: asked twice, it says the same.
    """
    assert ear.due is not None, "there is something to present"
    due = BY_NAME[ear.due.why]
    if due.silences and (ear.rule.needs_catches or ear.catch_trials.due(number)):
        return SILENCE
    return replace(due.presentation(ear, objective), why=due.why)


def take_answer(
    ear: EarTest,
    presentation: Presentation,
    heard: bool | None,
    cover: Cover = NO_COVER,
    pressed: bool | None = None,
) -> None:
    """Take the answer to a presentation into account; None: the listener was unsure.

    `cover`: how the other ear was kept from hearing it; `pressed`: what the pauses before it told,
    see `SilentTime.take`.
    """
    if ear.phase == Purpose.CHECK:
        ear.levels.note_tone(presentation)
        if ear.listening.check.take_answer(presentation, heard):
            end_check(ear, passed=True)
        return
    observation = Observation(presentation, heard, cover)
    if presentation.purpose == Purpose.CATCH:
        ear.catch_trials.take_answer(heard)
    else:
        ear.levels.note_tone(presentation)
        ear.catch_trials.tone_presented()
    if ear.phase == Purpose.CONFIRM:  # no other number rests on its answers
        _give(ear, observation)
        if not _goes_on(ear):
            ear.due = None
        return
    ear.count(observation, pressed)
    _give(ear, observation)
    _choose(ear)


def _give(ear: EarTest, observation: Observation) -> None:
    """Give an answer to the reason that it was asked for; that to a silence is of none."""
    if observation.presentation.purpose != Purpose.CATCH and ear.due is not None:
        BY_NAME[ear.due.why].take_answer(ear, observation)


def _goes_on(ear: EarTest) -> bool:
    return ear.due is not None and BY_NAME[ear.due.why].goes_on(ear)


def _choose(ear: EarTest, *, answered: bool = True) -> None:
    """Find what is due now, or that the ear is over; `answered`: what counts was answered."""
    look = Look(ear, answered)
    if take_first(INTERRUPTS, look, ear.do) or _goes_on(ear):
        if ear.listening.kept_tones is not None:
            _look_for_change(ear)
        return
    if ear.due is not None:
        BY_NAME[ear.due.why].finish(ear)
    stop = look.stop
    ear.rule.cap = stop.cap if stop is not None and stop.cap else ear.rule.cap
    if not take_first(REASONS_TO_ASK, look, ear.do):
        ear.due = None
        if look.enough:
            _look_for_change(ear)
    elif ear.phase != Purpose.RETEST:
        return
    if stop is not None:
        ear.outcome, ear.why = stop.outcome, stop.why


def _look_for_change(ear: EarTest) -> None:
    """See once whether somebody else answered from a tone on: what is asked later has noise."""
    listening, attention = ear.listening, ear.attention
    surprised = listening.checks or attention.runs_asked_again or attention.clear().missed
    if surprised and attention.modelled and listening.change is None:
        listening.change = listening.change_of(attention.answers)


def end_check(ear: EarTest, passed: bool = False) -> None:
    """Go on after a check: ask again what its story explains away, if there may be more checks."""
    listening = ear.listening
    if listening.story is None:
        ear.due = None
        return
    moved = listening.moved() if listening.check.moved else None
    why, story = listening.why, listening.end()
    if moved is not None:
        ear.do(Begin(listening.in_place(moved)))
        ear.do(Ask(Why.IN_PLACE_AGAIN, Purpose.MEASURE))
        return
    if passed and ear.silent_with_noise and story.story == Story.SILENT:
        listening.equipment_heard_by = OTHER_EAR  # somebody listens: the silence is this ear's
    elif not passed and (end := _end_unpassed(ear, story, why)) is not None:
        ear.do(end)
        if ear.listening.kept_tones is not None:
            _look_for_change(ear)
        return
    else:
        ear.go_back(story.began)
    _choose(ear, answered=False)


def _end_unpassed(ear: EarTest, story: Suspicion, why: Reasons) -> End | None:
    last = ear.listening.checks == CHECKS_MAX
    return ear.end_before(story) or (End(Outcome.UNRELIABLE, why) if last else None)
