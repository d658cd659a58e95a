"""Air-bone gaps are those of sampled thresholds, and types of loss those of the published rule."""

from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from firmware_py.findings.air_bone_gap import (
    ALIKE_SD_DB,
    TYPE_HZ,
    EarGaps,
    Gap,
    LossType,
    gaps_of,
    may_be_airborne,
)
from firmware_py.inference.mixture.gap_prior import GapPrior
from firmware_py.terms.outcomes import Bound, MaskingMark, Outcome, SessionOutcome, Verdict
from firmware_py.terms.results import EarResult, MeanGap, SessionResult, ThresholdResult
from firmware_py.terms.route import BONE, Route

OFFSET_DB = 2.8
HEARS_ALL, INCOMPLETE, DEAF = Outcome.HEARS_ALL, Outcome.INCOMPLETE, Outcome.NO_RESPONSE
Levels = dict[int, float]


def ear(ear_name: str, transducer: str, levels_db_hl: Levels, sd_db: float = 3.0) -> EarResult:
    route = Route(ear_name, transducer)
    thresholds = tuple(
        ThresholdResult(
            f, Outcome.MEASURED, level, sd_db, level - 1.96 * sd_db, level + 1.96 * sd_db, None,
            MaskingMark.NOT_MASKED, floor_db_hl=-10.0, ceiling_db_hl=100.0,
        )
        for f in route.kind.frequencies_hz
        for level in [levels_db_hl.get(f, levels_db_hl[0])]
    )  # fmt: skip
    return EarResult(route, Outcome.MEASURED, (), thresholds, 20, 10, 0, 0, 0, 0, None, OFFSET_DB)


def air(levels_db_hl: Levels) -> EarResult:
    return ear("right", "air", levels_db_hl)


def bone(levels_db_hl: Levels) -> EarResult:
    return ear("right", BONE, levels_db_hl, sd_db=4.0)


def session(*ears: EarResult) -> SessionResult:
    return SessionResult(SessionOutcome.COMPLETE, ears, 60, 0, 400.0, ())


def ear_gaps(by_air: EarResult, by_bone: EarResult) -> EarGaps:
    (found,) = gaps_of(session(by_air, by_bone))
    return found


def mean_of(found: EarGaps) -> Gap:
    assert found.mean is not None
    return found.mean


def gap_at(found: EarGaps, hz: int) -> Gap:
    (gap,) = (each for each in found.gaps if each.frequencies_hz == (hz,))
    return gap


def mark(found: EarResult, at_hz: int, **changed: Any) -> EarResult:
    """Return an ear with one frequency changed."""
    thresholds = [t if t.frequency_hz != at_hz else replace(t, **changed) for t in found.thresholds]
    return replace(found, thresholds=tuple(thresholds))


def doubted(found: EarResult, at_hz: int) -> EarResult:
    return mark(found, at_hz, masking=MaskingMark.UNCERTAIN)


def beyond(found: EarResult, at_hz: int, outcome: Outcome, limit_db_hl: float) -> EarResult:
    none = dict.fromkeys(("threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl"))
    return mark(found, at_hz, mark=outcome, limit_db_hl=limit_db_hl, **none)


@pytest.mark.parametrize(
    ("by_air", "by_bone", "loss"),
    [
        # Mazzoli et al. 2003, of clinical thresholds, which lie 2.8 dB above these.
        ({0: 45.0}, {0: 40.0}, LossType.SENSORINEURAL),
        ({0: 5.0}, {0: 2.0}, LossType.SENSORINEURAL),
        ({0: 45.0}, {0: 30.1}, LossType.SENSORINEURAL),
        ({0: 45.0}, {0: 29.9}, LossType.MIXED),
        ({0: 45.0}, {0: 10.0}, LossType.CONDUCTIVE),
        ({0: 60.0}, {0: 17.1}, LossType.CONDUCTIVE),
        ({0: 60.0}, {0: 17.3}, LossType.MIXED),
        # 4 kHz is not looked at, nor any frequency alone.
        ({0: 20.0, 4000: 60.0}, {0: 18.0, 4000: 30.0}, LossType.SENSORINEURAL),
        ({0: 30.0, 500: 45.0}, {0: 10.0, 500: 10.0}, LossType.CONDUCTIVE),
        ({0: 20.0, 500: 45.0}, {0: 15.0, 500: 10.0}, LossType.SENSORINEURAL),
        # A vibrator that slipped before the first tone: no other sign of it is left.
        ({0: 50.0}, {0: 68.0}, LossType.UNKNOWN),
        ({0: 50.0}, {0: 61.0}, LossType.SENSORINEURAL),  # the band ends at -1.2 dB
        ({0: 50.0}, {0: 53.0}, LossType.SENSORINEURAL),
    ],
)
def test_the_type_of_loss_is_that_of_the_published_rule(
    by_air: Levels, by_bone: Levels, loss: LossType
) -> None:
    found = ear_gaps(air(by_air), bone(by_bone))

    assert found.loss == loss
    assert found.bone_is_poorer == found.to_record()["bone_is_poorer"] == (loss == LossType.UNKNOWN)
    at = [(by_air.get(f, by_air[0]), by_bone.get(f, by_bone[0])) for f in TYPE_HZ]
    assert mean_of(found).db == pytest.approx(sum(a - b for a, b in at) / 3.0, abs=1e-3)


def test_6_khz_is_told_and_counts_in_no_mean_and_no_type() -> None:
    """The vibrator may have been heard through the air there."""
    by_air, to_4_khz = air({0: 30.0}), bone({0: 25.0})
    (*_, at_4_khz) = to_4_khz.thresholds
    more = replace(at_4_khz, frequency_hz=6000, threshold_db_hl=-5.0, low_db_hl=-13, high_db_hl=3)
    to_6_khz = replace(to_4_khz, thresholds=(*to_4_khz.thresholds, more))
    before, found = ear_gaps(by_air, to_4_khz), ear_gaps(by_air, to_6_khz)

    assert gap_at(found, 6000).is_called
    assert may_be_airborne(6000)
    assert replace(found, gaps=before.gaps) == before
    assert found.examined_hz == before.examined_hz == []


def test_a_gap_has_the_band_and_the_share_of_a_difference() -> None:
    found = ear_gaps(air({0: 50.0}), bone({0: 33.0}))

    at_hz = (250, 500, 750, 1000, 1500, 2000, 3000, 4000)
    assert [gap.frequencies_hz for gap in found.gaps] == [(f,) for f in at_hz]
    assert mean_of(found).frequencies_hz == TYPE_HZ
    sd_db = 5.0  # of 3 and 4 dB
    for gap in (*found.gaps, mean_of(found)):
        assert gap.db == pytest.approx(17.0, abs=1e-4)
        assert gap.high_db == pytest.approx(17.0 + norm.ppf(0.975) * sd_db, abs=1e-3)
        assert gap.low_db == pytest.approx(17.0 - norm.ppf(0.975) * sd_db, abs=1e-3)
        assert gap.share == pytest.approx(norm.sf(15.0, 17.0, sd_db), abs=1e-4)
        assert gap.bound == Bound.NONE


def test_what_lies_beyond_a_limit_makes_the_gap_a_bound_that_tells_no_probability() -> None:
    right, its_bone = air({0: 50.0}), bone({0: 33.0})
    cases = [
        (beyond(right, 1000, DEAF, 100.0), its_bone, 67.0, Bound.AT_LEAST),
        (beyond(right, 1000, HEARS_ALL, -10.0), its_bone, -43.0, Bound.AT_MOST),
        (right, beyond(its_bone, 1000, DEAF, 75.0), -25.0, Bound.AT_MOST),
        (right, beyond(its_bone, 1000, HEARS_ALL, -10.0), 60.0, Bound.AT_LEAST),
        (doubted(right, 1000), its_bone, 17.0, Bound.AT_LEAST),
        (right, doubted(its_bone, 1000), 17.0, Bound.AT_MOST),
    ]
    for one, other, db, bound in cases:
        found = ear_gaps(one, other)
        gap = gap_at(found, 1000)
        # Clinical thresholds are higher; limits are levels that were played.
        assert gap.db == pytest.approx(db, abs=OFFSET_DB + 1e-3)
        assert gap.bound == mean_of(found).bound == bound
        assert (gap.low_db is None) == (bound == Bound.AT_MOST)
        assert (gap.high_db is None) == (bound == Bound.AT_LEAST)
        assert gap.is_called == (bound == Bound.AT_LEAST)
        told = found.to_record()
        unsaid = [each["frequencies_hz"] for each in told["gaps"] if each["share"] is None]
        assert (unsaid, told["mean"]["share"]) == ([(1000,)], None)

    # What may lie on either side is not known, nor are small gaps beside it any reason to call it.
    right = air({0: 45.0})
    found = ear_gaps(beyond(right, 1000, DEAF, 100.0), beyond(its_bone, 1000, DEAF, 75.0))
    assert 1000 not in {gap.frequencies_hz[0] for gap in found.gaps}
    assert (found.mean, found.loss, found.examined_hz) == (None, LossType.UNKNOWN, [])


def test_what_perhaps_lies_beyond_a_limit_by_air_is_a_bound_below_it() -> None:
    perhaps = beyond(air({0: 50.0}), 1000, INCOMPLETE, 100.0)

    found, small = (ear_gaps(perhaps, bone({0: level})) for level in (33.0, 50.0))

    gap, mean = gap_at(found, 1000), mean_of(found)
    least_db = 100.0 - 8.0 - (33.0 + OFFSET_DB)
    assert gap.bound == mean.bound == Bound.AT_LEAST
    assert gap.db == pytest.approx(least_db, abs=1e-3)
    assert mean.db == pytest.approx((17.0 + 17.0 + least_db) / 3.0, abs=1e-3)
    assert mean.is_called
    assert not mean_of(small).is_called, "13 dB at least"
    assert small.loss == LossType.UNKNOWN


def test_what_the_skin_may_have_felt_is_a_bound_below_which_it_began() -> None:
    limits = (beyond(bone({0: 55.0}), 500, INCOMPLETE, limit) for limit in (40.0, 100.0))
    found, unknown = (ear_gaps(air({0: 60.0}), each) for each in limits)

    gap = gap_at(found, 500)
    assert gap.bound == Bound.AT_MOST
    assert gap.db == pytest.approx(60.0 + OFFSET_DB - (40.0 - 8.0), abs=1e-3)
    assert found.loss == LossType.SENSORINEURAL, "11 dB in the mean at most"
    assert 500 not in {gap.frequencies_hz[0] for gap in unknown.gaps}
    assert unknown.loss == LossType.UNKNOWN


@pytest.mark.parametrize(
    ("by_air", "by_bone", "loss"),
    [
        # The other ear may have heard the vibrator: the gap there may be none.
        (air({0: 60.0}), doubted(bone({0: 40.0}), 1000), LossType.UNKNOWN),
        (air({0: 60.0}), doubted(bone({0: 55.0}), 1000), LossType.SENSORINEURAL),
        # It may have heard the tones by air: the gap may be larger.
        (doubted(air({0: 60.0}), 1000), bone({0: 30.0}), LossType.MIXED),
        (doubted(air({0: 60.0}), 1000), bone({0: 55.0}), LossType.UNKNOWN),
        # Of a gap that is called it is told where bone lies on one side of 20 dB only.
        (air({0: 70.0}), doubted(bone({0: 30.0}), 500), LossType.MIXED),
        (air({0: 70.0}), doubted(bone({0: 5.0}), 500), LossType.UNKNOWN),  # 5 dB and more
        (air({0: 45.0}), beyond(bone({0: 5.0}), 500, HEARS_ALL, -10.0), LossType.CONDUCTIVE),
        (air({0: 45.0}), beyond(bone({0: 45.0}), 500, HEARS_ALL, -10.0), LossType.UNKNOWN),  # 29
        # Nothing is known of it at 500 Hz.
        (air({0: 70.0}), beyond(bone({0: 5.0}), 500, INCOMPLETE, 100.0), LossType.UNKNOWN),
    ],
)
def test_a_bound_tells_a_type_only_on_its_own_side(
    by_air: EarResult, by_bone: EarResult, loss: LossType
) -> None:
    assert ear_gaps(by_air, by_bone).loss == loss


def test_two_frequencies_are_enough_for_a_gap_that_is_large_there() -> None:
    felt = beyond(bone({0: 22.0}), 500, INCOMPLETE, 40.0)
    either = doubted(bone({0: 22.0}), 500)
    beyond_air = beyond(air({0: 60.0}), 500, INCOMPLETE, 100.0)
    for by_air, by_bone in ((air({0: 60.0}), felt), (air({0: 60.0}), either), (beyond_air, either)):
        mean = mean_of(ear_gaps(by_air, by_bone))

        # 38 dB at 1 and 2 kHz, of 5 dB SD, and none at 500 Hz.
        assert (mean.frequencies_hz, mean.bound) == (TYPE_HZ, Bound.AT_LEAST)
        assert mean.is_called
        mean_db, sd_db = 38.0 * 2.0 / 3.0, 5.0 * 2.0 / 3.0
        assert mean.db == pytest.approx(mean_db, abs=1e-3)
        assert mean.share == pytest.approx(norm.sf(15.0, mean_db, sd_db), abs=1e-4)
        assert mean.low_db == pytest.approx(mean_db - norm.ppf(0.975) * sd_db, abs=1e-3)
        assert mean.high_db is None

    for small in (bone({0: 40.0}), bone({0: 60.0})):  # 13.3 dB, and none
        mean = mean_of(ear_gaps(air({0: 60.0}), doubted(small, 500)))
        assert (mean.bound, mean.is_called) == (Bound.AT_MOST, False)


def test_a_gap_where_tones_may_be_felt_is_inferred_from_the_others() -> None:
    """As much larger than usual as at 1, 2 and 4 kHz, and never more than it can be."""
    felt = beyond(bone({0: 30.0}), 500, INCOMPLETE, 40.0)
    small = beyond(bone({0: 50.0}), 500, INCOMPLETE, 40.0)
    by_air = air({0: 51.0, 4000: 60.0})

    found = ear_gaps(by_air, felt)
    mean, none = mean_of(found), mean_of(ear_gaps(by_air, small))
    known = mean_of(ear_gaps(by_air, doubted(felt, 2000)))
    usual_db = GapPrior.usual().usual_db
    measured = {gap.frequencies_hz[0]: gap.db for gap in found.gaps if gap.bound == Bound.NONE}
    above_db = np.mean([measured[hz] - usual_db(hz) for hz in (1000, 2000, 4000)])
    alike_db = usual_db(500) + above_db

    assert mean.db == pytest.approx((measured[1000] + measured[2000] + alike_db) / 3.0, abs=1e-3)
    assert mean.is_called
    assert (mean.bound, mean.inferred_hz) == (Bound.NONE, (500,))
    ends: list[Any] = [mean.low_db, mean.db, mean.high_db]
    assert ends == sorted({*ends})
    assert ends[2] - ends[0] > (3.0 + ALIKE_SD_DB / 3.0) * 2.0, "wider than what is known"
    assert 500 not in {hz for gap in found.gaps if gap.inferred_hz for hz in gap.frequencies_hz}
    assert not none.is_called
    assert none.inferred_hz == (), "what is at most something is told as that"
    assert not known.is_called, "where the other ear may have heard it, it counts as none"


def test_nothing_is_inferred_of_an_ear_whose_own_bone_was_measured_nowhere() -> None:
    felt = beyond(bone({0: 20.0}), 500, INCOMPLETE, 40.0)
    felt = reduce(doubted, felt.route.kind.frequencies_hz[2:], felt)
    mean = mean_of(ear_gaps(air({0: 90.0}), felt))
    assert (mean.bound, mean.is_called) == (Bound.AT_MOST, False)


def test_what_was_inferred_is_named() -> None:
    inferred = mark(bone({0: 33.0}), 500, mark=Outcome.INFERRED, masking=None)
    found = ear_gaps(air({0: 50.0}), inferred)
    assert mean_of(found).inferred_hz == (500,)
    assert [gap.inferred_hz for gap in found.gaps] == [()] + [(500,)] + [()] * 6


def test_what_follows_from_doubtful_answers_is_a_bound_too() -> None:
    for beside_hz in (500, 1000):
        by_bone = doubted(bone({0: 20.0}), beside_hz)
        found = ear_gaps(air({0: 90.0}), mark(by_bone, 750, mark=Outcome.INFERRED, masking=None))

        bounds = {gap.frequencies_hz[0]: gap.bound for gap in found.gaps}
        at_most = [f for f, bound in bounds.items() if bound == Bound.AT_MOST]
        assert at_most == sorted([beside_hz, 750])
        assert not {*at_most} & {*found.impossible_hz}
    surely = mark(bone({0: 5.0}), 750, mark=Outcome.INFERRED, masking=None)
    other = ear_gaps(air({0: 90.0}), surely)
    assert 750 not in other.impossible_hz, "nothing was asked there"
    assert 1000 in other.impossible_hz


LARGE = bone({0: 15.0})


@pytest.mark.parametrize(
    ("by_bone", "examined_hz"),
    [
        (bone({0: 50.0}), [500, 1000, 2000]),
        (bone({0: 69.0, 500: 50.0, 1000: 50.0, 2000: 50.0}), [500, 1000, 2000]),
        (bone({0: 50.0, 1000: 56.0}), []),
        # Where one frequency is not known, and the mean is large.
        (doubted(LARGE, 500), [1000, 2000]),  # 55 dB at most
        (beyond(LARGE, 500, INCOMPLETE, 40.0), [1000, 2000]),
        (mark(LARGE, 500, threshold_db_hl=None, sd_db=None, mark=INCOMPLETE), [1000, 2000]),
        (bone({0: 15.0, 500: 68.0}), []),
    ],
)
def test_an_examination_is_due_with_a_gap_wherever_it_is_known(
    by_bone: EarResult, examined_hz: list[int]
) -> None:
    found = ear_gaps(air({0: 70.0}), by_bone)
    assert mean_of(found).is_called
    assert found.to_record()["examined_hz"] == found.examined_hz == examined_hz


def test_a_gap_larger_than_any_conductive_loss_is_named_and_no_type_of_loss_rests_on_it() -> None:
    at_type, elsewhere = air({0: 60.0, 500: 90.0}), air({0: 60.0, 3000: 90.0})
    bound = beyond(air({0: 60.0}), 500, DEAF, 100.0)

    assert ear_gaps(air({0: 68.0}), bone({0: 5.0})).impossible_hz == []
    for each in (at_type, bound):
        found = ear_gaps(each, bone({0: 5.0}))
        assert found.loss == LossType.UNKNOWN
        assert found.impossible_hz == [500]
        assert found.examined_hz == [1000, 2000], "(55 + 55) / 3 dB and more in the mean"
        assert mean_of(found).db == pytest.approx(110.0 / 3.0, abs=1e-3)
        shares = [gap["share"] for gap in found.to_record()["gaps"]]
        assert shares[1] is found.to_record()["mean"]["share"] is None
        assert shares[0] is not None
    found = ear_gaps(elsewhere, bone({0: 5.0}))
    assert found.impossible_hz == [3000]
    assert found.loss == LossType.CONDUCTIVE
    assert found.to_record()["mean"]["share"] is not None


@pytest.mark.parametrize("others_db_hl", [5.0, 20.0, 27.0])
def test_an_impossible_gap_alone_makes_no_examination_due(others_db_hl: float) -> None:
    """With it the mean would be 28 dB and more: of 22 dB at two frequencies it is 15 at least."""
    found = ear_gaps(air({0: others_db_hl, 1000: 90.0}), bone({0: 5.0}))
    assert (found.loss, found.examined_hz, found.mean) == (LossType.UNKNOWN, [], None)
    assert found.impossible_hz == [1000]


def test_of_a_mean_that_no_ear_has_nothing_follows() -> None:
    """By both routes together it is surer than the gaps at 0.5, 1 and 2 kHz, 57 to 77 dB."""
    by_air, by_bone = air({0: 72.0}), bone({0: 5.0})
    for sd_db, is_possible in ((3.0, False), (4.0, True)):
        known = replace(by_bone, gap=MeanGap(67.0, sd_db))
        found = ear_gaps(by_air, known)
        assert (found.loss == LossType.CONDUCTIVE) is is_possible
        assert found.examined_hz == [*TYPE_HZ] * is_possible
        assert found.impossible_hz == [*TYPE_HZ] * (not is_possible)
        assert (found.to_record()["mean"]["share"] is not None) is is_possible
        assert found.to_record()["mean_is_undecided"] is not is_possible


@pytest.mark.parametrize(("high_db", "loss"), [(-2.1, "unknown"), (-1.9, "sensorineural")])
def test_bone_is_poorer_from_where_its_test_is_doubtful_on(high_db: float, loss: str) -> None:
    """Below -2 dB, as `poorer_than_air` has it; and where a part of it was inferred."""
    by_bone = replace(bone({0: 20.0}), gap=MeanGap(high_db - norm.ppf(0.975) * 2.0, 2.0))
    inferred = mark(by_bone, 500, mark=Outcome.INFERRED, masking=None)
    for each in (by_bone, inferred):
        found = ear_gaps(air({0: 20.0}), each)
        assert (found.loss, found.bone_is_poorer) == (loss, loss == "unknown")


def test_a_type_of_loss_is_probable_near_15_db_and_sure_far_from_it() -> None:
    none, near, far = (ear_gaps(air({0: 40.0 + gap}), bone({0: 40.0})) for gap in (0, 16, 40))
    told = [each.to_record()["loss_is_probable"] for each in (none, near, far)]
    assert told == [False, True, False]
    assert not replace(near, loss=LossType.UNKNOWN).loss_is_probable


def test_one_of_two_ears_has_the_gap_that_either_may_have() -> None:
    open_, surely = MaskingMark.UNCERTAIN, MaskingMark.MASKED

    def session_of(
        left_db_hl: float, masking: MaskingMark, outcome: Outcome, of_air: MaskingMark = surely
    ) -> list[bool]:
        ears = []
        for side, level_db_hl in (("right", 60.0), ("left", left_db_hl)):
            found = ear(side, BONE, {0: 10.0})
            for hz in TYPE_HZ:
                found = mark(found, hz, masking=masking)
            if outcome != Outcome.MEASURED:
                found = beyond(found, 500, outcome, 70.0 if outcome == DEAF else -10.0)
            by_air = mark(ear(side, "air", {0: level_db_hl}), 1000, masking=of_air)
            ears += [by_air, found]
        return [each.in_either for each in gaps_of(session(*ears))]

    assert session_of(60.0, open_, Outcome.MEASURED) == [True, True]
    assert session_of(60.0, open_, Outcome.MEASURED, of_air=open_) == [True, True]
    assert session_of(60.0, open_, HEARS_ALL) == [True, True]
    assert session_of(15.0, open_, Outcome.MEASURED) == [False, False], "the left ear has none"
    assert session_of(60.0, surely, Outcome.MEASURED) == [False, False], "it is known which"
    assert session_of(60.0, open_, DEAF) == [False, False], "nobody heard it"

    def partly_masked(level_db_hl: float) -> list[bool]:
        """At 2 kHz noise showed a threshold of both ears, with a gap of 20 dB."""
        both = []
        for side in ("right", "left"):
            found = ear(side, BONE, {0: 10.0, 2000: level_db_hl - 20.0})
            for hz in TYPE_HZ[:2]:
                found = mark(found, hz, masking=open_)
            found = mark(found, TYPE_HZ[2], masking=surely)
            both += [ear(side, "air", {0: level_db_hl}), found]
        return [each.in_either for each in gaps_of(session(*both))]

    assert partly_masked(45.0) == [True, True]
    assert partly_masked(17.0) == [False, False], "so small a gap is none"


def test_only_what_may_be_compared_is() -> None:
    right, its_bone = air({0: 50.0}), bone({0: 20.0})
    left = ear("left", BONE, {0: 20.0})
    for ears in (
        (right,), (its_bone,), (right, left),
        (replace(right, verdict=Verdict.DOUBTFUL), its_bone),
        (right, replace(its_bone, verdict=Verdict.NOT_TESTED)),
        (replace(right, boards=("pico 1",)), replace(its_bone, boards=("pico 2",))),
    ):  # fmt: skip
        assert gaps_of(session(*ears)) == []

    both = gaps_of(session(ear("left", "air", {0: 50.0}), left, right, its_bone))
    assert [each.ear for each in both] == ["right", "left"]
