"""Print what a session allocates: `python -m tests.device.image.counted_session PROFILE TRIALS`.

With a library in LD_PRELOAD that counts allocations in `allocations`, and the kernels of an image.
`... PROFILE TRIALS SESSIONS` prints Python's allocated blocks after each of so many sessions.
"""

import ctypes
import gc
import json
import resource
import sys
from array import array
from typing import Final

from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS

SESSIONS: Final = 3  # that are counted
SMALL_NUMBERS: Final = 257  # that Python keeps ready


def trials(estimator: ThresholdEstimator, count: int) -> None:
    """Ask and take in so many answers of a listener who misses some tones."""
    for n in range(count):
        tone = BITS.choose(estimator)
        heard = tone.level_db_hl > 30.0 + 3.0 * (n % 7)
        estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)


def touched_store_of_python() -> list[bytes]:
    """Have Python's store of small objects touch its memory; return what keeps it there.

    The store takes its next page whenever the pages in use happen to be full: no session's doing.
    """
    small = [bytes(size) for size in range(16, 480, 16) for _ in range(1000)]
    return small[::1000]


def main(profile: str, count: int) -> None:
    """Run a session to warm up Python, and count in the next ones.

    A session that touches a new page of memory does so every time; a busy machine that takes a page
    away does so now and then. So the fewest faults count, and the most allocations.
    """
    held = touched_store_of_python()
    allocations = ctypes.c_long.in_dll(ctypes.CDLL(None), "allocations")
    estimator = ThresholdEstimator(profile, max_trials=count)
    trials(estimator, count)
    allocated, faults = 0, []
    for _ in range(SESSIONS):
        estimator.reset()
        allocations_before = allocations.value
        faults_before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        trials(estimator, count)
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults_before)
        allocated = max(allocated, allocations.value - allocations_before)
    print(json.dumps({"allocations": allocated, "faults": min(faults)}))
    del held


def print_blocks(profile: str, count: int, sessions: int) -> None:
    blocks = array("q", [0] * sessions)  # itself without a block for each number
    estimator = ThresholdEstimator(profile, max_trials=count)
    for _ in range(SMALL_NUMBERS):
        estimator.reset()  # it counts its changes, and a larger number is a block of its own
    for session in range(sessions):
        trials(estimator, count)
        estimator.reset()
        gc.collect()
        blocks[session] = sys.getallocatedblocks()
    print(*blocks)


if __name__ == "__main__":
    (print_blocks if len(sys.argv) > 3 else main)(sys.argv[1], *map(int, sys.argv[2:]))
