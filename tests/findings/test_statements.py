"""What may be said of an ear, by the verdict on its test and in which convention."""

from dataclasses import replace
from functools import cache
from typing import Final

import pytest

from device.simulator.hearing import SimulatedTest
from firmware_py.ear.mean_threshold import mean_threshold
from firmware_py.findings.grades import person_grade
from firmware_py.findings.statements import as_told, so_far
from firmware_py.terms.outcomes import Outcome, Verdict
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.results import SessionResult
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from firmware_py.terms.verdicts import has_thresholds, may_conclude
from tests.firmware.whole_sessions import a_listener

NUMBERS: Final = (
    "threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl", "limit_db_hl", "masking",
    "air_bone_gap_db",
)  # fmt: skip
VALID, NOT_JUDGED, DOUBTFUL, NOT_TESTED = Verdict
# By each verdict: whether thresholds may be said, and whether what follows from them.
MAY_SAY: Final = {
    VALID: (True, True), NOT_JUDGED: (True, False), DOUBTFUL: (True, False),
    NOT_TESTED: (False, False),
}  # fmt: skip


@cache
def a_run() -> tuple[SimulatedTest, SessionResult]:
    run = SimulatedTest(Settings(seed=1), a_listener("N3"))
    return run, run.run()


BECAUSE: Final = reason(Code.ENDED_EARLY)


def result_with(right: Verdict, left: Verdict) -> SessionResult:
    _, result = a_run()
    verdicts = {"right": right, "left": left}
    ears = [replace(e, verdict=verdicts[e.route.ear], reasons=(BECAUSE,)) for e in result.ears]
    return replace(result, ears=tuple(ears))


@pytest.mark.parametrize("verdict", Verdict)
def test_what_may_be_said_by_each_verdict(verdict: Verdict) -> None:
    ear, (run, _) = result_with(verdict, VALID).by_route[Route("right")], a_run()
    mean = mean_threshold(ear, run.test.ears[Route("right")].estimator)
    assert (has_thresholds(ear), may_conclude(ear)) == MAY_SAY[verdict]
    assert (mean is not None) is may_conclude(ear)


@pytest.mark.parametrize("worse", [NOT_JUDGED, DOUBTFUL, NOT_TESTED])
def test_the_verdict_on_a_session_is_that_of_the_worse_ear(worse: Verdict) -> None:
    assert result_with(VALID, worse).verdict == result_with(worse, VALID).verdict == worse
    assert result_with(NOT_TESTED, worse).verdict == NOT_TESTED


def test_no_level_is_told_of_an_ear_that_could_not_be_tested() -> None:
    recorded = result_with(DOUBTFUL, NOT_TESTED)
    told = as_told(recorded, Settings(), nominal=False)
    assert told.by_route[Route("right")] == replace(recorded.by_route[Route("right")], pta4=None)
    (ear,) = [each for each in told.to_record()["ears"] if each["ear"] == "left"]
    assert (ear["outcome"], ear["why"], ear["reasons"]) == (NOT_TESTED, [], [BECAUSE.to_record()])
    assert (ear["retest_difference_db"], ear["confirmed"]) == (None, [])
    for threshold in ear["thresholds"]:
        assert threshold["mark"] == Outcome.NOT_TESTED
        assert {threshold[name] for name in NUMBERS} == {None}
    assert ear["tones"] > 10, "how many tones there were is told"


def test_what_is_told_can_be_read_again_and_told_again() -> None:
    told = as_told(result_with(NOT_TESTED, VALID), Settings(), nominal=True)
    assert as_told(told, Settings(), nominal=True) == told
    assert told.by_route[Route("right")].pta4 is told.by_route[Route("left")].pta4 is None
    assert SessionResult.from_record(told.to_record()) == told


@pytest.mark.parametrize("verdict", [NOT_JUDGED, DOUBTFUL, NOT_TESTED])
def test_no_mean_and_no_grade_without_a_valid_test(verdict: Verdict) -> None:
    both, one, none = (
        as_told(result_with(*verdicts), Settings(), nominal=False)
        for verdicts in ((VALID, VALID), (verdict, VALID), (verdict, verdict))
    )
    assert person_grade(both) is not None
    assert (one.by_route[Route("right")].pta4, person_grade(one)) == (None, None)
    assert one.by_route[Route("left")].pta4 is not None
    assert [ear.pta4 for ear in none.ears] == [None, None]


def test_a_test_under_way_shows_its_bands_and_is_not_judged() -> None:
    recorded = result_with(NOT_TESTED, DOUBTFUL)
    told = so_far(recorded, nominal=False)
    assert {(ear.verdict, ear.reasons) for ear in told.ears} == {(NOT_JUDGED, ())}
    for ear, before in zip(told.ears, recorded.ears, strict=True):
        assert (ear.thresholds, ear.outcome) == (before.thresholds, before.outcome)
        assert not may_conclude(ear)
