"""One trial, response in to next stimulus out.

Each profile is timed on the n-th answer of six sessions in turn, with the same six listeners, and
asks tones of its own. Nothing is asserted about time.
"""

import copy
from itertools import cycle
from typing import Any

import pytest

from bench.sessions import AUDIOGRAMS, TRIALS, Answer, answers_of, estimator_before
from firmware_py import ThresholdEstimator
from firmware_py.ear.objective import BITS

PAPER = "gp-pta-2015"
# "default" of a listener of whom nothing is known, and of one whose noise and rates are told.
CASES = ("default", "default told", PAPER)
ROUNDS = 10 * len(AUDIOGRAMS)


@pytest.mark.parametrize("trials", TRIALS)
@pytest.mark.parametrize("case", CASES)
def test_firmware(benchmark: Any, case: str, trials: int) -> None:
    benchmark.group = f"trial {trials:3}"
    benchmark.extra_info.update(
        trials=trials, method=f"firmware, {case}", sessions=len(AUDIOGRAMS)
    )  # fmt: skip
    audiograms = cycle(AUDIOGRAMS)

    def setup() -> tuple[tuple[ThresholdEstimator, Answer], dict[str, Any]]:
        audiogram = next(audiograms)
        before = copy.deepcopy(estimator_before(audiogram, case, trials))
        return (before, answers_of(audiogram, case)[trials - 1]), {}

    def trial(estimator: ThresholdEstimator, answer: Answer) -> None:
        estimator.observe(*answer)
        BITS.choose(estimator)

    trial(*setup()[0])  # the first time is different: imports, memory, branch prediction
    benchmark.pedantic(trial, setup=setup, rounds=ROUNDS, iterations=1)
