"""Reference forces of bone vibrators, against what is quoted of them elsewhere."""

import numpy as np
import pytest

from device.calibration.retfl import VIBRATORS, reference_forces
from device.calibration.retspl import UnknownTransducerError
from firmware_py.calibration.file import MASTOID, RETFL_LIMITS_DB_UN
from firmware_py.terms.route import BY_BONE

# An audiometer's manual (KA 450), which quotes ISO 389-3.
QUOTED = {
    250: 67.0,
    500: 58.0,
    750: 48.5,
    1000: 42.5,
    1500: 36.5,
    2000: 31.0,
    3000: 30.0,
    4000: 35.5,
}


def test_they_fall_by_12_db_an_octave_as_somebody_else_found() -> None:
    """Margolis et al. 2013: with 14.1 dB less at 4 kHz, their line has -12 dB an octave."""
    levels_db_un = dict(reference_forces("b71").levels_db_un)
    levels_db_un[4000] -= 14.1
    octaves_hz = (500, 1000, 2000, 4000)
    slope, _ = np.polyfit(np.log2(octaves_hz), [levels_db_un[f] for f in octaves_hz], 1)
    assert slope == pytest.approx(-12.0, abs=0.5)


@pytest.mark.parametrize("name", VIBRATORS)
def test_every_table_is_as_quoted_and_serves_for_a_calibration(name: str) -> None:
    forces = reference_forces(name)
    low, high = RETFL_LIMITS_DB_UN
    assert forces.levels_db_un == QUOTED
    assert (*forces.levels_db_un,) == BY_BONE.calibrated_hz
    assert all(low <= level <= high for level in forces.levels_db_un.values())
    assert forces.placement == MASTOID
    for text in (forces.vibrator, forces.coupler, forces.source):
        assert text.isascii()
        assert 0 < len(text) <= 80


def test_another_vibrator_is_refused() -> None:
    with pytest.raises(UnknownTransducerError, match="vibrator is 'b72'; allowed are b71, b81"):
        reference_forces("b72")
