"""No sound is louder in a band than the fit says, through the real engine."""

from dataclasses import replace

import numpy as np
import pytest

from device.hearing_aid.electroacoustics import STANDARD_NAMES, standard_fit
from device.hearing_aid.most_output import EXTREMES, Loudest, loudest, tones, worst
from device.hearing_aid.openmha import Installation
from device.hearing_aid.processing import file_aid
from device.hearing_aid.rules import RULES
from firmware_py.comparisons.space import PRESCRIPTION

pytestmark = pytest.mark.xdist_group("aid_of_a_file")
# Of limits that jump by tens of dB from a band to the next, as no ear's do.
OF_JUMPS_DB = 1.5


def check(found: Loudest) -> None:
    assert found.above_db <= 0.0, found
    assert found.above_db > -6.0, "it is reached, so it was tested"


def test_no_band_is_louder_than_its_limit(installation: Installation) -> None:
    fit = standard_fit("N1", "camfit").tune(EXTREMES[0])
    with file_aid(fit, installation) as aid:
        check(loudest(aid, fit, list(tones(fit, (100.0,)))))


@pytest.mark.thorough
@pytest.mark.parametrize("name", STANDARD_NAMES)
@pytest.mark.parametrize("rule", RULES)
def test_at_no_setting_is_a_band_louder_than_its_limit(
    name: str, rule: str, installation: Installation
) -> None:
    for found in worst(standard_fit(name, rule), (PRESCRIPTION, *EXTREMES), installation):
        check(found)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(5))
def test_any_limits_hold(seed: int, installation: Installation) -> None:
    chance, fit = np.random.default_rng(seed), standard_fit("S2", "camfit")
    ears = tuple(
        replace(
            ear,
            bands=tuple(
                replace(band, output_max_db_spl=round(float(chance.uniform(60.0, 111.0)), 1))
                for band in ear.bands
            ),
        )
        for ear in fit.ears
    )
    found = worst(replace(fit, ears=ears), (PRESCRIPTION, EXTREMES[0]), installation)
    assert max(each.above_db for each in found) <= OF_JUMPS_DB
