"""Print Python's allocated blocks after each session: `... PROFILE SESSIONS TRIALS`."""

import gc
import sys
from array import array

from firmware_py import ThresholdEstimator
from tests.device.image.counted_session import trials

SMALL_NUMBERS = 257  # that Python keeps ready


def main(profile: str, sessions: int, count: int) -> None:
    """Run sessions of one estimator, reset in between."""
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
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
