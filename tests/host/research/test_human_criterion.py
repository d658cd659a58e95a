"""The constants of people's criterion: found again in answers made with known ones."""

from pathlib import Path

import numpy as np
import pytest

from device.simulator.courses import (
    HUMAN_AFTER_PRESS,
    HUMAN_SESSION_SD,
    HUMAN_WITHIN_SD,
    HUMAN_WITHIN_TONES,
)
from device.simulator.kinds import Course, kind_named
from device.simulator.traces import read_runs
from host_tools.research.human_criterion import after_press, main, wandering

RUNS, ANSWERS = 80, 1000


def table_of(runs: int, directory: Path) -> Path:
    """Answers of the kind `human` itself, with a noise of 1: a seed a run."""
    rng = np.random.default_rng(8)
    lines = ["listener,block,condition,amplitude,signal,answer"]
    for run in range(runs):
        course = Course(kind_named("human"), run + 1, 1.0)
        for number in range(ANSWERS):
            amplitude = rng.choice((-0.5, 0.5))
            yes = bool(rng.standard_normal() < amplitude - course.at(number).criterion_db)
            course.take_answer(number, yes)
            lines.append(f"A,{run},1,{amplitude},1,{yes:d}")
    path = directory / "answers.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.thorough
def test_the_constants_of_the_kind_are_found_again(tmp_path: Path) -> None:
    runs = read_runs(table_of(RUNS, tmp_path))
    session_sd, within_sd, tones = wandering(runs)

    assert session_sd == pytest.approx(HUMAN_SESSION_SD, abs=0.05)
    # After a press the next is likelier, so what wanders seems to be more, and for longer.
    assert within_sd == pytest.approx(HUMAN_WITHIN_SD, abs=0.05)
    assert tones == pytest.approx(HUMAN_WITHIN_TONES, abs=4.0)
    found = after_press(runs, HUMAN_SESSION_SD, HUMAN_WITHIN_SD, HUMAN_WITHIN_TONES)
    assert found == pytest.approx(HUMAN_AFTER_PRESS, abs=0.03)


def test_it_prints_a_line_a_listener_and_their_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(table_of(8, tmp_path))]) == 0

    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split()[0] == "listener"
    assert [line.split()[0] for line in lines] == ["A", "mean"]
    assert lines[0].split()[1:] == lines[1].split()[1:]


def test_without_a_table_it_says_what_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert main(["nowhere.csv"]) == 2
    assert "nowhere.csv: cannot be read" in capsys.readouterr().err
