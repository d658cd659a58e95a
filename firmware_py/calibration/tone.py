"""The tone for the sound level meter: steady, limited, and over by itself."""

from typing import Final

from firmware_py.link.client import Client, Tone
from firmware_py.link.notices import Lost, Notice, Refused, ToneEnded, ToneStarted

# Nobody should wear the earphones while levels are measured, but somebody might: the loudest 6 dB
# are never played. A test never plays above the highest level that was measured, so it lacks them
# too.
DBFS_LIMITS: Final = (-80.0, -6.0)
ON_MS: Final = 5000  # the longest pulse of the wire; a slow meter settles in 3 s
RISE_MS: Final = 25
NUMBERS: Final = 10_000  # an id has at most 8 characters: "cal-9999"
ID_PREFIX: Final = "cal-"

SILENT: Final = "silent"  # none yet, or the last was stopped
ASKED: Final = "asked"
SOUNDING: Final = "sounding"
OVER: Final = "over"
REFUSED: Final = "refused"
LOST: Final = "lost"  # the tone generator does not answer


class ToneError(ValueError):
    """A calibration tone that may not be played."""


class CalibrationTone:
    """Plays calibration tones, one at a time.

    Parameters
    ----------
    client : Client
        The wire to the tone generator.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._number = 0
        self.state = SILENT

    @property
    def sounds(self) -> bool:
        """Return whether one sounds, or is about to."""
        return self.state in (ASKED, SOUNDING)

    def play(self, ear: str, frequency_hz: float, level_dbfs: float) -> None:
        """Play a tone; one that sounds is ended.

        Raises
        ------
        ToneError
            If it would be too loud, or far too soft; nothing was done.
        """
        low_dbfs, high_dbfs = DBFS_LIMITS
        if not low_dbfs <= level_dbfs <= high_dbfs:
            raise ToneError(f"{level_dbfs:g} dBFS: allowed is {low_dbfs:g} to {high_dbfs:g} dBFS")
        self.stop()
        self._number = (self._number + 1) % NUMBERS
        self._client.play(Tone(self._id, ear, frequency_hz, level_dbfs, ON_MS, 0, 1, RISE_MS))
        self.state = ASKED

    def stop(self) -> None:
        """End the tone, if one sounds."""
        if self.sounds:
            self._client.silence()
            self.state = SILENT

    def forget(self) -> None:
        """Stop, and forget what became of the last one: it was another operator's."""
        self.stop()
        self.state = SILENT

    def notice(self, notice: Notice) -> None:
        """Take in what came over the wire."""
        match notice:
            case ToneStarted(_, self._id) if self.sounds:
                self.state = SOUNDING
            case ToneEnded(_, self._id) if self.sounds:
                self.state = OVER
            case Refused("tone", code, name) if self.state == ASKED:
                self.state = f"{REFUSED} {code} {name}".strip()
            case Lost():
                self.state = LOST if self.sounds else self.state

    @property
    def _id(self) -> str:
        return f"{ID_PREFIX}{self._number}"
