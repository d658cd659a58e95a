"""GP-PTA firmware: measures a pure-tone hearing threshold with as few tones as possible."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Stimulus", "ThresholdEstimator", "__version__"]

if TYPE_CHECKING:
    from firmware_py.inference.estimator import Stimulus, ThresholdEstimator


def __getattr__(name: str) -> Any:
    """Load the estimator, and with it Numba, only when it is asked for."""
    if name in ("Stimulus", "ThresholdEstimator"):
        from firmware_py.inference import estimator

        return getattr(estimator, name)
    raise AttributeError(f"module 'firmware_py' has no attribute {name!r}")
