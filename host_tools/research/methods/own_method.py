"""Methods and objectives of somebody's own, held to the interface.

What they do wrong is said, never counted.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import numpy as np

from device.simulator.own_code import OwnCodeError
from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import Objective
from host_tools.errors import HostError
from host_tools.research.methods.interface import (
    FAILURES,
    Array,
    Method,
    Stimulus,
    Task,
    checked_number,
)
from host_tools.research.methods.population import Population

Returned = TypeVar("Returned")
SHOWN_MAX: Final = 8  # of the values in a message
ALLOWED: Final = "allowed are two of numbers, one for each frequency"


class OwnMethod:
    """A method of somebody's own, by its name; it gives what the method gives, or refuses it.

    Every method raises a `HostError` where theirs raised something else than one of `FAILURES`, or
    returned what the interface does not allow.
    """

    def __init__(self, name: str, make: Callable[[Task], Any], task: Task) -> None:
        self._name, self._task = name, task
        self._method = self._call("making it of a Task", make, task)

    def next_stimulus(self) -> Stimulus | None:
        """Return its next tone, which may be asked by the task."""
        tone: Any = self._call("next_stimulus", self._method.next_stimulus)
        if not isinstance(tone, Stimulus | None):
            raise self._refusal(f"next_stimulus returned {tone!r}; allowed are a Stimulus and None")
        if tone is not None and (fault := _fault_of(tone, self._task)):
            raise self._refusal(f"next_stimulus returned a tone whose {fault}")
        return tone

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool) -> None:
        self._call("observe", self._method.observe, frequency_hz, level_db_hl, heard)

    def threshold(self, frequencies_hz: Iterable[float] | Array) -> tuple[Array, Array]:
        """Return its means, which are finite, and its SDs, which are NaN or not negative."""
        wanted_hz = np.array([*frequencies_hz])
        returned: Any = self._call("threshold", self._method.threshold, wanted_hz)
        mean_db_hl, sd_db = self._pair("threshold", returned, len(wanted_hz))
        if not np.isfinite(mean_db_hl).all():
            raise self._refusal(
                f"threshold returned the means {_in_a_line(mean_db_hl)}; allowed are dB HL"
            )
        if (sd_db < 0.0).any():
            raise self._refusal(
                f"threshold returned the SDs {_in_a_line(sd_db)}; allowed is 0 or more, or NaN"
            )
        return mean_db_hl, sd_db

    def _pair(self, of: str, returned: Any, length: int) -> tuple[Array, Array]:
        try:
            first, second = (np.asarray(each, dtype=np.float64) for each in returned)
        except (TypeError, ValueError):
            raise self._refusal(
                f"{of} returned {' '.join(repr(returned).split())}; {ALLOWED}"
            ) from None
        if first.shape != (length,) or second.shape != (length,):
            raise self._refusal(
                f"{of} returned arrays of {first.shape} and {second.shape} for {length} "
                f"frequencies; {ALLOWED}"
            )
        return first, second

    def _call(self, doing: str, function: Callable[..., Returned], *given: Any) -> Returned:
        try:
            return function(*given)
        except FAILURES:
            raise
        except Exception as error:
            raise self._refusal(f"{doing} {OwnCodeError.of(error)}") from error

    def _refusal(self, words: str) -> HostError:
        return HostError(f"{self._name!r}: {words}")


class OwnBandedMethod(OwnMethod):
    """The same of a method with bands of its own."""

    def threshold_band(
        self, frequencies_hz: Iterable[float] | Array, probability: float
    ) -> tuple[Array, Array]:
        """Return its band (low, high), whose ends are in order."""
        wanted_hz = np.array([*frequencies_hz])
        returned: Any = self._call(
            "threshold_band", self._method.threshold_band, wanted_hz, probability
        )
        low_db_hl, high_db_hl = self._pair("threshold_band", returned, len(wanted_hz))
        if not (low_db_hl <= high_db_hl).all():
            band = f"{_in_a_line(low_db_hl)} and {_in_a_line(high_db_hl)}"
            raise self._refusal(f"threshold_band returned {band}; allowed is low, then high")
        return low_db_hl, high_db_hl


def own_method(name: str, found: Callable[[Task], Any], task: Task) -> Method:
    """Make a method of somebody's own for one ear, and hold it to the interface."""
    banded = callable(getattr(found, "threshold_band", None))
    return (OwnBandedMethod if banded else OwnMethod)(name, found, task)


def own_learned(name: str, found: Any, people: Population) -> Any:
    """Return what a method of somebody's own learns, with the bits that a file keeps."""
    try:
        learned = found.learn(people)
    except Exception as error:
        raise HostError(f"{name!r}: learn {OwnCodeError.of(error)}") from error
    try:
        return json.loads(json.dumps(learned))
    except (TypeError, ValueError) as error:
        raise HostError(f"{name!r}: learn returned no JSON values: {error}") from None


def held_objective(name: str, found: type[Objective]) -> type[Objective]:
    """Return an objective of somebody's own that chooses a tone that may be asked, or is refused.

    What else than one of `FAILURES` it raises is a `HostError`, too.
    """

    def choose(
        self: Objective, estimator: ThresholdEstimator, *given: Any, **named: Any
    ) -> Stimulus:
        refused = f"--objective {name!r}"
        try:
            tone: Any = found.choose(self, estimator, *given, **named)
        except FAILURES:
            raise
        except Exception as error:
            raise HostError(f"{refused} {OwnCodeError.of(error)}") from error
        if not isinstance(tone, Stimulus):
            raise HostError(f"{refused}: choose returned {tone!r}; allowed is a Stimulus")
        if fault := _fault_of(tone, estimator):
            raise HostError(f"{refused}: choose returned a tone whose {fault}")
        return tone

    return type(found.__name__, (found,), {"choose": choose})


def _fault_of(tone: Stimulus, asked: Task | ThresholdEstimator) -> str:
    """Return what is wrong with a tone that is to be asked there; "": nothing."""
    try:
        checked_number("frequency_hz", tone.frequency_hz, *asked.frequency_range_hz)
        checked_number("level_db_hl", tone.level_db_hl, *asked.level_limits_db_hl)
    except (TypeError, ValueError) as error:
        return str(error)
    return ""


def _in_a_line(values: Array) -> str:
    """Return numbers in one line, the first ones of many."""
    few = " ".join(f"{value:g}" for value in values[:SHOWN_MAX])
    return f"[{few}{' ...' if len(values) > SHOWN_MAX else ''}]"
