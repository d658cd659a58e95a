"""Sound files for the hearing aid: read, brought to its rate and level, and written.

They take the extra `audio`.
"""

import io
from pathlib import Path
from typing import Final

import numpy as np

from device.hearing_aid.chain import SAMPLE_RATE_HZ, full_scale_of
from device.speech import CONVERSATION_DB_SPL, FloatArray
from firmware_py.platform.named_file import content_of

# In the words of libsndfile.
WAV_FORMATS: Final = ("WAV", "WAVEX")
SAMPLES: Final = ("PCM_16", "PCM_24", "PCM_32", "FLOAT")
FILE_BYTES_MAX: Final = 100_000_000
RATE_LIMITS_HZ: Final = (8_000, 192_000)
DURATION_LIMITS_S: Final = (1.0, 30.0)  # of speech to compare settings with
SILENT_BELOW: Final = 1e-4  # RMS, of full scale
EDGE_S: Final = 0.02  # the speech begins and ends softly
# Speech has syllables, and sound at all frequencies whose gain a setting changes.
FRAME_S: Final = 0.1
VARIES_DB_MIN: Final = 4.0  # from the softest fifth of the frames to the loudest twentieth
OCTAVES_HZ: Final = (500, 1000, 2000, 4000)
SOFTER_DB_MAX: Final = 45.0  # of an octave, than the loudest


class SoundError(ValueError):
    """A sound file that cannot be used; the message has the file, what is wrong, and the rule."""


def read_wav(path: Path) -> tuple[FloatArray, int]:
    """Read a WAV file: its samples, (frames, channels), of which full scale is 1, and its rate, Hz.

    `SoundError` if it cannot be read, or is no WAV file of PCM or floating-point samples.
    """
    import soundfile

    try:
        with soundfile.SoundFile(io.BytesIO(content_of(path, FILE_BYTES_MAX))) as file:
            if file.format not in WAV_FORMATS:
                raise SoundError(f"{path} is no WAV file")
            if file.subtype not in SAMPLES:
                raise SoundError(
                    f"{path} has samples of {file.subtype_info}; allowed are PCM of 16, 24 or 32 "
                    "bits and floating point of 32"
                )
            rate_hz: int = file.samplerate
            low_hz, high_hz = RATE_LIMITS_HZ
            if not low_hz <= rate_hz <= high_hz or not 1 <= file.channels <= 2:
                raise SoundError(
                    f"{path} has {file.channels} channels at {rate_hz} Hz; allowed are one or two, "
                    f"at {low_hz} to {high_hz} Hz"
                )
            samples: FloatArray = file.read(always_2d=True)
    except OSError as error:
        raise SoundError(f"{path} cannot be read: {error.strerror}") from None
    except soundfile.LibsndfileError:
        raise SoundError(f"{path} is no WAV file") from None
    if not np.isfinite(samples).all():
        raise SoundError(f"{path} has samples that are no numbers")
    return samples, rate_hz


def write_wav(path: Path, samples: FloatArray, rate_hz: int = SAMPLE_RATE_HZ) -> None:
    import soundfile

    soundfile.write(path, samples, rate_hz, "FLOAT", format="WAV")


def read_speech(path: Path) -> FloatArray:
    """Read speech for comparisons: at the aid's rate, at conversational level, (frames, 2).

    An RMS of 1 is `chain.FULL_SCALE_DB_SPL`. `SoundError` as of `read_wav`, or if it is too short,
    too long, silent, or cannot be speech.
    """
    samples, rate_hz = read_wav(path)
    low_s, high_s = DURATION_LIMITS_S
    seconds = len(samples) / rate_hz
    if not low_s <= seconds <= high_s:
        raise SoundError(
            f"{path} takes {seconds:.2f} s; allowed is speech of {low_s:g} to {high_s:g} s"
        )
    mono = resample(samples.mean(axis=1), rate_hz, SAMPLE_RATE_HZ)
    mono -= mono.mean()
    rms = float(np.sqrt(np.mean(mono**2)))
    if rms < SILENT_BELOW:
        raise SoundError(f"{path} is silent: its RMS is {rms:.2g} of full scale")
    if why := _why_no_speech(mono / rms):
        raise SoundError(f"{path} is no speech: {why}")
    mono *= full_scale_of(CONVERSATION_DB_SPL) / rms
    edge = round(EDGE_S * SAMPLE_RATE_HZ)
    ramp = 0.5 - 0.5 * np.cos(np.pi * np.arange(edge) / edge)
    mono[:edge] *= ramp
    mono[-edge:] *= ramp[::-1]
    return np.stack([mono, mono], axis=1)


def _why_no_speech(mono: FloatArray) -> str:
    """Say why this, (frames,), with an RMS of 1, cannot be speech; "": it may be."""
    frame = round(FRAME_S * SAMPLE_RATE_HZ)
    power = np.square(mono[: len(mono) // frame * frame]).reshape(-1, frame).mean(axis=1)
    varies_db = float(np.diff(np.percentile(10.0 * np.log10(power + 1e-9), (20.0, 95.0)))[0])
    if varies_db < VARIES_DB_MIN:
        return (
            f"its level varies by {varies_db:.1f} dB; that of speech by {VARIES_DB_MIN:g} or more"
        )
    spectrum = np.square(np.abs(np.fft.rfft(mono)))
    octave = np.log2(np.maximum(np.fft.rfftfreq(len(mono), 1.0 / SAMPLE_RATE_HZ), 1.0))
    near = [np.abs(octave - np.log2(center_hz)) < 0.5 for center_hz in OCTAVES_HZ]
    levels_db = 10.0 * np.log10(np.array([spectrum[each].sum() for each in near]) + 1e-9)
    softest = int(np.argmin(levels_db))
    softer_db = float(levels_db.max() - levels_db[softest])
    if softer_db > SOFTER_DB_MAX:
        return (
            f"at {OCTAVES_HZ[softest]} Hz it is {softer_db:.0f} dB softer than elsewhere; "
            f"allowed are {SOFTER_DB_MAX:g}"
        )
    return ""


def resample(samples: FloatArray, from_hz: int, to_hz: int) -> FloatArray:
    """Return samples, (frames,), at another rate, by their spectrum."""
    if from_hz == to_hz:
        return samples.copy()
    spectrum = np.fft.rfft(samples)
    count = round(len(samples) * to_hz / from_hz)
    return np.fft.irfft(spectrum[: count // 2 + 1], count) * (count / len(samples))
