"""Several ways to choose what to compare, on the same people: regret, tables and picture."""

from pathlib import Path

import numpy as np
import pytest

from host_tools.research.study.work import Where, all_done
from host_tools.research.tuning.course import (
    COMPARISONS,
    Course,
    comparisons_to,
    error_of_share,
    run_course,
    share,
)
from host_tools.research.tuning.methods import (
    METHODS,
    OBJECTIVES,
    PRODUCT,
    RANDOM,
    THOMPSON,
    expected_improvement,
    new_estimator,
)
from host_tools.research.tuning.people import Person, drawn_person, on_grid
from host_tools.research.tuning.tables import methods_table

NOBODY = Person((3.0, 0.0, 0.0, 0.0), 1.4, 0.3, 0.1, 1)


def course(*off_db: float) -> Course:
    """Return a course whose best setting is so far from the wish in the first number."""
    return Course(
        "gain", NOBODY, {count: (3.0 + off, 0.0, 0.0, 0.0) for count, off in enumerate(off_db)}
    )


@pytest.fixture(scope="module")
def courses() -> dict[str, list[Course]]:
    people = [drawn_person(seed) for seed in range(1, 13)]
    return {
        method: [run_course((method, person)) for person in people] for method in (PRODUCT, RANDOM)
    }


@pytest.mark.parametrize("method", METHODS)
def test_two_settings_that_can_be_set_are_compared(method: str) -> None:
    chance = np.random.default_rng(1)
    first, second = METHODS[method](new_estimator(OBJECTIVES.get(method, "gain")), chance)
    assert first != second
    for setting in (first, second):
        assert setting == on_grid(setting)


@pytest.mark.thorough
def test_random_pairs_are_worse_than_the_products(courses: dict[str, list[Course]]) -> None:
    for count in (10, 15, 20, 25):
        product, others = (share(courses[m], count, median=False) for m in (PRODUCT, RANDOM))
        assert product < others


@pytest.mark.thorough
def test_a_persons_wish_is_found(courses: dict[str, list[Course]]) -> None:
    assert share(courses[PRODUCT], 0, median=True) == 1.0
    assert share(courses[PRODUCT], 15, median=True) < 1.0 / 3.0
    near = [each.is_near(COMPARISONS, each=False) for each in courses[PRODUCT]]
    assert np.mean(near) >= 0.8


@pytest.mark.thorough
def test_a_course_is_the_same_again_in_any_process() -> None:
    jobs = [(THOMPSON, drawn_person(3)), (THOMPSON, drawn_person(4))]
    here, there = (all_done(run_course, jobs, Where(workers)) for workers in (0, 1))
    assert here == there
    assert here[0].person.seed == 3


def test_people_of_one_seed_want_the_same_and_hear_in_their_own_way() -> None:
    honest, first = drawn_person(7), drawn_person(7, "first")
    assert (honest.wish_db, honest.sensitivity) == (first.wish_db, first.sensitivity)
    many = [drawn_person(seed) for seed in range(400)]
    assert np.median([each.sensitivity for each in many]) == pytest.approx(1.4, rel=0.1)
    assert np.std([each.wish_db for each in many]) == pytest.approx(5.0, rel=0.1)
    assert drawn_person(7, sensitivity=2.8).sensitivity == pytest.approx(2.0 * honest.sensitivity)


def test_what_is_counted() -> None:
    some = [course(3.0, 6.0, 1.0, 0.5)]
    assert some[0].regret(0) == pytest.approx(0.5)
    assert share(some, 1, median=False) == pytest.approx(4.0)
    assert comparisons_to(some, 1.0 / 3.0) == 2
    assert comparisons_to([course(3.0, 0.0, 6.0)], 1.0 / 3.0) is None, "it is not to stay there"
    assert error_of_share(some * 2, 2) == 0.0
    assert course(-4.0).is_near(0, each=False)
    assert not course(-4.0).is_near(0, each=True)
    assert on_grid((0.3, -0.2, 40.0, -12.1)) == (0.5, 0.0, 12.0, -12.0)


def test_expected_improvement_is_that_of_many_draws() -> None:
    chance = np.random.default_rng(1)
    mean_db, covariance_db2 = np.array([2.0, -1.0]), np.array([[9.0, 3.0], [3.0, 4.0]])
    wishes_db = chance.multivariate_normal(mean_db, covariance_db2, 200_000)
    candidates_db, best_db = np.array([[5.0, 0.0], [0.0, 0.0], [2.0, -1.0]]), np.array([2.0, -1.0])

    def utility(setting_db: np.ndarray) -> np.ndarray:
        return -((wishes_db - setting_db) ** 2).sum(axis=1) / (2.0 * 3.0**2)

    drawn = [np.maximum(utility(each) - utility(best_db), 0.0).mean() for each in candidates_db]
    found = expected_improvement(candidates_db, best_db, mean_db, covariance_db2)
    assert found == pytest.approx(drawn, abs=0.01)
    assert found[2] == 0.0


def test_the_table_and_the_picture_have_every_method(tmp_path: Path) -> None:
    from host_tools.research.tuning.picture import draw_regret

    methods = {"one": PRODUCT, "other": RANDOM}
    people = [drawn_person(seed) for seed in (1, 2)]
    titled = {name: [run_course((way, each)) for each in people] for name, way in methods.items()}
    lines = methods_table(titled)
    assert [line.split(" | ")[0] for line in lines[2:4]] == ["| one", "| other"]
    assert len({line.count("|") for line in lines[:4]}) == 1
    draw_regret(titled, tmp_path / "regret.svg")
    assert (tmp_path / "regret.svg").read_text().startswith("<?xml")
