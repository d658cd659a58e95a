"""What a hearing aid is set to: gain over input level in bands, and what it may never exceed.

Levels are those of the sound field in which the sound at the eardrum would be the same without an
aid: a level at the output is the level at the input plus the insertion gain.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Final, Self

import numpy as np

from device.hearing_aid.for_whom import EarFinding
from device.hearing_aid.shapes import GainTable
from device.hearing_aid.whose import UNKNOWN, Whose
from device.speech import CONVERSATION_DB_SPL, PEAKS_DB, FloatArray
from firmware_py.comparisons.space import DIMENSIONS, PRESCRIPTION, STEP_DB, Setting
from firmware_py.terms.printable import show
from firmware_py.terms.route import LEFT, RIGHT

# In a band, dB SPL at the place of the listener's head; a table of gains has a value at each.
INPUT_LEVELS_DB_SPL: Final = tuple(float(level) for level in range(0, 125, 5))
LEVEL_STEP_DB: Final = 5.0
ROUNDING_DB: Final = 0.02  # what two gains in hundredths may differ by from what was meant

CENTER_LIMITS_HZ: Final = (20.0, 20000.0)
BANDS_MAX: Final = 32
GAIN_LIMIT_DB: Final = 80.0  # more than any aid has
# The most that an aid sold over the counter may give where nothing compresses (21 CFR 800.30(d),
# in force since 2022), which the person's tuning may bring about. With compression it is 117.
OUTPUT_CEILING_DB_SPL: Final = 111.0
# The peak of a sine of that level, 3 dB above its RMS.
PEAK_CEILING_DB_SPL: Final = 114.0
TEXT_CHARACTERS: Final = 2000  # the longest name of a file, spelt out, is half of it

# What a step may do more or less than it says: in its own number a step, and in each of the others
# what few would hear.
OFF_MAX_DB: Final = 0.5
OTHERS_OFF_MAX_DB: Final = 1.0


class FitError(ValueError):
    """A fit that no aid may get; the message has the place, the value, and what is allowed."""


def refusal(place: str, value: object, allowed: str) -> FitError:
    """Return the error for a value; `allowed` follows the word "allowed"."""
    return FitError(f"{place} is {show(value)}; allowed {allowed}")


def _check_number(place: str, value: float, low: float, high: float, unit: str) -> None:
    # NaN is not between two numbers, and True is no number here.
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise refusal(place, value, f"are numbers from {low:g} to {high:g} {unit}")


def gain_max_at_db(
    level_db_spl: float | FloatArray, gain_max_db: FloatArray, output_max_db_spl: FloatArray
) -> FloatArray:
    """Return the most gain of bands in which speech has this level.

    The peaks of that speech stay below the most output; without gain they are as they are.
    """
    below_output_db = output_max_db_spl - PEAKS_DB - level_db_spl
    return np.clip(below_output_db, 0.0, gain_max_db)


@dataclass(frozen=True)
class BandFit:
    """One band of one ear; a `FitError` if a value is none that an aid may get."""

    center_hz: float
    # insertion gain at each of `INPUT_LEVELS_DB_SPL`; between them on a line, beyond them held
    gains_db: tuple[float, ...]
    gain_max_db: float  # no setting asks for more at any level: feedback
    output_max_db_spl: float  # no sound in this band is louder, whatever comes in

    def __post_init__(self) -> None:
        _check_number("center_hz", self.center_hz, *CENTER_LIMITS_HZ, "Hz")
        where = f"of the band at {self.center_hz:g} Hz"
        _check_number(f"gain_max_db {where}", self.gain_max_db, 0.0, GAIN_LIMIT_DB, "dB")
        _check_number(
            f"output_max_db_spl {where}", self.output_max_db_spl, 0.0, OUTPUT_CEILING_DB_SPL,
            "dB SPL",
        )  # fmt: skip
        if not isinstance(self.gains_db, tuple) or len(self.gains_db) != len(INPUT_LEVELS_DB_SPL):
            raise refusal(
                f"gains_db {where}", self.gains_db,
                f"is one gain for each of {len(INPUT_LEVELS_DB_SPL)} input levels",
            )  # fmt: skip
        for level, gain_db in zip(INPUT_LEVELS_DB_SPL, self.gains_db, strict=True):
            place = f"gains_db {where} at {level:g} dB SPL"
            _check_number(place, gain_db, 0.0, self.gain_max_db, "dB, the band's gain_max_db")
        falls_db = -float(np.diff(self.gains_db).min())
        if falls_db > LEVEL_STEP_DB + ROUNDING_DB:
            raise FitError(
                f"gains_db {where} falls by {falls_db:g} dB from a level to the next; allowed is "
                f"{LEVEL_STEP_DB:g} dB: more would make what is louder softer"
            )


@dataclass(frozen=True)
class EarFit:
    """All bands of one ear; the bands meet halfway on log frequency."""

    ear: str  # "left" or "right"
    bands: tuple[BandFit, ...]
    output_max_db_spl: float  # of all bands together, as a peak of the waveform

    def __post_init__(self) -> None:
        if self.ear not in (LEFT, RIGHT):
            raise refusal("ear", self.ear, f"are {LEFT}, {RIGHT}")
        if not isinstance(self.bands, tuple) or not 1 <= len(self.bands) <= BANDS_MAX:
            raise refusal(f"bands of the {self.ear} ear", self.bands, f"are 1 to {BANDS_MAX}")
        centers_hz = [band.center_hz for band in self.bands]
        if not np.all(np.diff(centers_hz) > 0.0):
            raise refusal(f"center_hz of the {self.ear} ear", centers_hz, "is each above the last")
        _check_number(
            f"output_max_db_spl of the {self.ear} ear", self.output_max_db_spl, 0.0,
            PEAK_CEILING_DB_SPL, "dB SPL",
        )  # fmt: skip

    @cached_property
    def table(self) -> GainTable:
        """Return the gains as a table, a row a band, a column an input level."""
        return GainTable(
            np.array([band.center_hz for band in self.bands]),
            np.array(INPUT_LEVELS_DB_SPL),
            np.array([band.gains_db for band in self.bands]),
        )

    @cached_property
    def gains_max_db(self) -> FloatArray:
        """Return the most that each gain of the table may be, (m, k)."""
        limits = np.array([(band.gain_max_db, band.output_max_db_spl) for band in self.bands])
        return gain_max_at_db(self.table.levels_db_spl, limits[:, :1], limits[:, 1:])

    @cached_property
    def limited_from_db_spl(self) -> FloatArray:
        """Return from which level of what comes in each band is held to its limit, (m,)."""
        levels, gains_db = self.table.levels_db_spl, self.table.gains_db
        limits = np.array([band.output_max_db_spl for band in self.bands])
        outputs = np.maximum.accumulate(levels + gains_db, axis=1)
        reached = [
            np.interp(limit, row, levels) for limit, row in zip(limits, outputs, strict=True)
        ]
        return np.where(limits > outputs[:, -1], limits - gains_db[:, -1], reached)

    def gain_db(self, frequency_hz: float, level_db_spl: float) -> float:
        """Return the insertion gain at a frequency where a band has this input level.

        Between the centres it is on a line over log frequency, beyond them held; so over level.
        An aid gives the gain of a centre as far as the band goes. It is below 0 where the band
        would be louder than it may be.
        """
        centers = np.log2(self.table.center_hz)
        at_level = [
            min(
                float(np.interp(level_db_spl, INPUT_LEVELS_DB_SPL, band.gains_db)),
                band.output_max_db_spl - level_db_spl,
            )
            for band in self.bands
        ]
        return float(np.interp(math.log2(frequency_hz), centers, at_level))

    def gain_of_speech_db(self, speech_db_spl: float = CONVERSATION_DB_SPL) -> FloatArray:
        """Return the gain of each band for speech of this level over all bands, (m,)."""
        return self.table.at_speech_db(speech_db_spl)

    def tune(self, setting: Setting) -> Self:
        """Return the ear with a setting; its gains are held to 0 and to `gains_max_db`."""
        gains_db = self.table.tuned_db(setting, self.gains_max_db)
        bands = tuple(
            replace(band, gains_db=tuple(map(float, row)))
            for band, row in zip(self.bands, gains_db, strict=True)
        )
        return replace(self, bands=bands)


@dataclass(frozen=True)
class Fit:
    """A fit: of one ear, or of both with the same centres."""

    ears: tuple[EarFit, ...]
    rule: str  # what it was derived by, in words
    source: str  # from what: the name of a session
    # SD that the uncertainty of the thresholds leaves each of `DIMENSIONS`, dB; 0: they are known
    uncertainty_db: tuple[float, ...] = (0.0,) * len(DIMENSIONS)
    of: Whose = UNKNOWN  # whose it is
    # for whom the gains are as they were prescribed, before any tuning
    for_whom: tuple[EarFinding, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.ears, tuple) or not 1 <= len(self.ears) <= 2:
            raise refusal("ears", self.ears, "are one or two")
        if len({ear.ear for ear in self.ears}) < len(self.ears):
            raise refusal("ears", [ear.ear for ear in self.ears], "is each ear once")
        centers_hz = [[band.center_hz for band in ear.bands] for ear in self.ears]
        if centers_hz[0] != centers_hz[-1]:
            raise refusal(
                "center_hz of the second ear", centers_hz[-1], "are those of the first ear"
            )
        for field in ("rule", "source"):
            text = getattr(self, field)
            if not isinstance(text, str) or not text.isprintable() or len(text) > TEXT_CHARACTERS:
                raise refusal(
                    field, text, f"is a text that can be printed, {TEXT_CHARACTERS} characters"
                )
        sds_db = self.uncertainty_db
        if not isinstance(sds_db, tuple) or len(sds_db) != len(DIMENSIONS):
            raise refusal("uncertainty_db", sds_db, f"are {len(DIMENSIONS)} numbers")
        for dimension, sd_db in zip(DIMENSIONS, self.uncertainty_db, strict=True):
            _check_number(f"uncertainty_db of {dimension.name}", sd_db, 0.0, GAIN_LIMIT_DB, "dB")

    def of_ear(self, ear: str) -> EarFit:
        """Return the fit of an ear; `FitError` if there is none."""
        for each in self.ears:
            if each.ear == ear:
                return each
        raise FitError(f"the fit from {self.source} has no {ear} ear")

    def tune(self, setting: Setting) -> "Fit":
        """Return the fit with a setting (`shapes.py` says what that does).

        No gain leaves 0 to `gain_max_db`, and no limit changes. `FitError` if a number of the
        setting is beyond its limit (`DIMENSIONS`).
        """
        check_setting(setting)
        if setting == PRESCRIPTION:
            return self
        ears = tuple(ear.tune(setting) for ear in self.ears)
        return replace(self, ears=ears, rule=f"{self.rule}; {setting_in_words(setting)}")

    def ranges_db(self) -> dict[str, tuple[float, float]]:
        """Return how far each number of a setting may go, of those by themselves.

        From 0 a number goes on in `STEP_DB` up to its limit, or as long as in each ear what comes
        out is what the setting says, within `OFF_MAX_DB`, and in the other numbers within
        `OTHERS_OFF_MAX_DB`.
        """
        return dict(self._ranges_db)

    @cached_property
    def _ranges_db(self) -> dict[str, tuple[float, float]]:
        return {
            dimension.name: (
                0.0 - self._reach_db(dimension.name, -STEP_DB, dimension.limit_db),
                self._reach_db(dimension.name, STEP_DB, dimension.limit_db),
            )
            for dimension in DIMENSIONS
        }

    def prior_sd_db(self) -> dict[str, float]:
        """Return how far people's best settings lie from none: wishes, and unsure thresholds."""
        return {
            dimension.name: math.hypot(dimension.wish_sd_db, sd_db)
            for dimension, sd_db in zip(DIMENSIONS, self.uncertainty_db, strict=True)
        }

    def _reach_db(self, name: str, step_db: float, limit_db: float) -> float:
        """Return how far a number goes in the direction of a step, not below 0."""
        steps = int(limit_db / STEP_DB)
        for count in range(1, steps + 1):
            setting = replace(PRESCRIPTION, **{name: count * step_db})
            if not self._comes_out(setting):
                return (count - 1) * STEP_DB
        return steps * STEP_DB

    def _comes_out(self, setting: Setting) -> bool:
        asked_db = np.array(setting.values_db())
        off_max_db = np.where(asked_db == 0.0, OTHERS_OFF_MAX_DB, OFF_MAX_DB)
        return all(np.all(np.abs(o - asked_db) < off_max_db) for o in self.comes_out_db(setting))

    def comes_out_db(self, setting: Setting) -> list[FloatArray]:
        """Return what comes out of a setting in each ear, as the numbers of a setting, (4,)."""
        return [
            ear.table.numbers_db(ear.table.tuned_db(setting, ear.gains_max_db)) for ear in self.ears
        ]


def check_same_limits(fit: Fit, other: Fit) -> None:
    """Refuse another fit whose bands or limits are not those that are in force, `FitError`."""
    for ear in fit.ears:
        there = other.of_ear(ear.ear)
        if _limits(there) != _limits(ear):
            raise FitError(
                f"the {ear.ear} ear of the fit from {other.source} has other bands or limits than "
                f"that from {fit.source}; allowed are the same"
            )


def _limits(ear: EarFit) -> tuple[float, ...]:
    bands = [each for band in ear.bands for each in (band.center_hz, band.output_max_db_spl)]
    return (ear.output_max_db_spl, *bands)


def check_setting(setting: Setting) -> None:
    for dimension, value_db in zip(DIMENSIONS, setting.values_db(), strict=True):
        limit_db = dimension.limit_db
        _check_number(f"{dimension.name} of the setting", value_db, -limit_db, limit_db, "dB")


def setting_in_words(setting: Setting) -> str:
    """Return what a setting changes, such as "tuned: overall +3.0, tilt -2.0 dB"."""
    values: Sequence[tuple[str, float]] = [
        (field.name.removesuffix("_db"), getattr(setting, field.name)) for field in fields(setting)
    ]
    return f"tuned: {', '.join(f'{name} {value_db:+.1f}' for name, value_db in values)} dB"
