"""What is noted of a session, against arithmetic by hand, how sessions end, and their clock."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from device.simulator.listener import RESPONSE_TIME_S_MAX
from firmware_py.presenting.pace import Pace
from firmware_py.terms.settings import Settings
from host_tools.research.methods.interface import Array, Stimulus, Task
from host_tools.research.methods.names import METHODS
from host_tools.research.methods.registry import NOTHING_LEARNED
from host_tools.research.study import session as sessions
from host_tools.research.study.listener import (
    Ear,
    Listener,
    response_speeds,
    session_seed,
    uniforms,
)
from host_tools.research.study.session import (
    METRICS,
    Job,
    SessionClock,
    Setting,
    metrics_of,
    run_session,
)
from tests.host.research.study.ears import CAREFUL, FLAT

EAR = Ear("four", "some", (500.0, 1000.0, 2000.0, 4000.0), (10.0, 20.0, 30.0, 40.0))
SETTING = Setting(CAREFUL, tones=6, jitter_db=0.0)


@dataclass
class Fake:
    """Says what it was told to say, and ends or fails after so many tones."""

    mean_db_hl: tuple[float, ...] = (13.0, 20.0, 30.0, 36.0)
    sd_db: tuple[float, ...] = (1.0, 2.0, 4.0, 2.0)
    ends_after: int = 1000
    fails_after: int = 1000
    heard: list[bool] = field(default_factory=list)

    def next_stimulus(self) -> Stimulus | None:
        return None if len(self.heard) >= self.ends_after else Stimulus(1000.0, 20.0)

    def observe(self, frequency_hz: float, level_db_hl: float, heard: bool) -> None:
        if len(self.heard) >= self.fails_after:
            raise ArithmeticError("no posterior")
        self.heard.append(heard)

    def threshold(self, frequencies_hz: Iterable[float] | Array) -> tuple[Array, Array]:
        return np.array(self.mean_db_hl) + len(self.heard), np.array(self.sd_db)


class FakeBanded(Fake):
    """With bands that are no multiples of its SD."""

    def threshold_band(
        self, frequencies_hz: Iterable[float] | Array, probability: float
    ) -> tuple[Array, Array]:
        mean_db_hl, _ = self.threshold(frequencies_hz)
        return mean_db_hl - 10.0 * probability, mean_db_hl + 2.0 * probability


@pytest.mark.parametrize(
    ("fake", "expected"),
    [
        # Errors 3, 0, 0, -4; the bands are 1.96 and 0.674 times 1, 2, 4, 2 dB.
        (Fake(), {
            "rmse_db": 2.5, "mean_error_db": -0.25, "worst_error_db": 4.0, "covered_95": 0.5,
            "covered_50": 0.5, "mean_sd_db": 2.25, "mean_half_width_db": 1.959963984540054 * 2.25,
        }),
        (Fake(sd_db=(2.0, 2.0, 4.0, 2.0)), {"covered_95": 0.75}),
        (Fake(sd_db=(9.0, 9.0, 9.0, 9.0)), {"covered_50": 1.0}),
        # The 50 % band reaches 1 dB up and 5 dB down, the 95 % band 1.9 up and 9.5 down: a truth
        # on the edge of a band is covered.
        (FakeBanded(mean_db_hl=(9.0, 25.0, 28.2, 37.0)),
         {"covered_50": 0.5, "covered_95": 0.75, "mean_half_width_db": 0.5 * (9.5 + 1.9)}),
        (Fake(sd_db=(np.nan,) * 4), {"rmse_db": 2.5, **dict.fromkeys(METRICS[3:], np.nan)}),
    ],
)  # fmt: skip
def test_metrics_are_those_of_arithmetic_by_hand(fake: Fake, expected: dict[str, float]) -> None:
    found = dict(zip(METRICS, metrics_of(fake, EAR).tolist(), strict=True))
    assert {name: found[name] for name in expected} == pytest.approx(expected, nan_ok=True)


def run(
    monkeypatch: pytest.MonkeyPatch, fake: Fake, setting: Setting = SETTING
) -> sessions.Session:
    def make(name: str, task: Task, learned: Any) -> Fake:
        assert name == "fake"
        assert task == Task(audiogram_frequencies_hz=EAR.frequencies_hz, seed=9, tones_max=6)
        return fake

    monkeypatch.setattr(sessions, "make_method", make)
    return run_session(Job("fake", EAR, 9), setting, NOTHING_LEARNED)


def test_every_number_of_tones_has_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    session = run(monkeypatch, Fake())

    assert session.metrics.shape == (7, len(METRICS))
    assert session.metrics[:, 1].tolist() == pytest.approx([n - 0.25 for n in range(7)])
    assert (session.ended_after, session.failed) == (None, False)
    listener, clock = Listener(EAR, CAREFUL, 9, 6), SessionClock("four", 9, 6, "brisk", 0.4)
    seconds = [0.0]
    for tone in range(6):
        clock.play(tone, listener.hears(tone, 1000.0, 20.0))
        seconds.append(clock.seconds)
    assert session.seconds.tolist() == seconds


def test_a_clinical_clock_and_slow_listeners_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = run(monkeypatch, Fake()).seconds[-1]
    clinical = replace(SETTING, conduct="clinical")
    slow = replace(SETTING, response_time_s=0.9)

    assert run(monkeypatch, Fake(), clinical).seconds[-1] > usual
    assert run(monkeypatch, Fake(), slow).seconds[-1] > usual


@pytest.mark.parametrize(
    ("fake", "ended_after", "failed"),
    [
        (Fake(ends_after=4), 4, False),
        (Fake(ends_after=0), 0, False),
        (Fake(fails_after=2), 2, True),
    ],
)
def test_a_method_that_ends_or_fails_keeps_its_last_values(
    monkeypatch: pytest.MonkeyPatch, fake: Fake, ended_after: int, failed: bool
) -> None:
    session = run(monkeypatch, fake)

    assert (session.ended_after, session.failed) == (ended_after, failed)
    expected = [min(n, ended_after) - 0.25 for n in range(7)]
    assert session.metrics[:, 1].tolist() == pytest.approx(expected)
    assert np.all(np.diff(session.seconds[: ended_after + 1]) > 0.0)
    assert np.all(session.seconds[ended_after:] == session.seconds[ended_after])


def test_a_mistake_in_the_program_is_not_a_failure_of_the_method(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake = Fake()
    monkeypatch.setattr(fake, "observe", {}.__getitem__)

    with pytest.raises(TypeError):
        run(monkeypatch, fake)


@pytest.mark.parametrize("method", METHODS)
def test_a_session_is_the_same_to_the_bit(method: str) -> None:
    setting = Setting(CAREFUL, tones=4, jitter_db=2.5)
    job = Job(method, FLAT, 3)

    first, second = (run_session(job, setting, NOTHING_LEARNED) for _ in range(2))

    assert (first.ended_after, first.failed) == (None, False)
    assert np.all(np.isfinite(first.metrics[:, :3]))
    assert np.all(np.isnan(first.metrics[:, 5]) | (first.metrics[:, 5] > 0.0))
    assert first.metrics.tobytes() == second.metrics.tobytes()
    assert first.seconds.tobytes() == second.seconds.tobytes()
    other = run_session(Job(method, FLAT, 4), setting, NOTHING_LEARNED)
    assert other.metrics.tobytes() != first.metrics.tobytes()


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
