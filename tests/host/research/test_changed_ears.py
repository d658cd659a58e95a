"""How often an ear is said to have changed: simulated people whose truth is known."""

import json

import pytest

from firmware_py.terms.settings import BRISK, CONDUCTS
from host_tools.commands.sessions.change import CHANGED
from host_tools.main import main
from host_tools.research import changed_ears
from host_tools.research.changed_ears import MEASURING, TUNING, Pair, probabilities, read_off
from tests.budget import either


@pytest.mark.thorough
def test_a_pair_has_the_same_figures_every_time_and_other_people_have_others() -> None:
    pair = Pair(MEASURING, 1, BRISK, 0.0)
    found = probabilities(pair)
    assert probabilities(pair) == found
    assert probabilities(Pair(TUNING, 1, BRISK, 0.0)) != found
    assert all(0.0 <= probability <= 1.0 for probability in found)


def test_a_large_change_is_noticed() -> None:
    people = range(1, either(2, 3))
    found = [p for number in people for p in probabilities(Pair(MEASURING, number, BRISK, 45.0))]
    assert max(found) > CHANGED


@pytest.mark.parametrize(
    ("found", "interval"), [([0.0] * 200, (0.0, 0.0188)), ([1.0, 0.0], (0.0945, 0.9055))]
)
def test_a_rate_has_its_interval(found: list[float], interval: tuple[float, float]) -> None:
    row = read_off(BRISK, 0.0, found)
    assert (row["low"], row["high"]) == pytest.approx(interval, abs=1e-4), "by Wilson"
    assert (row["share"], row["ears"]) == (sum(found) / len(found), len(found))


def test_the_tables_are_of_the_people_of_their_part(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(pair: Pair) -> list[float]:
        return [0.5] if pair.part == TUNING else [1.0 if pair.worse_db else 0.0]

    monkeypatch.setattr(changed_ears, "probabilities", find)
    study = ["study", "--changed", "--people", "2", "--workers", "0"]
    assert main(study) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert cells[0][0] == "no change: probability from which on so many are called changed"
    assert cells[0][1:] == ["50%", "10%", "5%", "2%"]
    assert cells[2:5] == [[name, *["0.500"] * 4] for name in (*CONDUCTS, "both")]
    assert cells[8:10] == [
        [BRISK, "0 dB", "0.0 % (0.0 to 65.8)", "2"],
        [BRISK, "15 dB", "100.0 % (34.2 to 100.0)", "2"],
    ]
    assert main([*study, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [rows[3][name] for name in ("low", "high")] == [0.0, 0.657620], "six decimals"
    assert [row["worse_db"] for row in rows[3:]] == [0.0, 15.0, 0.0, 15.0]
