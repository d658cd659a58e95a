"""The preference estimator: against quadrature, against itself turned round, and at its work."""

import gc
import itertools
import math
import os
import sys
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_py.inference.estimator import TrialLimitError
from firmware_py.inference.library import JIT, VARIABLE
from firmware_py.inference.preference.answer import Answer
from firmware_py.inference.preference.doubts import (
    CHANGE_RATE,
    LISTENS,
    RUN_MIN,
    log_by_chance,
    probability_of_one_wish,
)
from firmware_py.inference.preference.estimator import KINDS, SHARES, STEP_DB, PreferenceEstimator
from firmware_py.inference.preference.regret import UNIT_DB
from tests.budget import either, quick

RANGES_DB = [(-12.0, 12.0)] * 4
PRIOR_SD_DB = [5.0] * 4
OTHER = {Answer.FIRST: Answer.SECOND, Answer.SECOND: Answer.FIRST, Answer.SAME: Answer.SAME}
Person = Callable[[tuple[float, ...], tuple[float, ...]], Answer]
THREE_ANSWERS = [*itertools.product(Answer, repeat=3)]


def new(**changes: object) -> PreferenceEstimator:
    given = {"ranges_db": RANGES_DB, "prior_sd_db": PRIOR_SD_DB, **changes}
    return PreferenceEstimator(**given)  # type: ignore[arg-type]


def somebody(wish_db: np.ndarray, seed: int, lapse_rate: float = 0.1) -> Person:
    """Return who wants this, with a sensitivity and ties that are no kind of the model."""
    chance = np.random.default_rng(seed)

    def answer(first: tuple[float, ...], second: tuple[float, ...]) -> Answer:
        if chance.random() < lapse_rate:
            return list(Answer)[chance.integers(3)]
        worse = [((np.array(s) - wish_db) ** 2).sum() for s in (first, second)]
        difference = 0.5 * (worse[1] - worse[0]) / UNIT_DB**2 + chance.standard_normal()
        if abs(difference) < 0.3:
            return Answer.SAME
        return Answer.FIRST if difference > 0 else Answer.SECOND

    return answer


def ask(estimator: PreferenceEstimator, person: Person, count: int) -> None:
    for _ in range(count):
        pair = estimator.next_pair()
        estimator.observe(*pair, person(*pair))


def phi(z: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.vectorize(math.erf)(z / math.sqrt(2.0)))


def exact(answers: list[tuple[float, float, Answer]], sd_db: float) -> tuple[float, float, float]:
    """Return mean, SD and log evidence of a wish of one number, by quadrature."""
    wish = np.linspace(-8.0 * sd_db, 8.0 * sd_db, 4001)
    prior = np.exp(-0.5 * (wish / sd_db) ** 2)
    prior /= prior.sum()
    total = np.zeros_like(wish)
    for (s, width, *lapses), share in zip(KINDS, SHARES, strict=True):
        product = share * prior
        for first, second, answer in answers:
            difference = s * 0.5 * ((second - wish) ** 2 - (first - wish) ** 2) / UNIT_DB**2
            p, q = phi(difference - width), phi(-difference - width)
            meant = {Answer.FIRST: p, Answer.SECOND: q, Answer.SAME: 1.0 - p - q}[answer]
            lapse = lapses[[*Answer].index(answer)]
            product = product * ((1.0 - sum(lapses)) * meant + lapse)
        total += product
    evidence = total.sum()
    mean = (total * wish).sum() / evidence
    return mean, math.sqrt((total * (wish - mean) ** 2).sum() / evidence), math.log(evidence)


@pytest.mark.parametrize("answers", quick(THREE_ANSWERS, *THREE_ANSWERS[::5]))
def test_with_one_number_the_posterior_is_that_of_quadrature(answers: tuple[Answer, ...]) -> None:
    settings = [(3.0, -3.0), (6.0, -1.0), (-8.0, 2.0)]
    estimator = PreferenceEstimator(ranges_db=[(-12.0, 12.0)], prior_sd_db=[5.0])
    told = [(a, b, answer) for (a, b), answer in zip(settings, answers, strict=True)]
    for a, b, answer in told:
        estimator.observe([a], [b], answer)
    mean_db, sd_db, evidence = exact(told, 5.0)
    listens = estimator.listens
    found_db, covariance_db2 = estimator.wish()
    # What is told is a mixture: of that, and of nobody listening.
    assert found_db[0] == pytest.approx(listens * mean_db, abs=0.1)
    second = listens * (sd_db**2 + mean_db**2) + (1.0 - listens) * 25.0
    assert covariance_db2[0, 0] == pytest.approx(second - (listens * mean_db) ** 2, rel=0.05)
    by_chance = log_by_chance([answers.count(each) for each in Answer])
    odds = math.exp(evidence - by_chance) * LISTENS / (1.0 - LISTENS)
    assert listens == pytest.approx(odds / (1.0 + odds), abs=0.05)


@settings(max_examples=either(10, 100))
@given(st.integers(0, 10_000), st.integers(1, 12))
def test_whichever_is_heard_first_the_same_is_concluded(seed: int, count: int) -> None:
    one, other = new(), new()
    person = somebody(np.array([4.0, -3.0, 2.0, 0.0]), seed)
    for _ in range(count):
        first, second = one.next_pair()
        answer = person(first, second)
        one.observe(first, second, answer)
        other.observe(second, first, OTHER[answer])
    assert other.wish()[0] == pytest.approx(one.wish()[0], abs=1e-6)
    assert other.next_pair() == one.next_pair()


@settings(max_examples=either(10, 100))
@given(
    st.lists(st.tuples(st.floats(-12.0, 0.0), st.floats(0.0, 12.0)), min_size=4, max_size=4).filter(
        lambda ranges: any(high - low >= 2.0 for low, high in ranges)
    ),
    st.lists(st.sampled_from(Answer), min_size=1, max_size=15),
)
def test_what_is_offered_is_allowed_on_the_grid_and_differs_in_one_number(
    ranges_db: list[tuple[float, float]], answers: list[Answer]
) -> None:
    estimator = new(ranges_db=ranges_db)
    for number, answer in enumerate(answers):
        checks = estimator.check_pair()
        pair = checks if number % 4 == 3 else estimator.next_pair()
        for setting in (*pair, estimator.best()):
            for value, (low, high) in zip(setting, ranges_db, strict=True):
                assert low <= value <= high
                assert value % STEP_DB == 0.0
        for first, second in (checks, pair):
            assert sum(a != b for a, b in zip(first, second, strict=True)) == 1
        estimator.observe(*pair, answer)
        assert np.isfinite(estimator.wish()[1]).all()


def test_somebody_gets_what_he_wants() -> None:
    regrets = []
    within = []
    for seed in range(12):
        wish_db = np.random.default_rng(seed).standard_normal(4) * 5.0
        wanted_db = np.clip(wish_db, -12.0, 12.0)
        estimator = new()
        person = somebody(wish_db, seed)
        ask(estimator, person, 15)
        off = [((np.array(x) - wanted_db) ** 2).sum() for x in (estimator.best(), [0.0] * 4)]
        regrets.append(off)
        ask(estimator, person, 10)
        within += (abs(np.array(estimator.best()) - wanted_db) <= 3.0).tolist()
    after, before = np.mean(regrets, axis=0)
    assert after < before / 3.0
    assert np.mean(within) >= 0.8


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_number_that_is_wished_beyond_its_range_is_asked_at_its_end_and_named(
    sign: float,
) -> None:
    found, ends = [], []
    for wish_db in (sign * 15.0, sign * 7.0):
        person = somebody(np.array([0.0, wish_db, 3.0, 0.0]), 2, lapse_rate=0.0)
        estimator = new()
        for number in range(1, 26):
            pair = estimator.next_pair()
            if number % 4 == 0:
                pair = best, end = estimator.check_pair()
                assert best == estimator.best()
                ends += [(i, end[i]) for i in range(4) if end[i] != best[i]]
            estimator.observe(*pair, person(*pair))
        found.append(estimator.ends_wished())
    assert {i for i, _ in ends} == {0, 1, 2, 3}, "each in its turn"
    assert all(abs(end_db) == 12.0 for _, end_db in ends)
    assert (1, sign * 12.0) in ends
    assert found == [{1: sign * 12.0}, {}]
    assert new().ends_wished() == new(ranges_db=[(0.0, 0.0), *RANGES_DB[1:]]).ends_wished() == {}


def test_the_best_setting_is_worse_by_what_is_not_known() -> None:
    estimator = new(ranges_db=[(-100.0, 100.0)] * 4)
    ask(estimator, somebody(np.full(4, 3.0), 3), 12)
    mean_db, covariance_db2 = estimator.wish()
    off_db = mean_db - np.array(estimator.best())
    expected = 0.5 * (np.trace(covariance_db2) + (off_db**2).sum()) / UNIT_DB**2
    assert estimator.expected_regret == pytest.approx(expected)


def test_it_is_not_worse_for_what_no_setting_has() -> None:
    ends_db = (-12.0, 2.0)
    estimator = new(ranges_db=[ends_db] * 4)
    x = np.linspace(-60.0, 60.0, 24001)
    weights = np.exp(-0.5 * (x / 5.0) ** 2)
    one = np.average(np.clip(x, *ends_db) ** 2, weights=weights)
    assert estimator.best() == (0.0,) * 4
    assert estimator.expected_regret == pytest.approx(0.5 * 4.0 * one / UNIT_DB**2, rel=0.02)
    ask(estimator, somebody(np.full(4, 9.0), 3), 20)
    assert min(estimator.best()) >= 1.5
    mean_db, covariance_db2 = estimator.wish()
    off_db = mean_db - np.array(estimator.best())
    of_any_setting = 0.5 * (np.trace(covariance_db2) + (off_db**2).sum()) / UNIT_DB**2
    assert estimator.expected_regret < 0.4 * of_any_setting, "what no setting has is not missed"


@pytest.mark.parametrize(
    ("answers", "listens_max"),
    [
        ("first", 0.05),
        ("chance", 0.5),
        pytest.param("second", 0.05, marks=pytest.mark.thorough),
        pytest.param("same", 0.05, marks=pytest.mark.thorough),
    ],
)
def test_who_does_not_listen_is_noticed_and_his_bands_stay_wide(
    answers: str, listens_max: float
) -> None:
    listens, widths = [], []
    for seed in range(5):
        chance, estimator = np.random.default_rng(seed), new()
        for number in range(1, 26):
            pair = estimator.check_pair() if number % 4 == 0 else estimator.next_pair()
            swapped = pair if chance.random() < 0.5 else pair[::-1]
            drawn = str(list(Answer)[chance.integers(3)])
            estimator.observe(*swapped, drawn if answers == "chance" else answers)
        listens.append(estimator.listens)
        low_db, high_db = estimator.wish_band()
        widths.append((high_db - low_db).mean())
    assert np.median(listens) < listens_max
    assert np.median(widths) > 15.0, "the prior's are 19.6 dB wide"


def test_what_contradicts_counts_less_if_it_was_always_said_of_the_first() -> None:
    better, worse = (6.0, 0.0, 0.0, 0.0), (-6.0, 0.0, 0.0, 0.0)
    means_db = []
    for wrong in (["first"] * 4, ["first", "second"] * 2):
        estimator = new()
        for said in wrong:
            pair = (worse, better) if said == "first" else (better, worse)
            estimator.observe(*pair, said)
        for _ in range(4):
            estimator.observe(better, worse, "first")
            estimator.observe(worse, better, "second")
        means_db.append(estimator.wish()[0][0])
    by_place_db, by_chance_db = means_db
    assert by_place_db > by_chance_db + 0.3


def test_answers_that_tell_nothing_leave_the_chances_as_they_were() -> None:
    changes = 20 - 2 * RUN_MIN + 1
    changed = LISTENS * CHANGE_RATE * changes
    found = probability_of_one_wish(20, 0.0, 0.0, math.log(CHANGE_RATE * changes))
    assert found == pytest.approx((LISTENS - changed, changed))


def test_after_a_reset_nothing_is_known() -> None:
    estimator = new()
    pair = estimator.next_pair()
    ask(estimator, somebody(np.zeros(4), 1), 6)
    estimator.reset()
    assert estimator.next_pair() == pair
    assert estimator.wish()[0] == pytest.approx(np.zeros(4), abs=0.1)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ranges_db": []}, "ranges_db is empty"),
        ({"ranges_db": [(1.0, 2.0)] * 4}, r"ranges_db\[0\]\[0\] is 1.0; allowed is -100 to 0"),
        ({"prior_sd_db": [5.0]}, "prior_sd_db has 1 numbers; a setting has 4"),
        ({"prior_sd_db": [math.nan] * 4}, r"prior_sd_db\[0\] is nan; allowed is 0.1 to 30"),
        ({"max_comparisons": 0}, "max_comparisons is 0; allowed are whole numbers from 1 to 128"),
    ],
)
def test_what_is_not_allowed_is_named(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        new(**changes)


def test_an_answer_that_is_none_is_named() -> None:
    estimator = new(max_comparisons=1)
    first, second = estimator.next_pair()
    with pytest.raises(ValueError, match="answer is 'both'; allowed are first, second, same"):
        estimator.observe(first, second, "both")
    with pytest.raises(ValueError, match="first_db has 1 numbers; a setting has 4"):
        estimator.observe([1.0], second, Answer.FIRST)
    with pytest.raises(ValueError, match="second_db is nan"):
        estimator.observe(first, [math.nan] * 4, Answer.FIRST)
    estimator.observe(first, second, Answer.FIRST)
    with pytest.raises(TrialLimitError, match="room for 1 comparisons only"):
        estimator.observe(first, second, Answer.FIRST)


@pytest.mark.skipif(
    os.environ.get(VARIABLE, "").startswith(JIT),
    reason="Numba keeps objects of its own of the calls; the kernels are those of the library",
)
def test_a_tuning_leaves_no_memory_behind() -> None:
    estimator, person = new(), somebody(np.array([3.0, -2.0, 0.0, 4.0]), 5)

    def memory_after_20_more() -> tuple[int, int]:
        ask(estimator, person, 20)
        estimator.best()
        assert 0.0 < estimator.listens < 1.0
        gc.collect()  # Python keeps small objects for the next ones of their kind
        return tracemalloc.get_traced_memory()[0], sys.getallocatedblocks()

    tracemalloc.start()
    try:
        before, after = memory_after_20_more(), memory_after_20_more()
    finally:
        tracemalloc.stop()
    assert after[0] - before[0] < 2_000, "a row of the workspace for twenty answers is more"
    assert after[1] - before[1] < 20


def test_two_that_came_out_alike_tell_nothing_of_the_wish() -> None:
    pair, other = ((3.0, 0.0, 0.0, 0.0), (-3.0, 0.0, 0.0, 0.0)), (1.0, 2.0, 0.0, 0.0)
    plain, with_alike = new(), new()
    plain.observe(*pair, Answer.FIRST)
    with_alike.observe(other, other, Answer.SAME)
    with_alike.observe(*pair, Answer.FIRST)
    assert with_alike.converged
    ((mean_db, _), (alike_db, _)) = plain.wish(), with_alike.wish()
    assert np.sign(alike_db[0]) == np.sign(mean_db[0])
    assert alike_db[1:] == pytest.approx(mean_db[1:], abs=0.2)
    # by Bayes: of kinds that hear no difference there are more, and of those who listen too
    assert 0.0 < alike_db[0] < 2.0 * mean_db[0]


@pytest.mark.parametrize(
    ("ranges_db", "sd_db", "wanted"),
    [
        ([(-12.0, 12.0)] * 4, 30.0, 1.0),
        ([(0.0, 3.0)] * 4, 15.0, -1.0),
        ([(0.0, 0.5), *[(0.0, 0.0)] * 3], 5.0, 1.0),
        ([(-3.5, 11.5), *[(0.0, 0.0)] * 3], 5.0, -1.0),
    ],
)
def test_there_is_always_a_pair_that_differs_wherever_the_wish_is(
    ranges_db: list[tuple[float, float]], sd_db: float, wanted: float
) -> None:
    estimator = new(ranges_db=ranges_db, prior_sd_db=[sd_db] * 4)
    for _ in range(34):
        one, other = estimator.next_pair()
        assert one != other
        first = wanted * sum(one) >= wanted * sum(other)
        estimator.observe(one, other, Answer.FIRST if first else Answer.SECOND)
