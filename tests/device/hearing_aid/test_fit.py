"""A fit has only values that an aid may get, and stays within its limits however it is tuned."""

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budget
from numpy.testing import assert_allclose

from device.hearing_aid.electroacoustics import STANDARD_NAMES, standard_fit
from device.hearing_aid.fit import (
    INPUT_LEVELS_DB_SPL,
    OFF_MAX_DB,
    OTHERS_OFF_MAX_DB,
    BandFit,
    EarFit,
    Fit,
    FitError,
)
from device.speech import speech_in_bands
from firmware_py.comparisons.space import DIMENSIONS, PRESCRIPTION, Setting
from tests.budget import examples, quick
from tests.device.hearing_aid.fits import (
    CENTERS_HZ,
    fits,
    plain_band,
    plain_ear,
    plain_fit,
    settings,
)

NAN = math.nan
FLAT = (10.0,) * len(INPUT_LEVELS_DB_SPL)


BAND, EAR, FIT = BandFit(1000.0, FLAT, 50.0, 100.0), plain_ear(), plain_fit()


@pytest.mark.parametrize(
    ("of", "field", "value", "said"),
    [
        (BAND, "center_hz", NAN, "center_hz is nan; allowed are numbers from 20 to 20000 Hz"),
        (BAND, "center_hz", 19.9, "center_hz is 19.9; allowed are numbers from 20 to 20000 Hz"),
        (BAND, "center_hz", True, "center_hz is True"),
        (BAND, "center_hz", "1000", "center_hz is '1000'"),
        (BAND, "gain_max_db", 80.1, "gain_max_db of the band at 1000 Hz is 80.1; allowed are num"),
        (BAND, "gain_max_db", math.inf, "is inf; allowed are numbers from 0 to 80 dB"),
        (
            BAND,
            "gain_max_db",
            9.9,
            "at 0 dB SPL is 10.0; allowed are numbers from 0 to 9.9 dB, the",
        ),
        (BAND, "output_max_db_spl", 111.1, "is 111.1; allowed are numbers from 0 to 111 dB SPL"),
        (BAND, "output_max_db_spl", NAN, "is nan; allowed are numbers from 0 to 111 dB SPL"),
        (BAND, "gains_db", FLAT[1:], "allowed is one gain for each of 25 input levels"),
        (BAND, "gains_db", list(FLAT), "allowed is one gain for each of 25 input levels"),
        (BAND, "gains_db", (*FLAT[1:], NAN), "at 120 dB SPL is nan; allowed are numbers from 0 to"),
        (BAND, "gains_db", (-0.1, *FLAT[1:]), "at 0 dB SPL is -0.1; allowed are numbers from 0 to"),
        (
            BAND,
            "gains_db",
            (*FLAT[1:], 4.9),
            "falls by 5.1 dB from a level to the next; allowed is 5",
        ),
        (EAR, "ear", "both", "ear is 'both'; allowed are left, right"),
        (EAR, "bands", (), "bands of the left ear is (); allowed are 1 to 32"),
        (EAR, "bands", (BAND,) * 2, "center_hz of the left ear is [1000.0, 1000.0]; allowed is"),
        (EAR, "bands", (plain_band(2000.0), BAND), "allowed is each above the last"),
        (EAR, "output_max_db_spl", 114.1, "allowed are numbers from 0 to 114 dB SPL"),
        (FIT, "ears", (), "ears is (); allowed are one or two"),
        (FIT, "ears", (EAR, EAR), "ears is ['left', 'left']; allowed is each ear once"),
        (
            FIT,
            "ears",
            (EAR, EarFit("right", (BAND,), 100.0)),
            "second ear is [1000.0]; allowed are",
        ),
        (FIT, "rule", "a\nb", "rule is 'a\\nb'; allowed is a text that can be printed"),
        (FIT, "source", "x" * 2001, "allowed is a text that can be printed, 2000 characters"),
        (FIT, "uncertainty_db", (1.0,), "uncertainty_db is (1.0,); allowed are 4 numbers"),
        (FIT, "uncertainty_db", (0.0, NAN, 0.0, 0.0), "uncertainty_db of tilt_db is nan"),
        (FIT, "uncertainty_db", (80.1, 0.0, 0.0, 0.0), "is 80.1; allowed are numbers from 0 to 80"),
    ],
)
def test_what_no_aid_may_get_is_refused(of: Any, field: str, value: Any, said: str) -> None:
    with pytest.raises(FitError, match=re.escape(said)):
        replace(of, **{field: value})


def test_an_ear_that_is_not_fitted_is_named() -> None:
    one = Fit((plain_ear("left"),), "by hand", "nobody")
    assert one.of_ear("left") == one.ears[0]
    with pytest.raises(FitError, match="the fit from nobody has no right ear"):
        one.of_ear("right")


def test_between_levels_and_centres_the_gain_is_on_a_line() -> None:
    low, high = plain_band(1000.0, 20.0), plain_band(4000.0, 30.0)
    ear = EarFit("left", (low, high), 100.0)

    assert ear.gain_db(1000.0, 40.0) == 20.0
    assert ear.gain_db(1000.0, 43.0) == pytest.approx(18.5)
    assert ear.gain_db(2000.0, 40.0) == pytest.approx(25.0)
    assert ear.gain_db(100.0, -20.0) == 20.0
    assert ear.gain_db(9000.0, 500.0) == high.output_max_db_spl - 500.0, "and within the limit"


@budget(max_examples=examples(60))
@given(fit=fits(), setting=settings)
def test_no_setting_leaves_the_limits_of_the_fit(fit: Fit, setting: Setting) -> None:
    tuned = fit.tune(setting)  # which a `Fit` that leaves them would refuse
    for before, after in zip(fit.ears, tuned.ears, strict=True):
        assert after.output_max_db_spl == before.output_max_db_spl
        for band, now in zip(before.bands, after.bands, strict=True):
            assert now.gain_max_db == band.gain_max_db
            assert now.output_max_db_spl == band.output_max_db_spl
            assert 0.0 <= min(now.gains_db) <= max(now.gains_db) <= band.gain_max_db
        for band, level_db_spl in zip(after.bands, after.limited_from_db_spl, strict=True):
            output = level_db_spl + np.interp(level_db_spl, INPUT_LEVELS_DB_SPL, band.gains_db)
            assert output >= band.output_max_db_spl - 0.1
            assert level_db_spl <= 0.0 or output <= band.output_max_db_spl + 0.1


def louder_db(before: EarFit, after: EarFit) -> float:
    """Return how much louder conversational speech comes out, dB(A), by a reckoning of its own."""
    levels_db_a = speech_in_bands(before.table.center_hz, a_weighted=True)

    def level_db_a(ear: EarFit) -> float:
        return float(
            10.0 * np.log10(np.sum(10.0 ** (0.1 * (levels_db_a + ear.gain_of_speech_db()))))
        )

    return level_db_a(after) - level_db_a(before)


@budget(max_examples=examples(60))
@given(setting=settings)
def test_what_a_setting_says_comes_out_where_no_limit_is_near(setting: Setting) -> None:
    setting = Setting.of(tuple(0.5 * value_db for value_db in setting.values_db()))
    fit = plain_fit(gain_db=25.0, most_db=80.0)
    for ear, tuned, numbers_db in zip(
        fit.ears, fit.tune(setting).ears, fit.comes_out_db(setting), strict=True
    ):
        gains_db = tuned.table.gains_db[:, 5:15]
        if gains_db.min() <= 0.0 or np.any(gains_db >= ear.gains_max_db[:, 5:15]):
            continue  # something is lost to the limits where speech is, 25 to 70 dB SPL
        assert louder_db(ear, tuned) == pytest.approx(setting.overall_db, abs=0.05)
        assert_allclose(numbers_db, setting.values_db(), atol=0.05)


@pytest.mark.parametrize("rule", ["nal-r", "camfit"])
@pytest.mark.parametrize("name", quick(STANDARD_NAMES, "N2", "N3", "N4", "N5"))
def test_what_is_offered_comes_out_and_six_db_are_six_or_are_not_offered(
    name: str, rule: str
) -> None:
    fit = standard_fit(name, rule)
    for number, ends_db in fit.ranges_db().items():
        for end_db in (*ends_db, *np.clip((-6.0, 6.0), *ends_db)):
            setting = replace(PRESCRIPTION, **{number: float(end_db)})
            for before, after, found in zip(
                fit.ears, fit.tune(setting).ears, fit.comes_out_db(setting), strict=True
            ):
                off_db = np.abs(found - setting.values_db())
                own = np.array(setting.values_db()) != 0.0
                assert np.all(off_db[own] <= OFF_MAX_DB + 0.01)
                assert np.all(off_db[~own] <= OTHERS_OFF_MAX_DB + 0.01)
                assert louder_db(before, after) == pytest.approx(setting.overall_db, abs=1.0)


def test_each_number_has_its_shape() -> None:
    fit = plain_fit(gain_db=30.0, most_db=80.0)
    ear = fit.ears[0]

    def added_db(setting: Setting, speech_db_spl: float = 65.0) -> np.ndarray:
        tuned = fit.tune(setting).ears[0]
        return tuned.gain_of_speech_db(speech_db_spl) - ear.gain_of_speech_db(speech_db_spl)

    assert_allclose(added_db(Setting(overall_db=5.0)), 5.0, atol=0.02)
    tilted_db = added_db(Setting(tilt_db=6.0))
    # at 1.5 kHz it is half of the way, which 2 dB an octave are not quite
    assert_allclose(np.diff(tilted_db), [0.0, 2.0, 2.0, 2.0, 0.0], atol=0.2)
    assert tilted_db[4] - tilted_db[1] == pytest.approx(6.0, abs=0.03)
    bump_db = added_db(Setting(mid_db=6.0))
    assert_allclose(np.interp(0.585, (0.0, 1.0), bump_db[2:4]) - bump_db[1], 6.0, atol=0.05)
    assert_allclose(bump_db[[0, 1, 4, 5]], bump_db[0], atol=0.1)
    assert bump_db[0] < -3.0, "speech is as loud as it was"
    for speech_db_spl, expected_db in ((50.0, 3.0), (65.0, 0.0), (80.0, -3.0)):
        soft_db = added_db(Setting(soft_db=6.0), speech_db_spl)
        assert_allclose(soft_db, expected_db, atol=0.6)  # the table has a gain every 5 dB
    assert fit.tune(PRESCRIPTION) == fit


@budget(max_examples=examples(60))
@given(setting=settings)
def test_no_ratio_becomes_more_than_five(setting: Setting) -> None:
    for ear in plain_fit(gain_db=30.0, most_db=80.0).tune(setting).ears:
        steps_db, free = np.diff(ear.table.gains_db, axis=1), ear.table.gains_db < ear.gains_max_db
        assert steps_db[free[:, 1:]].min() >= -5.0 * (1.0 - 1.0 / 5.0) - 0.011


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (Setting(tilt_db=12.5), "tilt_db of the setting is 12.5; allowed are numbers from -12 to"),
        (Setting(soft_db=NAN), "soft_db of the setting is nan"),
    ],
)
def test_a_setting_beyond_its_limit_is_refused(setting: Setting, said: str) -> None:
    with pytest.raises(FitError, match=said):
        plain_fit().tune(setting)


def test_what_was_tuned_says_so_and_has_the_centres_that_were() -> None:
    tuned = plain_fit().tune(Setting(overall_db=1.5, soft_db=-2.0))
    assert [band.center_hz for band in tuned.ears[1].bands] == [*CENTERS_HZ]
    assert tuned.rule == "by hand; tuned: overall +1.5, tilt +0.0, mid +0.0, soft -2.0 dB"


def test_every_number_goes_as_far_as_what_it_says_comes_out() -> None:
    ranges_db = plain_fit(gain_db=30.0, most_db=80.0).ranges_db()
    limits = {d.name: (-d.limit_db, d.limit_db) for d in DIMENSIONS}
    # the peaks of conversational speech, 72 dB SPL below 500 Hz, get 20 dB, and may reach 100
    assert ranges_db == limits | {"overall_db": (-12.0, 8.5)}
    # where soft speech is in each band the gains fall by half a dB for 1 dB, and may fall by 0.8
    assert plain_fit(gain_db=45.0, most_db=80.0).ranges_db()["soft_db"][1] < 9.0
    assert plain_fit(gain_db=0.0, most_db=6.0).ranges_db()["overall_db"] == (0.0, 6.0)


@budget(max_examples=25, deadline=None)
@given(fit=fits())
def test_a_range_holds_none_and_within_it_speech_keeps_its_level(fit: Fit) -> None:
    for name, (low_db, high_db) in fit.ranges_db().items():
        assert -12.0 <= low_db <= 0.0 <= high_db <= 12.0
        for value_db in (low_db, high_db):
            setting = replace(PRESCRIPTION, **{name: value_db})
            for before, after in zip(fit.ears, fit.tune(setting).ears, strict=True):
                wanted_db = setting.overall_db
                assert louder_db(before, after) == pytest.approx(wanted_db, abs=OTHERS_OFF_MAX_DB)


def test_the_prior_is_as_wide_as_wishes_and_thresholds_together() -> None:
    prior = plain_fit().prior_sd_db()
    wishes = {d.name: d.wish_sd_db for d in DIMENSIONS}
    assert prior["soft_db"] == wishes["soft_db"]
    assert prior["mid_db"] == pytest.approx(math.hypot(wishes["mid_db"], 3.0))
