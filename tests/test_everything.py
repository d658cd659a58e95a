"""`make test-all` leaves nothing out, and runs again what did not pass with the present files."""

import sys
from pathlib import Path

import pytest

from tests import everything

ELSEWHERE = {"bench", "card"}  # under Numba, and by `make test-card`
PASSES = (sys.executable, "-c", "pass")
FAILS = (sys.executable, "-c", "raise SystemExit(3)")


def test_every_folder_with_tests_is_a_step() -> None:
    here = Path(everything.__file__).parent
    folders = {path.relative_to(here).parts[0] for path in here.glob("*/**/test_*.py")}

    assert {name for name, _, _ in everything.steps()} >= folders - ELSEWHERE


def test_a_step_is_run_again_only_where_it_failed_or_a_file_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(everything, "NOTES", tmp_path / "notes")

    assert not everything.run_step("link", FAILS, {}, "tree 1")
    assert everything.run_step("link", PASSES, {}, "tree 1")
    assert everything.run_step("link", FAILS, {}, "tree 1"), "it passed with these files"
    assert not everything.run_step("link", FAILS, {}, "tree 2")

    said = capfd.readouterr().out
    assert said.count("link: exit 3") == 2
    assert said.count("link: exit 0") == said.count("link: passed already") == 1
