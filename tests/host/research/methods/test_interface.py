"""What every method is told and offers: refusals by name, interpolation, and one contract."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.simulator.audiogram import Audiogram
from host_tools.research.methods.barthelme_mamassian import BarthelmeMamassian
from host_tools.research.methods.interface import Method, Task, checked_number, interpolate
from host_tools.research.methods.quest import Quest
from host_tools.research.methods.staircase import StaircaseAsha, StaircaseIso
from tests.host.research.methods.listening import Answered, Listener, measure

METHODS: dict[str, Callable[[Task], Method]] = {
    "staircase-asha": StaircaseAsha,
    "staircase-iso": StaircaseIso,
    "quest": Quest,
    "barthelme-mamassian": BarthelmeMamassian,
}
SLOPING = Listener([250.0, 1000.0, 8000.0], [15.0, 30.0, 70.0])

every_method = pytest.mark.parametrize("make", METHODS.values(), ids=METHODS.keys())


# The task


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"response_noise_db": 0.05}, "response_noise_db is 0.05; allowed is 0.1 to 30"),
        ({"response_noise_db": "2 dB"}, "response_noise_db is '2 dB'; allowed is 0.1 to 30"),
        ({"lapse_rate": -0.1}, "lapse_rate is -0.1; allowed is 0 to 1"),
        ({"false_alarm_rate": float("nan")}, "false_alarm_rate is nan; allowed is 0 to 1"),
        ({"lapse_rate": 0.5, "false_alarm_rate": 0.5}, "are together 1 or more"),
        ({"level_limits_db_hl": (50.0, 50.0)}, "level_limits_db_hl is (50.0, 50.0); allowed is"),
        ({"level_limits_db_hl": (-10.0, 131.0)}, "-30 <= low < high <= 130"),
        ({"frequency_range_hz": (10.0, 8000.0)}, "20 <= low < high <= 20000"),
        ({"frequency_range_hz": (250.0,)}, "frequency_range_hz is (250.0,); allowed is"),
        ({"audiogram_frequencies_hz": ()}, "at least one, from 125 to 8000 Hz"),
        ({"audiogram_frequencies_hz": (500, 500)}, "allowed are rising frequencies"),
        ({"audiogram_frequencies_hz": (500, 9000)}, "from 125 to 8000 Hz (frequency_range_hz)"),
        ({"seed": -1}, "seed is -1; allowed are whole numbers 0 to 18446744073709551615"),
        ({"seed": True}, "seed is True; allowed are whole numbers"),
        ({"seed": 1.0}, "seed is 1.0; allowed are whole numbers"),
        ({"tones_max": 0}, "tones_max is 0; allowed are whole numbers 1 to 1000"),
    ],
)
def test_a_task_refuses_by_name_what_is_not_allowed(values: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match="allowed") as refusal:
        Task(**values)

    assert words in str(refusal.value)


def test_a_task_takes_everything_at_its_limits() -> None:
    task = Task(0.1, 0.0, 0.0, (-30.0, 130.0), (20.0, 20000.0), (20.0, 20000.0), 2**64 - 1)

    assert task.checked_answer(20.0, 130.0, True) == (20.0, 130.0, True)


def test_a_number_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="beta is None; allowed is 1 to 2"):
        checked_number("beta", None, 1.0, 2.0)  # type: ignore[arg-type]


# Interpolation


def test_interpolation_is_linear_in_octaves_and_constant_outside() -> None:
    values = interpolate([250.0, 1000.0, 2000.0], [10.0, 30.0, 0.0], [125, 250, 500, 1000, 8000])

    assert values.tolist() == [10.0, 10.0, 20.0, 30.0, 0.0]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    knots_hz=st.lists(st.sampled_from((125, 250, 500, 750, 1000, 3000, 8000)), min_size=1).map(
        lambda frequencies: tuple(float(f) for f in sorted(set(frequencies)))
    ),
    levels=st.lists(st.floats(-10.0, 120.0), min_size=7, max_size=7),
    wanted_hz=st.floats(20.0, 20000.0),
)
def test_interpolation_draws_the_audiogram_of_the_simulated_listener(
    knots_hz: tuple[float, ...], levels: list[float], wanted_hz: float
) -> None:
    audiogram = Audiogram(knots_hz, tuple(levels[: len(knots_hz)]))

    value = interpolate(knots_hz, levels[: len(knots_hz)], [wanted_hz])[0]

    assert value == pytest.approx(audiogram.threshold_db_hl(wanted_hz), abs=1e-9)


@pytest.mark.parametrize(
    ("known_hz", "values", "words"),
    [
        ([], [], "there are 0 frequencies and 0 values"),
        ([500.0], [1.0, 2.0], "there are 1 frequencies and 2 values"),
        ([500.0, 500.0], [1.0, 2.0], "allowed are rising ones above 0 Hz"),
        ([0.0, 500.0], [1.0, 2.0], "allowed are rising ones above 0 Hz"),
    ],
)
def test_interpolation_refuses_what_is_no_curve(
    known_hz: list[float], values: list[float], words: str
) -> None:
    with pytest.raises(ValueError, match="allowed") as refusal:
        interpolate(known_hz, values, [1000.0])

    assert words in str(refusal.value)


# The contract of a method


@every_method
def test_a_method_says_the_same_when_asked_twice(make: Callable[[Task], Method]) -> None:
    asked_once, asked_twice = make(Task()), make(Task())

    for _ in range(30):
        asked_twice.next_stimulus()
        asked_twice.threshold([1000.0])
        stimulus = asked_once.next_stimulus()
        assert asked_twice.next_stimulus() == stimulus
        assert stimulus is not None
        heard = SLOPING.hears(stimulus.frequency_hz, stimulus.level_db_hl)
        for method in (asked_once, asked_twice):
            method.observe(stimulus.frequency_hz, stimulus.level_db_hl, heard)


@every_method
def test_a_method_asks_only_what_the_task_allows(make: Callable[[Task], Method]) -> None:
    task = Task(
        level_limits_db_hl=(3.0, 41.0),
        frequency_range_hz=(500.0, 4000.0),
        audiogram_frequencies_hz=(500, 1000, 2000, 4000),
    )
    answered = measure(make(task), SLOPING, 80)

    assert {tone.frequency_hz for tone in answered} <= {500, 750, 1000, 1500, 2000, 3000, 4000}
    assert all(3.0 <= tone.level_db_hl <= 41.0 for tone in answered)
    assert 41.0 in {tone.level_db_hl for tone in answered}  # 4 kHz is worse than that


@every_method
def test_a_method_has_a_curve_before_the_first_answer_and_after_each(
    make: Callable[[Task], Method],
) -> None:
    method = make(Task())

    for tones in (0, 1, 1, 1, 10, 60):
        measure(method, SLOPING, tones)
        mean_db_hl, sd_db = method.threshold([125.0, 700.0, 1000.0, 8000.0])
        assert mean_db_hl.shape == sd_db.shape == (4,)
        assert np.all(np.isfinite(mean_db_hl))
        assert np.all(np.isnan(sd_db) | (sd_db > 0.0))


@every_method
def test_a_method_refuses_answers_and_frequencies_outside_the_task(
    make: Callable[[Task], Method],
) -> None:
    method = make(Task())

    with pytest.raises(ValueError, match="frequency_hz is 9000; allowed is 125 to 8000"):
        method.observe(9000, 30.0, True)
    with pytest.raises(ValueError, match="level_db_hl is 121; allowed is -10 to 120"):
        method.observe(1000.0, 121, True)
    with pytest.raises(TypeError, match="heard is 1; allowed are True and False"):
        method.observe(1000.0, 30.0, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="frequencies_hz is 100; allowed is 125 to 8000"):
        method.threshold([100])


@every_method
def test_a_refused_answer_changes_nothing(make: Callable[[Task], Method]) -> None:
    method, untouched = make(Task()), make(Task())
    measure(method, SLOPING, 7)
    measure(untouched, SLOPING, 7)

    with pytest.raises(ValueError, match="allowed"):
        method.observe(777.0, 30.0, True)

    assert _course(method) == _course(untouched)


def _course(method: Method) -> list[Answered]:
    return measure(method, SLOPING, 20)
