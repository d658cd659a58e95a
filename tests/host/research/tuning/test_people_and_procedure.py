"""The whole procedure with simulated people, the command, and a peer."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from firmware_py.comparisons.result import TuningFinding
from host_tools.errors import HostError
from host_tools.research.tuning import __main__ as command
from host_tools.research.tuning.__main__ import main
from host_tools.research.tuning.course import COMPARISONS, COUNTS, Course
from host_tools.research.tuning.peer import run_peer
from host_tools.research.tuning.people import NUMBERS, Person, drawn_person
from host_tools.research.tuning.procedure import SimulatedTuning, Tuned, run_tuning
from host_tools.research.tuning.tables import procedure_table


@pytest.mark.parametrize("kind", ["honest", "first", "random", "changing"])
def test_the_procedure_ends(kind: str) -> None:
    simulated = SimulatedTuning(drawn_person(1, kind))
    result = simulated.run()
    assert result.outcome == "complete"
    assert 10 <= result.comparisons <= 25
    assert result.silent == result.stray_presses == 0
    # Two sounds of 2 s and three silences before the press, at the least.
    assert simulated.now_us / 1e6 > 5.0 * result.comparisons


def test_an_honest_person_is_helped_and_one_who_does_not_listen_changes_nothing() -> None:
    honest, first = run_tuning(drawn_person(2)), run_tuning(drawn_person(2, "first"))
    assert honest.finding != TuningFinding.NONE
    assert honest.regret < honest.before / 3.0
    assert (first.finding, first.regret) == (TuningFinding.NONE, first.before)
    lines = procedure_table([honest, first])
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1


def test_the_answer_of_the_person_is_the_answer_of_the_procedure() -> None:
    simulated = SimulatedTuning(drawn_person(5, "first"))
    simulated.run()
    assert simulated.tuning.result().same == 0
    assert simulated.tuning.estimator.listens < 0.5


PEER = """
import json, sys
given = json.load(sys.stdin)
print("person 1: 0 s", file=sys.stderr)
json.dump([{n: p["wish_db"] for n in given["counts"]} for p in given["people"]], sys.stdout)
"""


def test_a_peer_is_given_people_and_gives_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "knows_all.py").write_text(PEER)
    monkeypatch.setattr("host_tools.research.tuning.peer.ROOT", tmp_path)
    monkeypatch.setattr("host_tools.research.tuning.peer.MODULE", "knows_all")
    people = [drawn_person(seed) for seed in (1, 2, 3)]
    assert json.dumps(asdict(people[0]))
    courses = run_peer(sys.executable, people, 2)
    assert [course.person for course in courses] == people
    assert [sorted(course.best_db) for course in courses] == [[*COUNTS]] * 3
    assert courses[1].regret(5) == 0.0
    with pytest.raises(HostError, match="--peer no-such-python"):
        run_peer("no-such-python", people, 0)


def nothing_found(job: tuple[str, Person]) -> Course:
    method, person = job
    return Course(method, person, dict.fromkeys(range(COMPARISONS + 1), (0.0,) * NUMBERS))


def wish_found(person: Person) -> Tuned:
    return Tuned(person, TuningFinding.WISH, 12, 90.0, 0.25, 1.0)


def test_the_tables_are_of_everybody_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "run_course", nothing_found)
    monkeypatch.setattr(command, "run_tuning", wish_found)
    monkeypatch.setattr(command, "run_peer", lambda _python, few, _workers: [
        nothing_found(("peer", person)) for person in few
    ])  # fmt: skip
    words = "--people 3 --workers 0 --methods gain,random --peer python --peer-people 2"
    assert main(words.split()) == 0
    out = capsys.readouterr().out
    for row in (
        "| the product: expected gain | 3 | 100% (100%)", ", the peer's people | 2 |",
        "| changing: ", " | 3 | 100% | 0% | 0% | 12 (12 to 12) | 1.5 | 25% |",
    ):  # fmt: skip
        assert row in out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("--people 0", "0 is less than 1"),
        ("--methods gain,guess", "'guess' is none of gain, "),
        ("--methods random", "the first is not gain"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    words: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(words.split())
    assert why in capsys.readouterr().err


def test_a_peer_that_is_not_there_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "run_course", nothing_found)
    words = "--people 1 --workers 0 --methods gain --peer no-such-python"
    assert main(words.split()) == 2
    assert "no-such-python" in capsys.readouterr().err


@pytest.mark.thorough
def test_the_command_prints_tables_and_draws(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    picture = tmp_path / "regret.svg"
    assert main(["--people", "2", "--workers", "0", "--picture", str(picture)]) == 0
    out = capsys.readouterr().out
    for words in ("| the product: expected gain | 2 |", "| changing: "):
        assert words in out
    assert picture.exists()


def test_a_picture_of_another_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--picture", "regret.bmp"])
    assert "regret.bmp ends with none of" in capsys.readouterr().err
