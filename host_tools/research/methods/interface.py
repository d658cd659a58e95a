"""The interface of a method of measuring a threshold curve, and what every method is told."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from firmware_py import Stimulus
from firmware_py.ear.objective import Objective
from firmware_py.inference.estimator import InferenceError
from firmware_py.inference.mixture.population_prior import PopulationPrior, Sex
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ

__all__ = [
    "FAILURES",
    "Array",
    "Banded",
    "Method",
    "Stimulus",
    "Task",
    "binary_entropy_bits",
    "checked_number",
    "interpolate",
    "interpolation_weights",
    "tones_of",
]

Array = np.ndarray[Any, np.dtype[np.float64]]

# A method that cannot go on raises one of these; anything else is a bug.
FAILURES: Final = (ArithmeticError, InferenceError)

RESPONSE_NOISE_LIMITS_DB: Final = (0.1, 30.0)
SEED_MAX: Final = 2**64 - 1
TONES_MAX: Final = 1000  # three hours and more: nobody listens for so long


class Method(Protocol):
    """A way of measuring the threshold curve of one ear, tone by tone.

    A method is made from a `Task`, has no clock, and is deterministic: the same task and the same
    answers give the same tones, to the bit. Where it cannot go on, a method raises an
    `ArithmeticError` (or `InferenceError`): its session counts as failed.
    """

    def next_stimulus(self) -> Stimulus | None:
        """Return the tone to play next; asked again before an answer, it is the same tone.

        Returns
        -------
        Stimulus or None
            None: the method has ended, and takes no more answers.
        """

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool) -> None:
        """Take the answer to one tone into account.

        Raises
        ------
        ValueError
            Frequency or level lie outside the task, or (where the method is a fixed protocol) the
            tone is not the one it asked for.
        TypeError
            `heard` is not a bool.
        """

    def threshold(self, frequencies_hz: Iterable[float] | Array) -> tuple[Array, Array]:
        """Return what is known of the threshold curve; also before the first answer.

        Parameters
        ----------
        frequencies_hz : (m,)
            Within the frequency range of the task.

        Returns
        -------
        mean_db_hl, sd_db : (m,), (m,)
            dB HL and dB; the SD is NaN where the method gives none.

        Raises
        ------
        ValueError
            A frequency lies outside the range of the task.
        """


@runtime_checkable
class Banded(Protocol):
    """A method with bands of its own, as its posterior is no normal distribution."""

    def threshold_band(
        self, frequencies_hz: Iterable[float] | Array, probability: float
    ) -> tuple[Array, Array]:
        """Return the central band (low, high), (m,) each in dB HL, with this probability."""


@dataclass(frozen=True)
class Task:
    """What every method is told before the first tone; a study has checked it (`Options`)."""

    response_noise_db: float = 2.0  # SD of the probit psychometric function
    # Shares of tones missed, or answered, whatever their level; together below 1.
    lapse_rate: float = 0.01
    false_alarm_rate: float = 0.01
    # What may be asked: (low, high).
    level_limits_db_hl: tuple[float, float] = (-10.0, 120.0)
    frequency_range_hz: tuple[float, float] = (125.0, 8000.0)
    # Where the threshold is wanted; rising, within the range.
    audiogram_frequencies_hz: tuple[float, ...] = AUDIOGRAM_FREQUENCIES_HZ
    seed: int = 1  # of whatever a method draws at random
    tones_max: int = 128  # so many tones are played at most
    age_years: float | None = None  # of the listener, if known
    sex: Sex | None = None
    # For those that make use of them: what was learned from people, and what makes a tone the best;
    # None: as it ships.
    prior: PopulationPrior | None = None
    objective: type[Objective] | None = None
    learned: Any = None  # by a method of somebody's own, from people: JSON values

    def check(
        self, frequency_hz: float, level_db_hl: float, heard: bool
    ) -> tuple[float, float, bool]:
        """Return an answer as two floats and a bool, or say what about it is not allowed."""
        if not isinstance(heard, bool | np.bool_):
            raise TypeError(f"heard is {heard!r}; allowed are True and False")
        return (
            checked_number("frequency_hz", frequency_hz, *self.frequency_range_hz),
            checked_number("level_db_hl", level_db_hl, *self.level_limits_db_hl),
            bool(heard),
        )

    def checked_frequencies(self, frequencies_hz: Iterable[float] | Array) -> Array:
        """Return frequencies as an array, or say which one is outside the range of the task."""
        range_hz = self.frequency_range_hz
        return np.array([checked_number("frequencies_hz", f, *range_hz) for f in frequencies_hz])


def interpolate(
    frequencies_known_hz: Iterable[float] | Array,
    values: Iterable[float] | Array,
    frequencies_wanted_hz: Iterable[float] | Array,
) -> Array:
    """Interpolate linearly in log2 frequency, constant outside the first and last frequency.

    The known frequencies rise. At each of them the result is exactly its value.
    """
    known_hz = np.array(list(frequencies_known_hz), dtype=float)
    wanted_hz = np.array(list(frequencies_wanted_hz), dtype=float)
    at_known = np.array(list(values), dtype=float)
    values_wanted: Array = np.interp(np.log2(wanted_hz), np.log2(known_hz), at_known)
    return values_wanted


def interpolation_weights(frequencies_known_hz: Array, frequencies_wanted_hz: Array) -> Array:
    """Return the matrix (wanted, known) that interpolates as `interpolate` does."""
    unit = np.eye(len(frequencies_known_hz))
    return np.array([interpolate(frequencies_known_hz, e, frequencies_wanted_hz) for e in unit]).T


def tones_of(task: Task, frequencies_hz: Array, level_step_db: float) -> Array:
    """Return (tones, 2) all tones, in Hz and dB HL, that a task allows at these frequencies.

    Levels are multiples of the step. The tones are sorted by frequency, then by level. A
    `ValueError`: there is none.
    """
    low_hz, high_hz = task.frequency_range_hz
    low_db_hl, high_db_hl = task.level_limits_db_hl
    allowed_hz = [f for f in frequencies_hz if low_hz <= f <= high_hz]
    steps = np.arange(
        math.ceil(low_db_hl / level_step_db), math.floor(high_db_hl / level_step_db) + 1
    )
    if not allowed_hz or not len(steps):
        raise ValueError(
            f"there is no tone at {np.asarray(frequencies_hz).tolist()} Hz and multiples of "
            f"{level_step_db:g} dB within {low_hz:g} to {high_hz:g} Hz (frequency_range_hz) and "
            f"{low_db_hl:g} to {high_db_hl:g} dB HL (level_limits_db_hl)"
        )
    return np.array([(f, level_step_db * step) for f in allowed_hz for step in steps])


def binary_entropy_bits(p: Array) -> Array:
    """Return -p log2 p - (1 - p) log2 (1 - p), 0 where p is 0 or 1."""
    inner = np.clip(p, 1e-300, 1.0 - 2.0**-53)
    return np.where(
        (p > 0.0) & (p < 1.0), -inner * np.log2(inner) - (1.0 - inner) * np.log2(1.0 - inner), 0.0
    )


def checked_number(name: str, value: float, low: float, high: float) -> float:
    """Return value as a float, or say which argument lies outside [low, high], or is no number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not low <= number <= high:
        raise ValueError(f"{name} is {value!r}; allowed is {low:g} to {high:g}")
    return number
