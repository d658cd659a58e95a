"""An asymmetry is named by the published criteria that it meets, and by what was asked only."""

from dataclasses import replace

import pytest

from firmware_py.procedure.air_bone_gap import LossType, gaps_of
from firmware_py.procedure.asymmetry import asymmetries, differences
from firmware_py.procedure.outcomes import MaskingMark, Outcome, SessionOutcome
from firmware_py.procedure.results import EarResult, SessionResult, ThresholdResult
from firmware_py.procedure.route import AUDIOGRAM_FREQUENCIES_HZ, BONE, Route
from firmware_py.procedure.settings import CLINICAL_ASCENDING
from host_tools.catalogue import ENGLISH, catalogue_of
from host_tools.commands.report.norms import asymmetry_words

Levels = dict[int, float]
WORDS = catalogue_of(ENGLISH)
OF_SOURCES = (
    "both sources mean sensorineural loss, which air conduction alone cannot tell from a "
    "conductive one"
)
NICE = "NICE NG98, 2018 (15 dB or more at two neighbours of 0.5, 1, 2, 4 and 8 kHz)"


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


def name_asymmetries(found: SessionResult, age_years: float | None = None) -> list[str]:
    return [asymmetry_words(each, WORDS) for each in asymmetries(found, age_years)]


def with_left(levels_db_hl: Levels, sd_db: float = 2.0) -> list[str]:
    return name_asymmetries(session(ear("right", {}), ear("left", levels_db_hl, sd_db)))


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
        ({4000: 35.0, 8000: 35.0}, ["NICE", "AAO-HNSF"]),
        ({2000: 62.0, 4000: 62.0}, ["NICE", "AAO-HNSF"]),
    ],
)
def test_each_criterion_is_met_from_its_own_difference_on(
    levels_db_hl: Levels, met: list[str]
) -> None:
    found = with_left(levels_db_hl)
    assert len(found) == bool(met)
    ears = (ear("right", {}), ear("left", levels_db_hl))
    by_boards = [replace(each, boards=(f"pico {each.route.ear}",)) for each in ears]
    assert name_asymmetries(session(*by_boards)) == [], "one may be louder than the other"
    for source in ("NICE", "AAO-HNSF"):
        assert any(source in line for line in found) == (source in met)


def test_a_criterion_is_named_of_people_whom_its_source_is_about() -> None:
    found = session(ear("right", {}), ear("left", {4000: 35.0, 8000: 35.0}))
    sources = {None: ["NICE", "AAO-HNSF"], 60.0: ["NICE", "AAO-HNSF"], 49.0: ["NICE"], 12.0: []}
    for age_years, those in sources.items():
        said = " ".join(name_asymmetries(found, age_years))
        assert [source for source in ("NICE", "AAO-HNSF") if source in said] == those


def test_the_sentence_names_ear_difference_band_and_criterion() -> None:
    assert with_left({1000: 42.0, 500: 36.0}) == [
        "asymmetry: the left ear is worse by 16 ± 6 dB at 500 Hz, 22 ± 6 dB at 1000 Hz; that meets "
        f"{NICE}, though no further than the 95 % bands reach; {OF_SOURCES}"
    ]
    (sure,) = with_left({500: 62.0, 1000: 62.0})
    assert "no further" not in sure
    assert "42 ± 6 dB at 500 Hz" in sure


def test_the_worse_ear_has_to_be_the_same_at_both_frequencies() -> None:
    crossed = session(ear("right", {1000: 40.0}), ear("left", {500: 40.0}))
    assert name_asymmetries(crossed) == []
    both = session(ear("right", {500: 40.0, 1000: 40.0}), ear("left", {4000: 60.0, 8000: 60.0}))
    assert [line[15:24] for line in name_asymmetries(both)] == ["left ear ", "right ear"]


def test_what_was_inferred_does_not_count() -> None:
    left = ear("left", {500: 60.0, 1000: 60.0})
    inferred = tuple(
        replace(t, mark=Outcome.INFERRED) if t.frequency_hz == 1000 else t for t in left.thresholds
    )
    found = session(ear("right", {}), replace(left, thresholds=inferred))
    assert name_asymmetries(found) == []
    assert 1000 not in differences(found.by_route[Route("left")], found.by_route[Route("right")])


def test_a_limit_counts_as_the_least_difference_there_can_be() -> None:
    def beyond(found: EarResult, mark: Outcome, limit_db_hl: float) -> EarResult:
        thresholds = (
            replace(t.without_numbers(mark), limit_db_hl=limit_db_hl) for t in found.thresholds
        )
        return replace(found, thresholds=tuple(thresholds))

    silent = beyond(ear("left", {}), Outcome.NO_RESPONSE, 100.0)
    hears_all = beyond(ear("right", {}), Outcome.HEARS_ALL, -10.0)
    (line,) = name_asymmetries(session(ear("right", {}), silent))
    assert "at least 80 dB at 250 Hz" in line
    (line,) = name_asymmetries(session(hears_all, ear("left", {})))
    assert "at least 30 dB at 250 Hz" in line
    both_silent = beyond(ear("right", {}), Outcome.NO_RESPONSE, 100.0)
    assert name_asymmetries(session(both_silent, silent)) == []


def test_one_ear_has_no_asymmetry() -> None:
    assert name_asymmetries(session(ear("left", {500: 90.0}))) == []


def test_what_the_better_ear_may_have_heard_for_the_worse_is_a_least_difference() -> None:
    def doubt(found: EarResult) -> EarResult:
        thresholds = (replace(t, masking=MaskingMark.UNCERTAIN) for t in found.thresholds)
        return replace(found, thresholds=tuple(thresholds))

    right, left = ear("right", {}), ear("left", {500: 60.0, 1000: 60.0})
    (line,) = name_asymmetries(session(right, doubt(left)))
    assert "at least 40 dB at 500 Hz" in line
    assert name_asymmetries(session(doubt(right), left)) == [], "it may be no better"


def by_bone(name: str, level_db_hl: float) -> EarResult:
    """Return an ear at one level by bone; clinical as those by air are here."""
    found = ear(name, dict.fromkeys(AUDIOGRAM_FREQUENCIES_HZ, level_db_hl))
    thresholds = tuple(t for t in found.thresholds if t.frequency_hz <= 4000)
    return replace(found, route=Route(name, BONE), thresholds=thresholds)


@pytest.mark.parametrize(
    ("bone_db_hl", "loss", "said"),
    [
        (55.0, LossType.SENSORINEURAL, "as this one is by bone conduction"),
        (30.0, LossType.MIXED, "by bone conduction a part of this one is conductive"),
        (10.0, LossType.CONDUCTIVE, None),
    ],
)
def test_a_conductive_loss_meets_no_criterion_of_a_sensorineural_one(
    bone_db_hl: float, loss: LossType, said: str | None
) -> None:
    worse = ear("left", dict.fromkeys(AUDIOGRAM_FREQUENCIES_HZ, 60.0))
    found = session(ear("right", {}), worse, by_bone("right", 15.0), by_bone("left", bone_db_hl))

    assert {each.ear: each.loss for each in gaps_of(found, CLINICAL_ASCENDING)}["left"] == loss
    told = asymmetries(found)
    if said is None:
        assert told == []
        return
    (asymmetry,) = told
    assert asymmetry.loss == loss
    assert asymmetry.to_record()["loss"] == loss
    (words,) = name_asymmetries(found)
    assert words.endswith(said)
    assert "air conduction alone" not in words


def test_without_bone_a_record_says_nothing_of_the_type_of_loss() -> None:
    (found,) = asymmetries(session(ear("right", {}), ear("left", {4000: 35.0, 8000: 35.0})))

    assert found.loss is None
    assert "loss" not in found.to_record()
