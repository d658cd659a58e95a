"""The aid as aids are measured, through the real engine."""

import numpy as np
import pytest

from device.hearing_aid.chain import SAMPLE_RATE_HZ, output_limit
from device.hearing_aid.measurement import (
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
from device.hearing_aid.openmha import Installation
from device.hearing_aid.processing import file_aid
from tests.device.hearing_aid.fits import plain_fit


@pytest.mark.parametrize("name", STANDARD_NAMES)
def test_the_gains_are_those_of_the_fit(name: str, installation: Installation) -> None:
    fit = standard_fit(name)
    with file_aid(fit, installation) as aid:
        worst = max(gains(aid, fit), key=lambda gain: abs(gain.error_db))
    assert abs(worst.error_db) <= 1.0, worst


def test_the_ears_are_not_exchanged(installation: Installation) -> None:
    fit = standard_fit("N3")
    with file_aid(fit, installation) as aid:
        sound = tone(1000.0, 65.0, 0.5)
        sound[:, 1] = 0.0
        heard = aid.process(sound)
    left, right = np.sqrt(np.mean(heard**2, axis=0))
    assert left > 1e3 * right


def test_it_is_as_fast_as_an_aid(installation: Installation) -> None:
    with file_aid(standard_fit("N3"), installation) as aid:
        assert 0.0 < delay_ms(aid) < 10.0
        attack_ms, release_ms = attack_and_release_ms(aid)
        assert attack_ms < 25.0
        assert 10.0 < release_ms < 250.0
        assert distortion_percent(aid, 1600.0, 65.0) < 1.0


@pytest.mark.parametrize("name", ["N2", "N7", "S3"])
def test_nothing_exceeds_the_limit_of_the_fit(name: str, installation: Installation) -> None:
    """Of any setting and any sound; `python -m device.hearing_aid.measurement` plays thousands."""
    assert loudest(standard_fit(name), 12, 7, installation) <= 1.0 + ROUNDING


def test_the_alarm_rings(installation: Installation) -> None:
    """The limiter is what limits: the same sounds reach it."""
    fit = plain_fit(40.0)
    with file_aid(fit, installation) as aid:
        loud = aid.process(tone(1000.0, 115.0, 0.3))
        assert np.abs(loud).max() > 0.9 * output_limit(fit)
        aid.engine.tell("mha.calib_out.do_clipping = no")
        assert np.abs(aid.process(tone(1000.0, 115.0, 0.3))).max() > output_limit(fit)


def test_a_sound_comes_out_as_long_as_it_went_in(installation: Installation) -> None:
    with file_aid(plain_fit(), installation) as aid:
        for frames in (SAMPLE_RATE_HZ, SAMPLE_RATE_HZ // 3):
            assert abs(len(aid.process(np.zeros((frames, 2)))) - frames) < 256
