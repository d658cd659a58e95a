"""Every method by its name: what it is told and offers, one contract, and what it has learned."""

import json
import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.simulator.audiogram import Audiogram
from firmware_py import ThresholdEstimator
from firmware_py.inference.laplace.standard_audiograms import (
    FREQUENCIES_HZ,
    STANDARD_AUDIOGRAMS_DB_HL,
)
from host_tools.errors import HostError
from host_tools.research.methods.barthelme_mamassian import BarthelmeMamassian
from host_tools.research.methods.cast import standard_patterns
from host_tools.research.methods.de_vries import DeVries, standard_mixture
from host_tools.research.methods.gp_pta import GpPta
from host_tools.research.methods.interface import Banded, Method, Task, interpolate
from host_tools.research.methods.names import METHODS
from host_tools.research.methods.per_frequency import Quest
from host_tools.research.methods.registry import (
    NOTHING_LEARNED,
    Learned,
    check_method_names,
    learn,
    make_method,
)
from host_tools.research.methods.song_gp import SongGp
from host_tools.research.methods.staircase import StaircaseAsha, StaircaseIso
from tests.budget import examples, quick
from tests.host.research.methods.listening import (
    SLOPING,
    EndlessCast,
    Listener,
    measure,
    population,
)

every_method = pytest.mark.parametrize(
    "make",
    quick(
        [StaircaseAsha, StaircaseIso, Quest, BarthelmeMamassian, EndlessCast, DeVries, SongGp],
        StaircaseAsha, StaircaseIso, Quest, BarthelmeMamassian, EndlessCast, DeVries,
    ),
)  # fmt: skip


# Interpolation


@settings(max_examples=examples(60))
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

    assert all(500.0 <= tone.frequency_hz <= 4000.0 for tone in answered)
    assert all(3.0 <= tone.level_db_hl <= 41.0 for tone in answered)
    assert max(tone.level_db_hl for tone in answered) >= 40.0  # 4 kHz is worse than that


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
def test_a_method_refuses_what_is_outside_the_task_and_does_not_change(
    make: Callable[[Task], Method],
) -> None:
    method, untouched = make(Task()), make(Task())
    measure(method, SLOPING, 7)
    measure(untouched, SLOPING, 7)

    with pytest.raises(ValueError, match="frequency_hz is 9000; allowed is 125 to 8000"):
        method.observe(9000, 30.0, True)
    with pytest.raises(ValueError, match="level_db_hl is 121; allowed is -10 to 120"):
        method.observe(1000.0, 121, True)
    with pytest.raises(TypeError, match="heard is 1; allowed are True and False"):
        method.observe(1000.0, 30.0, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="frequencies_hz is 100; allowed is 125 to 8000"):
        method.threshold([100])

    assert measure(method, SLOPING, 20) == measure(untouched, SLOPING, 20)


FOUND_DB = {
    "gp-pta": 1.81,
    "gp-pta-2015": 3.93,
    "staircase-asha": 6.80,
    "staircase-iso": 13.64,
    "quest": 7.72,
    "cast": 0.08,
    "barthelme-mamassian": 6.52,
    "de-vries": 1.54,
    "song-gp": 7.21,
    "gp-pta-untold": 2.49,
    "gp-pta-per-second": 2.20,
    "gp-pta-age-sex": 1.81,
    "staircase-asha-unbiased": 7.16,
    "staircase-iso-unbiased": 13.53,
    "schlittenlacher-gp": 13.22,
}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_errs_as_much_as_it_did(name: str) -> None:
    """RMSE of N2, N4 and S2 after 20 tones, noise 2 dB, rates of 1 %, which are told."""
    errors_db = []
    for audiogram in ("N2", "N4", "S2"):
        true_db_hl = STANDARD_AUDIOGRAMS_DB_HL[audiogram]
        method = make_method(name, Task(tones_max=20))
        chance = np.random.default_rng(1)
        measure(method, Listener(FREQUENCIES_HZ, true_db_hl, 2.0, 0.01, 0.01, chance), 20)
        errors_db.append(method.threshold(FREQUENCIES_HZ)[0] - np.array(true_db_hl))

    assert np.sqrt(np.mean(np.square(errors_db))) == pytest.approx(FOUND_DB[name], abs=0.05)


# By its name


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["gp-pta", "qest"], "--methods has 'qest'; allowed are gp-pta, gp-pta-2015, staircase"),
        (["quest", "quest"], "--methods has 'quest' twice; allowed is once"),
        ([], "--methods is empty; allowed are gp-pta"),
    ],
)
def test_names_that_are_none_are_refused(names: Sequence[str], words: str) -> None:
    with pytest.raises(HostError, match=re.escape(words)):
        check_method_names(names)


def test_what_was_learned_comes_back_from_json_to_the_last_bit() -> None:
    learned = Learned(standard_patterns(), standard_mixture())

    again = Learned.from_json(json.loads(json.dumps(learned.as_json())))

    for before, after in ((learned.patterns, again.patterns), (learned.mixture, again.mixture)):
        for name, array in vars(before).items():
            assert np.array_equal(getattr(after, name), array)
    assert Learned.from_json(NOTHING_LEARNED.as_json()).mixture is None


def test_only_what_is_needed_is_learned() -> None:
    draws = np.random.default_rng(5).normal(30.0, 10.0, (60, 4))
    people = population(draws)

    learned = learn(["quest", "de-vries"], people)

    assert learned.patterns is None
    assert learned.mixture is not None
    with pytest.raises(HostError, match="nothing can be learned from this population: 6 comp"):
        learn(["de-vries"], people.select([0, 1]))


@pytest.mark.parametrize("profile", ["default", "gp-pta-2015"])
def test_the_product_is_the_estimator_itself(profile: str) -> None:
    estimator = ThresholdEstimator(
        profile, response_noise_db=3.0, lapse_rate=0.0, false_alarm_rate=0.0
    )
    method = GpPta(Task(3.0, 0.0, 0.0), profile)

    for heard in (True, False, True, True):
        tone = method.next_stimulus()
        assert tone == estimator.next_stimulus()
        for each in (method, estimator):
            each.observe(tone.frequency_hz, tone.level_db_hl, heard)

    at_hz = [500.0, 1000.0]
    assert np.array_equal(method.threshold(at_hz), estimator.threshold(at_hz))
    assert np.array_equal(method.threshold_band(at_hz, 0.5), estimator.threshold_band(at_hz, 0.5))
    assert isinstance(method, Banded)


def test_the_noise_is_told_or_not() -> None:
    task = Task(response_noise_db=7.0, tones_max=3)
    told, untold = (
        GpPta(task, "gp-pta-2015", told=told).estimator.hyperparameters for told in (True, False)
    )

    assert told.response_noise_db == 7.0
    assert untold.response_noise_db != 7.0
    assert GpPta(task).estimator.max_trials == 3
