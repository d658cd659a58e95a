"""What `gp-pta simulate` refuses about the clock of a board."""

from pathlib import Path

import pytest

from host_tools.main import main


def test_a_board_that_keeps_our_time_has_none_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "--clock", str(tmp_path / "time")]) == 2
    assert capsys.readouterr().err == (
        "gp-pta: --clock is for --board emulated; a simulated board's time is this machine's\n"
    )
    assert [*tmp_path.iterdir()] == []


def test_a_time_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("mine")
    assert main(["simulate", "--board", "emulated", "--clock", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"gp-pta: --clock '{path}' is there already, and is not overwritten; remove it if it is "
        "old\n"
    )
    assert path.read_text() == "mine"


def test_a_time_is_gone_with_its_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MICROPYTHON_UF2", "/none.uf2")
    assert main(["simulate", "--board", "emulated", "--clock", str(tmp_path / "time")]) == 2
    assert [*tmp_path.iterdir()] == []
