"""What was found of one ear: its outcome, what may be said of each frequency, and its verdict."""

import math
from collections.abc import Collection, Iterator
from dataclasses import replace

from firmware_py.ear.ear import EarTest
from firmware_py.ear.listening import DOUBTED, otherwise_reason, story_reason
from firmware_py.ear.mean_threshold import mean_threshold
from firmware_py.ear.threshold_estimates import Estimate, suppose
from firmware_py.session.boards import Boards
from firmware_py.session.cross_hearing import CrossHearing
from firmware_py.terms.outcomes import WITH_NUMBERS, Outcome, Verdict, WhichEar
from firmware_py.terms.reasons import Code, Reason, Reasons, reason, reason_by
from firmware_py.terms.results import CLINICAL_OFFSET_DB, EarResult, ThresholdResult


def result_of(ear: EarTest, felt_hz: Collection[int] = ()) -> EarResult:
    """Return what was found of an ear; nobody has looked at masking here.

    `felt_hz`: where the skin may have answered.
    """
    verdict, reasons = verdict_of(ear)
    tally, catches = ear.tally, ear.catch_trials
    return EarResult(
        ear.route, ear.outcome, ear.why,
        tuple(
            _threshold(ear, each, each.frequency_hz in felt_hz)
            for each in suppose(ear.audiogram.told_estimates())
        ),
        tally.tones, tally.heard, tally.unsure,
        catches.count, catches.false_alarms, catches.unsure_alarms,
        None if ear.retest is None else ear.retest.difference_db,
        CLINICAL_OFFSET_DB,
        confirmed=() if ear.confirmation is None else ear.confirmation.results(),
        verdict=verdict, reasons=reasons,
    )  # fmt: skip


def result_in(
    ear: EarTest, cross_hearing: CrossHearing, which_ear: WhichEar, boards: Boards
) -> EarResult:
    """Return what was found of an ear in its session: with boards, marks of masking, and mean."""
    of_ear = boards.of(ear.route)
    felt_hz = cross_hearing.bone.felt_hz(ear.route) if ear.route.by_bone else ()
    result = replace(result_of(ear, felt_hz), boards=of_ear)
    doubts = [reason(Code.EARS_CONTRADICTED)] * (which_ear == WhichEar.CONTRADICTED)
    if len(of_ear) > 1:
        doubts.append(reason(Code.SEVERAL_BOARDS, boards=of_ear))
    if ear.route.by_bone:
        doubts += _doubts_of_vibrator(ear, cross_hearing)
    if doubts and result.verdict != Verdict.NOT_TESTED:
        reasons = (*result.reasons, *doubts)
        result = replace(result, verdict=Verdict.DOUBTFUL, reasons=reasons)
    if cross_hearing.judged:
        result = _mark_masking(result, ear, cross_hearing)
    # A mean threshold, and its grade, are of an ear by air; a gap is told with its bone conduction.
    if ear.route.by_bone:
        return replace(result, gap=cross_hearing.bone.mean_gap(ear.route))
    return replace(result, pta4=mean_threshold(result, ear.estimator))


def _doubts_of_vibrator(ear: EarTest, cross_hearing: CrossHearing) -> Iterator[Reason]:
    """Tell what another test by bone, or both, say of the vibrator: it is one for both ears."""
    bone = cross_hearing.bone
    told = ear.listening.moved()
    for route in bone.tests:
        moved = bone.moved(route)
        if moved is not None and moved is not told:
            doubt = otherwise_reason(moved, route)
            yield reason(Code.OF_EAR, ear=str(route), doubt=doubt)
    if poorer := bone.poorer_than_air():
        yield reason(Code.BONE_POORER, ear=poorer)


def _mark_masking(result: EarResult, ear: EarTest, cross_hearing: CrossHearing) -> EarResult:
    verdicts = cross_hearing.ways[ear.route].verdicts()
    thresholds = []
    for each in result.thresholds:
        verdict = verdicts[each.frequency_hz]
        marked = replace(each, masking=verdict.mark, air_bone_gap_db=verdict.air_bone_gap_db)
        # Where no tone was asked there was none that could be masked.
        thresholds.append(each if each.mark == Outcome.INFERRED else marked)
    masked = sum(each.cover.noise_db_hl is not None for each in ear.observations)
    return replace(result, thresholds=tuple(thresholds), tones_masked=masked)


def verdict_of(ear: EarTest) -> tuple[Verdict, Reasons]:
    if failed := _why_not_tested(ear):
        return Verdict.NOT_TESTED, failed
    doubts = [*_doubted_stories(ear)]
    if not ear.found:
        doubts.insert(0, reason(Code.ENDED_EARLY))
    return (Verdict.DOUBTFUL if doubts else Verdict.VALID), (*doubts,)


def verdict_so_far(ear: EarTest) -> Verdict:
    """Return what there is to doubt of a test under way; that it is not over yet is no doubt."""
    if ear.tally.tones == 0:
        return Verdict.NOT_JUDGED
    return Verdict.DOUBTFUL if [*_doubted_stories(ear)] else Verdict.VALID


def _why_not_tested(ear: EarTest) -> Reasons:
    if ear.tally.tones == 0:
        return (reason(Code.NOT_BEGUN_YET),)
    if ear.outcome == Outcome.UNRELIABLE:
        return ear.why
    if ear.heard_nothing and not ear.listening.equipment_heard_by:
        return (reason_by(ear.route, Code.NOTHING_HEARD),)
    story = ear.listening.likely()
    return () if story is None else (story_reason(story, ear.evidence.tones, ear.route),)


def _doubted_stories(ear: EarTest) -> Iterator[Reason]:
    """Tell the stories that leave it in doubt if somebody listened, and the same person."""
    probable = ear.listening.probable(DOUBTED)
    if probable is not None:
        yield story_reason(probable, ear.evidence.tones, ear.route)
    otherwise = ear.listening.doubted_otherwise()
    if otherwise is not None:
        yield otherwise_reason(otherwise, ear.route)
    change = ear.listening.change
    if change is not None and change.probability >= DOUBTED:
        yield story_reason(change, ear.evidence.tones, ear.route)


def _threshold(ear: EarTest, found: Estimate, may_be_felt: bool) -> ThresholdResult:
    by_frequency = ear.outcome != Outcome.UNRELIABLE and ear.estimator.trial_count > 0
    mark = found.mark if by_frequency else ear.outcome
    floor_db_hl = ear.levels.floor_db_hl(found.frequency_hz)
    highest_db_hl = ear.levels.limit_db_hl(found.frequency_hz)
    felt_db_hl = ear.route.kind.vibrotactile_db_hl(found.frequency_hz)
    if may_be_felt and mark == Outcome.MEASURED:  # what was felt was not heard: it is no less
        mark, felt_db_hl = Outcome.INCOMPLETE, min(felt_db_hl, math.floor(found.mean_db_hl))
    beyond_db_hl = floor_db_hl if mark == Outcome.HEARS_ALL else None
    if mark == Outcome.NO_RESPONSE or (mark == Outcome.INCOMPLETE and by_frequency):
        beyond_db_hl = min(highest_db_hl, felt_db_hl)
    threshold = ThresholdResult(
        found.frequency_hz, mark, found.mean_db_hl, found.sd_db, found.low_db_hl, found.high_db_hl,
        beyond_db_hl, floor_db_hl=floor_db_hl, ceiling_db_hl=highest_db_hl,
    )  # fmt: skip
    return threshold if mark in WITH_NUMBERS else threshold.without_numbers(mark)
