"""The text that openMHA reads."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.hearing_aid.band_limits import STEP_MAX_DB, limited_bands
from device.hearing_aid.chain import (
    FFT_FRAMES,
    FULL_SCALE_DB_SPL,
    SAMPLE_RATE_HZ,
    WINDOW_FRAMES,
    configuration,
    output_limit,
)
from device.hearing_aid.filter_bank import correct, responses, shares
from device.hearing_aid.fit import INPUT_LEVELS_DB_SPL, Fit, FitError
from tests.device.hearing_aid.fits import fits, plain_ear, plain_fit

CENTERS_HZ = np.array([250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0])


def test_the_limit_is_that_of_the_more_sensitive_ear() -> None:
    ears = (plain_ear("left"), plain_ear("right"))
    fit = Fit((ears[0], type(ears[1])("right", ears[1].bands, 98.0)), "by hand", "nobody")
    assert output_limit(fit) == pytest.approx(10.0 ** ((98.0 - FULL_SCALE_DB_SPL) / 20.0))
    assert f"softclip.hardlimit = {output_limit(fit):.9f}" in configuration(fit)


def test_the_remarks_are_comments() -> None:
    lines = configuration(plain_fit(), ["one", "two"]).splitlines()
    assert lines[:2] == ["# one", "# two"]
    assert all(" = " in line for line in lines[2:])


def test_an_ear_alone_is_refused() -> None:
    with pytest.raises(FitError, match="no right ear"):
        configuration(Fit((plain_ear("left"),), "by hand", "nobody"))


@given(fits())
def test_every_fit_of_two_ears_has_a_table_without_nonsense(fit: Fit) -> None:
    if len(fit.ears) < 2:
        return
    (table,) = re.findall(r"\.dc\.gtdata = \[(.*)\]", configuration(fit))
    numbers = [float(each) for each in re.findall(r"-?[\d.]+", table)]
    assert all(math.isfinite(each) for each in numbers)
    assert max(numbers) <= max(band.gain_max_db for ear in fit.ears for band in ear.bands) + 0.01


@given(fits())
def test_no_band_is_limited_above_its_limit_nor_far_above_its_neighbour(fit: Fit) -> None:
    own, between = limited_bands(fit.ears, SAMPLE_RATE_HZ)
    for k, ear in enumerate(fit.ears):
        limits_db_spl = np.array([band.output_max_db_spl for band in ear.bands])
        assert np.all(own.limits_db_spl[k] <= limits_db_spl)
        assert own.limits_db_spl[k].min() == limits_db_spl.min()
        assert np.abs(np.diff(own.limits_db_spl[k])).max(initial=0.0) <= STEP_MAX_DB + 1e-9
        pairs = np.minimum(limits_db_spl[1:], limits_db_spl[:-1])
        assert np.all(between.limits_db_spl[k, 1:-1] <= pairs)
    assert np.all(np.diff(own.edges_hz) > 0.0)
    assert np.all(np.diff(between.edges_hz) > 0.0)


def test_the_shares_of_the_bands_add_up_to_all() -> None:
    bins_hz = np.linspace(300.0, 7900.0, 200)
    assert np.allclose(shares(CENTERS_HZ, bins_hz).sum(axis=0), 1.0)


@given(st.floats(0.0, 40.0), st.floats(-3.0, 3.0))
def test_the_corrected_table_gives_what_was_asked(base_db: float, slope_db: float) -> None:
    one_db = base_db + slope_db * np.arange(6.0)
    asked_db = np.tile(one_db[:, None], (1, len(INPUT_LEVELS_DB_SPL)))
    table_db = correct(CENTERS_HZ, asked_db, SAMPLE_RATE_HZ, FFT_FRAMES, WINDOW_FRAMES)
    mixing = responses(CENTERS_HZ, SAMPLE_RATE_HZ, FFT_FRAMES)
    # With gains that do not depend on level, what comes out is the sum over the bands.
    out_db = 20.0 * np.log10(np.maximum(mixing @ 10.0 ** (0.05 * table_db[:, 12]), 1e-6))
    reachable = (table_db[:, 12] < one_db.max() - 1e-9) & (one_db > 1.0)
    assert np.abs(out_db - one_db)[reachable].max(initial=0.0) < 0.5
