"""What the product's inference takes: time of a choice, bytes, and what grows by an answer."""

import copy
import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Final

from firmware_py.inference.preference.estimator import PreferenceEstimator
from host_tools.research.tuning.methods import new_estimator
from host_tools.research.tuning.people import drawn_person

ANSWERED: Final = 40  # comparisons, before the choice that is timed
WARM: Final = ANSWERED // 2  # comparisons, after which nothing may grow
ROUNDS: Final = 50


@dataclass(frozen=True)
class Footprint:
    """What the inference takes.

    Attributes
    ----------
    choice_ms, answer_ms, best_ms : float
        Median processor time of `next_pair`, of `observe` and of `best`, after 40 comparisons.
    workspace_bytes : int
    grown_bytes, grown_blocks : int
        Memory that is held after 20 more comparisons, from the twentieth on: by tracemalloc, which
        NumPy's arrays are told to, and blocks of the interpreter.
    """

    choice_ms: float
    answer_ms: float
    best_ms: float
    workspace_bytes: int
    grown_bytes: int
    grown_blocks: int


def measure(seed: int = 1) -> Footprint:
    """Measure with the person of a seed."""
    estimator = new_estimator()
    wearer = drawn_person(seed).wearer()

    def compare() -> None:
        for _ in range(ANSWERED - WARM):
            pair = estimator.next_pair()
            estimator.observe(*pair, wearer.answer(*pair))
            estimator.best()

    compare()
    grown_bytes, grown_blocks = _growth(compare)
    choice_ms, answer_ms, best_ms = _times_ms(estimator)
    return Footprint(choice_ms, answer_ms, best_ms, estimator.nbytes, grown_bytes, grown_blocks)


def _growth(run: Callable[[], object]) -> tuple[int, int]:
    """Return by how many bytes and blocks the memory in use grows by this."""
    gc.collect()
    tracemalloc.start()
    before_bytes, before_blocks = tracemalloc.get_traced_memory()[0], sys.getallocatedblocks()
    run()
    gc.collect()
    after_bytes, after_blocks = tracemalloc.get_traced_memory()[0], sys.getallocatedblocks()
    tracemalloc.stop()
    return after_bytes - before_bytes, after_blocks - before_blocks


def _times_ms(estimator: PreferenceEstimator) -> tuple[float, float, float]:
    """Return the median processor times of a choice, an answer and a look at what is best."""
    times: list[tuple[float, float, float]] = []
    for _ in range(ROUNDS):
        one = copy.deepcopy(estimator)  # that has chosen nothing yet
        started = time.process_time()
        pair = one.next_pair()
        chosen = time.process_time()
        one.observe(*pair, "first")
        answered = time.process_time()
        one.best()
        times.append((chosen - started, answered - chosen, time.process_time() - answered))
    choice_s, answer_s, best_s = (median(some) for some in zip(*times, strict=True))
    return 1e3 * choice_s, 1e3 * answer_s, 1e3 * best_s


def lines_of(found: Footprint) -> list[str]:
    """Return what was measured, in words."""
    return [
        f"After {ANSWERED} comparisons, processor time: choosing a pair {found.choice_ms:.2f} ms, "
        f"taking in an answer {found.answer_ms:.1f} ms, the best setting {found.best_ms:.0f} ms.",
        f"Workspace: {found.workspace_bytes} bytes. From comparison {WARM} to {ANSWERED} memory "
        f"grows by {found.grown_bytes} bytes and {found.grown_blocks} blocks.",
    ]
