"""Earphones that are swapped give each ear the tones of the other one, and are turned round."""

import pytest

from device.simulator.audiograms import audiogram_named
from device.simulator.earphones import ASK_US, TURN_US, Worn, look_after_ears
from device.simulator.head import Head
from device.simulator.listener import EARS, Ear, Listener, Noise, SimulatedListener, Tone
from firmware_py.terms.events import Continued, EarNamed, Play
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route
from firmware_py.terms.tells import EarCheckTold, EarphonesTold

OTHER: dict[Ear, Ear] = {"left": "right", "right": "left"}


def head(*, lapse_rate: float = 0.0, attenuation_db: float = 50.0) -> SimulatedListener:
    return SimulatedListener(
        audiogram_named("N1,N6"), lapse_rate=lapse_rate, false_alarm_rate=0.0,
        head=Head(interaural_attenuation_db=attenuation_db),
    )  # fmt: skip


def play(ear: Ear, level_db_hl: float) -> Play:
    return Play(1, Route(ear), 1000.0, level_db_hl, 260, 190, 3, 35, 100, 1)


@pytest.mark.parametrize("ear", EARS)
@pytest.mark.parametrize("level_db_hl", [10.0, 40.0, 75.0])
def test_each_ear_answers_the_tones_of_the_other(ear: Ear, level_db_hl: float) -> None:
    worn, swapped = Worn(head()), Worn(head(), swapped=True)
    noise = Noise(OTHER[ear], 1000.0, 60.0)

    tone = Tone("1", ear, 1000.0, level_db_hl)
    to_other = tone._replace(ear=OTHER[ear], noise=Noise(ear, 1000.0, 60.0))
    assert worn.answer(tone) == head().answer(tone)
    assert swapped.answer(tone._replace(noise=noise)) == head().answer(to_other)
    swapped.turn()
    assert swapped.answer(tone) == head().answer(tone)


def test_a_listener_points_to_the_ear_that_hears_it_better() -> None:
    assert head().points_to("right", 1000.0, 40.0) == "right"
    assert head().points_to("left", 1000.0, 40.0) == "right", "through the skull"
    assert head(attenuation_db=100.0).points_to("left", 1000.0, 80.0) == "left"
    assert Worn(head(), swapped=True).points_to("left", 1000.0, 40.0) == "right"
    assert Listener().points_to("left", 1000.0, 40.0) == "left", "who cannot say"


def test_the_operator_says_where_it_was_and_turns_the_earphones_round() -> None:
    worn = Worn(head(attenuation_db=100.0), swapped=True)
    played = play("left", 40.0)
    which_ear = EarCheckTold(reason(Code.WHICH_EAR))
    turn = EarphonesTold(reason(Code.TURN_EARPHONES, ear="left"))

    assert look_after_ears(which_ear, worn, None) is None, "nothing was played"
    assert look_after_ears(which_ear, worn, played) == (ASK_US, EarNamed("right"))
    for _ in range(2):  # the second time they are the right way round
        assert look_after_ears(turn, worn, played) == (TURN_US, Continued())
        assert not worn.swapped
    assert look_after_ears(played, worn, played) is None
