"""Plays what the hearing aid made: on a sound card, into a file, or for nobody."""

from pathlib import Path
from typing import Final, Protocol

import numpy as np

from device.hearing_aid.chain import SAMPLE_RATE_HZ
from device.hearing_aid.sound import resampled, write_wav
from device.hearing_aid.speech import FloatArray
from device.sound_card.card import NoSoundError, library

CARD_RATE_HZ: Final = 48_000
CARD_LIMIT_DBFS: Final = -20.0  # of the loudest sample that the fit allows: nothing is calibrated


class PlayerError(Exception):
    """Nothing can be played, in words."""


class Player(Protocol):
    """Where the sound goes."""

    def play(self, samples: FloatArray) -> None:
        """Begin to play, (frames, 2); what still plays is ended."""

    def stop(self) -> None:
        """Fall silent."""

    def close(self) -> None:
        """End."""


class NoPlayer:
    """Plays for nobody."""

    def play(self, samples: FloatArray) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class FilePlayer:
    """Keeps all that was played, one sound after the other, in a new WAV file.

    Parameters
    ----------
    path : Path

    Raises
    ------
    PlayerError
        If there is such a file already.
    """

    def __init__(self, path: Path) -> None:
        if path.exists():
            raise PlayerError(f"{path} is there already; it is not overwritten")
        self._path = path
        self._played: list[FloatArray] = []

    def play(self, samples: FloatArray) -> None:
        """Keep a sound."""
        self._played.append(samples)

    def stop(self) -> None:
        """Do nothing: what was begun is kept."""

    def close(self) -> None:
        """Write the file."""
        if self._played:
            write_wav(self._path, np.concatenate(self._played))


class CardPlayer:
    """Plays on a sound card, with the extra gp-pta[listen].

    Parameters
    ----------
    name : str
        Of the card, a number, or "default".
    largest : float
        The largest sample that there can be; it is `CARD_LIMIT_DBFS` of full scale there.

    Raises
    ------
    PlayerError
        If there is no such card.
    """

    def __init__(self, name: str, largest: float) -> None:
        try:
            self._device = library()
        except (ImportError, NoSoundError) as error:
            raise PlayerError(f"there is no sound card: {error}") from None
        self._card = None if name == "default" else int(name) if name.isdecimal() else name
        self._scale = 10.0 ** (0.05 * CARD_LIMIT_DBFS) / largest
        try:
            self._device.check_output_settings(self._card, 2, samplerate=CARD_RATE_HZ)
        except (ValueError, self._device.PortAudioError) as error:
            raise PlayerError(f"the sound card {name!r} cannot be used: {error}") from None

    def play(self, samples: FloatArray) -> None:
        """Begin to play."""
        columns = [resampled(column, SAMPLE_RATE_HZ, CARD_RATE_HZ) for column in samples.T]
        most = 10.0 ** (0.05 * CARD_LIMIT_DBFS)
        heard = np.clip(self._scale * np.stack(columns, axis=1), -most, most)
        try:
            self._device.play(heard.astype(np.float32), CARD_RATE_HZ, device=self._card)
        except self._device.PortAudioError as error:
            raise PlayerError(f"the sound card is gone: {error}") from None

    def stop(self) -> None:
        """Fall silent."""
        self._device.stop()

    def close(self) -> None:
        """Fall silent."""
        self._device.stop()
