"""The room under the earphones: its noise, the floors, and what it does to a test."""

import math
from dataclasses import replace
from typing import Any, Final

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.hearing import SimulatedTest
from device.simulator.listener import SimulatedListener
from device.simulator.rooms import power_sum_db
from firmware_py.ear.ear import EarTest
from firmware_py.ear.levels import Levels, level_at, no_limit
from firmware_py.ear.mean_threshold import mean_threshold
from firmware_py.session.hearing import HearingTest
from firmware_py.session.masking import CIRCUMAURAL, INSERT, SUPRA_AURAL
from firmware_py.session.remarks import remarks_on_room
from firmware_py.session.room import (
    HEARD_MAX,
    HEARD_MIN,
    SELF_NOISE_DB_SPL,
    Room,
    noise_db_hl,
    too_loud,
)
from firmware_py.terms import events
from firmware_py.terms.events import RoomHeard
from firmware_py.terms.outcomes import Bound, MaskingMark, Outcome, Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.reasons import Code
from firmware_py.terms.results import SessionResult
from firmware_py.terms.room import BANDS_HZ, room_of
from firmware_py.terms.route import BY_AIR, BY_BONE, Route, RouteKind
from firmware_py.terms.settings import Settings
from firmware_py.terms.words import say

QUIET: Final = room_of(10.0)
OFFICE: Final = room_of(40.0, uncertainty_db=1.0)
HZ: Final = (500, 1000, 2000, 4000)


@pytest.mark.parametrize(
    ("kind", "route", "wanted_db_hl"),
    [
        (SUPRA_AURAL, BY_AIR, (13, 3, -9, -20)),
        ("", BY_AIR, (13, 3, -9, -20)),
        (CIRCUMAURAL, BY_AIR, (-3, -11, -15, -34)),
        (INSERT, BY_AIR, (-18, -19, -16, -28)),
        (INSERT, BY_BONE, (23, 19, 13, 14)),
    ],
)
def test_an_office_of_40_dba_makes_so_much_noise_in_an_ear(
    kind: str, route: RouteKind, wanted_db_hl: tuple[int, ...]
) -> None:
    noise = noise_db_hl(OFFICE.levels_db_spl, kind, route)
    assert [round(noise[f]) for f in HZ] == [*wanted_db_hl]


def test_the_limits_of_the_standard_move_a_threshold_of_0_db_hl_by_2_db() -> None:
    limits = (28.0, 19.0, 18.0, 20.0, 23.0, 27.0, 30.0, 34.0, 36.0, 34.0, 33.0)
    for each in noise_db_hl(limits, SUPRA_AURAL, BY_AIR).values():
        moved_db = 10.0 * math.log10(1.0 + 10.0 ** (0.1 * each))
        assert moved_db == pytest.approx(2.0, abs=0.01)


def floors(*told: events.RoomTold | RoomHeard, kind: str = SUPRA_AURAL) -> list[float]:
    room = Room(kind)
    for each in told:
        room.take(each)
    found = room.floors_db_hl(BY_AIR)
    return [found[f] for f in HZ]


def test_the_floor_lies_above_the_noise_by_5_db_and_the_uncertainty() -> None:
    assert floors(OFFICE) == [19.0, 9.0, -3.0, -14.0]
    assert floors(room_of(40.0, uncertainty_db=3.0)) == [21.0, 11.0, -1.0, -12.0]


@pytest.mark.parametrize("kind", [CIRCUMAURAL, INSERT])
def test_30_dba_under_earphones_that_keep_it_out_raises_no_floor(kind: str) -> None:
    levels = Levels(Route("left"), Settings(), no_limit)
    room = Room(kind)
    room.take(room_of(30.0))
    levels.hear_room(room.floors_db_hl(BY_AIR), anew=False)
    assert max(levels.floors_db_hl(HZ)) <= -5.0


def heard(*levels_db: float) -> list[RoomHeard]:
    """Return what a microphone tells of an office, so many dB louder or softer than 40 dBA."""
    return [RoomHeard(tuple(x + each for x in OFFICE.levels_db_spl)) for each in levels_db]


def test_of_what_the_microphone_hears_the_quiet_share_counts() -> None:
    steady, bursts = heard(*[0.0] * 10), heard(*[0.0] * 7, 15.0, 15.0, 15.0)
    assert floors(*bursts) == floors(*steady) == pytest.approx(floors(OFFICE), abs=1.0)


@pytest.mark.parametrize(("quiet", "loud", "is_quiet"), [(1, 4, True), (1, 5, False), (2, 4, True)])
def test_a_fifth_of_the_time_may_be_quieter(quiet: int, loud: int, is_quiet: bool) -> None:
    found = floors(*heard(*[0.0] * quiet, *[20.0] * loud))
    assert (found == pytest.approx(floors(OFFICE), abs=1.0)) is is_quiet


def told_at_500_hz(level_db_spl: float) -> events.RoomTold:
    levels_db_spl = [*OFFICE.levels_db_spl]
    levels_db_spl[BANDS_HZ.index(500)] = level_db_spl
    return replace(OFFICE, levels_db_spl=tuple(levels_db_spl))


def test_every_part_of_a_floor_counts_by_a_tenth_of_a_decibel() -> None:
    """18 dB SPL move 0 dB HL by 2 dB, and -2.33 dB HL do; 5 dB above, and what it is off by, 1."""
    told = [floors(told_at_500_hz(18.0 + 2.33 + each))[0] for each in (4.0, 4.2)]
    by_microphone = [
        floors(*[RoomHeard(told_at_500_hz(each).levels_db_spl)] * HEARD_MIN)[0]
        for each in (60.3, 60.4)
    ]
    assert (told, by_microphone) == ([10.0, 11.0], [46.0, 47.0])


def test_of_what_is_told_and_what_is_heard_the_louder_counts_and_both_are_said() -> None:
    room = Room(SUPRA_AURAL)
    room.take(OFFICE)
    for each in heard(*[15.0] * HEARD_MAX):
        room.take(each)
    assert room.floors_db_hl(BY_AIR)[500] == pytest.approx(34.0, abs=1.0)
    assert [each.code for each in room.about] == [Code.ROOM, Code.ROOM_CONTRADICTED]
    assert "hears 55 dBA, and 40 were told" in say(room.about[1])


def test_a_microphone_hears_no_softer_room_than_its_own_noise() -> None:
    own = RoomHeard(SELF_NOISE_DB_SPL)
    assert Room(SUPRA_AURAL).floors_db_hl(BY_AIR) == {}
    room = Room(SUPRA_AURAL)
    for _ in range(5):
        assert room.floors_db_hl(BY_AIR) == {}
        room.take(own)
    assert max(room.floors_db_hl(BY_AIR)[f] for f in HZ) <= 0.0
    assert room.floors_db_hl(BY_BONE)[4000] == 20.0


@pytest.mark.parametrize(("loud", "is_quiet"), [(9, True), (10, False)])
def test_half_a_minute_is_remembered(loud: int, is_quiet: bool) -> None:
    found = floors(*heard(*[0.0] * 3, *[20.0] * loud))
    assert (found == pytest.approx(floors(OFFICE), abs=1.0)) is is_quiet


@pytest.mark.parametrize(("below_db", "fault"), [(5.9, []), (6.1, [Code.MICROPHONE_DEAD])])
def test_a_microphone_is_dead_6_db_below_its_own_noise(below_db: float, fault: list[Code]) -> None:
    room = Room(SUPRA_AURAL)
    room.take(RoomHeard(tuple(max(each - below_db, 0.0) for each in SELF_NOISE_DB_SPL)))
    assert [each.code for each in room.about] == fault


@pytest.mark.parametrize(
    ("told_dba", "heard_db", "said"),
    [(40.0, 9.5, False), (40.0, 11.5, True), (50.0, 0.5, False), (51.0, 0.5, True),
     (39.0, -40.0, False), (40.0, -40.0, True)],
)  # fmt: skip
def test_more_than_10_db_between_what_is_told_and_heard_is_said(
    told_dba: float, heard_db: float, said: bool
) -> None:
    """A microphone hears 29 dBA of its own: what is told may be softer than that."""
    room = Room(SUPRA_AURAL)
    room.take(room_of(told_dba))
    for each in heard(*[heard_db] * HEARD_MIN):
        own = zip(each.levels_db_spl, SELF_NOISE_DB_SPL, strict=True)
        room.take(RoomHeard(tuple(power_sum_db(*both) for both in own)))
    assert (Code.ROOM_CONTRADICTED in [each.code for each in room.about]) is said


def test_floors_above_normal_hearing_are_said() -> None:
    ear = EarTest(Route("left"), Settings(ears="left"))
    ear.levels.hear_room({500: 1.0, 1000: 0.0, 2000: -1.0}, anew=True)
    (said,) = remarks_on_room(Room(SUPRA_AURAL), [ear])
    assert "1 dB HL at 500 Hz" in say(said)
    assert "1000 Hz" not in say(said)


def test_a_dead_microphone_tells_nothing_of_the_room_and_that_is_said() -> None:
    room = Room(SUPRA_AURAL)
    room.take(RoomHeard((0.0,) * len(BANDS_HZ)))
    assert room.floors_db_hl(BY_AIR) == {}
    assert [each.code for each in room.about] == [Code.MICROPHONE_DEAD]


def test_what_the_microphone_tells_is_rounded_where_no_machine_differs() -> None:
    """Its levels come in half dB: none lies so near the middle of a tenth that a bit decides."""
    for own in SELF_NOISE_DB_SPL:
        for halves in range(256):
            power = 10.0 ** (0.05 * halves) - 10.0 ** (0.1 * own)
            level_db = 10.0 * math.log10(max(power, 10.0 ** (0.1 * own)))
            assert abs(level_db * 10.0 % 1.0 - 0.5) > 1e-9 or round(level_db, 1) == own


def test_noise_hides_a_tone_that_is_less_than_4_db_above_it() -> None:
    room, levels = Room(SUPRA_AURAL), Levels(Route("left"), Settings(), no_limit)
    tones = [Presentation(Purpose.MEASURE, 500.0, level) for level in (43.0, 44.0)]
    assert not any(map(levels.hides, tones))
    for level_db_spl in (59.4, 60.3):  # 39.07 and 39.97 dB HL
        room.take(RoomHeard(told_at_500_hz(level_db_spl).levels_db_spl))
        levels.hidden_db_hl = room.hidden_db_hl(BY_AIR)
        assert [*map(levels.hides, tones)] == [True, False]
    room.take(RoomHeard((0.0,) * len(BANDS_HZ)))  # it died
    assert room.hidden_db_hl(BY_AIR) == {}


def test_a_burst_hides_no_tone_after_its_own() -> None:
    """While masking noise plays nothing is heard around a tone: none is void for the last burst."""
    test = HearingTest(Settings(ears="left", seed=3))
    levels = test.ears[Route("left")].levels
    test.handle(0, events.Started())
    test.handle(1, *heard(15.0))
    assert levels.hidden_db_hl
    test.handle(2, events.ToneStarted(2, 0))
    assert not levels.hidden_db_hl


def test_between_two_bands_the_louder_one_counts() -> None:
    assert [level_at(f, {500: 3.0, 750: 5.0}) for f in (400.0, 500.0, 600.0, 900.0)] == [3, 3, 5, 5]


@pytest.mark.parametrize(("floor_db_hl", "is_too_loud"), [(35.0, False), (35.5, True)])
def test_no_floor_above_35_db_hl_leaves_a_test(floor_db_hl: float, is_too_loud: bool) -> None:
    assert (too_loud({500: floor_db_hl}, 60.0) is not None) is is_too_loud


@pytest.mark.parametrize(("dba", "at_hz"), [(45.0, None), (55.0, 500)])
def test_a_room_is_too_loud_where_nothing_soft_could_be_asked(
    dba: float, at_hz: int | None
) -> None:
    room = Room(SUPRA_AURAL)
    room.take(room_of(dba))
    found = too_loud(room.floors_db_hl(BY_AIR), 40.0)
    assert (found and dict(found.parts)["frequency_hz"]) == at_hz


def run(
    *told: events.Event, level_db_hl: float = 0.0, **of_listener: Any
) -> tuple[SessionResult, SimulatedTest]:
    """Test one ear in an office of 40 dBA, which is told or not."""
    noise = noise_db_hl(OFFICE.levels_db_spl, SUPRA_AURAL, BY_AIR)
    heard_from = tuple(power_sum_db(level_db_hl, each) for each in noise.values())
    ear = Audiogram(tuple(map(float, BANDS_HZ)), heard_from)
    test = HearingTest(Settings(ears="left", seed=3))
    for event in told:
        test.handle(0, event)
    listener = SimulatedListener({"left": ear, "right": ear}, 2.0, seed=3, **of_listener)
    simulated = SimulatedTest(test.settings, listener, test=test)
    return simulated.run(), simulated


def test_in_a_room_that_was_told_no_threshold_is_told_that_its_noise_made() -> None:
    (unaware, _), (aware, simulated) = run(), run(OFFICE)
    (before,), (ear,) = unaware.ears, aware.ears
    told = {each.frequency_hz: each for each in before.thresholds}
    assert (told[500].threshold_db_hl or 0.0) > 8.0  # of an ear with 0 dB HL
    found = {each.frequency_hz: each for each in ear.thresholds}
    assert (found[500].mark, found[500].limit_db_hl) == (Outcome.HEARS_ALL, 19.0)
    assert found[4000].mark == Outcome.MEASURED
    tones = [each.presentation for each in simulated.test.ears[Route("left")].observations]
    levels = simulated.test.ears[Route("left")].levels
    assert all(t.level_db_hl >= levels.floor_db_hl(t.frequency_hz) for t in tones if t.is_asked)
    assert "room: 40 dBA (office)" in map(say, aware.remarks)
    assert any("no softer tones than" in say(each) for each in aware.remarks)


@pytest.mark.parametrize("dba", [40.0, 52.0])
def test_who_hears_every_floor_is_done_when_each_is_known(dba: float) -> None:
    result, _ = run(room_of(dba, uncertainty_db=1.0), level_db_hl=-30.0)
    (ear,) = result.ears
    assert ear.outcome == Outcome.HEARS_ALL
    assert ear.tones < 30
    (why,) = ear.why
    assert why.code == Code.ALL_HEARD_AT_EACH
    asked = [t for t in ear.thresholds if t.mark == Outcome.HEARS_ALL]
    assert len(asked) >= len(HZ)


def test_who_presses_always_has_no_thresholds_at_the_floors() -> None:
    result, _ = run(OFFICE, false_alarm_rate=0.95)
    assert str(result.verdict) == "could-not-be-tested"


def test_a_floor_rises_while_an_ear_is_tested_and_does_not_fall() -> None:
    levels = Levels(Route("left"), Settings(), no_limit)
    levels.hear_room({500: 20.0, 1000: 5.0}, anew=False)
    levels.hear_room({500: 10.0, 1000: 5.0}, anew=False)  # nothing was presented yet
    assert levels.floors_db_hl((500, 1000)) == [10.0, 5.0]
    levels.note_tone(levels.tone(Purpose.FAMILIARISE, 1000.0, 40.0))
    levels.hear_room({500: 0.0, 1000: 12.0}, anew=False)
    assert levels.floors_db_hl((500, 1000)) == [10.0, 12.0]


def test_tones_lead_up_to_a_floor_and_their_silence_tells_nothing() -> None:
    """None is more than 20 dB above the one before, and what noise may hide is no answer."""
    test = HearingTest(Settings(ears="left", seed=3))
    test.handle(0, room_of(45.0))
    levels = test.ears[Route("left")].levels
    levels.note_tone(Presentation(Purpose.MEASURE, 4000.0, -5.0))
    floor_db_hl, steps = levels.floor_db_hl(500.0), list[Presentation]()
    while not steps or levels.hides(steps[-1]):
        steps.append(levels.tone(Purpose.MEASURE, 500.0, 0.0))
        levels.note_tone(steps[-1])
    assert [each.level_db_hl for each in steps] == [15.0, floor_db_hl]


def test_the_operators_word_replaces_the_one_before_while_an_ear_is_tested() -> None:
    test = HearingTest(Settings(ears="left", seed=3))
    levels = test.ears[Route("left")].levels
    test.handle(0, room_of(60.0))  # mistyped
    levels.note_tone(levels.tone(Purpose.FAMILIARISE, 1000.0, 40.0))
    test.handle(1, room_of(30.0))
    assert levels.floor_db_hl(500.0) == 11.0


@pytest.mark.parametrize("dba", [80.0, 72.0])
def test_a_room_that_is_louder_than_the_loudest_tone_ends_the_test_without_a_word_of_it(
    dba: float,
) -> None:
    """No silence there tells anything, nor does a press: nothing is said, and nothing goes on."""
    settings = Settings(ears="left", seed=3, level_max_db_hl=40.0)
    test = HearingTest(settings)
    test.handle(0, room_of(dba))
    deaf = Audiogram((1000.0,), (130.0,))
    listener = SimulatedListener({"left": deaf, "right": deaf}, 2.0, seed=3, false_alarm_rate=0.02)
    (ear,) = SimulatedTest(settings, listener, test=test).run().ears
    levels = test.ears[Route("left")].levels
    out = [each for each in ear.thresholds if levels.is_out_of_reach(each.frequency_hz)]
    assert {each.mark for each in out} <= {Outcome.INFERRED, ear.outcome}
    assert {each.limit_db_hl for each in out} <= {None, 40.0}
    for each in ear.thresholds:
        assert each.floor_db_hl is not None
        assert each.ceiling_db_hl is not None
        assert each.floor_db_hl <= each.ceiling_db_hl


def test_a_mean_that_is_at_least_is_not_lifted_by_floors() -> None:
    """One that the other ear may have heard makes it so; what lies below a floor may be low."""
    noisy = Audiogram((1000.0,), (10.0,))
    settings = Settings(ears="left", seed=5, masking="off")
    test = HearingTest(settings)
    test.handle(0, room_of(60.0))
    listener = SimulatedListener({"left": noisy, "right": noisy}, 2.0, seed=5)
    (ear,) = SimulatedTest(settings, listener, test=test).run().ears
    if ear.pta4 is not None and ear.pta4.bound == Bound.AT_LEAST:
        assert ear.pta4.level_db_hl <= 13.0
    found = replace(
        ear, thresholds=tuple(replace(t, masking=MaskingMark.UNCERTAIN) for t in ear.thresholds)
    )
    mean = mean_threshold(found, test.ears[Route("left")].estimator)
    assert mean is not None
    assert mean.bound == Bound.AT_LEAST
    assert mean.level_db_hl <= 15.0


def test_an_overdriven_microphone_tells_nothing_of_the_room() -> None:
    room = Room(SUPRA_AURAL)
    for _ in range(HEARD_MAX):
        room.take(RoomHeard((127.5,) * len(BANDS_HZ)))
    assert (room.floors_db_hl(BY_AIR), room.hidden_db_hl(BY_AIR)) == ({}, {})
    assert [each.code for each in room.about] == [Code.MICROPHONE_CLIPPED]
    room.take(RoomHeard((126.5,) * len(BANDS_HZ)))
    assert room.hidden_db_hl(BY_AIR) != {}


def test_a_booth_that_is_softer_than_the_microphone_contradicts_nothing() -> None:
    room = Room(SUPRA_AURAL)
    room.take(room_of(15.0))
    for _ in range(HEARD_MAX):
        room.take(RoomHeard(SELF_NOISE_DB_SPL))
    assert [say(each) for each in room.about] == ["room: 15 dBA (office)"]


def test_no_tone_is_louder_than_its_limit_in_any_room() -> None:
    levels = Levels(Route("left"), Settings(), lambda _route, _frequency_hz: 30.0)
    levels.hear_room({500: 45.0}, anew=False)
    assert levels.tone(Purpose.MEASURE, 500.0, 0.0).level_db_hl == 30.0
    assert levels.is_out_of_reach(500.0)
