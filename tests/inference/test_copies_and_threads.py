"""A copy of an estimator is a copy, and threads that share one wait for each other."""

import copy
import pickle
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.one_at_a_time import OneAtATime
from firmware_py.inference.profiles import PROFILES
from tests.budget import quick

Answer = tuple[float, float, bool]

# The last two are beside the knots of the prior: they take its bends in.
ANSWERS: tuple[Answer, ...] = (
    (1000.0, 40.0, True), (4000.0, 40.0, False), (4000.0, 60.0, True), (500.0, 20.0, False),
    (1337.0, 30.0, True), (2829.0, 45.0, False),
)  # fmt: skip
OTHERS: tuple[Answer, ...] = ((1000.0, 90.0, False), (250.0, 80.0, False), (777.0, 10.0, True))
WAYS: dict[str, Callable[[ThresholdEstimator], ThresholdEstimator]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda estimator: pickle.loads(pickle.dumps(estimator)),
}
ASKED_HZ = [250.0, 1000.0, 3333.0]
THREADS = 4
ANSWERS_EACH = 8


def estimator_given(answers: Sequence[Answer], profile: str = "default") -> ThresholdEstimator:
    return tell(ThresholdEstimator(profile, max_trials=THREADS * ANSWERS_EACH), answers)


def tell(estimator: ThresholdEstimator, answers: Sequence[Answer]) -> ThresholdEstimator:
    for answer in answers:
        estimator.observe(*answer)
    return estimator


def look_at(estimator: ThresholdEstimator) -> dict[str, Any]:
    """Return everything that an estimator tells, bit for bit."""
    told: dict[str, Any] = {
        "trials": (estimator.trial_count, estimator.converged),
        "evidence": estimator.log_evidence.hex(),
        "hyperparameters": repr(estimator.hyperparameters),
        "next": repr(vars(estimator.next_stimulus())),
    }
    arrays = {
        "threshold": estimator.threshold(ASKED_HZ),
        "band": estimator.threshold_band(ASKED_HZ),
        "joint": estimator.joint_threshold(ASKED_HZ),
        "answers": (estimator.attended, estimator.answer_probabilities),
        "listeners": (estimator.listener_shares,),
    }
    return told | {name: [each.tobytes() for each in found] for name, found in arrays.items()}


@pytest.mark.parametrize("profile", quick(PROFILES, "default", "gp-pta-2015"))
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", quick((len(ANSWERS), 0, 4), len(ANSWERS)))
def test_neither_a_copy_nor_its_original_changes_the_other(
    profile: str, way: str, count: int
) -> None:
    original = estimator_given(ANSWERS[:count], profile)
    copied = WAYS[way](original)

    assert look_at(copied) == look_at(original)
    tell(copied, OTHERS)
    assert look_at(original) == look_at(estimator_given(ANSWERS[:count], profile))
    tell(original, ANSWERS[count:])
    original.reset()
    assert look_at(copied) == look_at(estimator_given((*ANSWERS[:count], *OTHERS), profile))


def test_a_copy_is_made_between_two_answers_of_another_thread() -> None:
    """Not in the middle of one: it has all of an answer, or nothing."""
    states = [look_at(estimator_given(ANSWERS[:count])) for count in range(len(ANSWERS) + 1)]
    original = estimator_given(())
    with ThreadPoolExecutor() as pool:
        done = pool.submit(tell, original, ANSWERS)
        copies = [copy.copy(original)]
        while not done.done():
            copies.append(copy.copy(original))
        done.result()

    print(f"{len(copies)} copies")
    for each in copies:
        assert look_at(each) == states[each.trial_count]


@pytest.mark.parametrize("profile", PROFILES)
def test_threads_may_share_one(profile: str) -> None:
    """They answer alike, so that their order means nothing, and ask for everything meanwhile."""
    answers = (ANSWERS[0],) * ANSWERS_EACH
    shared, together = estimator_given((), profile), threading.Barrier(THREADS)

    def use() -> None:
        together.wait()
        for answer in answers:
            tell(shared, (answer,))
            look_at(shared)

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(use) for _ in range(THREADS)]:
            done.result()

    assert look_at(shared) == look_at(estimator_given(answers * THREADS, profile))


class Waits(OneAtATime):
    """Stays in a method until it is let go."""

    def __init__(self) -> None:
        self.is_in, self.goes_on = threading.Event(), threading.Event()

    def stay(self) -> None:
        self.is_in.set()
        self.goes_on.wait()

    @property
    def state(self) -> bool:
        return self.goes_on.is_set()

    def again(self) -> bool:
        return self.state


def test_methods_and_properties_wait_for_one_another() -> None:
    one = Waits()
    with ThreadPoolExecutor() as pool:
        staying = pool.submit(one.stay)
        one.is_in.wait()
        others = [pool.submit(one.again), pool.submit(lambda: one.state)]
        one.goes_on.set()
        staying.result()
        assert [other.result() for other in others] == [True, True]


def test_every_public_method_of_an_estimator_does() -> None:
    """Or else the next one that is written does not."""
    public = [
        value.fget if isinstance(value, property) else value
        for base in ThresholdEstimator.__mro__[:-1]
        for name, value in vars(base).items()
        if not name.startswith("_") and (callable(value) or isinstance(value, property))
    ]

    assert len(public) > 15
    for method in public:
        assert hasattr(method, "__wrapped__"), method
