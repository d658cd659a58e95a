"""Air-bone gaps are those of sampled thresholds, and types of loss those of the published rule."""

from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import norm

from firmware_py.findings.air_bone_gap import GAP_DB, TYPE_HZ, LossType, gaps_of
from firmware_py.terms.outcomes import Bound, MaskingMark, Outcome, SessionOutcome, Verdict
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import BONE, Route

OFFSET_DB = 2.8
OF_500 = {Outcome.NO_RESPONSE: 70.0, Outcome.HEARS_ALL: -10.0}
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


def air(levels_db_hl: Levels, sd_db: float = 3.0) -> EarResult:
    return ear("right", "air", levels_db_hl, sd_db)


def bone(levels_db_hl: Levels, sd_db: float = 4.0) -> EarResult:
    return ear("right", BONE, levels_db_hl, sd_db)


def session(*ears: EarResult) -> SessionResult:
    return SessionResult(SessionOutcome.COMPLETE, ears, 60, 0, 400.0, ())


def mark(found: EarResult, at_hz: int, **changed: Any) -> EarResult:
    """Return an ear with one frequency changed."""
    thresholds = tuple(
        replace(t, **changed) if t.frequency_hz == at_hz else t for t in found.thresholds
    )
    return replace(found, thresholds=thresholds)


def beyond(found: EarResult, at_hz: int, outcome: Outcome, limit_db_hl: float) -> EarResult:
    none = {"threshold_db_hl": None, "sd_db": None, "low_db_hl": None, "high_db_hl": None}
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
    ],
)
def test_the_type_of_loss_is_that_of_the_published_rule(
    by_air: Levels, by_bone: Levels, loss: LossType
) -> None:
    (found,) = gaps_of(session(air(by_air), bone(by_bone)))

    assert found.loss == loss
    at = [(by_air.get(f, by_air[0]), by_bone.get(f, by_bone[0])) for f in TYPE_HZ]
    assert found.mean is not None
    assert found.mean.db == pytest.approx(sum(a - b for a, b in at) / 3.0, abs=1e-3)


def test_a_gap_has_the_band_and_the_share_of_a_difference() -> None:
    (found,) = gaps_of(session(air({0: 50.0}), bone({0: 33.0})))

    assert [gap.frequencies_hz for gap in found.gaps] == [
        (f,) for f in (250, 500, 750, 1000, 1500, 2000, 3000, 4000)
    ]
    sd_db = 5.0  # of 3 and 4 dB
    for gap in (*found.gaps, found.mean):
        assert gap is not None
        assert gap.db == pytest.approx(17.0, abs=1e-4)
        assert gap.high_db == pytest.approx(17.0 + norm.ppf(0.975) * sd_db, abs=1e-3)
        assert gap.low_db == pytest.approx(17.0 - norm.ppf(0.975) * sd_db, abs=1e-3)
        assert gap.share == pytest.approx(norm.sf(15.0, 17.0, sd_db), abs=1e-4)
        assert gap.bound == Bound.NONE


def test_what_lies_beyond_a_limit_makes_the_gap_a_bound() -> None:
    deaf, hears_all = Outcome.NO_RESPONSE, Outcome.HEARS_ALL
    right, its_bone = air({0: 50.0}), bone({0: 33.0})
    cases = [
        (beyond(right, 1000, deaf, 100.0), its_bone, 67.0, Bound.AT_LEAST),
        (beyond(right, 1000, hears_all, -10.0), its_bone, -43.0, Bound.AT_MOST),
        (right, beyond(its_bone, 1000, deaf, 75.0), -25.0, Bound.AT_MOST),
        (right, beyond(its_bone, 1000, hears_all, -10.0), 60.0, Bound.AT_LEAST),
        (mark(right, 1000, masking=MaskingMark.UNCERTAIN), its_bone, 17.0, Bound.AT_LEAST),
        (right, mark(its_bone, 1000, masking=MaskingMark.UNCERTAIN), 17.0, Bound.AT_MOST),
    ]
    for one, other, db, bound in cases:
        (found,) = gaps_of(session(one, other))
        (gap,) = (each for each in found.gaps if each.frequencies_hz == (1000,))
        assert found.mean is not None
        # Clinical thresholds are higher; limits are levels that were played.
        assert gap.db == pytest.approx(db, abs=OFFSET_DB + 1e-3)
        assert gap.bound == found.mean.bound == bound
        assert (gap.low_db is None) == (bound == Bound.AT_MOST)
        assert (gap.high_db is None) == (bound == Bound.AT_LEAST)
        assert gap.is_called == (bound == Bound.AT_LEAST)


def test_what_may_lie_on_either_side_is_not_known() -> None:
    deaf = Outcome.NO_RESPONSE
    both = session(
        beyond(air({0: 50.0}), 1000, deaf, 100.0), beyond(bone({0: 33.0}), 1000, deaf, 75.0)
    )

    (found,) = gaps_of(both)

    assert 1000 not in {gap.frequencies_hz[0] for gap in found.gaps}
    assert found.mean is None
    assert found.loss == LossType.UNKNOWN
    assert found.examined_hz == []


def test_what_perhaps_lies_beyond_a_limit_by_air_is_a_bound_below_it() -> None:
    perhaps = beyond(air({0: 50.0}), 1000, Outcome.INCOMPLETE, 100.0)

    (found,), (small,) = (gaps_of(session(perhaps, bone({0: level}))) for level in (33.0, 50.0))

    (gap,) = (each for each in found.gaps if each.frequencies_hz == (1000,))
    least_db = 100.0 - 8.0 - (33.0 + OFFSET_DB)
    assert gap.bound == Bound.AT_LEAST
    assert gap.db == pytest.approx(least_db, abs=1e-3)
    assert found.mean is not None
    assert found.mean.bound == Bound.AT_LEAST
    assert found.mean.db == pytest.approx((17.0 + 17.0 + least_db) / 3.0, abs=1e-3)
    assert found.mean.is_called
    assert small.mean is not None
    assert not small.mean.is_called, "13 dB at least"
    assert small.loss == LossType.UNKNOWN


def test_what_the_skin_may_have_felt_is_a_bound_below_which_it_began() -> None:
    felt = beyond(bone({0: 55.0}), 500, Outcome.INCOMPLETE, 40.0)
    hearing = beyond(bone({0: 55.0}), 500, Outcome.INCOMPLETE, 100.0)

    (found,), (unknown,) = (gaps_of(session(air({0: 60.0}), each)) for each in (felt, hearing))

    (gap,) = (each for each in found.gaps if each.frequencies_hz == (500,))
    assert gap.bound == Bound.AT_MOST
    assert gap.db == pytest.approx(60.0 + OFFSET_DB - (40.0 - 8.0), abs=1e-3)
    assert found.loss == LossType.SENSORINEURAL, "11 dB in the mean at most"
    assert 500 not in {gap.frequencies_hz[0] for gap in unknown.gaps}
    assert unknown.loss == LossType.UNKNOWN


def test_a_bound_tells_a_type_only_on_its_own_side() -> None:
    doubtful = MaskingMark.UNCERTAIN
    cases = [
        # The other ear may have heard the vibrator: the gap there may be none.
        (air({0: 60.0}), mark(bone({0: 40.0}), 1000, masking=doubtful), LossType.UNKNOWN),
        (air({0: 60.0}), mark(bone({0: 55.0}), 1000, masking=doubtful), LossType.SENSORINEURAL),
        # It may have heard the tones by air: the gap may be larger.
        (mark(air({0: 60.0}), 1000, masking=doubtful), bone({0: 30.0}), LossType.MIXED),
        (mark(air({0: 60.0}), 1000, masking=doubtful), bone({0: 55.0}), LossType.UNKNOWN),
    ]
    for one, other, loss in cases:
        assert [each.loss for each in gaps_of(session(one, other))] == [loss]


def test_two_frequencies_are_enough_for_a_gap_that_is_large_there() -> None:
    felt = beyond(bone({0: 22.0}), 500, Outcome.INCOMPLETE, 40.0)
    either = mark(bone({0: 22.0}), 500, masking=MaskingMark.UNCERTAIN)
    beyond_air = beyond(air({0: 60.0}), 500, Outcome.INCOMPLETE, 100.0)
    for by_air, by_bone in ((air({0: 60.0}), felt), (air({0: 60.0}), either), (beyond_air, either)):
        (found,) = gaps_of(session(by_air, by_bone))

        # 38 dB at 1 and 2 kHz, of 5 dB SD, and none at 500 Hz.
        assert found.mean is not None
        assert found.mean.frequencies_hz == TYPE_HZ
        assert found.mean.bound == Bound.AT_LEAST
        assert found.mean.is_called
        mean_db, sd_db = 38.0 * 2.0 / 3.0, 5.0 * 2.0 / 3.0
        assert found.mean.db == pytest.approx(mean_db, abs=1e-3)
        assert found.mean.share == pytest.approx(norm.sf(15.0, mean_db, sd_db), abs=1e-4)
        assert found.mean.low_db == pytest.approx(mean_db - norm.ppf(0.975) * sd_db, abs=1e-3)
        assert found.mean.high_db is None

    for small in (bone({0: 40.0}), bone({0: 60.0})):  # 13.3 dB, and none
        (found,) = gaps_of(session(air({0: 60.0}), mark(small, 500, masking=MaskingMark.UNCERTAIN)))
        assert found.mean is not None
        assert found.mean.bound == Bound.AT_MOST
        assert not found.mean.is_called


def test_conductive_or_mixed_is_told_where_bone_lies_on_one_side_of_20_db_only() -> None:
    def loss(at_500: EarResult, air_db_hl: float = 70.0) -> LossType:
        (found,) = gaps_of(session(air({0: air_db_hl}), at_500))
        assert found.mean is not None
        assert found.mean.is_called
        return found.loss

    either = MaskingMark.UNCERTAIN
    assert loss(mark(bone({0: 30.0}), 500, masking=either)) == LossType.MIXED
    assert loss(mark(bone({0: 5.0}), 500, masking=either)) == LossType.UNKNOWN, "5 dB and more"
    hears_all = Outcome.HEARS_ALL
    assert loss(beyond(bone({0: 5.0}), 500, hears_all, -10.0), 45.0) == LossType.CONDUCTIVE
    most = beyond(bone({0: 45.0}), 500, hears_all, -10.0)
    assert loss(most, 45.0) == LossType.UNKNOWN, "29 and less"
    beyond_vibrator = beyond(bone({0: 5.0}), 500, Outcome.INCOMPLETE, 100.0)
    assert loss(beyond_vibrator) == LossType.UNKNOWN, "nothing is known of it at 500 Hz"


def test_a_gap_where_tones_may_be_felt_is_inferred_from_the_others() -> None:
    """With 20 dB elsewhere, 500 Hz alone would have to have less than 5."""
    felt = beyond(bone({0: 30.0}), 500, Outcome.INCOMPLETE, 40.0)

    (found,), (none,), (known,) = (
        gaps_of(session(air({0: 51.0, 4000: 60.0}), each), gap_prior=gaps)
        for each, gaps in (
            (felt, None),
            (beyond(bone({0: 50.0}), 500, Outcome.INCOMPLETE, 40.0), None),
            (mark(felt, 2000, masking=MaskingMark.UNCERTAIN), None),
        )
    )

    assert found.mean is not None
    assert found.mean.is_called
    assert found.mean.bound == Bound.NONE
    assert found.mean.inferred_hz == (500,)
    assert GAP_DB < found.mean.db < 21.0
    assert found.mean.low_db is not None
    assert found.mean.high_db is not None
    assert found.mean.low_db < found.mean.db < found.mean.high_db
    assert 500 not in {hz for gap in found.gaps if gap.inferred_hz for hz in gap.frequencies_hz}
    assert none.mean is not None
    assert not none.mean.is_called
    assert none.mean.inferred_hz == (), "what is at most something is told as that"
    assert known.mean is not None
    assert not known.mean.is_called, "where the other ear may have heard it, it counts as none"


def test_nothing_is_inferred_of_an_ear_whose_own_bone_was_measured_nowhere() -> None:
    felt = beyond(bone({0: 20.0}), 500, Outcome.INCOMPLETE, 40.0)
    for hz in felt.route.kind.frequencies_hz[2:]:
        felt = mark(felt, hz, masking=MaskingMark.UNCERTAIN)

    (found,) = gaps_of(session(air({0: 90.0}), felt))

    assert found.mean is not None
    assert found.mean.bound == Bound.AT_MOST
    assert not found.mean.is_called


def test_what_was_inferred_is_named() -> None:
    inferred = mark(bone({0: 33.0}), 500, mark=Outcome.INFERRED, masking=None)

    (found,) = gaps_of(session(air({0: 50.0}), inferred))

    assert found.mean is not None
    assert found.mean.inferred_hz == (500,)
    assert [gap.inferred_hz for gap in found.gaps] == [()] + [(500,)] + [()] * 6


def test_what_follows_from_doubtful_answers_is_a_bound_too() -> None:
    doubted = mark(bone({0: 20.0}), 500, masking=MaskingMark.UNCERTAIN)
    inferred = mark(doubted, 750, mark=Outcome.INFERRED, masking=None)

    (found,) = gaps_of(session(air({0: 90.0}), inferred))

    bounds = {gap.frequencies_hz[0]: gap.bound for gap in found.gaps}
    assert [f for f, bound in bounds.items() if bound == Bound.AT_MOST] == [500, 750]
    assert not {500, 750} & {*found.impossible_hz}
    surely = mark(bone({0: 5.0}), 750, mark=Outcome.INFERRED, masking=None)
    (other,) = gaps_of(session(air({0: 90.0}), surely))
    assert 750 not in other.impossible_hz, "nothing was asked there"
    assert 1000 in other.impossible_hz


def test_an_examination_is_due_with_a_gap_at_all_three_frequencies() -> None:
    at_all = session(air({0: 40.0}), bone({0: 20.0}))
    at_two = session(air({0: 40.0}), bone({0: 20.0, 1000: 26.0}))
    at_three = session(air({0: 40.0}), bone({0: 39.0, 500: 20.0, 1000: 20.0, 2000: 20.0}))

    assert [each.examined_hz for each in gaps_of(at_all)] == [[500, 1000, 2000]]
    assert [each.examined_hz for each in gaps_of(at_two)] == [[]]
    assert [each.examined_hz for each in gaps_of(at_three)] == [[500, 1000, 2000]]


def test_an_examination_is_due_where_one_frequency_is_not_known_and_the_mean_is_large() -> None:
    large, none = bone({0: 15.0}), {"mark": Outcome.INCOMPLETE, "limit_db_hl": None}
    at_500 = (
        mark(large, 500, masking=MaskingMark.UNCERTAIN),  # 55 dB at most
        beyond(large, 500, Outcome.INCOMPLETE, 40.0),
        mark(large, 500, threshold_db_hl=None, sd_db=None, **none),
    )
    for each in at_500:
        (found,) = gaps_of(session(air({0: 70.0}), each))
        assert found.examined_hz == [1000, 2000]
    (found,) = gaps_of(session(air({0: 70.0}), bone({0: 15.0, 500: 68.0})))
    assert found.mean is not None
    assert found.mean.is_called
    assert found.examined_hz == [], "there is none at 500 Hz"


def test_gaps_larger_than_a_conductive_loss_are_named() -> None:
    (possible,) = gaps_of(session(air({0: 68.0}), bone({0: 5.0})))
    (impossible,) = gaps_of(session(air({0: 60.0, 500: 90.0}), bone({0: 5.0})))

    assert possible.impossible_hz == []
    assert impossible.impossible_hz == [500]


def test_a_type_of_loss_does_not_rest_on_a_gap_that_no_ear_has() -> None:
    at_type = session(air({0: 60.0, 500: 90.0}), bone({0: 5.0}))
    elsewhere = session(air({0: 60.0, 3000: 90.0}), bone({0: 5.0}))
    bound = session(beyond(air({0: 60.0}), 500, Outcome.NO_RESPONSE, 100.0), bone({0: 5.0}))

    for each in (at_type, bound):
        (found,) = gaps_of(each)
        assert found.loss == LossType.UNKNOWN
        assert found.impossible_hz == [500]
        assert found.told_share is None
        assert found.to_record()["mean"]["share"] is None
    (found,) = gaps_of(elsewhere)
    assert found.impossible_hz == [3000]
    assert found.loss == LossType.CONDUCTIVE
    assert found.told_share == found.to_record()["mean"]["share"]
    assert found.told_share is not None


def test_no_probability_is_told_of_a_gap_that_is_a_bound() -> None:
    felt = beyond(bone({0: 33.0}), 1000, Outcome.HEARS_ALL, -10.0)

    (found,) = gaps_of(session(air({0: 45.0}), felt))

    shares = {gap["frequencies_hz"]: gap["share"] for gap in found.to_record()["gaps"]}
    assert {f for f, share in shares.items() if share is None} == {(1000,)}
    assert found.mean is not None
    assert found.mean.bound == Bound.AT_LEAST
    assert found.to_record()["mean"]["share"] is None
    assert found.mean.is_called


def test_a_type_of_loss_is_probable_near_15_db_and_sure_far_from_it() -> None:
    found = {gap: gaps_of(session(air({0: 40.0 + gap}), bone({0: 40.0})))[0] for gap in (0, 16, 40)}
    assert [found[gap].loss_is_probable for gap in found] == [False, True, False]
    assert found[16].to_record()["loss_is_probable"] is True
    unknown = replace(found[16], loss=LossType.UNKNOWN)
    assert not unknown.loss_is_probable


def test_bone_that_is_poorer_than_air_tells_no_type_of_loss() -> None:
    """A vibrator that slipped before the first tone: no other sign of it is left."""
    (slipped,) = gaps_of(session(air({0: 50.0}), bone({0: 68.0})))
    (noisy,) = gaps_of(session(air({0: 50.0}), bone({0: 53.0})))

    assert slipped.bone_is_poorer
    assert slipped.to_record()["bone_is_poorer"] is True
    assert slipped.loss == LossType.UNKNOWN
    assert not noisy.bone_is_poorer
    assert noisy.loss == LossType.SENSORINEURAL


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
                found = beyond(found, 500, outcome, OF_500[outcome])
            by_air = mark(ear(side, "air", {0: level_db_hl}), 1000, masking=of_air)
            ears += [by_air, found]
        return [each.in_either for each in gaps_of(session(*ears))]

    assert session_of(60.0, open_, Outcome.MEASURED) == [True, True]
    assert session_of(60.0, open_, Outcome.MEASURED, of_air=open_) == [True, True]
    assert session_of(60.0, open_, Outcome.HEARS_ALL) == [True, True]
    assert session_of(15.0, open_, Outcome.MEASURED) == [False, False], "the left ear has none"
    assert session_of(60.0, surely, Outcome.MEASURED) == [False, False], "it is known which"
    assert session_of(60.0, open_, Outcome.NO_RESPONSE) == [False, False], "nobody heard it"


def test_only_what_may_be_compared_is() -> None:
    right, its_bone = air({0: 50.0}), bone({0: 20.0})
    left = ear("left", BONE, {0: 20.0})
    for ears in (
        (right,),
        (its_bone,),
        (right, left),
        (replace(right, verdict=Verdict.DOUBTFUL), its_bone),
        (right, replace(its_bone, verdict=Verdict.NOT_TESTED)),
        (replace(right, boards=("pico 1",)), replace(its_bone, boards=("pico 2",))),
    ):
        assert gaps_of(session(*ears)) == []

    both = gaps_of(session(ear("left", "air", {0: 50.0}), left, right, its_bone))
    assert [each.ear for each in both] == ["right", "left"]


def test_a_record_has_all_that_is_told() -> None:
    (found,) = gaps_of(session(air({0: 50.0}), bone({0: 20.0})))

    told = found.to_record()

    assert told["loss"] == "mixed"
    assert told["examined_hz"] == [500, 1000, 2000]
    assert told["mean"]["frequencies_hz"] == (500, 1000, 2000)
    assert len(told["gaps"]) == 8
