"""Several ways to choose what to compare, and the whole procedure: regret, a peer, the tables."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firmware_py.comparisons.result import TuningFinding
from host_tools.errors import HostError
from host_tools.main import main
from host_tools.research.study.sessions import as_json, from_json
from host_tools.research.tuning import table as tunings
from host_tools.research.tuning.methods import (
    METHODS,
    OBJECTIVES,
    PRODUCT,
    expected_improvement,
    new_estimator,
)
from host_tools.research.tuning.people import NUMBERS, Person, SettingDb, drawn_person, on_grid
from host_tools.research.tuning.procedure import SimulatedTuning
from host_tools.research.tuning.table import (
    COMPARISONS,
    COUNTS,
    PEER,
    PROCEDURE,
    Tuned,
    Unit,
    comparisons_to,
    error_of_share,
    run_unit,
    share,
)

RANDOM = "random"
NOBODY = Person((3.0, 0.0, 0.0, 0.0), 1.4, 0.3, 0.1, 1)


def course(*off_db: float) -> Tuned:
    """Return a course whose best setting is so far from the wish in the first number."""
    best_db: dict[int, SettingDb] = {
        count: (3.0 + off, 0.0, 0.0, 0.0) for count, off in enumerate(off_db)
    }
    return Tuned(Unit(PRODUCT, NOBODY), best_db)


@pytest.fixture(scope="module")
def courses() -> dict[str, list[Tuned]]:
    people = [drawn_person(seed) for seed in range(1, 13)]
    return {
        method: [run_unit(Unit(method, person)) for person in people]
        for method in (PRODUCT, RANDOM)
    }


@pytest.mark.parametrize("method", METHODS)
def test_two_settings_that_can_be_set_are_compared(method: str) -> None:
    chance = np.random.default_rng(1)
    first, second = METHODS[method](new_estimator(OBJECTIVES.get(method, "gain")), chance)
    assert first != second
    for setting in (first, second):
        assert setting == on_grid(setting)


@pytest.mark.thorough
def test_a_persons_wish_is_found_and_by_random_pairs_later(courses: dict[str, Any]) -> None:
    for count in (10, 15, 20, 25):
        product, others = (share(courses[m], count, median=False) for m in (PRODUCT, RANDOM))
        assert product < others
    assert share(courses[PRODUCT], 0, median=True) == 1.0
    assert share(courses[PRODUCT], 15, median=True) < 1.0 / 3.0
    near = [each.is_near(COMPARISONS, each=False) for each in courses[PRODUCT]]
    assert np.mean(near) >= 0.8


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


@pytest.mark.parametrize("kind", ["honest", "first", "random", "changing"])
def test_the_procedure_ends(kind: str) -> None:
    simulated = SimulatedTuning(drawn_person(1, kind))
    result = simulated.run()
    assert result.outcome == "complete"
    assert 10 <= result.comparisons <= 25
    assert result.silent == result.stray_presses == 0
    # Two sounds of 2 s and three silences before the press, at the least.
    assert simulated.now_us / 1e6 > 5.0 * result.comparisons
    if kind == "first":
        assert result.same == 0
        assert simulated.tuning.estimator.listens < 0.5


def test_an_honest_person_is_helped_and_one_who_does_not_listen_changes_nothing() -> None:
    honest, first = (
        run_unit(Unit(PROCEDURE, drawn_person(2, kind))) for kind in ("honest", "first")
    )
    assert honest.finding != TuningFinding.NONE
    assert honest.regret_left < honest.regret_before / 3.0
    assert (first.finding, first.regret_left) == (TuningFinding.NONE, first.regret_before)


PEERS = """
import json, sys
given = json.load(sys.stdin)
print("person 1: 0 s", file=sys.stderr)
json.dump([{n: p["wish_db"] for n in given["counts"]} for p in given["people"]], sys.stdout)
"""


def test_a_peer_is_given_a_person_and_gives_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "knows_all.py").write_text(PEERS)
    monkeypatch.setattr(tunings, "ROOT", tmp_path)
    monkeypatch.setattr(tunings, "PEER_MODULE", "knows_all")
    unit = Unit(PEER, drawn_person(2), sys.executable)
    found = run_unit(unit)
    assert sorted(found.best_db) == [*COUNTS]
    assert found.regret(5) == 0.0
    assert from_json(Tuned, json.loads(as_json(found))).best_db == found.best_db
    with pytest.raises(HostError, match="--peer no-such-python"):
        run_unit(Unit(PEER, drawn_person(2), "no-such-python"))


def test_the_tables_and_the_picture_are_of_everybody_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def found(unit: Unit) -> Tuned:
        nothing: dict[int, SettingDb] = dict.fromkeys(range(COMPARISONS + 1), (0.0,) * NUMBERS)
        return Tuned(unit, nothing, TuningFinding.WISH, 12, 90.0, 0.25, 1.0)

    monkeypatch.setattr(tunings, "run_unit", found)
    words = "--people 3 --workers 0 --methods gain,random --peer python,2 -o"
    assert main(["study", "--tuning", *words.split(), str(tmp_path)]) == 0
    said = re.sub(r" +", " ", capsys.readouterr().out)
    for row in (
        "| the product: expected gain | 3 | 100% (100%)", ", the peer's people | 2 |",
        "| AEPsych: pairwise GP | 2 |",
        "| changing: ", " | 3 | 100% | 0% | 0% | 12 (12 to 12) | 1.5 | 25% |",
    ):  # fmt: skip
        assert row in said
    picture = tmp_path / "regret.svg"
    assert picture.read_text().startswith("<?xml")
    assert picture.stat().st_mode == (tmp_path / "study.json").stat().st_mode
