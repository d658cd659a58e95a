"""The confirmation: the classical rule against another implementation, and apart from the rest."""

from types import SimpleNamespace
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.ear.confirmation import Ascents, Confirmation
from firmware_py.ear.levels import Levels, no_limit
from firmware_py.terms.events import Aborted, Mask, Play
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.results import ConfirmedThreshold
from firmware_py.terms.route import Route
from firmware_py.terms.settings import STEP_UP_MAX_DB, Settings
from host_tools.research.methods.staircase import HEARS_ALL, NOT_REACHED, SETTLED, StaircaseAsha
from tests.budget import examples
from tests.session.driver import (
    AlwaysPresses,
    Driver,
    Ears,
    NeverPresses,
    flat,
    run_left_ear,
    run_to_end,
    two_ears,
)

CONFIRM: Final[dict[str, Any]] = {"confirm": "hughson-westlake"}
WORSE_LEFT: Final = two_ears(left=70.0, right=5.0)
MARKS: Final = {
    SETTLED: Outcome.MEASURED, NOT_REACHED: Outcome.NO_RESPONSE, HEARS_ALL: Outcome.HEARS_ALL,
}  # fmt: skip


def ascents(
    start_db_hl: float, known_db_hl: float = 100.0, **values: Any
) -> tuple[Ascents, Levels]:
    """The rule at 1 kHz, where a tone of `known_db_hl` was presented before."""
    levels = Levels(Route("left"), Settings(**values), no_limit)
    levels.note_tone(Presentation(Purpose.MEASURE, 1000.0, known_db_hl))
    return Ascents(1000, start_db_hl, levels), levels


def answer(run: Ascents, levels: Levels, heard: bool | None) -> None:
    tone = run.tone()
    levels.note_tone(tone)
    run.take_answer(tone.level_db_hl, heard)


def found_of(threshold_db_hl: float, run: Ascents, levels: Levels) -> ConfirmedThreshold:
    """What the rule finds of a listener with this threshold."""
    while not run.over:
        answer(run, levels, run.tone().level_db_hl >= threshold_db_hl)
    return run.result()


@settings(max_examples=examples(400))
@given(
    start=st.integers(-4, 22),
    bounds=st.sampled_from([(-10.0, 100.0), (-10.0, 40.0), (20.0, 60.0), (-7.0, 58.5)]),
    answers=st.lists(st.booleans(), min_size=20, max_size=20) | st.floats(-20.0, 110.0),
)
def test_the_rule_is_that_of_another_implementation(
    start: int, bounds: tuple[float, float], answers: list[bool] | float
) -> None:
    """Tone by tone, for any answers, and for a listener with a threshold."""
    low, high = bounds
    # A step of 0.5 dB has every level of both.
    run, levels = ascents(5.0 * start, level_min_db_hl=low, level_max_db_hl=high, level_step_db=0.5)
    reference = StaircaseAsha.run(5.0 * start, bounds)
    number = 0
    while not run.over:
        level_db_hl = reference.level_db_hl
        assert run.tone() == Presentation(Purpose.CONFIRM, 1000, level_db_hl)
        heard = level_db_hl >= answers if isinstance(answers, float) else answers[number]
        answer(run, levels, heard)
        reference.answer(heard)
        number += 1

    found = run.result()
    assert found.tones == number == reference.tones <= 20
    assert (reference.finding is None) == (found.mark == Outcome.INCOMPLETE)
    if reference.finding is None:
        assert number == 20
    else:
        measured_db_hl = reference.finding.level_db_hl if found.mark == Outcome.MEASURED else None
        assert found.mark == MARKS[reference.finding.outcome]
        assert found.threshold_db_hl == measured_db_hl


def test_an_unsure_answer_is_none_that_was_heard() -> None:
    run, levels = ascents(40.0)
    while not run.over:
        level_db_hl = run.tone().level_db_hl
        answer(run, levels, level_db_hl >= 34.0 or (None if level_db_hl >= 28.0 else False))

    assert run.result() == found_of(34.0, *ascents(40.0))
    assert run.result().threshold_db_hl == 35.0


def test_a_start_far_above_all_that_was_presented_is_climbed_to() -> None:
    run, levels = ascents(80.0, known_db_hl=0.0)
    climb_db_hl = []
    while run.tone().level_db_hl < 80.0:
        climb_db_hl.append(run.tone().level_db_hl)
        answer(run, levels, False)

    assert climb_db_hl == [20.0, 40.0, 60.0] == [STEP_UP_MAX_DB * n for n in (1, 2, 3)]


def test_a_tone_that_is_heard_on_the_climb_begins_the_rule() -> None:
    run, levels = ascents(80.0, known_db_hl=0.0)
    for heard in (False, True):
        answer(run, levels, heard)

    assert run.tone().level_db_hl == 30.0
    assert found_of(35.0, run, levels).threshold_db_hl == 35.0


@pytest.mark.parametrize("level_step_db", [1.0, 2.0, 3.4, 5.0])
def test_a_level_that_is_no_step_is_rounded_and_found_all_the_same(level_step_db: float) -> None:
    found = found_of(38.0, *ascents(50.0, level_step_db=level_step_db))

    assert found.mark == Outcome.MEASURED
    assert 38.0 <= (found.threshold_db_hl or 0.0) <= 38.0 + 5.0 + 0.5 * level_step_db


def test_who_is_never_consistent_has_no_threshold_after_the_last_tone() -> None:
    run, levels = ascents(40.0)
    heard_db_hl: set[float] = set()
    while not run.over:
        level_db_hl = run.tone().level_db_hl
        answer(run, levels, level_db_hl not in heard_db_hl)
        heard_db_hl.add(level_db_hl)

    assert run.result().mark == Outcome.INCOMPLETE
    assert run.result().tones == 20


def test_two_silences_at_the_loudest_level_are_no_response() -> None:
    run, levels = ascents(95.0)
    for _ in range(3):
        assert not run.over
        answer(run, levels, False)

    assert run.result() == ConfirmedThreshold(1000, None, Outcome.NO_RESPONSE, 3)


@pytest.mark.parametrize(("found_db_hl", "first_db_hl"), [(32.0, 40.0), (33.0, 45.0)])
def test_it_begins_10_db_above_what_was_found_in_steps_of_5(
    found_db_hl: float, first_db_hl: float
) -> None:
    _, levels = ascents(0.0)
    estimator: Any = SimpleNamespace(threshold=lambda _: (np.array([found_db_hl]), None))

    assert Confirmation([1000], estimator, levels).tone().level_db_hl == first_db_hl


def rising(ear: str, frequency_hz: float) -> float:
    return 22.0 if frequency_hz < 2000.0 else 58.0


def test_it_comes_last_and_nothing_else_rests_on_it() -> None:
    values = {"retest": True, "catch_rate": 0.0, "confirm_frequencies_hz": (4000, 500)}
    plain = run_left_ear(Ears(rising), **values)
    driver = run_left_ear(Ears(rising), **CONFIRM, **values)
    purposes = [about["purpose"] for about in driver.tells("tone")]
    found, without = driver.ear("left"), plain.ear("left")

    assert [each["frequency_hz"] for each in found["confirmed"]] == [4000, 500]
    assert [each["threshold_db_hl"] for each in found["confirmed"]] == [60.0, 25.0]
    assert {each["mark"] for each in found["confirmed"]} == {Outcome.MEASURED}
    tones = sum(each["tones"] for each in found.pop("confirmed"))
    assert without.pop("confirmed") == []
    assert found == without
    assert purposes.index(Purpose.CONFIRM) == len(purposes) - tones
    assert set(purposes[-tones:]) == {Purpose.CONFIRM}


def test_catch_trials_stand_between_its_tones_and_tell_the_estimator_nothing() -> None:
    driver = run_left_ear(Ears(rising), conduct="clinical", catch_rate=0.3, **CONFIRM)
    first = driver.tells("tone", purpose=Purpose.CONFIRM)[0]["number"]
    silences = [about for about in driver.tells("catch") if about["number"] > first]
    before = run_left_ear(Ears(rising), conduct="clinical", catch_rate=0.3)

    assert len(silences) >= 2
    beside = [about for about in driver.tells("catch") if about["number"] < first]
    assert driver.ear("left")["catch_trials"] == len(beside) + len(silences)
    assert driver.ear("left")["thresholds"] == before.ear("left")["thresholds"]
    assert len(driver.left.observations) == len(before.left.observations)


def test_both_ears_are_confirmed_when_both_are_known_with_noise_where_the_other_may_hear() -> None:
    driver = run_to_end(Settings(**CONFIRM), WORSE_LEFT, can_mask=True)
    last = max(about["number"] for about in driver.tells("tone", purpose=Purpose.MEASURE))
    noises = {a.number for a in driver.actions if isinstance(a, Mask)}
    left, right = (driver.tells("tone", purpose=Purpose.CONFIRM, ear=e) for e in ("left", "right"))

    assert min(about["number"] for about in (*left, *right)) > last
    for ear, level_db_hl in (("left", 70.0), ("right", 5.0)):
        found = driver.ear(ear)["confirmed"]
        assert [each["frequency_hz"] for each in found] == [1000, 4000]
        assert [each["threshold_db_hl"] for each in found] == [level_db_hl] * 2
    assert {about["number"] for about in left} <= noises
    assert not any(about.get("noise_db_hl") for about in right)


@pytest.mark.parametrize(
    ("listener", "outcome", "confirmed"),
    [
        (NeverPresses(), Outcome.NO_RESPONSE, {Outcome.NO_RESPONSE}),
        (flat(-99.0), Outcome.HEARS_ALL, {Outcome.HEARS_ALL}),
        (AlwaysPresses(), Outcome.UNRELIABLE, set()),
    ],
)
def test_an_ear_without_thresholds_has_none_by_the_classical_rule(
    listener: Any, outcome: Outcome, confirmed: set[Outcome]
) -> None:
    """An unreliable one is not asked."""
    found = run_left_ear(listener, **CONFIRM).ear("left")

    assert found["outcome"] == outcome
    assert {each["mark"] for each in found["confirmed"]} == confirmed
    assert {each["tones"] for each in found["confirmed"]} <= {2, 3, 4}


def test_what_was_not_ended_is_incomplete_and_the_rest_is_as_it_was() -> None:
    whole = run_to_end(Settings(**CONFIRM), WORSE_LEFT, can_mask=True)
    driver = Driver(Settings(**CONFIRM), WORSE_LEFT, can_mask=True)
    driver.run_to_tone(Purpose.CONFIRM)
    for _ in range(3):
        driver.run_until(lambda action: isinstance(action, Play))
    driver.feed(Aborted())
    (first, second) = driver.result["ears"]

    assert [each["mark"] for each in first["confirmed"]] == [Outcome.INCOMPLETE]
    assert first["confirmed"][0]["tones"] == 3
    assert second["confirmed"] == []
    for cut, ear in zip((first, second), whole.result["ears"], strict=True):
        assert cut["thresholds"] == ear["thresholds"], "masking is judged as if it were over"
        assert cut["outcome"] == ear["outcome"]
