"""Simulated people who compare, and the made-up talker."""

import statistics
from collections import Counter

import numpy as np
import pytest

from device.simulator.preferences import (
    CHANGES_AFTER,
    CHANGING,
    FARTHEST_DB,
    FIRST,
    RANDOM,
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
    told = [person.answer(WISH_DB, opposite) for _ in range(2 * CHANGES_AFTER)]
    assert set(told[:CHANGES_AFTER]) == {"first"}
    assert set(told[CHANGES_AFTER:]) == {"second"}


def test_a_kind_that_there_is_not_is_named() -> None:
    with pytest.raises(ValueError, match="kind of person is 'sly'; allowed are honest, first"):
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
