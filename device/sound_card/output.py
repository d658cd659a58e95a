"""Sound as samples, for a sound card or a file: an `Output` of the tone generator's program.

Times are board time, microseconds. The sound card asks for samples in a thread of its own, so a
tone that is being taken and a block that is being made wait for each other.
"""

import threading
from array import array
from typing import Final

from device.tone_generator.sounding import EARPHONES
from device.tone_generator.synthesis import CHANNELS
from device.tone_generator.voices import Voices

RATE_HZ_MIN: Final = 32_000.0  # of the highest frequency on the wire, 16 kHz, twice


class SampledOutput:
    """Tones and noise as 32-bit samples, and when they are heard, as of the last `advance`.

    `rate_hz` is the frames in a second, above `RATE_HZ_MIN`, or `ValueError`.
    """

    has_noise = True
    transducers = EARPHONES

    def __init__(self, rate_hz: float) -> None:
        if not rate_hz > RATE_HZ_MIN:
            raise ValueError(f"{rate_hz:g} frames a second; allowed is above {RATE_HZ_MIN:g}")
        self.rate_hz = rate_hz
        self._voices = Voices(rate_hz)
        self._making = threading.Lock()
        self._begins_us: int | None = None
        self._ends_us: int | None = None
        self.began_us: int | None = None
        self.ended_us: int | None = None

    def play(
        self, ear: int, frequency_hz: float, level_dbfs: float, times_ms: tuple[int, ...]
    ) -> None:
        with self._making:
            self._forget()
            self._voices.play(ear, frequency_hz, level_dbfs, times_ms)

    def lead(self, ear: int, via: int) -> None:
        """Do nothing: there are earphones only."""

    def cut(self) -> None:
        with self._making:
            self._forget()
            self._voices.cut()

    def mask(self, ear: int, frequency_hz: float, level_dbfs: float) -> None:
        with self._making:
            self._voices.mask(ear, frequency_hz, level_dbfs)

    def unmask(self) -> None:
        with self._making:
            self._voices.unmask()

    def attend(self, there: bool) -> None:
        self._voices.constant.wanted = there

    def advance(self, now_us: int) -> None:
        """Tell what has been heard by now; `OSError` if nothing is heard any more."""
        with self._making:
            if self._begins_us is not None and now_us >= self._begins_us:
                self.began_us, self._begins_us = self._begins_us, None
            if self._ends_us is not None and now_us >= self._ends_us:
                self.ended_us, self._ends_us = self._ends_us, None

    def close(self) -> None:
        raise NotImplementedError

    def _samples(self, frames: int, heard_us: float) -> "array[int]":
        # The next frames, left and right in turn, of which the first is heard at this time.
        block = array("i", bytes(4 * CHANNELS * frames))
        with self._making:
            self._voices.fill(block, frames)
            if self._voices.began_frame >= 0:
                self._begins_us = self._frame_us(self._voices.began_frame, heard_us)
            if self._voices.ended_frame >= 0:
                self._ends_us = self._frame_us(self._voices.ended_frame, heard_us)
        return block

    def _frame_us(self, frame: int, heard_us: float) -> int:
        return round(heard_us + 1e6 * frame / self.rate_hz)

    def _forget(self) -> None:
        self.began_us = self.ended_us = self._begins_us = self._ends_us = None


class NoOutput(SampledOutput):
    """A board without sound, of which only the buttons are wanted: a tone on it never begins."""

    has_noise = False

    def __init__(self) -> None:
        super().__init__(2.0 * RATE_HZ_MIN)

    def close(self) -> None:
        """End."""
