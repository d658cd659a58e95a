"""What is known of an ear is worked out once between two answers, and never said of older ones."""

import pytest

from firmware_py.procedure.asked import Asked
from firmware_py.procedure.route import Route
from firmware_py.procedure.settings import Settings
from firmware_py.procedure.threshold_estimates import Estimate, ThresholdEstimates
from tests.procedure.driver import Driver, flat

LEFT = {"ears": "left", "conduct": "clinical"}


def test_estimates_are_those_of_the_present_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(Settings.from_record(LEFT), flat(85.0))
    told = 0
    estimates = ThresholdEstimates.estimates

    def check(audiogram: ThresholdEstimates) -> list[Estimate]:
        nonlocal told
        told += 1
        anew = ThresholdEstimates(
            driver.settings, audiogram.estimator, audiogram.levels, audiogram.tally
        )
        anew.asked = audiogram.asked
        assert estimates(audiogram) == estimates(anew)
        return estimates(audiogram)

    monkeypatch.setattr(ThresholdEstimates, "estimates", check)

    driver.run()

    assert told > len(driver.plays)


def test_estimates_are_worked_out_once_between_two_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(Settings.from_record(LEFT), flat(25.0))
    audiogram = driver.test.ears[Route("left")].audiogram
    marked: list[float] = []
    mark = Asked.mark

    def count(asked: Asked, frequency_hz: float, *about: float) -> object:
        marked.append(frequency_hz)
        return mark(asked, frequency_hz, *about)  # type: ignore[arg-type]

    monkeypatch.setattr(Asked, "mark", count)
    driver.run()

    answers = len(driver.plays) + driver.ear("left")["catch_trials"]
    worked_out = len(marked) / len(audiogram.frequencies_hz)
    assert answers <= worked_out <= 2 * answers  # a pause before a tone is evidence of its own


def test_who_changes_the_list_does_not_change_what_is_known() -> None:
    driver = Driver(Settings.from_record(LEFT), flat(25.0))
    driver.run()
    audiogram = driver.test.ears[Route("left")].audiogram

    audiogram.estimates().clear()

    assert len(audiogram.estimates()) == len(audiogram.frequencies_hz)
