"""The one way out for every sound: nothing is given to an ear above a limit in force.

A test, a tone by hand, noise and a tone for the meter all go through `play_tone` and `play_noise`,
each with the limits that hold for it, by what sets them. The settings of a tuning, and speech
at them, go through `use_setting` and `play_speech`, within what the hearing aid may be set to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.comparisons.space import DIMENSIONS, Setting
from firmware_py.link.client import Client, Tone
from firmware_py.link.messages import LOWEST_DBFS
from firmware_py.terms.events import Mask, Play, Unmask
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import LOUD_DB_HL, STEP_UP_MAX_DB, Settings

if TYPE_CHECKING:  # most devices have no aid
    from firmware_py.link.aid import AidClient

MOST: Final = "level_max_db_hl"
ROUTE_MOST: Final = "the highest level by this route"
REACH: Final = "the reach of the tone generator"

Limits = Mapping[str, float]  # the highest level, by what sets it
RangesDb = Sequence[tuple[float, float]]  # of each number of a hearing aid's setting


class TooLoudError(ValueError):
    """A sound above a limit in force; it is not played."""

    def __init__(self, level: float, limits: Limits) -> None:
        self.level = level
        self.why, self.highest = min(limits.items(), key=lambda each: each[1])
        super().__init__(f"{level:g} is above {self.highest:g} ({self.why})")

    def reason_in_test(self, sound: Play | Mask | Unmask) -> Reason:
        code = Code.TONE_TOO_LOUD if isinstance(sound, Play) else Code.NOISE_TOO_LOUD
        return reason(code, level_db_hl=self.level, highest_db_hl=self.highest)


def check(level: float, limits: Limits) -> None:
    """Refuse a level above the lowest of its limits, by a `TooLoudError`."""
    if not all(level <= highest for highest in limits.values()):
        raise TooLoudError(level, limits)


def play_tone(
    client: Client, calibration: CalibrationInForce, tone: Tone, level_db_hl: float, limits: Limits
) -> None:
    """Play a tone at a level in dB HL, within its limits and the reach; its own counts not."""
    reach_db_hl = calibration.highest_db_hl(tone.route, tone.frequency_hz)
    highest_db_hl = tone.route.kind.highest_db_hl(tone.frequency_hz)
    check(level_db_hl, {REACH: reach_db_hl, **limits, ROUTE_MOST: highest_db_hl})
    level_dbfs = calibration.level_dbfs(tone.route, tone.frequency_hz, level_db_hl)
    client.play(replace(tone, level_dbfs=level_dbfs, loud=level_db_hl > LOUD_DB_HL))


def play_noise(
    client: Client,
    calibration: CalibrationInForce,
    route: Route,
    frequency_hz: float,
    level_db_hl: float,
    limits: Limits,
) -> None:
    """Play noise until told otherwise; errors as of a tone."""
    check(level_db_hl, {REACH: calibration.highest_noise_db_hl(route, frequency_hz), **limits})
    level_dbfs = calibration.noise_dbfs(route, frequency_hz, level_db_hl)
    client.mask(route, frequency_hz, level_dbfs, loud=level_db_hl > LOUD_DB_HL)


def play_for_the_meter(client: Client, tone: Tone, limits: Limits) -> None:
    """Play a tone at its level in dBFS, which nobody hears; errors as of another."""
    check(tone.level_dbfs, limits)
    client.play(tone)


def sound_of_test(
    client: Client,
    calibration: CalibrationInForce,
    settings: Settings,
    tone_id: str,
    sound: Play | Mask | Unmask,
) -> None:
    """Do what a test wants to be heard, within its settings; errors as of a tone.

    The procedure keeps every level within them already; here it is made sure.
    """
    match sound:
        case Play():
            tone = Tone(
                tone_id, sound.route, sound.frequency_hz, LOWEST_DBFS, sound.on_ms, sound.off_ms,
                sound.pulses, sound.rise_ms, sound.press_ms, sound.press_buttons,
            )  # fmt: skip
            most = {MOST: settings.level_max_db_hl}
            play_tone(client, calibration, tone, sound.level_db_hl, most)
        case Mask():
            where = sound.route, sound.frequency_hz
            play_noise(client, calibration, *where, sound.level_db_hl, {})
        case Unmask():
            client.unmask()


def check_setting(setting: Setting, *allowed: RangesDb) -> None:
    """Refuse a setting outside any of the ranges, of a tuning or of the aid, by a `ValueError`."""
    for ranges_db in allowed:
        numbers = zip(DIMENSIONS, setting.values_db(), ranges_db, strict=True)
        for dimension, value_db, (low_db, high_db) in numbers:
            if not low_db <= value_db <= high_db:
                raise ValueError(
                    f"{dimension.name} is {value_db:g}; allowed is {low_db:g} to {high_db:g} dB"
                )


def play_speech(client: "AidClient", number: int, setting: Setting, *allowed: RangesDb) -> None:
    """Have the hearing aid play speech at a setting; errors as of `check_setting`."""
    check_setting(setting, *allowed)
    client.play(number, setting.values_db())


def use_setting(client: "AidClient", setting: Setting, *allowed: RangesDb) -> None:
    """Have the hearing aid stay at a setting; errors as of `check_setting`."""
    check_setting(setting, *allowed)
    client.use(setting.values_db())


class Climb:
    """How loud the next sound in an ear may be: not much louder than the one before it."""

    def __init__(self) -> None:
        self._last: dict[Route, float] = {}
        self._last_in_ear: dict[str, float] = {}

    def note_sound(self, route: Route, level: float) -> None:
        self._last[route] = self._last_in_ear[route.ear] = level

    def limit(self, what: str, route: Route, first: float) -> dict[str, float]:
        """Return the limits that the one before sets, or the level of a first one, by what sets it.

        Where that one came by the ear's other route, the quieter of it and of the last by this one.
        """
        before = self._last_in_ear.get(route.ear)
        limits = {} if route in self._last else {f"the first {what} in an ear": first}
        if before is not None:
            before = min(before, self._last.get(route, before))
            limits[f"{STEP_UP_MAX_DB:g} dB above the {what} before"] = before + STEP_UP_MAX_DB
        return limits

    def forget(self) -> None:
        """Begin again: somebody else may wear the earphones."""
        self._last, self._last_in_ear = {}, {}
