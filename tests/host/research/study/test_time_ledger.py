"""The clock of a whole simulated test, and the ledger of its time, against known times."""

from collections import Counter
from typing import Any

import pytest

from device.simulator.audiogram import Audiogram
from device.simulator.listener import EARS, Listener, Press, SimulatedListener, Tone
from firmware_py.presenting.pace import Pace
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings
from host_tools.research.study.time_ledger import (
    ANSWERED,
    CHECK,
    KINDS,
    PARTS,
    PAUSE,
    UNANSWERED,
    VOID,
    TimedTest,
)

RESPONSE_US = 413_579
CLINICAL_WINDOW_US = 1000 * (3 * 260 + 2 * 190 + 1000)  # three pulses, two gaps, and the window


class Known(Listener):
    """Hears what is as loud as the threshold, and presses always after the same time."""

    def __init__(self, threshold_db_hl: float, response_us: int = RESPONSE_US) -> None:
        self._threshold_db_hl = threshold_db_hl
        self._response_us = response_us
        self.heard: dict[int, bool] = {}  # by the number of the presentation

    def answer(self, tone: Tone) -> Press | None:
        heard = tone.level_db_hl >= self._threshold_db_hl
        self.heard[tone.number] = heard
        return Press(self._response_us, 100_000) if heard else None


def by_kind(test: TimedTest) -> dict[str, int]:
    return {kind: test.ledger.sum_us(kind) for kind in KINDS}


@pytest.mark.parametrize("conduct", ["brisk", "clinical"])
@pytest.mark.parametrize("threshold_db_hl", [5.5, 41.5, 200.0])
def test_a_listener_of_known_times_takes_known_seconds(
    conduct: str, threshold_db_hl: float
) -> None:
    """Every presentation is a pause and an answer, or a pause and a window."""
    settings = Settings(ears="right", conduct=conduct, seed=5)
    listener = Known(threshold_db_hl)
    test = TimedTest(settings, listener)
    result = test.run()

    pace = Pace(settings)
    expected = dict.fromkeys(KINDS, 0)
    pause_us = pace.pause_us(1)
    for number in range(1, result.presentations + 1):
        expected[PAUSE] += pause_us
        pause_us = pace.pause_us(number + 1)
        heard = listener.heard.get(number)
        if heard:
            expected[ANSWERED] += RESPONSE_US
            pace.take_answer(RESPONSE_US)
        elif heard is None:  # a catch trial, and the microsecond in which its last press may come
            expected[UNANSWERED] += pace.late_us + 1
        else:
            expected[UNANSWERED] += pace.window_us
            pause_us = pace.pause_after_us(number + 1)
            pace.take_silence()
            if conduct == "clinical":
                assert pace.window_us == CLINICAL_WINDOW_US
    if listener.heard.get(result.presentations) is False:
        expected[PAUSE] += pause_us  # a late press would count

    assert by_kind(test) == expected
    assert test.seconds == pytest.approx(1e-6 * sum(expected.values()), abs=1e-9)
    catches = result.presentations - len(listener.heard)
    assert (catches > 0) == (conduct == "clinical")
    assert catches == result.ears[0].catch_trials


def test_time_is_booked_by_what_a_presentation_is_for() -> None:
    test = TimedTest(Settings(ears="right", conduct="clinical", seed=2), Known(41.5))
    test.run()

    attention = test.test.ears[Route("right")].attention
    heard = Counter(str(o.presentation.purpose) for o in attention.answers if o.heard)
    checked = attention.checks_asked  # all heard: they are clear
    heard[Purpose.MEASURE] -= checked
    heard[CHECK] = checked
    spent_us = test.ledger.spent_us
    answered = {part: us for (part, kind), us in spent_us.items() if kind == ANSWERED and us}

    assert answered == {part: RESPONSE_US * count for part, count in heard.items() if count}
    assert {CHECK, Purpose.FAMILIARISE, Purpose.MEASURE, Purpose.RETEST} == set(answered)
    assert spent_us[Purpose.CATCH, UNANSWERED] > 0
    assert sum(test.ledger.sum_us(part) for part in PARTS) == test.ledger.spent_us.total()


def test_a_tone_that_is_asked_again_has_its_time_apart() -> None:
    early = Known(-100.0, response_us=60_000)
    test = TimedTest(Settings(ears="right", seed=3), early)
    result = test.run()

    assert result.ears[0].tones > 0
    # Each tone is asked again once: a press before it could be heard is no answer.
    assert test.ledger.sum_us(VOID) == 60_000 * len(early.heard)
    assert test.ledger.sum_us(ANSWERED) == 0
    assert test.ledger.spent_us.total() == pytest.approx(1e6 * test.seconds, abs=0.1)


@pytest.mark.parametrize(
    ("settings", "listener"),
    [
        pytest.param({}, {}, marks=pytest.mark.thorough),
        ({"conduct": "clinical"}, {"false_alarm_rate": 0.2}),
        ({"unsure_button": True}, {"unsure_half_width_db": 3.0, "false_alarm_rate": 0.1}),
        pytest.param(
            {"confirm": "hughson-westlake"}, {"response_time_s": 0.9}, marks=pytest.mark.thorough
        ),
        ({"catch_rate": 0.5}, {"false_alarm_rate": 0.9, "lapse_rate": 0.0}),
    ],
)
def test_the_ledger_adds_up_to_the_clock(
    settings: dict[str, Any], listener: dict[str, Any]
) -> None:
    """Both ears, with noise in the better one, by whoever presses whenever."""
    levels_db_hl = dict(zip(EARS, (10.0, 85.0), strict=True))
    ears = {ear: Audiogram((1000.0,), (level,)) for ear, level in levels_db_hl.items()}
    test = TimedTest(Settings(**settings), SimulatedListener(ears, seed=4, **listener))
    result = test.run()
    ledger = test.ledger

    assert ledger.spent_us.total() == round(1e6 * test.seconds)
    assert sum(by_kind(test).values()) == ledger.spent_us.total()
    assert sum(ledger.sum_us(part) for part in PARTS) == ledger.spent_us.total()
    assert min(ledger.spent_us.values()) >= 0
    assert 0 <= ledger.masked_us < ledger.spent_us.total()
    assert (ledger.masked_us > 0) == any(ear.tones_masked for ear in result.ears)
    assert (
        ledger.sum_us(ANSWERED, UNANSWERED, VOID) + ledger.sum_us(PAUSE) == ledger.spent_us.total()
    )


def test_without_masking_noise_no_time_has_noise() -> None:
    ears = dict.fromkeys(EARS, Audiogram((1000.0,), (40.0,)))
    test = TimedTest(Settings(masking="off"), SimulatedListener(ears))
    test.run()

    assert test.ledger.masked_us == 0
