"""A mean gap is that of both routes together, and doubt of a vibrator reaches both ears."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from device.simulator import head
from device.simulator.head import Vibrator
from firmware_py.findings.air_bone_gap import TYPE_HZ, LossType, gaps_of
from firmware_py.session.bone_conduction import BoneConduction
from firmware_py.terms.outcomes import Verdict
from firmware_py.terms.person import UNKNOWN
from firmware_py.terms.reasons import Code
from firmware_py.terms.results import MeanGap
from firmware_py.terms.route import BONE, Route
from tests.session.test_bone_conduction import LEFT, RIGHT, run


def test_the_mean_is_what_was_recorded_and_surer_than_its_frequencies() -> None:
    result = run(50.0, 30.0, gap_right=30.0, gap_left=2.0).test.result()

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
