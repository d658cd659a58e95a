"""The rules give what their published formulas say, point by point."""

from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from device.hearing_aid.rules import RULES, insertion_gain, within_publication
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)

# By hand from the published formulas, at 250, 375, 500, 750 Hz, 1, 1.5, 2, 3, 4 and 6 kHz; at 375
# and 750 Hz NAL's constants are those on the line over log frequency, so -11.735 and -2.735, and
# CAMFIT's at 375 Hz -8.830. CAMFIT's at 6 kHz is that of 5 kHz.
NAL_R: Final = {
    "N1": (0.000, 0.000, 0.000, 2.115, 5.850, 5.850, 5.400, 5.950, 9.050, 12.150),
    "N2": (0.000, 0.000, 2.200, 8.240, 12.750, 14.300, 13.850, 14.400, 15.950, 17.500),
    "N3": (0.100, 5.365, 9.100, 14.365, 19.650, 21.200, 20.750, 21.300, 22.850, 24.400),
    "N4": (8.800, 14.065, 17.800, 23.065, 26.800, 28.350, 27.900, 28.450, 30.000, 31.550),
    "N5": (14.400, 20.440, 24.950, 30.990, 35.500, 37.050, 35.050, 34.050, 34.050, 34.050),
    "N6": (19.000, 25.040, 29.550, 35.590, 40.100, 41.650, 39.650, 40.200, 41.750, 41.750),
    "N7": (26.150, 32.190, 36.700, 43.515, 48.800, 48.800, 46.800, 45.800, 45.800, 45.800),
    "S1": (0.000, 0.000, 0.000, 2.115, 5.850, 5.850, 5.400, 9.050, 16.800, 21.450),
    "S2": (0.000, 0.000, 3.200, 9.240, 13.750, 16.850, 21.050, 26.250, 32.450, 32.450),
    "S3": (0.800, 6.065, 11.350, 20.490, 28.100, 31.200, 30.750, 31.300, 31.300, 32.850),
}
NAL_RP: Final = {
    **NAL_R,  # H3 is 75, 85 and 101.67 dB HL in these, and 60 or less in all others
    "N5": (17.400, 23.440, 27.950, 33.990, 38.500, 40.050, 38.050, 37.050, 37.050, 37.050),
    "N6": (24.000, 30.040, 34.550, 40.590, 45.100, 46.650, 44.650, 45.200, 46.750, 46.750),
    "N7": (42.483, 46.768, 50.033, 53.923, 57.133, 54.133, 50.133, 49.133, 49.133, 49.133),
}
CAMFIT: Final = {
    "N1": (0.000, 0.000, 0.000, 0.000, 4.800, 3.800, 8.200, 8.600, 14.400, 20.200),
    "N2": (0.000, 0.770, 1.600, 4.800, 12.000, 13.400, 17.800, 18.200, 21.600, 25.000),
    "N3": (6.800, 7.970, 8.800, 10.800, 19.200, 20.600, 25.000, 25.400, 28.800, 32.200),
    "N4": (16.400, 17.570, 18.400, 20.400, 26.400, 27.800, 32.200, 32.600, 36.000, 39.400),
    "N5": (21.200, 23.570, 25.600, 28.800, 36.000, 37.400, 39.400, 37.400, 38.400, 39.400),
    "N6": (26.000, 28.370, 30.400, 33.600, 40.800, 42.200, 44.200, 44.600, 48.000, 49.000),
    "N7": (33.200, 35.570, 37.600, 42.000, 50.400, 49.400, 51.400, 49.400, 50.400, 51.400),
    "S1": (0.000, 0.000, 0.000, 0.000, 4.800, 3.800, 8.200, 13.400, 26.400, 34.600),
    "S2": (0.000, 0.770, 1.600, 4.800, 12.000, 15.800, 27.400, 35.000, 45.600, 46.600),
    "S3": (4.400, 5.570, 8.800, 16.800, 28.800, 32.600, 37.000, 37.400, 38.400, 41.800),
}
HALF_GAIN: Final = {
    name: np.array(levels) / 2 for name, levels in STANDARD_AUDIOGRAMS_DB_HL.items()
}
BY_HAND: Final[dict[str, dict[str, Any]]] = {
    "nal-r": {**NAL_R}, "nal-rp": {**NAL_RP}, "camfit": {**CAMFIT}, "half-gain": {**HALF_GAIN}
}  # fmt: skip

OCTAVES_HZ: Final = (250, 500, 1000, 1500, 2000, 3000, 4000, 6000)


@pytest.mark.parametrize("rule", BY_HAND)
@pytest.mark.parametrize("audiogram", STANDARD_AUDIOGRAMS_DB_HL)
def test_standard_audiograms_get_the_gains_worked_out_by_hand(rule: str, audiogram: str) -> None:
    gains_db = insertion_gain(rule, FREQUENCIES_HZ, STANDARD_AUDIOGRAMS_DB_HL[audiogram])
    assert_allclose(gains_db, BY_HAND[rule][audiogram], atol=5.1e-4)


@pytest.mark.parametrize(
    ("severe_db_hl", "correction_db"),
    [
        (94.9, (0, 0, 0, 0, 0, 0, 0, 0)),
        (95.0, (4, 3, 0, -1, -2, -2, -2, -2)),
        (100.0, (6, 4, 0, -2, -3, -3, -3, -3)),
        (102.5, (7, 4.5, 0, -2.5, -4, -4, -4, -4)),  # halfway between two rows
        (105.0, (8, 5, 0, -3, -5, -5, -5, -5)),
        (110.0, (11, 7, 0, -3, -6, -6, -6, -6)),
        (115.0, (13, 8, 0, -4, -8, -8, -8, -8)),
        (120.0, (15, 9, 0, -5, -9, -9, -9, -9)),
        (125.0, (15, 9, 0, -5, -9, -9, -9, -9)),  # beyond the last row
    ],
)
def test_profound_loss_at_2_khz_moves_gain_to_the_low_frequencies(
    severe_db_hl: float, correction_db: tuple[float, ...]
) -> None:
    thresholds_db_hl = [90.0, 90.0, 90.0, 90.0, severe_db_hl, 90.0, 90.0, 90.0]
    average_db_hl = (180.0 + severe_db_hl) / 3.0
    expected_db = (
        insertion_gain("nal-r", OCTAVES_HZ, thresholds_db_hl)
        + 0.2 * (average_db_hl - 60.0)
        + np.array(correction_db)
    )
    assert_allclose(insertion_gain("nal-rp", OCTAVES_HZ, thresholds_db_hl), expected_db, rtol=1e-12)


@pytest.mark.parametrize("rule", ["nal-r", "nal-rp"])
def test_a_missing_middle_frequency_lies_on_the_line_between_its_neighbours(rule: str) -> None:
    thresholds_db_hl = [40.0, 70.0, 100.0]
    without = insertion_gain(rule, (500, 1000, 2000), thresholds_db_hl)
    assert_allclose(insertion_gain(rule, (500, 2000), [40.0, 100.0]), without[[0, 2]], rtol=1e-12)


def test_beyond_the_published_frequencies_the_constant_is_held() -> None:
    (at_6_khz, at_8_khz) = insertion_gain("nal-r", (500, 2000, 6000, 8000), [50.0] * 4)[2:]
    assert at_6_khz == at_8_khz
    assert within_publication("nal-r", 6000)
    assert not within_publication("nal-r", 8000)
    assert not within_publication("nal-r", 249)
    assert within_publication("half-gain", 12000)


@pytest.mark.parametrize("rule", RULES)
@given(
    thresholds_db_hl=st.lists(st.floats(-10.0, 120.0), min_size=8, max_size=8),
    more_db=st.floats(0.0, 20.0),
)
def test_gain_is_never_negative_and_rises_with_the_threshold_below_a_profound_loss(
    rule: str, thresholds_db_hl: list[float], more_db: float
) -> None:
    gains_db = insertion_gain(rule, OCTAVES_HZ, thresholds_db_hl)
    assert np.all(gains_db >= 0.0)
    if thresholds_db_hl[4] + more_db < 95.0:
        louder = [threshold + more_db for threshold in thresholds_db_hl]
        assert np.all(insertion_gain(rule, OCTAVES_HZ, louder) >= gains_db - 1e-12)


@pytest.mark.parametrize(
    ("rule", "frequencies_hz", "thresholds_db_hl", "words"),
    [
        ("nal-nl2", [1000], [40], "rule is 'nal-nl2'; allowed are nal-r, nal-rp"),
        ("nal-r", [1000, 2000], [40, 40], "nal-r needs the thresholds from 500 to 2000 Hz"),
        ("nal-r", [250, 500, 1000], [40] * 3, "goes from 250 to 1000 Hz"),
        ("camfit", [2000, 1000], [40, 40], "they have to rise"),
        ("camfit", [1000, 1000], [40, 40], "they have to rise"),
        ("camfit", [], [], "allowed is a row of numbers from 20 to 20000 Hz"),
        ("camfit", [0.0], [40], "allowed is a row of numbers from 20 to 20000 Hz"),
        ("camfit", [float("nan")], [40], "allowed is a row of numbers from 20 to 20000 Hz"),
        ("camfit", [1000, 2000], [40], "one threshold for each of the 2 frequencies"),
        ("camfit", [1000], [140.1], "thresholds_db_hl has 140.1; allowed is -30 to 140 dB HL"),
        ("camfit", [1000], [float("nan")], "thresholds_db_hl has nan; allowed is -30 to 140"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(
    rule: str, frequencies_hz: list[float], thresholds_db_hl: list[float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        insertion_gain(rule, frequencies_hz, thresholds_db_hl)


# An ear with 50 dB HL by air at 500, 1000 and 2000 Hz and air-bone gaps of 40, 30 and 20 dB, by
# hand: without the gaps NAL-R has 15.5 + 7.5 + (-8, 1, -1), half gain 25, CAMFIT 24 + (-8, 0, 1).
@pytest.mark.parametrize(
    ("rule", "expected_db"),
    [
        ("nal-r", (25.0, 31.5, 27.0)),
        ("nal-rp", (25.0, 31.5, 27.0)),
        ("half-gain", (35.0, 32.5, 30.0)),
        ("camfit", (16.0, 24.0, 25.0)),  # no share of the gap is published
    ],
)
def test_a_quarter_of_the_gap_is_added_where_that_is_published(
    rule: str, expected_db: tuple[float, ...]
) -> None:
    found_db = insertion_gain(rule, (500, 1000, 2000), [50.0] * 3, (40.0, 30.0, 20.0))
    assert_allclose(found_db, expected_db, rtol=1e-12)


@given(
    bone_db_hl=st.lists(st.floats(0.0, 60.0), min_size=3, max_size=3),
    gaps_db=st.lists(st.floats(0.0, 60.0), min_size=3, max_size=3),
)
def test_half_gain_is_half_the_bone_threshold_and_three_quarters_of_the_gap(
    bone_db_hl: list[float], gaps_db: list[float]
) -> None:
    bone, gap = np.array(bone_db_hl), np.array(gaps_db)
    found_db = insertion_gain("half-gain", (500, 1000, 2000), bone + gap, gap)
    assert_allclose(found_db, 0.5 * bone + 0.75 * gap, rtol=1e-12, atol=1e-12)


def test_the_gap_is_added_before_gains_below_0_are_cut() -> None:
    # NAL-R at 250 Hz for 20 dB HL everywhere: 6.2 + 3 - 17 = -7.8, and a quarter of 40 dB
    (found_db, *_) = insertion_gain("nal-r", (250, 500, 1000, 2000), [20.0] * 4, [40.0] * 4)
    assert found_db == pytest.approx(2.2)
