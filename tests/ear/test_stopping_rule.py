"""When the measurement of an ear ends, why, and whether there is a number then."""

from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any, cast

import numpy as np
import pytest

from device.simulator.listener import Tone
from firmware_py.ear.course import next_presentation, take_answer
from firmware_py.ear.ear import EarTest
from firmware_py.ear.objective import BITS, Objective
from firmware_py.ear.threshold_estimates import ThresholdEstimates
from firmware_py.inference.estimator import Stimulus
from firmware_py.inference.model import Hyperparameters
from firmware_py.session.ear_result import result_of
from firmware_py.terms.outcomes import WITH_NUMBERS, Outcome, Purpose, Why
from firmware_py.terms.presentation import NO_COVER, SILENCE, Observation, Presentation
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ, BY_AIR, Route
from firmware_py.terms.settings import Settings
from tests.budget import quick
from tests.session.driver import (
    REACTION_US,
    AlwaysPresses,
    Driver,
    Ears,
    Listener,
    NeverPresses,
    Reaction,
    familiar,
    flat,
    marks,
    numbers,
    run_left_ear,
)

DEAF_ABOVE = dict.fromkeys((3000, 4000, 6000), "no-response")
# Marks of an ear without a threshold, and whether they have a number.
NUMBERS: Any = {("incomplete", False), ("inferred", True)}


def own_sake(driver: Driver) -> set[int]:
    """The numbers of the tones that the estimator did not choose: a frequency had to be asked."""
    told = driver.tells("tone", purpose=Purpose.MEASURE)
    return {about["number"] for about in told if "information_bits" not in about}


def numbers_of_marks(ear: dict[str, Any]) -> set[tuple[str, bool]]:
    """The marks, and whether such frequencies have numbers."""
    return {(each["mark"], each["threshold_db_hl"] is not None) for each in ear["thresholds"]}


def is_short_of(why: dict[str, Any], wanted_db: float) -> bool:
    """Whether the widest band is said to be wider than was wanted, a quarter more at 250 Hz."""
    wanted_db *= 1.25 if why["frequency_hz"] == 250 else 1.0
    said = why["code"], why["wanted_db"]
    return bool(said == ("wide-still", wanted_db) and why["half_width_db"] > wanted_db)


@pytest.mark.parametrize("stop_half_width_db", quick([10.0, 15.0, 25.0], 15.0))
def test_an_ear_ends_when_the_band_is_narrow_enough_everywhere(stop_half_width_db: float) -> None:
    driver = run_left_ear(
        flat(30), stop_half_width_db=stop_half_width_db, tones_max=120, tones_min=1, retest=False
    )
    found = driver.ear("left")
    halves_db = {
        each["frequency_hz"]: (each["high_db_hl"] - each["low_db_hl"]) / 2
        for each in found["thresholds"]
        if each["mark"] == Outcome.MEASURED
    }
    worst_hz, worst_db = max(halves_db.items(), key=lambda pair: pair[1])
    (why,) = found["why"]

    assert found["outcome"] == Outcome.MEASURED
    assert (why["code"], why["frequency_hz"]) == ("narrow-enough", worst_hz)
    assert why["half_width_db"] == pytest.approx(worst_db, abs=0.051)
    assert worst_db <= stop_half_width_db
    assert halves_db.keys() >= {*AUDIOGRAM_FREQUENCIES_HZ} - {*BY_AIR.inter_octave_hz}
    # Once it is narrow enough only what has not been asked is asked.
    for before, about in pairwise(driver.tells("answer", purpose=Purpose.MEASURE)):
        narrow = before["half_width_db"] <= stop_half_width_db - 0.005
        assert not narrow or about["number"] in own_sake(driver)


def test_an_ear_ends_when_the_next_answer_would_tell_too_little() -> None:
    driver = run_left_ear(
        flat(30), stop_information_bits=0.5, stop_half_width_db=1.0, tones_max=120, retest=False
    )
    end, short = driver.ear("left")["why"]

    assert end["code"] == "next-answer-tells"
    assert 0.0 < end["information_bits"] <= 0.5
    assert BITS.choose(driver.left.estimator).information_bits <= 0.5
    assert is_short_of(short, 1.0)
    assert driver.ear("left")["tones"] < 65


ONE_OF_TWO = (True, False)
TELLS_HALF_A_BIT = reason(Code.NEXT_ANSWER_TELLS, information_bits=0.5)


@pytest.mark.parametrize(
    ("heard", "tones", "least_bits", "bits", "why"),
    [
        (ONE_OF_TWO, 13, 0.5, 0.51, None),
        (ONE_OF_TWO, 13, 0.5, 0.5, TELLS_HALF_A_BIT),
        (ONE_OF_TWO, 13, 0.0, 0.0, None),  # nothing was set
        (ONE_OF_TWO, 14, 0.0, 0.5, reason(Code.CAP_KEPT, tones_max=20, tones=14, kept=6)),
        (ONE_OF_TWO, 15, 0.0, 0.5, reason(Code.CAP_TOO_FEW, tones_max=20, tones=15, left=5)),
        ((False,), 19, 0.0, 0.5, None),
        ((False,), 20, 0.0, 0.5, reason(Code.NO_RESPONSE, limit_db_hl=100.0)),
        ((True,), 19, 0.0, 0.5, None),
        ((True,), 20, 0.0, 0.5, reason(Code.ALL_HEARD, floor_db_hl=-10.0)),
    ],
)  # fmt: skip
def test_what_ends_an_ear_whose_bands_are_wide(
    heard: tuple[bool, ...], tones: int, least_bits: float, bits: float, why: Reason | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Of so many tones, all heard, none, or one and not another; the next answer tells `bits`."""
    monkeypatch.setattr(Objective, "choose", lambda *_, **__: Stimulus(1000.0, 40.0, bits))
    # No more than there are beside the retest's.
    values = {"conduct": "clinical", "tones_max": 20, "tones_min": 1 if tones < 14 else 20}
    settings = Settings.from_record({**values, "stop_information_bits": least_bits})
    ear = familiar(EarTest(Route("left"), settings))
    for each in heard:
        take_answer(ear, Presentation(Purpose.MEASURE, 1000.0, 40.0), each)
    ear.catch_trials.count = 3
    ear.tally.tones = tones
    ear.tally.heard = tones if all(heard) else ear.tally.heard
    stop = ear.rule.judge()

    assert (None if stop is None else stop.why[0]) == why


def test_tones_that_are_allowed_come_on_top_of_all_that_were_asked() -> None:
    ear: Any = EarTest(Route("left"), Settings(ears="left", tones_max=20))
    ear.tally.tones, ear.rule.cap = 25, reason(Code.CAP, tones_max=20)
    ear.rule.allow(3)

    assert (ear.rule.tones_left, ear.rule.cap) == (3, None)


@pytest.mark.parametrize("retest", [True, False])
@pytest.mark.parametrize("tones_max", quick([20, 30, 57], 20))
def test_an_ear_ends_at_the_cap_of_tones(tones_max: int, retest: bool) -> None:
    driver = run_left_ear(
        flat(30), stop_half_width_db=1.0, tones_max=tones_max, tones_min=1, retest=retest
    )
    found, checks = driver.ear("left"), driver.left.attention.checks_asked
    retested = [about["number"] for about in driver.tells("tone", purpose=Purpose.RETEST)]
    before = [each for each in driver.plays if each.number < min(retested, default=999)]
    asked = sum(each.why != Why.DECIDING for each in before)
    beside = checks + driver.left.listening.deciding_asked
    kept = {"code": "cap-kept", "tones_max": tones_max, "tones": asked, "kept": 6}
    end, short = found["why"]

    assert asked == (tones_max - 6 if retest else tones_max + checks)
    assert end == (kept if retest else {"code": "cap", "tones_max": tones_max})
    assert is_short_of(short, 1.0)
    assert found["tones"] <= tones_max + beside
    assert retest or found["tones"] == tones_max + beside


@pytest.mark.parametrize("tones_min", quick([5, 20, 40], 5, 40))
def test_an_ear_has_its_fewest_tones(tones_min: int) -> None:
    driver = run_left_ear(
        flat(30), conduct="clinical", stop_half_width_db=40.0, tones_min=tones_min, tones_max=60,
        retest=False,
    )  # fmt: skip

    own = own_sake(driver)
    before = [play for play in driver.plays if not own or play.number < min(own)]
    checks = driver.left.attention.checks_asked
    fewest = max(tones_min, 10)  # so many take a band of +-40 dB
    assert len(before) in (fewest, fewest + checks)


@pytest.mark.parametrize("values", [{}, {"conduct": "clinical"}])
@pytest.mark.parametrize(
    ("listener", "outcome", "why"),
    [
        (NeverPresses(), Outcome.NO_RESPONSE, "no-response"),
        (flat(-11), Outcome.HEARS_ALL, "all-heard"),
        (AlwaysPresses(), Outcome.UNRELIABLE, "presses-anyway"),
    ],
)
def test_an_ear_that_cannot_be_measured_ends_as_such_and_not_as_a_number(
    listener: Listener, outcome: str, why: str, values: dict[str, Any]
) -> None:
    driver = run_left_ear(listener, **values)
    found, limit = driver.ear("left"), driver.settings.level_max_db_hl
    bound = {"no-response": {"limit_db_hl": limit}, "all-heard": {"floor_db_hl": -10.0}}

    assert found["outcome"] == outcome
    assert found["why"] == [{"code": why, **bound.get(why, {})}]
    asked = {m for f, m in marks(found).items() if f not in BY_AIR.inter_octave_hz}
    kept = 6 * driver.settings.retest
    if outcome == Outcome.UNRELIABLE or found["tones"] < driver.settings.tones_max - kept:
        # An ear is deaf as a whole before each of its frequencies is surely beyond its limit.
        perhaps = {Outcome.INCOMPLETE} if outcome == Outcome.NO_RESPONSE else set()
        assert outcome in asked <= {outcome} | perhaps
    assert numbers_of_marks(found) <= {*NUMBERS, (outcome, False)}
    assert found["retest_difference_db"] is None
    assert found["false_alarms"] == (found["catch_trials"] if outcome == Outcome.UNRELIABLE else 0)
    assert (found["verdict"] == "could-not-be-tested") == (outcome != Outcome.HEARS_ALL)
    if outcome == Outcome.NO_RESPONSE:
        assert max(play.level_db_hl for play in driver.plays) == limit
    if outcome == Outcome.HEARS_ALL:
        assert found["catch_trials"] >= 3


def test_six_silences_at_the_limit_at_three_frequencies_do_not_end_an_ear() -> None:
    ear = familiar(EarTest(Route("left"), Settings(ears="left")))
    for frequency_hz in [1000.0, 2000.0, 4000.0] * 3:
        take_answer(ear, Presentation(Purpose.MEASURE, frequency_hz, 100.0), False)
    assert not ear.over
    take_answer(ear, Presentation(Purpose.MEASURE, 500.0, 100.0), False)
    assert not ear.over, "it is known, and the other octaves are asked all the same"
    rest = []
    while not ear.over:
        rest.append(next_presentation(ear, 1))
        take_answer(ear, rest[-1], False)

    assert ear.outcome == Outcome.NO_RESPONSE
    tones = {(tone.frequency_hz, tone.level_db_hl) for tone in rest if tone != SILENCE}
    assert tones == {(frequency_hz, 100.0) for frequency_hz in (250, 3000, 6000, 8000)}


@dataclass(frozen=True)
class But(Listener):
    """Presses, or does not, by accident once."""

    threshold_db_hl: float
    accident: int

    def to_tone(self, tone: Tone) -> Reaction:
        usual = flat(self.threshold_db_hl).to_tone(tone)
        if tone.number == self.accident:
            return REACTION_US if usual is None else None
        return usual


@pytest.mark.parametrize("threshold_db_hl", [-99.0, 999.0])
@pytest.mark.parametrize("retest", [True, False])
@pytest.mark.parametrize("accident", quick(range(1, 25), 1, 15))
def test_an_ear_whose_frequencies_are_all_beyond_the_limit_is_as_a_whole(
    accident: int, retest: bool, threshold_db_hl: float
) -> None:
    found = run_left_ear(
        But(threshold_db_hl, accident), level_min_db_hl=20.0, level_max_db_hl=60.0, tones_min=1,
        stop_half_width_db=16.0, retest=retest,
    ).ear("left")  # fmt: skip
    kinds = set(marks(found).values())
    inside = any(20.0 < level_db_hl < 60.0 for level_db_hl in numbers(found) if level_db_hl)

    if found["outcome"] in (Outcome.NO_RESPONSE, Outcome.INCOMPLETE):
        assert kinds <= {Outcome.NO_RESPONSE, Outcome.INCOMPLETE, Outcome.INFERRED}
    elif found["outcome"] == Outcome.HEARS_ALL:
        assert kinds <= {Outcome.HEARS_ALL, Outcome.INFERRED}
    else:
        assert found["outcome"] == Outcome.MEASURED
        assert inside or len(kinds) > 1


def test_an_ear_that_ends_beyond_the_limit_everywhere_is_not_measured_however_it_ends() -> None:
    """It was never asked at the limit: that it lies beyond is inferred."""
    values = {"level_max_db_hl": 40.0, "tones_min": 1, "stop_half_width_db": 40.0}
    ear = EarTest(Route("left"), Settings.from_record({"conduct": "clinical", **values}))
    take_answer(ear, Presentation(Purpose.FAMILIARISE, 1000.0, 40.0), False)
    take_answer(ear, Presentation(Purpose.FAMILIARISE, 1000.0, 40.0), True)
    for frequency_hz in [250.0, 500.0, 1000.0, 2000.0, 4000.0, 8000.0] * 7:
        if not ear.over:
            take_answer(ear, Presentation(Purpose.MEASURE, frequency_hz, 39.0), False)

    assert ear.over
    assert ear.outcome in (Outcome.INCOMPLETE, Outcome.NO_RESPONSE)
    found = result_of(ear).thresholds
    assert {each.mark for each in found} == {Outcome.INFERRED}
    assert min(each.threshold_db_hl or 0.0 for each in found) >= 40.0


@pytest.mark.parametrize(
    ("low_db_hl", "edge_hz", "high_db_hl", "limit_db_hl", "expected"),
    [
        # A steep loss: numbers where something was heard, and no number where nothing was.
        (20.0, 1200.0, 999.0, 60.0, {500: "measured", 1000: "measured", **DEAF_ABOVE}),
        # A mark at the floor needs no other.
        (-99.0, 2500.0, 50.0, 100.0, {500: "hears-all", 1000: "hears-all", 6000: "measured"}),
    ],
)
def test_every_frequency_has_its_own_mark(
    low_db_hl: float, edge_hz: float, high_db_hl: float, limit_db_hl: float, expected: Any
) -> None:
    ears = Ears(lambda ear, frequency_hz: low_db_hl if frequency_hz < edge_hz else high_db_hl)
    found = run_left_ear(ears, level_max_db_hl=limit_db_hl, tones_max=60).ear("left")

    assert found["outcome"] == Outcome.MEASURED
    assert expected.items() <= marks(found).items()
    for threshold in found["thresholds"]:
        for name in ("threshold_db_hl", "sd_db", "low_db_hl"):
            assert (threshold[name] is None) == (threshold["limit_db_hl"] is not None)
        assert (threshold["limit_db_hl"] is None) == (threshold["mark"] in WITH_NUMBERS)


def beyond(sds: float) -> EarTest:
    """An ear whose estimator says that the threshold lies so many SD beyond the limit."""

    class Sure:
        trial_count = changes = 20
        candidate_frequencies_hz = AUDIOGRAM_FREQUENCIES_HZ
        hyperparameters = Hyperparameters(None, None, 2.0)

        def observe(self, *_answer: Any) -> None:
            """Be as sure as before."""

        def threshold(self, frequencies_hz: Any) -> tuple[Any, Any]:
            sd_db = np.full(len(frequencies_hz), 8.0)
            return 100.0 + sds * sd_db, sd_db

        def posterior_band(self, frequencies_hz: Any, probability: float) -> tuple[Any, Any]:
            mean_db_hl, sd_db = self.threshold(frequencies_hz)
            sds = NormalDist().inv_cdf(0.5 + 0.5 * probability)
            return mean_db_hl - sds * sd_db, mean_db_hl + sds * sd_db

    ear = EarTest(Route("left"), Settings(ears="left"))
    ear.estimator = ear.belief.estimator = cast(Any, Sure())
    ear.audiogram = ThresholdEstimates(Settings(), ear.belief, ear.levels)
    for level_db_hl, heard in ((95.0, True), (100.0, False), (100.0, False)):
        observe_everywhere(ear, level_db_hl, heard)
    return ear


def observe_everywhere(ear: EarTest, level_db_hl: float, heard: bool) -> None:
    for frequency_hz in AUDIOGRAM_FREQUENCIES_HZ:
        tone = Presentation(Purpose.MEASURE, frequency_hz, level_db_hl)
        ear.observe(Observation(tone, heard, NO_COVER))


@pytest.mark.parametrize(
    ("sds", "mark"),
    [(-0.01, "measured"), (0.0, "incomplete"), (1.64, "incomplete"), (1.65, "no-response")],
)
def test_no_response_has_to_be_sure(sds: float, mark: str) -> None:
    """A mean at the limit is no more than an even chance; what is not sure has no number either."""
    for threshold in result_of(beyond(sds)).thresholds:
        assert threshold.mark == mark
        assert (threshold.threshold_db_hl is not None) == (mark == Outcome.MEASURED)
        assert threshold.limit_db_hl == (None if mark == Outcome.MEASURED else 100.0)


def test_where_the_limit_was_in_the_way_is_said() -> None:
    """A steep loss: what was not made out is named with the limit it lies at."""
    steep = Ears(lambda ear, frequency_hz: 10.0 if frequency_hz < 2500.0 else 999.0)
    settings = {"conduct": "clinical", "level_max_db_hl": 60.0, "tones_max": 22, "retest": False}
    found = run_left_ear(steep, **settings).ear("left")
    unsure_hz = [f for f, mark in marks(found).items() if mark == Outcome.INCOMPLETE]
    perhaps = {"code": "perhaps-beyond", "limit_db_hl": 60.0, "frequencies_hz": unsure_hz}

    assert unsure_hz
    assert found["why"][-1] == perhaps


def test_thresholds_are_those_of_the_audiogram_frequencies_in_range() -> None:
    wide = run_left_ear(flat(25)).ear("left")
    narrow = run_left_ear(flat(25), frequency_min_hz=400.0, frequency_max_hz=3500.0).ear("left")

    assert list(marks(wide)) == list(AUDIOGRAM_FREQUENCIES_HZ)
    assert list(marks(narrow)) == [500, 750, 1000, 1500, 2000, 3000]
