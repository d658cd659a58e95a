"""A mean gap is that of both routes together, and doubt of a vibrator reaches both ears."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from device.simulator import head
from device.simulator.head import Vibrator
from firmware_py.findings.air_bone_gap import TYPE_HZ, LossType, gaps_of
from firmware_py.inference.mixture import bone_prior
from firmware_py.session.bone_conduction import BoneConduction
from firmware_py.terms import events, tells
from firmware_py.terms.outcomes import Outcome, Verdict
from firmware_py.terms.person import UNKNOWN
from firmware_py.terms.reasons import Code
from firmware_py.terms.results import MeanGap
from firmware_py.terms.route import BONE, Route
from tests.session.test_bone_conduction import LEFT, RIGHT, run


def test_the_mean_is_what_was_recorded_and_surer_than_its_frequencies() -> None:
    result = run(54.0, 30.0, gap_right=26.0, gap_left=2.0).test.result()

    for gaps in gaps_of(result):
        recorded = result.by_route[Route(gaps.ear, BONE)].gap
        assert recorded is not None
        assert gaps.mean is not None
        assert gaps.mean.db == pytest.approx(recorded.gap_db, abs=1e-4)
        low_db, high_db = gaps.mean.low_db or 0.0, gaps.mean.high_db or 0.0
        assert high_db - low_db == pytest.approx(2.0 * 1.96 * recorded.sd_db, rel=1e-3)
        each = [gap for gap in gaps.gaps if gap.frequencies_hz[0] in TYPE_HZ]
        assert all(high_db - low_db < (g.high_db or 0.0) - (g.low_db or 0.0) for g in each)
    right, left = gaps_of(result)
    assert (right.loss, right.loss_is_probable) == (LossType.MIXED, False)
    assert (left.loss, left.loss_is_probable) == (LossType.SENSORINEURAL, False)


def test_what_no_reader_recorded_is_told_by_both_routes_as_independent() -> None:
    result = run(50.0, 30.0, gap_right=30.0, gap_left=2.0).test.result()
    before = replace(result, ears=tuple(replace(ear, gap=None) for ear in result.ears))
    for now, then in zip(gaps_of(result), gaps_of(before), strict=True):
        assert now.mean is not None
        assert then.mean is not None
        assert now.mean.db == pytest.approx(then.mean.db, abs=3.0)
        width, wider = ((g.high_db or 0.0) - (g.low_db or 0.0) for g in (now.mean, then.mean))
        assert width < 0.75 * wider


@pytest.mark.parametrize(("gap_db", "poorer"), [(-6.0, "right"), (-5.8, "")])
def test_bone_that_is_surely_poorer_than_air_is_named(
    gap_db: float, poorer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an SD of 2 dB; -2 dB is what reference levels may be off."""
    monkeypatch.setattr(BoneConduction, "mean_gap", lambda *_: MeanGap(gap_db, 2.0))
    ears: dict[Route, Any] = {
        RIGHT: SimpleNamespace(route=RIGHT), Route("right"): SimpleNamespace(route=Route("right")),
    }  # fmt: skip

    assert BoneConduction(ears, UNKNOWN).poorer_than_air() == poorer


@pytest.mark.parametrize("tone", [1, 4])
def test_what_one_test_tells_of_the_vibrator_leaves_both_ears_in_doubt(
    monkeypatch: pytest.MonkeyPatch, tone: int
) -> None:
    """It slips while the better ear is asked, by bone tone 1 or 4; the other ear has a gap."""
    monkeypatch.setattr(head, "SLIP_DB", 12.0)
    usual = run(50.0, 10.0, gap_right=30.0)
    first = next(
        action.number for _, action in usual.log
        if isinstance(action, events.Play) and action.route.by_bone
    )  # fmt: skip
    assert {usual.test.result().by_route[each].verdict for each in (RIGHT, LEFT)} == {Verdict.VALID}

    vibrator = Vibrator(slips_at=first + tone - 1)
    result = run(50.0, 10.0, gap_right=30.0, vibrator=vibrator).test.result()
    for route in (RIGHT, LEFT):
        assert result.by_route[route].verdict in (Verdict.DOUBTFUL, Verdict.NOT_TESTED)
    assert gaps_of(result) == []


def test_the_better_ear_begins_and_the_poorer_one_has_noise_at_once() -> None:
    """Two places of the vibrator are enough, and no tone of the poorer ear is without noise."""
    test = run(50.0, 10.0, gap_right=30.0)
    told = [action.why for _, action in test.log if isinstance(action, tells.PlacingTold)]
    assert [(why.code, dict(why.parts)["ear"]) for why in told] == [
        (Code.PLACE_VIBRATOR, "left"), (Code.PLACE_VIBRATOR_COVERED, "right")
    ]  # fmt: skip
    masked = {a.number for _, a in test.log if isinstance(a, events.Mask)}
    plays = [a for _, a in test.log if isinstance(a, events.Play) and a.route == RIGHT]
    assert plays
    assert {play.number in masked for play in plays} == {True}


@pytest.mark.parametrize(("share", "felt"), [(0.05, []), (0.0501, [500, 1000])])
def test_what_was_felt_as_likely_as_one_in_twenty_is_perhaps_above(
    monkeypatch: pytest.MonkeyPatch, share: float, felt: list[int]
) -> None:
    test = run(50.0, 10.0, gap_right=30.0)
    monkeypatch.setattr(bone_prior, "felt_share", lambda *_: share)
    assert [f for f in test.test.cross_hearing.bone.felt_hz(RIGHT) if f not in {250, 750}] == felt


def test_a_loss_of_the_inner_ear_near_the_felt_levels_has_its_numbers() -> None:
    """A cochlea of 55 dB HL at 500 Hz is heard by both routes there: it was not felt."""
    by_air = run(55.0, 52.0).test.result()
    for route in (RIGHT, LEFT):
        low = next(t for t in by_air.by_route[route].thresholds if t.frequency_hz == 500)
        assert low.mark == Outcome.MEASURED


def test_a_vibrator_that_sits_too_weakly_leaves_both_ears_in_doubt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They seem to hear less by bone than by air."""
    monkeypatch.setattr(head, "SLIP_DB", 12.0)
    result = run(40.0, 30.0, vibrator=Vibrator(slips_at=1)).test.result()

    for route in (RIGHT, LEFT):
        ear = result.by_route[route]
        assert ear.verdict == Verdict.DOUBTFUL
        assert Code.BONE_POORER in [each.code for each in ear.reasons]
    assert gaps_of(result) == [], "nothing is compared that is in doubt"
