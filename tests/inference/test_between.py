"""Between two frequencies that were asked a band is told as wide as what may lie there."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from firmware_py import ThresholdEstimator
from firmware_py.inference import enough
from firmware_py.inference.between import wider_db

EIGHT_HZ = [float(f) for f in enough.FREQUENCIES_HZ]
SPREAD_HZ = np.geomspace(250.0, 8000.0, 42)[1:-1].tolist()
NOTCH_HZ = 5300.0


def notch(depth_db: float, db_per_octave: float, frequency_hz: float) -> float:
    return 10.0 + max(depth_db - db_per_octave * abs(math.log2(frequency_hz / NOTCH_HZ)), 0.0)


def ask(estimator: ThresholdEstimator, frequency_hz: float, threshold_db_hl: float) -> None:
    for above_db in (8.0, -8.0, 3.0, -3.0):
        estimator.observe(frequency_hz, threshold_db_hl + above_db, above_db > 0.0)


def asked_at_the_eight(depth_db: float = 0.0, db_per_octave: float = 1.0) -> ThresholdEstimator:
    estimator = ThresholdEstimator()
    for frequency_hz in EIGHT_HZ:
        ask(estimator, frequency_hz, notch(depth_db, db_per_octave, frequency_hz))
    return estimator


@pytest.mark.parametrize("depth_db", [25.0, 35.0, 45.0])
@pytest.mark.parametrize("db_per_octave", [60.0, 120.0])
def test_it_holds_a_notch_where_nobody_asked(depth_db: float, db_per_octave: float) -> None:
    estimator = asked_at_the_eight(depth_db, db_per_octave)
    at_hz = [*SPREAD_HZ, NOTCH_HZ]
    truth = np.array([notch(depth_db, db_per_octave, f) for f in at_hz])
    low_db_hl, high_db_hl = estimator.threshold_band(at_hz)
    held = (low_db_hl <= truth) & (truth <= high_db_hl)
    assert np.mean(held) >= 0.93
    assert held[-1]


def test_where_both_kinds_of_answers_were_given_it_is_the_posteriors() -> None:
    estimator = asked_at_the_eight()
    at_hz = [125.0, 200.0, *EIGHT_HZ, NOTCH_HZ]

    def wider_at() -> list[float]:
        told, known = estimator.threshold_band(at_hz), estimator.posterior_band(at_hz)
        return [f for f, ends in zip(at_hz, np.not_equal(told, known).T, strict=True) if ends.any()]

    assert wider_at() == [NOTCH_HZ]
    estimator.observe(NOTCH_HZ, 80.0, True)
    assert wider_at() == [NOTCH_HZ], "one loud tone tells nothing"
    ask(estimator, NOTCH_HZ, 10.0)
    assert wider_at() == []


def test_before_any_answer_the_frequencies_of_an_audiogram_are_told_as_they_are() -> None:
    estimator = ThresholdEstimator()
    assert_array_equal(estimator.threshold_band(EIGHT_HZ), estimator.posterior_band(EIGHT_HZ))


@pytest.mark.parametrize(
    ("at", "fall_db", "rise_db"),
    [
        (0.0, 0.0, 0.0),
        (1.0, 0.0, 0.0),
        (-0.1, 0.0, 0.0),
        (1.1, 0.0, 0.0),
        (0.5, 26.0, 6.0),  # a knot: what is its own people have, too
        (0.1, 26.0 + 12.0, 6.0 + 12.0),
        (0.9, 26.0 + 12.0, 6.0 + 12.0),
        (0.55, 26.0 + 6.0, 6.0 + 6.0),
        (0.25, 26.0 + 20.0, 6.0 + 20.0),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_ends_move_by_the_neighbours_and_by_the_way_to_the_next_knot(
    at: float, fall_db: float, rise_db: float, turned: bool
) -> None:
    """The mean lies 30 dB above the better neighbour and 10 dB below the worse."""
    thresholds = (50.0, 10.0) if turned else (10.0, 50.0)
    known = [*zip((0.0, 1.0), thresholds, strict=True)]
    found = wider_db(at, 40.0, known, [0.0, 0.5, 1.0])
    assert found == pytest.approx((fall_db, rise_db))
