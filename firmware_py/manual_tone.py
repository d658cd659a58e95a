"""A tone played by hand while no test runs: to show the listener what to listen for.

It has the limits of a test: the range of the settings, the reach of the calibration, and at most
20 dB more than the tone before it in that ear. The first tone in an ear is at most as loud as the
first tone of a test. Noise climbs in its ear in the same way, from 20 dB above that. Both climbs
belong to one listener at one board, and to one operator. A tone by hand belongs to no session and
is in no journal; the console's unasked lines tell what was played.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

from firmware_py.answers import limit_words
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.link.client import Client, Tone
from firmware_py.link.notices import Greeted, Lost, Notice, Refused, ToneEnded, ToneStarted
from firmware_py.procedure.cross_hearing import OTHER
from firmware_py.procedure.reasons import Code, reason
from firmware_py.procedure.settings import STEP_UP_MAX_DB, SettingError, Settings
from firmware_py.procedure.words import say

ID_PREFIX: Final = "man-"
NUMBERS: Final = 10_000  # an id has at most 8 characters: "man-9999"
MOST: Final = "level_max_db_hl"
REACH: Final = "the reach of the tone generator"


@dataclass(frozen=True)
class _Asked:
    """A tone that the board was asked for."""

    ear: str
    frequency_hz: float
    level_db_hl: float
    noise_db_hl: float | None  # in the other ear


class ManualTone:
    """Plays tones by hand, one at a time.

    Parameters
    ----------
    client : Client
        The wire to the tone generator.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._number = 0
        self._asked: dict[str, _Asked] = {}  # by id
        self._last_tone_db_hl: dict[str, float] = {}  # by ear
        self._last_noise_db: dict[str, float] = {}  # by ear

    def play(
        self,
        ear: str,
        frequency_hz: float,
        level_db_hl: float,
        settings: Settings,
        calibration: CalibrationInForce,
        noise_db_hl: float | None = None,
    ) -> None:
        """Play a tone, with noise in the other ear or without; one that sounds is ended.

        Raises
        ------
        SettingError
            If it may not be played; nothing was done.
        """
        low_hz, high_hz = settings.frequency_min_hz, settings.frequency_max_hz
        if not low_hz <= frequency_hz <= high_hz:
            raise SettingError(
                f"frequency is {frequency_hz:g}; allowed are {low_hz:g} to {high_hz:g} Hz"
            )
        first_db_hl = settings.familiar_level_db_hl
        limits = self._limits(ear, frequency_hz, settings, calibration)
        _check_level("level", level_db_hl, calibration.unit, settings, limits)
        level_dbfs = calibration.level_dbfs(ear, frequency_hz, level_db_hl)
        if noise_db_hl is not None:
            if not self._client.can_mask:
                raise SettingError(say(reason(Code.NO_NOISE)))
            limits = {MOST: settings.level_max_db_hl}
            limits[REACH] = calibration.highest_noise_db_hl(OTHER[ear], frequency_hz)
            limits[f"{STEP_UP_MAX_DB:g} dB above the tone"] = level_db_hl + STEP_UP_MAX_DB
            last_db = self._last_noise_db.get(OTHER[ear])
            limits |= _climb("noise", last_db, first_db_hl + STEP_UP_MAX_DB)
            _check_level("noise", noise_db_hl, "dB", settings, limits)
        self.stop()
        if noise_db_hl is not None:
            noise_dbfs = calibration.noise_dbfs(OTHER[ear], frequency_hz, noise_db_hl)
            self._client.mask(OTHER[ear], frequency_hz, noise_dbfs)
        self._number = self._number % (NUMBERS - 1) + 1
        tone_id = f"{ID_PREFIX}{self._number}"
        self._asked = {tone_id: _Asked(ear, frequency_hz, level_db_hl, noise_db_hl)}
        s = settings
        self._client.play(
            Tone(
                tone_id, ear, frequency_hz, level_dbfs,
                s.pulse_on_ms, s.pulse_off_ms, s.pulses, s.rise_ms,
            )
        )  # fmt: skip

    def limits(self, settings: Settings, calibration: CalibrationInForce) -> str:
        """Return the softest tone, and the loudest that may be played now, as the console does."""

        def highest_db_hl(ear: str, frequency_hz: float) -> float:
            return min(self._limits(ear, frequency_hz, settings, calibration).values())

        return f"low={settings.level_min_db_hl:g} {limit_words(highest_db_hl)}"

    def _limits(
        self, ear: str, frequency_hz: float, settings: Settings, calibration: CalibrationInForce
    ) -> dict[str, float]:
        """Return the limits of the level of a tone, by what sets them."""
        last_db_hl, first_db_hl = self._last_tone_db_hl.get(ear), settings.familiar_level_db_hl
        reach_db_hl = calibration.highest_db_hl(ear, frequency_hz)
        limits = {MOST: settings.level_max_db_hl, REACH: reach_db_hl}
        return limits | _climb("tone", last_db_hl, first_db_hl)

    def stop(self) -> None:
        """End a tone that sounds, or is about to; without one nothing is done."""
        if self._asked:
            self._client.silence()
            self._asked = {}

    def forget(self) -> None:
        """Stop, and begin again with a soft tone: somebody else may wear the earphones."""
        self.stop()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._asked = {}
        self._last_tone_db_hl, self._last_noise_db = {}, {}

    def notice(self, notice: Notice) -> tuple[str, dict[str, Any]] | None:
        """Take in what came over the wire; return what happened to a tone, if anything."""
        match notice:
            case ToneStarted(_, tone_id) if tone_id in self._asked:
                sounds = self._asked[tone_id]
                self._last_tone_db_hl[sounds.ear] = sounds.level_db_hl
                if sounds.noise_db_hl is not None:
                    self._last_noise_db[OTHER[sounds.ear]] = sounds.noise_db_hl
                about = asdict(sounds)
                del about["noise_db_hl"]
                return "manual-tone", about
            case ToneEnded(_, tone_id) if tone_id in self._asked:
                if self._asked.pop(tone_id).noise_db_hl is not None:
                    self._client.unmask()
                return "manual-tone-over", {}
            case Refused("tone" | "mask"):
                self.stop()
            case Lost() | Greeted():  # of the earphones nobody knows whose they are now
                self._begin_anew()
        return None


def _climb(what: str, last_db: float | None, first_db: float) -> dict[str, float]:
    """Return the limit that the one before in this ear sets, or that of the first, by its name."""
    if last_db is None:
        return {f"the first {what} in an ear": first_db}
    return {f"{STEP_UP_MAX_DB:g} dB above the {what} before": last_db + STEP_UP_MAX_DB}


def _check_level(
    name: str, level_db_hl: float, unit: str, settings: Settings, limits_db_hl: dict[str, float]
) -> None:
    """Refuse a level above the lowest of its limits."""
    why, high_db_hl = min(limits_db_hl.items(), key=lambda each: each[1])
    low_db_hl = settings.level_min_db_hl
    if not low_db_hl <= level_db_hl <= high_db_hl:
        raise SettingError(
            f"{name} is {level_db_hl:g}; allowed are {low_db_hl:g} to {high_db_hl:g} {unit} ({why})"
        )
