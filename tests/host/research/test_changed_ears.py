"""The figures of the remark that an ear changed: simulated people whose truth is known."""

import numpy as np
import pytest

from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.settings import BRISK
from host_tools.commands.sessions.change import CHANGED
from host_tools.research import changed_ears
from host_tools.research.changed_ears import (
    MEASURING,
    TUNING,
    Pair,
    main,
    probabilities,
    rate_words,
)
from tests.budget import either


@pytest.mark.thorough
def test_a_pair_has_the_same_figures_every_time_and_other_people_have_others() -> None:
    pair = Pair(MEASURING, 1, BRISK, 0.0)
    found = probabilities(pair)
    assert probabilities(pair) == found
    assert probabilities(Pair(TUNING, 1, BRISK, 0.0)) != found
    assert all(0.0 <= probability <= 1.0 for probability in found)


def test_a_large_change_is_noticed() -> None:
    people = range(either(1, 2))
    found = [p for number in people for p in probabilities(Pair(MEASURING, number, BRISK, 45.0))]
    assert max(found) > CHANGED
    assert len(AUDIOGRAM_FREQUENCIES_HZ) == 10


@pytest.mark.parametrize(
    ("found", "words"),
    [([0.0] * 200, "  0.0 %  (0.0 to 1.9), 200 ears"), ([1.0, 0.0], " 50.0 %  (9.5 to 90.5), 2 e")],
)
def test_a_rate_has_its_interval(found: list[float], words: str) -> None:
    """By Wilson: of 0 in 200 the upper end is 1.88 %, of 1 in 2 the ends are 9.45 and 90.55 %."""
    assert rate_words(found, 0.5).startswith(words)


def test_the_tables_are_of_the_people_of_their_part(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(part: int, people: int, _conduct: str, worse_db: float, _workers: int) -> list[float]:
        return [0.5] * people if part == TUNING else [1.0 if worse_db else 0.0] * people

    monkeypatch.setattr(changed_ears, "all_probabilities", find)
    assert main(["--people", "2"]) == 0
    _, *tuned, _, same, worse, _, _ = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in tuned] == ["brisk", "clinical", "both"]
    assert all(line.endswith("median probability 0.50") for line in tuned)
    assert "  0.0 %" in same
    assert "100.0 %" in worse
    assert worse.endswith(", 2 ears")


@pytest.mark.thorough
def test_the_command_prints_both_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--people", "1", "--workers", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["brisk", "clinical", "both"]
    assert [line.split()[1] for line in lines[5:]] == ["0", "15", "0", "15"]
    assert np.isfinite([float(line.split()[4]) for line in lines[5:]]).all()
