"""Compression keeps the rule's gain for conversation, and lets loud sounds be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from device.hearing_aid.prescription import compression

CENTERS_HZ = (250, 500, 1000, 2000, 4000, 8000)


@given(gains_db=st.lists(st.floats(0.0, 80.0), min_size=6, max_size=6))
def test_gain_falls_with_level_as_it_should(gains_db: list[float]) -> None:
    gain_db = np.array(gains_db)
    c = compression(CENTERS_HZ, gain_db)

    def gain_of_speech(level_db_spl: float) -> np.ndarray:
        return c.gain_at(c.speech_db_spl + level_db_spl - 65.0)

    assert_allclose(gain_of_speech(65.0), gain_db, atol=1e-9)
    assert np.all(c.ratio >= 1.0)
    assert np.all(c.ratio <= 3.0 + 1e-9)
    assert_allclose(gain_of_speech(50.0), gain_of_speech(20.0))  # linear below the knee
    little = gain_db <= 35.0 * 2.0 / 3.0  # what a ratio of 3 takes away in 35 dB
    assert_allclose(gain_of_speech(100.0)[little], 0.0, atol=1e-9)
    levels_db_spl = np.linspace(0.0, 130.0, 131)
    gains = np.array([c.gain_at(level) for level in levels_db_spl])
    assert np.all(np.diff(gains, axis=0) <= 1e-12)
    assert np.all(gains >= 0.0)
    assert np.all(np.diff(gains + levels_db_spl[:, np.newaxis], axis=0) > 0.3), (
        "no level folds over"
    )


def test_the_ratio_is_what_the_output_does() -> None:
    c = compression((1000.0,), np.array([20.0]))
    out = [level + float(c.gain_at(level)[0]) for level in (60.0, 70.0)]
    assert 10.0 / (out[1] - out[0]) == pytest.approx(float(c.ratio[0]))
    assert float(c.ratio[0]) == pytest.approx(35.0 / 15.0)


@given(
    gains_db=st.lists(st.floats(0.0, 80.0), min_size=6, max_size=6), most_db=st.floats(0.0, 60.0)
)
def test_held_to_a_limit_it_compresses_from_a_higher_level_on(
    gains_db: list[float], most_db: float
) -> None:
    free = compression(CENTERS_HZ, np.array(gains_db))
    held = free.hold_to(np.full(6, most_db))
    for level_db_spl in np.linspace(0.0, 130.0, 14):
        expected_db = np.minimum(free.gain_at(level_db_spl), most_db)
        assert_allclose(held.gain_at(level_db_spl), expected_db, atol=1e-9)


def test_many_ears_at_once_get_what_each_gets_alone() -> None:
    gains_db = np.array([[0.0, 5.0, 10.0, 20.0, 30.0, 60.0], [30.0] * 6])
    together = compression(CENTERS_HZ, gains_db).hold_to(np.full(6, 25.0))
    levels = (0.0, 40.0, 65.0, 100.0)
    for k in range(2):
        alone = compression(CENTERS_HZ, gains_db[k]).hold_to(np.full(6, 25.0))
        assert_allclose(together.table_db(levels)[k], alone.table_db(levels))
