"""No aid is louder than is comfortable or allowed, and none gets more gain than it can keep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from device.hearing_aid.band_limits import hold_by_neighbours
from device.hearing_aid.limits import (
    UNCOMFORTABLE_DB_HL,
    Reason,
    coupler_above_field_db,
    discomfort_db_hl,
    field_db_spl,
    limits,
    output_ceiling_db_spl,
)
from device.speech import speech_in_bands

CENTERS_HZ = np.array((250.0, 500.0, 1000.0, 2000.0, 3000.0, 4000.0, 8000.0))


@pytest.mark.parametrize(
    ("threshold_db_hl", "expected_db_hl"),
    [(-10.0, 75.0), (0.0, 75.0), (25.0, 79.5), (50.0, 84.0), (65.0, 91.5), (80.0, 99.0),
     (120.0, 119.0)],
)  # fmt: skip
def test_at_most_one_ear_in_ten_finds_it_uncomfortable(
    threshold_db_hl: float, expected_db_hl: float
) -> None:
    assert discomfort_db_hl(np.array([1000.0]), np.array([threshold_db_hl])) == expected_db_hl


@given(threshold_db_hl=st.floats(-30.0, 140.0), rise_db=st.floats(0.0, 100.0))
def test_what_is_too_loud_for_more_ears_is_louder_and_rises_with_the_threshold(
    threshold_db_hl: float, rise_db: float
) -> None:
    few, half, most = (
        discomfort_db_hl(
            CENTERS_HZ, np.full((2, 7), [[threshold_db_hl], [threshold_db_hl + rise_db]]), share
        )
        for share in UNCOMFORTABLE_DB_HL
    )
    assert np.all(few + 7.9 < half)
    assert np.all(half + 2.9 < most)
    assert np.all(np.diff([few, half], axis=1) >= -1e-9)


def test_0_db_hl_in_the_field_and_in_the_coupler_are_those_of_the_standards() -> None:
    at_hz = np.array((1000.0, 4000.0))
    assert_array_equal(field_db_spl(at_hz), (2.4, -5.4))
    # ER-3A on the 2-cm³ coupler: 0 and 5.5 dB SPL
    assert_allclose(coupler_above_field_db(at_hz), (-2.4, 10.9))
    assert_allclose(output_ceiling_db_spl(at_hz), (111.0, 100.1))


def test_a_mild_loss_is_limited_by_discomfort_and_a_severe_one_by_law() -> None:
    mild = limits(CENTERS_HZ, np.full(7, 20.0)).output_max_db_spl
    severe = limits(CENTERS_HZ, np.full(7, 100.0)).output_max_db_spl
    assert mild[2] == 81.0
    assert severe[2] == 111.0
    for threshold_db_hl, output, gain in (
        (20.0, Reason.DISCOMFORT, Reason.DISCOMFORT), (100.0, Reason.CEILING, Reason.CEILING)
    ):  # fmt: skip
        found = limits(CENTERS_HZ, np.full(7, threshold_db_hl))
        assert (found.why_output(2), found.why_gain(2)) == (output, gain)
    assert limits(CENTERS_HZ, np.full(7, 90.0), "open").why_gain(3) == Reason.FEEDBACK


def test_a_band_beside_one_with_a_low_limit_has_a_lower_limit_than_alone() -> None:
    found = limits(CENTERS_HZ, np.array([20.0] * 4 + [80.0] * 3))
    assert found.output_max_db_spl[4] == found.output_max_db_spl[3] + 10.0
    assert [found.why_output(k) for k in (3, 4)] == [Reason.DISCOMFORT, Reason.NEIGHBOUR]


@given(thresholds_db_hl=st.lists(st.floats(-30.0, 140.0), min_size=7, max_size=7))
@pytest.mark.parametrize("coupling", ["closed", "open"])
def test_the_limits_are_the_least_of_all_reasons(
    coupling: str, thresholds_db_hl: list[float]
) -> None:
    found = limits(CENTERS_HZ, np.array(thresholds_db_hl), coupling)

    assert np.all(found.output_max_db_spl <= 111.0)
    in_coupler_db_spl = found.output_max_db_spl + coupler_above_field_db(CENTERS_HZ)
    assert np.all(in_coupler_db_spl <= 111.0 + 0.051)
    assert np.all(found.output_max_db_spl <= found.discomfort_db_spl + 0.051)
    held_db_spl = hold_by_neighbours(CENTERS_HZ, found.output_max_db_spl)
    assert_allclose(held_db_spl, found.output_max_db_spl, err_msg="an aid holds it to the same")
    for speech_db_spl in (50.0, 65.0, 80.0):
        most_db = found.gain_max_db(speech_db_spl)
        assert np.all(most_db <= found.feedback_db)
        peaks_db_spl = speech_in_bands(CENTERS_HZ) + speech_db_spl - 65.0 + 12.0 + most_db
        assert np.all((peaks_db_spl <= found.output_max_db_spl + 1e-9) | (most_db == 0.0))
        assert np.all(most_db >= 0.0)


def test_an_open_fitting_keeps_less_gain() -> None:
    thresholds_db_hl = np.full(7, 60.0)
    closed, open_ = (limits(CENTERS_HZ, thresholds_db_hl, c) for c in ("closed", "open"))
    assert np.all(open_.feedback_db < closed.feedback_db)
    assert open_.gain_max_db()[-2] == 20.0
