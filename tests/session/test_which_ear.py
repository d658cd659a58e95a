"""Which ear is which: a clear tone, the question in which ear it is, and what comes of the word."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.simulator.audiograms import audiogram_named
from device.simulator.earphones import Worn
from device.simulator.head import Head
from device.simulator.hearing import Operators, SimulatedTest
from device.simulator.listener import SimulatedListener
from device.simulator.operator import NOBODY
from firmware_py.presenting.presenter import PAUSED
from firmware_py.sessions.attendance import check_of, why_checked
from firmware_py.terms import events
from firmware_py.terms.outcomes import UNSURE, Purpose, Verdict, WhichEar
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.results import SessionResult
from firmware_py.terms.route import LEFT, OTHER, RIGHT, Route
from firmware_py.terms.settings import Settings
from firmware_py.terms.tells import EarCheckTold, EarphonesTold, EarTold
from tests.budget import examples, quick
from tests.session.driver import Driver, Listener, NeverPresses, S, flat, two_ears

# Of a test whose thresholds nobody looks at closely.
BRIEF: dict[str, Any] = {"stop_half_width_db": 30.0, "tones_max": 20}
CHECKED = Settings(ear_check=True, **BRIEF)


class Silent(Operators):
    def take_in(self, action: events.Action, now_us: int) -> None:
        """Let nothing be said by itself."""


class Asked(Driver):
    """A test whose operator says what the story says, and nothing by itself."""

    def __init__(self, listener: Listener | None = None, **values: Any) -> None:
        super().__init__(Settings(**{"ear_check": True, **BRIEF, **values}), listener)
        self.operators = Silent(self.board.listener, NOBODY)

    def until_asked(self) -> str:
        """Run until the operator is asked, and return the ear in which the tone is."""
        self.run_until(lambda action: isinstance(action, EarCheckTold))
        return self.plays[-1].route.ear

    def say(self, named: str) -> list[events.Action]:
        return self.feed(events.EarNamed(named), after_us=1)

    def checks(self) -> list[tuple[str, float]]:
        return [(t["ear"], t["level_db_hl"]) for t in self.tells("tone", purpose=Purpose.CHECK)]


def has_begun(actions: Sequence[events.Action]) -> bool:
    return any(isinstance(action, EarTold) for action in actions)


def run_to_first_ear(driver: Driver) -> None:
    driver.run_until(lambda action: isinstance(action, EarTold))


# The tone


@pytest.mark.parametrize("threshold_db_hl", [-5.0, 25.0, 40.0])
def test_a_test_of_two_ears_begins_with_one_familiar_tone(threshold_db_hl: float) -> None:
    driver = Asked(flat(threshold_db_hl))
    ear = driver.until_asked()

    assert driver.checks() == [(ear, 40.0)]
    assert driver.tells("ear-check") == [{"why": reason(Code.WHICH_EAR)}]
    assert check_of(driver.test) == "ear"


def test_the_ear_is_chosen_by_chance_from_the_seed() -> None:
    ears = [Asked(seed=seed).until_asked() for seed in range(40)]

    assert 10 < ears.count(LEFT) < 30
    assert ears[:5] == [Asked(seed=seed).until_asked() for seed in range(5)]


def test_it_becomes_louder_in_both_ears_in_turn_until_one_hears_it_and_then_is_clear() -> None:
    driver = Asked(two_ears(left=65.0, right=95.0), seed=1)
    assert driver.until_asked() == LEFT
    driver.run_to_tone()

    assert [level for _, level in driver.checks()] == [40, 40, 50, 50, 60, 60, 70, 80]
    assert [ear for ear, _ in driver.checks()][:4] == [LEFT, RIGHT, LEFT, RIGHT]
    assert {ear for ear, level in driver.checks() if level >= 70} == {LEFT}


@settings(max_examples=examples(10))
@given(st.sampled_from([60.0, 73.0, 100.0]), st.integers(0, 100), st.sampled_from([1.0, 5.0]))
def test_it_is_never_above_its_limit_and_goes_on_if_nobody_hears_it(
    limit_db_hl: float, seed: int, step_db: float
) -> None:
    driver = Asked(NeverPresses(), level_max_db_hl=limit_db_hl, seed=seed, level_step_db=step_db)
    run_to_first_ear(driver)
    levels = [level for _, level in driver.checks()]

    assert max(levels) == limit_db_hl
    assert levels == sorted(levels)
    assert driver.tells("ear-check") == []
    assert driver.test.ear_check.found == WhichEar.NOT_CONFIRMED


def test_an_ear_whose_calibration_reaches_less_is_given_no_more() -> None:
    reach_db_hl = {LEFT: 60.0, RIGHT: 85.0}
    driver = Driver(CHECKED, NeverPresses(), highest_db_hl=lambda route, _: reach_db_hl[route.ear])
    run_to_first_ear(driver)

    for ear, limit_db_hl in reach_db_hl.items():
        levels = [t["level_db_hl"] for t in driver.tells("tone", ear=ear, purpose=Purpose.CHECK)]
        assert max(levels) == limit_db_hl


# The word


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["same"], WhichEar.CONFIRMED),
        (["other", "same"], WhichEar.CONFIRMED),
        ([UNSURE, "same"], WhichEar.CONFIRMED),
        ([UNSURE, UNSURE], WhichEar.NOT_CONFIRMED),
        (["other", UNSURE, UNSURE], WhichEar.CONTRADICTED),
    ],
)
def test_the_test_begins_at_the_same_ear_or_when_nobody_can_say_twice(
    words: list[str], found: WhichEar
) -> None:
    driver = Asked()
    for left, word in enumerate(words, 1 - len(words)):
        ear = driver.until_asked()
        named = {"same": ear, "other": OTHER[ear]}.get(word, word)
        assert has_begun(driver.say(named)) == (not left)
        if word == "other":
            why = reason(Code.TURN_EARPHONES, ear=ear)
            assert (driver.test.state, check_of(driver.test)) == (PAUSED, "earphones")
            assert driver.tells("earphones") == [{"why": why}]
            assert why_checked(driver.test) == (why,)
            assert driver.say(ear) == [], "they are looked at first"
            driver.feed(events.Continued())

    assert check_of(driver.test) == ""
    result, doubted = driver.run(), found == WhichEar.CONTRADICTED
    assert result.which_ear == found
    open_ears = (reason(Code.EARS_NOT_CONFIRMED),)
    assert result.remarks == (open_ears if found == WhichEar.NOT_CONFIRMED else ())
    assert result.verdict == (Verdict.DOUBTFUL if doubted else Verdict.VALID)
    doubts = (reason(Code.EARS_CONTRADICTED),) if doubted else ()
    assert {ear.reasons for ear in result.ears} == {doubts}


def test_without_a_word_it_goes_on_after_a_minute() -> None:
    driver = Asked()
    driver.until_asked()
    asked_us = driver.now_us
    run_to_first_ear(driver)

    assert 60 * S <= driver.now_us - asked_us < 65 * S
    assert {*driver.levels("check")} == {40.0}, "the first was clear"
    assert len(driver.tells("continued")) == 1
    assert driver.run().which_ear == WhichEar.NOT_CONFIRMED


def test_the_operator_may_go_on_unasked() -> None:
    driver = Asked()
    driver.until_asked()
    assert has_begun(driver.feed(events.Continued()))

    assert driver.run().which_ear == WhichEar.NOT_CONFIRMED


def test_a_pause_asks_the_same_again() -> None:
    driver = Asked()
    ear = driver.until_asked()
    driver.feed(events.Paused())
    assert check_of(driver.test) == ""  # no tone plays that anybody could be asked about
    driver.feed(events.Continued(), 600 * S)
    asked_us = driver.now_us
    while driver.now_us < asked_us + 50 * S:
        assert check_of(driver.test) == "ear"
        driver.run_to_tone()

    assert driver.plays[-1].route.ear == ear
    assert has_begun(driver.say(ear))


def test_a_test_that_is_ended_in_the_question_was_none_of_any_ear() -> None:
    driver = Asked()
    driver.until_asked()
    driver.feed(events.Aborted())

    assert driver.result["which_ear"] == WhichEar.NOT_CONFIRMED
    assert {ear["verdict"] for ear in driver.result["ears"]} == {Verdict.NOT_TESTED}
    assert check_of(driver.test) == ""


def test_a_word_that_was_not_asked_for_means_nothing() -> None:
    driver = Asked()
    assert driver.say(LEFT) == []
    driver.feed(events.Started())
    assert driver.say(LEFT) == [], "nothing was heard yet"
    driver.say(driver.until_asked())
    driver.run_to_tone()
    assert driver.say(LEFT) == []


# Who is asked


@pytest.mark.parametrize(
    "values", [{}, {"ears": "left", "ear_check": True}, {"ears": "right", "conduct": "clinical"}]
)
def test_a_test_of_one_ear_or_a_brisk_one_asks_nothing(values: dict[str, Any]) -> None:
    driver = Driver(Settings(**values), flat(25.0))
    driver.run_to_tone()

    assert driver.tells("tone", purpose=Purpose.CHECK) == []
    assert driver.test.result().which_ear == WhichEar.NOT_ASKED


def test_its_answers_are_given_to_nobody_else() -> None:
    driver = Asked()
    driver.say(driver.until_asked())
    test = driver.test

    assert [ear.tally.tones for ear in test.ears.values()] == [0, 0]
    assert test.presenter.pace.window_us == Driver().test.presenter.pace.window_us
    assert test.result().response_time_mean_ms is None


# Whole tests


def poorer_by_20_db(result: SessionResult) -> str:
    left, right = (
        result.by_route[Route(ear)].thresholds[3].threshold_db_hl or 0.0 for ear in (LEFT, RIGHT)
    )
    assert abs(left - right) > 20.0
    return LEFT if left > right else RIGHT


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("audiogram", quick(["N1,N6", "N6,N1"], "N6,N1"))
def test_swapped_earphones_are_found_and_the_ears_are_those_of_the_head(
    audiogram: str, swapped: bool
) -> None:
    ears = audiogram_named(audiogram)
    listener = Worn(SimulatedListener(ears, head=Head(interaural_attenuation_db=40.0)), swapped)
    test = SimulatedTest(CHECKED, listener)
    result = test.run()

    assert result.which_ear == WhichEar.CONFIRMED
    assert any(isinstance(action, EarphonesTold) for _, action in test.log) == swapped
    assert poorer_by_20_db(result) == (LEFT if audiogram == "N1,N6" else RIGHT)
