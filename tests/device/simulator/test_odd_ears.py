"""Odd ears: each is of the shape its name says, and its family differs within what is allowed."""

import math

import numpy as np
import pytest

from device.simulator.odd_ears import NUMBERS_MAX, ODD_EARS, odd_ear

FREQUENCIES_HZ = (250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000)
TYPICAL_DB_HL = {
    "island": (10, 10, 10, 65, 65, 65, 10, 10, 10, 10),
    "narrow-notch": (13, 13, 13, 13, 13, 13, 61, 13, 13, 13),
    "cookie-bite": (12, 27, 43, 54, 62, 60, 43, 32, 22, 14),
    "reverse": (62, 59, 50, 44, 32, 23, 15, 10, 10, 10),
    "tent": (69, 44, 27, 15, 15, 15, 35, 49, 66, 78),
    "corner": (65, 86, 113, 125, 125, 125, 125, 125, 125, 125),
    "cliff": (10, 10, 10, 10, 10, 82, 85, 88, 92, 92),
    "good-spot": (60, 60, 60, 60, 50, 12, 60, 60, 60, 60),
    "sawtooth": (15, 53, 31, 15, 37, 53, 31, 15, 37, 53),
    "random-curve": (38,) * 10,
    "two-notches": (13, 13, 13, 58, 13, 13, 13, 58, 13, 13),
    "low-shelf": (55, 55, 20, 10, 10, 10, 10, 10, 10, 10),
    "dead-middle": (20, 20, 20, 120, 120, 120, 20, 20, 20, 20),
    "ski-slope": (34, 27, 23, 17, 8, 53, 76, 83, 87, 90),
}


@pytest.mark.parametrize("name", ODD_EARS)
def test_the_plain_name_is_the_typical_ear(name: str) -> None:
    ear = odd_ear(name)

    found = [ear.threshold_db_hl(f) for f in FREQUENCIES_HZ]
    assert found == pytest.approx(TYPICAL_DB_HL[name], abs=1.0)


@pytest.mark.parametrize("name", ODD_EARS)
def test_a_family_lies_about_its_typical_ear_and_no_two_are_alike(name: str) -> None:
    shape = ODD_EARS[name]
    ears = [odd_ear(name, number) for number in range(1, 201)]
    at_db_hl = np.array([[ear.threshold_db_hl(f) for f in FREQUENCIES_HZ] for ear in ears])

    shares = [share for _, share in shape.points]
    typical = [shape.base_db_hl[0] + shape.depth_db[0] * share for share in (0.0, max(shares))]
    within_db = shape.base_db_hl[1] + shape.depth_db[1] * max(shares) + shape.jitter_db
    assert at_db_hl.min() >= max(min(typical) - within_db, -10.0)
    assert at_db_hl.max() <= min(max(typical) + within_db, 130.0)
    assert len(np.unique(at_db_hl[:, 1])) == len(ears)
    assert {(ear.frequencies_hz[0], ear.frequencies_hz[-1]) for ear in ears} == {(125.0, 8000.0)}
    assert [odd_ear(name, n) for n in range(1, 4)] == ears[:3]


def test_a_narrow_notch_is_a_quarter_octave_wide_and_always_found_at_3_khz() -> None:
    for number in range(200):
        ear = odd_ear("narrow-notch", number)
        beside_db_hl = max(ear.threshold_db_hl(f) for f in (2000, 2400, 3700, 4000))
        half_db_hl = 0.5 * (ear.threshold_db_hl(3000) + beside_db_hl)
        octaves = np.linspace(-0.5, 0.5, 1001)
        wide = np.mean([ear.threshold_db_hl(3000 * 2**o) > half_db_hl for o in octaves])

        assert ear.threshold_db_hl(3000) > beside_db_hl + 30
        assert wide == pytest.approx(0.25, abs=0.03)


def test_numbers_are_checked() -> None:
    for number in (-1, NUMBERS_MAX + 1):
        with pytest.raises(ValueError, match=f"ear {number} of island, allowed are 0 to"):
            odd_ear("island", number)
    assert math.isfinite(odd_ear("island", NUMBERS_MAX).threshold_db_hl(1000.0))
