"""`python -m bench.counting.around`: what Python does around the kernels of one trial.

Printed as JSON are the calls of functions, in Python or of Python, and the most bytes that were
taken at once, each a mean of six listeners. A library has to run the kernels: Numba does more.
"""

import copy
import gc
import json
import sys
import tracemalloc
from collections.abc import Sequence
from typing import Final

from bench.sessions import AUDIOGRAMS, answers_of, estimator_before
from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from firmware_py.inference.library import chosen_library
from firmware_py.platform.program import run_program

CALLS, BYTES = "calls", "bytes"
KINDS: Final = (CALLS, BYTES)
CASES: Final = ("default", "default told", "default bends", "default told bends")
TRIALS: Final = (4, 16, 64)
NO_LIBRARY: Final = 3  # exit code


class Trials:
    """The n-th trial of a session, as often as it is wanted."""

    def __init__(self, audiogram: str, case: str, n: int) -> None:
        self._before = estimator_before(audiogram, case, n - 1)
        *_, self._answer_before, self._answer = answers_of(audiogram, case)[:n]

    def ready(self) -> ThresholdEstimator:
        """Return an estimator that has made the trial before, and has nothing new to it."""
        estimator = copy.deepcopy(self._before)
        estimator.observe(*self._answer_before)
        BITS.choose(estimator)
        return estimator

    def make(self, estimator: ThresholdEstimator) -> None:
        """Make the trial: take in the answer, and choose the next tone."""
        estimator.observe(*self._answer)
        BITS.choose(estimator)


def count_calls(trials: Trials) -> int:
    estimator, found = trials.ready(), []
    sys.setprofile(lambda _frame, event, _about: found.append(event))
    try:
        trials.make(estimator)
    finally:
        sys.setprofile(None)
    return sum(event in ("call", "c_call") for event in found)


def count_bytes(trials: Trials) -> int:
    """Return the most bytes that one trial takes at once."""
    gc.collect()
    tracemalloc.start()
    try:
        estimator = trials.ready()
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        trials.make(estimator)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def counts_of(cases: Sequence[str]) -> dict[str, dict[str, dict[str, int]]]:
    found: dict[str, dict[str, dict[str, int]]] = {kind: {} for kind in KINDS}
    for case in cases:
        for n in TRIALS:
            listeners = [Trials(audiogram, case, n) for audiogram in AUDIOGRAMS]
            for each in listeners:
                each.make(each.ready())  # the first time of all is different
            for kind, count in ((CALLS, count_calls), (BYTES, count_bytes)):
                mean = round(sum(map(count, listeners)) / len(listeners))
                found[kind].setdefault(case, {})[str(n)] = mean
    return found


def main() -> int:
    """Count, of all cases or of those that are named; return an exit code."""
    if chosen_library() is None:
        return NO_LIBRARY
    print(json.dumps(counts_of(sys.argv[1:] or CASES)))
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
