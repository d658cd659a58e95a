"""What stands behind an estimator, for tests that look inside."""

from typing import Final

from firmware_py import ThresholdEstimator
from firmware_py.inference.laplace.arrays import EVALUATIONS
from firmware_py.inference.laplace.model import LaplaceModel
from firmware_py.inference.mixture.model import MixtureModel
from firmware_py.inference.profiles import PROFILES as NAMED

PROFILES: Final = [*NAMED]
PAPER: Final = "gp-pta-2015"


def mixture_of(estimator: ThresholdEstimator) -> MixtureModel:
    assert isinstance(estimator._model, MixtureModel)
    return estimator._model


def laplace_of(estimator: ThresholdEstimator) -> LaplaceModel:
    assert isinstance(estimator._model, LaplaceModel)
    return estimator._model


def length_and_sd_of(estimator: ThresholdEstimator) -> tuple[float, float]:
    found = estimator.hyperparameters
    assert found.length is not None
    assert found.sd_db is not None
    return found.length, found.sd_db


def evaluations_of(estimator: ThresholdEstimator) -> float:
    """Return how often the last answer had the evidence evaluated."""
    return float(laplace_of(estimator).workspace.search[EVALUATIONS])
