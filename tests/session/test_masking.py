"""Masking: the rule by its arithmetic, and tests of people whose ears hear for each other."""

import math
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.hearing import ear_named
from device.simulator.listener import SimulatedListener
from firmware_py.ear.caps import AGAIN_TONES_MAX
from firmware_py.presenting.presenter import PAUSE_BEFORE
from firmware_py.session import masking
from firmware_py.session.cross_hearing import CrossHearing
from firmware_py.session.plateau import CHECKS_MAX, TRIES_MAX, Check, Plateau, is_clear
from firmware_py.terms import events
from firmware_py.terms.outcomes import MaskingMark, Outcome, Purpose, Why
from firmware_py.terms.presentation import Cover, Presentation
from firmware_py.terms.reasons import Code, Reason, as_json, reason
from firmware_py.terms.route import OTHER, Route
from firmware_py.terms.settings import Settings
from firmware_py.terms.tells import UnmaskedTold, VoidTold
from tests.budget import examples, quick
from tests.session.driver import Driver, run_to_end

pytestmark = pytest.mark.xdist_group("masking")  # they ask the same tests


NEVER_DB_HL: Final = math.inf
MODEST_DB_HL: Final = 62.0  # between the noises that the tones of these tests are given


@cache
def head(
    right: float, left: float, through_db: float = 50.0, right_gap_db: float = 0.0
) -> SimulatedListener:
    """Two flat ears with a skull between them, who answers as they hear."""
    ears = {"right": Audiogram((1000.0,), (right,)), "left": Audiogram((1000.0,), (left,))}
    between = Head({"right": right_gap_db}, interaural_attenuation_db=through_db)
    truths = {ear_named(ear): each for ear, each in ears.items()}
    return SimulatedListener(truths, 0.01, lapse_rate=0.0, false_alarm_rate=0.0, head=between)


@cache
def measure(
    listener: SimulatedListener,
    *,
    can_mask: bool = True,
    earphones: masking.Earphones | None = None,
    **about: Any,
) -> Driver:
    """A finished test, run once for all who ask; none of them may change it."""
    return run_to_end(Settings(**about), listener, can_mask=can_mask, earphones=earphones)


def measured(driver: Driver) -> list[tuple[str, float, float]]:
    """The tones but those about listener and noise: what is otherwise is not asked of a shadow."""
    other = Why.DECIDING, Why.CLEAR_TONE, Why.NOISE_REACHES
    plays = [each for each in driver.plays if each.why not in other]
    return [(str(each.route), each.frequency_hz, each.level_db_hl) for each in plays]


def marks(driver: Driver, ear: str) -> dict[int, str]:
    """The marks of masking, but of what was inferred, which has none."""
    asked = [t for t in driver.ear(ear)["thresholds"] if t["mark"] != Outcome.INFERRED]
    inferred = [t for t in driver.ear(ear)["thresholds"] if t["mark"] == Outcome.INFERRED]
    assert len(asked) >= 5
    assert {t["masking"] for t in inferred} <= {None}
    return {t["frequency_hz"]: t["masking"] for t in asked}


def worst_db(driver: Driver, ear: str, truth_db_hl: float) -> float:
    found = [t["threshold_db_hl"] for t in driver.ear(ear)["thresholds"]]
    return max(abs(level - truth_db_hl) for level in found if level is not None)


def is_masking(action: events.Action) -> bool:
    """Return whether it is noise that is to mask: none that is only to be known to arrive."""
    return isinstance(action, events.Mask) and action.why.code != Code.NOISE_REACHES


def noises(driver: Driver) -> list[Any]:
    return [action for action in driver.actions if is_masking(action)]


# The rule


@pytest.mark.parametrize(
    ("kind", "frequency_hz", "least_db"),
    [
        ("", 250.0, 40.0), (masking.SUPRA_AURAL, 250.0, 40.0), (masking.SUPRA_AURAL, 8000.0, 40.0),
        (masking.CIRCUMAURAL, 1000.0, 40.0), (masking.INSERT, 125.0, 55.0),
        (masking.INSERT, 1000.0, 55.0), (masking.INSERT, 1001.0, 50.0),
        (masking.INSERT, 8000.0, 50.0),
    ],
)  # fmt: skip
def test_what_earphones_keep_from_the_other_ear(
    kind: str, frequency_hz: float, least_db: float
) -> None:
    assert masking.attenuation_db(kind, frequency_hz) == least_db


@pytest.mark.parametrize(
    ("kind", "better_db"),
    [
        ("", {250: 30, 500: 20, 750: 15, 1000: 10, 1500: 0}),
        (masking.INSERT, {250: 10, 500: 10, 750: 5, 1000: 0}),
    ],
)
def test_by_how_much_an_ear_that_is_closed_hears_better_by_bone(
    kind: str, better_db: dict[int, float]
) -> None:
    assert {f: masking.occlusion_db(kind, f) for f in better_db} == better_db


@pytest.mark.parametrize(
    ("mean", "low", "high", "cochlea"),
    [(40.0, 30.0, 50.0, 25.0), (40.0, 20.0, 60.0, 20.0), (0.0, -8.0, 8.0, -10.0)],
)
def test_a_cochlea_may_be_better_than_its_ear(
    mean: float, low: float, high: float, cochlea: float
) -> None:
    """By an air-bone gap of 15 dB, or as much as the band is wide; but no better than -10 dB HL."""
    assert masking.Threshold(mean, low, high).cochlea_db_hl == cochlea


@pytest.mark.parametrize(
    ("level", "attenuation", "high", "limit", "noise"),
    [
        (80.0, 40.0, 15.0, 100.0, 65.0),  # 40 cross, 15 of gap, 10 of safety
        (80.0, 40.0, 70.0, 100.0, 80.0),  # above the threshold of that ear
        (80.0, 40.0, 95.0, 110.0, 100.0),  # between 95 and 105: the middle
        (80.0, 40.0, 15.0, 60.0, 60.0),  # the limit, which is still enough
        (80.0, 55.0, 15.0, 100.0, 50.0),
    ],
)
def test_the_noise_a_tone_needs(
    level: float, attenuation: float, high: float, limit: float, noise: float
) -> None:
    assert (
        masking.noise_db_hl(level, attenuation, masking.Threshold(high - 5, high - 10, high), limit)
        == noise
    )


@pytest.mark.parametrize(
    ("own_gap_db", "noise"),
    [
        (0.0, 105.0),  # least 95, and most 120 in place of 105: 10 of safety
        (15.0, 100.0),
        (25.0, 95.0),  # what crosses 40 dB is as loud as the tone behind such a gap
    ],
)
def test_a_gap_of_the_tested_ear_lets_noise_in(own_gap_db: float, noise: float) -> None:
    other = masking.Threshold(90.0, 85.0, 95.0)
    assert masking.noise_db_hl(80.0, 40.0, other, 110.0, own_gap_db) == noise
    assert noise - 40.0 <= 80.0 - own_gap_db
    with pytest.raises(masking.UnmaskableError):
        masking.noise_db_hl(80.0, 40.0, other, 110.0, 26.0)


@pytest.mark.parametrize(
    ("high", "limit", "code"),
    [(106.0, 120.0, Code.DILEMMA), (15.0, 54.0, Code.NOISE_LIMIT), (math.inf, 120.0, Code.DILEMMA)],
)
def test_a_tone_that_no_noise_is_right_for(high: float, limit: float, code: Code) -> None:
    with pytest.raises(masking.UnmaskableError) as caught:
        masking.noise_db_hl(80.0, 40.0, masking.Threshold(50.0, 40.0, high), limit)

    assert caught.value.why == reason(code)


@settings(max_examples=examples(100), derandomize=True, database=None)
@given(
    st.floats(-10.0, 120.0), st.floats(40.0, 75.0), st.floats(-20.0, 120.0), st.floats(0.0, 40.0),
    st.floats(20.0, 110.0),
)  # fmt: skip
def test_noise_hides_what_crosses_and_never_the_tone(
    level: float, attenuation: float, mean: float, half_db: float, limit: float
) -> None:
    other = masking.Threshold(mean, mean - half_db, mean + half_db)
    try:
        noise = masking.noise_db_hl(level, attenuation, other, limit)
    except masking.UnmaskableError:
        return

    assert noise <= limit
    assert noise - masking.AIR_BONE_GAP_DB >= level - attenuation, (
        "behind a gap it hides the crossing tone"
    )
    assert noise >= other.high_db_hl, "that ear hears it"
    assert noise - attenuation < level - masking.AIR_BONE_GAP_DB + 1.0, (
        "whole dB are rounded upward"
    )


# Whole tests

ASYMMETRIC: Final = head(right=10.0, left=75.0)


def test_a_poor_ear_is_found_with_noise_and_without_it_is_the_shadow_of_the_other() -> None:
    masked = measure(ASYMMETRIC)
    shadow = measure(ASYMMETRIC, masking="off")

    assert worst_db(masked, "left", 75.0) < 5.0
    assert worst_db(shadow, "left", 60.0) < 5.0, "10 dB HL and 50 dB on the way"
    assert set(marks(masked, "left").values()) == {MaskingMark.MASKED}
    assert set(marks(masked, "right").values()) == {MaskingMark.NOT_MASKED}
    assert masked.ear("left")["tones_masked"] > 20
    assert masked.result["remarks"] == []
    assert noises(shadow) == []


@pytest.mark.parametrize("poor", quick(["right", "left"], "left"))
def test_the_poor_ear_first_is_asked_again_when_the_other_is_known(poor: str) -> None:
    ears = {poor: 75.0, OTHER[poor]: 10.0}
    driver = measure(head(ears["right"], ears["left"]), first_ear=poor)

    assert [told["ear"] for told in driver.tells("ear-again")] == [poor]
    assert worst_db(driver, poor, 75.0) < 5.0
    assert worst_db(driver, OTHER[poor], 10.0) < 5.0
    by_hz = marks(driver, poor)
    explained = [f for remark in driver.result["remarks"] for f in remark["frequencies_hz"]]
    assert [f for f, mark in by_hz.items() if mark != MaskingMark.MASKED] == explained
    assert len(by_hz) - len(explained) >= 6
    assert driver.ear(poor)["tones"] <= driver.settings.tones_max + AGAIN_TONES_MAX
    assert driver.ear(poor)["retest_difference_db"] is None, "that was heard by the other ear"


@pytest.mark.parametrize("level_db_hl", quick([14.5, 25.5, 45.5, 50.5, 80.5], 25.5))
def test_ears_that_are_alike_are_asked_the_same_with_masking_or_without(level_db_hl: float) -> None:
    alike = head(level_db_hl, level_db_hl)
    # The times of the answers differ, and bits per second depend on them.
    plain, automatic = (
        measure(alike, masking=masking, objective="bits") for masking in ("off", "automatic")
    )

    assert measured(automatic) == measured(plain)
    assert len(noises(automatic)) <= 2, "with a tone far above both"
    assert set(marks(automatic, "left").values()) == {MaskingMark.NOT_MASKED}


def test_inserts_need_noise_only_at_greater_differences() -> None:
    through_60 = head(10.0, 35.0, through_db=60.0)
    unknown = measure(through_60, conduct="clinical")
    inserts = measure(
        through_60,
        conduct="clinical",
        earphones=masking.Earphones(
            masking.INSERT, lambda f: masking.attenuation_db(masking.INSERT, f)
        ),
    )

    assert len(noises(inserts)) <= 5 + CHECKS_MAX  # of clear tones above all
    assert len(noises(unknown)) > 15


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({"masking": "off"}, reason(Code.MASKING_OFF)),
        ({"can_mask": False}, reason(Code.NO_NOISE)),
        ({"ears": "left"}, reason(Code.NOT_MEASURED, ear="right")),
    ],
)
def test_what_the_other_ear_may_have_heard_is_marked_without_noise_too(
    about: dict[str, Any], why: Reason
) -> None:
    driver = measure(ASYMMETRIC, **about)
    (remark,) = driver.result["remarks"]

    assert set(marks(driver, "left").values()) == {MaskingMark.UNCERTAIN}
    assert (remark["code"], remark["ear"]) == (Code.MASKING_UNCERTAIN.word, "left")
    assert remark["frequencies_hz"] == [*marks(driver, "left")]
    assert remark["why"] == as_json(why)
    if "ears" not in about:
        assert set(marks(driver, "right").values()) == {MaskingMark.NOT_MASKED}
        assert measured(driver) == measured(measure(ASYMMETRIC, masking="off"))
    if "can_mask" in about:
        assert driver.tells("tone", ear="left", unmasked=why)


def test_one_ear_alone_is_not_suspected_of_what_the_best_other_would_not_hear() -> None:
    """Nor is it judged with masking off, as was asked for."""
    alone = measure(ASYMMETRIC, masking="off", ears="left")
    good, deaf = measure(head(10.0, 21.0), ears="left"), measure(head(999.0, 999.0), ears="left")

    assert set(marks(alone, "left").values()) == {None}
    assert set(marks(good, "left").values()) == {MaskingMark.NOT_MASKED}
    assert good.result["remarks"] == []
    assert set(marks(deaf, "left").values()) == {MaskingMark.NOT_MASKED}, "no ear heard anything"


def test_noise_that_cannot_be_loud_enough_is_said() -> None:
    weak = masking.Earphones(highest_noise_db_hl=lambda _ear, f: 30.0 if f > 1500.0 else 110.0)
    driver = measure(ASYMMETRIC, earphones=weak)

    assert max(noise.level_db_hl for noise in noises(driver) if noise.frequency_hz > 1500.0) <= 30.0
    assert {marks(driver, "left")[f] for f in (4000, 6000, 8000)} == {MaskingMark.UNCERTAIN}
    assert driver.result["remarks"][0]["why"] == {"code": "noise-limit"}


def test_no_noise_is_above_the_limit_of_the_test_or_hides_its_tone() -> None:
    driver = measure(head(35.0, 95.0), level_max_db_hl=90.0)
    tones = {play.number: play for play in driver.plays}

    assert len(noises(driver)) > 5
    for noise in noises(driver):
        assert noise.level_db_hl <= 90.0
        if noise.number in tones:
            tone = tones[noise.number]
            assert (noise.route.ear, noise.frequency_hz) == (
                tone.route.noise.ear,
                tone.frequency_hz,
            )
            assert noise.level_db_hl - 40.0 < tone.level_db_hl - masking.AIR_BONE_GAP_DB + 1.0


# A right ear of 45 dB HL, 37 of them conductive, hears for a dead left one from 58 dB on.
def on_masking(driver: Driver) -> dict[str, Any]:
    """The remark on it: there may be others, for noise silences an ear that hears nothing."""
    remarks: list[dict[str, Any]] = driver.result["remarks"]
    (found,) = (each for each in remarks if each["code"] == Code.MASKING_UNCERTAIN.word)
    return found


BEHIND_A_GAP: Final = head(right=45.0, left=NEVER_DB_HL, right_gap_db=37.0)


@pytest.mark.parametrize("without", [{"can_mask": False}, {"masking": "off"}])
def test_a_threshold_that_a_gap_of_the_other_ear_explains_is_uncertain(
    without: dict[str, Any],
) -> None:
    driver = measure(BEHIND_A_GAP, **without)
    found = [t for t in driver.ear("left")["thresholds"] if t["masking"] == MaskingMark.UNCERTAIN]
    gaps_db = [t["air_bone_gap_db"] for t in found]
    (remark,) = driver.result["remarks"]

    assert len(found) >= 2
    assert masking.AIR_BONE_GAP_DB < min(gaps_db) <= masking.GAP_SAID_DB
    assert max(gaps_db) <= masking.GAP_ALSO_DB
    assert (remark["code"], remark["ear"]) == (Code.MASKING_UNCERTAIN.word, "left")
    why = as_json(reason(Code.GAP_EXPLAINS, gap_db=min(gaps_db), ear="right"))
    assert remark["why"] == why
    assert set(marks(driver, "right").values()) == {MaskingMark.NOT_MASKED}


def test_no_gap_is_greater_than_what_the_ear_hears_less_than_the_best() -> None:
    """An ear of 5 dB HL has no cochlea that is 25 dB better, whatever the other one's threshold."""
    assert masking.Threshold(5.0, 0.0, 10.0).gap_possible_db == 20.0
    assert masking.Threshold(75.0, 70.0, 80.0).gap_possible_db == 60.0


# With more noise


def test_a_threshold_that_moves_with_the_noise_is_the_other_ears() -> None:
    driver = measure(BEHIND_A_GAP)
    checks = driver.tells("tone", purpose=Purpose.PLATEAU)
    doubted = [t for t in driver.ear("left")["thresholds"] if t["masking"] is not None]
    remark = on_masking(driver)

    assert len(checks) == TRIES_MAX, "it may have been missed"
    assert {about["ear"] for about in checks} == {"left"}
    assert {t["masking"] for t in doubted} == {MaskingMark.UNCERTAIN}, "everywhere, by one tone"
    assert remark["why"].items() >= {
        "code": Code.MOVES_WITH_NOISE.word, "ear": "right",
        "level_db_hl": checks[0]["level_db_hl"], "frequency_hz": checks[0]["frequency_hz"],
    }.items()  # fmt: skip


@pytest.mark.parametrize("worse_db", quick([15.0, 20.0], 15.0))
def test_a_threshold_that_stays_where_it_is_is_the_ears_own(worse_db: float) -> None:
    driver = measure(head(45.0, 45.0 + worse_db))
    checks = driver.tells("tone", purpose=Purpose.PLATEAU)
    found = driver.ear("left")

    assert 1 <= len(checks) <= CHECKS_MAX
    assert driver.result["remarks"] == []
    assert MaskingMark.UNCERTAIN not in marks(driver, "left").values()
    assert all(
        t["air_bone_gap_db"] is None or t["air_bone_gap_db"] > masking.GAP_ALSO_DB
        for t in found["thresholds"]
    )
    assert worst_db(driver, "left", 45.0 + worse_db) < 5.0
    numbers = [about["number"] for about in driver.tells("tone", ear="left")]
    counted = len(numbers) - len(checks)
    assert found["tones"] == counted, "what a check is answered changes no threshold"


def test_a_refused_noise_ends_the_checks_and_the_mark_stays() -> None:
    driver = Driver(Settings(), BEHIND_A_GAP, can_mask=True)
    driver.feed(events.Started(True))
    driver.run_until(lambda _: driver.purpose == Purpose.PLATEAU)
    driver.feed(events.NoiseRefused.by(Code.NOISE_REFUSED, told="no-such-output"))
    driver.run()

    assert len(driver.tells("tone", purpose=Purpose.PLATEAU)) == 1
    assert on_masking(driver)["why"]["code"] == Code.GAP_EXPLAINS.word


OTHER_EAR: Final = masking.Threshold(45.0, 42.0, 48.0)


@pytest.mark.parametrize(
    ("level", "other", "highest", "noise", "gap"),
    [
        (65.0, OTHER_EAR, 100.0, 75.0, 50.0),
        (65.0, OTHER_EAR, 64.0, 64.0, 39.0),  # what can be had is enough
        (65.0, OTHER_EAR, 59.0, None, None),  # it is not
        (60.0, masking.Threshold(10.0, 6.0, 14.0), 100.0, 44.0, 24.0),  # it has no greater gap
        (20.0, OTHER_EAR, 100.0, None, None),  # the other ear would not hear so little noise
    ],
)
def test_the_noise_of_a_check(
    level: float, other: masking.Threshold, highest: float, noise: float | None, gap: float | None
) -> None:
    check = Check.of(1000, level, 40.0, other, highest)

    assert (check and check.noise_db_hl, check and check.gap_db) == (noise, gap)


def test_a_check_is_asked_5_db_above_the_threshold_or_more() -> None:
    assert is_clear(50.0, 45.0)
    assert not is_clear(50.0, 45.2)


def test_two_checks_are_enough_from_250_to_8000_hz() -> None:
    plateau, asked = Plateau(), []
    said_hz = [250, 500, 1000, 2000, 3000, 4000, 6000, 8000]
    while said_hz:
        checks = {f: Check(f, 60.0, 70.0, 50.0) for f in said_hz}
        plateau.due = plateau.choose(said_hz, checks)
        assert plateau.due is not None
        asked.append(plateau.due.frequency_hz)
        plateau.take_answer(heard=True, with_noise=True)
        said_hz = [f for f in said_hz if plateau.gap_db(f) is None]

    assert asked == [500, 6000]
    assert plateau.over


def test_each_check_may_be_missed_once() -> None:
    plateau = Plateau()
    for frequency_hz in (500, 6000):
        plateau.due = Check(frequency_hz, 60.0, 70.0, 50.0)
        for heard in (False, True):
            plateau.take_answer(heard, with_noise=True)
    assert plateau.missed is None


def test_where_no_check_is_within_reach_it_is_the_lowest_that_is_possible() -> None:
    checks = {f: Check(f, 60.0, 70.0, 50.0) for f in (4000, 8000)}
    assert Plateau().choose([250, *checks], checks) == checks[4000]


# The noise in time


def to_masked(driver: Driver) -> events.Play:
    """Go on to a tone with noise that is about to begin."""
    driver.run_until(is_masking)
    play = driver.run_until(lambda action: isinstance(action, events.Play))
    assert isinstance(play, events.Play)
    return play


def asymmetric(**about: Any) -> Driver:
    driver = Driver(Settings(**about), ASYMMETRIC, can_mask=True)
    driver.feed(events.Started(True))
    return driver


def test_noise_begins_with_the_pause_and_is_around_the_tone_in_the_other_ear() -> None:
    driver = asymmetric()
    play = to_masked(driver)
    mask = noises(driver)[0]
    at_us = next(at for at, each in driver.log if each is mask)

    assert driver.now_us - at_us >= 1000 * driver.settings.pause_ms_min
    assert (mask.number, mask.route.ear, mask.frequency_hz) == (
        play.number, OTHER[play.route.ear], play.frequency_hz,
    )  # fmt: skip
    assert (mask.why.code, dict(mask.why.parts)["level_db_hl"]) == (Code.CROSSES, play.level_db_hl)
    assert driver.tells("tone", number=play.number)[0]["noise_db_hl"] == mask.level_db_hl


def test_a_silence_among_masked_tones_has_their_noise() -> None:
    """Or it would be known for a silence by that; but one in the ear that had it has none."""
    about = {"conduct": "clinical", "catch_rate": 0.3, "confirm": "hughson-westlake", "seed": 3}
    driver = measure(ASYMMETRIC, **about)
    catches, of_right = (
        {told["number"] for told in driver.tells("catch", ear=ear)} for ear in ("left", "right")
    )
    of_catches = [noise for noise in noises(driver) if noise.number in catches]
    assert of_right.isdisjoint(noise.number for noise in noises(driver))

    assert len(of_catches) >= 4
    for noise in of_catches:
        before = next(each for each in reversed(noises(driver)) if each.number < noise.number)
        assert (noise.level_db_hl, noise.frequency_hz) == (before.level_db_hl, before.frequency_hz)


@pytest.mark.parametrize(
    ("gone", "back"),
    [
        (events.Paused(), events.Continued()),
        # It has been silent since: a tone that it knows may have been heard without noise.
        (events.BoardLost(), events.BoardReady(tone_known=True, can_mask=True)),
        (events.BoardLost(), events.BoardReady(tone_known=False, can_mask=True)),
        (events.Aborted(), None),
    ],
)
def test_noise_ends_with_its_tone_and_comes_again_with_it(
    gone: events.Event, back: events.Event | None
) -> None:
    driver = asymmetric()
    play = to_masked(driver)
    mask = driver.board.noise
    told = driver.feed(gone)
    driver.forget()

    assert mask is not None
    assert driver.test.presenter.noise.due == (mask if back is not None else None)
    if not isinstance(gone, events.BoardLost):
        assert isinstance(told[0], events.Silence)
        assert driver.board.noise is None
    if back is not None:
        assert mask in driver.feed(back)
        assert driver.run_to_tone() == play


def test_another_board_without_noise_plays_the_tone_without() -> None:
    driver = asymmetric()
    to_masked(driver)
    driver.feed(events.BoardLost())
    driver.forget()
    driver.board.noise = None
    count = len(noises(driver))
    driver.feed(events.BoardReady(False, can_mask=False))
    driver.run()

    assert len(noises(driver)) == count
    assert set(marks(driver, "left").values()) == {MaskingMark.UNCERTAIN}


def test_another_board_without_noise_is_sent_none_for_a_silence_either() -> None:
    driver = asymmetric(conduct="clinical", catch_rate=0.3)
    while not (driver.test.presenter.trial.is_catch and driver.test.presenter.noise.due):
        driver.step()
    driver.feed(events.BoardLost())
    driver.forget()
    told = driver.feed(events.BoardReady(False, can_mask=False))
    assert driver.test.presenter.trial.is_catch
    assert [each for each in told if isinstance(each, events.Mask | events.Unmask)] == []


def test_noise_that_the_board_refuses_is_missing_and_marked() -> None:
    driver = asymmetric()
    while driver.test.state != "finished":
        if any(isinstance(action, events.Mask) for action in driver.step()):
            driver.board.noise = None
            unmask, told = driver.feed(events.NoiseRefused.by(Code.NOISE_REFUSED, told="limit"))
            assert unmask == events.Unmask()
            assert isinstance(told, UnmaskedTold)
            assert told.why == reason(Code.NOISE_REFUSED, told="limit")
            assert driver.feed(events.NoiseRefused.by(Code.NOISE_REFUSED, told="again")) == []

    assert set(marks(driver, "left").values()) == {MaskingMark.UNCERTAIN}
    assert driver.ear("left")["tones_masked"] == 0
    refused = {"code": "noise-refused", "told": "limit"}
    assert driver.result["remarks"][0]["why"] == refused


def test_noise_that_has_ended_begins_anew_with_the_pause_and_the_tone_comes_again() -> None:
    """But to what is not asked now it means nothing."""
    driver = asymmetric()
    assert driver.test.handle(driver.now_us, events.NoiseEnded()) == []
    play = to_masked(driver)
    silence, told, mask, *_ = driver.test.handle(driver.now_us, events.NoiseEnded())
    assert silence == events.Silence()
    assert isinstance(told, VoidTold)
    assert told.number == play.number
    assert mask == driver.test.presenter.noise.due
    assert driver.test.state == PAUSE_BEFORE
    driver.feed(events.Paused())
    assert driver.test.handle(driver.now_us, events.NoiseEnded()) == []


@pytest.mark.parametrize("first_ear", ["left", "right"])
def test_noise_that_is_refused_does_not_leave_that_of_the_tone_before(first_ear: str) -> None:
    """Nothing of a refused command is done, so what played would go on."""
    driver = asymmetric(first_ear=first_ear)
    refused, unmasked = 0, 0
    while driver.test.state != "finished":
        before = driver.board.noise
        for action in driver.step():
            if isinstance(action, events.Mask) and action.level_db_hl > MODEST_DB_HL:
                refused += 1
                driver.board.noise = before
                driver.feed(events.NoiseRefused.by(Code.NOISE_REFUSED, told="limit"))
            if isinstance(action, events.Play):
                assert driver.board.noise == driver.test.presenter.noise.due
                silent = driver.board.noise is None
                unmasked += silent and bool(driver.test.presenter.noise.cover.why)

    assert refused > 5
    assert unmasked > 5
    assert driver.ear("left")["tones_masked"] > 5, "some were allowed"


def test_no_noise_is_left_where_none_is_due() -> None:
    ramps = {"right": (10.0, 80.0), "left": (80.0, 10.0)}  # each is the better one somewhere
    ears = {ear_named(ear): Audiogram((500.0, 4000.0), ramp) for ear, ramp in ramps.items()}
    listener = SimulatedListener(ears, 0.01, lapse_rate=0.0, false_alarm_rate=0.0)
    driver = Driver(Settings(), listener, can_mask=True)
    driver.feed(events.Started(True))
    ears_with_noise = set()
    while driver.test.state != "finished":
        for action in driver.step():
            noise = driver.board.noise
            if isinstance(action, events.Play) and noise is not None:
                check = action.why == Why.NOISE_REACHES
                to = action.route if check else action.route.noise
                assert (noise.route, noise.number) == (to, action.number)
                ears_with_noise.add(noise.route.ear)

    assert ears_with_noise == {"right", "left"}
    assert driver.board.noise is None
    plays = False
    for action in driver.actions:
        assert plays or not isinstance(action, events.Unmask), "it has ended already"
        plays = isinstance(action, events.Mask) or (
            plays and not isinstance(action, events.Silence | events.Unmask)
        )


def test_what_a_tone_needs_is_looked_at_once_however_often_it_is_paused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A journal of nothing but pauses is followed in the time of its lines."""
    driver = asymmetric()
    noise = driver.run_until(is_masking)
    looks: list[Route] = []
    cover = CrossHearing.cover

    def count(self: CrossHearing, route: Route, presentation: Presentation) -> Cover:
        looks.append(route)
        return cover(self, route, presentation)

    monkeypatch.setattr(CrossHearing, "cover", count)
    for _ in range(50):
        driver.feed(events.Paused())
        driver.feed(events.Continued())
        assert driver.board.noise == noise
    assert not looks, "it was looked at before the first pause"
    driver.feed(events.BoardReady(tone_known=False, can_mask=False))
    assert (driver.test.presenter.noise.due, len(looks)) == (None, 1), "it may have none now"


def test_noise_that_crosses_stays_5_db_below_the_tone_by_bone() -> None:
    """Of a tone of 10 dB HL and 40 dB between the ears that is a noise of 45 dB."""

    def noise_db_hl(least: float) -> float:
        other = masking.Threshold(least - 5.0, least - 10.0, least, bone_low_db_hl=least - 10.0)
        return masking.bone_noise_db_hl(10.0, 40.0, 0.0, other, 100.0)

    assert noise_db_hl(45.0) == 45.0
    with pytest.raises(masking.UnmaskableError):
        noise_db_hl(45.2)


@given(
    tone=st.integers(-10, 80), air=st.integers(-10, 100), bone_gap=st.integers(0, 60),
    occlusion=st.sampled_from((0, 5, 10, 15, 20, 30)), attenuation=st.sampled_from((40, 50, 55)),
    share=st.floats(0.0, 1.0),
)  # fmt: skip
def test_noise_hides_a_tone_by_bone_from_a_closed_ear_whatever_its_gap_is(
    tone: int, air: int, bone_gap: int, occlusion: int, attenuation: int, share: float
) -> None:
    """A gap keeps noise out, and as much of the occlusion effect: that of simulated heads."""
    other = masking.Threshold(air, air - 5.0, air + 5.0, bone_low_db_hl=float(air - bone_gap))
    try:
        noise = masking.bone_noise_db_hl(tone, attenuation, occlusion, other, math.inf)
    except masking.UnmaskableError:
        largest = min(bone_gap, masking.GAP_MAX_DB, air + 10)
        least = max(tone + max(occlusion, largest) + masking.HIDDEN_DB, air + 5.0)
        assert least > tone + attenuation - masking.OWN_MARGIN_DB
        return
    gap = share * other.gap_db
    at_cochlea = tone + max(occlusion - gap, 0.0)
    assert noise - gap >= at_cochlea + masking.HIDDEN_DB - 1e-9
    assert noise >= other.high_db_hl
    assert noise - attenuation <= tone - masking.OWN_MARGIN_DB + 1.0, "rounded up to whole dB"
