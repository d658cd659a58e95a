"""A sound card, through PortAudio and its Python binding `sounddevice`: the extra `audio`.

PortAudio asks for samples some time before they are heard, and says how long: `tone-on` and
`tone-off` carry the time at which the sound leaves the card, as far as PortAudio knows it.
"""

import time
from typing import Any, Final

from device.sound_card.output import SampledOutput
from device.tone_generator.synthesis import CHANNELS
from device.tone_generator.voices import CUT_MS, NOISE_RISE_MS

STANDSTILL_S: Final = 2.0  # without a request for samples: the card was pulled out
NUMBER_DIGITS_MAX: Final = 4  # of a device; what has more is a name, and there is none like that
HIGH_LATENCY: Final = "high"  # some ten milliseconds: a tone with a gap in it is worth nothing


class NoSoundError(Exception):
    """There is no sound card to be had; the message says why."""


def library() -> Any:
    """Return the module `sounddevice`; `NoSoundError` if PortAudio is not installed."""
    try:
        import sounddevice
    except OSError:  # what it raises without the library
        raise NoSoundError(
            "PortAudio is not installed; on Debian and its relatives: apt install libportaudio2"
        ) from None
    return sounddevice


def device_of(text: str) -> int | str:
    """Return the device that somebody names: its number, or a part of its name."""
    is_number = text.isascii() and text.isdigit() and len(text) <= NUMBER_DIGITS_MAX
    return int(text) if is_number else text


def outputs() -> list[dict[str, Any]]:
    """Return the devices that have a left and a right: their number, name and rate in Hz."""
    return [
        {
            "number": number,
            "name": device["name"],
            "rate_hz": device["default_samplerate"],
        }
        for number, device in enumerate(library().query_devices())
        if device["max_output_channels"] >= CHANNELS
    ]


class CardOutput(SampledOutput):
    """Plays through a sound card, left ear in the left channel.

    The device is its number, or a part of its name; by default the one the system chooses.
    `NoSoundError` if there is none, or it does not play. `gaps` counts how often samples came too
    late, and a gap was heard instead.
    """

    def __init__(self, device: int | str | None = None) -> None:
        self._library = library()
        try:
            about = self._library.query_devices(device, "output")
            super().__init__(about["default_samplerate"])
            self.name: str = about["name"]
            self.gaps = 0
            self._ahead_us = 0  # of the monotonic clock, board time is
            self._asked_s = time.monotonic()
            self._stream = self._library.RawOutputStream(
                samplerate=self.rate_hz, channels=CHANNELS, dtype="int32", device=device,
                latency=HIGH_LATENCY, callback=self._fill,
            )  # fmt: skip
            self._stream.start()
        except (ValueError, self._library.PortAudioError) as error:
            which = "the sound card" if device is None else f"device {device!r}"
            raise NoSoundError(f"{which} does not play: {error}") from None

    @property
    def latency_s(self) -> float:
        return float(self._stream.latency)

    def advance(self, now_us: int) -> None:
        """Tell what has been heard by now; `OSError` if the card asks for no samples any more."""
        now_s = time.monotonic()
        self._ahead_us = now_us - round(1e6 * now_s)
        if now_s - self._asked_s > STANDSTILL_S:
            raise OSError(f"the sound card {self.name!r} does not play any more")
        super().advance(now_us)

    def close(self) -> None:
        self.cut()
        self.unmask()
        time.sleep(1e-3 * max(CUT_MS, NOISE_RISE_MS) + self.latency_s)
        self._stream.stop()
        self._stream.close()

    def _fill(self, out: Any, frames: int, at: Any, status: Any) -> None:
        # In a thread of PortAudio.
        now_s = self._asked_s = time.monotonic()
        self.gaps += bool(status.output_underflow)
        # Some systems do not know when; then it is what they say about all sounds.
        ahead_s = at.outputBufferDacTime - at.currentTime
        heard_s = now_s + (ahead_s if ahead_s > 0.0 else self.latency_s)
        out[:] = self._samples(frames, 1e6 * heard_s + self._ahead_us).tobytes()
