"""The course of a test: which ear, how each begins and ends, and what the result says."""

from typing import Any

import pytest

from firmware_py.ear.belief import give
from firmware_py.ear.course import next_presentation, take_answer
from firmware_py.ear.ear import EarTest
from firmware_py.session.boards import Boards
from firmware_py.terms import events
from firmware_py.terms.outcomes import Outcome, Purpose, SessionOutcome
from firmware_py.terms.route import Route
from firmware_py.terms.settings import CONDUCTS, Settings
from firmware_py.terms.tells import EarOverTold, FinishTold
from tests.budget import quick_rows
from tests.session.driver import (
    Driver,
    Ears,
    NeverPresses,
    flat,
    marks,
    numbers,
    run_left_ear,
    run_to_end,
    two_ears,
)

# --- Which ear -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"), quick_rows([("left", "right"), ("right", "left")], ("left", "right"))
)
def test_the_ear_named_first_is_finished_before_the_other_begins(first: str, second: str) -> None:
    driver = run_to_end(Settings(first_ear=first), two_ears(**{first: 0.0, second: 20.0}))
    began = [driver.tells("tone", ear=ear, purpose=Purpose.FAMILIARISE) for ear in (first, second)]

    assert [tones[0]["level_db_hl"] for tones in began] == [40.0, 40.0], "both rise from nothing"
    assert driver.tells("ear") == [{"ear": first}, {"ear": second}]
    assert [about["ear"] for about in driver.tells("ear-over")] == [first, second]
    assert [found["ear"] for found in driver.result["ears"]] == [first, second]


@pytest.mark.parametrize(
    ("left_db_hl", "right_db_hl", "better"),
    quick_rows(
        [(20.0, 50.0, "left"), (50.0, 20.0, "right"), (30.0, 30.0, "right"), (30.0, 999.0, "left")],
        (20.0, 50.0, "left"),
        (30.0, 30.0, "right"),
    ),
)
def test_the_better_ear_is_measured_first(
    left_db_hl: float, right_db_hl: float, better: str
) -> None:
    """Both are familiarised before; the right one counts as better when they are the same."""
    driver = run_to_end(Settings(), two_ears(left=left_db_hl, right=right_db_hl))
    course = [
        (about["ear"], about["purpose"] == Purpose.FAMILIARISE) for about in driver.tells("tone")
    ]
    other = "right" if better == "left" else "left"

    ears = [("right", True), ("left", True), (better, False), (other, False)]
    assert list(dict.fromkeys(course)) == ears


@pytest.mark.parametrize("conduct", CONDUCTS)
def test_the_second_ear_begins_with_what_the_first_told_of_the_listener(conduct: str) -> None:
    """Also where the answers to its familiarisation were given before, and count."""
    driver = Driver(Settings(conduct=conduct), two_ears(left=20.0, right=40.0))
    driver.feed(events.Started())
    driver.run_until(lambda action: isinstance(action, EarOverTold))
    first, second = driver.test.ears[Route("left")], driver.test.ears[Route("right")]
    told = [*second.evidence.given]
    expected = EarTest(Route("right"), driver.settings).estimator
    expected.expect_listener(first.estimator)
    for each in told:
        give(expected, each)

    told_by = second.evidence.listener
    assert told_by is not None
    assert (told_by.route, told_by.evidence) == (Route("left"), first.evidence)
    assert bool(told) == (conduct == "brisk")
    assert list(second.estimator.listener_shares) == list(expected.listener_shares)


# --- The phases ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "told"), [({"conduct": "clinical"}, 0), ({}, 4), ({"profile": "gp-pta-2015"}, 0)]
)
def test_the_familiarisation_has_no_catch_trials_and_counts_in_a_brisk_test(
    values: dict[str, Any], told: int
) -> None:
    """But not of a profile for research."""
    driver = Driver(Settings(**values, ears="left", catch_rate=0.5), flat(-10.0))
    driver.run_to_tone(Purpose.MEASURE)
    ear = driver.left
    counted = [o for o in ear.observations if o.presentation.purpose != Purpose.CATCH]

    assert driver.levels(Purpose.FAMILIARISE) == [40, 20, 0, -10]
    assert all(about["number"] > 4 for about in driver.tells("catch"))
    assert (ear.tally.tones, len(counted), ear.estimator.trial_count) == (4, told, told)


def test_a_test_ends_with_a_retest_at_1_khz_from_10_db_below_what_was_found() -> None:
    driver = Driver(Settings(ears="left", masking="off", retest=True), flat(30.0))
    driver.run_to_tone(Purpose.RETEST)
    mean_db_hl, _ = driver.test.ears[Route("left")].estimator.threshold([1000.0])
    driver.run()
    tones = driver.tells("tone", purpose=Purpose.RETEST)

    assert {about["frequency_hz"] for about in tones} == {1000.0}
    assert tones[0]["level_db_hl"] == pytest.approx(mean_db_hl[0] - 10.0, abs=0.5)
    assert driver.tells("answer", purpose=Purpose.RETEST)[-1]["heard"]
    assert driver.ear("left")["retest_difference_db"] == pytest.approx(0.0, abs=5.0)


def test_without_a_threshold_at_1_khz_there_is_nothing_to_retest() -> None:
    low_tones_only = Ears(lambda ear, frequency_hz: 0.0 if frequency_hz < 500 else 999.0)
    driver = run_left_ear(low_tones_only, level_max_db_hl=40.0, retest=True)
    found = driver.ear("left")

    assert found["outcome"] == Outcome.MEASURED
    assert marks(found)[1000] == Outcome.NO_RESPONSE
    assert driver.levels(Purpose.RETEST) == []
    assert found["retest_difference_db"] is None


# --- The end of the test -------------------------------------------------------------------------


def test_whoever_never_answers_is_remarked_upon() -> None:
    driver = run_to_end(Settings(), NeverPresses())

    assert driver.result["remarks"] == [{"code": "never-answered"}]
    assert driver.result["response_time_mean_ms"] is None
    assert [found["outcome"] for found in driver.result["ears"]] == [Outcome.NO_RESPONSE] * 2


def test_a_finished_test_says_so_once_and_nothing_after() -> None:
    driver = Driver(Settings(), flat(25))
    driver.run()

    assert driver.test.outcome == "complete"
    finish = FinishTold(SessionOutcome.COMPLETE, ()), events.Finish(driver.test.result())
    assert driver.actions[-3:] == [events.Silence(), *finish]
    for event in (
        events.TimePassed(),
        events.Started(),
        events.Aborted(),
        events.ButtonPressed(1),
        events.Continued(),
    ):
        assert driver.feed(event) == []


def test_the_operator_is_told_every_tone_and_answer() -> None:
    driver = run_to_end(Settings(), two_ears(left=20.0, right=40.0))
    tones, told = driver.tells("tone"), driver.tells("answer")
    presented = tones + driver.tells("catch")

    assert sorted(about["number"] for about in presented) == list(range(1, len(told) + 1))
    assert [about["number"] for about in told] == list(range(1, len(told) + 1))
    assert [(about["frequency_hz"], about["level_db_hl"]) for about in tones] == [
        (play.frequency_hz, play.level_db_hl) for play in driver.plays
    ]
    assert [about["ear"] for about in driver.tells("ear-over")] == ["left", "right"]


def test_an_ear_without_answers_has_no_thresholds() -> None:
    """The prior says something about every ear, but nothing about this one."""
    driver = Driver(Settings(level_max_db_hl=40.0), flat(25))
    driver.feed(events.Started())
    driver.feed(events.Aborted())

    for found in driver.result["ears"]:
        assert set(marks(found).values()) == {Outcome.INCOMPLETE}
        assert numbers(found) == {None}
    assert driver.result["remarks"] == []


def test_what_was_measured_before_an_abort_is_kept() -> None:
    driver = Driver(Settings(first_ear="left"), flat(25))
    driver.feed(events.Started())
    driver.run_until(lambda action: isinstance(action, EarOverTold))
    before = driver.test.result().to_record()["ears"]
    driver.run_to_tone(Purpose.MEASURE)
    driver.feed(events.Aborted())

    assert driver.ear("left") in before
    assert driver.ear("left")["outcome"] == Outcome.MEASURED
    assert driver.ear("right")["outcome"] == Outcome.INCOMPLETE


# --- Which tone -----------------------------------------------------------------------------------


def test_what_is_known_well_enough_is_not_asked_again() -> None:
    settings = Settings(ears="left", catch_rate=0.0, retest=False, stop_half_width_db=8.0)
    ear = EarTest(Route("left"), settings)
    looked = 0
    while not ear.over:
        presentation = next_presentation(ear, 1)
        chosen = presentation.information_bits is not None
        if chosen and ear.audiogram.settled_hz():
            looked += 1
            assert presentation.frequency_hz not in ear.audiogram.settled_hz()
        take_answer(ear, presentation, presentation.level_db_hl > 40.0)

    assert looked > 3
    assert ear.tally.tones - ear.attention.checks_asked < 34, "the cap"


def test_ten_tone_generators_of_an_ear_are_told_and_no_more() -> None:
    boards, left = Boards(), Route("left")
    for serial in range(12):
        boards.now = f"pico {serial}"
        boards.take_answer(left)

    assert boards.of(left) == tuple(f"pico {serial}" for serial in range(10))
