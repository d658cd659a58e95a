"""The whole procedure with simulated people, tuning up and down, and the table of both."""

import json
import re
from collections.abc import Sequence

import numpy as np
import pytest

from device.simulator.preferences import PEOPLE, SimulatedWearer
from firmware_py.comparisons.result import TuningFinding
from host_tools.main import main
from host_tools.research.study.sessions import as_json, from_json
from host_tools.research.tuning import table as tunings
from host_tools.research.tuning.people import LIMIT_DB, Person, drawn_person
from host_tools.research.tuning.procedure import SimulatedTuning
from host_tools.research.tuning.table import Tuned, read_off, run_person, up_and_down

NOBODY = Person((3.0, 0.0, 0.0, 0.0), 1.4, 0.3, 0.1, 1)
WISH, UNSURE = TuningFinding.WISH, TuningFinding.UNSURE


def sure(wish_db: Sequence[float]) -> SimulatedWearer:
    return SimulatedWearer(wish_db, sensitivity=1e3, tie_width=0.0, lapse_rate=0.0)


def tuned(
    finding: str = WISH, left: float = 0.5, ends: Sequence[int] = (), beyond: Sequence[int] = ()
) -> Tuned:
    return Tuned(NOBODY, finding, 12, 90.0, 0.25, left, 1.0, [*ends], [*beyond], 2.0, 1.0)


def test_people_of_one_seed_want_the_same_and_hear_in_their_own_way() -> None:
    honest, first = drawn_person(7), drawn_person(7, "first")
    assert (honest.wish_db, honest.sensitivity) == (first.wish_db, first.sensitivity)
    many = [drawn_person(seed) for seed in range(400)]
    assert np.median([each.sensitivity for each in many]) == pytest.approx(1.4, rel=0.1)
    assert np.std([each.wish_db for each in many]) == pytest.approx(5.0, rel=0.1)
    assert drawn_person(7, sensitivity=2.8).sensitivity == pytest.approx(2.0 * honest.sensitivity)


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
    honest, first, beyond = (run_person(drawn_person(2, k)) for k in ("honest", "first", "beyond"))
    assert honest.finding != TuningFinding.NONE
    assert honest.left < honest.before / 3.0
    assert (first.finding, first.left) == (TuningFinding.NONE, first.before)
    assert beyond.ends == beyond.beyond != []
    assert from_json(Tuned, json.loads(as_json(honest))).left == honest.left


def test_up_and_down_comes_to_what_is_wanted_and_stays_in_the_range() -> None:
    found_db = up_and_down(sure([7.0, -4.0, 0.0, 40.0]), 100, 1)
    assert np.abs(np.array(found_db[:3]) - [7.0, -4.0, 0.0]).max() <= 1.5
    assert found_db[3] == LIMIT_DB
    assert up_and_down(sure([7.0, -4.0, 0.0, 40.0]), 1, 1) == (6.0, 0.0, 0.0, 0.0)
    assert up_and_down(sure([7.0, 0.0, 0.0, 0.0]), 0, 1) == (0.0,) * 4


def test_what_is_counted() -> None:
    row = read_off(
        "honest",
        [
            tuned(), tuned(left=2.0), tuned(left=2.0, ends=[1]), tuned(UNSURE, left=2.0),
            tuned(ends=[0, 2], beyond=[0]), tuned(ends=[1], beyond=[3]),
        ],
    )  # fmt: skip
    assert row["found"] == pytest.approx([5 / 6, 1 / 6, 0.0])
    assert (row["stated"], row["actual"], row["left"]) == pytest.approx((0.25, 1.1, 1.25))
    assert row["worse"] == pytest.approx(1 / 6), "who is told that it may be is not counted"
    assert (row["beyond"], row["within"]) == pytest.approx((0.5, 1 / 3))
    assert (row["up_down"], row["up_down_worse"]) == (2.0, 1.0)


def test_the_table_is_of_everybody(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(person: Person) -> Tuned:
        return Tuned(person, WISH, 12, 90.0, 0.25, 0.5, 1.0, [], [], 2.0, 1.0)

    monkeypatch.setattr(tunings, "run_person", found)
    assert main(["study", "--tuning", "--people", "3", "--workers", "0"]) == 0
    said = re.sub(r" +", " ", capsys.readouterr().out)
    for kind, about in PEOPLE.items():
        words = "100%, 0%, 0% | 12 | 1.5 | 0.25 | 0.50 | 0.50 | 0% | - | 0% | 1.00 | 2.00 | 100% |"
        assert f"| {kind}: {about.words} | {words}" in said
