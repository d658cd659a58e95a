"""The aid as aids are measured, and the most that comes out, through the real engine."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from device.hearing_aid import most_output
from device.hearing_aid.chain import SAMPLE_RATE_HZ, output_limit
from device.hearing_aid.electroacoustics import (
    ROUNDING,
    STANDARD_NAMES,
    attack_and_release_ms,
    delay_ms,
    distortion_percent,
    gains,
    loudest,
    standard_fit,
    tone,
)
from device.hearing_aid.fit import INPUT_LEVELS_DB_SPL
from device.hearing_aid.most_output import EXTREMES, Loudest, tones, worst
from device.hearing_aid.openmha import Installation
from device.hearing_aid.processing import FileAid, file_aid
from device.hearing_aid.rules import RULES
from firmware_py.comparisons.space import PRESCRIPTION
from tests.budget import quick, quick_rows
from tests.device.hearing_aid.fits import plain_fit

# Whose aid is asked all that the quick suite asks.
OF_AID = "N3"
pytestmark = pytest.mark.xdist_group("aid_of_a_file")


@pytest.fixture(scope="module")
def aid(installation: Installation) -> Iterator[FileAid]:
    with file_aid(standard_fit(OF_AID), installation) as aid:
        yield aid


@pytest.mark.parametrize("name", quick(STANDARD_NAMES, OF_AID))
def test_the_gains_are_those_of_the_fit(name: str, installation: Installation) -> None:
    """The law of the fit where there is room for it, and its limits.

    Up to `LIMITER_EARLY_DB` below the lowest limit there the law holds within 1 dB, and within 2 dB
    where the most gain for a level holds it, which falls by 1 dB for each that comes in. From there
    on the limiters may hold a tone (the chain says why so early), but no lower than that within 1
    dB; and no tone is above its limit.
    """
    fit = standard_fit(name)
    with file_aid(fit, installation) as aid:
        found = list(gains(aid, fit))
        attack_ms, _ = attack_and_release_ms(aid)
    ear = fit.ears[0]
    for gain in found:
        level = gain.input_db_spl
        most_db = [np.interp(level, INPUT_LEVELS_DB_SPL, row) for row in ear.gains_max_db]
        most_here_db = np.interp(gain.frequency_hz, ear.table.center_hz, most_db)
        held = gain.asked_db[0] > most_here_db - 0.1
        assert abs(gain.error_db) <= (2.0 if held else 1.0), gain
    limits_db_spl = {band.center_hz: band.output_max_db_spl for band in fit.ears[0].bands}
    for gain in found:
        assert gain.input_db_spl + max(gain.measured_db) <= limits_db_spl[gain.frequency_hz], gain
    assert attack_ms < 25.0


def test_the_ears_are_not_exchanged(aid: FileAid) -> None:
    sound = tone(1000.0, 65.0, 0.5)
    sound[:, 1] = 0.0
    heard = aid.process(sound)
    left, right = np.sqrt(np.mean(heard**2, axis=0))
    assert left > 1e3 * right


def test_it_is_as_fast_as_an_aid(aid: FileAid) -> None:
    assert 0.0 < delay_ms(aid) < 10.0
    _, release_ms = attack_and_release_ms(aid)
    assert 10.0 < release_ms < 250.0
    assert distortion_percent(aid, 1600.0, 65.0) < 1.0


@pytest.mark.parametrize(
    ("name", "sounds"), quick_rows([("S3", 3), ("N2", 12), ("N7", 12), ("S3", 12)], ("S3", 3))
)
def test_nothing_exceeds_the_limit_of_the_fit(
    name: str, sounds: int, installation: Installation
) -> None:
    """Of any setting and any sound; `python -m device.hearing_aid.electroacoustics` has more."""
    assert loudest(standard_fit(name), sounds, 7, installation) <= 1.0 + ROUNDING


def test_the_alarm_rings(installation: Installation) -> None:
    """The limiter is what limits: the same sounds reach it."""
    fit = plain_fit(40.0)
    with file_aid(fit, installation) as aid:
        loud = aid.process(tone(1000.0, 115.0, 0.3))
        assert np.abs(loud).max() > 0.9 * output_limit(fit)
        aid.engine.tell("mha.calib_out.do_clipping = no")
        assert np.abs(aid.process(tone(1000.0, 115.0, 0.3))).max() > output_limit(fit)


def test_a_sound_comes_out_as_long_as_it_went_in(aid: FileAid) -> None:
    for frames in (SAMPLE_RATE_HZ, SAMPLE_RATE_HZ // 3):
        assert abs(len(aid.process(np.zeros((frames, 2)))) - frames) < 256


# No sound is louder in a band than the fit says

# Of limits that jump by tens of dB from a band to the next, as no ear's do.
OF_JUMPS_DB = 1.5


def check(found: Loudest) -> None:
    assert found.above_db <= 0.0, found
    assert found.above_db > -6.0, "it is reached, so it was tested"


def test_no_band_is_louder_than_its_limit(installation: Installation) -> None:
    fit = standard_fit("N1", "camfit").tune(EXTREMES[0])
    with file_aid(fit, installation) as aid:
        check(most_output.loudest(aid, fit, list(tones(fit, (100.0,)))))


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
