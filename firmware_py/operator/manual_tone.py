"""A tone played by hand while no test runs: to show the listener what to listen for.

It has the limits of a test: the range of the settings, the reach of the calibration, and at most
20 dB more than the tone before it in that ear. The first tone in an ear is at most as loud as the
first tone of a test. Noise climbs in its ear in the same way, from 20 dB above that. Both climbs
belong to one listener at one board, and to one operator. A tone by hand belongs to no session and
is in no journal; the console's unasked lines tell what was played.
"""

from dataclasses import dataclass
from typing import Any, Final

from firmware_py.board.sounds import MOST, REACH, ROUTE_MOST, Climb, play_noise, play_tone
from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.link.client import Client, Tone
from firmware_py.link.messages import LOWEST_DBFS
from firmware_py.link.notices import Greeted, Lost, Notice, Refused, ToneEnded, ToneStarted
from firmware_py.operator.meter_tone import MeterTone
from firmware_py.operator.replies import limit_words
from firmware_py.terms.reasons import Code, as_json, reason
from firmware_py.terms.route import ROUTES, Route
from firmware_py.terms.settings import LOUD_DB_HL, STEP_UP_MAX_DB, SettingError, Settings
from firmware_py.terms.words import say

ID_PREFIX: Final = "man-"
NUMBERS: Final = 10_000  # an id has at most 8 characters: "man-9999"


@dataclass(frozen=True)
class _Asked:
    """A tone that the board was asked for."""

    route: Route
    frequency_hz: float
    level_db_hl: float
    noise_db_hl: float | None  # in the other ear


class ManualTone:
    """Plays tones by hand, one at a time."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._number = 0
        self._asked: dict[str, _Asked] = {}  # by id
        self._sounding = ""  # the id of the one whose start was told, until its end is
        self._tones, self._noises = Climb(), Climb()
        self.for_meter = MeterTone(client)

    def play(
        self,
        route: Route,
        frequency_hz: float,
        level_db_hl: float,
        settings: Settings,
        calibration: CalibrationInForce,
        noise_db_hl: float | None = None,
    ) -> None:
        """Play a tone, with noise in the other ear or without; one that sounds is ended.

        If it may not be played that is a `SettingError`, and nothing was done.
        """
        self.for_meter.forget()  # somebody listens
        low_hz, high_hz = settings.frequency_min_hz, settings.frequency_max_hz
        if not low_hz <= frequency_hz <= high_hz:
            raise SettingError(
                f"frequency is {frequency_hz:g}; allowed are {low_hz:g} to {high_hz:g} Hz"
            )
        _check_route(self._client, calibration, route, frequency_hz)
        first_db_hl, noise_limits = settings.familiar_level_db_hl, {}
        limits = self._limits(route, frequency_hz, settings, calibration)
        _check_level("level", level_db_hl, calibration.unit, settings, limits)
        if noise_db_hl is not None:
            if not self._client.can_mask:
                raise SettingError(say(reason(Code.NO_NOISE)))
            noise_limits = {MOST: settings.level_max_db_hl}
            noise_limits[REACH] = calibration.highest_noise_db_hl(route.noise, frequency_hz)
            noise_limits[f"{STEP_UP_MAX_DB:g} dB above the tone"] = level_db_hl + STEP_UP_MAX_DB
            noise_limits |= self._noises.limit("noise", route.noise, first_db_hl + STEP_UP_MAX_DB)
            _check_level("noise", noise_db_hl, "dB", settings, noise_limits)
        self.stop()
        if noise_db_hl is not None:
            play_noise(
                self._client, calibration, route.noise, frequency_hz, noise_db_hl, noise_limits
            )
        self._number = self._number % (NUMBERS - 1) + 1
        tone_id = f"{ID_PREFIX}{self._number}"
        self._asked = {tone_id: _Asked(route, frequency_hz, level_db_hl, noise_db_hl)}
        s = settings
        tone = Tone(
            tone_id, route, frequency_hz, LOWEST_DBFS,
            s.pulse_on_ms, s.pulse_off_ms, s.pulses, s.rise_ms,
        )  # fmt: skip
        play_tone(self._client, calibration, tone, level_db_hl, limits)

    def nobody_listens(self) -> None:
        """Take in that the earphones are on no ears: tones for the meter may be played."""
        self.stop()
        self.for_meter.nobody_listens = True

    def play_for_meter(
        self,
        route: Route,
        frequency_hz: float,
        level_dbfs: float,
        settings: Settings,
        calibration: CalibrationInForce,
        *,
        pulsed: bool = False,
    ) -> None:
        """Play a tone for the meter; the first is at most as loud as the first of a test."""
        self.stop()
        first_dbfs = calibration.level_dbfs(route, frequency_hz, settings.familiar_level_db_hl)
        loud_dbfs = calibration.level_dbfs(route, frequency_hz, LOUD_DB_HL)
        pulses = settings if pulsed else None
        self.for_meter.play(route, frequency_hz, level_dbfs, first_dbfs, pulses, loud_dbfs)

    def limits(self, settings: Settings, calibration: CalibrationInForce) -> str:
        def highest_db_hl(route: Route, frequency_hz: float) -> float:
            return min(self._limits(route, frequency_hz, settings, calibration).values())

        measured = [each for each in ROUTES if not calibration.lacks(each)]
        limits = limit_words(highest_db_hl, calibration.audiogram_hz, measured)
        return f"low={settings.level_min_db_hl:g} {limits}"

    def _limits(
        self, route: Route, frequency_hz: float, settings: Settings, calibration: CalibrationInForce
    ) -> dict[str, float]:
        reach_db_hl = calibration.highest_db_hl(route, frequency_hz)
        limits = {MOST: settings.level_max_db_hl, REACH: reach_db_hl}
        limits[ROUTE_MOST] = route.kind.highest_db_hl(frequency_hz)
        return limits | self._tones.limit("tone", route, settings.familiar_level_db_hl)

    def stop(self) -> None:
        """End a tone that sounds, or is about to; without one nothing is done."""
        if self._asked:
            self._client.silence()
            self._asked = {}

    def forget(self) -> None:
        """Stop, and begin again with a soft tone: somebody else may wear the earphones."""
        self.stop()
        self.for_meter.forget()
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._asked = {}
        self._tones.forget()
        self._noises.forget()

    def notice(self, notice: Notice) -> tuple[str, dict[str, Any]] | None:
        """Take in what came over the wire; return what happened to a tone, if anything."""
        self.for_meter.notice(notice)
        match notice:
            case ToneStarted(_, tone_id) if tone_id in self._asked:
                sounds = self._asked[tone_id]
                self._tones.note_sound(sounds.route, sounds.level_db_hl)
                if sounds.noise_db_hl is not None:
                    self._noises.note_sound(sounds.route.noise, sounds.noise_db_hl)
                self._sounding = tone_id
                about = as_json(sounds)
                if sounds.noise_db_hl is None:
                    del about["noise_db_hl"]
                return "manual-tone", about
            case ToneEnded(_, tone_id) if tone_id in (*self._asked, self._sounding):
                ended = self._asked.pop(tone_id, None)  # None: it was stopped
                if ended is not None and ended.noise_db_hl is not None:
                    self._client.unmask()
                return self._over()
            case Refused("tone" | "mask"):
                self.stop()
            case Lost() | Greeted():  # of the earphones nobody knows whose they are now
                self._begin_anew()
                return self._over()
        return None

    def _over(self) -> tuple[str, dict[str, Any]] | None:
        """Return that a tone is over, if its start was told."""
        was, self._sounding = self._sounding, ""
        return ("manual-tone-over", {}) if was else None


def _check_route(
    client: Client, calibration: CalibrationInForce, route: Route, frequency_hz: float
) -> None:
    if not client.reaches(route):
        raise SettingError(say(reason(Code.NO_TRANSDUCER, ear=str(route))))
    if lacking := calibration.lacks(route):
        raise SettingError(lacking)
    low_hz, high_hz = route.kind.calibrated_hz[0], calibration.audiogram_hz(route)[-1]
    if not low_hz <= frequency_hz <= high_hz:
        raise SettingError(
            f"frequency is {frequency_hz:g}; allowed are {low_hz:g} to {high_hz:g} Hz for the "
            f"{route.words}"
        )


def _check_level(
    name: str, level_db_hl: float, unit: str, settings: Settings, limits_db_hl: dict[str, float]
) -> None:
    why, high_db_hl = min(limits_db_hl.items(), key=lambda each: each[1])
    low_db_hl = settings.level_min_db_hl
    if not low_db_hl <= level_db_hl <= high_db_hl:
        raise SettingError(
            f"{name} is {level_db_hl:g}; allowed are {low_db_hl:g} to {high_db_hl:g} {unit} ({why})"
        )
