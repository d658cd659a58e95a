"""One trial, response in to next stimulus out, beside the same model in SciPy.

Every method is timed on the n-th answer of six sessions in turn, with the same six listeners. Each
profile asks tones of its own; a reference gets the answers and candidates of its profile. Nothing
is asserted about time.
"""

import copy
from collections.abc import Callable
from itertools import cycle
from typing import Any

import numpy as np
import pytest

from bench.sessions import AUDIOGRAMS, TRIALS, Answer, answers_of, estimator_before
from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS
from firmware_py.inference.mixture.expectation_propagation import TOLERANCE_SD
from firmware_py.inference.mixture.population_prior import shipped_prior
from tests.inference.mixture.mixture_state import twin
from tests.inference.models import length_and_sd_of
from tests.reference import ReferenceEstimator
from tests.reference_mixture import Data, expectation_propagation

PAPER = "gp-pta-2015"
# "default" of a listener of whom nothing is known, and of one whose noise and rates are told.
CASES = ("default", "default told", PAPER)
# Every hypothesis from the prior, with moments by quadrature: so long that two sizes have to do.
TRIALS_OF_MIXTURE = (8, 64)
ROUNDS = 10 * len(AUDIOGRAMS)
ROUNDS_OF_REFERENCE = 3 * len(AUDIOGRAMS)

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
    return BITS.choose(estimator)


def _observe_and_choose_by_scipy(reference: ReferenceEstimator, answer: Answer) -> Any:
    reference.observe(*answer)
    return reference.next_stimulus()


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("case", CASES)
def test_firmware(benchmark: Any, case: str, trials: int) -> None:
    def prepare(audiogram: str) -> tuple[ThresholdEstimator, Answer]:
        before = estimator_before(audiogram, case, trials)
        return copy.deepcopy(before), answers_of(audiogram, case)[trials - 1]

    _measure(benchmark, f"firmware, {case}", trials, ROUNDS, _observe_and_choose, prepare)


def _reference_before(audiogram: str, trials: int) -> ReferenceEstimator:
    """Return it as it is after all but the last answer, at the firmware's hyperparameters."""
    firmware = estimator_before(audiogram, PAPER, trials)
    reference = ReferenceEstimator(candidate_frequencies_hz=firmware.candidate_frequencies_hz)
    for answer in answers_of(audiogram, PAPER)[: trials - 1]:
        reference._frequency_hz.append(answer.frequency_hz)
        reference._level_db_hl.append(answer.level_db_hl)
        reference._heard.append(answer.heard)
    length, sd_db = length_and_sd_of(firmware)
    reference._log_hyperparameters = np.log([length, sd_db])
    reference.objective(length, sd_db)  # so that it starts from there
    return reference


@pytest.mark.parametrize("trials", TRIALS)
def test_scipy_reference(benchmark: Any, trials: int) -> None:
    def prepare(audiogram: str) -> tuple[ReferenceEstimator, Answer]:
        answer = answers_of(audiogram, PAPER)[trials - 1]
        return _reference_before(audiogram, trials), answer

    name = f"SciPy reference, {PAPER}"
    _measure(benchmark, name, trials, ROUNDS_OF_REFERENCE, _observe_and_choose_by_scipy, prepare)


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
