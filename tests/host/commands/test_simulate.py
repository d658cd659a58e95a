"""The time of an emulated board that `gp-pta simulate` gives to others."""

from pathlib import Path

import pytest

from host_tools.main import main


def test_a_time_is_gone_with_its_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MICROPYTHON_UF2", "/none.uf2")
    assert main(["simulate", "--board", "emulated", "--clock", str(tmp_path / "time")]) == 2
    assert [*tmp_path.iterdir()] == []
