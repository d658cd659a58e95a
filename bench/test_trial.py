"""One trial, response in to next stimulus out, beside the same model in SciPy and scikit-learn.

Every method is timed on the n-th answer of six sessions in turn, with the same six listeners. Each
profile asks tones of its own; a reference gets the answers and candidates of its profile,
scikit-learn those of `annealed-laplace`. Nothing is asserted about time.
"""

import copy
import warnings
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from bench.sessions import AUDIOGRAMS, TRIALS, Answer, answers_of, estimator_before
from firmware_py import ThresholdEstimator
from firmware_py.inference.mixture.expectation_propagation import TOLERANCE_SD
from firmware_py.inference.mixture.population_prior import shipped_prior
from tests.inference.mixture.mixture_state import twin
from tests.inference.models import length_and_sd_of
from tests.reference import FloatArray, ReferenceEstimator, warp
from tests.reference_mixture import Data, expectation_propagation

LAPLACE = ("annealed-laplace", "gp-pta-2015")
# "default" of a listener of whom nothing is known, and of one whose noise and rates are told.
CASES = ("default", "default told", *LAPLACE)
# Every hypothesis from the prior, with moments by quadrature: so long that two sizes have to do.
TRIALS_OF_MIXTURE = (8, 64)
ROUNDS = 10 * len(AUDIOGRAMS)
ROUNDS_OF_PEERS = 3 * len(AUDIOGRAMS)
LEVEL_PER_LENGTH_DB = 10.0  # what scikit-learn's level axis is scaled by, to be of the order of 1

State = tuple[tuple[Any, ...], dict[str, Any]]


def _measure(
    benchmark: Any, method: str, trials: int, rounds: int,
    trial: Callable[..., Any], prepare: Callable[[str], tuple[Any, ...]],
) -> None:  # fmt: skip
    """Time `trial` on what `prepare` makes of each session in turn."""
    benchmark.group = f"trial {trials:3}"
    benchmark.extra_info.update(trials=trials, method=method, sessions=len(AUDIOGRAMS))
    audiograms = cycle(AUDIOGRAMS)

    def setup() -> State:
        return prepare(next(audiograms)), {}

    trial(*setup()[0])  # the first time is different: imports, memory, branch prediction
    benchmark.pedantic(trial, setup=setup, rounds=rounds, iterations=1)


def _observe_and_choose(estimator: Any, answer: Answer) -> Any:
    estimator.observe(*answer)
    return estimator.next_stimulus()


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("case", CASES)
def test_firmware(benchmark: Any, case: str, trials: int) -> None:
    def prepare(audiogram: str) -> tuple[ThresholdEstimator, Answer]:
        before = estimator_before(audiogram, case, trials)
        return copy.deepcopy(before), answers_of(audiogram, case)[trials - 1]

    _measure(benchmark, f"firmware, {case}", trials, ROUNDS, _observe_and_choose, prepare)


def _reference_before(audiogram: str, profile: Any, trials: int) -> ReferenceEstimator:
    """Return it as it is after all but the last answer, at the firmware's hyperparameters."""
    firmware = estimator_before(audiogram, profile, trials)
    reference = ReferenceEstimator(
        profile, candidate_frequencies_hz=firmware.candidate_frequencies_hz
    )
    for answer in answers_of(audiogram, profile)[: trials - 1]:
        reference._frequency_hz.append(answer.frequency_hz)
        reference._level_db_hl.append(answer.level_db_hl)
        reference._heard.append(answer.heard)
    length, sd_db = length_and_sd_of(firmware)
    reference._log_hyperparameters = np.log([length, sd_db])
    reference.objective(length, sd_db)  # so that it starts from there
    return reference


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("profile", LAPLACE)
def test_scipy_reference(benchmark: Any, profile: str, trials: int) -> None:
    def prepare(audiogram: str) -> tuple[ReferenceEstimator, Answer]:
        answer = answers_of(audiogram, profile)[trials - 1]
        return _reference_before(audiogram, profile, trials), answer

    name = f"SciPy reference, {profile}"
    _measure(benchmark, name, trials, ROUNDS_OF_PEERS, _observe_and_choose, prepare)


def _mixture_after(audiogram: str, trials: int) -> Data:
    """Return so many answers as the reference of `default` takes them."""
    told: list[tuple[float, float, bool | None]] = [
        (a.frequency_hz, a.level_db_hl, a.heard) for a in answers_of(audiogram, "default")[:trials]
    ]
    return twin(told, prior=shipped_prior()).data


def _weigh_hypotheses(data: Data) -> float:
    """Return the log evidence of all: the posterior of every component with every listener."""
    found = [
        np.log(data.weight[k] * listener.share)
        + expectation_propagation(data, k, listener, TOLERANCE_SD).log_evidence
        for listener in data.listeners
        for k in range(len(data.mean_db_hl))
    ]
    return float(np.logaddexp.reduce(found))


@pytest.mark.parametrize("trials", TRIALS_OF_MIXTURE)
def test_scipy_reference_of_the_mixture(benchmark: Any, trials: int) -> None:
    """Its posterior alone, without a choice of the next tone: moments by quadrature, no memory."""
    benchmark.group = f"trial {trials:3}"
    benchmark.extra_info.update(trials=trials, method="SciPy reference, default", sessions=1)
    data = _mixture_after(AUDIOGRAMS[0], trials)
    benchmark.pedantic(_weigh_hypotheses, args=(data,), rounds=1)


def _inputs(frequency_hz: Any, level_db_hl: Any) -> FloatArray:
    """(x, level) as scikit-learn takes them: its latent function lives on both."""
    return np.column_stack([warp(frequency_hz), np.asarray(level_db_hl) / LEVEL_PER_LENGTH_DB])


def _fit_and_predict(
    x: FloatArray, heard: FloatArray, candidates: FloatArray, kernel: Any
) -> tuple[Any, int]:
    """Fit with the default optimiser; choose the candidate of the largest latent variance."""
    from sklearn.gaussian_process import GaussianProcessClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its optimiser often ends at a bound
        classifier = GaussianProcessClassifier(kernel).fit(x, heard)
        _, variance = classifier.latent_mean_and_variance(candidates)
    return classifier.kernel_, int(np.argmax(variance))


@pytest.mark.parametrize("trials", TRIALS)
def test_scikit_learn(benchmark: Any, trials: int) -> None:
    """GaussianProcessClassifier(constant * RBF over (x, level)), started at its last optimum.

    It has no selection for this: candidates are the firmware's, at the present threshold, and the
    one of the largest latent variance is taken.
    """
    pytest.importorskip("sklearn")
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    start = ConstantKernel(1.0) * RBF([4.0, 1.0])
    last_optimum = {}
    for audiogram in AUDIOGRAMS:
        frequency_hz, level_db_hl, heard = map(
            np.array, zip(*answers_of(audiogram, "annealed-laplace")[: trials - 1], strict=True)
        )
        x = _inputs(frequency_hz, level_db_hl)
        one_class = len(set(heard)) < 2
        last_optimum[audiogram] = start if one_class else _fit_and_predict(x, heard, x, start)[0]

    def prepare(audiogram: str) -> tuple[FloatArray, FloatArray, FloatArray, Any]:
        frequency_hz, level_db_hl, heard = map(
            np.array, zip(*answers_of(audiogram, "annealed-laplace")[:trials], strict=True)
        )
        firmware = estimator_before(audiogram, "annealed-laplace", trials)
        candidates_hz = firmware.candidate_frequencies_hz
        candidates = _inputs(candidates_hz, firmware.threshold(candidates_hz)[0])
        return _inputs(frequency_hz, level_db_hl), heard, candidates, last_optimum[audiogram]

    _measure(
        benchmark,
        "scikit-learn, annealed-laplace",
        trials,
        ROUNDS_OF_PEERS,
        _fit_and_predict,
        prepare,
    )
