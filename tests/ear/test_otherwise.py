"""What may have been otherwise than believed: how probable it is, and what decides it."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from firmware_py.ear.in_place import InPlace
from firmware_py.ear.listening import Listening, otherwise_reason
from firmware_py.ear.otherwise import (
    EVERYWHERE_HZ,
    Explanations,
    Otherwise,
    _best_places,
    probability_of,
)
from firmware_py.inference.elementary import log
from firmware_py.inference.stories import Story
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import NO_COVER, Observation, Presentation
from firmware_py.terms.route import BONE, Route
from firmware_py.terms.words import say
from tests.reference import FloatArray


def a_story(story: Story = Story.MOVED, **more: Any) -> Otherwise:
    about: dict[str, Any] = {
        "log_odds": 0.0, "softer": np.zeros(1), "pressed_unheard": np.zeros(1),
    }  # fmt: skip
    return Otherwise(story, **(about | more))


def test_odds_are_those_of_all_stories_together() -> None:
    both = [a_story(log_odds=log(0.5)), a_story(Story.CUE, log_odds=log(0.5))]

    assert probability_of(both) == pytest.approx(0.5)
    assert probability_of([a_story(log_odds=1000.0)]) == pytest.approx(1.0)
    assert probability_of([]) == 0.0


def test_nobody_who_answered_nothing_is_suspected() -> None:
    estimator: Any = SimpleNamespace()
    assert Explanations(estimator, []).all() == []


class Told:
    """An estimator that tells a log ratio by what is supposed, and by how much shifts gain."""

    def __init__(self, tones: int, **ratios: float) -> None:
        self.tones, self.ratios = tones, ratios
        self.gain, self.shift_db = np.full((2, 7, tones), -9.0)
        self.supposed: list[tuple[float, float]] = []

    def log_ratio_otherwise(self, softer_db: FloatArray, pressed_unheard: FloatArray) -> float:
        most = float(softer_db[np.abs(softer_db).argmax()]), float(pressed_unheard.max())
        self.supposed.append(most)
        return self.ratios.get(f"{most[0]:g} {most[1]:g}", 0.0)

    def gain_by_shifts(self, among: FloatArray, sd_db: float) -> tuple[FloatArray, FloatArray]:
        assert (among.shape, sd_db) == ((7, self.tones), 10.0)
        return self.gain, self.shift_db

    def threshold(self, at_hz: list[float]) -> tuple[FloatArray, None]:
        return np.full(len(at_hz), 30.0), None


def told(estimator: Told) -> dict[Story, Otherwise]:
    at = [(1000.0 if k % 2 else 4150.0, 30.0 - k) for k in range(estimator.tones)]
    tones = [Observation(Presentation(Purpose.MEASURE, *each), True, NO_COVER) for each in at]
    return {each.story: each for each in Explanations(estimator, tones).all()}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("row", "shift_db", "size_db", "share"),
    [
        (0, 10.0, 10.0, 0.4 * 0.8), (0, -10.0, -10.0, 0.4 * 0.2), (2, 10.0, 10.0, 0.1 * 0.8),
        (0, 6.0, 8.0, 0.4 * 0.8), (0, 40.0, 18.0, 0.4 * 0.8),
    ],
)  # fmt: skip
def test_the_odds_of_a_move_are_those_of_its_size_its_place_and_its_direction(
    row: int, shift_db: float, size_db: float, share: float
) -> None:
    """Eight tones on either side may be the place as well, of 40: exp(-1.6) as probably."""
    estimator = Told(40, **{f"{size_db:g} 0": 7.0})
    estimator.gain[row], estimator.shift_db[row] = -0.6, shift_db
    estimator.gain[row, 20] = 1.0

    moved = told(estimator)[Story.MOVED]

    assert (moved.began, moved.softer_db) == (20, size_db)
    size = math.exp(-0.5 * (size_db / 10.0) ** 2) * 3.0 / 10.0
    place = (1.0 + 16.0 * math.exp(-1.6)) / 40.0
    wanted = 7.0 + math.log(0.1 * share * size * place)
    assert moved.log_odds == pytest.approx(wanted, abs=0.01)


def test_other_sizes_are_tried_where_the_own_one_is_worth_something() -> None:
    for worth, tried in ((1.22, {10.0, 8.0, 14.0}), (1.17, {10.0})):
        estimator = Told(40, **{"10 0": worth})
        estimator.gain[0, 20], estimator.shift_db[0] = 3.0, 10.0
        told(estimator)
        rising_db = 6.0
        supposed = {softer for softer, share in estimator.supposed if softer and not share}
        assert supposed - {rising_db} == tried


class Softer:
    """An estimator that believes so many dB softer since a tone, by a Gaussian of 1 dB a tone."""

    def __init__(self, since: FloatArray) -> None:
        self.since = since

    def log_ratio_otherwise(self, softer_db: FloatArray, pressed_unheard: FloatArray) -> float:
        assert not pressed_unheard.any()
        return float(-0.5 * ((softer_db - self.since) ** 2).sum())


def slipped(softer_db: list[float], across: bool = False) -> Otherwise:
    tone = Observation(Presentation(Purpose.MEASURE, 1000.0, 30.0), True, NO_COVER)
    estimator: Any = Softer(np.array(softer_db))
    explanations = Explanations(estimator, [tone] * len(softer_db))
    (found,) = explanations.all(by_bone=True, across=across)
    return found


def test_a_vibrator_slips_at_any_tone_or_sits_too_weakly_from_the_first() -> None:
    """Half of it begins with the first tone; the places after it, and three sizes, are alike."""
    from_the_first, later = slipped([12.0] * 10), slipped([0.0] * 4 + [16.0] * 6)

    assert (from_the_first.began, from_the_first.softer_db) == (0, 12.0)
    assert (later.began, later.softer_db) == (4, 16.0)
    usual = -0.5 * 10 * 12.0**2
    assert from_the_first.log_odds == pytest.approx(math.log(0.05 * 0.5 / 3.0) - usual, abs=0.01)
    usual = -0.5 * 6 * 16.0**2
    assert later.log_odds == pytest.approx(math.log(0.05 * 0.5 / 8.0 / 3.0) - usual, abs=0.01)
    assert list(later.softer) == [0.0] * 4 + [16.0] * 6


@pytest.mark.parametrize("skull_db", [4.0, 8.0, 12.0])
def test_what_the_skull_or_noise_takes_away_is_no_slip(skull_db: float) -> None:
    """Where the other cochlea hears it all is so much softer from the first tone on."""
    doubted = slipped([skull_db] * 10)
    across = slipped([skull_db] * 10, across=True)
    assert across.log_odds == pytest.approx(doubted.log_odds - 0.5 * 10 * skull_db**2, abs=1e-6)
    assert slipped([0.0] * 4 + [16.0] * 6, across=True).log_odds > 0.0, "that slipped later"


def test_of_two_tones_by_bone_nothing_is_said() -> None:
    tone = Observation(Presentation(Purpose.MEASURE, 1000.0, 30.0), True, NO_COVER)
    estimator: Any = Softer(np.zeros(2))
    assert Explanations(estimator, [tone] * 2).all(by_bone=True) == []


def test_the_odds_of_a_pitch_a_cue_and_a_habit_are_means_over_variants() -> None:
    """Seven pitches and two shares, two shares, two sizes."""
    ratios = {"0 0.8": 3.0, "0 0.3": 2.0, "10 0": 1.0}
    found = told(Told(40, **ratios))

    e = math.exp
    # At four of the seven pitches no tone was asked: nothing can be supposed there.
    wanted = 0.06 * (3 * e(3.0) + 11.0) / 14.0
    assert found[Story.PITCH].log_odds == pytest.approx(math.log(wanted), abs=0.02)
    assert found[Story.PITCH].share == 0.8
    assert found[Story.CUE].log_odds == pytest.approx(math.log(0.14 * (e(2.0) + 1.0) / 2.0))
    assert found[Story.RISING].log_odds == pytest.approx(math.log(1e-4 * (e(1.0) + 1.0) / 2.0))
    assert found[Story.RISING].softer_db == 10.0


@pytest.mark.parametrize(
    ("gain", "places"),
    [
        ([-0.52], []),  # nothing is gained
        ([-0.48], [0]),
        ([-1.0, 0.0, 3.0, 2.0, 1.0], [2]),  # others are near
        ([2.9, 0.0, 0.0, 0.0, 0.0, 3.0], [5, 0]),
        ([8.6, 0.0, 0.0, 0.0, 0.0, 3.0], [0, 5]),
        ([9.5, 0.0, 0.0, 0.0, 0.0, 3.0], [0]),  # so much less than the best
        ([3.0, *[0.0] * 4, 3.0, *[0.0] * 4, 3.0], [0, 5]),
    ],
)
def test_places_where_it_may_have_moved_are_the_best_and_not_neighbours(
    gain: list[float], places: list[int]
) -> None:
    assert _best_places(np.array(gain)) == places


@pytest.mark.parametrize(
    ("softer_db", "heard", "as_before"),
    [
        (10.0, [True, True], True), (10.0, [None, True], True), (10.0, [False], False),
        (10.0, [True, False], False), (-12.0, [False, False], True), (-12.0, [True], False),
    ],
)  # fmt: skip
def test_two_tones_decide_if_it_is_where_it_was(
    softer_db: float, heard: list[bool | None], as_before: bool
) -> None:
    """Half way between the thresholds with and without the move."""
    levels: Any = SimpleNamespace(tone=Presentation)
    known = [(2000.0, 30.0), (500.0, 20.0)]
    tones = InPlace(a_story(softer_db=softer_db), known, levels)
    asked = []
    for each in heard:
        assert not tones.over
        asked.append(tones.tone())
        tones.take_answer(asked[-1].level_db_hl, each)

    assert tones.over
    assert tones.as_before is as_before
    wanted = [(f, level + 0.5 * softer_db) for f, level in known]
    assert [(t.frequency_hz, t.level_db_hl) for t in asked] == wanted[: len(heard)]


def listening(
    story: Otherwise, told_db_hl: list[float], last_db_hl: float = 0.0, noise_db: float = 2.0
) -> Any:
    """Return the part of an ear whose thresholds are 30 dB HL, and others by a story."""
    estimator = SimpleNamespace(
        threshold=lambda at_hz: (np.full(len(at_hz), 30.0), None),
        threshold_otherwise=lambda *_: np.array(told_db_hl),
        hyperparameters=SimpleNamespace(response_noise_db=noise_db),
        frequency_range_hz=(125.0, 16000.0),
    )
    last = Presentation(Purpose.MEASURE, 1000.0, last_db_hl)
    evidence = SimpleNamespace(tones=[Observation(last, True, NO_COVER)])
    of = SimpleNamespace(estimator=estimator, evidence=evidence)
    kind = SimpleNamespace(inter_octave_hz=(1500,))
    levels = SimpleNamespace(
        route=SimpleNamespace(kind=kind), frequencies_hz=(500, 1000, 1500),
        floor_db_hl=lambda _: -10.0, within_db_hl=lambda _, level_db_hl: level_db_hl,
    )  # fmt: skip
    part: Any = Listening(SimpleNamespace(familiar_level_db_hl=40.0), of, _Levels(levels))  # type: ignore[arg-type]
    part.otherwise = lambda: [story]
    return part


class _Levels(SimpleNamespace):
    """What is asked of the levels."""

    def __init__(self, of: SimpleNamespace) -> None:
        super().__init__(**vars(of))
        self.route.kind.familiar_hz = 1000
        self.left_out_hz: list[float] = []


@pytest.mark.parametrize(
    ("story", "told_db_hl", "more", "tone"),
    [
        # A move of 8 dB: they differ most at 500 Hz, where the tone lies between.
        (a_story(softer_db=8.0), [26.0, 24.0], {}, (500, 32.0)),
        (a_story(softer_db=8.0), [25.9, 23.9], {}, None),  # too little
        # Rising: a clear tone, and a soft one after it, which has to be softer by 2 dB.
        (a_story(Story.RISING, softer_db=10.0), [28.0, 20.0], {"last_db_hl": 35.9}, (500, 49.0)),
        (a_story(Story.RISING, softer_db=10.0), [28.0, 20.0], {"last_db_hl": 36.0}, (500, 34.0)),
        # Where few unheard tones are pressed a silence tells most, and where many are a press.
        (a_story(Story.CUE, share=0.37), [32.0, 44.0], {}, (1000, 37.0)),
        (a_story(Story.CUE, share=0.43), [32.0, 44.0], {}, (1000, 5.0)),
        (a_story(Story.CUE, share=0.37), [30.0, 31.0], {}, (1000, 5.0)),
        (a_story(Story.CUE, share=0.43), [30.0, 31.0], {"noise_db": 10.0}, (1000, 5.0)),
        (a_story(Story.CUE, share=0.43), [30.0, 31.0], {"noise_db": 10.5}, None),
        (a_story(Story.PITCH, share=0.8, region_hz=(350.0, 700.0)), [33.0], {}, (500, 5.0)),
        # It is so sure, or so improbable, that no tone is needed.
        (a_story(softer_db=8.0, log_odds=log(0.951 / 0.049)), [26.0, 24.0], {}, None),
        (a_story(softer_db=8.0, log_odds=log(0.041 / 0.959)), [26.0, 24.0], {}, (500, 32.0)),
        (a_story(softer_db=8.0, log_odds=log(0.039 / 0.961)), [26.0, 24.0], {}, None),
    ],
)  # fmt: skip
def test_a_tone_is_asked_of_which_the_answer_tells(
    story: Otherwise, told_db_hl: list[float], more: dict[str, float],
    tone: tuple[int, float] | None,
) -> None:  # fmt: skip
    part = listening(story, told_db_hl, **more)

    assert part.deciding_tone() == tone
    part.deciding_asked = 12
    assert part.deciding_tone() is None


@pytest.mark.parametrize(
    ("story", "probability", "doubted"),
    [
        (Story.MOVED, 0.19, False), (Story.MOVED, 0.21, True), (Story.PITCH, 0.29, False),
        (Story.PITCH, 0.31, True),
    ],
)  # fmt: skip
def test_a_pitch_has_to_be_more_probable_to_be_told(
    story: Story, probability: float, doubted: bool
) -> None:
    part = listening(a_story(story, log_odds=log(probability / (1.0 - probability))), [])

    assert (part.doubted_otherwise() is not None) is doubted
    assert (part.moved() is not None) is (doubted and story == Story.MOVED)


@pytest.mark.parametrize(
    ("story", "words"),
    [
        (a_story(began=21, softer_db=9.6), "since about tone 22 this ear hears 10 dB less: "),
        (a_story(began=21, softer_db=-12.0), "since about tone 22 this ear hears 12 dB better: "),
        (
            a_story(began=0, softer_db=14.0, region_hz=(0.0, 1400.0)),
            "since about tone 1 this ear hears 14 dB less below 1400 Hz: the earphone seems to ",
        ),
        (
            a_story(began=0, softer_db=14.0, region_hz=(1400.0, math.inf)),
            "since about tone 1 this ear hears 14 dB less: ",
        ),
        (
            a_story(Story.PITCH, region_hz=(2000.0, 8000.0)),
            "tones near 4000 Hz were answered although they were too soft to be heard: a tinnitus",
        ),
    ],
)
def test_it_says_what_was_otherwise(story: Otherwise, words: str) -> None:
    assert say(otherwise_reason(story, Route("left"))).startswith(words)


def test_by_bone_it_is_the_vibrator_that_slipped() -> None:
    words = say(otherwise_reason(a_story(softer_db=10.0), Route("left", BONE)))

    assert "10 dB less: the vibrator seems to have slipped" in words


def test_a_leak_is_of_tones_below_its_edge_and_all_else_of_any() -> None:
    leak = a_story(region_hz=(0.0, 1400.0))

    assert leak.holds(1000.0)
    assert not leak.holds(1400.0)
    assert a_story(region_hz=EVERYWHERE_HZ).holds(8000.0)
