"""The sounds of a test, given to the tone generator at calibrated levels, and never too loud.

The procedure keeps every level within the calibration's reach already; here it is made sure.
"""

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.link.client import Client, Tone
from firmware_py.procedure.events import Mask, Play
from firmware_py.procedure.reasons import Code, reason
from firmware_py.procedure.words import say


class TooLoudError(ValueError):
    """A sound above the highest level that may be reached; it is not played."""

    def __init__(self, code: Code, level_db_hl: float, highest_db_hl: float) -> None:
        self.why = reason(code, level_db_hl=level_db_hl, highest_db_hl=highest_db_hl)
        super().__init__(say(self.why))


def play_tone(client: Client, calibration: CalibrationInForce, tone_id: str, play: Play) -> None:
    """Play a tone.

    Raises
    ------
    TooLoudError
        If it is above what the calibration reaches.
    """
    _check(
        Code.TONE_TOO_LOUD, play.level_db_hl, calibration.highest_db_hl(play.ear, play.frequency_hz)
    )
    level_dbfs = calibration.level_dbfs(play.ear, play.frequency_hz, play.level_db_hl)
    client.play(
        Tone(
            tone_id, play.ear, play.frequency_hz, level_dbfs,
            play.on_ms, play.off_ms, play.pulses, play.rise_ms,
            play.press_ms, play.press_buttons,
        )
    )  # fmt: skip


def play_noise(client: Client, calibration: CalibrationInForce, mask: Mask) -> None:
    """Play noise until told otherwise; errors as of a tone."""
    _check(
        Code.NOISE_TOO_LOUD,
        mask.level_db_hl,
        calibration.highest_noise_db_hl(mask.ear, mask.frequency_hz),
    )
    level_dbfs = calibration.noise_dbfs(mask.ear, mask.frequency_hz, mask.level_db_hl)
    client.mask(mask.ear, mask.frequency_hz, level_dbfs)


def _check(code: Code, level_db_hl: float, highest_db_hl: float) -> None:
    if not level_db_hl <= highest_db_hl:
        raise TooLoudError(code, level_db_hl, highest_db_hl)
