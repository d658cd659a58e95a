"""The clock of a study against arithmetic by hand, and the luck that all methods share."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from device.simulator.listener import RESPONSE_TIME_S_MAX
from firmware_py.presenting.pace import Pace
from firmware_py.terms.settings import Settings
from host_tools.research.study.listener import response_speeds, session_seed, uniforms
from host_tools.research.study.session import SessionClock

CLINICAL_WINDOW_S = 3 * 0.26 + 2 * 0.19 + 1.0


def course(heard: list[bool], conduct: str = "brisk", seed: int = 1, **more: float) -> list[float]:
    clock = SessionClock("ear", seed, len(heard), conduct, more.get("response_time_s", 0.4))
    seconds = []
    for tone, answer in enumerate(heard):
        clock.play(tone, answer)
        seconds.append(clock.seconds)
    return seconds


def response_s(tone: int, median_s: float, tones: int) -> float:
    """Return a response time of the same luck, by the definition of a log-normal."""
    luck = NormalDist().inv_cdf(response_speeds("ear", 1, tones)[tone])
    return min(max(median_s * math.exp(0.25 * luck), 0.15), RESPONSE_TIME_S_MAX)


@pytest.mark.parametrize("median_s", [0.4, 0.7])
def test_a_tone_takes_its_pause_and_the_response_or_the_window(median_s: float) -> None:
    heard = [True, False, False, True, True, False]
    pace = Pace(Settings(conduct="clinical", seed=session_seed("ear", 1)))
    expected, total_s = [], 0.0
    for tone, answer in enumerate(heard):
        total_s += 1e-6 * pace.pause_us(tone + 1)
        total_s += response_s(tone, median_s, len(heard)) if answer else CLINICAL_WINDOW_S
        expected.append(total_s)

    found = course(heard, "clinical", response_time_s=median_s)
    assert found == pytest.approx(expected, abs=1e-5)


def test_a_brisk_window_follows_the_response_times() -> None:
    """After many fast answers silence costs less, after slow ones more."""
    answers = [True] * 30 + [False]
    silences = {}
    for median_s in (0.25, 0.9):
        seconds = course(answers, response_time_s=median_s)
        pace = Pace(Settings(seed=session_seed("ear", 1)))
        silences[median_s] = seconds[-1] - seconds[-2] - 1e-6 * pace.pause_us(31)
        for tone in range(30):
            pace.take_answer(round(1e6 * response_s(tone, median_s, 31)))
        assert silences[median_s] == pytest.approx(1e-6 * pace.window_us, abs=1e-5)
    assert silences[0.25] < silences[0.9]


def test_the_luck_of_a_tone_does_not_depend_on_the_answers_before_it() -> None:
    first, second = course([True] * 8), course([False] * 7 + [True])

    assert first[7] - first[6] == pytest.approx(second[7] - second[6], abs=1e-5)


def test_other_ears_and_seeds_have_other_luck() -> None:
    assert course([True] * 5) == course([True] * 5)
    assert course([True] * 5, seed=2) != course([True] * 5)
    assert len({session_seed(name, seed) for name in "abc" for seed in range(9)}) == 27


def test_response_times_are_log_normal_and_apart_from_the_answers() -> None:
    speeds = np.array(response_speeds("ear", 3, 20_000))

    assert speeds.min() > 0.0
    assert speeds.max() < 1.0
    counts = np.histogram(speeds, 10, (0.0, 1.0))[0]
    assert np.all(np.abs(counts - 2000) < 5.0 * math.sqrt(1800.0))
    answers = uniforms("ear", 3, 1, 20_000)
    assert abs(np.corrcoef(speeds, answers)[0, 1]) < 5.0 / math.sqrt(20_000)
