"""What is read of a table is said: how much, what was passed over, what speaks against it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from firmware_py.inference.library import JIT, VARIABLE
from host_tools.errors import HostError
from host_tools.research.study.ears import read_table, say_what_is_read

ROOT: Final = Path(__file__).parents[4]
AFTER_A_REFUSAL: Final = """\
import sys
from host_tools.main import main

assert main(sys.argv[1:]) == 2
assert "host_tools.research.methods.registry" not in sys.modules
"""


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
    with pytest.raises(HostError, match=r"^--train: .*clinic.csv: what is in 't8O00' has to be"):
        read_table(path, "--train")


@pytest.mark.thorough  # each takes a second or two to import Numba
@pytest.mark.parametrize(
    "mode", ["-o study", "--seconds", "--as-published", "--bone", "--robustness"]
)
def test_a_table_is_read_before_methods_are_imported_which_may_have_to_be_compiled(
    mode: str,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AFTER_A_REFUSAL, "study", "--audiograms", "no.csv", *mode.split()],
        cwd=ROOT, env={**os.environ, VARIABLE: JIT}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "'no.csv': No such file" in done.stderr
