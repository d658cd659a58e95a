"""Every method by its name: it runs, it is told the same, and what it learned survives a file."""

import json
import re
from collections.abc import Sequence

import numpy as np
import pytest

from firmware_py import ThresholdEstimator
from host_tools.errors import HostError
from host_tools.research.methods.cast import standard_patterns
from host_tools.research.methods.de_vries import standard_mixture
from host_tools.research.methods.gp_pta import GpPta
from host_tools.research.methods.interface import Banded, Task
from host_tools.research.methods.registry import (
    NOTHING_LEARNED,
    Learned,
    check_method_names,
    learn,
)
from tests.host.research.methods.listening import population


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
