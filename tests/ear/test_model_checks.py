"""The checks of the answers themselves, each against a computation of another kind."""

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.hearing import SimulatedTest
from device.simulator.kinds import kind_named
from device.simulator.listener import EARS, SimulatedListener, Tone
from firmware_py.ear.attention import Attention
from firmware_py.ear.caps import CHECKS_IN_DOUBT, CHECKS_USUAL
from firmware_py.ear.evidence import Pauses
from firmware_py.ear.levels import Levels, no_limit
from firmware_py.ear.marks import Marks
from firmware_py.ear.model_checks import (
    RETEST_IMPROBABLE,
    ClearTones,
    ascent_probability,
    tones_away,
)
from firmware_py.inference.model import Hyperparameters
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.presentation import NO_COVER, Observation, Presentation
from firmware_py.terms.reasons import Code
from firmware_py.terms.results import SessionResult
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from tests.session.driver import Driver, Listener, Reaction, flat, run_left_ear

DRAWS = 200_000


@pytest.mark.parametrize("noise_db", [2.0, 5.0])
@pytest.mark.parametrize(("ends_at", "higher"), [(0, False), (1, False), (3, True), (5, True)])
def test_the_probability_of_an_ascent_is_that_of_simulated_ones(
    noise_db: float, ends_at: int, higher: bool
) -> None:
    listener = Hyperparameters(None, None, noise_db, lapse_rate=0.03, false_alarm_rate=0.02)
    levels_db_hl = [20.0 + 5.0 * step for step in range(6)]
    chance = np.random.default_rng(1)
    threshold_db_hl = chance.normal(30.0, 3.0, DRAWS)
    ended = np.full(DRAWS, len(levels_db_hl))
    for step, level_db_hl in reversed(list(enumerate(levels_db_hl))):
        sensed = level_db_hl + chance.normal(0.0, noise_db, DRAWS) >= threshold_db_hl
        accident = chance.random(DRAWS)
        heard = (accident < 0.02) | (sensed & (accident < 1.0 - 0.03))
        ended[heard] = step
    tail = np.mean(ended >= ends_at) if higher else np.mean(ended <= ends_at)

    found = ascent_probability(levels_db_hl[: ends_at + 1], higher, 30.0, 3.0, listener)

    assert found == pytest.approx(min(1.0, 2.0 * tail), abs=6.0 * math.sqrt(1.0 / DRAWS))


@pytest.mark.parametrize(
    ("noise_db", "believed_db", "false_alarms", "power"),
    [(2.0, 3.0, 0.01, 0.8), (4.0, 3.6, 0.02, 0.75)],
)
def test_an_ear_that_became_worse_by_15_db_is_told_from_one_that_did_not(
    noise_db: float, believed_db: float, false_alarms: float, power: float
) -> None:
    believed = Hyperparameters(None, None, believed_db, lapse_rate=0.016, false_alarm_rate=0.011)
    chance = np.random.default_rng(1)

    def share_remarked(worse_db: float) -> float:
        """Which part of 500 ascents differ by more than 5 dB, improbably."""
        found = 0
        for _ in range(500):
            threshold_db_hl = chance.normal(30.0 + worse_db, 3.0)
            levels_db_hl = []
            for level_db_hl in (20.0, 25.0, 30.0, 35.0, 40.0, 45.0, math.inf):
                levels_db_hl.append(level_db_hl)
                sensed = level_db_hl + chance.normal(0.0, noise_db) >= threshold_db_hl
                if chance.random() < 0.01 + 0.98 * sensed:
                    break
            difference_db = min(levels_db_hl[-1], 50.0) - 2.5 - 30.0
            probability = ascent_probability(levels_db_hl, difference_db > 0, 30.0, 3.0, believed)
            found += abs(difference_db) > 5.0 and probability <= RETEST_IMPROBABLE
        return found / 500

    assert share_remarked(0.0) <= false_alarms
    assert share_remarked(15.0) >= power


@pytest.mark.parametrize(("noise_db", "clear_db_hl"), [(2.0, 35.0), (6.0, 40.0)])
def test_clear_tones_are_those_from_their_level_on_and_only_silence_is_a_miss(
    noise_db: float, clear_db_hl: float
) -> None:
    """With a band up to 30 dB HL it is 2.5 SD of the noise above it, and 10 dB at most."""
    estimator = SimpleNamespace(
        trial_count=4, frequency_range_hz=(250.0, 8000.0),
        posterior_band=lambda at_hz, _: (None, np.full(len(at_hz), 30.0)),
        hyperparameters=Hyperparameters(None, None, noise_db),
    )  # fmt: skip
    levels = Levels(Route("left"), Settings(), no_limit)
    attention = Attention(cast(Any, SimpleNamespace(levels=levels, estimator=estimator)))
    for above_db, heard in ((-0.1, False), (0.0, False), (1.0, True), (20.0, None)):
        tone = Presentation(Purpose.MEASURE, 1000.0, clear_db_hl + above_db)
        attention.answers.append(Observation(tone, heard, NO_COVER))
    found = attention.clear()

    assert found == ClearTones(asked=3, missed=1)
    assert found + ClearTones(10, 2) == ClearTones(13, 3)


@pytest.mark.parametrize(("count", "pressed", "inattentive"), [(30, 4, 0), (51, 5, 0), (50, 5, 1)])
def test_presses_in_five_pauses_and_a_tenth_of_them_are_no_accident(
    count: int, pressed: int, inattentive: bool
) -> None:
    assert Pauses(count, pressed).inattentive == inattentive


def test_a_run_is_found_with_all_of_its_tones_and_single_misses_are_none() -> None:
    away = [0.05, 0.4, 0.8, 0.9, 0.1, 0.7, 0.6, 0.35, 0.05, 0.05, 0.05, 0.05, 0.05, 0.95, 0.05]

    assert tones_away([1.0 - each for each in away]) == [1, 2, 3, 5, 6, 7]
    assert tones_away([0.05, 1.0, 1.0, 1.0, 1.0] * 6) == []
    assert tones_away([]) == tones_away([0.0] * 4) == []
    assert tones_away([0.51] * 5) == [], "2.45 together"
    assert tones_away([0.49] * 5) == [0, 1, 2, 3, 4], "2.55"
    assert tones_away([0.72, *[0.4] * 4, 0.68]) == [1, 2, 3, 4, 5], "0.28, and 0.32 at the end"
    longer = [0.585, *[0.48] * 5]  # the last five, 2.495 before them
    assert tones_away(longer) == tones_away(longer[::-1]) == [0, 1, 2, 3, 4, 5]


def test_a_clear_tone_that_is_missed_is_asked_once_more_and_then_others() -> None:
    levels = Levels(Route("left"), Settings(), no_limit)
    levels.note_tone(Presentation(Purpose.MEASURE, 1000.0, 60.0))
    estimator = SimpleNamespace(hyperparameters=Hyperparameters(None, None, 2.0))
    found = [
        SimpleNamespace(frequency_hz=f, low_db_hl=20.0, high_db_hl=40.0, mark=Outcome.MEASURED)
        for f in (1000.0, 2000.0)
    ]
    audiogram = SimpleNamespace(
        levels=levels, estimator=estimator, estimates=lambda: found, marks=Marks(levels, [])
    )
    attention, asked_hz = Attention(cast(Any, audiogram)), []
    while (tone := attention.next_check(5)) is not None:
        asked_hz.append(tone[0])
        heard = tone[0] == 2000.0
        attention.take_check(Observation(Presentation(Purpose.MEASURE, *tone), heard, NO_COVER))

    assert asked_hz == [1000.0, 1000.0, 2000.0, 2000.0, 2000.0]


@pytest.mark.parametrize(("probability", "more"), [(0.1, CHECKS_IN_DOUBT), (0.105, 0)])
def test_more_clear_tones_are_asked_after_a_miss_that_had_one_chance_in_ten(
    probability: float, more: int
) -> None:
    estimator = SimpleNamespace(trial_count=0, answer_probabilities=np.array([0.01, probability]))
    levels = Levels(Route("left"), Settings(), no_limit)
    attention = Attention(cast(Any, SimpleNamespace(levels=levels, estimator=estimator)))
    tone = Presentation(Purpose.MEASURE, 1000.0, 40.0)
    tones = [Observation(tone, heard, NO_COVER) for heard in (True, False)]

    assert attention.checks_wanted(tones) == CHECKS_USUAL + more


def session(named: str, seed: int, noise_db: float = 2.0, ears: str = "both") -> SessionResult:
    """A whole test of a simulated listener."""
    truth = Audiogram((250.0, 1000.0, 8000.0), (20.0, 28.0, 60.0))
    listener = SimulatedListener(
        dict.fromkeys(EARS, truth), response_noise_db=noise_db, seed=seed, kind=kind_named(named)
    )
    return SimulatedTest(Settings(ears=ears, seed=seed), listener).run()


@pytest.mark.parametrize("named", ["honest", "lapses=.25", "bursts"])
def test_who_does_not_attend_is_told_from_who_does(named: str) -> None:
    remarks = session(named, 3, ears="right").remarks

    assert any(Code.INATTENTIVE in each.codes for each in remarks) is (named != "honest")
    assert any(Code.RUN_AWAY in each.codes for each in remarks) is (named == "bursts")


@pytest.mark.thorough
@pytest.mark.parametrize("noise_db", [2.0, 4.0])
def test_an_honest_listener_rarely_gets_a_remark(noise_db: float) -> None:
    remarked = [bool(session("honest", seed, noise_db).remarks) for seed in range(1, 6)]

    assert sum(remarked) <= 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("named", "ears", "code", "tests", "found_min"),
    [("lapses=.25", "both", Code.INATTENTIVE, 16, 10), ("bursts", "right", Code.RUN_AWAY, 8, 6)],
)
def test_most_who_do_not_attend_are_said_not_to_or_the_ear_is_refused(
    named: str, ears: str, code: Code, tests: int, found_min: int
) -> None:
    said = [
        any(code in each.codes for each in found.remarks)
        or any(ear.outcome == "unreliable" for ear in found.ears)
        for found in (session(named, seed, ears=ears) for seed in range(1, tests + 1))
    ]
    print(f"\n{sum(said)} of {len(said)}")

    assert sum(said) >= found_min


class MissesClearTones(Listener):
    """Misses every third of the tones that are well above its threshold, once it is known."""

    count = 0

    def to_tone(self, tone: Tone) -> Reaction:
        if tone.number > 20 and tone.level_db_hl >= 30.0 + 8.0:
            self.count += 1
            if self.count % 3 == 1:
                return None
        return flat(30.0).to_tone(tone)


def misses_clear_tones() -> Driver:
    return run_left_ear(MissesClearTones(), masking="off")


def test_missed_clear_tones_are_counted_in_a_remark_and_more_of_them_are_asked() -> None:
    driver = misses_clear_tones()
    clear = driver.left.attention.clear()

    assert clear.missed >= 2
    assert clear.asked > CHECKS_USUAL
    signs = [{"code": "misses", "missed": clear.missed, "asked": clear.asked}]
    assert {"code": "inattentive", "signs": signs} in driver.result["remarks"]


def test_checks_that_are_forgotten_are_told_apart_for_they_came_above_the_cap() -> None:
    """Or they would be asked again within the cap, and once more as checks."""
    attention = misses_clear_tones().left.attention
    asked = attention.checks_asked

    assert asked > CHECKS_USUAL
    assert attention.forget(attention.answers[:3]) == 0
    assert attention.forget(attention.answers) == asked
    assert attention.checks_asked == 0
