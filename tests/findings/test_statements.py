"""What may be said of an ear, by the verdict on its test and in which convention."""

from dataclasses import replace
from functools import cache
from typing import Final

import pytest

from device.simulator.hearing import SimulatedTest
from firmware_py.ear.mean_threshold import mean_threshold
from firmware_py.findings.convention import ear_in_convention, in_convention
from firmware_py.findings.grades import person_grade
from firmware_py.findings.statements import as_told, so_far
from firmware_py.terms.outcomes import WITH_NUMBERS, Outcome, Verdict
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.results import CLINICAL_OFFSET_DB, ConfirmedThreshold, SessionResult
from firmware_py.terms.route import Route
from firmware_py.terms.settings import CLINICAL_ASCENDING, FIFTY_PERCENT, Settings
from firmware_py.terms.verdicts import has_thresholds, may_conclude
from tests.firmware.whole_sessions import a_listener
from tests.host.journals import BOTH, GOLDEN, session_of

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


@pytest.mark.parametrize("name", ["both-ears-n3", "silent-ear", "disturbed"])
def test_in_the_clinical_convention_every_number_is_so_much_higher_and_no_limit_is(
    name: str,
) -> None:
    result = session_of(GOLDEN / f"{name}.journal").result
    assert in_convention(result, FIFTY_PERCENT) == result
    clinical = in_convention(result, CLINICAL_ASCENDING)
    for before, after in zip(result.ears, clinical.ears, strict=True):
        assert after.clinical_offset_db == before.clinical_offset_db == CLINICAL_OFFSET_DB
        for old, new in zip(before.thresholds, after.thresholds, strict=True):
            assert (old.mark, old.limit_db_hl, old.sd_db) == (new.mark, new.limit_db_hl, new.sd_db)
            if old.mark not in WITH_NUMBERS:
                assert new == old
                continue
            for field in ("threshold_db_hl", "low_db_hl", "high_db_hl"):
                above_db = getattr(new, field) - getattr(old, field)
                assert above_db == pytest.approx(before.clinical_offset_db)


def test_what_the_classical_rule_confirmed_is_clinical_already() -> None:
    (ear, _) = session_of(BOTH).result.ears
    again = (ConfirmedThreshold(1000, 45.0, Outcome.MEASURED, 9),)
    found = ear_in_convention(replace(ear, confirmed=again), CLINICAL_ASCENDING)
    assert found.confirmed == again
