"""The fit of the time to go finds known coefficients again, and tells the errors of a course."""

from pathlib import Path

import pytest

from firmware_py.terms.settings import CONDUCTS
from host_tools.main import main
from host_tools.research import time_to_go
from host_tools.research.study.ears import standard_ears
from host_tools.research.time_to_go import (
    SHARES,
    Answered,
    Course,
    Unit,
    coefficients,
    course_of,
    median_errors_s,
)

TRIAL_S = 2.0


def course(tones: int, told_too_much_s: float = 0.0, checks: int = 3) -> Course:
    """Return an ear whose missing bits are as if 3 tones, and 2 a root of a bit, were to come."""
    answers = []
    for done in range(1, tones + checks + 1):
        to_come = max(tones - done, 0)
        left = tones + checks - done
        answers.append(
            Answered(
                "right", "measure", TRIAL_S * done, TRIAL_S * left + told_too_much_s,
                bits=(0.5 * (to_come - 3.0)) ** 2 if to_come > 3 else 0.0, frequencies=0,
                checks=min(checks, left), measuring=to_come > 3,
            )
        )  # fmt: skip
    return Course(answers)


def test_known_coefficients_are_found_again() -> None:
    found = coefficients([course(20), course(35), course(50)])
    assert found == pytest.approx([3.0, 2.0, 0.0], abs=1e-6)


def test_one_session_in_three_that_went_on_hardly_moves_them() -> None:
    unusual = course(20)
    unusual.answers += [
        Answered("right", "measure", 100.0, 0.0, 0.0, 0, 0, measuring=False) for _ in range(200)
    ]
    found = coefficients([course(35), course(50), unusual])
    assert found == pytest.approx([3.0, 2.0, 0.0], abs=0.1), "an absolute error, not a square"


def test_errors_are_those_of_the_time_that_was_left() -> None:
    for absolute_s, median_s in median_errors_s([course(20, 5.0), course(30, 5.0)]):
        assert (absolute_s, median_s) == pytest.approx((5.0, 5.0))
    (absolute_s, median_s), *_ = median_errors_s([course(20, 5.0), course(30, -5.0)])
    assert (absolute_s, median_s) == pytest.approx((5.0, 0.0))


def test_the_answers_of_a_session_tell_what_was_missing() -> None:
    answers = course_of(standard_ears()[0], seed=1).answers
    assert [each.at_s for each in answers] == sorted(each.at_s for each in answers)
    assert {each.ear for each in answers} == {"right", "left"}
    measured = [each for each in answers if each.ear == answers[0].ear and each.measuring]
    assert measured[0].bits > measured[-1].bits
    assert answers[-1].seconds_to_go < 5.0 < answers[0].seconds_to_go


def test_what_it_prints_is_of_the_courses(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def of_unit(unit: Unit) -> Course:
        return course(10 + 10 * unit.seed, told_too_much_s=5.0)

    monkeypatch.setattr(time_to_go, "run_unit", of_unit)
    words = ["study", "--time-to-go", "--audiograms", "bisgaard", "--people", "2", "--workers", "0"]
    said = []
    for more in ([], ["-o", str(tmp_path)]):
        assert main([*words, *more]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1], "what is kept is what was made"
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said[0].splitlines()]
    head, _, *found = rows
    assert head == ["", *CONDUCTS, "both"]
    assert [row[1:] for row in found[:3]] == [
        ["2", "2", "4"], ["56"] * 3, ["3.00 2.00 0.00"] * 3
    ]  # fmt: skip
    assert [row[1:] for row in found[3:]] == [["+5.0, 5.0"] * 3] * len(SHARES)
