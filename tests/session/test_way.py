"""The way to an ear: one class for each kind of route."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest

from firmware_py.ear.course import next_presentation, take_answer
from firmware_py.ear.ear import EarTest
from firmware_py.ear.threshold_estimates import Estimate
from firmware_py.session import cross_hearing
from firmware_py.session.agenda import SessionState
from firmware_py.session.bone_conduction import BoneConduction
from firmware_py.session.by_air import Air
from firmware_py.session.by_bone import Bone
from firmware_py.session.cross_hearing import CrossHearing
from firmware_py.session.masking import Earphones, Threshold
from firmware_py.session.way import Again, Skull, Verdict
from firmware_py.terms import route as routes
from firmware_py.terms.outcomes import MaskingMark, Outcome, Purpose
from firmware_py.terms.person import UNKNOWN
from firmware_py.terms.presentation import NO_COVER, Cover, Observation, Presentation
from firmware_py.terms.route import BONE, BY_AIR, EARS, THRESHOLD, Route
from firmware_py.terms.settings import Settings

INSERT: Final = "insert"
BETTER_DB_HL: Final = 0.0
WORSE_DB_HL: Final = 45.0


class Insert(Air):
    """By an earphone in the ear canal; of this head nothing reaches the other ear."""

    def attenuation_db(self, _frequency_hz: float) -> float:
        return 100.0


def verdicts_of(transducer: str) -> set[MaskingMark]:
    """Test both ears without noise, and say what is sure of the worse one."""
    settings = Settings(retest=False, catch_rate=0.0)
    ears = {Route(each, transducer): EarTest(Route(each, transducer), settings) for each in EARS}
    hearing = CrossHearing(Skull(settings, ears, Earphones(), UNKNOWN))
    for threshold_db_hl, ear in zip((BETTER_DB_HL, WORSE_DB_HL), ears.values(), strict=True):
        for number in range(1, 80):
            if not ear.over:
                tone = next_presentation(ear, number)
                take_answer(ear, tone, tone.level_db_hl > threshold_db_hl)
        assert ear.over
    return {each.mark for each in hearing.ways[ear.route].verdicts().values()}


def test_a_third_kind_of_route_is_a_class_and_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ear that an earphone on it leaves uncertain is sure with one in its canal."""
    kind = replace(BY_AIR, transducer=INSERT, wire_number=2)
    monkeypatch.setitem(routes.KIND_OF, (INSERT, THRESHOLD), kind)
    monkeypatch.setitem(cross_hearing.WAYS, kind, Insert)

    assert MaskingMark.UNCERTAIN in verdicts_of(BY_AIR.transducer)
    assert verdicts_of(INSERT) == {MaskingMark.NOT_MASKED}


def skull_of(transducer: str) -> Skull:
    """Two ears that nobody has asked yet."""
    settings = Settings()
    ears = {Route(each, transducer): EarTest(Route(each, transducer), settings) for each in EARS}
    return Skull(settings, ears, Earphones(), UNKNOWN)


@pytest.mark.parametrize(
    ("gaps_db", "said"),
    [
        ([30, 31, 35, 45, 60], 1),  # what people have
        ([30, 30, 35, 36, 60, 60, 60], 3),  # two are explained: so is what needs 35 dB
        ([30, 30, 35, 45, 46], 4),  # half of them are: so is what needs 45 dB
    ],
)
def test_a_gap_that_explains_some_thresholds_explains_more(
    monkeypatch: pytest.MonkeyPatch, gaps_db: list[int], said: int
) -> None:
    found = {
        1000 * place: Verdict(MaskingMark.NOT_MASKED, None, gap_db)
        for place, gap_db in enumerate(gaps_db, 1)
    }
    monkeypatch.setattr(Air, "by_noise", lambda _way: dict(found))
    verdicts = Air(skull_of(BY_AIR.transducer), Route("left")).verdicts().values()

    marks = [MaskingMark.UNCERTAIN] * said + [MaskingMark.NOT_MASKED] * (len(gaps_db) - said)
    assert [each.mark for each in verdicts] == marks


@pytest.mark.parametrize(("gap_db", "either"), [(9.5, True), (10.5, False)])
def test_bone_10_db_better_than_usual_may_be_the_other_ears(
    monkeypatch: pytest.MonkeyPatch, gap_db: float, either: bool
) -> None:
    monkeypatch.setattr(BoneConduction, "gap_db", lambda *_: gap_db)
    way = Bone(skull_of(BONE), Route("left", BONE))
    found = Estimate(1000, Outcome.MEASURED, Outcome.MEASURED, 20.0, 2.0, 16.0, 24.0)

    assert way.explains_both(found) == either


@pytest.mark.parametrize(("better_db_hl", "poorer"), [(40.1, False), (40.0, True)])
def test_an_ear_poorer_by_20_db_is_expected_to_want_noise_by_bone(
    better_db_hl: float, poorer: bool
) -> None:
    def found(*levels_db_hl: float) -> EarTest:
        estimator = SimpleNamespace(threshold=lambda _frequencies_hz: (levels_db_hl, ()))
        audiogram = SimpleNamespace(frequencies_hz=(500, 1000, 2000, 4000))
        return cast(EarTest, SimpleNamespace(found=True, estimator=estimator, audiogram=audiogram))

    ears = {
        Route("left"): found(60.0, 60.0, 60.0, 60.0),
        Route("right"): found(60.0, better_db_hl, 60.0, 60.0),
    }
    bone = BoneConduction(ears, UNKNOWN)

    assert bone.is_poorer(Route("left", BONE)) == poorer
    assert not bone.is_poorer(Route("right", BONE))


@pytest.mark.parametrize(
    ("gaps_db", "maskable", "at_once"),
    [
        ({500: 0.0, 1000: 15.0}, True, True), ({500: 14.9, 1000: 14.9}, True, False),
        ({500: 40.0, 1000: 40.0}, False, False), ({}, True, False),
    ],
)  # fmt: skip
def test_from_a_gap_of_15_db_on_that_the_other_ear_showed_noise_begins_with_the_first_tone(
    monkeypatch: pytest.MonkeyPatch, gaps_db: dict[int, float], maskable: bool, at_once: bool
) -> None:
    """But not where noise may not mask what this ear hears: that is to be found without."""
    skull = skull_of(BONE)
    skull.can_mask = True
    monkeypatch.setattr(skull.bone, "gaps_shown_db", lambda _route: gaps_db)
    monkeypatch.setattr(Bone, "_can_have_noise", lambda *_: maskable)
    way = Bone(skull, LEFT_BONE)
    assert way.has_noise == at_once
    skull.can_mask = False
    assert not way.has_noise


def beside(outcome: Outcome) -> Air:
    """The way to a left ear, of which the right one is over with this outcome."""
    skull = skull_of(BY_AIR.transducer)
    right = skull.ears[Route("right")]
    right.due, right.outcome = None, outcome
    return Air(skull, Route("left"))


@pytest.mark.parametrize(
    ("outcome", "known"), [(Outcome.MEASURED, True), (Outcome.UNRELIABLE, False)]
)
def test_an_ear_whose_answers_mean_nothing_is_not_known(outcome: Outcome, known: bool) -> None:
    assert (beside(outcome).skull.other(Route("left"), 1000.0) is not None) == known


def test_a_tone_that_thresholds_rest_on_needs_noise_and_a_check_of_the_listener_does_not() -> None:
    way = beside(Outcome.MEASURED)
    loud = {each: way.needed_cover(Presentation(each, 1000.0, 100.0)) for each in Purpose}

    assert [each for each, cover in loud.items() if cover != NO_COVER] == [
        Purpose.FAMILIARISE, Purpose.MEASURE, Purpose.RETEST, Purpose.CONFIRM,
    ]  # fmt: skip


LEFT_BONE: Final = Route("left", BONE)


@pytest.mark.parametrize(
    ("answers", "outcome", "asks"),
    [
        (4, Outcome.MEASURED, True),
        (5, Outcome.MEASURED, False),
        (0, Outcome.UNRELIABLE, False),
    ],
)
def test_behind_noise_an_ear_is_asked_that_means_something_while_two_answers_more_fit(
    monkeypatch: pytest.MonkeyPatch, answers: int, outcome: Outcome, asks: bool
) -> None:
    monkeypatch.setattr(Bone, "cover_of_check", lambda *_: Cover(70.0))
    way = Bone(skull_of(BONE), LEFT_BONE)
    way.ear.estimator = cast(Any, SimpleNamespace(trial_count=answers, max_trials=6))
    way.ear.due, way.ear.outcome = None, outcome
    tone = Presentation(Purpose.PLATEAU, 1000.0, 40.0)
    way.want_behind_noise(Again(LEFT_BONE, behind_noise=(tone,)))

    assert (way.next_check() is not None) == asks


def test_behind_noise_nothing_is_asked_that_may_be_felt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bone, "cover_of_check", lambda *_: Cover(70.0))
    monkeypatch.setattr(Bone, "uncertain_hz", lambda _: [250])
    monkeypatch.setattr(Bone, "crossed_near", lambda *_: [])
    way = Bone(skull_of(BONE), LEFT_BONE)
    found = Estimate(250, Outcome.MEASURED, Outcome.MEASURED, 31.0, 2.0, 27.0, 35.0)
    monkeypatch.setattr(way.ear.audiogram, "estimates", lambda: [found])
    again = way.to_ask_again()

    assert again is not None
    assert [each.level_db_hl for each in again.behind_noise] == [39.0], "felt from 40 dB HL on"


ANSWER: Final = Observation(Presentation(Purpose.MEASURE, 1000.0, 40.0), True, NO_COVER)


def test_an_ear_by_bone_is_asked_again_before_one_by_air() -> None:
    """The vibrator is still there."""
    hearing: Any = SimpleNamespace(
        ears=[Route("left"), LEFT_BONE], bone=SimpleNamespace(under_way=False),
        to_ask_again=lambda route: Again(route, (ANSWER,)),
    )  # fmt: skip
    _, again = SessionState(Settings(), hearing, cast(Any, None)).asked_again

    assert again == Again(LEFT_BONE, (ANSWER,))


@pytest.mark.parametrize(
    ("asked", "bone_known", "again"),
    [(None, False, True), (False, False, False), (False, True, True), (True, True, False)],
)
def test_an_ear_by_air_is_asked_again_once_and_once_more_when_bone_is_known(
    monkeypatch: pytest.MonkeyPatch, asked: bool | None, bone_known: bool, again: bool
) -> None:
    """`asked`: whether bone was known when it was asked again; None: it was not."""
    monkeypatch.setattr(Air, "uncertain_hz", lambda _: [1000])
    monkeypatch.setattr(Air, "crossed_near", lambda *_: [ANSWER])
    monkeypatch.setattr(BoneConduction, "of", lambda *_: "known" if bone_known else None)
    way = Air(skull_of(BY_AIR.transducer), Route("left"))
    way.asked_again = asked

    assert (way.to_ask_again() is not None) == again


def test_no_air_bone_gap_above_60_db_is_reckoned_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """Air says 80 dB HL and bone 0: enough noise is 75 dB, and the most is 80 behind such a gap."""
    told = [SimpleNamespace(frequency_hz=1000.0, mean_db_hl=0.0)]
    bone = SimpleNamespace(audiogram=SimpleNamespace(told_estimates=lambda: told))
    monkeypatch.setattr(BoneConduction, "of", lambda *_: bone)
    way = Air(skull_of(BY_AIR.transducer), Route("left"))
    way.ear.estimator = cast(Any, SimpleNamespace(threshold=lambda _hz: ([80.0], [2.0])))
    other = Threshold(60.0, 55.0, 65.0)

    assert way.noise_db_hl(replace(ANSWER.presentation, level_db_hl=100.0), other) == 78.0


@pytest.mark.parametrize("begun", [False, True])
def test_an_ear_begins_with_what_the_other_told_of_the_listener_and_takes_none_later(
    begun: bool,
) -> None:
    way = Air(skull_of(BY_AIR.transducer), Route("left"))
    right = way.skull.ears[Route("right")]
    for ear in (right, way.ear) if begun else (right,):
        take_answer(ear, ANSWER.presentation, True)
    right.due, right.outcome = None, Outcome.MEASURED
    way.let_begin()

    assert (way.ear.evidence.listener is None) == begun
