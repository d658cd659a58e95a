"""The band of the whole: its parts are those of the sources, and so is what they come to."""

from collections.abc import Mapping
from dataclasses import replace
from math import hypot
from typing import Any

import numpy as np
import pytest

from firmware_py.findings.asymmetry import asymmetries
from firmware_py.findings.whole_band import (
    BAND_SDS,
    FIT,
    NOMINAL,
    RHO,
    TYPE,
    USUAL,
    Part,
    Uncertainty,
    combined_db,
    sd_of_mean_db,
)
from firmware_py.terms.outcomes import Bound, MaskingMark, Outcome
from firmware_py.terms.results import (
    PTA4_FREQUENCIES_HZ,
    EarResult,
    MeanThreshold,
    SessionResult,
    ThresholdResult,
)
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, BONE, Route
from firmware_py.terms.settings import CLINICAL_ASCENDING

RIGHT, BY_BONE = Route("right"), Route("right", BONE)


def a_threshold(frequency_hz: int = 1000, **more: Any) -> ThresholdResult:
    """Return one at 30 dB HL, whose band reaches 5.7 dB to either side."""
    found = ThresholdResult(frequency_hz, Outcome.MEASURED, 30.0, 2.9, 24.3, 35.7, None)
    return replace(found, **more)


def an_ear(
    at_db_hl: float | Mapping[int, float] = 30.0, ear: str = "right", **of_mean: Any
) -> EarResult:
    """Return one with thresholds and their mean at a level, or at one by frequency."""
    if not isinstance(at_db_hl, Mapping):
        at_db_hl = dict.fromkeys(AUDIOGRAM_FREQUENCIES_HZ, at_db_hl)
    thresholds = tuple(
        a_threshold(f, threshold_db_hl=level, low_db_hl=level - 5.7, high_db_hl=level + 5.7)
        for f, level in at_db_hl.items()
    )
    level_db_hl = sum(at_db_hl[f] for f in PTA4_FREQUENCIES_HZ) / len(PTA4_FREQUENCIES_HZ)
    shares = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    told = {"low_db_hl": level_db_hl - 3.0, "high_db_hl": level_db_hl + 3.0, "bound": Bound.NONE}
    mean = MeanThreshold(level_db_hl, shares=shares, **{**told, **of_mean})
    return EarResult(
        Route(ear), Outcome.MEASURED, (), thresholds, 30, 15, 0, 3, 0, 0, None, 2.8, pta4=mean
    )


def a_session(*ears: EarResult) -> SessionResult:
    return SessionResult("complete", ears, 60, 0, 400.0, ())


def test_table_a_2_of_iso_8253_1_comes_out() -> None:
    """Repetition stands for the answers; equipment and room are those of the standard."""
    table = {
        Part.ANSWERS: 2.5, Part.CALIBRATION: 2.3, Part.FIT: FIT.at(1000.0),
        Part.TYPE: TYPE.at(1000.0), Part.ROOM: 2.0,
    }  # fmt: skip
    u_db = combined_db(table)

    assert u_db == pytest.approx(4.9, abs=0.05)
    assert round(2.0 * u_db) == 10


@pytest.mark.parametrize(
    ("route", "frequency_hz", "more", "sd_db"),
    [
        (RIGHT, 1000, {}, hypot(2.5, 1.8, 1.8, 1.5)),
        (RIGHT, 4000, {}, hypot(2.5, 1.8, 1.8, 1.5)),
        (RIGHT, 6000, {}, hypot(3.0, 2.6, 2.9, 2.5)),
        (BY_BONE, 1000, {}, hypot(2.5, 1.8, 2.3, 1.5)),
        (RIGHT, 1000, {"masked": True}, hypot(2.5, 1.8, 1.8, 1.5, 2.0)),
    ],
)
def test_what_lies_beside_the_answers(
    route: Route, frequency_hz: int, more: dict[str, bool], sd_db: float
) -> None:
    assert combined_db(USUAL.beside(route, frequency_hz, **more)) == pytest.approx(sd_db)


def test_a_stated_calibration_takes_the_place_of_the_usual_and_a_known_room_counts() -> None:
    stated = Uncertainty(0.5, room_known=True).beside(RIGHT, 8000)
    usual = USUAL.beside(RIGHT, 8000)

    assert (usual[Part.CALIBRATION], stated[Part.CALIBRATION]) == (2.9, 0.5)
    assert (Part.ROOM in usual, stated[Part.ROOM]) == (False, 0.35)


def test_the_band_reaches_as_far_as_answers_and_all_else_together() -> None:
    whole = USUAL.of(RIGHT, a_threshold(low_db_hl=22.3, high_db_hl=33.7))
    assert whole is not None
    assert (whole.low_db_hl, whole.high_db_hl) == pytest.approx((28.0 - 9.45, 28.0 + 9.45), abs=0.1)
    assert whole.sd_db == pytest.approx(9.45 / BAND_SDS, abs=0.05)
    assert whole.largest == Part.ANSWERS

    narrow = USUAL.of(RIGHT, a_threshold(low_db_hl=28.0, high_db_hl=32.0))
    assert narrow is not None
    assert narrow.largest == Part.FIT
    assert USUAL.of(RIGHT, a_threshold().without_numbers(Outcome.NO_RESPONSE)) is None


@pytest.mark.parametrize("route", [RIGHT, BY_BONE])
@pytest.mark.parametrize("frequency_hz", [1000, 8000])
def test_only_answers_and_a_stated_calibration_are_more_than_the_fit(
    route: Route, frequency_hz: int
) -> None:
    """So no paper has words for another."""
    exact, known = a_threshold(frequency_hz, low_db_hl=30.0, high_db_hl=30.0), {"room_known": True}
    exact = replace(exact, masking=MaskingMark.MASKED)
    for uncertainty, largest in (
        (Uncertainty(**known), Part.FIT), (Uncertainty(5.0, **known), Part.CALIBRATION)
    ):  # fmt: skip
        whole = uncertainty.of(route, exact)
        assert whole is not None
        assert {*whole.parts} == {*Part}
        assert whole.largest == largest


def test_beside_the_answers_nothing_is_known_of_nominal_levels() -> None:
    ear = an_ear()
    assert [NOMINAL.of(RIGHT, t) for t in ear.thresholds] == [None] * len(ear.thresholds)
    assert NOMINAL.of_mean(ear) is None
    assert NOMINAL.graded(a_session(ear)) == a_session(ear)
    assert NOMINAL.covariance_db2(RIGHT, ear.thresholds[:2]) == [[0.0, 0.0], [0.0, 0.0]]


def test_a_band_of_the_whole_goes_no_further_than_the_limits() -> None:
    shown = USUAL.shown(RIGHT, a_threshold(floor_db_hl=-10.0, ceiling_db_hl=37.0))
    assert (shown.high_db_hl, shown.low_open, shown.high_open) == (37.0, False, True)


@pytest.mark.parametrize("rho", [0.0, RHO, 1.0])
def test_the_sd_of_a_mean_is_that_of_numbers_that_vary_together(rho: float) -> None:
    sds = np.array([1.8, 2.5, 2.9, 2.6])
    covariance = np.outer(sds, sds) * (rho + (1.0 - rho) * np.eye(4))
    assert sd_of_mean_db(sds.tolist(), rho) == pytest.approx(np.sqrt(covariance.sum()) / 4.0)


def test_the_mean_of_four_shares_its_parts_and_the_covariance_says_the_same() -> None:
    ear = an_ear()
    masked = replace(ear.thresholds[0], masking=MaskingMark.MASKED)
    four = [t for t in (masked, *ear.thresholds[1:]) if t.frequency_hz in PTA4_FREQUENCIES_HZ]
    ear = replace(ear, thresholds=tuple(four))
    whole = USUAL.of_mean(ear)
    assert whole is not None
    covariance = np.array(USUAL.covariance_db2(RIGHT, four))
    beside: dict[Part, float] = {**whole.parts}
    del beside[Part.ANSWERS]

    assert combined_db(beside) == pytest.approx(np.sqrt(covariance.sum()) / 4.0)
    assert whole.sd_db == pytest.approx(hypot(3.0 / BAND_SDS, combined_db(beside)))
    assert whole.high_db_hl == pytest.approx(30.0 + BAND_SDS * whole.sd_db, abs=1e-4)


def test_a_mean_that_is_a_bound_stays_open() -> None:
    whole = USUAL.of_mean(an_ear(bound=Bound.AT_LEAST, high_db_hl=None))
    assert whole is not None
    assert whole.high_db_hl is None
    assert whole.low_db_hl == pytest.approx(30.0 - BAND_SDS * whole.sd_db, abs=1e-4)


def test_grades_are_as_likely_as_the_whole_makes_them_in_either_convention() -> None:
    """The mean of clinical thresholds lies at 35, between mild and moderate."""
    result = a_session(an_ear(32.2))
    (ear,), (again,) = USUAL.graded(result).ears, USUAL.graded(USUAL.graded(result)).ears
    clinical = a_session(an_ear(35.0))
    assert ear.pta4 is not None
    assert ear.pta4.shares[1:3] == pytest.approx((0.5, 0.5), abs=0.01)
    assert USUAL.graded(clinical, CLINICAL_ASCENDING).ears[0].pta4.shares == ear.pta4.shares  # type: ignore[union-attr]
    assert again.pta4 == ear.pta4, "the shares that are recorded count for nothing"


def test_an_asymmetry_is_sure_only_by_the_whole() -> None:
    ears = an_ear(20.0), an_ear(45.0, "left")
    (found,) = asymmetries(a_session(*ears))
    (exact,) = asymmetries(a_session(*ears), None, Uncertainty(0.2))
    beside = USUAL.beside(RIGHT, 4000)
    del beside[Part.DAY]
    half_db = BAND_SDS * hypot(2.9, 2.9, combined_db(beside), combined_db(beside))

    assert found.differences[0].half_width_db == pytest.approx(half_db)
    assert exact.differences[0].half_width_db < half_db - 1.0
    assert not found.sure
