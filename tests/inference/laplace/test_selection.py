"""The choice of the next tone: BALD, its optimum, and what is allowed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from firmware_py import ThresholdEstimator
from firmware_py.inference.kernel import CONVERGED, NONE_ALLOWED
from firmware_py.inference.laplace.selection import (
    bald,
    best_level,
    binary_entropy_of_normal,
    select,
)
from firmware_py.inference.rate import CHOICE_ENTRIES, PER_TONE, Seconds
from tests import reference
from tests.inference.listeners import listener, session
from tests.inference.models import PAPER, PROFILES
from tests.reference import binary_entropy_of_margin

means = st.floats(-20.0, 130.0)
sds = st.floats(0.02, 60.0)
noises = st.floats(0.1, 30.0)
times = st.builds(Seconds, st.floats(0.1, 10.0), st.floats(0.1, 10.0))


@given(st.floats(-40.0, 40.0))
def test_entropy_is_that_of_the_reference(z: float) -> None:
    expected = float(binary_entropy_of_margin(z))
    assert binary_entropy_of_normal(z) == pytest.approx(expected, rel=1e-11, abs=1e-290)


@given(means, sds, st.floats(-10.0, 120.0), noises)
def test_bald_is_that_of_the_reference_but_never_negative(
    mean_db_hl: float, sd_db: float, level_db_hl: float, noise_db: float
) -> None:
    expected = max(0.0, float(reference.bald(mean_db_hl, sd_db, level_db_hl, noise_db)))
    found = bald(mean_db_hl, sd_db, level_db_hl, noise_db)
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-15)


@given(means, sds, noises, st.sampled_from([(-10.0, 120.0), (30.0, 60.0)]), times)
def test_the_best_level_has_the_best_rate_of_a_grid(
    mean_db_hl: float, sd_db: float, noise_db: float, limits_db_hl: tuple[float, float],
    seconds: Seconds,
) -> None:  # fmt: skip
    spread_db = np.hypot(sd_db, noise_db)
    grid = np.clip(mean_db_hl + np.linspace(-5.0, 5.0, 1001) * spread_db, *limits_db_hl)
    found = best_level(mean_db_hl, sd_db, noise_db, *limits_db_hl, seconds)
    level_db_hl = np.append(grid, found)
    bits = np.maximum(0.0, reference.bald(mean_db_hl, sd_db, level_db_hl, noise_db))
    pressed = special.ndtr((level_db_hl - mean_db_hl) / spread_db)
    rate = bits / (pressed * seconds.answered + (1.0 - pressed) * seconds.silent)

    assert limits_db_hl[0] <= found <= limits_db_hl[1]
    assert rate[-1] >= np.max(rate) * (1.0 - 1e-6) - 1e-12
    if seconds.answered != seconds.silent and bits[-1] > 1e-6:
        nearest = np.clip(mean_db_hl, *limits_db_hl)
        assert (found - nearest) * (seconds.silent - seconds.answered) >= 0.0


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.booleans(),
    st.sampled_from([PER_TONE, Seconds(1.4, 2.0), Seconds(5.0, 0.5)]),
)
def test_choice_is_the_best_of_a_grid(
    seed: int, points: int, narrow: bool, seconds: Seconds
) -> None:
    rng = np.random.default_rng(seed)
    mean_db_hl = rng.uniform(-30.0, 140.0, points)
    sd_db = np.exp(rng.uniform(-3.0, 4.0, points))
    weight = rng.uniform(0.0, 2.0, points) * (rng.random(points) < 0.8)
    noise_db = float(np.exp(rng.uniform(-2.0, 3.0)))
    low, high = (30.0, 60.0) if narrow else (-10.0, 120.0)
    floors_db_hl = low + rng.choice([0.0, 20.0], points)  # a room raises some
    choice = np.full(CHOICE_ENTRIES, np.nan)
    status = select(
        mean_db_hl, sd_db, noise_db, weight, floors_db_hl, np.full(points, high), seconds, choice
    )
    if not np.any(weight > 0.0):
        assert status == NONE_ALLOWED
        return
    levels_db_hl = np.linspace(floors_db_hl, high, 201, axis=1)
    grid = np.maximum(
        0.0, reference.bald(mean_db_hl[:, None], sd_db[:, None], levels_db_hl, noise_db)
    )
    index = int(choice[0])
    level_db_hl, bits, taken = choice[1:].tolist()
    spread_db = np.hypot(sd_db, noise_db)[:, None]
    pressed = special.ndtr((levels_db_hl - mean_db_hl[:, None]) / spread_db)
    grid /= pressed * seconds.answered + (1.0 - pressed) * seconds.silent

    assert status == CONVERGED
    assert weight[index] > 0.0
    assert floors_db_hl[index] <= level_db_hl <= high
    assert bits == bald(float(mean_db_hl[index]), float(sd_db[index]), level_db_hl, noise_db)
    assert weight[index] * bits / taken >= np.max(weight[:, None] * grid) * (1.0 - 1e-6) - 1e-12


# --- through the estimator -----------------------------------------------------------------------


def test_next_stimulus_is_the_best_candidate_of_the_reference() -> None:
    estimator = ThresholdEstimator(PAPER, level_limits_db_hl=(10.0, 70.0))
    candidates_hz = np.array(estimator.candidate_frequencies_hz)
    for _ in session(estimator, listener("S2", seed=5), 15):
        mean_db_hl, sd_db = estimator.threshold(candidates_hz)
        noise_db = estimator.hyperparameters.response_noise_db
        level_db_hl = np.clip(mean_db_hl, 10.0, 70.0)
        bits = reference.bald(mean_db_hl, sd_db, level_db_hl, noise_db)
        tone = estimator.next_stimulus()
        index = int(np.searchsorted(candidates_hz, tone.frequency_hz))

        assert candidates_hz[index] == tone.frequency_hz
        assert tone.level_db_hl == pytest.approx(float(level_db_hl[index]), abs=1e-12)
        assert bits[index] >= np.max(bits) - 1e-12
        assert tone.information_bits == pytest.approx(float(bits[index]), rel=1e-9)


@pytest.mark.parametrize("profile", PROFILES)
def test_frequencies_of_weight_0_are_never_asked(profile: str) -> None:
    estimator = ThresholdEstimator(
        profile, frequency_weight=[(900.0, 0.0), (1000.0, 1.0), (1500.0, 2.0), (1501.0, 0.0)]
    )
    asked_hz = [a.frequency_hz for a in session(estimator, listener("N3", seed=6), 25)]
    assert 900.0 < min(asked_hz) <= max(asked_hz) < 1501.0


@pytest.mark.parametrize("profile", PROFILES)
def test_frequency_range_and_level_limits_hold(profile: str) -> None:
    estimator = ThresholdEstimator(
        profile, frequency_range_hz=(500.0, 4000.0), level_limits_db_hl=(20.0, 45.0)
    )
    candidates_hz = estimator.candidate_frequencies_hz
    assert (candidates_hz[0], candidates_hz[-1]) == (500.0, 4000.0)
    for answer in session(estimator, listener("N6", seed=7), 25):
        assert 500.0 <= answer.frequency_hz <= 4000.0
        assert 20.0 <= answer.level_db_hl <= 45.0


@pytest.mark.parametrize("profile", PROFILES)
def test_ceiling_of_one_tone_holds_for_that_tone(profile: str) -> None:
    estimator = ThresholdEstimator(profile)
    for _ in session(estimator, listener("N5", seed=8), 10):
        free = estimator.next_stimulus()
        for ceiling_db_hl in (-10.0, 35.0, 60.0):
            tone = estimator.next_stimulus(level_max_db_hl=ceiling_db_hl)
            assert -10.0 <= tone.level_db_hl <= ceiling_db_hl
        assert estimator.next_stimulus(level_max_db_hl=1000.0) == free
        assert estimator.next_stimulus() == free


@pytest.mark.parametrize("profile", PROFILES)
def test_excluded_frequencies_are_not_asked_unless_there_is_no_other(profile: str) -> None:
    # The prior of "default" has one knot there: candidates have to be asked for.
    candidates = 3 if profile == "default" else None
    estimator, new = (
        ThresholdEstimator(profile, frequency_range_hz=(1000.0, 1002.0), candidates=candidates)
        for _ in range(2)
    )
    all_hz = {1000.0, 1001.0, 1002.0}
    assert new.next_stimulus(exclude_hz=all_hz) == estimator.next_stimulus()
    hears = listener("N3", seed=17)
    for _ in session(estimator, hears, 6):
        free = estimator.next_stimulus()
        others = all_hz - {free.frequency_hz}
        assert estimator.next_stimulus(exclude_hz=[free.frequency_hz]).frequency_hz in others
        assert estimator.next_stimulus(exclude_hz=others) == free
        assert estimator.next_stimulus(exclude_hz=(500.0, 1001.5)) == free
        assert estimator.next_stimulus(exclude_hz=all_hz) == free
        assert estimator.next_stimulus() == free


def test_where_nothing_can_be_learnt_something_is_still_chosen() -> None:
    choice = np.full(CHOICE_ENTRIES, np.nan)
    two = np.ones(2)
    status = select(1e4 * two, 0.01 * two, 2.0, two, -10.0 * two, 120.0 * two, PER_TONE, choice)
    assert (status, *choice) == (CONVERGED, 0.0, 120.0, 0.0, 1.0)
