"""A fit from thresholds has the rule's gains within its limits, and knows how sure they are."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from device.hearing_aid.limits import limits
from device.hearing_aid.prescription import compression, fit_of_thresholds, prescribe
from device.hearing_aid.rules import RULES, insertion_gain
from device.speech import FloatArray
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from tests.budget import examples

N3 = STANDARD_AUDIOGRAMS_DB_HL["N3"]
MILD = tuple(float(level) for level in np.linspace(10.0, 28.0, len(FREQUENCIES_HZ)))  # unlimited
ROUNDED_OFF_DB = 1.25  # at a corner between 5 dB, from a constant gain to a constant output
CENTERS_HZ = (250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("audiogram", STANDARD_AUDIOGRAMS_DB_HL)
def test_conversation_gets_the_gain_of_the_rule_or_the_most_there_may_be(
    audiogram: str, rule: str
) -> None:
    thresholds_db_hl = STANDARD_AUDIOGRAMS_DB_HL[audiogram]
    fit = fit_of_thresholds(FREQUENCIES_HZ, {"left": thresholds_db_hl}, rule)
    (ear,) = fit.ears
    target_db = insertion_gain(rule, FREQUENCIES_HZ, thresholds_db_hl)
    most_db = limits(np.array(FREQUENCIES_HZ), np.array(thresholds_db_hl)).gain_max_db()

    # The table has a gain every 5 dB, which rounds off the end of a line.
    assert_allclose(ear.gain_of_speech_db(), np.minimum(target_db, most_db), atol=ROUNDED_OFF_DB)
    below = target_db < most_db - 5.0
    assert_allclose(ear.gain_of_speech_db()[below], target_db[below], atol=0.01)


@pytest.mark.parametrize("rule", ["nal-r", "camfit"])
@pytest.mark.parametrize("audiogram", STANDARD_AUDIOGRAMS_DB_HL)
def test_soft_speech_keeps_its_gain_where_no_limit_of_soft_speech_binds(
    audiogram: str, rule: str
) -> None:
    thresholds_db_hl = np.array(STANDARD_AUDIOGRAMS_DB_HL[audiogram])
    centers_hz = np.array(FREQUENCIES_HZ)
    (ear,) = fit_of_thresholds(FREQUENCIES_HZ, {"left": thresholds_db_hl}, rule).ears
    free = compression(centers_hz, insertion_gain(rule, centers_hz, thresholds_db_hl))
    for speech_db_spl in (50.0, 65.0, 80.0):
        levels_db_spl = free.speech_db_spl + speech_db_spl - 65.0
        of_rule_db, within = free.gain_at(levels_db_spl), limits(centers_hz, thresholds_db_hl)
        output_db_spl = levels_db_spl + 12.0 + ear.gain_of_speech_db(speech_db_spl)
        binds = of_rule_db > within.gain_max_db(speech_db_spl)
        lost_db = of_rule_db - ear.gain_of_speech_db(speech_db_spl)
        assert np.all(lost_db[~binds] <= 1.0)
        most_db_spl = np.maximum(within.output_max_db_spl, levels_db_spl + 12.0)
        assert np.all(output_db_spl <= most_db_spl + ROUNDED_OFF_DB)


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


@pytest.mark.parametrize("rule", RULES)
def test_many_audiograms_at_once_get_what_each_gets_alone(rule: str) -> None:
    centers_hz, audiograms = np.array(FREQUENCIES_HZ), [*STANDARD_AUDIOGRAMS_DB_HL.values()]
    together = prescribe(centers_hz, np.array(audiograms), rule, "open")
    for k, audiogram in enumerate(audiograms):
        alone = prescribe(centers_hz, np.array(audiogram), rule, "open")
        assert_array_equal(together.target_db[k], alone.target_db)
        assert_array_equal(together.limits.output_max_db_spl[k], alone.limits.output_max_db_spl)
        assert_array_equal(together.limits.gain_max_db()[k], alone.limits.gain_max_db())
        assert_array_equal(together.knee_db_spl[k], alone.knee_db_spl)
        assert_array_equal(together.table_db()[k], alone.table_db())


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


@pytest.mark.parametrize(
    ("frequencies_hz", "rule", "coupling", "level", "said"),
    [
        ((500, 1000), "nal-r", "closed", 40.0, "nal-r needs the thresholds from 500 to 2000 Hz"),
        ((500, 2000), "loud", "closed", 40.0, "rule is 'loud'"),
        ((500, 2000), "nal-r", "dome", 40.0, "coupling is 'dome'; allowed are closed, open"),
        ((500, 2000), "nal-r", "closed", float("nan"), "thresholds_db_hl has nan"),
    ],
)
def test_what_cannot_be_fitted_is_named(
    frequencies_hz: tuple[int, int], rule: str, coupling: str, level: float, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        fit_of_thresholds(frequencies_hz, {"left": [40.0, level]}, rule, coupling)


@dataclass(frozen=True)
class Known:
    db: FloatArray
    draws_db: FloatArray


@budget(max_examples=examples(60))
@given(
    thresholds_db_hl=st.lists(st.floats(-10.0, 120.0), min_size=6, max_size=6),
    gaps_db=st.lists(st.floats(0.0, 60.0), min_size=6, max_size=6),
    coupling=st.sampled_from(["closed", "open"]),
)
def test_a_gap_raises_no_limit_and_no_gain_above_one(
    thresholds_db_hl: list[float], gaps_db: list[float], coupling: str
) -> None:
    known = {"left": thresholds_db_hl}
    for rule in ("nal-rp", "half-gain"):
        (without,) = fit_of_thresholds(CENTERS_HZ, known, rule, coupling).ears
        gaps = {"left": Known(np.array(gaps_db), np.array([gaps_db]))}
        (ear,) = fit_of_thresholds(CENTERS_HZ, known, rule, coupling, gaps=gaps).ears

        within = limits(np.array(CENTERS_HZ), np.array(thresholds_db_hl), coupling)
        assert ear.output_max_db_spl == without.output_max_db_spl
        assert [b.output_max_db_spl for b in ear.bands] == within.output_max_db_spl.tolist()
        assert [b.gain_max_db for b in ear.bands] == within.feedback_db.tolist()
        assert np.all(ear.table.gains_db <= ear.gains_max_db + 0.01)
        assert np.all(ear.table.gains_db >= without.table.gains_db - 0.01)
        target_db = insertion_gain(rule, CENTERS_HZ, thresholds_db_hl, gaps_db)
        most_db = np.minimum(target_db, within.gain_max_db())
        assert_allclose(ear.gain_of_speech_db(), most_db, atol=ROUNDED_OFF_DB)


def test_what_is_for_a_gap_is_the_same_at_every_level() -> None:
    # 20 dB HL and a gap of 14 dB, half gain: 10 dB for speech at 65 dB SPL, and 3.5 dB beside that
    thresholds_db_hl, gaps_db = np.full(3, 20.0), np.full(3, 14.0)
    centers_hz = np.array([500.0, 1000.0, 2000.0])
    free = prescribe(centers_hz, thresholds_db_hl, "half-gain", "closed")
    found = prescribe(centers_hz, thresholds_db_hl, "half-gain", "closed", gaps_db)

    assert_allclose(found.for_gap_db, 3.5)
    for above_db in (-15.0, 0.0, 5.0, 15.0, 60.0):
        levels_db_spl = found.compression.speech_db_spl + above_db
        within, without_db = found.limits, free.compression.gain_at(levels_db_spl)
        room_db = np.maximum(within.output_max_db_spl - 12.0 - levels_db_spl, 0.0) - without_db
        added_db = found.gain_at(levels_db_spl) - free.gain_at(levels_db_spl)
        assert_allclose(added_db, np.clip(room_db, 0.0, 3.5), atol=1e-9)
        if above_db == 0.0:
            assert room_db[0] < 0.0 < room_db[2] < 3.5 < room_db[1], "nothing, a part, and all"
    assert_allclose(found.compression.ratio, free.compression.ratio)


def test_gaps_that_are_unsure_make_the_setting_unsure() -> None:
    draws_db_hl = {"left": np.tile(MILD, (400, 1))}
    unsure = np.random.default_rng(5).normal(6.0, 1.5, (400, 1)) * np.ones(len(MILD))
    gaps = {"left": Known(np.full(len(MILD), 6.0), unsure)}
    fit = fit_of_thresholds(
        FREQUENCIES_HZ, {"left": MILD}, "half-gain", draws_db_hl=draws_db_hl, gaps=gaps
    )
    overall_db, *others_db = fit.uncertainty_db
    quarter_db = 0.25 * unsure.std()
    assert 0.8 * quarter_db < overall_db < 1.05 * quarter_db, "limits hold little of it"
    assert max(others_db) < 0.5 * overall_db


# Compression keeps the rule's gain for conversation, and lets loud sounds be


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


@given(thresholds_db_hl=st.lists(st.floats(-10.0, 120.0), min_size=6, max_size=6))
def test_the_knee_is_where_the_gain_within_the_limits_begins_to_fall(
    thresholds_db_hl: list[float],
) -> None:
    found = prescribe(np.array(CENTERS_HZ), np.array(thresholds_db_hl), "nal-rp", "closed")
    knee_db_spl, most_db = found.knee_db_spl, found.gain_at(0.0)
    assert_allclose(found.gain_at(knee_db_spl), most_db, atol=1e-6)
    falls = (found.compression.ratio > 1.01) & (most_db > 0.1)
    assert np.all((found.gain_at(knee_db_spl + 3.0) < most_db - 1e-3)[falls])
