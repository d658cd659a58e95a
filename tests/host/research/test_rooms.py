"""`gp-pta study --rooms`: what a test in a room gave, and the table of it."""

import numpy as np
import pytest

from host_tools.main import main
from host_tools.research import rooms
from host_tools.research.rooms import ASKED_HZ, CASES, Found, Unit, lines_of, read_off, run_unit
from host_tools.research.study.ears import standard_ears

CASE = {case.name: case for case in CASES}


@pytest.mark.parametrize("name", ["40 dBA, told", "40 dBA, heard"])
def test_a_test_in_a_room_that_is_known_tells_no_number_that_noise_made(name: str) -> None:
    ear = next(each for each in standard_ears() if each.name == "N1")
    found = run_unit(Unit(CASE[name], ear, 1))
    assert [len(each) for each in found.off_db] == [len(ASKED_HZ)] * 2
    at_500_hz = [each[0] for each in found.off_db]
    assert np.nanmax([*at_500_hz, 0.0]) <= 5.0
    assert found.seconds > 30.0


def test_what_is_told_and_what_is_right_of_it_are_shares_of_their_own() -> None:
    nan = float("nan")
    found = Found(100.0, [[6.0, 0.0, nan, nan]], [[False, True, True, False]],
                  [[nan, nan, -1.0, 4.0]])  # fmt: skip
    row = read_off("a room", [found])
    assert row["numbers"] == [1.0, 1.0, 0.0, 0.0]
    assert row["too_poor"] == [1.0, 0.0, 0.0, 0.0]
    assert row["covers"] == [0.0, 1.0, 1.0, 0.0]
    assert row["false_bounds"] == 0.5
    assert lines_of([row])[-1].split("|")[1:-1] == [
        " a room ", " 100 100 0 0                   ", " 100 0 0 0                   ",
        " 0 100 100 0                   ", " 50.0                    ", " 100          ",
    ]  # fmt: skip


def test_the_table_has_a_row_a_room(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = Found(60.0, [[0.0] * 4], [[True] * 4], [[float("nan")] * 4])
    monkeypatch.setattr(rooms, "run_unit", lambda _unit: one)
    assert (
        main(["study", "--rooms", "--audiograms", "bisgaard", "--people", "2", "--workers", "0"])
        == 0
    )
    _, _, *lines = capsys.readouterr().out.splitlines()
    assert [line.split("|")[1].strip() for line in lines] == [case.name for case in CASES]
