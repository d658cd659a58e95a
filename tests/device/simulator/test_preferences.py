"""Simulated people who compare, and the made-up talker."""

import math
import statistics
from collections import Counter

import numpy as np
import pytest

from device.simulator.preferences import (
    BEYOND,
    CHANGING,
    DRIFTING,
    DRIFTS_FOR,
    FARTHEST_DB,
    FIRST,
    LAPSING,
    LOUDER,
    OFTEN_FIRST,
    ONE_AT_A_TIME,
    PEAK_LOWER,
    PEOPLE,
    RANDOM,
    TIRED,
    TWO_PEAKS,
    SimulatedWearer,
    drawn_wish_db,
)
from device.simulator.talker import synthetic_speech
from device.speech import THIRDS_DB_SPL, THIRDS_HZ

WISH_DB = [4.0, -3.0, 0.0, 2.0]
FAR_DB = [-8.0, 9.0, 0.0, 2.0]


def answers(person: SimulatedWearer, count: int = 2000) -> Counter[str]:
    return Counter(person.answer(WISH_DB, FAR_DB) for _ in range(count))


def test_who_is_honest_lapses_at_the_rate_that_was_given() -> None:
    counted = answers(SimulatedWearer(WISH_DB, lapse_rate=0.3))
    assert counted["first"] == pytest.approx(2000 * 0.8, abs=60)
    assert answers(SimulatedWearer(WISH_DB, lapse_rate=0.0))["first"] == 2000


def test_who_says_the_first_or_answers_by_chance_has_no_wish() -> None:
    assert answers(SimulatedWearer(FAR_DB, FIRST)) == {"first": 2000}
    assert min(answers(SimulatedWearer(WISH_DB, RANDOM)).values()) > 550


def test_who_changes_his_mind_wants_the_opposite() -> None:
    person = SimulatedWearer(WISH_DB, CHANGING, lapse_rate=0.0)
    opposite = [-each for each in WISH_DB]
    after = PEOPLE[CHANGING].turns_after
    told = [person.answer(WISH_DB, opposite) for _ in range(2 * after)]
    assert set(told[:after]) == {"first"}
    assert set(told[after:]) == {"second"}


def test_some_say_the_first_often_lapse_often_or_tire() -> None:
    assert answers(SimulatedWearer(FAR_DB, OFTEN_FIRST, lapse_rate=0.0))["first"] == pytest.approx(
        2000 * 0.4, abs=60
    )
    assert answers(SimulatedWearer(WISH_DB, LAPSING))["first"] == pytest.approx(
        2000 * (0.8 + 0.2 / 3), abs=60
    )
    tired = SimulatedWearer(WISH_DB, TIRED, lapse_rate=0.0)
    assert answers(tired, PEOPLE[TIRED].chance_after) == {"first": PEOPLE[TIRED].chance_after}
    assert min(answers(tired).values()) > 550


def test_who_judges_one_thing_at_a_time_goes_by_the_number_that_matters_most() -> None:
    # The first is 6 dB better in one number, and 5 dB worse in each of two.
    first_db, second_db = [0.0, 5.0, 5.0, 0.0], [6.0, 0.0, 0.0, 0.0]
    for kind, better in ((ONE_AT_A_TIME, "first"), ("honest", "second")):
        person = SimulatedWearer([0.0] * 4, kind, sensitivity=1e3, lapse_rate=0.0)
        assert person.answer(first_db, second_db) == better
        assert person.answer(second_db, first_db) != better


def test_a_second_peak_is_8_db_away_and_lower() -> None:
    person = SimulatedWearer(WISH_DB, TWO_PEAKS)
    peak_db = [w + 8.0 * each for w, each in zip(WISH_DB, person.way, strict=True)]
    assert math.dist(peak_db, WISH_DB) == pytest.approx(8.0)
    assert person.utility(WISH_DB) == 0.0
    assert person.utility(peak_db) == pytest.approx(-PEAK_LOWER)
    between_db = [0.5 * (w + p) for w, p in zip(WISH_DB, peak_db, strict=True)]
    assert person.utility(between_db) < -0.8


def test_a_wish_drifts_lies_beyond_the_range_or_is_as_loud_as_can_be_borne() -> None:
    drifting = SimulatedWearer(WISH_DB, DRIFTING)
    answers(drifting, 2 * DRIFTS_FOR)
    assert math.dist(drifting.wish_db, WISH_DB) == pytest.approx(6.0)
    assert SimulatedWearer(FAR_DB, BEYOND).wish_db == [-8.0, 15.0, 0.0, 2.0]
    louder = SimulatedWearer(FAR_DB, LOUDER)
    values = [louder.utility([level_db, *FAR_DB[1:]]) for level_db in (-12.0, 0.0, 9.0, 10.0)]
    assert values == pytest.approx([-7.0, -3.0, 0.0, -1.0])


def test_a_kind_that_there_is_not_is_named() -> None:
    with pytest.raises(ValueError, match="kind of person is 'sly'; allowed are honest, one-at"):
        SimulatedWearer(WISH_DB, "sly")


def test_wishes_are_drawn_with_their_spread() -> None:
    wishes = [drawn_wish_db([5.0, 2.0], seed) for seed in range(500)]
    first, second = zip(*wishes, strict=True)
    assert statistics.pstdev(first) == pytest.approx(5.0, rel=0.1)
    assert statistics.pstdev(second) == pytest.approx(2.0, rel=0.1)
    assert max(map(abs, first)) <= FARTHEST_DB


def test_made_up_speech_has_the_spectrum_of_speech() -> None:
    samples = synthetic_speech(8.0, 24_000, 2)[:, 0]
    power = np.abs(np.fft.rfft(samples)) ** 2
    bins_hz = np.fft.rfftfreq(len(samples), 1.0 / 24_000)
    thirds = [
        (f, level) for f, level in zip(THIRDS_HZ, THIRDS_DB_SPL, strict=True) if 200 <= f <= 6300
    ]
    found_db = [
        10.0 * np.log10(power[np.abs(np.log2(np.maximum(bins_hz, 1.0) / f)) < 1 / 6].sum())
        for f, _ in thirds
    ]
    off_db = np.array(found_db) - [level for _, level in thirds]
    assert np.ptp(off_db) < 14.0


def test_made_up_speech_is_the_same_for_the_same_seed() -> None:
    assert np.array_equal(synthetic_speech(1.0, 24_000, 5), synthetic_speech(1.0, 24_000, 5))
