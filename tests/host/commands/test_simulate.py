"""What `gp-pta simulate` refuses about the clock of a board."""

from pathlib import Path

import pytest

from host_tools.main import main
from tests.host.journals import Refused


def test_a_board_that_keeps_our_time_has_none_of_its_own(tmp_path: Path, refused: Refused) -> None:
    assert refused("simulate", "--clock", tmp_path / "time") == (
        "gp-pta: --clock is for --board emulated; a simulated board's time is this machine's\n"
    )
    assert [*tmp_path.iterdir()] == []


def test_a_time_overwrites_nothing(tmp_path: Path, refused: Refused) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("mine")
    assert refused("simulate", "--board", "emulated", "--clock", path) == (
        f"gp-pta: --clock '{path}' is there already, and is not overwritten; remove it if it is "
        "old\n"
    )
    assert path.read_text() == "mine"


def test_a_time_is_gone_with_its_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MICROPYTHON_UF2", "/none.uf2")
    assert main(["simulate", "--board", "emulated", "--clock", str(tmp_path / "time")]) == 2
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("command", ["simulate", "demo", "workbench"])
def test_kinds_of_listeners_and_odd_ears_are_refused_by_name(
    command: str, refused: Refused
) -> None:
    said = refused(command, "--listener", "deaf")
    assert said.startswith("gp-pta: no kind of listener is called 'deaf', allowed are honest, ")
    assert "lapses=P" in said
    said = refused(command, "--audiogram", "iland")
    assert "no audiogram is called 'iland'" in said
    assert "island, narrow-notch, cookie-bite, reverse, tent, corner, cliff" in said
