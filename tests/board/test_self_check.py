"""The watch over the buttons: what is held down for ever, by the board's time alone."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from firmware_py.board.board_report import TO_BE_SEEN, lines
from firmware_py.board.self_check import STUCK_US, ButtonWatch
from firmware_py.link.notices import ButtonPressed, ButtonReleased, Greeted, Missed
from firmware_py.main import main

S = 1_000_000


def watch_with_button_down(at_us: int, button: int = 1) -> ButtonWatch:
    watch = ButtonWatch()
    moved = watch.notice(ButtonPressed(1, at_us, button))
    assert moved == ("button-down", button)
    return watch


def test_a_button_is_held_as_long_as_the_board_has_not_said_otherwise() -> None:
    watch = watch_with_button_down(7 * S, button=2)

    assert watch.held_button(9 * S - 1, 2 * S) is None
    assert watch.held_button(9 * S, 2 * S) == 2
    assert watch.part(7 * S + STUCK_US - 1).works
    assert not watch.part(7 * S + STUCK_US).works


def test_a_release_that_is_told_late_was_no_later_for_that() -> None:
    watch = watch_with_button_down(7 * S)
    assert watch.held_button(7 * S, 2 * S) is None, "nobody knows yet what came after"
    watch.notice(ButtonReleased(2, 7 * S + 150_000, 1))

    assert watch.held_button(99 * S, 2 * S) is None


def test_of_a_button_whose_release_may_be_lost_nothing_is_known() -> None:
    for lost in (Missed(1, 2), Greeted("sim", "1", "00000001", "-", "51b0")):
        watch = watch_with_button_down(7 * S)
        watch.notice(lost)
        assert watch.held_button(99 * S, 2 * S) is None


NOW = datetime(2026, 11, 24, 23, 42, tzinfo=UTC)


def test_what_linux_says_is_told_and_what_it_does_not_say_is_named(tmp_path: Path) -> None:
    files = {
        "proc/device-tree/model": b"Raspberry Pi 4 Model B Rev 1.4\0",
        "proc/meminfo": b"MemTotal:        8000000 kB\nMemFree:  1 kB\n",
        "run/gp-pta/slot": b"slot A\n",
        "dev/ttyACM1": b"",
        "dev/ttyACM0": b"",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    told = [*lines(NOW, ["ok  disk  7 MB free"], tmp_path)]
    assert told[0].endswith("report on a board, 2026-11-24T23:42:00+00:00")
    assert "  board: Raspberry Pi 4 Model B Rev 1.4" in told
    assert "  memory: MemTotal: 8000000 kB" in told
    assert "  slot: slot A" in told
    assert "  tone generators: ttyACM0 ttyACM1" in told
    assert "  watchdog: is not told" in told
    assert "  ok  disk  7 MB free" in told


def test_everything_to_be_seen_has_a_place_to_tick(tmp_path: Path) -> None:
    boxes = [line for line in lines(NOW, [], tmp_path) if line.startswith("  [ ] ")]
    assert [box[9:] for box in boxes] == [*TO_BE_SEEN]


def test_a_report_is_printed_whatever_is_at_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ports = ["--tone-generator", "/dev/none", "--console", "/dev/none"]
    assert main([*ports, "--data", str(tmp_path), "--board-report"]) == 0
    told = capsys.readouterr().out
    assert "cannot open '/dev/none'" in told
    assert told.count("[ ]") == len(TO_BE_SEEN)
