"""Sound files for the hearing aid: read, brought to its rate and level, and written."""

import struct
from pathlib import Path
from typing import Final

import numpy as np

from device.hearing_aid.chain import FULL_SCALE_DB_SPL, SAMPLE_RATE_HZ
from device.speech import CONVERSATION_DB_SPL, FloatArray
from firmware_py.platform.named_file import opened

PCM: Final = 1
FLOAT: Final = 3
EXTENSIBLE: Final = 0xFFFE  # the true kind stands in the extension
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
    """Read a WAV file.

    Returns
    -------
    samples : (frames, channels)
        Full scale is 1.
    rate_hz : int

    Raises
    ------
    SoundError
        If it cannot be read, or is no WAV file of PCM or floating-point samples.
    """
    try:
        with opened(path) as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise SoundError(f"{path} cannot be read: {error.strerror}") from None
    if len(content) > FILE_BYTES_MAX:
        raise SoundError(f"{path} has more than {FILE_BYTES_MAX} bytes, which is no short sound")
    chunks = _chunks(content)
    if (
        content[:4] != b"RIFF"
        or content[8:12] != b"WAVE"
        or not {b"fmt ", b"data"} <= chunks.keys()
    ):
        raise SoundError(f"{path} is no WAV file")
    if len(chunks[b"fmt "]) < 16:
        raise SoundError(f"{path} is no WAV file: its format is cut short")
    kind, channels, rate_hz, _, _, bits = struct.unpack("<HHIIHH", chunks[b"fmt "][:16])
    if kind == EXTENSIBLE and len(chunks[b"fmt "]) >= 26:
        (kind,) = struct.unpack("<H", chunks[b"fmt "][24:26])
    low_hz, high_hz = RATE_LIMITS_HZ
    if not low_hz <= rate_hz <= high_hz or not 1 <= channels <= 2:
        raise SoundError(
            f"{path} has {channels} channels at {rate_hz} Hz; allowed are one or two, at {low_hz} "
            f"to {high_hz} Hz"
        )
    samples = _samples(chunks[b"data"], kind, bits)
    if samples is None:
        raise SoundError(
            f"{path} has samples of kind {kind} with {bits} bits; allowed are PCM of 16, 24 or 32 "
            "bits and floating point of 32"
        )
    frames = len(samples) // channels
    samples = samples[: frames * channels].reshape(frames, channels)
    if not np.isfinite(samples).all():
        raise SoundError(f"{path} has samples that are no numbers")
    return samples, rate_hz


def _chunks(content: bytes) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    at = 12
    while at + 8 <= len(content):
        name, size = content[at : at + 4], int.from_bytes(content[at + 4 : at + 8], "little")
        found.setdefault(name, content[at + 8 : at + 8 + size])
        at += 8 + size + size % 2
    return found


def _samples(data: bytes, kind: int, bits: int) -> FloatArray | None:
    if (kind, bits) == (FLOAT, 32):
        return np.frombuffer(data[: len(data) // 4 * 4], "<f4").astype(np.float64)
    if kind != PCM or bits not in (16, 24, 32):
        return None
    size = bits // 8
    raw = np.frombuffer(data[: len(data) // size * size], np.uint8).reshape(-1, size)
    words = np.zeros((len(raw), 4), np.uint8)
    words[:, 4 - size :] = raw
    found: FloatArray = words.view("<i4")[:, 0] / 2.0**31
    return found


def write_wav(path: Path, samples: FloatArray, rate_hz: int = SAMPLE_RATE_HZ) -> None:
    """Write samples, (frames, channels), as floating point of 32 bits."""
    data = np.ascontiguousarray(samples, "<f4").tobytes()
    channels = samples.shape[1]
    form = struct.pack(
        "<HHIIHH", FLOAT, channels, rate_hz, 4 * channels * rate_hz, 4 * channels, 32
    )
    body = b"WAVE" + b"fmt " + struct.pack("<I", len(form)) + form
    body += b"data" + struct.pack("<I", len(data)) + data
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


def read_speech(path: Path) -> FloatArray:
    """Read speech for comparisons: at the aid's rate, at conversational level, in both ears.

    Returns
    -------
    samples : (frames, 2)
        An RMS of 1 is `FULL_SCALE_DB_SPL`.

    Raises
    ------
    SoundError
        As of `read_wav`; or it is too short, too long, silent, or cannot be speech.
    """
    samples, rate_hz = read_wav(path)
    low_s, high_s = DURATION_LIMITS_S
    seconds = len(samples) / rate_hz
    if not low_s <= seconds <= high_s:
        raise SoundError(
            f"{path} takes {seconds:.2f} s; allowed is speech of {low_s:g} to {high_s:g} s"
        )
    mono = resampled(samples.mean(axis=1), rate_hz, SAMPLE_RATE_HZ)
    mono -= mono.mean()
    rms = float(np.sqrt(np.mean(mono**2)))
    if rms < SILENT_BELOW:
        raise SoundError(f"{path} is silent: its RMS is {rms:.2g} of full scale")
    if why := _why_no_speech(mono / rms):
        raise SoundError(f"{path} is no speech: {why}")
    mono *= 10.0 ** (0.05 * (CONVERSATION_DB_SPL - FULL_SCALE_DB_SPL)) / rms
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


def resampled(samples: FloatArray, from_hz: int, to_hz: int) -> FloatArray:
    """Return samples, (frames,), at another rate, by their spectrum."""
    if from_hz == to_hz:
        return samples.copy()
    spectrum = np.fft.rfft(samples)
    count = round(len(samples) * to_hz / from_hz)
    found: FloatArray = np.fft.irfft(spectrum[: count // 2 + 1], count) * (count / len(samples))
    return found
