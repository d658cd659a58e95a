"""What cannot be reached at a frequency is a limit of the test there, and never a louder tone."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.ear.levels import Highest, Levels, near
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, BONE, BY_AIR, Route
from firmware_py.terms.settings import Settings
from tests.budget import either
from tests.session.driver import Driver, Ears, Listener, NeverPresses, run_to_end

LOW_HZ = 125.0


def falling(per_octave_db: float, at_low_db_hl: float = 110.0) -> Highest:
    """Reach less and less towards high frequencies, in whole decibels, 25 at least."""
    return lambda _ear, frequency_hz: max(
        float(math.floor(at_low_db_hl - per_octave_db * math.log2(frequency_hz / LOW_HZ))), 25.0
    )


def session(
    highest: Highest, listener: Listener, profile: str = "default", **changes: object
) -> Driver:
    """A test of the left ear to its end, in which nothing is louder than can be reached."""
    told = {"ears": "left", "profile": profile, **changes}
    driver = run_to_end(Settings.from_record(told), listener, highest_db_hl=highest)
    top_db_hl = driver.settings.level_max_db_hl
    for play in driver.plays:
        reach_db_hl = highest(Route(play.route.ear), play.frequency_hz)
        assert play.level_db_hl <= min(top_db_hl, reach_db_hl)
    return driver


@settings(max_examples=either(10, 25))
@given(
    st.lists(st.integers(25, 120) | st.floats(25.0, 120.0), min_size=7, max_size=7),
    st.floats(-10.0, 110.0),
    st.floats(-15.0, 15.0),
    st.sampled_from(["default", "gp-pta-2015"]),
    st.sampled_from([1.0, 2.0, 5.0]),
)
def test_no_tone_is_ever_louder_than_can_be_reached(
    reach_db_hl: list[float], at_1_khz: float, slope_db: float, profile: str, step_db: float
) -> None:
    def highest(_route: Route, frequency_hz: float) -> float:
        return float(reach_db_hl[int(math.log2(frequency_hz / LOW_HZ))])

    ears = Ears(lambda _, f: at_1_khz + slope_db * math.log2(f / 1000.0))

    driver = session(highest, ears, profile, level_step_db=step_db, tones_max=20)

    for found in driver.ear("left")["thresholds"]:
        limit_db_hl = min(100.0, highest(Route("left"), found["frequency_hz"]))
        if found["mark"] == Outcome.NO_RESPONSE:
            assert found["limit_db_hl"] == limit_db_hl
        if found["mark"] == Outcome.MEASURED:
            assert found["threshold_db_hl"] < limit_db_hl


@pytest.mark.parametrize(
    ("asked_db_hl", "level_db_hl"), [(94.0, 95.0), (96.9, 95.0), (97.0, 97.0), (98.0, 97.0)]
)
def test_what_can_just_be_reached_is_played_even_if_it_is_no_whole_step(
    asked_db_hl: float, level_db_hl: float
) -> None:
    levels = Levels(Route("left"), Settings(level_step_db=5.0), lambda *_: 97.0)
    levels.note_tone(Presentation(Purpose.MEASURE, 1000, 90.0))
    levels.lower_limit(1000, 99.0)  # it is lower already
    assert levels.tone(Purpose.MEASURE, 1000, asked_db_hl).level_db_hl == level_db_hl


def test_who_hears_nothing_is_told_of_all_limits() -> None:
    highest = falling(10.0)
    ear = session(highest, NeverPresses()).ear("left")

    assert ear["outcome"] == Outcome.NO_RESPONSE
    assert ear["why"] == [{"code": "no-response-at-each", "low_db_hl": 50.0, "high_db_hl": 100.0}]
    assert [each["limit_db_hl"] for each in ear["thresholds"]] == [
        None if f in BY_AIR.inter_octave_hz else min(100.0, highest(Route("left"), f))
        for f in AUDIOGRAM_FREQUENCIES_HZ
    ], "750 and 1500 Hz were not asked"


def test_a_cap_that_is_reached_names_the_limits_that_may_be_in_the_way() -> None:
    highest = falling(6.0)
    just_beyond = Ears(lambda ear, f: 30.0 if f < 3000.0 else highest(Route(ear), f) + 1.0)
    driver = session(highest, just_beyond, tones_max=20, stop_half_width_db=1.0, retest=False)
    ear = driver.ear("left")
    unsure = [each for each in ear["thresholds"] if each["mark"] == Outcome.INCOMPLETE]
    said = ear["why"][-1]

    assert said["code"] == "perhaps-beyond-each"
    for found, named in zip(unsure, said["limits"], strict=True):
        assert found["frequency_hz"] == named["frequency_hz"]
        assert found["limit_db_hl"] == named["limit_db_hl"]


def test_an_octave_is_near_and_a_little_more_is_not() -> None:
    assert [hz for hz in (480.0, 500.0, 2000.0, 2080.0) if near(1000.0, [hz])] == [500.0, 2000.0]


def test_after_the_other_route_a_tone_rises_from_the_quieter_of_both_tones_before() -> None:
    levels = Levels(Route("left"), Settings(), lambda _route, _hz: 100.0)

    def tone(frequency_hz: float, level_db_hl: float) -> Presentation:
        return Presentation(Purpose.MEASURE, frequency_hz, level_db_hl)

    for frequency_hz, level_db_hl in ((500.0, 25.0), (3000.0, 60.0)):
        levels.note_tone(tone(frequency_hz, level_db_hl))
    levels.note_tone(Presentation(Purpose.CATCH, 500.0, 0.0))
    assert levels.ceiling_db_hl(500.0) == 80.0, "from the tone before"
    levels.note_beside(tone(500.0, 33.0))
    levels.note_beside(Presentation(Purpose.CATCH, 500.0, 0.0))
    assert levels.ceiling_db_hl(500.0) == 53.0, "from the tone by bone"
    assert levels.ceiling_db_hl(3000.0) == 80.0, "a tone so loud was presented there"
    levels.note_beside(tone(500.0, 60.0))
    levels.note_tone(tone(250.0, 10.0))
    assert levels.ceiling_db_hl(500.0) == 45.0, "the tone by bone is none before any more"
    levels.note_beside(tone(1000.0, 60.0))
    assert levels.ceiling_db_hl(1000.0) == 30.0, "it is none to rise from, either"


def test_the_first_tone_by_a_route_rises_from_the_last_one_by_the_other() -> None:
    levels = Levels(Route("left", BONE), Settings(), lambda _route, _hz: 100.0)

    assert levels.ceiling_db_hl(1000.0) == Settings().familiar_level_db_hl
    levels.note_beside(Presentation(Purpose.MEASURE, 500.0, -10.0))
    assert levels.ceiling_db_hl(1000.0) == 10.0
    levels.note_beside(Presentation(Purpose.MEASURE, 500.0, 60.0))
    assert levels.ceiling_db_hl(1000.0) == Settings().familiar_level_db_hl
