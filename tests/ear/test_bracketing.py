"""One accident places no threshold: what depends on one answer is asked once more."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pytest

from firmware_py.ear.agenda import Ask
from firmware_py.ear.caps import DECIDING_TONES_MAX
from firmware_py.ear.course import take_answer
from firmware_py.ear.ear import EarTest
from firmware_py.ear.levels import AudiogramHz, usual_hz
from firmware_py.ear.reasons_to_ask import Bracket, Look
from firmware_py.ear.stopping import Stop
from firmware_py.ear.threshold_estimates import Estimate
from firmware_py.terms.outcomes import Outcome, Purpose, Why
from firmware_py.terms.presentation import NO_COVER, Observation, Presentation
from firmware_py.terms.route import AIR, BONE, BY_BONE, Route
from firmware_py.terms.settings import Settings

Answers = Sequence[tuple[float, float, bool]]
PRESSED_ONCE: Final = [(1000.0, 32.0, False), (1000.0, 38.0, True), (1000.0, 33.0, False)]
SILENT_ONCE: Final = [
    (1000.0, 60.0, True), (1000.0, 56.0, True), (1000.0, 50.0, False), (1000.0, 0.0, False),
]  # fmt: skip


def ear_after(
    answers: Answers, transducer: str = AIR, audiogram_hz: AudiogramHz = usual_hz
) -> EarTest:
    """An ear that gave these answers (Hz, dB HL, heard)."""
    ear = EarTest(Route("left", transducer), Settings(), audiogram_hz=audiogram_hz)
    for frequency_hz, level_db_hl, heard in answers:
        tone = Presentation(Purpose.MEASURE, frequency_hz, level_db_hl)
        ear.observe(Observation(tone, heard, NO_COVER))
        ear.levels.note_tone(tone)
    return ear


def at_1_khz(ear: EarTest) -> Estimate:
    return next(each for each in ear.audiogram.estimates() if each.frequency_hz == 1000)


@pytest.mark.parametrize(
    ("answers", "end"),
    [
        (PRESSED_ONCE, "high_db_hl"),
        ([*PRESSED_ONCE, (1000.0, 80.0, True)], "high_db_hl"),  # that is far above
        ([*PRESSED_ONCE, (1000.0, 40.0, True)], None),
        (SILENT_ONCE, "low_db_hl"),
        ([*SILENT_ONCE, (1000.0, 45.0, False)], None),
    ],
)
def test_a_second_answer_is_asked_for_at_the_end_of_a_band_that_depends_on_one(
    answers: Answers, end: str | None
) -> None:
    ear = ear_after(answers)
    known = at_1_khz(ear)

    assert known.mark == Outcome.MEASURED
    wanted = None if end is None else (1000, getattr(known, end))
    assert ear.bracketing.second_tone() == wanted


@pytest.mark.parametrize(
    ("decided", "asked"), [(DECIDING_TONES_MAX - 1, True), (DECIDING_TONES_MAX, False)]
)
def test_a_second_answer_is_asked_for_beside_the_cap(
    decided: int, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ear = ear_after(PRESSED_ONCE)
    ear.tally.tones, ear.listening.deciding_asked = ear.settings.tones_max, decided
    monkeypatch.setattr(ear.bracketing, "next_tone", lambda _: None)
    stop = Stop(Outcome.MEASURED, (), enough=True)
    monkeypatch.setattr(ear.rule, "judge", lambda: stop)
    steps = Bracket().propose(Look(ear))
    assert bool(steps) is asked

    ear.do(Ask(Why.BRACKET, Purpose.MEASURE, (1000.0, 45.0)))
    left = ear.rule.tones_left
    take_answer(ear, Presentation(Purpose.MEASURE, 1000.0, 45.0), True)
    assert (ear.listening.deciding_asked, ear.rule.tones_left) == (decided + 1, left)


def test_by_bone_one_answer_is_enough() -> None:
    assert ear_after(PRESSED_ONCE, BONE).bracketing.second_tone() is None


def test_at_6_khz_by_bone_air_tells_too_little_for_that() -> None:
    pressed_once = [(6000.0, level_db_hl, heard) for _, level_db_hl, heard in PRESSED_ONCE]
    ear = ear_after(pressed_once, BONE, lambda _: (*BY_BONE.frequencies_hz, 6000))
    wanted = ear.bracketing.second_tone()
    assert wanted is not None
    assert wanted[0] == 6000


@pytest.mark.parametrize(("moved_db", "depends"), [(5.9, False), (6.1, True), (-6.1, True)])
def test_a_threshold_depends_on_what_moves_it_by_more_than_6_db(
    moved_db: float, depends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ear = ear_after(PRESSED_ONCE)
    mean_db_hl = at_1_khz(ear).mean_db_hl

    def without(*_: Any) -> Any:
        return np.array([mean_db_hl + moved_db])

    monkeypatch.setattr(ear.estimator, "threshold_otherwise", without)

    assert bool(ear.audiogram.on_one_answer(heard=True)) is depends


def test_a_clear_tone_is_asked_first_where_one_tone_was_heard() -> None:
    levels_db_hl = (30.0, 20.0, 14.0, 12.0)
    twice = [(f, level, level >= 20.0) for f in (1000.0, 2000.0) for level in levels_db_hl]
    ear = ear_after([*twice, (4000.0, 45.0, True), (4000.0, 38.0, False), (4000.0, 36.0, False)])
    asked = []
    for _ in range(3):
        tone = ear.attention.next_check(5)
        assert tone is not None
        asked.append(tone[0])
        ear.attention.take_check(Observation(Presentation(Purpose.MEASURE, *tone), True, NO_COVER))

    assert asked == [4000, 1000, 2000]
