"""What was asked and what was inferred: no mark claims what no tone was asked for."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any, Final

import pytest

from device.simulator.audiograms import audiogram_named
from device.simulator.listener import SimulatedListener
from firmware_py.ear.caps import ATTENTION_TONES_MAX
from firmware_py.ear.levels import Levels, no_limit
from firmware_py.ear.marks import Marks
from firmware_py.inference.laplace.standard_audiograms import STANDARD_AUDIOGRAMS_DB_HL
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.presentation import NO_COVER, Cover, Observation, Presentation
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, BY_AIR, Route
from firmware_py.terms.settings import Settings
from tests.budget import quick
from tests.session.driver import Driver, Listener, NeverPresses, flat, marks, run_left_ear

OCTAVES_HZ: Final = {*AUDIOGRAM_FREQUENCIES_HZ} - {*BY_AIR.inter_octave_hz}
ASKED: Final = {
    Outcome.MEASURED, Outcome.NO_RESPONSE, Outcome.HEARS_ALL, Outcome.INCOMPLETE,
}  # fmt: skip
TWICE_85: Final = [(1000.0, 85.0, False)] * 2
FLOOR_DB_HL: Final = -10.0
LIMIT_DB_HL: Final = 100.0
NAMES: Final = quick(STANDARD_AUDIOGRAMS_DB_HL, "N4", "S2")


@cache
def patient(name: str, seed: int, miss_rate: float = 0.02) -> SimulatedListener:
    """Ears of a standard audiogram, whose listener misses 1 in 50."""
    ears = audiogram_named(name)
    return SimulatedListener(ears, lapse_rate=miss_rate, false_alarm_rate=0.0, seed=seed)


def tones_near(driver: Driver, ear: str, frequency_hz: float) -> Iterator[tuple[float, Any]]:
    """The independent rule's tones: level and answer within a third of an octave."""
    answers = {told["number"]: told["heard"] for told in driver.tells("answer", ear=ear)}
    counted = {"measure", "retest"}
    if driver.settings.conduct == "brisk":
        counted.add("familiarise")
    for told in driver.tells("tone", ear=ear):
        ratio = max(told["frequency_hz"] / frequency_hz, frequency_hz / told["frequency_hz"])
        if told["purpose"] in counted and ratio <= 1.26:
            yield told["level_db_hl"], answers[told["number"]]


def check_claims(driver: Driver, ear: str) -> None:
    """Check every mark by the tones alone."""
    for found in driver.ear(ear)["thresholds"]:
        tones = [*tones_near(driver, ear, found["frequency_hz"])]
        heard = [level for level, answer in tones if answer in (True, "unsure")]
        silent = [level for level, answer in tones if answer in (False, "unsure")]
        match found["mark"]:
            case Outcome.MEASURED:
                assert max(heard) >= found["low_db_hl"]
                assert min(silent) <= found["high_db_hl"]
            case Outcome.NO_RESPONSE | Outcome.INCOMPLETE if found["limit_db_hl"] is not None:
                assert (LIMIT_DB_HL, False) in tones or found["mark"] == Outcome.INCOMPLETE
            case Outcome.HEARS_ALL:
                assert (FLOOR_DB_HL, True) in tones
            case Outcome.INFERRED:
                assert found["low_db_hl"] <= found["threshold_db_hl"] <= found["high_db_hl"]
                assert found["masking"] is found["air_bone_gap_db"] is found["limit_db_hl"] is None
            case _:
                raise AssertionError(found)


@pytest.mark.parametrize("ask_all", [False, True])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", quick([1, 2], 1))
def test_no_mark_claims_what_no_tone_was_asked_for(seed: int, name: str, ask_all: bool) -> None:
    driver = run_left_ear(patient(name, seed), seed=seed, ask_all=ask_all)
    check_claims(driver, "left")
    found, wanted_db = driver.ear("left"), partial(driver.settings.wanted_half_width_db, BY_AIR)
    ended = found["why"][0]
    if ended["code"] == "narrow-enough":
        widest = max(
            0.5 * (each["high_db_hl"] - each["low_db_hl"]) / wanted_db(each["frequency_hz"])
            for each in found["thresholds"]
            if each["mark"] == Outcome.MEASURED
        )
        said = (ended["half_width_db"] + 0.05) / wanted_db(ended["frequency_hz"])
        assert widest <= min(said, 1.0), "the reason of the end and the bands beside it agree"


@pytest.mark.parametrize("ask_all", quick([False, True], False))
@pytest.mark.parametrize("listener", [NeverPresses(), flat(-99.0), flat(99.5), flat(-9.5)])
def test_nor_at_the_limits(listener: Listener, ask_all: bool) -> None:
    driver = run_left_ear(listener, ask_all=ask_all)
    check_claims(driver, "left")
    found = marks(driver.ear("left"))
    if driver.ear("left")["tones"] != driver.settings.tones_max:
        asked_hz = AUDIOGRAM_FREQUENCIES_HZ if ask_all else OCTAVES_HZ
        assert {found[f] for f in asked_hz} <= ASKED


@pytest.mark.parametrize("ask_all", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_every_octave_is_asked_before_an_ear_ends_and_all_with_ask_all(
    name: str, ask_all: bool
) -> None:
    found = run_left_ear(patient(name, 3, 0.0), ask_all=ask_all, tones_max=80).ear("left")
    asked_hz = AUDIOGRAM_FREQUENCIES_HZ if ask_all else OCTAVES_HZ

    assert found["why"][0]["code"] == "narrow-enough"
    # Nobody can say whether a threshold at the limit itself is beyond it.
    true = audiogram_named(name)["left"]
    for f in asked_hz:
        decided = ask_all and true.threshold_db_hl(f) != LIMIT_DB_HL
        assert marks(found)[f] in ASKED - ({Outcome.INCOMPLETE} if decided else set()), f
    assert found["tones"] < 80 or not ask_all


def test_ask_all_keeps_tones_for_what_was_not_asked() -> None:
    """With bands that never get narrow enough, the last tones before the cap are for that."""
    values = {"stop_half_width_db": 1.0, "tones_max": 60}
    plain = run_left_ear(patient("N3", 5, miss_rate=0.0), **values).ear("left")
    whole = run_left_ear(patient("N3", 5, miss_rate=0.0), ask_all=True, **values).ear("left")

    assert Outcome.INFERRED in marks(plain).values()
    assert Outcome.INFERRED not in marks(whole).values()
    assert whole["tones"] <= 60 + ATTENTION_TONES_MAX


@pytest.mark.parametrize("heard", [True, False])
def test_two_answers_against_a_threshold_leave_it_unmeasured(heard: bool) -> None:
    """The band is from 70 to 90 dB HL: heard at 70 and below, or not heard at 90 and above."""
    sides = [(1000.0, 82.0, True), (1000.0, 78.0, False), (1000.0, 76.0, False)]
    against = (1000.0, 70.0 if heard else 90.0, heard)
    elsewhere = (2000.0, *against[1:])
    nearer = (1000.0, 70.5 if heard else 89.5, heard)

    assert mark(ask(*sides, against, elsewhere)) == Outcome.MEASURED
    assert mark(ask(*sides, nearer, nearer)) == Outcome.MEASURED
    assert mark(ask(*sides, against, against)) == Outcome.INFERRED


def ask(*answers: tuple[float, float, bool | None], purpose: str = Purpose.MEASURE) -> Marks:
    """The answers (Hz, dB HL, heard) of an ear."""
    given = (
        Observation(Presentation(Purpose(purpose), f, level), heard, NO_COVER)
        for f, level, heard in answers
    )
    return Marks(Levels(Route("left"), Settings(), no_limit), [*given])


def mark(known: Marks, side: Outcome = Outcome.MEASURED) -> Outcome:
    """The mark of 1 kHz with a band from 70 to 90 dB HL."""
    return known.mark(1000.0, side, 70.0, 90.0)


WITHIN: Final = [
    ([(1000.0, 85.0, True), *[(1000.0, 75.0, False)] * 2], Outcome.MEASURED),
    ([(1259.0, 85.0, True), *[(794.0, 75.0, False)] * 2], Outcome.MEASURED),  # a third octave
    # The ends of the band.
    ([(1000.0, 70.0, True), (1000.0, 90.0, False), (1000.0, 75.0, False)], Outcome.MEASURED),
    ([(1000.0, 80.0, None)] * 2, Outcome.MEASURED),  # unsure is both
    # A silence alone may be an accident.
    ([(1000.0, 85.0, True), (1000.0, 75.0, False)], Outcome.INFERRED),
    ([], Outcome.INFERRED),
    ([(1000.0, 75.0, False), (1000.0, 78.0, False)], Outcome.INFERRED),
    ([(1000.0, 85.0, True), (1000.0, 82.0, True)], Outcome.INFERRED),
    ([(1262.0, 85.0, True), *[(1000.0, 75.0, False)] * 2], Outcome.INFERRED),  # further away
    ([(1000.0, 69.9, True), *[(1000.0, 75.0, False)] * 2], Outcome.INFERRED),  # below the band
    ([(1000.0, 85.0, True), *[(1000.0, 90.1, False)] * 2], Outcome.INFERRED),  # above it
    ([(1000.0, 100.0, False)], Outcome.INCOMPLETE),  # silent at the limit once, never heard
    ([(1000.0, 100.0, False)] * 2, Outcome.INCOMPLETE),  # no count makes it sure
    ([(1000.0, -10.0, True)], Outcome.HEARS_ALL),
]


@pytest.mark.parametrize(
    ("side", "answers", "expected"),
    [
        *((Outcome.MEASURED, *row) for row in WITHIN),
        # Beyond a limit it has to be asked at the limit.
        (Outcome.NO_RESPONSE, [(1000.0, 99.0, False)], Outcome.INFERRED),
        (Outcome.NO_RESPONSE, [(1000.0, 100.0, False)], Outcome.NO_RESPONSE),
        (Outcome.INCOMPLETE, [(1000.0, 99.0, False)], Outcome.INFERRED),
        (Outcome.INCOMPLETE, [(1000.0, 100.0, False)], Outcome.INCOMPLETE),
        (Outcome.INCOMPLETE, [(1000.0, 99.0, True), *TWICE_85], Outcome.INCOMPLETE),
        (Outcome.HEARS_ALL, [(1000.0, -9.0, True)], Outcome.INFERRED),
        (Outcome.HEARS_ALL, [(1000.0, -10.0, True)], Outcome.HEARS_ALL),
        (Outcome.HEARS_ALL, [(1000.0, -10.0, None)], Outcome.INFERRED),
    ],
)
def test_a_frequency_is_measured_if_both_sides_were_answered_there(
    side: Outcome, answers: list[tuple[float, float, bool | None]], expected: Outcome
) -> None:
    assert mark(ask(*answers), side) == expected


@pytest.mark.parametrize(("level_db_hl", "moves"), [(44.9, False), (45.0, True)])
def test_noise_moves_a_tone_that_it_silences_5_db_above_one_heard_without(
    level_db_hl: float, moves: bool
) -> None:
    answers = [
        Observation(Presentation(Purpose.MEASURE, 1000.0, 40.0), True, NO_COVER),
        Observation(Presentation(Purpose.MEASURE, 1000.0, level_db_hl), False, Cover(60.0)),
    ]
    assert Marks(Levels(Route("left"), Settings(), no_limit), answers).moves_with_noise() is moves


def test_only_tones_that_count_are_asked() -> None:
    both = [(1000.0, 85.0, True), (1000.0, 75.0, False), (1000.0, 75.0, False)]
    assert mark(ask(*both, purpose=Purpose.CONFIRM)) == Outcome.INFERRED
    assert mark(ask(*both, purpose=Purpose.RETEST)) == Outcome.MEASURED
