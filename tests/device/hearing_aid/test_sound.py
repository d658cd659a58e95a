"""Sound files: read, refused, written."""

import re
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from device.hearing_aid.chain import FULL_SCALE_DB_SPL, SAMPLE_RATE_HZ
from device.hearing_aid.sound import SoundError, read_speech, read_wav, resample, write_wav
from device.simulator.talker import synthetic_speech
from device.speech import FloatArray


def pcm(path: Path, samples: FloatArray, rate_hz: int, width: int) -> Path:
    soundfile.write(path, samples, rate_hz, f"PCM_{8 * width}")
    return path


@pytest.fixture
def speech() -> FloatArray:
    return synthetic_speech(2.0, 16_000, 3)


@pytest.mark.parametrize("width", [2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2])
def test_pcm_is_read(tmp_path: Path, width: int, channels: int, speech: FloatArray) -> None:
    sound = np.tile(speech, (1, channels))
    found, rate_hz = read_wav(pcm(tmp_path / "x.wav", sound, 16_000, width))
    assert rate_hz == 16_000
    assert np.allclose(found, sound, atol=2.0 ** (2 - 8 * min(width, 3)))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    sound = np.random.default_rng(1).uniform(-3.0, 3.0, (100, 2))
    write_wav(tmp_path / "x.wav", sound)
    found, rate_hz = read_wav(tmp_path / "x.wav")
    assert rate_hz == SAMPLE_RATE_HZ
    assert np.array_equal(found, sound.astype(np.float32))


def test_speech_is_brought_to_the_level_of_conversation(tmp_path: Path, speech: FloatArray) -> None:
    found = read_speech(pcm(tmp_path / "x.wav", 3.0 * speech, 16_000, 2))
    level_db_spl = FULL_SCALE_DB_SPL + 10.0 * np.log10(np.mean(found**2))
    assert level_db_spl == pytest.approx(65.0, abs=0.1)
    assert np.array_equal(found[:, 0], found[:, 1])
    assert len(found) == 2 * SAMPLE_RATE_HZ


def test_another_rate_keeps_a_tone() -> None:
    t = np.arange(16_000) / 16_000.0
    found = resample(np.sin(2.0 * np.pi * 440.0 * t), 16_000, 24_000)
    wanted = np.sin(2.0 * np.pi * 440.0 * np.arange(24_000) / 24_000.0)
    assert np.allclose(found, wanted, atol=1e-9)


def noise(seconds: float) -> FloatArray:
    return 0.1 * np.random.default_rng(2).standard_normal((round(16_000 * seconds), 1))


REFUSED = {
    "takes 0.50 s; allowed is speech of 1 to 30 s": synthetic_speech(0.5, 16_000, 1),
    "takes 31.00 s": synthetic_speech(31.0, 16_000, 1),
    "is silent: its RMS is 0 ": np.zeros((32_000, 1)),
    "is no speech: its level varies by 0.": np.clip(noise(2.0), -0.9, 0.9),
    "is no speech: at ": 0.5
    * (np.sin(0.35 * np.arange(32_000.0)) * np.sin(4e-4 * np.arange(32_000.0)) ** 4)[:, None],
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_no_speech_is_refused_in_words(tmp_path: Path, words: str) -> None:
    path = pcm(tmp_path / "x.wav", REFUSED[words], 16_000, 2)
    with pytest.raises(SoundError, match=f"^{re.escape(f'{path} {words}')}"):
        read_speech(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no WAV file"),
        (b"RIFF\x00\x00\x00\x00WAVE", "is no WAV file"),
        (b"RIFF" + bytes(4) + b"WAVEfmt " + struct.pack("<I", 4) + bytes(4), "is no WAV file"),
        (b"OggS" + bytes(100), "is no WAV file"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "x.wav").write_bytes(content)
    with pytest.raises(SoundError, match=words):
        read_wav(tmp_path / "x.wav")
