"""Conversational speech has its published spectrum, and its level however it is cut in bands."""

import numpy as np
import pytest

from device.speech import SPECTRUM_DB_SPL, THIRDS_DB_SPL, a_weighting_db, speech_in_bands

CENTERS_HZ = (250, 500, 1000, 2000, 4000, 8000)


def level_db(levels_db: np.ndarray) -> float:
    return float(10.0 * np.log10(np.sum(10.0 ** (0.1 * levels_db))))


def test_the_speech_spectrum_sums_to_its_level() -> None:
    assert level_db(np.array(THIRDS_DB_SPL)) == pytest.approx(SPECTRUM_DB_SPL, abs=0.1)


@pytest.mark.parametrize("centers_hz", [(1000.0,), CENTERS_HZ, tuple(range(200, 8000, 37))])
def test_the_bands_together_have_the_level_of_conversation(centers_hz: tuple[float, ...]) -> None:
    in_bands = speech_in_bands(np.array(centers_hz, dtype=np.float64))
    assert level_db(in_bands) == pytest.approx(65.0, abs=0.1)


def test_an_octave_band_has_its_three_thirds() -> None:
    bands = speech_in_bands(np.array(CENTERS_HZ, dtype=np.float64))
    thirds_db_spl = np.array((56.8, 53.7, 53.0)) - 5.0  # around 1 kHz
    assert bands[2] == pytest.approx(level_db(thirds_db_spl), abs=0.1)


def test_a_band_without_speech_has_a_level_all_the_same() -> None:
    assert speech_in_bands(np.array([20.0, 25.0, 1000.0])).tolist()[0] == 0.0


@pytest.mark.parametrize(
    ("frequency_hz", "weighting_db"),  # of the table in IEC 61672-1
    [(63, -26.2), (125, -16.1), (250, -8.6), (500, -3.2), (1000, 0.0), (2000, 1.2), (4000, 1.0),
     (8000, -1.1), (16000, -6.6)],
)  # fmt: skip
def test_the_a_weighting_is_that_of_the_standard(frequency_hz: int, weighting_db: float) -> None:
    assert float(a_weighting_db(np.array(frequency_hz))) == pytest.approx(weighting_db, abs=0.11)


def test_speech_at_65_db_has_some_61_db_a() -> None:
    in_bands = speech_in_bands(np.array(CENTERS_HZ, dtype=np.float64), a_weighted=True)
    assert 60.0 < level_db(in_bands) < 63.0
