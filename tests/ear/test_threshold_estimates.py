"""What is known of an ear is worked out once between two answers, and never said of older ones."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from firmware_py.ear.ear import EarTest
from firmware_py.ear.marks import Marks
from firmware_py.ear.threshold_estimates import BAND_PROBABILITY, Estimate, ThresholdEstimates
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.route import BONE, Route
from firmware_py.terms.settings import Settings
from tests.session.driver import Driver, flat, run_left_ear

LEFT = Settings(ears="left", conduct="clinical")


def test_estimates_are_those_of_the_present_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(LEFT, flat(85.0))
    told = 0
    estimates = ThresholdEstimates.estimates

    def check(audiogram: ThresholdEstimates) -> tuple[Estimate, ...]:
        nonlocal told
        told += 1
        anew = ThresholdEstimates(driver.settings, driver.left.belief, audiogram.levels)
        assert estimates(audiogram) == estimates(anew)
        return estimates(audiogram)

    monkeypatch.setattr(ThresholdEstimates, "estimates", check)
    driver.run()

    assert told > len(driver.plays)


def test_estimates_are_worked_out_once_between_two_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(LEFT, flat(25.0))
    audiogram = driver.left.audiogram
    marked: list[float] = []
    mark = Marks.mark

    def count(marks: Marks, frequency_hz: float, *about: float) -> object:
        marked.append(frequency_hz)
        return mark(marks, frequency_hz, *about)  # type: ignore[arg-type]

    monkeypatch.setattr(Marks, "mark", count)
    driver.run()

    answers = len(driver.plays) + driver.ear("left")["catch_trials"]
    worked_out = len(marked) / len(audiogram.frequencies_hz)
    assert 0.9 * answers <= worked_out <= answers  # nobody asks between the first two


def test_bands_are_those_of_the_estimator_and_the_same_for_whoever_asks() -> None:
    """To the bit, although those of the audiogram and of the next tone are computed together."""
    audiogram = run_left_ear(flat(25.0), conduct="clinical").left.audiogram
    candidates_hz = audiogram.estimator.candidate_frequencies_hz

    assert not {*candidates_hz} <= {*audiogram.frequencies_hz}, "some are of the next tone only"
    for frequencies_hz in (audiogram.frequencies_hz, candidates_hz, candidates_hz[:1]):
        low_db_hl, high_db_hl = audiogram.estimator.posterior_band(frequencies_hz, BAND_PROBABILITY)
        assert audiogram.bands(frequencies_hz) == (low_db_hl.tolist(), high_db_hl.tolist())
    ends = [(each.low_db_hl, each.high_db_hl) for each in audiogram.estimates()]
    assert ends == [*zip(*audiogram.bands(audiogram.frequencies_hz), strict=True)]


@pytest.mark.parametrize(("threshold_db_hl", "bands"), [(25.0, 1), (120.0, 2)])
def test_whether_it_is_surely_beyond_is_asked_only_where_it_may_be(
    threshold_db_hl: float, bands: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ear = run_left_ear(flat(threshold_db_hl), conduct="clinical", level_max_db_hl=80.0).left
    asked: list[float] = []

    def count(_: ThresholdEstimator, frequencies_hz: Sequence[float], probability: float) -> Any:
        asked.append(probability)
        return ends(frequencies_hz, probability)

    ends = ear.estimator.posterior_band
    monkeypatch.setattr(ThresholdEstimator, "posterior_band", count)
    ThresholdEstimates(ear.settings, ear.belief, ear.levels).estimates()

    assert len(asked) == bands
    assert BAND_PROBABILITY in asked


@pytest.mark.parametrize(("by_air_db_hl", "wanted_db"), [(19.9, 20.0), (20.1, 10.0)])
def test_by_bone_twice_the_band_will_do_where_none_by_air_is_above_20_db_hl(
    by_air_db_hl: float, wanted_db: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(routes="air, bone", stop_half_width_db=8.0)
    air, bone = EarTest(Route("left"), settings), EarTest(Route("left", BONE), settings)
    found = [SimpleNamespace(mean_db_hl=each) for each in (0.0, by_air_db_hl)]
    monkeypatch.setattr(air.audiogram, "estimates", lambda: found)
    bone.begin_by_bone(bone.estimator.curves_at_knots(), air)

    assert bone.audiogram.wanted_half_width_db(1000) == wanted_db


@pytest.mark.parametrize(("half_width_db", "mark"), [(20.0, "measured"), (20.1, "inferred")])
def test_a_band_of_more_than_20_db_is_told_as_a_supposition(
    half_width_db: float, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    audiogram = EarTest(Route("left"), LEFT).audiogram
    ends = 40.0 - half_width_db, 40.0 + half_width_db
    found = Estimate(1000, Outcome.MEASURED, Outcome.MEASURED, 40.0, 10.0, *ends)
    monkeypatch.setattr(audiogram, "estimates", lambda: (found,))

    assert [each.mark for each in audiogram.told_estimates()] == [mark]
