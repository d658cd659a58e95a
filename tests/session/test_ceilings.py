"""The choice of a tone under a ceiling for every candidate frequency."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.inference.estimator import Stimulus, ThresholdEstimator

PROFILES = ("default", "gp-pta-2015")
ANSWERS = ((1000.0, 40.0, True), (1000.0, 20.0, False), (4000.0, 50.0, False), (250.0, 30.0, True))


def after_some_answers(profile: str) -> ThresholdEstimator:
    estimator = ThresholdEstimator(
        profile,
        max_trials=8,
        level_limits_db_hl=(-10.0, 100.0),
        frequency_weight=[(1000.0, 1.0)],  # none counts more than another
    )
    for frequency_hz, level_db_hl, heard in ANSWERS:
        estimator.observe(frequency_hz, level_db_hl, heard)
    return estimator


ESTIMATORS = {profile: after_some_answers(profile) for profile in PROFILES}


def one_by_one(
    estimator: ThresholdEstimator,
    ceilings_db_hl: Sequence[float],
    floors_db_hl: Sequence[float],
) -> Stimulus:
    """Ask for the best tone at every candidate alone, and take the best of them."""
    candidates_hz = estimator.candidate_frequencies_hz
    best = [
        estimator.next_stimulus(
            ceiling, [f for f in candidates_hz if f != own_hz], level_min_db_hl=floor
        )
        for own_hz, ceiling, floor in zip(candidates_hz, ceilings_db_hl, floors_db_hl, strict=True)
    ]
    return max(best, key=lambda tone: tone.information_bits)


@settings(max_examples=20)
@given(st.sampled_from(["default", "gp-pta-2015"]), st.randoms(use_true_random=False))
def test_the_best_tone_is_the_best_of_all_candidates(profile: str, random: object) -> None:
    estimator = ESTIMATORS[profile]
    draw = random.choice  # type: ignore[attr-defined]
    ceilings = [draw([0.0, 25.0, 37.0, 60.0, 200.0]) for _ in estimator.candidate_frequencies_hz]
    floors = [draw([-10.0, -20.0, 4.0, 31.0]) for _ in estimator.candidate_frequencies_hz]

    tone = estimator.next_stimulus(ceilings, level_min_db_hl=floors)
    index = estimator.candidate_frequencies_hz.index(tone.frequency_hz)

    assert tone.level_db_hl <= min(ceilings[index], 100.0)
    assert tone.level_db_hl >= min(floors[index], ceilings[index])
    expected = one_by_one(estimator, ceilings, floors)
    assert tone.information_bits == pytest.approx(expected.information_bits, rel=1e-12)


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_excluded_stays_so_under_ceilings(profile: str) -> None:
    estimator = ESTIMATORS[profile]
    candidates_hz = estimator.candidate_frequencies_hz
    ceilings = [20.0 + 5.0 * (i % 3) for i in range(len(candidates_hz))]

    tone = estimator.next_stimulus(ceilings, candidates_hz[1:])

    assert tone.frequency_hz == candidates_hz[0]
    assert tone.level_db_hl <= ceilings[0]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({0: -10.5}, "level_max_db_hl is -10.5; allowed is -10 to inf"),
        ({1: math.nan}, "level_max_db_hl is nan; allowed is -10 to inf"),
        ({1: "40"}, "level_max_db_hl is '40'; allowed is -10 to inf"),
        ({-1: None}, "ceilings; allowed is one, or one for each of the"),
    ],
)
def test_wrong_ceilings_are_named(profile: str, changes: dict[int, object], words: str) -> None:
    estimator = ESTIMATORS[profile]
    ceilings: list[object] = [50.0] * len(estimator.candidate_frequencies_hz)
    for index, value in changes.items():
        if value is None:
            del ceilings[index]
        else:
            ceilings[index] = value
    with pytest.raises(ValueError, match=r"^level_max_db_hl ") as refusal:
        estimator.next_stimulus(ceilings)  # type: ignore[arg-type]
    assert words in str(refusal.value)
