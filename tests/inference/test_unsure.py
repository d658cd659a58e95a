"""Bands of listeners with a second button, for "perhaps", whose dead zone nobody told."""

import numpy as np
import pytest

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from firmware_py.inference.mixture.population_prior import shipped_prior
from tests.inference.mixture.mixture_state import SimulatedEar, told_listener
from tests.reference import AUDIOGRAM_FREQUENCIES_HZ

# Monte Carlo; that a width is found at all is in test_estimator.py.
pytestmark = pytest.mark.thorough

SEED = 20261101
SESSIONS, TONES = 24, 20
NOISE_DB = 2.0
# Between the half widths that the profile thinks of, and at them; 0: never pressed; 14: at most
# tones.
HALF_WIDTHS_DB = (0.0, 1.5, 3.0, 6.0, 8.0, 14.0)
COVERED_MIN = 0.92  # of 216 thresholds, of which those of one ear go together
FOUND_WITHIN = 2.0  # as a factor


def _session(half_width_db: float, seed: int, told_db: float | None) -> tuple[float, float, float]:
    """Return the share of thresholds in their bands, the width found, and half the mean band."""
    prior = shipped_prior()
    rng = np.random.default_rng([SEED, round(10.0 * half_width_db), seed])
    ear = SimulatedEar(rng, told_listener(NOISE_DB, 0.01, 0.01), half_width_db, prior)
    estimator = ThresholdEstimator(max_trials=TONES, unsure_half_width_db=told_db)
    for _ in range(TONES):
        tone = BITS.choose(estimator)
        heard = ear(tone.frequency_hz, tone.level_db_hl)
        estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)
    truth_db_hl = np.array([ear.at(f) for f in AUDIOGRAM_FREQUENCIES_HZ])
    low_db_hl, high_db_hl = estimator.threshold_band(AUDIOGRAM_FREQUENCIES_HZ)
    covered = np.mean((low_db_hl <= truth_db_hl) & (truth_db_hl <= high_db_hl))
    found_db = estimator.hyperparameters.unsure_half_width_db
    return float(covered), found_db, float(np.mean(high_db_hl - low_db_hl) / 2.0)


def _sessions(half_width_db: float, told_db: float | None) -> tuple[float, float, float]:
    found = [_session(half_width_db, seed, told_db) for seed in range(SESSIONS)]
    covered, found_db, band_db = np.mean(found, axis=0).tolist()
    print(
        f"\nseeds {SEED}, {round(10.0 * half_width_db)}, 0-{SESSIONS - 1}: perhaps within "
        f"{half_width_db:g} dB, told {told_db}: {covered:.3f} covered, found {found_db:.1f} dB, "
        f"bands +-{band_db:.1f} dB"
    )
    return covered, found_db, band_db


@pytest.mark.parametrize("half_width_db", HALF_WIDTHS_DB)
def test_bands_hold_whatever_the_width_is(half_width_db: float) -> None:
    covered, found_db, _ = _sessions(half_width_db, None)
    assert covered >= COVERED_MIN
    if half_width_db:
        assert half_width_db / FOUND_WITHIN < found_db < half_width_db * FOUND_WITHIN
    else:
        assert found_db < 1.5


def test_a_wrong_width_that_is_told_leaves_bands_that_do_not_hold() -> None:
    """The canary: what the inference of the width is for."""
    covered, _, _ = _sessions(8.0, 1.5)
    assert covered < COVERED_MIN


def test_most_of_what_the_button_tells_is_kept_without_a_word_of_its_width() -> None:
    told, inferred, never = (
        _sessions(width_db, told_db)[2]
        for width_db, told_db in ((3.0, 3.0), (3.0, None), (0.0, 0.0))
    )
    print(f"half bands: told {told:.1f} dB, inferred {inferred:.1f} dB, no button {never:.1f} dB")
    assert told < inferred < never
    assert inferred - told < 0.5 * (never - told)
