"""What is false in a result, and who sits in the rows that are judged by it."""

import math
from dataclasses import replace
from typing import Any

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.listener import Ear
from firmware_py.ear.mean_threshold import GRADES_DB_HL
from firmware_py.terms.outcomes import Bound, MaskingMark, Outcome, Verdict
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.results import EarResult, MeanThreshold, SessionResult, ThresholdResult
from firmware_py.terms.route import Route
from host_tools.research.study.robustness import SessionFound, read_off
from host_tools.research.study.robustness_cases import BY_NAME
from host_tools.research.study.robustness_judged import (
    compare_with_truth,
    false_statements,
    inferred_far_off,
    is_valid,
)
from host_tools.research.study.robustness_sessions import ears_of_case, run_unit
from tests.host.research.study.ears import unit_of


def flat(threshold_db_hl: float) -> Audiogram:
    return Audiogram((1000.0,), (threshold_db_hl,))


def threshold(
    said_db_hl: float = 40.0, half_width_db: float = 5.0, mark: Outcome = Outcome.MEASURED,
    **more: Any,
) -> ThresholdResult:  # fmt: skip
    low, high = said_db_hl - half_width_db, said_db_hl + half_width_db
    return ThresholdResult(1000, mark, said_db_hl, 3.0, low, high, None, **more)


def beyond(mark: Outcome, limit_db_hl: float) -> ThresholdResult:
    return ThresholdResult(1000, mark, None, None, None, None, limit_db_hl)


def ear_result(each: ThresholdResult, ear: str = "right", **more: Any) -> EarResult:
    return EarResult(
        Route(ear), Outcome.MEASURED, (), [each], 20, 10, 0, 0, 0, 0, None, 0.0, **more
    )


def session(*ears: EarResult) -> SessionResult:
    return SessionResult("complete", ears, 20, 0, None, ())


def mean(grade: str, level_db_hl: float, bound: Bound = Bound.NONE) -> MeanThreshold:
    shares = tuple(float(each == grade) for each in GRADES_DB_HL)
    doubtful_hz = (1000,) if bound == Bound.AT_LEAST else ()
    low_db_hl, high_db_hl = level_db_hl - 1.0, level_db_hl + 1.0
    return MeanThreshold(level_db_hl, low_db_hl, high_db_hl, bound, shares, doubtful_hz=doubtful_hz)


def false_of(
    each: ThresholdResult, true_db_hl: float, grade: str = "", other_db_hl: float | None = None,
    **more: Any,
) -> list[str]:  # fmt: skip
    """What is false of a right ear alone; its grade is the true one, if nothing is said."""
    right = flat(true_db_hl)
    truths: dict[Ear, Audiogram] = {
        "right": right, "left": right if other_db_hl is None else flat(other_db_hl),
    }  # fmt: skip
    true = max(
        (g for g in GRADES_DB_HL if GRADES_DB_HL[g] <= true_db_hl), key=[*GRADES_DB_HL].index
    )
    bound = Bound.AT_LEAST if each.masking == MaskingMark.UNCERTAIN else Bound.NONE
    pta4 = mean(grade or true, 40.0, bound)
    return list(false_statements(session(ear_result(each, pta4=pta4, **more)), truths))


class TestFalseStatements:
    @pytest.mark.parametrize(
        ("found", "true_db_hl", "false"),
        [
            (threshold(40, 5), 50.0, []),
            (threshold(40, 5), 51.0, ["right 1000 Hz: measured 40 dB HL, true 51"]),
            (threshold(40, 5), 29.0, ["right 1000 Hz: measured 40 dB HL, true 29"]),
            (threshold(40, 12), 51.0, []),
            (threshold(40, 21), 40.0, ["right 1000 Hz: measured to +-21 dB"]),
            (threshold(40, 5, Outcome.INFERRED), 80.0, []),
            (beyond(Outcome.NO_RESPONSE, 100.0), 95.0, []),
            (
                beyond(Outcome.NO_RESPONSE, 100.0), 94.0,
                ["right 1000 Hz: no response at 100 dB HL, true 94"],
            ),
            (beyond(Outcome.NO_RESPONSE, 100.0), math.inf, []),
            (beyond(Outcome.HEARS_ALL, -10.0), -5.0, []),
            (
                beyond(Outcome.HEARS_ALL, -10.0), -4.0,
                ["right 1000 Hz: heard at -10 dB HL, true -4"],
            ),
            (beyond(Outcome.INCOMPLETE, 100.0), 0.0, []),
        ],
    )  # fmt: skip
    def test_a_threshold_is_false_if_it_is_far_off_or_falsely_beyond_a_limit(
        self, found: ThresholdResult, true_db_hl: float, false: list[str]
    ) -> None:
        assert false_of(found, true_db_hl) == false

    @pytest.mark.parametrize("verdict", [Verdict.DOUBTFUL, Verdict.NOT_TESTED])
    def test_what_is_doubted_says_nothing_false(self, verdict: Verdict) -> None:
        assert false_of(threshold(40), 90.0, "mild")
        assert false_of(threshold(40), 90.0, "mild", verdict=verdict) == []
        assert is_valid(ear_result(threshold()))
        assert not is_valid(ear_result(threshold(), verdict=verdict))
        assert not is_valid(replace(ear_result(threshold()), outcome=Outcome.UNRELIABLE))

    def test_the_true_grade_has_to_be_given_something(self) -> None:
        assert false_of(threshold(40), 40.0, "severe") == ["right: grade moderate given 0.000"]

    def test_what_the_other_ear_may_have_heard_is_a_bound_where_the_ears_differ(self) -> None:
        bound = threshold(40, masking=MaskingMark.UNCERTAIN)

        assert false_of(bound, 90.0, "moderate", other_db_hl=0.0) == []
        assert false_of(bound, 90.0, "complete", other_db_hl=0.0) == [
            "right: grade profound given 0.000"
        ]
        assert false_of(bound, 20.0, "mild", other_db_hl=0.0) == [
            "right 1000 Hz: measured 40 dB HL, true 20"
        ]
        assert len(false_of(bound, 90.0, "moderate")) == 2, "the ears are alike: nothing crosses"
        assert len(false_of(threshold(40), 90.0, "moderate", other_db_hl=0.0)) == 2

    def test_a_person_has_the_grade_of_the_better_ear(self) -> None:
        truths: dict[Ear, Audiogram] = {"right": flat(40.0), "left": flat(10.0)}
        right = ear_result(threshold(40), pta4=mean("moderate", 40.0))
        left = ear_result(threshold(10), "left", pta4=mean("moderate", 39.0))

        assert list(false_statements(session(right, left), truths)) == [
            "left: grade normal given 0.000", "better ear: grade normal given 0.000",
        ]  # fmt: skip
        doubted = replace(left, verdict=Verdict.DOUBTFUL)
        assert list(false_statements(session(right, doubted), truths)) == []

    def test_a_supposition_that_is_far_off_is_counted_apart(self) -> None:
        truths: dict[Ear, Audiogram] = {"right": flat(80.0), "left": flat(80.0)}
        for mark, far in ((Outcome.INFERRED, True), (Outcome.MEASURED, False)):
            assert inferred_far_off(session(ear_result(threshold(40, 5, mark))), truths) == far


def test_remarks_on_masking_are_not_about_the_listener() -> None:
    truths: dict[Ear, Audiogram] = {"right": flat(40.0), "left": flat(40.0)}
    of_masking = reason(
        Code.MASKING_UNCERTAIN, ear="right", frequencies_hz=[500],
        why=reason(Code.NOT_MEASURED, ear="left"),
    )  # fmt: skip
    result = replace(session(ear_result(threshold(80))), remarks=(of_masking,))

    found = compare_with_truth(result, truths)
    assert found.remarks == ()
    assert found.confidently_wrong


def test_ears_of_everyday_are_normal_every_second_time() -> None:
    ears = ears_of_case(BY_NAME["silent-12-test"], 8, None)

    assert [ear.stratum for ear in ears] == ["normal", "standard"] * 4
    assert all(-5.0 <= level <= 15.0 for ear in ears[::2] for level in ear.thresholds_db_hl)


def test_a_row_tells_the_share_that_ends_well_and_the_families_apart() -> None:
    sessions = [
        SessionFound({}, {}, false_statements=("x",), seconds=50.0, family="sawtooth"),
        SessionFound({}, {}, seconds=70.0, family="tent"),
    ]
    rows = {row["what"]: row["found"] for row in read_off(BY_NAME["valid-odd-test"], sessions)}

    assert rows["ends well"] == rows["silently wrong"] == 0.5
    assert rows["anything but valid without a remark"] == 0.0
    assert rows["its upper 95 % bound"] == pytest.approx(2.706 / (2.0 + 2.706), abs=1e-3)
    assert rows["seconds, median"] == 60.0
    assert (rows["silently wrong: sawtooth"], rows["silently wrong: tent"]) == (1.0, 0.0)
    assert rows["silently wrong: island"] is None


def test_the_sessions_of_a_row_are_those_of_its_listener_and_its_ears() -> None:
    """An unheard shadow, a listener who is gone, another one: what rows are to show."""
    found = {}
    for name in ("silent-12-test", "conductive-off-test", "changed-14-test"):
        found[name] = run_unit(unit_of(name, ears=2))

    assert found["silent-12-test"].family == "normal"
    assert found["conductive-off-test"].family == "flat"
    assert [each.differ_db > 0.0 for each in found.values()] == [False, False, True]
    for each in found.values():
        assert each.seconds > 20.0


@pytest.mark.parametrize(("name", "named"), [("poorer-20-test", True), ("equal-2-test", False)])
def test_an_asymmetry_is_named_of_an_ear_that_is_poorer(name: str, named: bool) -> None:
    assert run_unit(unit_of(name)).asymmetric is named
