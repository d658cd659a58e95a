"""Attention that wanders, against the sum over all ways of wandering."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from firmware_py import ThresholdEstimator
from firmware_py.inference.mixture.arrays import Wandering
from firmware_py.inference.mixture.wandering import (
    PROBABILITY_MIN,
    attending_probability,
    buttons,
    false_alarm_rate_of,
    follow_attention,
    lapse_rate_of,
    while_missing,
    while_pressing,
)
from firmware_py.inference.psychometric import HEARD, SILENT, UNSURE
from tests.inference.mixture.population import POPULATION
from tests.inference.models import mixture_of
from tests.reference import FloatArray
from tests.reference_mixture import (
    ATTENDING,
    MISSING,
    PRESSING,
    STATE_AT_THE_START,
    STATE_TO_STATE,
    log_of_wanderer,
    while_away,
)

SEED = 20260701
HALF_WIDTHS_DB = [0.0, 2.0]


def _wandering(attending: FloatArray) -> Wandering:
    """Return what the recursions read, and NaN where they write."""
    n = len(attending)
    nan = np.full(n + 1, np.nan)
    return Wandering(nan, nan.copy(), attending, nan[:n].copy(), nan[:n].copy())


def _all_ways(
    p: FloatArray, answers: list[int], half_width_db: float
) -> tuple[FloatArray, FloatArray, float]:
    """Return for each answer how likely the others make each state of attention, (n, 3).

    Also the same (3,) for the next answer, which has no answer of its own yet, and the log
    probability of all answers.
    """
    n = len(p)
    given = np.column_stack([p, [while_away(answer, half_width_db) for answer in answers]])
    without, of_next, everything = np.zeros((n, 3)), np.zeros(3), 0.0
    for path in itertools.product((ATTENDING, MISSING, PRESSING), repeat=n + 1):
        weight = STATE_AT_THE_START[path[0]]
        for before, after in itertools.pairwise(path):
            weight *= STATE_TO_STATE[before, after]
        each = given[np.arange(n), list(path[:n])]
        everything += weight * np.prod(each)
        of_next[path[n]] += weight * np.prod(each)
        for i in range(n):
            without[i, path[i]] += weight * np.prod(np.delete(each, i))
    return (
        without / without.sum(axis=1, keepdims=True), of_next / everything,
        float(np.log(everything)),
    )  # fmt: skip


@pytest.mark.parametrize("half_width_db", HALF_WIDTHS_DB)
@pytest.mark.parametrize("n", [1, 2, 5, pytest.param(7, marks=pytest.mark.thorough)])
def test_recursions_sum_over_all_ways_of_wandering(n: int, half_width_db: float) -> None:
    rng = np.random.default_rng([SEED, n])
    kinds = [HEARD, SILENT, UNSURE] if half_width_db else [HEARD, SILENT]
    for _ in range(5):
        p = rng.choice([1e-4, 0.02, 0.3, 0.97], n) * rng.uniform(0.9, 1.0, n)
        answers = rng.choice(kinds, n)
        wandering = _wandering(p)
        follow_attention(n, buttons(half_width_db), answers, wandering)
        without, of_next, log_p = _all_ways(p, answers.tolist(), half_width_db)
        assert_allclose(wandering.missing[:n], without[:, MISSING], rtol=1e-11)
        assert_allclose(wandering.pressing[:n], without[:, PRESSING], rtol=1e-11)
        assert wandering.missing[n] == pytest.approx(of_next[MISSING], rel=1e-11)
        assert wandering.pressing[n] == pytest.approx(of_next[PRESSING], rel=1e-11)
        each = [np.array([value]) for value in p]
        found = log_of_wanderer(each, answers.tolist(), half_width_db)
        assert found[0] == pytest.approx(log_p, rel=1e-12)


@pytest.mark.parametrize("half_width_db", HALF_WIDTHS_DB)
def test_an_answer_without_attention_is_told_by_the_others_and_by_itself(
    half_width_db: float,
) -> None:
    estimator = ThresholdEstimator(prior=POPULATION, unsure_half_width_db=half_width_db)
    for level_db_hl in (60.0, 40.0, 90.0, 80.0, 30.0, 70.0):
        estimator.observe(1000.0, level_db_hl, level_db_hl < 75.0)
    workspace = mixture_of(estimator).workspace
    p, answers = workspace.wandering.attending[:6], workspace.tones.answer[:6].tolist()
    given = np.column_stack([p, [while_away(answer, half_width_db) for answer in answers]])
    state = _all_ways(p, answers, half_width_db)[0] * given

    assert_allclose(estimator.attended, state[:, ATTENDING] / state.sum(axis=1), rtol=1e-9)
    assert estimator.attended.argmin() in (2, 3)


@pytest.mark.parametrize("answer", [HEARD, SILENT])
def test_long_runs_neither_overflow_nor_vanish(answer: int) -> None:
    """A thousand answers that attention explains badly, or well."""
    answers = np.full(1024, answer)
    for value in (1e-4, 0.999):
        wandering = _wandering(np.full(1024, value))
        follow_attention(1024, 1.0, answers, wandering)
        for away in (wandering.missing, wandering.pressing):
            assert np.all((away > 0.0) & (away < 1.0))
        away = wandering.missing + wandering.pressing
        assert np.all(away < 1.0)
        assert (away[512] > 0.5) == (value < 0.5)
        like, unlike = wandering.missing[512], wandering.pressing[512]
        assert (like > unlike) == (answer == SILENT)


@pytest.mark.parametrize(("missing", "pressing"), [
    (0.0, 0.0), (0.02, 0.0), (0.0, 0.3), (0.5, 0.2), (0.04, 0.95)
])  # fmt: skip
@pytest.mark.parametrize("half_width_db", HALF_WIDTHS_DB)
def test_rates_of_one_answer_mix_attention_missing_and_pressing(
    missing: float, pressing: float, half_width_db: float
) -> None:
    """As probabilities of its answers: at every threshold, whatever was answered."""
    presses = buttons(half_width_db)
    assert presses == (2.0 if half_width_db else 1.0)
    lapse, false_alarm = 0.03, 0.02
    mixed_lapse = lapse_rate_of(missing, pressing, lapse)
    mixed_false_alarm = false_alarm_rate_of(missing, pressing, false_alarm, presses)
    c, mixed_c = (
        1.0 - miss - presses * press
        for miss, press in ((lapse, false_alarm), (mixed_lapse, mixed_false_alarm))
    )
    attends = 1.0 - missing - pressing
    for answer in (HEARD, SILENT, UNSURE) if half_width_db else (HEARD, SILENT):
        misses, pushes = while_away(answer, half_width_db)
        assert while_missing(answer, presses) == pytest.approx(misses, rel=1e-14)
        assert while_pressing(answer, presses) == pytest.approx(pushes, rel=1e-14)
        rate, mixed_rate = (
            (lapse, mixed_lapse) if answer == SILENT else (false_alarm, mixed_false_alarm)
        )
        for sees in (0.0, 0.001, 0.4, 1.0):  # what the probit says of this answer
            p = rate + c * sees
            mixed = attends * p + missing * misses + pressing * pushes
            assert mixed_rate + mixed_c * sees == pytest.approx(mixed, rel=1e-13)
            found = attending_probability(answer, missing, pressing, presses, mixed)
            assert found == pytest.approx(max(p, PROBABILITY_MIN), rel=1e-9)
        # Rounding, or another hypothesis, may ask for less than nothing.
        least = attending_probability(answer, 0.5, 0.4, presses, 0.01)
        assert least == PROBABILITY_MIN


def test_who_is_told_to_lapse_at_a_rate_does_not_wander() -> None:
    for told in ({"lapse_rate": 0.02}, {"false_alarm_rate": 0.02}):
        estimator = ThresholdEstimator(prior=POPULATION, **told)  # type: ignore[arg-type]
        for _ in range(4):
            estimator.observe(1000.0, 110.0, False)
        assert_allclose(estimator.attended, 1.0, rtol=0.0, atol=0.0)
    other = ThresholdEstimator("gp-pta-2015")
    other.observe(1000.0, 40.0, True)
    assert_allclose(other.attended, [1.0])
