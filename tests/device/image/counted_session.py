"""Print what a session allocates: `python -m tests.device.image.counted_session PROFILE [TRIALS]`.

With a library in LD_PRELOAD that counts allocations in `allocations`, and the kernels of an image.
"""

import ctypes
import json
import resource
import sys

from firmware_py import ThresholdEstimator


def trials(estimator: ThresholdEstimator, count: int) -> None:
    """Ask and take in so many answers of a listener who misses some tones."""
    for n in range(count):
        tone = estimator.next_stimulus()
        heard = tone.level_db_hl > 30.0 + 3.0 * (n % 7)
        estimator.observe(tone.frequency_hz, tone.level_db_hl, heard)


def main(profile: str, count: int) -> None:
    """Run a session to warm up Python, and count in the next."""
    allocations = ctypes.c_long.in_dll(ctypes.CDLL(None), "allocations")
    estimator = ThresholdEstimator(profile, max_trials=count)
    trials(estimator, count)
    estimator.reset()
    allocations_before = allocations.value
    faults_before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    trials(estimator, count)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults_before
    print(json.dumps({"allocations": allocations.value - allocations_before, "faults": faults}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
