"""A fit from thresholds has the rule's gains within its limits, and knows how sure they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from device.hearing_aid.prescription import fit_of_thresholds
from device.hearing_aid.rules import insertion_gain
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from tests.budget import examples

N3 = STANDARD_AUDIOGRAMS_DB_HL["N3"]
MILD = tuple(float(level) for level in np.linspace(10.0, 28.0, len(FREQUENCIES_HZ)))  # unlimited
CENTERS_HZ = (250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0)


@pytest.mark.parametrize("rule", ["nal-r", "nal-rp", "camfit", "half-gain"])
@pytest.mark.parametrize("audiogram", STANDARD_AUDIOGRAMS_DB_HL)
def test_conversation_gets_the_gain_of_the_rule_or_the_most_there_may_be(
    audiogram: str, rule: str
) -> None:
    thresholds_db_hl = STANDARD_AUDIOGRAMS_DB_HL[audiogram]
    fit = fit_of_thresholds(FREQUENCIES_HZ, {"left": thresholds_db_hl}, rule)
    (ear,) = fit.ears
    target_db = insertion_gain(rule, FREQUENCIES_HZ, thresholds_db_hl)

    # The table has a gain every 5 dB, which rounds off the end of a line.
    assert_allclose(ear.gain_of_speech_db(), np.minimum(target_db, ear.gains_max_db), atol=0.85)
    below = target_db < ear.gains_max_db - 4.0
    assert_allclose(ear.gain_of_speech_db()[below], target_db[below], atol=0.01)


def test_soft_speech_gets_more_gain_and_loud_speech_less() -> None:
    (ear,) = fit_of_thresholds(FREQUENCIES_HZ, {"right": N3}).ears
    soft, middle, loud = (ear.gain_of_speech_db(level) for level in (50.0, 65.0, 80.0))
    assert np.all(soft >= middle)
    assert np.all(middle >= loud)
    assert soft[-1] > middle[-1] + 5.0 > loud[-1] + 10.0


@budget(max_examples=examples(40))
@given(thresholds_db_hl=st.lists(st.floats(-10.0, 120.0), min_size=6, max_size=6))
def test_any_thresholds_make_a_fit_that_an_aid_may_get(thresholds_db_hl: list[float]) -> None:
    for rule in ("nal-rp", "half-gain"):
        for coupling in ("closed", "open"):
            fit = fit_of_thresholds(CENTERS_HZ, {"left": thresholds_db_hl}, rule, coupling)
            assert fit.rule == f"{rule}, {coupling}"
            assert [band.center_hz for band in fit.ears[0].bands] == [*CENTERS_HZ]


def test_what_is_known_exactly_leaves_nothing_unsure() -> None:
    draws = {ear: np.tile(N3, (100, 1)).astype(float) for ear in ("left", "right")}
    known = {"left": N3, "right": N3}
    fit = fit_of_thresholds(FREQUENCIES_HZ, known, draws_db_hl=draws)
    assert fit.uncertainty_db == (0.0, 0.0, 0.0, 0.0)
    assert fit == fit_of_thresholds(FREQUENCIES_HZ, known)


def test_thresholds_that_move_together_leave_the_overall_gain_unsure() -> None:
    chance = np.random.Generator(np.random.Philox(1))
    moved_db = chance.standard_normal((2000, 1))
    draws = {"left": np.array(MILD) + moved_db}
    fit = fit_of_thresholds(FREQUENCIES_HZ, {"left": MILD}, "half-gain", draws_db_hl=draws)
    overall_db, tilt_db, mid_db, _soft_db = fit.uncertainty_db

    assert overall_db == pytest.approx(0.5, abs=0.025)  # half of the 1 dB
    assert tilt_db < 0.125  # the largest ratio is no straight line
    assert mid_db < 0.125
    assert fit.prior_sd_db()["overall_db"] == pytest.approx(np.hypot(5.0, overall_db))


def test_thresholds_that_turn_leave_the_tilt_unsure() -> None:
    chance = np.random.Generator(np.random.Philox(2))
    turned = np.clip(np.log2(np.array(FREQUENCIES_HZ) / 500.0) / 3.0, 0.0, 1.0) - 0.5
    draws = {"left": np.array(MILD) + 2.0 * chance.standard_normal((2000, 1)) * turned}
    fit = fit_of_thresholds(FREQUENCIES_HZ, {"left": MILD}, "half-gain", draws_db_hl=draws)
    assert fit.uncertainty_db[1] == pytest.approx(1.0, abs=0.1)
    assert fit.uncertainty_db[2] < 0.1


def test_what_cannot_be_fitted_is_named() -> None:
    for frequencies_hz, rule, coupling, said in (
        ((500, 1000), "nal-r", "closed", "nal-r needs the thresholds from 500 to 2000 Hz"),
        ((500, 2000), "loud", "closed", "rule is 'loud'"),
        ((500, 2000), "nal-r", "dome", "coupling is 'dome'"),
    ):
        with pytest.raises(ValueError, match=said):
            fit_of_thresholds(frequencies_hz, {"left": [40.0, 40.0]}, rule, coupling)
    with pytest.raises(ValueError, match="thresholds_db_hl has nan"):
        fit_of_thresholds((500, 2000), {"left": [40.0, float("nan")]})
