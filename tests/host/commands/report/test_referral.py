"""An asymmetry is named by the published criteria that it meets, and by what was asked only."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest

from firmware_py.findings.air_bone_gap import LossType, gaps_of
from firmware_py.findings.asymmetry import Asymmetry, asymmetries, differences
from firmware_py.paper.gaps import asymmetry_row, criteria_rows
from firmware_py.terms.outcomes import MaskingMark, Outcome, SessionOutcome
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, BONE, Route
from firmware_py.terms.settings import CLINICAL_ASCENDING

Levels = dict[int, float]


def ear(name: str, levels_db_hl: Levels, sd_db: float = 2.0) -> EarResult:
    """Return an ear that was measured at 20 dB HL, or at these levels."""
    thresholds = tuple(
        ThresholdResult(
            f, Outcome.MEASURED, level, sd_db, level - 2.0 * sd_db, level + 2.0 * sd_db, None
        )
        for f in AUDIOGRAM_FREQUENCIES_HZ
        for level in [levels_db_hl.get(f, 20.0)]
    )
    return EarResult(Route(name), Outcome.MEASURED, (), thresholds, 30, 15, 0, 3, 0, 0, None, 2.8)


def session(*ears: EarResult) -> SessionResult:
    return SessionResult(SessionOutcome.COMPLETE, ears, 60, 0, 400.0, ())


def with_left(levels_db_hl: Levels, sd_db: float = 2.0) -> list[Asymmetry]:
    return asymmetries(session(ear("right", {}), ear("left", levels_db_hl, sd_db)))


def sources(found: Sequence[Asymmetry]) -> list[str]:
    """Return whose criteria are met, without the year."""
    told = {criterion.source.split()[0] for each in found for criterion in each.criteria}
    return sorted(each.strip(",") for each in told)


def differs(found: Asymmetry) -> dict[int, tuple[float, bool]]:
    """Return by how much at each frequency, and whether that is the least it can be."""
    return {each.frequency_hz: (each.db, each.at_least) for each in found.differences}


@pytest.mark.parametrize(
    ("levels_db_hl", "met"),
    [
        ({}, []),
        ({500: 34.9, 1000: 34.9, 3000: 34.9}, []),
        ({500: 35.0, 1000: 35.0}, ["NICE"]),
        ({500: 35.0, 2000: 35.0}, []),  # no neighbours
        ({1000: 60.0}, []),  # alone
        ({3000: 35.0}, ["AAO-HNSF"]),
        ({250: 40.0, 500: 40.0}, ["AAO-HNSF"]),
        ({4000: 35.0, 6000: 35.0}, ["AAO-HNSF"]),
        ({4000: 35.0, 8000: 35.0}, ["AAO-HNSF", "NICE"]),
        ({2000: 62.0, 4000: 62.0}, ["AAO-HNSF", "NICE"]),
    ],
)
def test_each_criterion_is_met_from_its_own_difference_on(
    levels_db_hl: Levels, met: list[str]
) -> None:
    found = with_left(levels_db_hl)
    assert len(found) == bool(met)
    ears = (ear("right", {}), ear("left", levels_db_hl))
    by_boards = [replace(each, boards=(f"pico {each.route.ear}",)) for each in ears]
    assert asymmetries(session(*by_boards)) == [], "one may be louder than the other"
    assert sources(found) == met


def test_a_criterion_is_named_of_people_whom_its_source_is_about() -> None:
    found = session(ear("right", {}), ear("left", {4000: 35.0, 8000: 35.0}))
    by_age = {None: ["AAO-HNSF", "NICE"], 60.0: ["AAO-HNSF", "NICE"], 49.0: ["NICE"], 12.0: []}
    for age_years, those in by_age.items():
        assert sources(asymmetries(found, age_years)) == those


def test_the_row_names_ear_difference_band_and_source() -> None:
    (found,) = with_left({1000: 42.0, 500: 36.0})
    assert asymmetry_row(found) == {
        "code": "asymmetry-doubt",
        "ear": "left",
        "differences": {
            "code": "listed",
            "of": [
                {"code": "difference", "level": 16, "frequency_hz": 500, "half": 11},
                {"code": "difference", "level": 22, "frequency_hz": 1000, "half": 11},
            ],
        },
        "criteria": ["NICE NG98, 2018"],
        "about": {"code": "asymmetry-by-air"},
    }
    (met,) = criteria_rows([found])
    assert met["of"] == [{"code": "criterion-nice"}]
    (sure,) = with_left({500: 62.0, 1000: 62.0})
    assert asymmetry_row(sure)["code"] == "asymmetry"


def test_the_worse_ear_has_to_be_the_same_at_both_frequencies() -> None:
    crossed = session(ear("right", {1000: 40.0}), ear("left", {500: 40.0}))
    assert asymmetries(crossed) == []
    both = session(ear("right", {500: 40.0, 1000: 40.0}), ear("left", {4000: 60.0, 8000: 60.0}))
    assert [each.ear for each in asymmetries(both)] == ["left", "right"]


def test_what_was_inferred_does_not_count() -> None:
    left = ear("left", {500: 60.0, 1000: 60.0})
    inferred = tuple(
        replace(t, mark=Outcome.INFERRED) if t.frequency_hz == 1000 else t for t in left.thresholds
    )
    found = session(ear("right", {}), replace(left, thresholds=inferred))
    assert asymmetries(found) == []
    assert 1000 not in differences(found.by_route[Route("left")], found.by_route[Route("right")])


def test_a_limit_counts_as_the_least_difference_there_can_be() -> None:
    def beyond(found: EarResult, mark: Outcome, limit_db_hl: float) -> EarResult:
        thresholds = (
            replace(t.without_numbers(mark), limit_db_hl=limit_db_hl) for t in found.thresholds
        )
        return replace(found, thresholds=tuple(thresholds))

    silent = beyond(ear("left", {}), Outcome.NO_RESPONSE, 100.0)
    hears_all = beyond(ear("right", {}), Outcome.HEARS_ALL, -10.0)
    (found,) = asymmetries(session(ear("right", {}), silent))
    assert differs(found)[250] == (80.0, True)
    (found,) = asymmetries(session(hears_all, ear("left", {})))
    assert differs(found)[250] == (30.0, True)
    both_silent = beyond(ear("right", {}), Outcome.NO_RESPONSE, 100.0)
    assert asymmetries(session(both_silent, silent)) == asymmetries(session(silent)) == []


def test_what_the_better_ear_may_have_heard_for_the_worse_is_a_least_difference() -> None:
    def doubt(found: EarResult) -> EarResult:
        thresholds = (replace(t, masking=MaskingMark.UNCERTAIN) for t in found.thresholds)
        return replace(found, thresholds=tuple(thresholds))

    right, left = ear("right", {}), ear("left", {500: 60.0, 1000: 60.0})
    (found,) = asymmetries(session(right, doubt(left)))
    assert differs(found)[500] == (40.0, True)
    assert asymmetries(session(doubt(right), left)) == [], "it may be no better"


def by_bone(name: str, level_db_hl: float) -> EarResult:
    """Return an ear at one level by bone; clinical as those by air are here."""
    found = ear(name, dict.fromkeys(AUDIOGRAM_FREQUENCIES_HZ, level_db_hl))
    thresholds = tuple(t for t in found.thresholds if t.frequency_hz <= 4000)
    return replace(found, route=Route(name, BONE), thresholds=thresholds)


EVERYWHERE: Final = AUDIOGRAM_FREQUENCIES_HZ


def with_bone(
    air_db_hl: float, bone_db_hl: float, better_bone_db_hl: float = 15.0, sd_db: float = 2.0
) -> SessionResult:
    """Return a session with a worse left ear, and a right one at 20 dB HL by air."""
    worse = ear("left", dict.fromkeys(EVERYWHERE, air_db_hl), sd_db)
    bones = by_bone("right", better_bone_db_hl), by_bone("left", bone_db_hl)
    return session(ear("right", {}), worse, *bones)


def loss_of(found: SessionResult) -> LossType:
    return next(each.loss for each in gaps_of(found, CLINICAL_ASCENDING) if each.ear == "left")


def test_a_mixed_loss_is_compared_by_bone() -> None:
    """60 by air and 30 by bone beside 28 in both ways: by bone the ears are equal."""
    found = session(
        ear("left", dict.fromkeys(EVERYWHERE, 60.0)), ear("right", dict.fromkeys(EVERYWHERE, 28.0)),
        by_bone("left", 30.0), by_bone("right", 28.0),
    )  # fmt: skip
    assert loss_of(found) == LossType.MIXED
    assert asymmetries(found) == []
    (unsure,) = asymmetries(with_bone(60.0, 33.0))
    assert (unsure.loss, unsure.sure) == (LossType.MIXED, False), "18 dB by bone, though 40 by air"

    (poorer,) = asymmetries(with_bone(70.0, 50.0))
    assert poorer.loss == LossType.MIXED
    assert {500, 1000, 2000, 4000} <= {*poorer.bone_hz} <= {t for t in EVERYWHERE if t <= 4000}
    assert {each.db for each in poorer.differences} == {35.0}, "not 50, by air at 6 and 8 kHz"
    assert poorer.sure, "35 dB by bone, at neighbours"
    assert not poorer.may_be_conductive
    assert asymmetry_row(poorer)["about"]["code"] == "asymmetry-by-bone"
    assert asymmetry_row(poorer)["about"]["frequencies_hz"] == [*poorer.bone_hz]


def test_a_vibrator_that_is_heard_through_the_air_hides_no_asymmetry() -> None:
    """At 6 kHz both ears may hear as much of it: there they count by air, as without it."""
    left = ear("left", {6000: 60.0, 8000: 60.0})
    without = session(ear("right", {}), left, by_bone("right", 18.0), by_bone("left", 18.0))
    more = [replace(t, frequency_hz=6000) for t in by_bone("left", 0.0).thresholds[-1:]]
    bones = (replace(e, thresholds=(*e.thresholds, *more)) for e in without.ears[2:])
    assert asymmetries(session(*without.ears[:2], *bones)) == asymmetries(without) != []


def test_a_sensorineural_loss_is_compared_by_air_and_a_conductive_one_meets_no_criterion() -> None:
    conductive = with_bone(60.0, 10.0)
    assert loss_of(conductive) == LossType.CONDUCTIVE
    assert asymmetries(conductive) == []
    (found,) = asymmetries(with_bone(60.0, 55.0))

    assert found.loss == LossType.SENSORINEURAL
    assert (found.sure, found.may_be_conductive, found.bone_hz) == (True, False, ())
    assert {each.db for each in found.differences} == {40.0}
    assert asymmetry_row(found)["about"]["code"] == "asymmetry-sensorineural"


def test_a_conductive_loss_of_the_better_ear_hides_no_asymmetry() -> None:
    """Both at 60 dB HL by air, but only the left one by bone."""
    ears = (ear(name, dict.fromkeys(EVERYWHERE, 60.0)) for name in ("right", "left"))
    (found,) = asymmetries(session(*ears, by_bone("right", 10.0), by_bone("left", 58.0)))

    assert (found.ear, found.loss) == ("left", LossType.SENSORINEURAL)
    assert {each.db for each in found.differences} == {48.0}
    assert found.bone_hz
    assert found.sure


@pytest.mark.parametrize(
    ("bone_db_hl", "loss", "sure"),
    [(55.0, LossType.SENSORINEURAL, True), (30.0, LossType.MIXED, False)],
)
def test_bone_of_the_worse_ear_alone_tells_of_a_sensorineural_loss_only(
    bone_db_hl: float, loss: LossType, sure: bool
) -> None:
    worse = ear("left", dict.fromkeys(EVERYWHERE, 60.0))
    found = session(ear("right", {}), worse, by_bone("left", bone_db_hl))
    (told,) = asymmetries(found)

    assert loss_of(found) == loss
    assert (told.sure, told.may_be_conductive) == (sure, not sure)
    assert asymmetry_row(told)["code"] == ("asymmetry" if sure else "asymmetry-may")


def test_bone_that_was_inferred_does_not_make_it_sure() -> None:
    def infer(found: EarResult) -> EarResult:
        inferred = (replace(t, mark=Outcome.INFERRED) for t in found.thresholds)
        return replace(found, thresholds=tuple(inferred))

    for bone_db_hl, loss in ((55.0, LossType.SENSORINEURAL), (30.0, LossType.MIXED)):
        asked = with_bone(60.0, bone_db_hl)
        right, left, *bones = asked.ears
        found = replace(asked, ears=(right, left, *map(infer, bones)))
        (told,) = asymmetries(found)
        assert loss_of(found) == told.loss == loss
        assert (told.sure, told.may_be_conductive, told.bone_hz) == (False, True, ())
        told_row = asymmetry_row(told)
        assert told_row["code"] == "asymmetry-may"
        assert told_row["about"]["code"] != "asymmetry-sensorineural"


def test_bone_that_the_better_ear_may_have_heard_leaves_a_doubt() -> None:
    """Without noise equal thresholds by bone say nothing: the left cochlea may be any poorer."""
    asked = with_bone(60.0, 15.0)
    right, left, better, worse = asked.ears
    thresholds = (replace(t, masking=MaskingMark.UNCERTAIN) for t in worse.thresholds)
    found = replace(asked, ears=(right, left, better, replace(worse, thresholds=tuple(thresholds))))
    (told,) = asymmetries(found)

    assert told.loss == LossType.UNKNOWN
    assert (told.sure, told.may_be_conductive) == (False, True)


def test_without_bone_a_paper_says_nothing_of_the_type_of_loss() -> None:
    (found,) = asymmetries(session(ear("right", {}), ear("left", {4000: 35.0, 8000: 35.0})))

    assert found.loss is None
    assert asymmetry_row(found)["about"]["code"] == "asymmetry-by-air"
