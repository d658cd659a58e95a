"""Does the noise reach the ear that it is for? Before anything counts as masked it is seen."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.hearing import SimulatedTest, ear_named
from device.simulator.listener import Listener, Press, SimulatedListener, Tone
from firmware_py.ear.levels import Levels
from firmware_py.findings.air_bone_gap import LossType, gaps_of
from firmware_py.link.messages import IN_NOISE_DBFS_MAX
from firmware_py.session.masking import Threshold
from firmware_py.session.noise_check import BELOW_FULL_SCALE_DB, NoiseCheck
from firmware_py.session.placing import Placing
from firmware_py.terms import events, tells
from firmware_py.terms.outcomes import MaskingMark, Why
from firmware_py.terms.reasons import Code
from firmware_py.terms.route import LEFT, RIGHT, Route
from firmware_py.terms.settings import Settings

COCHLEAR: Final = 60.0, 5.0  # dB HL: a loss of the right inner ear, that looks like a gap unmasked


@dataclass
class Worn(Listener):
    """A listener whose earphones do what `changed` says, once the vibrator is on, until mended."""

    listener: Listener
    changed: Callable[[Tone], Tone]
    mended: bool = False
    by_bone: bool = False

    def answer(self, tone: Tone) -> Press | None:
        self.by_bone = self.by_bone or tone.by_bone
        heard = tone if self.mended or not self.by_bone else self.changed(tone)
        return self.listener.answer(heard)

    def spontaneous_press(self, after_id: str, slot: int) -> Press | None:
        return self.listener.spontaneous_press(after_id, slot)


def without_noise(tone: Tone) -> Tone:
    """The noise is lost on its way: the channel plays none, the tone is as it was."""
    return tone._replace(noise=None)


def off(tone: Tone) -> Tone:
    """The earphone lies on the table: neither tone nor noise comes from it."""
    return without_noise(tone if tone.by_bone else tone._replace(level_db_hl=-math.inf))


def as_it_is(tone: Tone) -> Tone:
    return tone


@cache
def run(
    changed: Callable[[Tone], Tone], levels_db_hl: tuple[float, float] = COCHLEAR,
    gap_db: float = 0.0, *, mends: bool = False, seed: int = 1, routes: str = "air, bone",
) -> SimulatedTest:  # fmt: skip
    right, left = (Audiogram((1000.0,), (level,)) for level in levels_db_hl)
    head = Head({RIGHT: gap_db}, interaural_attenuation_db=60.0, skull_attenuation_db=5.0)
    ears = {ear_named(RIGHT): right, ear_named(LEFT): left}
    worn = Worn(SimulatedListener(ears, 2.0, seed=seed, head=head), changed)
    test = SimulatedTest(Settings(routes=routes, seed=seed), worn)
    while not isinstance(action := test.run_until(_is_looked_at_or_over), events.Finish):
        assert isinstance(action, tells.PlacingTold)
        worn.mended = mends
    return test


def _is_looked_at_or_over(action: events.Action) -> bool:
    looked_at = isinstance(action, tells.PlacingTold) and action.why.code == Code.LOOK_AT_NOISE
    return looked_at or isinstance(action, events.Finish)


def looks(test: SimulatedTest) -> int:
    return sum(_is_looked_at_or_over(action) for _, action in test.log) - 1


def checks(test: SimulatedTest) -> list[events.Play]:
    plays = [action for _, action in test.log if isinstance(action, events.Play)]
    return [play for play in plays if play.why == Why.NOISE_REACHES]


def marks(test: SimulatedTest, ear: str) -> set[MaskingMark | None]:
    found = test.test.result().by_route[Route(ear, "bone")]
    return {each.masking for each in found.thresholds if each.masking is not None}


@pytest.mark.parametrize("changed", [without_noise, off])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nothing_is_masked_by_noise_that_does_not_arrive(
    changed: Callable[[Tone], Tone], seed: int
) -> None:
    """A cochlear loss of one ear is no conductive one because its noise was lost."""
    test = run(changed, seed=seed)
    right, _ = gaps_of(test.test.result())
    assert looks(test) == 1
    assert MaskingMark.MASKED not in marks(test, RIGHT)
    assert MaskingMark.UNCERTAIN in marks(test, RIGHT)
    assert right.loss == LossType.UNKNOWN
    assert not right.examined_hz
    whys = [
        dict(r.parts)["why"] for r in test.test.result().remarks if r.code == Code.MASKING_UNCERTAIN
    ]
    assert Code.NOISE_LOST in {why.code for why in whys}


@pytest.mark.parametrize("changed", [without_noise, off])
def test_a_look_at_the_earphone_mends_it(changed: Callable[[Tone], Tone]) -> None:
    test = run(changed, mends=True)
    right, _ = gaps_of(test.test.result())
    assert looks(test) == 1
    assert MaskingMark.MASKED in marks(test, RIGHT)
    assert right.loss == LossType.SENSORINEURAL


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_noise_that_arrives_costs_two_tones_in_the_ear_that_has_it(seed: int) -> None:
    """The one without noise, where the operator has put the earphone on; the other one in noise."""
    test = run(as_it_is, gap_db=45.0, levels_db_hl=(55.0, 10.0), seed=seed)
    noises = {a.number: a for _, a in test.log if isinstance(a, events.Mask)}
    by_bone = {
        action.number for _, action in test.log
        if isinstance(action, events.Play) and action.route.by_bone and action.number in noises
    }  # fmt: skip
    placed = [play for play in checks(test) if play.number < min(by_bone)][-2:]
    assert [play.number in noises for play in placed] == [False, True]
    assert [play.number for play in placed] == [min(by_bone) - 2, min(by_bone) - 1]
    assert placed[0] == replace(placed[1], number=placed[0].number)
    noise = noises[placed[1].number]
    assert noise.route == placed[1].route == Route(LEFT)
    assert noise.level_db_hl == placed[1].level_db_hl + 20.0
    assert looks(test) == 0


def test_by_air_the_ear_has_heard_its_tones_and_one_in_noise_is_enough() -> None:
    test = run(as_it_is, routes="air")
    masks = {a.number: a for _, a in test.log if isinstance(a, events.Mask)}
    assert [play.number in masks for play in checks(test)] == [True]
    assert masks[checks(test)[0].number].route == checks(test)[0].route


def check_of(high_db_hl: float, noise_db_hl: float = 100.0, reach_db_hl: float = 120.0) -> Any:
    """A check of noise in the left ear, whose threshold is at most so high, and its limits."""
    route = Route(LEFT)
    levels = Levels(route, Settings(), lambda _route, _hz: reach_db_hl)
    audiogram = SimpleNamespace(frequencies_hz=(250, 500, 1000, 8000))
    known = {250: -10.0, 500: high_db_hl + 5.0, 1000: high_db_hl, 8000: -10.0}
    skull = SimpleNamespace(
        ears={route: SimpleNamespace(levels=levels, audiogram=audiogram)},
        known=lambda _route, hz: Threshold(known[hz], known[hz], known[hz]),
        highest_noise_db_hl=lambda _route, _hz: noise_db_hl,
        noise_lost={},
    )
    return NoiseCheck(cast(Any, skull), Placing())


def test_no_tone_in_noise_is_louder_than_a_board_plays_it() -> None:
    assert BELOW_FULL_SCALE_DB == -IN_NOISE_DBFS_MAX


def test_the_tone_is_clear_of_the_threshold_and_the_noise_20_db_above_it() -> None:
    """Where the ear hears best from 500 to 4000 Hz: there the noise is softest."""
    check = check_of(13.0)
    tone = check.tone(Route(LEFT))
    assert (tone.frequency_hz, tone.level_db_hl) == (1000, 23.0)
    assert check.cover(Route(LEFT), tone).noise_db_hl == 43.0


@pytest.mark.parametrize(
    ("noise_db_hl", "reach_db_hl", "level_db_hl"),
    [
        # The noise 15 dB above the tone, which is 5 dB above the threshold: no less tells.
        (33.0, 120.0, 18.0), (32.9, 120.0, None),
        # What plays in noise is 20 dB below full scale.
        (100.0, 38.0, 18.0), (100.0, 37.9, None),
    ],
)  # fmt: skip
def test_where_no_level_would_tell_nothing_is_asked(
    noise_db_hl: float, reach_db_hl: float, level_db_hl: float | None
) -> None:
    check = check_of(13.0, noise_db_hl, reach_db_hl)
    tone = check.tone(Route(LEFT))
    assert (tone and tone.level_db_hl) == level_db_hl
    if tone is not None:
        cover = check.cover(Route(LEFT), tone)
        assert cover.noise_db_hl == min(noise_db_hl, tone.level_db_hl + 20.0)


def test_one_answer_may_be_an_accident_and_one_look_may_mend_it() -> None:
    check, route = check_of(13.0), Route(LEFT)
    cover = check.cover(route, check.tone(route))
    assert not check.take_answer(route, True, cover)
    assert check.take_answer(route, True, cover), "somebody is to look"
    assert check.tone(route) is not None
    assert not check.take_answer(route, True, cover)
    assert not check.take_answer(route, True, cover), "it was looked at already"
    assert check.tone(route) is None


def test_the_answers_tell_nothing_else() -> None:
    test = run(as_it_is, gap_db=45.0, levels_db_hl=(55.0, 10.0))
    asked = {o.presentation.why for ear in test.test.ears.values() for o in ear.observations}
    assert Why.MOST_INFORMATIVE in asked
    assert Why.NOISE_REACHES not in asked
