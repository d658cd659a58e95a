"""What is read of a table is said: how much, what was passed over, what speaks against it."""

from pathlib import Path

import pytest

from host_tools.errors import HostError
from host_tools.research.study.ears import read_table, say_what_is_read


def test_how_much_a_table_has_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "clinic.csv"
    path.write_text(
        "id;R500;R1000;R2000;R4000;L500;L1000;L2000;L4000;Verdict;notes\n"
        "Ann;10;15;20,5;NR;5;888;10;>90;;\nBob;10;15;20;30;;;;;doubtful;late\n"
    )
    table = read_table(path, "--audiograms")
    say_what_is_read("it", table.population, 1)

    said = capsys.readouterr().err.splitlines()
    assert said == [
        f"{path}: passed over, as nothing is known of them: columns notes",
        f"{path}: 1 ears: its test is not valid: doubtful",
        "it: 3 ears of 2 people, 9 thresholds, 2 times no response, 1 not known",
        "it: 1 of these ears are left out, as nothing is known of them at 500, 1000, 2000 and "
        "4000 Hz",
    ]
    ears = table.population
    assert ears.person == ("/Ann", "/Ann", "/Bob")
    assert ears.ear == ("R", "L", "R")
    assert ears.thresholds_db_hl[:, 3].tolist() == [120.0, 90.0, 30.0], "the limit that is told"
    assert ears.censored[:, 3].tolist() == [True, True, False]
    assert ears.thresholds_db_hl[0, 2] == 20.5


def test_a_refusal_names_the_option(tmp_path: Path) -> None:
    path = tmp_path / "clinic.csv"
    path.write_text("t500,t8O00\n10,20\n")
    with pytest.raises(HostError, match=r"^--train: .*clinic.csv: column 't8O00' is nearly one"):
        read_table(path, "--train")
