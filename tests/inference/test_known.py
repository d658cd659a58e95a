"""What is known between two answers is computed once, and again as soon as there is another one."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from firmware_py import ThresholdEstimator
from firmware_py.inference.diagnostics import KEPT_MAX, FigureCache
from firmware_py.inference.mixture.model import MixtureModel

ASKED_HZ = (500.0, 1000.0, 4000.0)


def test_a_threshold_is_computed_once_between_two_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Counter[str]()

    def count(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any) -> Any:
            calls[name] += 1
            return method(*values)

        return call

    for name in ("predict", "band"):
        monkeypatch.setattr(MixtureModel, name, count(name, getattr(MixtureModel, name)))
    estimator = ThresholdEstimator()

    for answers in range(1, 4):
        estimator.observe(1000.0, 40.0, True)
        for _ in range(5):
            estimator.threshold(ASKED_HZ)
            estimator.threshold_band(ASKED_HZ)
            estimator.threshold_band(ASKED_HZ, 0.5)
            estimator.threshold(ASKED_HZ[:1])

        # One of them is of the neighbours of what is told.
        assert calls == {"predict": 3 * answers, "band": 2 * answers}


@pytest.mark.parametrize(
    ("answers", "change"),
    [
        (1, lambda estimator: estimator.observe(1000.0, 0.0, False)),
        (1, lambda estimator: estimator.observe_silence(True)),
        (1, lambda estimator: estimator.reset()),
        (0, lambda estimator: estimator.expect_listener(_of_an_inattentive_listener())),
    ],
    ids=["observe", "observe_silence", "reset", "expect_listener"],
)
def test_whatever_changes_the_posterior_has_all_figures_computed_anew(
    answers: int, change: Callable[[ThresholdEstimator], None]
) -> None:
    asked, not_asked = ThresholdEstimator(), ThresholdEstimator()
    for _ in range(answers):
        asked.observe(1000.0, 40.0, True)
        not_asked.observe(1000.0, 40.0, True)
    before, changes = asked.threshold(ASKED_HZ), asked.changes
    asked.threshold_band(ASKED_HZ)

    for estimator in (asked, not_asked):
        change(estimator)
        estimator.observe(2000.0, 35.0, True)

    assert asked.changes > changes
    assert_array_equal(asked.threshold(ASKED_HZ), not_asked.threshold(ASKED_HZ))
    assert_array_equal(asked.threshold_band(ASKED_HZ), not_asked.threshold_band(ASKED_HZ))
    assert not np.array_equal(asked.threshold(ASKED_HZ), before)


def _of_an_inattentive_listener() -> ThresholdEstimator:
    estimator = ThresholdEstimator()
    for level_db_hl in (80.0, 20.0, 80.0, 20.0, 80.0):
        estimator.observe(1000.0, level_db_hl, level_db_hl < 50.0)
    return estimator


def test_what_is_kept_is_bounded_and_nothing_is_kept_of_earlier_answers() -> None:
    known = FigureCache()
    for name in range(1000):
        assert known.once(name, partial(abs, -name)) == name
        assert len(known) <= KEPT_MAX

    known.forget()

    assert len(known) == 0
    assert known.once(1, lambda: "another") == "another"
