"""What leaves for an ear holds the limits of the fit, whatever made it."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.hearing_aid import player as players
from device.hearing_aid.chain import FULL_SCALE_DB_SPL
from device.hearing_aid.electroacoustics import hostile_sounds, tone
from device.hearing_aid.last_limiter import LastLimiter
from device.hearing_aid.most_output import band_levels_db_spl
from device.hearing_aid.player import CARD_LIMIT_DBFS, CardPlayer, FilePlayer, Player
from device.hearing_aid.sound import read_wav
from device.speech import FloatArray
from tests.device.hearing_aid.fits import plain_fit

FIT = plain_fit()
LIMITER = LastLimiter(FIT)
LIMIT_DB_SPL = FIT.ears[0].bands[0].output_max_db_spl
LARGEST = [10.0 ** (0.05 * (ear.output_max_db_spl - FULL_SCALE_DB_SPL)) for ear in FIT.ears]
LOUD = tone(1000.0, 130.0, 0.5)


def test_what_is_within_the_limits_passes_to_the_bit() -> None:
    sound = tone(1000.0, LIMIT_DB_SPL - 1.0, 0.3)
    sound[:480] *= np.linspace(0.0, 1.0, 480)[:, np.newaxis]
    sound[-480:] *= np.linspace(1.0, 0.0, 480)[:, np.newaxis]
    assert np.array_equal(LIMITER.limit(sound), sound)


@given(st.integers(0, 2**32), st.sampled_from([0.0, np.nan, np.inf, -np.inf]))
def test_no_sound_is_louder_than_its_band_may_be_and_no_sample_larger(
    seed: int, spoilt: float
) -> None:
    sound = next(hostile_sounds(np.random.default_rng(seed)))
    sound[seed % len(sound)] = spoilt
    held = LIMITER.limit(sound)
    assert held.shape == sound.shape
    assert np.all(np.abs(held) <= LARGEST)
    levels = band_levels_db_spl(FIT, held[1000:5000])
    assert levels.max() <= LIMIT_DB_SPL + 2.0, "sharp edges leak a little"


@pytest.mark.parametrize("frequency_hz", [250.0, 354.0, 1000.0, 1414.0, 6000.0])
def test_a_tone_comes_out_at_its_limit(frequency_hz: float) -> None:
    held = LIMITER.limit(tone(frequency_hz, 130.0, 0.5))
    levels = band_levels_db_spl(FIT, held[3000:-3000])
    power = 10.0 * np.log10(np.sum(10.0 ** (0.1 * levels), axis=1))
    assert np.all(power <= LIMIT_DB_SPL + 0.1)
    assert np.all(power >= LIMIT_DB_SPL - 3.0)


def on_a_card(monkeypatch: pytest.MonkeyPatch) -> tuple[Player, list[FloatArray]]:
    """Return a player on a sound card that keeps what it is given."""
    heard: list[FloatArray] = []
    card = SimpleNamespace(
        check_output_settings=lambda *_, **__: None, PortAudioError=OSError,
        play=lambda samples, *_, **__: heard.append(samples), stop=lambda: None,
    )  # fmt: skip
    monkeypatch.setattr(players, "library", lambda: card)
    return CardPlayer("default", LIMITER), heard


def test_there_is_no_way_past_it_to_a_file_or_to_a_sound_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = FilePlayer(tmp_path / "out.wav", LIMITER)
    kept.play(LOUD)
    kept.close()
    samples, _ = read_wav(tmp_path / "out.wav")
    assert np.allclose(samples, LIMITER.limit(LOUD), atol=1e-6)
    card, heard = on_a_card(monkeypatch)
    card.play(LOUD)
    at_most = 10.0 ** (0.05 * CARD_LIMIT_DBFS)
    assert np.abs(heard[0]).max() <= at_most * (1.0 + 1e-6)
    once_begun = heard[0][4800:-4800]
    assert np.abs(once_begun).max() < 0.6 * at_most, "the limit of its band, not the largest"
