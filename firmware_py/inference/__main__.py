"""`python -m firmware_py.inference`: compile all kernels; the next start finds them ready."""

import sys

from firmware_py.inference.jit import NOT_KEPT, mark_complete


def main() -> int:
    try:
        from firmware_py.inference.estimator import ThresholdEstimator
        from firmware_py.inference.profiles import PROFILES

        for profile in PROFILES:
            ThresholdEstimator(profile, max_trials=1)
    except OSError:
        return NOT_KEPT
    mark_complete()
    return 0


if __name__ == "__main__":
    sys.exit(main())
