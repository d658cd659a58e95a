"""The staircases: courses worked out by hand, the rules as sentences, and what they settle at."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from host_tools.research.methods import staircase as staircase_module
from host_tools.research.methods.interface import Task
from host_tools.research.methods.staircase import (
    ASCENDING_BIAS_DB,
    SETTLED,
    UNSETTLED,
    StaircaseAsha,
    StaircaseIso,
    StaircaseThreshold,
)
from tests.host.research.methods.listening import Listener, flat, measure

Staircase = StaircaseAsha | StaircaseIso
Maker = Callable[..., Staircase]

OCTAVES = (250, 500, 1000, 2000, 4000, 8000)
AUDIOGRAM = (250, 500, 1000, 2000, 3000, 4000, 6000, 8000)

both = pytest.mark.parametrize("make", [StaircaseAsha, StaircaseIso])


def at_1_khz(make: Maker, **options: bool) -> Staircase:
    return make(Task(audiogram_frequencies_hz=(1000.0,)), **options)


def follow(staircase: Staircase, course: str) -> None:
    """Give the answers of a course, "30- 50+" and so on, and see that its levels are asked."""
    for number, word in enumerate(course.split()):
        stimulus = staircase.next_stimulus()
        assert stimulus is not None, f"the staircase ended before tone {number}, {word}"
        assert stimulus.level_db_hl == float(word[:-1]), f"tone {number} of {course}"
        staircase.observe(stimulus.frequency_hz, stimulus.level_db_hl, word[-1] == "+")


# One frequency, by hand

# Familiarisation, what counts after it, and what is found.
BY_HAND = {
    # Heard at and above 35 dB HL.
    "asha": "30- 50+ | 40+ 30- 35+ 25- 30- 35+ | 35 settled",
    # The familiarisation's first tone is heard: start 10 dB below it.
    "asha-first-heard": "30+ | 20- 25+ 15- 20- 25+ | 25 settled",
    "asha-ten-more-until-heard": "30- 50- 60- 70+ | 60- 65+ 55- 60+ 50- 55- 60+ | 60 settled",
    # Heard twice on the way down at 40 and 30: descending presentations do not count.
    "asha-descending": "30- 50+ | 40+ 30+ 20- 25- 30- 35- 40+ 30- 35- 40+ | 40 settled",
    # 45 is heard in the 1st and 5th of its ascending presentations: less than half. 50 is heard in
    # the 1st and 4th.
    "asha-half-of-the-ascents": (
        "30- 50+ | 40- 45+ 35- 40- 45- 50+ 40- 45- 50- 55+ 45+ 35- 40- 45- 50- 55- 60+ "
        "50+ 40+ 30- 35- 40- 45+ 35- 40- 45- 50+ | 50 settled"
    ),
    "iso": "40+ 20- 30- 40+ | 30- 35+ 25- 30- 35+ 25- 30- 35+ | 35 settled",
    "iso-three-of-four": (
        "40- 50- 60+ | 50+ 40- 45- 50+ 40- 45+ 35- 40- 45- 50+ 40- 45- 50+ | 50 settled"
    ),
    # Ascents end at 35, 40, 35, 40, 45: none thrice in five, so 10 dB up and five more, of which
    # those before do not count.
    "iso-raises-and-counts-anew": (
        "40+ 20- 30+ | 20- 25- 30- 35+ 25- 30- 35- 40+ 30- 35+ 25- 30- 35- 40+ 30- 35- 40- 45+ "
        "55+ 45+ 35- 40+ 30- 35- 40+ 30- 35- 40+ | 40 settled"
    ),
    # Everything is heard: at the lowest level there is nothing from which to ascend.
    "asha-hears-all": "30+ | 20+ 10+ 0+ -10+ -10+ | -10 hears-all",
    "iso-hears-all": "40+ 20+ 0+ -10+ | -10+ -10+ -10+ | -10 hears-all",
    # Twice unheard at the limit; in between heard does not do.
    "asha-not-reached": (
        "30- 50- 60- 70- 80- 90- 100- 110- 120+ | 110- 115- 120- 120+ 110- 115- 120- 120- | "
        "120 not-reached"
    ),
    "iso-not-reached": "40- 50- 60- 70- 80- 90- 100- 110- 120- 120- | | 120 not-reached",
}


@pytest.mark.parametrize("name", BY_HAND)
def test_one_frequency_goes_as_worked_out_by_hand(name: str) -> None:
    staircase = at_1_khz(StaircaseIso if name.startswith("iso") else StaircaseAsha)
    familiarisation, counting, found = BY_HAND[name].split("|")

    follow(staircase, familiarisation)
    if counting.strip():
        last = counting.rstrip().rfind(" ")
        follow(staircase, counting[:last])
        assert staircase.findings == {}
        follow(staircase, counting[last:])

    level_db_hl, outcome = found.split()
    assert staircase.findings == {1000.0: StaircaseThreshold(float(level_db_hl), outcome)}


# One frequency, the rules as sentences


def test_a_frequency_that_does_not_settle_is_left_with_its_estimate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(staircase_module, "TONES_MAX", 6)
    staircase = at_1_khz(StaircaseAsha)
    follow(staircase, "30- 50+ 40- 45+ 35- 40- 45- 50+")
    assert staircase.findings == {1000.0: StaircaseThreshold(45.0, UNSETTLED)}


# The course of an audiogram


@both
def test_the_order_is_1_khz_upwards_1_khz_again_then_downwards(make: Maker) -> None:
    answered = measure(make(Task(audiogram_frequencies_hz=AUDIOGRAM)), flat(33.0))

    asked_hz = [tone.frequency_hz for tone in answered]
    order_hz = [f for i, f in enumerate(asked_hz) if i == 0 or f != asked_hz[i - 1]]
    assert order_hz == [1000, 2000, 3000, 4000, 6000, 8000, 1000, 500, 250]


@both
@pytest.mark.parametrize(
    ("octave_db_hl", "between_hz"),
    [
        # 250, 500, 1000, 2000, 4000, 8000 Hz; a result is the next multiple of 5.
        ((31, 31, 31, 31, 31, 31), []),
        ((31, 31, 46, 31, 46, 31), []),
        ((31, 51, 31, 31, 31, 31), [750]),
        ((31, 31, 31, 51, 31, 31), [1500, 3000]),
        ((31, 31, 31, 31, 31, 51), [6000]),
        ((11, 31, 51, 71, 91, 91), [750, 1500, 3000]),
        ((51, 31, 31, 31, 31, 31), []),
    ],
)
def test_what_lies_between_octaves_is_measured_where_they_differ_by_20_db(
    make: Maker, octave_db_hl: tuple[float, ...], between_hz: list[float]
) -> None:
    task = Task(audiogram_frequencies_hz=OCTAVES)
    answered = measure(make(task), Listener(OCTAVES, octave_db_hl))

    asked_hz = [tone.frequency_hz for tone in answered]
    extra_hz = sorted({f for f in asked_hz if f not in OCTAVES})
    assert extra_hz == between_hz
    assert all(asked_hz.index(f) > asked_hz.index(250) for f in extra_hz)


@both
def test_a_frequency_begins_10_db_above_the_nearest_result(make: Maker) -> None:
    task = Task(audiogram_frequencies_hz=(500, 1000, 4000, 8000))
    listener = Listener([500, 1000, 4000, 8000], [12.0, 33.0, 57.0, 81.0])

    first_db_hl: dict[float, float] = {}
    for tone in measure(make(task), listener):
        first_db_hl.setdefault(tone.frequency_hz, tone.level_db_hl)

    # The results are 35, 60, 85 and 15 dB HL. In octaves 1000 Hz is nearer to 750 Hz than 500 Hz
    # is, and 8000 Hz nearer to 6000 Hz than 4000 Hz.
    del first_db_hl[1000.0]
    assert first_db_hl == {4000.0: 45.0, 8000.0: 70.0, 500.0: 45.0, 750.0: 45.0, 6000.0: 95.0}


@both
def test_of_two_results_at_1_khz_the_lower_counts_and_their_difference_is_told(
    make: Maker,
) -> None:
    staircase = at_1_khz(make)
    listeners = [flat(31.0), flat(43.0)]
    while staircase.next_stimulus() is not None:
        measure(staircase, listeners[len(staircase.findings)], 1)

    assert staircase.retest_difference_db == 10.0
    assert staircase.findings == {1000.0: StaircaseThreshold(35.0, SETTLED)}


@both
def test_a_staircase_takes_only_the_tone_it_asked_for(make: Maker) -> None:
    staircase = at_1_khz(make)
    asked = staircase.next_stimulus()
    assert asked is not None

    words = f"the tone is 1000 Hz at 5 dB HL; .* asked for, 1000 Hz at {asked.level_db_hl:g} dB HL"
    with pytest.raises(ValueError, match=words):
        staircase.observe(1000.0, 5.0, True)
    measure(staircase, flat(30.0))
    with pytest.raises(ValueError, match="allowed is none, the staircase is over"):
        staircase.observe(1000.0, 30.0, True)


@both
def test_a_staircase_without_1_khz_is_refused(make: Maker) -> None:
    with pytest.raises(ValueError, match=r"\[500.0, 2000.0\]; allowed is what has 1000 Hz in it"):
        make(Task(audiogram_frequencies_hz=(500.0, 2000.0)))


# The curve before the end

WANTED_HZ = (500.0, 1000.0, 2000.0, 4000.0)


def curve(staircase: Staircase) -> list[float]:
    values, sd_db = staircase.threshold(WANTED_HZ)
    assert np.all(np.isnan(sd_db))
    return values.tolist()


def test_the_curve_is_what_is_known_so_far() -> None:
    staircase = StaircaseAsha(Task(audiogram_frequencies_hz=(500.0, 1000.0, 4000.0)))

    assert curve(staircase) == [30.0] * 4  # nothing: the level of the first tone
    follow(staircase, "30- 50+ 40+")
    assert curve(staircase) == [30.0] * 4  # no ascent yet: the level of the tone to come
    follow(staircase, "30- 35+ 25-")
    assert curve(staircase) == [35.0] * 4  # an ascent ended here
    follow(staircase, "30- 35+")
    assert curve(staircase) == [35.0] * 4  # done
    follow(staircase, "45- 50-")
    assert curve(staircase) == [35.0, 35.0, 45.0, 55.0]  # 4 kHz: the tone to come; 2: in between
    follow(staircase, "55- 60- 65+ 55- 60+ 50- 55- 60- 65- 70+ 60-")
    assert curve(staircase) == [35.0, 35.0, 50.0, 65.0]  # ascents ended at 65, 60, 70: the median


def test_the_bias_is_subtracted_from_the_running_estimate_once_an_ascent_has_ended() -> None:
    staircase = at_1_khz(StaircaseAsha, subtract_bias=True)

    follow(staircase, "30- 50+ 40+ 30-")
    assert curve(staircase) == [35.0] * 4
    follow(staircase, "35+")
    assert curve(staircase) == [35.0 - ASCENDING_BIAS_DB] * 4


@pytest.mark.parametrize(
    ("listener", "drop_db"),
    [(flat(33.0), ASCENDING_BIAS_DB), (flat(math.inf), 0.0), (flat(-math.inf), 0.0)],
    ids=["settled", "not-reached", "hears-all"],
)
@both
def test_the_bias_is_subtracted_from_what_rests_on_ascents_only(
    make: Maker, listener: Listener, drop_db: float
) -> None:
    plain, corrected = at_1_khz(make), at_1_khz(make, subtract_bias=True)
    assert curve(plain) == curve(corrected)

    assert measure(plain, listener) == measure(corrected, listener)

    assert plain.threshold(WANTED_HZ)[0] - corrected.threshold(WANTED_HZ)[0] == pytest.approx(
        drop_db
    )
    assert plain.findings == corrected.findings


# What is published and was measured about them


@both
def test_a_sharp_threshold_lies_2_5_db_below_the_result_on_average(make: Maker) -> None:
    """Anywhere in the 5 dB below it, so at all tenths of a dB in turn half of that."""
    errors_db = []
    for tenths in range(1, 50, 2):
        staircase = at_1_khz(make)
        measure(staircase, flat(30.0 + tenths / 10.0))
        errors_db.append(staircase.findings[1000.0].level_db_hl - (30.0 + tenths / 10.0))

    assert min(errors_db) > 0.0
    assert max(errors_db) < 5.0
    assert np.mean(errors_db) == pytest.approx(ASCENDING_BIAS_DB)
