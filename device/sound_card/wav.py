"""A stereo WAV file of everything that is played, in the time in which it is played."""

import math
import wave
from pathlib import Path
from typing import Final

import numpy as np

from device.sound_card.output import SampledOutput
from device.tone_generator.synthesis import CHANNELS
from device.tone_generator.voices import CUT_MS, NOISE_RISE_MS

RATE_HZ: Final = 48_000
SAMPLE_BYTES: Final = 3  # as many as a good converter makes use of
PIECE_FRAMES_MAX: Final = 4096
BYTES_MAX: Final = 2**32 - 4096  # of a WAV file: four hours


class WavOutput(SampledOutput):
    """Writes board time to a new file, left ear in the left channel: silence is there as it lasts.

    The file is right after every `advance`, however the program ends.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(RATE_HZ)
        path.touch(0o600, exist_ok=False)  # at which tones somebody pressed is heard in it
        self._raw = path.open("wb")
        self._file = wave.open(self._raw, "wb")  # noqa: SIM115 - `close` closes both
        self._file.setnchannels(CHANNELS)
        self._file.setsampwidth(SAMPLE_BYTES)
        self._file.setframerate(RATE_HZ)
        self._frames = 0

    def advance(self, now_us: int) -> None:
        """Write up to now, and tell what has been heard; `OSError` if nothing can be written."""
        # What begins now begins in a frame that is not before now.
        self._write_to(math.ceil(1e-6 * now_us * RATE_HZ))
        super().advance(now_us)

    def close(self) -> None:
        self.cut()
        self.unmask()
        fade_ms = max(CUT_MS, NOISE_RISE_MS)
        self._write_to(self._frames + RATE_HZ * fade_ms // 1000 + 1)
        self._file.close()
        self._raw.close()

    def _write_to(self, end_frame: int) -> None:
        if end_frame * CHANNELS * SAMPLE_BYTES > BYTES_MAX:
            raise OSError(f"{self._raw.name}: a WAV file holds no more than four hours")
        while self._frames < end_frame:
            frames = min(end_frame - self._frames, PIECE_FRAMES_MAX)
            samples = self._samples(frames, 1e6 * self._frames / RATE_HZ)
            # The highest three bytes of four: a 24-bit converter sees no more.
            octets = np.array(samples, dtype="<i4").view(np.uint8).reshape(-1, 4)
            self._file.writeframes(octets[:, 1:].tobytes())
            self._frames += frames
        self._raw.flush()
