"""`python -m firmware_py.inference`: compile all kernels; the next start finds them ready."""

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.jit import mark_complete
from firmware_py.inference.profiles import PROFILES

for profile in PROFILES:
    ThresholdEstimator(profile, max_trials=1)
mark_complete()
