"""GP-PTA firmware: measures a pure-tone hearing threshold with as few tones as possible."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"  # `platform/version.py` has it with the commit
__all__ = [
    "InferenceError",
    "PopulationPrior",
    "PriorError",
    "Stimulus",
    "ThresholdEstimator",
    "TrialLimitError",
    "TrialTime",
    "__version__",
]

if TYPE_CHECKING:
    from firmware_py.inference.estimator import (
        InferenceError,
        Stimulus,
        ThresholdEstimator,
        TrialLimitError,
    )
    from firmware_py.inference.mixture.population_prior import PopulationPrior
    from firmware_py.inference.mixture.prior_reading import PriorError
    from firmware_py.inference.trial_time import TrialTime

# Where each is that is loaded, and with it the kernels, only when it is asked for.
_PLACES = {
    **dict.fromkeys(("InferenceError", "Stimulus", "ThresholdEstimator", "TrialLimitError"),
                    "estimator"),
    "PopulationPrior": "mixture.population_prior",
    "PriorError": "mixture.prior_reading",
    "TrialTime": "trial_time",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"firmware_py.inference.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'firmware_py' has no attribute {name!r}")
