"""Look at every call of a kernel in some sessions: `python -m tests.inference.overlaps`.

Kernels run as plain Python here, so that a call of one by another is seen, too. Printed are
those that were not called, and those that were given arrays that overlap.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numba
import numpy as np

from firmware_py.platform.program import run_program

if TYPE_CHECKING:
    from firmware_py import ThresholdEstimator
    from firmware_py.inference.preference.estimator import PreferenceEstimator

TOLD: Final[dict[str, Any]] = {
    "response_noise_db": 2.0,
    "lapse_rate": 0.02,
    "false_alarm_rate": 0.02,
}

Array = np.ndarray[Any, Any]
Kernel = Callable[..., Any]


class OverlapError(Exception):
    """A call would do something else if its arrays were apart."""


def arrays_in(argument: Any) -> Iterator[Array]:
    """Yield the arrays of an argument, of a group those of its fields."""
    if isinstance(argument, np.ndarray):
        yield argument
    elif isinstance(argument, tuple):
        for field in argument:
            yield from arrays_in(field)


def apart(argument: Any) -> Any:
    """Return an argument with arrays of its own, each in a place of its own."""
    if isinstance(argument, np.ndarray):
        return argument.copy()
    if isinstance(argument, tuple):
        fields = [apart(field) for field in argument]
        return type(argument)(*fields) if hasattr(argument, "_fields") else tuple(fields)
    return argument


def overlap(arrays: Sequence[Array]) -> bool:
    """Return whether two of these arrays, which are contiguous, have an element in common."""
    places = sorted((a.__array_interface__["data"][0], a.nbytes) for a in arrays if a.size)
    return any(start + size > after for (start, size), (after, _) in pairwise(places))


def bits(array: Array) -> Array:
    """Return the bits of an array, by which a NaN is equal to itself."""
    return array.view(np.int64)


def name_of(kernel: Kernel) -> str:
    return f"{kernel.__module__}.{kernel.__qualname__}"


def refuse_if_apart_differs(kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    """Call a kernel, and return what it does.

    Raises
    ------
    OverlapError
        If it does something else with arrays that lie apart.
    """
    arrays, copies = list(arrays_in(arguments)), apart(arguments)
    before = [array.copy() for array in arrays]
    returned_apart, returned = kernel(*copies), kernel(*arguments)
    after = [array.copy() for array in arrays]
    for array, was in zip(arrays, before, strict=True):
        array[...] = was
    for array, was, copied in zip(arrays, before, arrays_in(copies), strict=True):
        written = bits(copied) != bits(was)
        array[written] = copied[written]
    alike = all(np.array_equal(bits(a), bits(b)) for a, b in zip(arrays, after, strict=True))
    if not alike or repr(returned) != repr(returned_apart):
        raise OverlapError(f"{name_of(kernel)} writes what it reaches through another array")
    return returned


def takes_arrays(kernel: Kernel) -> bool:
    """Return whether an array, or a group of them, is among the arguments."""
    *annotations, _ = kernel.__annotations__.values()
    return any(not isinstance(each, type) or hasattr(each, "_fields") for each in annotations)


def watching(kernel: Kernel, called: set[str], overlapping: set[str]) -> Kernel:
    """Return a kernel that notes its calls."""

    def call(*arguments: Any) -> Any:
        called.add(name_of(kernel))
        if not overlap(list(arrays_in(arguments))):
            return kernel(*arguments)
        overlapping.add(name_of(kernel))
        return refuse_if_apart_differs(kernel, arguments)

    return call


def ask(estimator: ThresholdEstimator, trials: int) -> None:
    """Have an estimator asked all that it can be asked, after every answer."""
    from firmware_py.inference.trial_time import TrialTime

    for n in range(trials):
        tone = estimator.next_stimulus(time=TrialTime(2.0, 3.0), strides_db=[5.0])
        heard = None if n == 1 and estimator.unsure_half_width_db is None else n % 3 == 0
        estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)
        estimator.observe_silence(n % 2 == 0)
    low_hz, _ = estimator.frequency_range_hz
    estimator.observe(1.05 * low_hz, 30.0, True)  # off the knots
    estimator.threshold_band([low_hz])
    estimator.joint_threshold([low_hz])
    estimator.probability_heard(low_hz, 20.0)
    estimator.objective([20.0])


def observe_between_knots(estimator: ThresholdEstimator) -> None:
    """Have tones of all octaves heard: what they tell of are more unknowns than are unrolled."""
    for frequency_hz in (180.0, 350.0, 700.0, 1400.0, 2800.0, 5600.0):
        estimator.observe(frequency_hz, 40.0, True)


def compare(estimator: PreferenceEstimator, comparisons: int) -> None:
    """Have somebody answer comparisons, and ask what is known of the wish."""
    for _ in range(comparisons):
        estimator.observe(*estimator.next_pair(), "first")
    estimator.check_pair()
    estimator.wish_band()


def run_sessions() -> None:
    from firmware_py import ThresholdEstimator
    from firmware_py.inference.preference.estimator import PreferenceEstimator

    ask(ThresholdEstimator(response_noise_db=2.0), 1)  # whose attention may wander
    ask(ThresholdEstimator(**TOLD, unsure_half_width_db=None, candidates=5), 3)
    observe_between_knots(ThresholdEstimator(**TOLD))
    # Of few functions, so that there are soon more answers.
    narrow = ThresholdEstimator("gp-pta-2015", frequency_range_hz=(900.0, 1100.0), candidates=4)
    ask(narrow, 18)
    compare(PreferenceEstimator(ranges_db=[(-12.0, 12.0)] * 2, prior_sd_db=[5.0] * 2), 8)


def main() -> int:
    os.environ["GP_PTA_KERNELS"] = "jit-uncached"
    declared: set[str] = set()
    called: set[str] = set()
    overlapping: set[str] = set()

    def declare(kernel: Kernel) -> Kernel:
        if not takes_arrays(kernel):
            return kernel
        declared.add(name_of(kernel))
        return watching(kernel, called, overlapping)

    numba.njit = lambda *_signatures, **_options: declare
    run_sessions()
    print("uncalled:", *sorted(declared - called))
    print("overlapping:", *sorted(overlapping))
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
