"""How fast presentations follow each other: pauses, pulses, and the window of a listener."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import kstest, t, truncexpon

from firmware_py.presenting.answers_given import Answered, AnswersGiven
from firmware_py.presenting.pace import LATE_MS_MAX, WINDOW_MS_MAX, Pace
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.route import Route
from firmware_py.terms.settings import CONDUCTS, Settings
from tests.budget import quick

DRAWS = 20_000
# Of the people in the prior: McKendrick, Denniss & Turpin 2014.
MEDIAN_S, LOG_SD, BETWEEN_LOG_SD = 0.48, 0.26, 0.4


def pauses_ms(settings: Settings) -> np.ndarray:
    pace = Pace(settings)
    return np.array([pace.pause_us(number) for number in range(1, DRAWS + 1)]) / 1000.0


def after(*given_ms: int | None, settings: Settings | None = None) -> Pace:
    """The pace of one who answered tones so late; None: a tone was not answered."""
    pace = Pace(settings or Settings())
    for response_ms in given_ms:
        if response_ms is None:
            pace.take_silence()
        else:
            pace.take_answer(1000 * response_ms)
    return pace


# --- The pause -----------------------------------------------------------------------------------


@pytest.mark.parametrize("conduct", CONDUCTS)
@pytest.mark.parametrize("seed", quick([1, 2, 2**63 - 1], 2**63 - 1))
def test_pauses_are_their_least_and_a_truncated_exponential_time(conduct: str, seed: int) -> None:
    s = Settings(conduct=conduct, seed=seed)
    least_ms, span_ms = s.pause_ms_min, s.pause_ms_max - s.pause_ms_min
    found_ms = pauses_ms(s)
    law = truncexpon(4.0, loc=least_ms, scale=span_ms / 4.0)

    assert least_ms <= found_ms.min()
    assert found_ms.max() <= s.pause_ms_max
    assert kstest(found_ms, law.cdf).pvalue > 0.001
    assert found_ms.min() < least_ms + 1.0
    assert found_ms.max() > law.ppf(1.0 - 10.0 / DRAWS)
    assert Pace(s).pause_s == pytest.approx(0.001 * law.mean(), rel=1e-12)
    assert found_ms.mean() == pytest.approx(law.mean(), abs=4.0 * law.std() / math.sqrt(DRAWS))


def test_a_press_begins_a_pause_anew_within_reason() -> None:
    pace = Pace(Settings(pause_ms_min=700))

    assert pace.anew_us(5_000, 4_000) == 5_000 + 700_000
    assert pace.anew_us(10_000_000, 4_000) == 10_000_000 + 4_000


# --- The window ----------------------------------------------------------------------------------


def predictive_ms(responses_s: Sequence[float]) -> tuple[float, float]:
    """The median of the next response, and two scales of Student's t above it, in milliseconds.

    What was known before is worth one answer of the mean and eight of the variance.
    """
    x = np.log(responses_s)
    kappa, nu = (LOG_SD / BETWEEN_LOG_SD) ** 2, 8.0
    n, mean = len(x), float(np.mean(x)) if len(x) else 0.0
    at = (kappa * math.log(MEDIAN_S) + n * mean) / (kappa + n)
    squares = nu * LOG_SD**2 + float(np.sum((x - mean) ** 2))
    squares += kappa * n / (kappa + n) * (mean - math.log(MEDIAN_S)) ** 2
    scale = math.sqrt(squares / (nu + n) * (1.0 + 1.0 / (kappa + n)))
    law = t(nu + n, loc=at, scale=scale)
    window = law.ppf(t(nu + n).cdf(2.0))
    return 1000.0 * math.exp(law.median()), 1000.0 * math.exp(window)


def listener(median_s: float, log_sd: float, count: int, seed: int) -> list[float]:
    random = np.random.default_rng(seed)
    return [float(s) for s in median_s * np.exp(log_sd * random.standard_normal(count))]


@pytest.mark.parametrize("count", [0, 1, 2, 5, 40])
@pytest.mark.parametrize(("median_s", "log_sd"), [(0.35, 0.2), (0.5, 0.25), (0.8, 0.4), (1.6, 0.1)])
def test_the_window_is_that_of_the_predictive_distribution(
    median_s: float, log_sd: float, count: int
) -> None:
    """Of a normal logarithm with a normal-inverse-gamma prior: Student's t."""
    s = Settings(seed=1)
    responses_s = [round(r, 6) for r in listener(median_s, log_sd, count, seed=count)]
    pace = Pace(s)
    for response_s in responses_s:
        pace.take_answer(round(1e6 * response_s))
    expected_ms, window_ms = predictive_ms(responses_s)
    least_ms = 2 * s.pulse_on_ms + s.pulse_off_ms

    assert 1000.0 * pace.response_s == pytest.approx(expected_ms, rel=1e-9)
    assert pace.window_us == pytest.approx(
        1000.0 * min(max(window_ms, least_ms), WINDOW_MS_MAX), abs=1.0
    )
    assert pace.late_us == min(2 * pace.window_us, round(1000 * LATE_MS_MAX))


def test_a_window_is_neither_shorter_than_two_pulses_nor_longer_than_four_seconds_and_a_half() -> (
    None
):
    hasty, slow = after(*[100] * 50), after(*[4900] * 50)

    assert hasty.window_us == 710_000
    assert slow.window_us == 4_500_000
    assert slow.late_us == 5_500_000


# --- Who may be slow -----------------------------------------------------------------------------


def longest_wait_us(pace: Pace) -> int:
    """How long a tone may be answered before the next one begins, if the pause is the shortest."""
    return pace.window_us + min(pace.pause_after_us(number) for number in range(1, 200))


# The first press came after a tone that was not answered, and may be meant for that.
@pytest.mark.parametrize(
    "given_ms",
    [
        pytest.param([None, 400], id="at once"),
        pytest.param([None, 400, *[400] * 3, None], id="until a press comes after a long wait"),
        pytest.param([None, 400, *[None] * 5], id="for so many tones"),
    ],
)
def test_after_a_first_press_that_may_be_late_a_tone_is_waited_for_longer(
    given_ms: list[int | None],
) -> None:
    pace = after(*given_ms)

    assert longest_wait_us(pace) == pace.late_us == 5_000_000
    assert longest_wait_us(after()) < 2_500_000
    assert pace.response_s == after().response_s, "whose time it was is not known"


@pytest.mark.parametrize(
    ("given_ms", "known_ms"),
    [
        pytest.param([None, 400, 2500], [2500], id="a late press tells that he is slow"),
        pytest.param([None, 1300], [None, 400], id="a first one may be later than it seems"),
        pytest.param([None, *[400] * 4, None, 400], [400], id="a press after a long wait"),
        pytest.param([None] * 6, [], id="nobody"),
        pytest.param([None, 400, *[None] * 6], [], id="a press by accident"),
        pytest.param([400, None, 350], [400, 350], id="who hears the first tone"),
    ],
)
def test_what_is_known_of_a_listener_is_what_can_be_meant_for_one_tone_only(
    given_ms: list[int | None], known_ms: list[int]
) -> None:
    pace, known = after(*given_ms), after(*known_ms)

    assert (pace.window_us, pace.response_s) == (known.window_us, known.response_s)
    assert longest_wait_us(pace) == longest_wait_us(known)


def test_what_is_pressed_within_100_ms_tells_nothing_of_how_fast_somebody_is() -> None:
    """With `response_ms_min` at 0 a press at the onset itself is an answer."""
    assert after(0).response_s == after(100).response_s < after(101).response_s


def test_a_second_press_after_the_usual_window_is_meant_for_its_own_tone() -> None:
    first_us = Pace(Settings()).window_us
    for response_us, low_s, high_s in ((first_us, 0.8, 9.0), (first_us - 1, 0.0, 0.5)):
        pace = after(None, 1300)
        pace.take_answer(response_us)
        assert low_s < pace.response_s < high_s


def test_a_window_that_was_set_does_not_follow_the_listener() -> None:
    pace = after(*[300] * 20, settings=Settings(conduct="clinical"))

    assert pace.window_us == pace.late_us == (1160 + 1000) * 1000
    unsure = after(None, 400, settings=Settings(conduct="clinical"))
    assert unsure.late_us == unsure.window_us
    assert unsure.pause_after_us(3) == unsure.pause_us(3)
    assert pace.pulses == 3


@pytest.mark.parametrize("pulses", [1, 2, 3, 5])
@pytest.mark.parametrize(("on_ms", "off_ms"), [(260, 190), (220, 0), (400, 1000), (2000, 500)])
def test_the_train_ends_with_the_window_and_no_pulse_more_would_fit(
    pulses: int, on_ms: int, off_ms: int
) -> None:
    s = Settings(pulses=pulses, pulse_on_ms=on_ms, pulse_off_ms=off_ms)
    for response_ms in (200, 500, 900, 2500):
        pace = after(*[response_ms] * 20, settings=s)
        ends_us = 1000 * (pace.pulses * on_ms + (pace.pulses - 1) * off_ms)

        assert min(2, pulses) <= pace.pulses <= pulses
        assert ends_us <= pace.window_us
        assert pace.pulses == pulses or ends_us + 1000 * (on_ms + off_ms) > pace.window_us


@pytest.mark.parametrize("conduct", CONDUCTS)
def test_what_a_presentation_takes_is_its_pause_and_the_answer_or_the_window(conduct: str) -> None:
    pace = after(700, settings=Settings(conduct=conduct))

    assert pace.trial_time.answered_s == pytest.approx(pace.pause_s + pace.response_s)
    assert pace.trial_time.silent_s == pytest.approx(pace.pause_s + 1e-6 * pace.window_us)


LEFT = Route("left")


def given_answers(
    *each: tuple[int, int, float | None], route: Route = LEFT, frequency_hz: float = 1000.0
) -> AnswersGiven:
    """Answers of an ear: their numbers, seconds, and the noise beside them."""
    given, tone = AnswersGiven(), Presentation(Purpose.MEASURE, frequency_hz, 40.0)
    given.all += [
        Answered(route, tone, noise_db_hl, number, True, 1_000_000 * known_s, None, False)
        for number, known_s, noise_db_hl in each
    ]
    return given


def test_the_time_of_a_presentation_is_from_an_answer_to_the_next_number() -> None:
    """What another ear, or a check, was asked between two answers is none of theirs."""
    assert given_answers((1, 1, None), (2, 4, None), (9, 90, None)).trial_s(LEFT) == 3.0


def test_the_noise_of_a_threshold_is_told_from_the_least_to_the_most() -> None:
    given = given_answers((1, 1, None), (2, 4, 60.0), (3, 7, 75.0), (4, 9, 65.0))

    assert given.noise_at(LEFT, [Purpose.MEASURE]) == {1000: (60.0, 75.0)}
    assert given.noise_at(LEFT, [Purpose.CONFIRM]) == {}
    bone = Route("left", "bone")
    at_6_khz = given_answers((1, 1, 60.0), route=bone, frequency_hz=6000.0)
    assert at_6_khz.noise_at(bone, [Purpose.MEASURE]) == {6000: (60.0, 60.0)}
