"""An earphone that moves, a pitch, a cue and a habit are found in whole tests, and settled."""

import pytest

from device.simulator.hearing import SimulatedTest
from firmware_py.ear.ear import EarTest
from firmware_py.ear.otherwise import probability_of
from firmware_py.terms.outcomes import Verdict, Why
from firmware_py.terms.reasons import EARPHONE_MOVED, Code
from firmware_py.terms.results import EarResult
from firmware_py.terms.words import say
from host_tools.research.study.robustness_cases import BY_NAME
from host_tools.research.study.robustness_sessions import ears_of_case, sitting_of, units_of


def run_of(row: str, name: str) -> tuple[SimulatedTest, EarTest, EarResult]:
    """Test somebody of a row, one ear."""
    case = BY_NAME[row]
    units = units_of(case, ears_of_case(case, 4 // case.ears_factor + 1, None), 1)
    (unit,) = (each for each in units if each.ear.name == name)
    test = sitting_of(unit).test()
    result = test.run()
    (ear,) = test.test.ears.values()
    return test, ear, result.ears[0]


@pytest.mark.parametrize(
    ("row", "name", "code"),
    [
        ("leak-test", "N1:1", Code.LEAKS),
        ("moved-10-test", "N1:1", Code.MOVED_POORER),
        ("better-test", "N1:1", Code.MOVED_BETTER),
        ("tinnitus-0.8-test", "N1:1", Code.NEAR_A_PITCH),
        ("cue-0.6-test", "normal:2", Code.ANSWERS_UNHEARD),
        ("rising-test", "normal:2", Code.ONLY_LOUDER),
    ],
)
def test_what_was_otherwise_is_said_and_leaves_the_result_in_doubt(
    row: str, name: str, code: Code
) -> None:
    _, ear, result = run_of(row, name)

    assert result.verdict != Verdict.VALID
    assert code in [each.code for each in result.reasons]
    assert ear.listening.looks == (code in EARPHONE_MOVED)


@pytest.mark.parametrize("row", ["leak-seated-test", "moved-10-seated-test", "slides-seated-test"])
def test_an_earphone_that_is_put_back_gives_the_ear(row: str) -> None:
    test, ear, result = run_of(row, "N1:1")

    assert ear.in_place is not None
    assert ear.in_place.as_before
    assert result.verdict == Verdict.VALID
    (remark,) = test.test.result().remarks
    assert remark.code == Code.BROKEN_OFF
    assert "earphone" in say(remark)
    # All since it moved was asked again, the two tones that told of it as well.
    assert Why.IN_PLACE_AGAIN not in [each.presentation.why for each in ear.observations]


def test_who_hears_as_before_is_asked_nothing_of_that() -> None:
    _, ear, result = run_of("valid-odd-test", "tent:1")

    assert result.verdict == Verdict.VALID
    assert (ear.listening.looks, ear.listening.deciding_asked) == (0, 0)
    assert probability_of(ear.listening.otherwise()) < 0.03
