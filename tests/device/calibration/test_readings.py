"""Two readings make a point, or say why they cannot be right; points make a file."""

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.calibration.readings import (
    ImplausibleError,
    Point,
    Reading,
    as_toml,
    calibration_of,
    point_of,
)
from device.calibration.retspl import reference_levels
from firmware_py.calibration.file import calibration_from
from firmware_py.terms.route import BY_AIR, Route
from tests.calibration.calibrations import content


def test_two_readings_make_a_point() -> None:
    point = point_of(Reading(-30.0, 90.2), Reading(-10.0, 110.0), None, 7.0)
    assert point == Point(120.1, 110.1)


@pytest.mark.parametrize(
    ("soft", "loud", "neighbour", "retspl", "words"),
    [
        (90.0, 90.0, None, 7.0, "20 dB more gave +0.0 dB on the meter: is the right earphone"),
        (90.0, 80.0, None, 7.0, "20 dB more gave -10.0 dB on the meter"),
        (90.0, 108.9, None, 7.0, "20 dB more gave +18.9 dB on the meter; allowed is 1 dB off"),
        (90.0, 111.1, None, 7.0, "20 dB more gave +21.1 dB on the meter; allowed is 1 dB off"),
        (117.0, 137.0, None, 7.0, "full scale would be 147 dB SPL; allowed are 60 to 145 dB SPL"),
        (90.0, 110.0, 94.0, 7.0, "full scale differs by +26.0 dB from the frequency before"),
        (45.0, 65.0, None, 45.0, "the loud tone is 20.0 dB HL; allowed is 25 dB HL and more"),
    ],
)
def test_readings_that_cannot_be_right_say_why(
    soft: float, loud: float, neighbour: float | None, retspl: float, words: str
) -> None:
    before = None if neighbour is None else Point(neighbour, neighbour - 10.0)
    with pytest.raises(ImplausibleError, match=re.escape(words)):
        point_of(Reading(-30.0, soft), Reading(-10.0, loud), before, retspl)


@pytest.mark.parametrize("level_db_spl", [19.9, 140.1, float("nan"), float("inf")])
def test_a_meter_shows_no_such_level(level_db_spl: float) -> None:
    with pytest.raises(ImplausibleError, match="a reading is from 20 to 140 dB SPL"):
        Reading(-30.0, level_db_spl)


@given(st.floats(100.0, 120.0), st.floats(-0.5, 0.5))
def test_what_is_plausible_makes_a_good_file(full_scale: float, error_db: float) -> None:
    retspl = reference_levels("hda200").levels_db_spl
    points = {
        ear: {
            f: point_of(
                Reading(-30.0, full_scale - 30.0),
                Reading(-10.0, full_scale - 10.0 + error_db),
                None,
                retspl[f],
            )
            for f in BY_AIR.calibrated_hz
        }
        for ear in ("left", "right")
    }
    told = content()
    about, transducer = told["calibration"], told["transducer"]
    del transducer["retspl_db_spl"]

    made = calibration_of(about, transducer, retspl, points)
    again = tomllib.loads(as_toml(made.content))
    again["calibration"] |= {key: again["calibration"][key].isoformat() for key in ("date", "due")}

    assert again == made.content
    assert made.sensitivity_db_spl[Route("left")].at(1000.0) == pytest.approx(full_scale, abs=0.26)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=80))
def test_every_text_that_is_allowed_comes_back(text: str) -> None:
    if not text.strip():
        return
    made = calibration_from(content({"calibration.meter": text}))
    assert tomllib.loads(as_toml(made.content))["calibration"]["meter"] == text
