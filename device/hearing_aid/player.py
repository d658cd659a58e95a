"""Plays what the hearing aid made: on a sound card, into a file, or for nobody."""

from pathlib import Path
from typing import Final

import numpy as np

from device.hearing_aid.chain import SAMPLE_RATE_HZ
from device.hearing_aid.last_limiter import LastLimiter
from device.hearing_aid.sound import resample, write_wav
from device.sound_card.card import NoSoundError, device_of, library
from device.speech import FloatArray

CARD_RATE_HZ: Final = 48_000
CARD_LIMIT_DBFS: Final = -20.0  # of the loudest sample that the fit allows: nothing is calibrated


class PlayerError(Exception):
    """Nothing can be played, in words."""


class Player:
    """Plays for nobody; and the only way to where others play: through the last limiter."""

    def __init__(self, limiter: LastLimiter) -> None:
        self._limiter = limiter

    def play(self, samples: FloatArray) -> None:
        """Begin to play, (frames, 2), within the limits of the fit; what still plays is ended."""
        self._begin(self._limiter.limit(samples))

    def _begin(self, samples: FloatArray) -> None:
        """Begin to play what is within the limits."""

    def stop(self) -> None:
        """Fall silent."""

    def close(self) -> None:
        """End."""


class FilePlayer(Player):
    """Keeps all that was played, one sound after the other, in a new WAV file."""

    def __init__(self, path: Path, limiter: LastLimiter) -> None:
        super().__init__(limiter)
        if path.exists():
            raise PlayerError(f"{path} is there already; it is not overwritten")
        self._path = path
        self._played: list[FloatArray] = []

    def _begin(self, samples: FloatArray) -> None:
        self._played.append(samples)

    def close(self) -> None:
        if self._played:
            write_wav(self._path, np.concatenate(self._played))


class CardPlayer(Player):
    """Plays on a sound card, with the extra gp-pta[audio]; its name is one, a number, or "default".

    The largest sample that the limiter lets pass is `CARD_LIMIT_DBFS` of full scale there.
    """

    def __init__(self, name: str, limiter: LastLimiter) -> None:
        super().__init__(limiter)
        try:
            self._device = library()
        except (ImportError, NoSoundError) as error:
            raise PlayerError(f"there is no sound card: {error}") from None
        self._card = None if name == "default" else device_of(name)
        self._scale = 10.0 ** (0.05 * CARD_LIMIT_DBFS) / float(limiter.largest.min())
        try:
            self._device.check_output_settings(self._card, 2, samplerate=CARD_RATE_HZ)
        except (ValueError, self._device.PortAudioError) as error:
            raise PlayerError(f"the sound card {name!r} cannot be used: {error}") from None

    def _begin(self, samples: FloatArray) -> None:
        columns = [resample(column, SAMPLE_RATE_HZ, CARD_RATE_HZ) for column in samples.T]
        most = 10.0 ** (0.05 * CARD_LIMIT_DBFS)
        heard = np.clip(self._scale * np.stack(columns, axis=1), -most, most)
        try:
            self._device.play(heard.astype(np.float32), CARD_RATE_HZ, device=self._card)
        except self._device.PortAudioError as error:
            raise PlayerError(f"the sound card is gone: {error}") from None

    def stop(self) -> None:
        self._device.stop()

    close = stop
