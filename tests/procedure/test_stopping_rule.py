"""When the measurement of an ear ends, why, and whether there is a number then."""

import re
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from firmware_py.procedure.audiogram import Audiogram
from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.events import Play
from firmware_py.procedure.outcomes import Outcome, Purpose
from firmware_py.procedure.presentation import Presentation
from firmware_py.procedure.results import as_json
from firmware_py.procedure.settings import (
    AUDIOGRAM_FREQUENCIES_HZ,
    INTER_OCTAVE_FREQUENCIES_HZ,
    Settings,
)
from firmware_py.procedure.stopping import LIMIT_FREQUENCIES, LIMIT_TONES
from tests.procedure.driver import (
    REACTION_US,
    AlwaysPresses,
    Ears,
    Listener,
    NeverPresses,
    Reaction,
    finished,
    flat,
    left,
    marks,
    numbers,
    two_ears,
)

LOUD = {"level_max_db_hl": 120.0, "loud_confirmed": True}


# --- When an ear is over -------------------------------------------------------------------------


@pytest.mark.parametrize("stop_half_width_db", [10.0, 15.0, 25.0])
def test_an_ear_ends_when_the_band_is_narrow_enough_everywhere(stop_half_width_db: float) -> None:
    driver = left(
        flat(30), stop_half_width_db=stop_half_width_db, tones_max=120, tones_min=1, retest=False
    )
    widths_db = [about["half_width_db"] for about in driver.told("answer", purpose=Purpose.MEASURE)]
    found = driver.ear("left")
    halves_db = {
        each["frequency_hz"]: (each["high_db_hl"] - each["low_db_hl"]) / 2
        for each in found["thresholds"]
        if each["frequency_hz"] not in INTER_OCTAVE_FREQUENCIES_HZ
    }
    worst_hz, worst_db = max(halves_db.items(), key=lambda pair: pair[1])

    assert found["outcome"] == Outcome.MEASURED
    assert found["why"] == f"95 % band at most +-{worst_db:.1f} dB ({worst_hz} Hz)"
    assert widths_db[-1] <= stop_half_width_db + 0.005 < min(widths_db[:-1]) + 0.01
    assert worst_db <= stop_half_width_db


def test_an_ear_ends_when_the_next_answer_would_tell_too_little() -> None:
    driver = left(
        flat(30), stop_information_bits=0.5, stop_half_width_db=1.0, tones_max=120, retest=False
    )
    why = driver.ear("left")["why"]

    assert re.fullmatch(
        r"the next answer would tell 0\.\d\d bit; "
        r"95 % band up to \+-\d+\.\d dB \(\d+ Hz\), \+-1 wanted",
        why,
    )
    assert driver.test.ears["left"].estimator.information_bits <= 0.5
    assert driver.ear("left")["tones"] < 60


def test_an_information_of_0_bits_is_not_used_to_stop() -> None:
    """At a threshold far beyond the limit the next answer tells nothing, and yet it is asked."""
    almost_deaf = Ears(lambda ear, frequency_hz: 40.0 if frequency_hz == 1000.0 else 999.0)
    driver = left(almost_deaf, level_max_db_hl=40.0)

    assert "bit" not in driver.ear("left")["why"]


@pytest.mark.parametrize("retest", [True, False])
@pytest.mark.parametrize("tones_max", [20, 30, 57])
def test_an_ear_ends_at_the_cap_of_tones(tones_max: int, retest: bool) -> None:
    driver = left(flat(30), stop_half_width_db=1.0, tones_max=tones_max, tones_min=1, retest=retest)
    found = driver.ear("left")
    asked = len(driver.plays) - len(driver.levels(Purpose.RETEST))
    kept = f": {asked} asked, 6 kept for the retest" if retest else ""

    assert asked == tones_max - 6 * retest
    assert re.fullmatch(
        f"the cap of {tones_max} tones{kept}; "
        r"95 % band up to \+-\d+\.\d dB \(\d+ Hz\), \+-1 wanted",
        found["why"],
    )
    assert found["tones"] <= tones_max
    assert retest or found["tones"] == tones_max


@pytest.mark.parametrize("tones_min", [5, 20, 40])
def test_an_ear_has_its_fewest_tones(tones_min: int) -> None:
    driver = left(
        flat(30), stop_half_width_db=40.0, tones_min=tones_min, tones_max=60, retest=False
    )

    assert driver.ear("left")["tones"] == max(tones_min, 4)


class Contrary(NeverPresses):
    """Hears the first tones whatever they are, then none, and then perhaps every one again."""

    def __init__(self, heard: int, again: int) -> None:
        self.heard = heard
        self.again = again

    def to_tone(self, play: Play) -> int | None:
        return None if self.heard < play.number <= self.again else REACTION_US


@pytest.mark.parametrize("familiar_level_db_hl", [-10.0, 60.0])
@pytest.mark.parametrize("level_step_db", [1.0, 3.4, 4.1])
@pytest.mark.parametrize("heard", [0, 1, 4, 99])
@pytest.mark.parametrize("again", [13, 17, 99])
def test_the_cap_holds_however_long_the_familiarisation(
    again: int, heard: int, level_step_db: float, familiar_level_db_hl: float
) -> None:
    driver = left(
        Contrary(heard, again), tones_max=20, level_step_db=level_step_db, catch_rate=0.0,
        familiar_level_db_hl=familiar_level_db_hl, **LOUD,
    )  # fmt: skip

    assert len(driver.plays) == driver.ear("left")["tones"] <= 20


# --- Ears without a number -----------------------------------------------------------------------

COARSE = {"level_step_db": 4.0, "level_max_db_hl": 99.0}  # the limit is no step
FINE = {"level_step_db": 0.7}
SHORT = {"tones_max": 20, "familiar_level_db_hl": -10.0, **LOUD}
QUIET = {"level_max_db_hl": 40.0}


@pytest.mark.parametrize(
    "values", [{}, COARSE, FINE, SHORT, QUIET, {"retest": False}, {"catch_rate": 0.0}]
)
@pytest.mark.parametrize(
    ("listener", "outcome", "why"),
    [
        (NeverPresses(), Outcome.NO_RESPONSE, "no response at {limit:g} dB HL"),
        (flat(-11), Outcome.HEARS_ALL, "everything heard at -10 dB HL"),
        (
            AlwaysPresses(),
            Outcome.UNRELIABLE,
            "{n} of {n} catch trials without a tone were answered",
        ),
    ],
)
def test_an_ear_that_cannot_be_measured_ends_as_such_and_not_as_a_number(
    listener: Listener, outcome: str, why: str, values: dict[str, Any]
) -> None:
    driver = left(listener, **values)
    found, limit = driver.ear("left"), driver.settings.level_max_db_hl
    catches = found["catch_trials"]

    assert found["outcome"] == outcome
    assert found["why"] == why.format(limit=limit, n=catches)
    assert set(marks(found).values()) == {outcome}
    assert numbers(found) == {None}
    assert found["retest_difference_db"] is None
    assert found["false_alarms"] == (catches if outcome == Outcome.UNRELIABLE else 0)
    if outcome == Outcome.NO_RESPONSE:
        assert max(play.level_db_hl for play in driver.plays) == limit
    else:
        assert catches >= 3


def test_a_silent_ear_is_asked_several_times_at_the_limit_and_not_only_here_and_there() -> None:
    driver = left(NeverPresses())
    at_limit_hz = [play.frequency_hz for play in driver.plays if play.level_db_hl == 100.0]

    assert LIMIT_TONES <= len(at_limit_hz) <= 2 * LIMIT_TONES
    assert len(set(at_limit_hz)) >= LIMIT_FREQUENCIES


def test_six_silences_at_the_limit_at_three_frequencies_do_not_end_an_ear() -> None:
    ear = EarTest("left", Settings(ears="left"))
    ear.phase = Purpose.MEASURE
    for frequency_hz in [1000.0, 2000.0, 4000.0] * 3:
        ear.answer(Presentation(Purpose.MEASURE, frequency_hz, 100.0), False)
    assert not ear.over
    ear.answer(Presentation(Purpose.MEASURE, 500.0, 100.0), False)

    assert ear.outcome == Outcome.NO_RESPONSE


class But(Ears):
    """Presses, or does not, by accident once."""

    def __init__(self, threshold_db_hl: float, accident: int) -> None:
        super().__init__(lambda ear, frequency_hz: threshold_db_hl)
        self.accident = accident

    def to_tone(self, play: Play) -> Reaction:
        usual = super().to_tone(play)
        if play.number == self.accident:
            return REACTION_US if usual is None else None
        return usual


def test_an_accident_makes_no_threshold_of_silence() -> None:
    for accident in range(1, 13):
        found = left(But(999.0, accident), catch_rate=0.0, **QUIET).ear("left")

        assert found["outcome"] == Outcome.NO_RESPONSE
        assert numbers(found) == {None}


@pytest.mark.parametrize("threshold_db_hl", [-99.0, 999.0])
@pytest.mark.parametrize("retest", [True, False])
def test_an_ear_whose_frequencies_are_all_beyond_the_limit_is_as_a_whole(
    retest: bool, threshold_db_hl: float
) -> None:
    for accident in range(1, 25):
        found = left(
            But(threshold_db_hl, accident),
            level_min_db_hl=20.0,
            level_max_db_hl=60.0,
            tones_min=1,
            stop_half_width_db=16.0,
            retest=retest,
        ).ear("left")
        kinds = set(marks(found).values())
        if kinds == {Outcome.NO_RESPONSE, Outcome.INCOMPLETE}:
            kinds = {Outcome.INCOMPLETE}

        assert found["outcome"] == (kinds.pop() if len(kinds) == 1 else Outcome.MEASURED)


def test_an_ear_beyond_the_limit_everywhere_is_not_sure_for_that() -> None:
    ear = EarTest("left", Settings(ears="left", level_max_db_hl=40.0))
    for frequency_hz in (500.0, 1000.0, 4000.0):
        ear.answer(Presentation(Purpose.MEASURE, frequency_hz, 40.0), False)

    assert set(marks(as_json(ear.result())).values()) <= {Outcome.NO_RESPONSE, Outcome.INCOMPLETE}
    assert ear.audiogram.widest().half_width_db > 10.0


def test_an_ear_that_ends_beyond_the_limit_everywhere_has_no_number_however_it_ends() -> None:
    ear = EarTest("left", Settings(level_max_db_hl=40.0, tones_min=1, stop_half_width_db=40.0))
    ear.answer(Presentation(Purpose.FAMILIARISE, 1000.0, 40.0), False)
    ear.answer(Presentation(Purpose.FAMILIARISE, 1000.0, 40.0), True)
    for frequency_hz in [250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0] * 7:
        if not ear.over:
            ear.answer(Presentation(Purpose.MEASURE, frequency_hz, 39.0), False)

    assert ear.over
    assert ear.outcome in (Outcome.INCOMPLETE, Outcome.NO_RESPONSE)
    assert set(marks(as_json(ear.result())).values()) <= {Outcome.NO_RESPONSE, Outcome.INCOMPLETE}
    assert numbers(as_json(ear.result())) == {None}


def test_whoever_answers_half_the_silences_is_unreliable() -> None:
    class Guesses(Ears):
        def to_silence(self, number: int) -> int | None:
            return REACTION_US if number % 4 else None

    driver = left(
        Guesses(lambda ear, frequency_hz: 30.0),
        catch_rate=0.5,
        tones_max=60,
        stop_half_width_db=1.0,
    )
    found = driver.ear("left")

    assert found["outcome"] == Outcome.UNRELIABLE
    assert 2 * found["false_alarms"] >= found["catch_trials"] >= 4


def test_one_ear_without_a_number_does_not_spoil_the_other() -> None:
    driver = finished(Settings(), two_ears(left=999.0, right=30.0))

    assert driver.ear("left")["outcome"] == Outcome.NO_RESPONSE
    assert driver.ear("right")["outcome"] == Outcome.MEASURED
    assert driver.result["remarks"] == []


def test_every_frequency_has_its_own_mark() -> None:
    """A steep loss: numbers where something was heard, and no number where nothing was."""
    steep = Ears(lambda ear, frequency_hz: 20.0 if frequency_hz < 1200.0 else 999.0)
    found = left(steep, level_max_db_hl=60.0, tones_max=60).ear("left")

    assert found["outcome"] == Outcome.MEASURED
    assert marks(found)[500] == marks(found)[1000] == Outcome.MEASURED
    assert marks(found)[3000] == marks(found)[4000] == marks(found)[6000] == Outcome.NO_RESPONSE
    for threshold in found["thresholds"]:
        for name in ("threshold_db_hl", "sd_db", "low_db_hl"):
            assert (threshold[name] is None) == (threshold["limit_db_hl"] is not None)
        assert (threshold["limit_db_hl"] is None) == (threshold["mark"] == Outcome.MEASURED)


def beyond(ear: EarTest, sds: float) -> EarTest:
    """Have the estimator of an ear say that the threshold lies so many SD beyond the limit."""

    class Sure:
        trial_count = 20
        hyperparameters = SimpleNamespace(lapse_rate=0.0, false_alarm_rate=0.0)

        def threshold(self, frequencies_hz: Any) -> tuple[Any, Any]:
            sd_db = np.full(len(frequencies_hz), 8.0)
            return 100.0 + sds * sd_db, sd_db

        def threshold_band(self, frequencies_hz: Any, probability: float) -> tuple[Any, Any]:
            mean_db_hl, sd_db = self.threshold(frequencies_hz)
            return mean_db_hl - 2.0 * sd_db, mean_db_hl + 2.0 * sd_db

    ear.estimator = cast(Any, Sure())
    ear.audiogram = Audiogram(Settings(), ear.estimator, ear.levels, ear.tally)
    return ear


@pytest.mark.parametrize(
    ("sds", "mark"),
    [
        (-0.01, Outcome.MEASURED),
        (0.0, Outcome.INCOMPLETE),
        (0.99, Outcome.INCOMPLETE),
        (1.0, Outcome.NO_RESPONSE),
    ],
)
def test_no_response_has_to_be_sure(sds: float, mark: str) -> None:
    """A mean at the limit is no more than an even chance; what is not sure has no number either."""
    for threshold in beyond(EarTest("left", Settings(ears="left")), sds).result().thresholds:
        assert threshold.mark == mark
        assert (threshold.threshold_db_hl is not None) == (mark == Outcome.MEASURED)
        assert threshold.limit_db_hl == (None if mark == Outcome.MEASURED else 100.0)


def test_where_the_limit_was_in_the_way_is_said() -> None:
    """A steep loss: what was not made out is named with the limit it lies at."""
    steep = Ears(lambda ear, frequency_hz: 10.0 if frequency_hz < 2500.0 else 999.0)
    found = left(steep, level_max_db_hl=60.0, tones_max=20).ear("left")
    unsure_hz = [str(f) for f, mark in marks(found).items() if mark == Outcome.INCOMPLETE]

    assert unsure_hz
    assert f"; perhaps beyond the limit of 60 dB HL at {', '.join(unsure_hz)} Hz" in found["why"]


def test_a_mark_at_the_floor_needs_no_other() -> None:
    golden = Ears(lambda ear, frequency_hz: -99.0 if frequency_hz < 2500.0 else 50.0)
    found = left(golden).ear("left")

    assert found["outcome"] == Outcome.MEASURED
    assert marks(found)[500] == marks(found)[1000] == Outcome.HEARS_ALL
    assert marks(found)[6000] == Outcome.MEASURED


def test_thresholds_are_those_of_the_audiogram_frequencies_in_range() -> None:
    wide = left(flat(25)).ear("left")
    narrow = left(flat(25), frequency_min_hz=400.0, frequency_max_hz=3500.0).ear("left")

    assert list(marks(wide)) == list(AUDIOGRAM_FREQUENCIES_HZ)
    assert list(marks(narrow)) == [500, 750, 1000, 1500, 2000, 3000]
