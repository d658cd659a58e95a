"""Tests by air and bone of simulated heads: whose thresholds come out, and what is left open."""

from functools import lru_cache
from random import Random
from typing import Any, Final

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.head import IN_PLACE, INTERAURAL_ATTENUATION_DB, USUAL, Head
from device.simulator.hearing import SimulatedTest
from device.simulator.listener import Ear, SimulatedListener
from device.simulator.operator import Operator
from firmware_py.ear.attention import CHECKS_AFTER_AIR
from firmware_py.ear.caps import AGAIN_TONES_MAX, ATTENTION_TONES_MAX, tones_max
from firmware_py.ear.course import next_presentation, take_answer
from firmware_py.ear.ear import EarTest
from firmware_py.ear.listening import CHECK_US_MAX
from firmware_py.findings.air_bone_gap import LossType, gaps_of
from firmware_py.sessions.attendance import check_of, why_checked
from firmware_py.terms import events, tells
from firmware_py.terms.outcomes import MaskingMark, Outcome, Purpose, SessionOutcome, Verdict, Why
from firmware_py.terms.reasons import Code, Reasons, reason
from firmware_py.terms.results import EarResult, ThresholdResult
from firmware_py.terms.route import BONE, BY_AIR, BY_BONE, Route
from firmware_py.terms.settings import Settings
from firmware_py.terms.shown_threshold import as_shown
from tests.budget import quick

HZ: Final = (500, 1000, 2000, 4000)
RIGHT, LEFT = Route("right", BONE), Route("left", BONE)
DEAD: Final = 200.0
LEFT_ONLY: Final = Settings(routes="air, bone", ears="left", seed=1)
PAUSED_ANEW: Final = events.Paused((reason(Code.WAITS_CLOCK),))  # somebody may sit down anew


def someone(
    right: float = 30.0, left: float = 35.0, head: Head = USUAL, **other: Any
) -> SimulatedListener:
    """Somebody with two flat ears; thresholds by air."""
    truths: dict[Ear, Audiogram] = {
        "right": Audiogram((HZ[1],), (right,)), "left": Audiogram((HZ[1],), (left,)),
    }  # fmt: skip
    return SimulatedListener(truths, head=head, **other)


@lru_cache
def run(
    right: float,
    left: float,
    gap_right: float = 0.0,
    gap_left: float | Audiogram = 0.0,
    **other: Any,
) -> SimulatedTest:
    """A whole test of two flat ears: thresholds by air, and by how much they are better by bone."""
    can_mask, seed = other.pop("can_mask", True), other.pop("seed", 1)
    attenuation: dict[str, Any] = {
        "interaural_attenuation_db": other.pop("attenuation_db", INTERAURAL_ATTENUATION_DB)
    }
    attenuation["vibrator"] = other.pop("vibrator", IN_PLACE)
    head = Head({"right": gap_right, "left": gap_left}, skull_attenuation_db=3.0, **attenuation)
    settings = Settings(routes="air, bone", seed=seed, **other)
    test = SimulatedTest(settings, someone(right, left, head, seed=seed), can_mask=can_mask)
    test.run()
    return test


def ear(test: SimulatedTest, route: Route) -> EarResult:
    return test.test.result().by_route[route]


def at_octaves(test: SimulatedTest, route: Route) -> list[ThresholdResult]:
    return [each for each in ear(test, route).thresholds if each.frequency_hz in HZ]


def off_db(test: SimulatedTest, route: Route, truth_db_hl: float) -> float:
    """The largest difference from the truth; a threshold without a number is none."""
    found = [each.threshold_db_hl for each in at_octaves(test, route)]
    return max(abs((float("inf") if x is None else x) - truth_db_hl) for x in found)


def tones_by_bone(test: SimulatedTest) -> list[events.Play]:
    return [a for _, a in test.log if isinstance(a, events.Play) and a.route.by_bone]


def marks(test: SimulatedTest, route: Route) -> set[MaskingMark | None]:
    return {each.masking for each in at_octaves(test, route)}


def placings(test: SimulatedTest) -> list[tuple[str, ...]]:
    told = [a.why for _, a in test.log if isinstance(a, tells.PlacingTold)]
    return [(why.code.word, *(str(part) for _, part in why.parts)) for why in told]


# Of the second one a tone by air was to be checked with more noise between its tests by bone.
@pytest.mark.parametrize(
    ("about", "seed"),
    [((50.0, 30.0, 40.0, 20.0), 1), ((44.0, 36.0, 30.0, 10.0), 32), ((36.0, 44.0, 10.0, 30.0), 32),
     ((50.0, 60.0, 25.0, 30.0), 1)],
)  # fmt: skip
def test_no_place_is_asked_for_in_vain_and_earphones_wait_for_both_ears_by_bone(
    about: tuple[float, ...], seed: int
) -> None:
    """A tone comes after each; and of each ear that is asked again by air it is told then."""
    test = run(*about, seed=seed)
    told = [a for _, a in test.log if isinstance(a, tells.PlacingTold | events.Play)]
    by_bone, waited = False, False
    for action in told:
        assert not (waited and isinstance(action, tells.PlacingTold))
        waited = isinstance(action, tells.PlacingTold)
        if isinstance(action, tells.PlacingTold):
            by_bone = action.why.code != Code.PLACE_EARPHONES
        else:
            assert action.route.by_bone == by_bone or action.why == Why.NOISE_REACHES
    assert [code for code, *_ in placings(test)[:2]] == ["place-vibrator"] * 2
    again = [a.route for _, a in test.log if isinstance(a, tells.EarAgainTold)]
    assert len(again) == len({*again})
    by_air = {route for route in test.test.cross_hearing.asked_again if not route.by_bone}
    told_by_air = {route for route in again if not route.by_bone}
    assert by_air == told_by_air == {Route("right"), Route("left")}


def test_without_noise_at_the_board_a_gap_is_uncertain() -> None:
    test = run(50.0, 10.0, gap_right=40.0, can_mask=False)
    assert marks(test, RIGHT) == {MaskingMark.UNCERTAIN}
    assert not any("covered" in word for word, *_ in placings(test))


def test_it_waits_until_the_vibrator_is_in_place() -> None:
    """Nothing is played by bone before the operator's word, whatever else comes."""
    test = SimulatedTest(LEFT_ONLY, someone())
    test.run_to_tone()
    test.feed(PAUSED_ANEW, 1)
    test.feed(events.Continued(), 1_000_000)
    assert check_of(test.test) == "", "earphones are not asked for after a pause"
    test.run_until(lambda action: isinstance(action, tells.PlacingTold))
    assert test.test.placing.wanted is not None
    test.operators.take_in(tells.GoingOnTold(), test.now_us)  # nobody says anything by himself
    for event in (events.TimePassed(), events.ButtonPressed(10**9), events.ButtonReleased(10**9)):
        assert not any(isinstance(a, events.Play) for a in test.feed(event, 1_000_000))
    actions = test.feed(events.Continued(), 1_000_000)
    assert test.test.placing.wanted is None
    assert any(isinstance(action, tells.GoingOnTold) for action in actions)
    play = test.run_to_tone()
    assert (play.route, test.purpose) == (LEFT, Purpose.FAMILIARISE)


@pytest.mark.parametrize("until", [tells.PlacingTold, events.Play], ids=["waiting", "by-bone"])
@pytest.mark.parametrize("why", [(reason(Code.WAITS_CLOCK),), ()], ids=["anew", "pause"])
def test_the_vibrator_is_asked_for_after_a_pause(why: Reasons, until: type) -> None:
    """It may have come off; and that it is the same person does not say where it is."""
    test = SimulatedTest(LEFT_ONLY, someone())
    step_to_bone(test, played=until == events.Play)
    test.feed(events.Paused(why), 1)
    asks_again = bool(why) or until == events.Play
    assert check_of(test.test) == ("identity" if why else "" if asks_again else "placing")

    if asks_again:
        told = test.feed(events.Continued(), 1_000_000)
        assert placings(test)[-1] == ("place-vibrator", "left")
        assert not any(isinstance(action, events.Play) for action in told)
        assert check_of(test.test) == "placing"
    test.feed(events.Continued(), 1_000_000)
    assert test.run_to_tone().route == LEFT
    test.run()
    assert test.test.outcome == SessionOutcome.COMPLETE


def silent_by_bone() -> SimulatedTest:
    """A test in which somebody fell asleep by bone, and the operator is asked to look."""
    test = SimulatedTest(LEFT_ONLY, someone())
    step_to_bone(test, played=True)
    test.board.listener = someone(lapse_rate=1.0)
    test.run_until(lambda action: isinstance(action, tells.ListenerCheckTold))
    test.operators.take_in(tells.GoingOnTold(), test.now_us)
    assert check_of(test.test) == "silence"
    return test


@pytest.mark.parametrize("by", [events.OPERATOR, events.OTHER_EAR])
def test_a_vibrator_that_was_held_to_another_head_is_asked_for(by: str) -> None:
    """And what was heard of it does not tell of it days later."""
    test = silent_by_bone()
    told = test.feed(events.EquipmentHeard(by), 1_000_000)
    assert placings(test)[-1] == ("place-vibrator", "left")
    assert not any(isinstance(action, events.Play) for action in told)
    assert check_of(test.test) == "placing"
    test.feed(events.Continued(), 1_000_000)
    assert test.test.ears[LEFT].listening.equipment_heard_by == by
    test.feed(PAUSED_ANEW, 1)
    test.feed(events.Continued(), 1_000_000)
    assert test.test.ears[LEFT].listening.equipment_heard_by == ""


def test_in_a_check_by_bone_the_place_is_asked_first_and_its_minute_begins_then() -> None:
    test = silent_by_bone()
    test.feed(PAUSED_ANEW, 1)
    test.feed(events.Continued(), 600_000_000)
    assert check_of(test.test) == "placing"
    assert why_checked(test.test) == (reason(Code.PLACE_VIBRATOR, ear="left"),)
    test.feed(events.Continued(), 600_000_000)
    test.operators.take_in(tells.GoingOnTold(), test.now_us)
    assert check_of(test.test) == "silence"
    began_us = test.now_us
    test.run_until(lambda action: isinstance(action, tells.GoingOnTold))
    assert test.now_us - began_us >= CHECK_US_MAX


def test_what_was_found_without_noise_is_kept_until_there_is_noise() -> None:
    """Whoever has had enough when the earphone is to be put on has lost nothing."""
    head = Head({"right": 14.0, "left": 0.0}, skull_attenuation_db=3.0)
    test = SimulatedTest(Settings(routes="air, bone", seed=1), someone(36.0, 22.0, head, seed=1))
    test.run_until(
        lambda a: isinstance(a, tells.PlacingTold) and a.why.code == Code.PLACE_VIBRATOR_COVERED
    )
    test.feed(events.Aborted((reason(Code.ABORTED),)))
    assert {each.mark for each in at_octaves(test, RIGHT)} == {Outcome.MEASURED}
    assert MaskingMark.UNCERTAIN in marks(test, RIGHT)
    assert MaskingMark.MASKED not in marks(test, RIGHT)
    assert off_db(test, RIGHT, 22.0) < 9.0


def step_to_bone(test: SimulatedTest, *, played: bool) -> None:
    """Run until the vibrator is wanted, or until it plays; nobody says more."""
    test.run_until(lambda action: isinstance(action, tells.PlacingTold))
    test.operators.take_in(tells.GoingOnTold(), test.now_us)
    if played:
        test.feed(events.Continued(), 1_000_000)
        assert test.run_to_tone().route == LEFT


@pytest.mark.parametrize("ears", ["left", "both"])
@pytest.mark.parametrize("right", quick([-14.0, -10.0, -6.0], -14.0))
def test_the_best_cochlea_of_the_other_side_is_no_gap_of_this_one(right: float, ears: str) -> None:
    """It hears the softest tone of a vibrator, whether it was measured by air or not."""
    tests = [run(right, 35.0, ears=ears, seed=seed) for seed in range(1, 4)]
    found = [gaps for test in tests for gaps in gaps_of(test.test.result()) if gaps.ear == "left"]
    told = LossType.SENSORINEURAL if ears == "both" else LossType.UNKNOWN
    assert {(each.loss, *each.examined_hz) for each in found} == {(told,)}


def test_what_is_heard_at_the_floor_stays_the_better_cochleas_where_no_noise_masks() -> None:
    """Both are conductive at 500 and 1000 Hz, and hear the softest tones: one of them may not."""
    by_air: dict[Ear, tuple[float, ...]] = {
        "right": (50.0, 45.0, 5.0, 5.0), "left": (50.0, 45.0, 45.0, 45.0),
    }  # fmt: skip
    truths: dict[Ear, Audiogram] = {side: Audiogram(HZ, levels) for side, levels in by_air.items()}
    right = Audiogram(HZ, tuple(each + 14.0 for each in by_air["right"]))
    left = Audiogram(HZ, (20.0, 15.0, 59.0, 59.0))
    head = Head({"right": right, "left": left})
    listener = SimulatedListener(truths, seed=3, head=head)
    test = SimulatedTest(Settings(routes="air, bone", seed=3), listener)
    test.run()
    at = {each.frequency_hz: each for each in ear(test, LEFT).thresholds}
    assert {at[f].masking for f in (500, 1000)} == {MaskingMark.UNCERTAIN}


@pytest.mark.parametrize("about", [(50.0, 45.0), (50.0, 10.0, 40.0), (DEAD, 10.0)])
def test_no_tone_by_bone_is_above_what_a_vibrator_may_play(about: tuple[float, ...]) -> None:
    test = run(*about)
    assert tones_by_bone(test)
    for tone in tones_by_bone(test):
        assert tone.level_db_hl <= tone.route.kind.highest_db_hl(tone.frequency_hz)


def test_what_the_skin_may_have_felt_is_no_threshold_of_hearing() -> None:
    """Of an ear that hears nothing below 75 dB HL the lowest tones are felt, and answered."""
    test = SimulatedTest(Settings(routes="air, bone"), someone(75.0, 75.0, Head(feels=True)))
    test.run()
    for route in (RIGHT, LEFT):
        for each in at_octaves(test, route):
            felt_db_hl = route.kind.vibrotactile_db_hl(each.frequency_hz)
            if each.frequency_hz <= 1000:
                # As a number it is told where what was felt is next to what is heard.
                near = abs((each.threshold_db_hl or 0.0) - 75.0) <= 10.0
                assert near if each.mark == Outcome.MEASURED else not each.threshold_db_hl
                assert each.limit_db_hl is None or each.limit_db_hl <= felt_db_hl


def test_of_ears_that_hear_well_by_air_it_takes_two_or_three_tones() -> None:
    """No gap could change what is said of them; and no number of so few tones is a measured one."""
    test = run(8.0, 5.0)
    for route in (RIGHT, LEFT):
        assert ear(test, route).tones <= 3
        assert {each.mark for each in at_octaves(test, route)} <= {Outcome.INFERRED}


@pytest.mark.parametrize(
    ("about", "level_max_db_hl", "open_hz", "seed"),
    [
        # Right cochlea 30 dB HL, left one 10: what was heard without noise was the left one.
        ((60, 40, 30, (30, 15, 30)), 100.0, {500: "dilemma", 4000: "dilemma"}, 2),
        ((DEAD, 40, 0, (38, 20, 10)), 100.0, {500: "dilemma"}, 1),
        ((60, 50, 30, (10, 20, 0)), 60.0, {1000: "noise-limit"}, 4),
    ],
)
def test_what_no_noise_can_mask_is_left_open_beside_what_is_masked(
    about: tuple[Any, ...], level_max_db_hl: float, open_hz: dict[int, str], seed: int
) -> None:
    """It was heard without noise, by either cochlea: a bound with its reason, and no clean number.

    Nor is it inferred from what was asked with noise.
    """
    right, left, gap_right, by_hz = about
    gap_left = Audiogram((500.0, 1000.0, 4000.0), by_hz)
    test = run(right, left, gap_right, gap_left, level_max_db_hl=level_max_db_hl, seed=seed)
    result, verdicts = test.test.result(), test.test.cross_hearing.ways[RIGHT].verdicts()
    left_open = {
        each.frequency_hz: each for each in at_octaves(test, RIGHT) if each.frequency_hz in open_hz
    }
    assert ear(test, RIGHT).tones_masked > 0
    assert not {*left_open} - {*test.test.ears[RIGHT].levels.left_out_hz}
    for frequency_hz, found in left_open.items():
        why = verdicts[frequency_hz].why
        assert found.masking == MaskingMark.UNCERTAIN
        assert why is not None
        assert why.code.word == open_hz[frequency_hz]
        assert as_shown(found).symbol == MaskingMark.UNCERTAIN
        if found.threshold_db_hl is not None:  # else the skin may have felt it
            through_skull_db_hl = left - gap_left.threshold_db_hl(frequency_hz) + 3.0
            better_db_hl = min(right - gap_right, through_skull_db_hl)
            assert abs(found.threshold_db_hl - better_db_hl) < 9.0
    told = [dict(each.parts) for each in result.remarks if each.code == Code.MASKING_UNCERTAIN]
    remarked = {hz for each in told if each["ear"] == str(RIGHT) for hz in each["frequencies_hz"]}
    assert {*open_hz} <= remarked


@pytest.mark.parametrize("range_hz", [(125.0, 1100.0), (700.0, 8000.0), (900.0, 3500.0)])
def test_it_asks_only_what_may_be_asked(range_hz: tuple[float, float]) -> None:
    """Where the poorer ear and what is known of it lie at frequencies that may not be asked."""
    low_hz, high_hz = range_hz
    test = run(50.0, 10.0, gap_right=40.0, frequency_min_hz=low_hz, frequency_max_hz=high_hz)
    tones = tones_by_bone(test)
    assert {tone.route for tone in tones} == {RIGHT, LEFT}
    assert all(low_hz <= tone.frequency_hz <= high_hz for tone in tones)
    found = [each for each in at_octaves(test, RIGHT) if each.masking == MaskingMark.MASKED]
    assert found
    assert all(abs((each.threshold_db_hl or 0.0) - 10.0) < 9.0 for each in found)


def test_an_ear_by_air_has_room_to_be_asked_again_twice() -> None:
    """After the other ear's test by air, and once more when bone is known."""
    test = EarTest(
        Route("left"), Settings(routes="air, bone", tones_max=20, tones_min=1, ask_all=True)
    )
    random = Random(1)
    for again in range(3):
        if again:
            test.ask_again(test.observations[-1:])
        while not test.over:
            tone = next_presentation(test, test.tally.tones + 1)
            heard = tone.level_db_hl + random.gauss(0.0, 6.0) > 40.0
            take_answer(test, tone, heard and random.random() > 0.1)  # at times without attention
    once = 20 + AGAIN_TONES_MAX + ATTENTION_TONES_MAX
    assert test.estimator.trial_count > once, "or once would be room enough"


@pytest.mark.parametrize("seed", [7, 27])
def test_who_hears_better_than_the_lowest_level_is_not_doubted_for_a_miss_by_bone(
    seed: int,
) -> None:
    """Nothing was missed by air, so that a tone which is missed by bone is a surprise."""
    listener = someone(
        -14.0, -14.0, response_noise_db=3.0, lapse_rate=0.01, false_alarm_rate=0.01, seed=seed
    )
    test = SimulatedTest(Settings(routes="air, bone", seed=seed), listener)
    test.run()

    for route in (RIGHT, LEFT):
        found = ear(test, route)
        assert (found.verdict, found.reasons) == (Verdict.VALID, ())
        assert {each.mark for each in found.thresholds} <= {
            Outcome.HEARS_ALL, Outcome.MEASURED, Outcome.INFERRED
        }  # fmt: skip
    misses = [ear(test, route).tones - ear(test, route).tones_heard for route in (RIGHT, LEFT)]
    assert sum(misses) > 0


def test_an_ear_by_bone_takes_30_tones_and_20_more_with_noise_at_most() -> None:
    """A threshold at the limit of what noise masks has a wide band, whatever is asked."""
    assert tones_max(Settings(), BY_BONE) == 30
    assert tones_max(Settings(tones_max=20), BY_BONE) == 20
    assert tones_max(Settings(tones_max=60), BY_AIR) == 60

    gap_left = Audiogram((500.0, 1000.0, 4000.0), (10.0, 20.0, 0.0))
    test = run(55.0, 50.0, 25.0, gap_left, level_max_db_hl=55.0, seed=2)
    usual = 30 + AGAIN_TONES_MAX + CHECKS_AFTER_AIR
    assert all(ear(test, route).tones <= usual for route in (RIGHT, LEFT))


def test_who_hears_a_silent_earphone_is_asked_before_the_vibrator_comes() -> None:
    """The earphones are on; and the minute for the answer begins when it is asked for."""
    operator = Operator(hears=events.OTHER_EAR, after_s=50.0)
    test = SimulatedTest(Settings(routes="air, bone"), someone(DEAD, 10.0), operator=operator)
    test.run()
    told = [a for _, a in test.log if isinstance(a, tells.PlacingTold | tells.EquipmentCheckTold)]
    asked, *placed = told
    assert isinstance(asked, tells.EquipmentCheckTold)
    assert asked.route == Route("right")
    assert placed
    codes = {a.why.code for a in placed if isinstance(a, tells.PlacingTold)}
    assert codes == {Code.PLACE_VIBRATOR, Code.PLACE_VIBRATOR_COVERED}, "no earphones on again"
    assert ear(test, Route("right")).outcome == Outcome.NO_RESPONSE
    assert ear(test, Route("right")).verdict == Verdict.VALID
