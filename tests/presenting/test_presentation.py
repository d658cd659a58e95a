"""One presentation: the pause, the tone, the response window; and what may disturb them."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from firmware_py.presenting import presenter
from firmware_py.terms import events, tells
from firmware_py.terms.outcomes import Outcome, Purpose, SessionOutcome, Why
from firmware_py.terms.randomness import PAUSE_STREAM, uniform
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import Route
from firmware_py.terms.settings import CONDUCTS, Settings
from tests.budget import quick
from tests.session.driver import (
    MS,
    Driver,
    NeverPresses,
    S,
    answers,
    flat,
    replayed,
    run_to_end,
    two_ears,
    void,
)

# Fixed times, which are easy to tell, where the promise is one of both conducts.
# In a narrow range, so that a whole test is soon over.
NARROW: Any = {"frequency_min_hz": 1000.0, "frequency_max_hz": 2000.0}
SETTINGS = Settings(conduct="clinical", ears="left", seed=4, **NARROW)
TWO_BUTTONS = Settings(conduct="clinical", ears="left", seed=4, unsure_button=True, **NARROW)
BRISK = Settings(ears="left", seed=4)
LONG = Settings(conduct="clinical", ears="left", seed=4)  # tones enough for all disturbances
EARLIEST_US = SETTINGS.response_ms_min * MS
LATEST_US = SETTINGS.window_ms_min * MS


@cache
def undisturbed_test(settings: Settings) -> Driver:
    """A finished test to compare with, run once for all who ask; none of them may change it."""
    return run_to_end(settings, flat(25.0))


def at_the_first_onset(settings: Settings = SETTINGS) -> Driver:
    """A listener who does nothing, and a tone that has begun."""
    driver = Driver(settings, NeverPresses())
    driver.run_to_onset()
    driver.forget()
    return driver


def press(
    driver: Driver, since_onset_us: int, button: int = events.HEARD_BUTTON
) -> list[events.Action]:
    return driver.feed(events.ButtonPressed(driver.onset_us + since_onset_us, button))


def board_time(driver: Driver, since_onset_us: int) -> list[events.Action]:
    return driver.feed(events.BoardTime(driver.onset_us + since_onset_us))


def let_time_pass(driver: Driver) -> list[events.Action]:
    """Have the time come that is waited for, and nothing else."""
    assert driver.wait_until_us is not None
    driver.now_us = driver.wait_until_us
    return driver.feed(events.TimePassed())


def wait_out_the_pause(driver: Driver) -> None:
    """Let the window of a tone pass, and the pause after it; the board is asked for its time."""
    let_time_pass(driver)
    assert driver.test.state == presenter.LATE
    assert let_time_pass(driver)[0] == events.AskBoardTime()
    driver.forget()


def run_to_late(driver: Driver, purpose: str = "") -> events.Play:
    """Run until the pause after a tone (of this purpose) that was not answered in its window."""
    while True:
        play = driver.run_to_onset(purpose)
        while driver.test.state == presenter.LISTENING:
            driver.step()
        if driver.test.state == presenter.LATE:
            return play


# --- The random pause ----------------------------------------------------------------------------


def pauses_us(driver: Driver) -> list[int]:
    """How long was paused before each presentation: after the one before, or in it."""
    pauses, since_us, waited, silence = [], 0, False, False
    for at_us, action in driver.log:
        match action:
            case tells.EarTold() | tells.AnswerTold():
                waited = isinstance(action, tells.AnswerTold) and not silence and not action.heard
                since_us = at_us
            case tells.ToneTold() | tells.CatchTold():
                silence = isinstance(action, tells.CatchTold)
                if not waited:
                    pauses.append(at_us - since_us)
            case events.Wait():
                since_us = at_us
            case events.AskBoardTime() if not silence:
                pauses.append(at_us - since_us)
            case _:
                pass
    return pauses


def drawn_us(s: Settings, number: int) -> float:
    """The pause before a presentation: the quantile of a truncated exponential distribution."""
    span_ms = s.pause_ms_max - s.pause_ms_min
    share = uniform(s.seed, PAUSE_STREAM, number) * -math.expm1(-4.0)
    means = -math.log1p(-share)
    return float(1000 * (s.pause_ms_min + span_ms * means / 4.0))


@pytest.mark.parametrize("pause", [{}, {"pause_ms_min": 1500, "pause_ms_max": 1500}])
@pytest.mark.parametrize("conduct", quick(CONDUCTS, "brisk"))
def test_before_each_presentation_is_exactly_one_pause(conduct: str, pause: Any) -> None:
    """Whether the one before was answered, or not, or was a silence; by seed and number alone."""
    settings = Settings(conduct=conduct, seed=8, tones_max=60, stop_half_width_db=1.0, **pause)
    driver = run_to_end(settings, flat(25.0))
    pauses = pauses_us(driver)

    assert len(pauses) > 100
    assert {True, False} <= {about["heard"] for about in driver.tells("answer")}
    for number, pause_us in enumerate(pauses, 1):
        assert pause_us == pytest.approx(drawn_us(driver.settings, number), abs=1.0)


def test_nothing_is_played_before_the_pause_is_over() -> None:
    driver = Driver(SETTINGS)
    driver.feed(events.Started())
    until_us = driver.wait_until_us
    assert until_us is not None
    driver.now_us = until_us - 1

    assert driver.feed(events.TimePassed()) == []
    assert driver.plays == []
    assert events.Play in map(type, driver.feed(events.TimePassed(), after_us=1))


def test_a_tone_is_played_as_set() -> None:
    settings = Settings(
        ears="right", pulse_on_ms=300, pulse_off_ms=100, pulses=2, rise_ms=40,
        familiar_level_db_hl=33, response_ms_min=120,
    )  # fmt: skip
    play = Driver(settings).run_to_tone()

    assert play == events.Play(
        1, Route("right"), 1000.0, 33.0, 300, 100, 2, 40, 120, 1, Why.FAMILIARISE
    )


# --- The response window, on the board's time ----------------------------------------------------


@pytest.mark.parametrize("button", [events.HEARD_BUTTON, events.UNSURE_BUTTON])
@pytest.mark.parametrize(
    ("since_onset_us", "said"),
    [
        *((us, "early") for us in (-1, 0, EARLIEST_US - 1)),
        *((us, "answer") for us in (EARLIEST_US, EARLIEST_US + 1, 600 * MS, LATEST_US)),
        *((us, "late") for us in (LATEST_US + 1, LATEST_US + 5 * S)),
    ],
)
def test_a_press_is_too_soon_in_the_window_or_too_late_by_the_boards_microseconds(
    since_onset_us: int, said: str, button: int
) -> None:
    """Too soon, the tone comes again; too late is stray. Hardly any time has passed here."""
    driver = at_the_first_onset(TWO_BUTTONS)
    stimulus, actions = driver.plays[-1], press(driver, since_onset_us, button)
    heard, tally = button == events.HEARD_BUTTON, driver.left.tally

    assert driver.stray_presses == (said != "answer")
    if said == "late":
        assert actions == []
        assert driver.test.state == presenter.LISTENING
        wait_out_the_pause(driver)
        assert answers(board_time(driver, since_onset_us)) == [False]
        return
    assert actions[0] == events.Silence()
    assert answers(actions) == ([heard or None] if said == "answer" else [])
    assert void(actions) == ([Code.TOO_EARLY] if said == "early" else [])
    if said == "early":
        assert driver.run_to_tone() == stimulus
    else:
        assert (tally.tones, tally.heard, tally.unsure) == (1, heard, not heard)
        assert driver.test.result().response_time_mean_ms == since_onset_us / 1000


@pytest.mark.parametrize("answered", [True, False])
def test_a_second_press_too_soon_is_passed_over_and_the_window_decides(answered: bool) -> None:
    """Whoever presses all the time is not asked the same for ever, nor has heard anything."""
    driver = at_the_first_onset()
    press(driver, 0)
    driver.run_to_onset()
    driver.forget()

    for since_onset_us in (5 * MS, EARLIEST_US - 1):
        assert press(driver, since_onset_us) == []
    assert driver.test.state == presenter.LISTENING
    assert driver.stray_presses == 3
    if answered:
        assert answers(press(driver, 600 * MS)) == [True]
        driver.run_to_onset()
        assert len(void(press(driver, 0))) == 1, "of the next tone it is the first"
    else:
        wait_out_the_pause(driver)
        assert answers(board_time(driver, LATEST_US + 1)) == [False]


@pytest.mark.parametrize("told", ["before its tone", "while the tone is waited for", "later"])
def test_a_press_in_silence_counts_as_one_whenever_it_is_told(told: str) -> None:
    """What a listener does in a pause depends neither on the wire nor on what the host believes."""
    driver = at_the_first_onset()
    press(driver, 300 * MS)
    driver.run_to_tone()
    if told == "before its tone":
        assert driver.feed(events.ButtonPressed(driver.board.clock.board_us(driver.now_us))) == []
    else:
        driver.run_to_onset()
        if told == "later":
            driver.feed(events.TimePassed(), after_us=LATEST_US)
        press(driver, LATEST_US + 1)

    assert driver.test.presenter.silent_time.take() is True


@pytest.mark.parametrize("conduct", CONDUCTS)
@pytest.mark.parametrize("wire_us", quick([0, 20 * MS, 700 * MS], 700 * MS))
def test_answers_do_not_depend_on_the_speed_of_the_wire(wire_us: int, conduct: str) -> None:
    settings = Settings(conduct=conduct, ears="left", seed=2)
    fast, slow = (run_to_end(settings, flat(35), wire_us=us) for us in (1 * MS, wire_us))

    assert slow.plays == fast.plays
    assert slow.result == fast.result


# --- Not heard -----------------------------------------------------------------------------------


def test_not_heard_is_only_said_after_the_boards_time() -> None:
    driver = at_the_first_onset()
    wait_out_the_pause(driver)

    assert driver.tells("answer") == []
    for _ in range(3):
        assert driver.feed(events.TimePassed(), after_us=presenter.TIME_TIMEOUT_US) == [
            events.AskBoardTime(),
            events.Wait(driver.now_us + presenter.TIME_TIMEOUT_US),
        ]
    assert driver.tells("answer") == []
    assert answers(board_time(driver, LATEST_US + 1)) == [False]


@pytest.mark.parametrize("left_us", [0, 1, 250 * MS, LATEST_US])
def test_when_the_board_is_slower_its_window_is_waited_for(left_us: int) -> None:
    """A press in the last microsecond counts, so that has to be over on the board's clock."""
    driver = at_the_first_onset()
    wait_out_the_pause(driver)

    assert board_time(driver, LATEST_US - left_us) == [events.Wait(driver.now_us + left_us + 1)]
    assert driver.test.state == presenter.LATE
    assert answers(press(driver, LATEST_US)) == [True]


@pytest.mark.parametrize(
    "what",
    [
        lambda onset_us: events.ButtonReleased(onset_us + 500 * MS),
        lambda onset_us: events.BoardTime(onset_us - 5 * S),  # told for an earlier tone
        lambda onset_us: events.ToneEnded(1, onset_us + SETTINGS.tone_ms * MS, cut=False),
    ],
)
def test_what_is_no_answer_decides_nothing(what: Callable[[int], events.Event]) -> None:
    driver = at_the_first_onset()

    assert answers(driver.feed(what(driver.onset_us))) == []
    assert driver.test.state == presenter.LISTENING


def test_what_is_told_of_another_tone_decides_nothing() -> None:
    driver = Driver(SETTINGS, NeverPresses())
    driver.run_to_tone()
    for number in (0, 2, 99):
        assert driver.feed(events.ToneStarted(number, 5)) == []
        assert driver.test.state == presenter.STARTING
    driver.step()
    for number in (0, 2, 99):
        assert driver.feed(events.ToneEnded(number, 5, cut=True)) == []
        assert driver.test.state == presenter.LISTENING


# --- Late: the pause after a tone that was not answered ------------------------------------------


@pytest.mark.parametrize("asked", [False, True])
def test_a_late_press_is_the_answer(asked: bool) -> None:
    """On the board's clock, to the microsecond, as long as no silence was taken in."""
    pace = at_the_first_onset(BRISK).test.presenter.pace
    window_us, late_us = pace.window_us, pace.late_us
    assert window_us < late_us
    for since_onset_us, answered in ((window_us + 1, True), (late_us, True), (late_us + 1, False)):
        driver = at_the_first_onset(BRISK)
        let_time_pass(driver)
        assert driver.test.state == presenter.LATE
        if asked:
            let_time_pass(driver)
            driver.forget()
        actions = press(driver, since_onset_us)

        assert answers(actions) == ([True] if answered else [])
        assert driver.test.ears[Route("left")].tally.heard == answered
        assert driver.stray_presses == (not answered)
        if answered:
            assert actions[0] == events.Silence()
            assert driver.test.result().response_time_mean_ms == since_onset_us / 1000
        assert replayed(driver.settings, driver.events) == driver.actions


@pytest.mark.parametrize("button", [events.HEARD_BUTTON, events.UNSURE_BUTTON])
def test_after_a_late_press_there_is_a_whole_pause(button: int) -> None:
    """Or the next tone would begin as the button is still held. The board tells its time later."""
    driver = at_the_first_onset(replace(BRISK, unsure_button=True))
    wait_out_the_pause(driver)
    late_us = driver.test.presenter.pace.late_us
    press(driver, late_us, button)

    assert board_time(driver, late_us + 1) == []
    assert driver.test.state == presenter.PAUSE_BEFORE
    assert driver.wait_until_us is not None
    pause_us = driver.wait_until_us - driver.now_us
    assert pause_us == pytest.approx(drawn_us(BRISK, 2), abs=1.0)


def test_after_a_silence_the_next_begins_when_the_board_has_told_its_time() -> None:
    driver = at_the_first_onset(BRISK)
    wait_out_the_pause(driver)
    actions = board_time(driver, 3 * S)

    assert answers(actions) == [False]
    assert events.Play in map(type, actions)
    assert driver.test.state == presenter.STARTING


def test_a_press_of_nothing_after_the_board_was_asked_puts_the_next_tone_off() -> None:
    driver = at_the_first_onset(SETTINGS)
    wait_out_the_pause(driver)

    assert press(driver, LATEST_US + 1) == [events.Wait(driver.now_us + SETTINGS.pause_ms_min * MS)]
    assert board_time(driver, LATEST_US + 5 * S) == [], "it was asked before"
    assert let_time_pass(driver)[0] == events.AskBoardTime()
    assert answers(board_time(driver, LATEST_US + 6 * S)) == [False]


@pytest.mark.parametrize("state", [presenter.LISTENING, presenter.LATE])
def test_a_time_that_was_asked_for_before_the_tone_ends_no_pause(state: str) -> None:
    """A tone that was told of late: the board was asked whether it had begun."""
    driver = Driver(BRISK, NeverPresses())
    driver.run_to_tone()
    driver.forget()
    assert let_time_pass(driver)[0] == events.AskBoardTime()
    driver.feed(events.ToneStarted(1, 100 * S))
    if state == presenter.LATE:
        let_time_pass(driver)
    driver.forget()

    assert board_time(driver, presenter.START_TIMEOUT_US) == []
    assert driver.test.state == state
    assert answers(press(driver, driver.test.presenter.pace.late_us)) == [True]


def at_a_silence_after_a_silence() -> tuple[Driver, int]:
    """Return it with the board's time that it told last."""
    driver = Driver(Settings(conduct="clinical", ears="left", seed=4, catch_rate=0.5), flat(25))
    driver.run_to_catch()
    while driver.tells("answer")[-1]["heard"] or driver.tells("answer")[-1]["purpose"] == "catch":
        driver.run_to_catch()
    told_us = driver.events[-1][1]
    assert isinstance(told_us, events.BoardTime)
    return driver, told_us.at_us


def test_a_silence_after_a_silence_begins_when_the_board_told_its_time() -> None:
    driver, told_us = at_a_silence_after_a_silence()
    assert silence_us(driver) == told_us
    assert driver.test.state == presenter.LISTENING
    assert answers(driver.feed(events.ButtonPressed(told_us))) == [True]


def test_a_press_before_a_silence_after_a_silence_puts_it_off() -> None:
    driver, told_us = at_a_silence_after_a_silence()
    assert answers(driver.feed(events.ButtonPressed(told_us - 1))) == []
    assert silence_us(driver) == told_us - 1 + driver.settings.pause_ms_min * MS


@pytest.mark.parametrize(
    ("right_db_hl", "about"),
    [
        pytest.param(70.0, {}, id="at one ear"),
        pytest.param(
            math.inf, {"first_ear": "left", "confirm": "hughson-westlake"}, id="at a change of ear"
        ),
    ],
)
def test_another_noise_after_a_silence_has_a_pause_of_its_own(
    right_db_hl: float, about: Any
) -> None:
    """So its beginning, or its end, does not tell when the tone comes."""
    ears = two_ears(left=0.0, right=right_db_hl)
    driver = Driver(Settings(seed=3, tones_max=30, **about), ears, can_mask=True)
    driver.run()
    noise: events.Mask | None = None
    before, waited, since_us, seen = None, False, 0, set()
    for at_us, action in driver.log:
        match action:
            case events.Mask():
                noise = action
            case events.Unmask() | events.Silence():
                noise = None
            case tells.AnswerTold(purpose=purpose, heard=heard):
                waited, since_us = heard is False and purpose != Purpose.CATCH, at_us
            case tells.ToneTold():
                sound = noise and (noise.route.ear, noise.frequency_hz, noise.level_db_hl)
                if waited:
                    least_us = 0 if sound == before else 500 * MS
                    assert (at_us > since_us) == (sound != before)
                    assert at_us - since_us >= least_us
                    seen.add(sound == before)
                before = sound
            case _:
                pass
    assert seen == {True, False}


# --- Stray presses -------------------------------------------------------------------------------


@pytest.mark.parametrize("button", [events.HEARD_BUTTON, events.UNSURE_BUTTON])
def test_a_stray_press_begins_the_pause_anew_but_not_for_ever(button: int) -> None:
    driver = Driver(TWO_BUTTONS)
    driver.feed(events.Started())
    began_us = driver.now_us
    actions = driver.feed(events.ButtonPressed(5, button), after_us=SETTINGS.pause_ms_min * MS)
    assert actions == [events.Wait(driver.now_us + SETTINGS.pause_ms_min * MS)]
    for _ in range(40):
        driver.feed(events.ButtonPressed(5), after_us=250 * MS)

    assert driver.wait_until_us == began_us + 10 * S
    assert driver.stray_presses == 41


def test_a_stray_press_does_not_shorten_the_pause() -> None:
    driver = Driver(Settings(pause_ms_min=1200, pause_ms_max=9000, seed=1))
    driver.feed(events.Started())
    assert driver.wait_until_us is not None
    assert driver.wait_until_us > driver.now_us + 2 * S

    assert driver.feed(events.ButtonPressed(5)) == []


def test_a_press_is_stray_only_where_a_tone_may_come() -> None:
    """Before the test, while it is paused and after it the button may be played with."""
    driver = Driver(SETTINGS)
    driver.feed(events.ButtonPressed(5))
    driver.feed(events.Started())
    driver.run_to_tone()
    assert driver.stray_presses == 0
    assert driver.feed(events.ButtonPressed(5)) == []
    assert driver.test.state == presenter.STARTING
    driver.feed(events.Paused())
    driver.feed(events.ButtonPressed(6))

    assert driver.stray_presses == 1


# --- Catch trials --------------------------------------------------------------------------------


def at_a_silence(**about: Any) -> Driver:
    """In the first catch trial, after a tone that was answered: there is a pause before it."""
    settings = Settings.from_record({"conduct": "clinical", "ears": "left", "seed": 1, **about})
    # Who hears all has silences in a brisk test as well.
    driver = Driver(settings, flat(25.0 if settings.conduct == "clinical" else -11.0))
    driver.run_to_catch()
    assert driver.tells("answer")[-1]["heard"]
    return driver


def silence_us(driver: Driver) -> int:
    """When a catch trial begins, on the clock of the board."""
    assert driver.purpose == Purpose.CATCH
    assert driver.test.presenter.times.onset_us is not None
    return driver.test.presenter.times.onset_us


@pytest.mark.parametrize("button", [events.HEARD_BUTTON, events.UNSURE_BUTTON])
@pytest.mark.parametrize("since_begin_us", [0, 300 * MS, LATEST_US])
def test_a_press_in_a_catch_trial_is_a_false_alarm(since_begin_us: int, button: int) -> None:
    driver = at_a_silence(unsure_button=True)
    ear, heard = driver.test.ears[Route("left")], button == events.HEARD_BUTTON
    pressed = events.ButtonPressed(silence_us(driver) + since_begin_us, button)

    assert answers(driver.feed(pressed, after_us=since_begin_us)) == [heard or None]
    caught = ear.catch_trials
    assert (caught.count, caught.false_alarms, caught.unsure_alarms) == (1, heard, not heard)
    assert driver.stray_presses == 0
    assert ear.tally.tones == len(driver.plays)


def test_a_press_before_a_catch_trial_puts_it_off_on_the_clock_of_the_board() -> None:
    driver = at_a_silence()
    begin_us = silence_us(driver)

    assert answers(driver.feed(events.ButtonPressed(begin_us - 1))) == []
    assert driver.stray_presses == 1
    begin_us += SETTINGS.pause_ms_min * MS - 1
    assert answers(driver.feed(events.ButtonPressed(begin_us - 1))) == []
    begin_us += SETTINGS.pause_ms_min * MS - 1
    assert answers(driver.feed(events.BoardTime(begin_us + LATEST_US))) == []
    assert answers(driver.feed(events.BoardTime(begin_us + LATEST_US + 1))) == [False]


def test_presses_without_end_do_not_put_it_off_for_ever() -> None:
    driver = at_a_silence()
    press_us = silence_us(driver) - 1
    for _ in range(30 * S // (SETTINGS.pause_ms_min * MS)):
        if answers(driver.feed(events.ButtonPressed(press_us))):
            break
        press_us += SETTINGS.pause_ms_min * MS - 1

    assert driver.test.ears[Route("left")].catch_trials.false_alarms == 1


def test_a_press_in_a_catch_trial_is_one_even_if_the_session_still_pauses() -> None:
    """The session is later than the board by as long as the word of the last answer took."""
    driver = at_a_silence()
    number, begin_us = driver.test.number, silence_us(driver)
    late = Driver(driver.settings, flat(25), wire_us=60 * MS)
    while late.test.number < number:
        late.run_to_tone() if not late.events else late.step()
    assert late.test.state == presenter.PAUSE_BEFORE
    assert silence_us(late) - late.onset_us == begin_us - driver.onset_us, "the same to the board"
    actions = late.feed(events.ButtonPressed(silence_us(late)))

    assert answers(actions) == [True]
    assert late.tells("catch", number=number)


def test_the_pause_before_a_catch_trial_is_also_one_after_a_tone_that_was_cut_late() -> None:
    driver = at_a_silence()
    begin_us = silence_us(driver)
    pause_us = begin_us - driver.test.presenter.times.pause_since_us
    for offset_us in (begin_us - pause_us, begin_us - pause_us - 1, begin_us - pause_us + 70 * MS):
        driver.feed(events.ToneEnded(driver.test.number - 1, offset_us, cut=True))

    assert silence_us(driver) == begin_us + 70 * MS


@pytest.mark.parametrize("conduct", CONDUCTS)
def test_a_catch_trial_is_passed_when_the_board_says_that_it_is_over_without_a_press(
    conduct: str,
) -> None:
    driver = at_a_silence(conduct=conduct)
    late_us = driver.test.presenter.pace.late_us
    ear = driver.test.ears[Route("left")]
    over_us = silence_us(driver) + late_us
    assert not isinstance(driver.actions[-2], events.Play), "it is silent"
    assert driver.test.state == presenter.LISTENING
    assert driver.wait_until_us == driver.now_us + late_us

    stray = events.ButtonPressed(over_us + 1)
    assert answers(driver.feed(stray)) == [], "it is none in it, however soon it is told"
    assert driver.stray_presses == 1
    assert driver.feed(events.TimePassed(), after_us=late_us - 1) == []
    assert driver.feed(events.TimePassed(), after_us=1)[0] == events.AskBoardTime()
    assert driver.feed(events.BoardTime(over_us)) == [events.Wait(driver.now_us + 1)]
    assert answers(driver.feed(events.BoardTime(over_us + 1))) == [False]
    assert (ear.catch_trials.count, ear.catch_trials.false_alarms) == (1, 0)


def test_a_silence_after_one_that_was_passed_begins_a_pause_after_its_end() -> None:
    """However late the board tells that it is over."""
    driver = at_a_silence(conduct="brisk")
    pace = driver.test.presenter.pace
    over_us = silence_us(driver) + pace.late_us

    assert answers(driver.feed(events.BoardTime(over_us + S))) == [False]
    assert silence_us(driver) == over_us + pace.pause_us(driver.test.number)


def test_after_a_disturbance_a_catch_trial_begins_when_the_board_says_what_time_it_is() -> None:
    driver = at_a_silence()
    before_us = silence_us(driver)
    driver.feed(events.Paused())
    assert answers(driver.feed(events.ButtonPressed(before_us + 1))) == []
    driver.feed(events.Continued())
    driver.forget()
    told = len(driver.tells("catch"))

    for wait_us in (S * 60, presenter.TIME_TIMEOUT_US):
        assert driver.feed(events.TimePassed(), after_us=wait_us)[0] == events.AskBoardTime()
        assert len(driver.tells("catch")) == told
    driver.feed(events.BoardTime(before_us + 99 * S))
    assert len(driver.tells("catch")) == told + 1
    assert answers(driver.feed(events.ButtonPressed(before_us + 99 * S - 1))) == []
    assert silence_us(driver) > before_us + 99 * S
    assert answers(driver.feed(events.ButtonPressed(silence_us(driver)))) == [True]


# --- The second button ---------------------------------------------------------------------------


def test_without_a_second_button_its_presses_mean_nothing() -> None:
    driver = at_the_first_onset()
    assert press(driver, 500 * MS, events.UNSURE_BUTTON) == []
    assert press(driver, LATEST_US + 1, events.UNSURE_BUTTON) == []
    assert driver.stray_presses == 0
    assert answers(press(driver, 600 * MS)) == [True]


@pytest.mark.parametrize(
    ("first", "second", "answer"),
    [
        (events.HEARD_BUTTON, events.UNSURE_BUTTON, True),
        (events.UNSURE_BUTTON, events.HEARD_BUTTON, None),
    ],
)
def test_the_first_press_in_the_window_counts(first: int, second: int, answer: bool | str) -> None:
    driver = at_the_first_onset(TWO_BUTTONS)

    assert answers(press(driver, 600 * MS, first)) == [answer]
    assert answers(press(driver, 700 * MS, second)) == []
    assert driver.stray_presses == 1


@pytest.mark.parametrize("conduct", CONDUCTS)
def test_a_second_press_belongs_to_the_answer_before_and_holds_up_nothing(conduct: str) -> None:
    """In the pause, or as the next tone has just begun; to the microsecond."""
    for later_us, belongs in ((1, True), (600 * MS, True), (600 * MS + 1, False)):
        driver = at_the_first_onset(Settings(conduct=conduct, ears="left", seed=4))
        press(driver, 400 * MS)
        second = events.ButtonPressed(driver.onset_us + 400 * MS + later_us)
        waits = [] if belongs else [events.Wait]

        assert [type(action) for action in driver.feed(second, after_us=later_us)] == waits
        assert driver.stray_presses == 1
        assert replayed(driver.settings, driver.events) == driver.actions


def test_a_tone_goes_on_whose_first_moment_a_second_press_fell_into() -> None:
    settings = Settings(ears="left", seed=4, pause_ms_min=500, pause_ms_max=500)
    driver = Driver(settings, NeverPresses())
    driver.run_to_onset()
    driver.forget()
    first_us = driver.onset_us + 400 * MS
    press(driver, 400 * MS)
    driver.run_to_tone()
    driver.feed(events.ToneStarted(2, first_us + 501 * MS))

    assert driver.feed(events.ButtonPressed(first_us + 600 * MS)) == []
    assert driver.test.state == presenter.LISTENING
    assert answers(driver.feed(events.ButtonPressed(first_us + 601 * MS))) == [True]


# --- Void, and asked again -----------------------------------------------------------------------


def pause_and_go_on(driver: Driver) -> None:
    assert driver.feed(events.Paused())[0] == events.Silence()
    driver.feed(events.Continued(), after_us=60 * S)


def cut(driver: Driver) -> None:
    actions = driver.feed(events.ToneEnded(driver.test.number, driver.onset_us + 5 * MS, cut=True))
    assert void(actions) == [Code.CUT_SHORT]


def lose_the_board(driver: Driver) -> None:
    driver.feed(events.BoardLost())
    driver.forget()
    assert driver.feed(events.TimePassed(), after_us=60 * S) == []
    driver.feed(events.BoardReady(tone_known=False))


def start_the_firmware_again(driver: Driver) -> None:
    driver.forget()
    driver.feed(events.BoardReady(tone_known=False))


DISTURBANCES = [pause_and_go_on, cut, lose_the_board, start_the_firmware_again]


@pytest.mark.parametrize("purpose", quick(["familiarise", "measure", "retest"], "measure"))
@pytest.mark.parametrize("run", [Driver.run_to_tone, Driver.run_to_onset, run_to_late])
@pytest.mark.parametrize("disturb", DISTURBANCES)
def test_a_disturbed_tone_is_no_answer_and_the_same_is_asked_again(
    disturb: Any, run: Any, purpose: str
) -> None:
    driver = Driver(SETTINGS)
    stimulus = run(driver, purpose)
    if disturb is cut and driver.test.state == presenter.STARTING:
        driver.step()
    answered, tones = len(driver.tells("answer")), driver.test.ears[Route("left")].tally.tones
    disturb(driver)

    assert driver.test.state == presenter.PAUSE_BEFORE
    assert driver.run_to_tone() == stimulus
    assert len(driver.tells("answer")) == answered
    assert driver.test.ears[Route("left")].tally.tones == tones


@pytest.mark.parametrize("settings", quick([LONG, BRISK], BRISK))
@pytest.mark.parametrize("run", [Driver.run_to_onset, run_to_late])
def test_disturbances_change_nothing_in_what_is_asked_and_found(
    run: Any, settings: Settings
) -> None:
    smooth, rough = undisturbed_test(settings), Driver(settings)
    for disturb in DISTURBANCES * 2:
        run(rough)
        disturb(rough)
        rough.run_until(lambda action: isinstance(action, tells.AnswerTold))
    rough.run()

    assert list(dict.fromkeys(rough.plays)) == smooth.plays
    assert rough.result["ears"] == smooth.result["ears"]


@pytest.mark.parametrize(
    ("run", "state", "wait_us"),
    [
        (Driver.run_to_tone, presenter.STARTING, presenter.START_TIMEOUT_US),
        (Driver.run_to_onset, presenter.LISTENING, LATEST_US),
        (run_to_late, presenter.LATE, LATEST_US),
    ],
)
def test_a_tone_the_board_still_knows_goes_on(run: Any, state: str, wait_us: int) -> None:
    driver = Driver(SETTINGS, NeverPresses())
    run(driver)
    driver.feed(events.BoardLost())
    driver.feed(events.BoardReady(tone_known=True), after_us=30 * S)

    assert driver.test.state == state
    assert driver.wait_until_us == driver.now_us + wait_us
    if state == presenter.STARTING:
        driver.feed(events.ToneStarted(1, 77))
    assert answers(press(driver, 500 * MS)) == [True]


@pytest.mark.parametrize("run", [Driver.run_to_tone, Driver.run_to_onset, run_to_late])
@pytest.mark.parametrize(
    "losses",
    [
        [events.BoardDisbelieved()],
        [events.BoardLost(), events.BoardDisbelieved()],
        [events.BoardDisbelieved(), events.BoardLost()],
    ],
)
def test_a_tone_of_a_board_that_was_not_believed_comes_again(
    run: Any, losses: list[events.Event]
) -> None:
    """Its clock may have jumped within the tone, and the firmware started again since then."""
    driver = Driver(SETTINGS, NeverPresses())
    run(driver)
    for event in losses:
        driver.feed(event)
    driver.feed(events.BoardReady(tone_known=True), after_us=30 * S)
    assert driver.test.state == presenter.PAUSE_BEFORE

    driver.feed(events.BoardLost())
    driver.feed(events.BoardReady(tone_known=True))
    assert driver.run_to_tone().number == 1
    driver.step()
    driver.feed(events.BoardLost())
    driver.feed(events.BoardReady(tone_known=True))
    assert driver.test.state == presenter.LISTENING, "it is believed again"


def test_a_board_that_was_lost_before_the_start_is_there_at_the_start() -> None:
    """A test that is resumed before it began is started when the board answers."""
    driver = Driver(SETTINGS)
    driver.feed(events.BoardLost())
    driver.feed(events.Started())

    assert driver.run_to_tone() == Driver(SETTINGS).run_to_tone()


@pytest.mark.parametrize("conduct", CONDUCTS)
@pytest.mark.parametrize("disturb", DISTURBANCES)
def test_a_late_press_to_a_disturbed_tone_is_no_answer_to_its_repetition(
    disturb: Any, conduct: str
) -> None:
    """The pauses of a brisk test are shorter than many response times."""
    settings = Settings(
        conduct=conduct, ears="left", pause_ms_min=500, pause_ms_max=500, pulses=1, seed=4
    )
    driver = Driver(settings)
    driver.run_to_onset()
    driver.run_to_onset()
    answered = len(driver.tells("answer"))
    disturb(driver)
    late_us = driver.test.presenter.pace.late_us
    driver.feed(events.TimePassed(), after_us=late_us - 10 * MS)
    assert driver.test.state == presenter.PAUSE_BEFORE

    driver.feed(events.ButtonPressed(driver.onset_us + late_us - 5 * MS), after_us=5 * MS)
    assert driver.test.state == presenter.PAUSE_BEFORE
    assert len(driver.tells("answer")) == answered
    assert driver.test.presenter.silent_time.take() is not True, "nor one in silence"


def test_nothing_goes_on_while_the_board_is_lost() -> None:
    driver = Driver(SETTINGS)
    driver.feed(events.Started())
    driver.feed(events.BoardLost.by(Code.BOARD_LOST, told="port gone"))

    assert driver.feed(events.BoardLost.by(Code.BOARD_LOST, told="port gone")) == []
    assert driver.tells("board-lost") == [{"why": (reason(Code.BOARD_LOST, told="port gone"),)}]
    assert driver.feed(events.TimePassed(), after_us=600 * S) == []
    assert driver.feed(events.Paused()) == [events.Silence(), tells.PauseTold()]
    driver.feed(events.Continued())
    assert driver.feed(events.TimePassed(), after_us=600 * S) == []
    driver.feed(events.BoardReady(tone_known=False))
    assert driver.run_to_tone().number == 1


def test_a_tone_that_does_not_begin_is_given_up_after_a_time_and_asked_again() -> None:
    driver = Driver(SETTINGS)
    stimulus = driver.run_to_tone()
    driver.forget()

    assert driver.wait_until_us == driver.now_us + presenter.START_TIMEOUT_US
    actions = driver.feed(events.TimePassed(), after_us=presenter.START_TIMEOUT_US)
    assert void(actions) == []
    assert events.AskBoardTime() in actions
    actions = driver.feed(events.BoardTime(1))
    assert void(actions) == [Code.NOT_BEGUN]
    assert actions[0] == events.Silence()
    assert driver.feed(events.ToneStarted(1, 77)) == []
    assert driver.run_to_tone() == stimulus


def never_begins(driver: Driver) -> None:
    driver.forget()
    driver.feed(events.TimePassed(), after_us=presenter.START_TIMEOUT_US)
    driver.feed(events.BoardTime(1))


def is_cut(driver: Driver) -> None:
    driver.step()
    cut(driver)


@pytest.mark.parametrize(
    ("fail", "why"),
    [(never_begins, Code.NOT_BEGUN), (is_cut, Code.CUT_SHORT), (lose_the_board, None)],
)
def test_a_board_that_cannot_play_a_tone_ends_the_test_and_says_why(
    fail: Any, why: Code | None
) -> None:
    driver = Driver(SETTINGS)
    for _ in range(presenter.STARTS_MAX):
        driver.run_to_tone()
        fail(driver)
    driver.run_until(lambda action: isinstance(action, events.Finish))

    assert len(driver.plays) == presenter.STARTS_MAX
    assert driver.test.state == presenter.FINISHED
    said = reason(Code.NOT_PLAYED, number=1)
    if why is not None:
        said = reason(Code.NOT_PLAYED_BUT, number=1, why=reason(why))
    assert driver.tells("finished") == [{"outcome": "failed", "why": (said,)}]
    assert driver.actions[-3] == events.Silence()


@pytest.mark.parametrize(("fail", "answered"), [(never_begins, True), (pause_and_go_on, False)])
def test_failures_are_counted_from_an_answer_on_and_pauses_are_none(
    fail: Any, answered: bool
) -> None:
    driver = Driver(SETTINGS)
    for _ in range(3):
        for _ in range(presenter.STARTS_MAX - answered):
            driver.run_to_tone()
            fail(driver)
        if answered:
            driver.run_until(lambda action: isinstance(action, tells.AnswerTold))

    assert driver.run().outcome == "complete"


# --- Pause, continue -----------------------------------------------------------------------------


def to_board_lost(driver: Driver) -> None:
    driver.run_to_onset()
    driver.feed(events.BoardLost())
    driver.forget()


def to_paused(driver: Driver) -> None:
    driver.run_to_onset()
    driver.feed(events.Paused())


EVERYWHERE: list[Callable[[Driver], Any]] = [
    lambda driver: None,
    lambda driver: driver.feed(events.Started()),
    Driver.run_to_tone,
    Driver.run_to_onset,
    run_to_late,
    Driver.run_to_catch,
    to_board_lost,
    to_paused,
]


def test_everywhere_is_in_every_state() -> None:
    drivers = [Driver(SETTINGS) for _ in EVERYWHERE]
    for driver, go in zip(drivers, EVERYWHERE, strict=True):
        go(driver)

    assert [driver.test.state for driver in drivers] == [
        "ready", "waiting", "starting", "listening", "late", "listening", "listening", "paused",
    ]  # fmt: skip


@pytest.mark.parametrize("go", EVERYWHERE)
def test_a_pause_is_silent_and_lasts_until_the_operator_goes_on(go: Any) -> None:
    driver, undisturbed = Driver(SETTINGS), undisturbed_test(SETTINGS)
    go(driver)
    driver.feed(events.Paused())
    played = len(driver.plays)

    assert driver.test.state == presenter.PAUSED
    assert [events.Silence(), tells.PauseTold()] == driver.actions[-2:]
    assert driver.feed(events.Paused()) == []
    assert driver.feed(events.Started()) == []
    passed = events.TimePassed()
    for event in (passed, events.ButtonPressed(1), events.BoardTime(2), passed):
        assert driver.feed(event, after_us=3600 * S) == []
    assert len(driver.plays) == played
    assert driver.feed(events.Continued())[0] == tells.GoingOnTold()
    driver.feed(events.BoardReady(tone_known=False))
    driver.run()
    assert driver.result["ears"] == undisturbed.result["ears"]


@pytest.mark.parametrize("go", EVERYWHERE[:-1])
def test_to_go_on_without_a_pause_or_to_start_twice_does_nothing(go: Any) -> None:
    driver = Driver(SETTINGS)
    go(driver)
    state = driver.test.state

    assert driver.feed(events.Continued()) == []
    assert driver.test.state == state
    assert state == presenter.READY or driver.feed(events.Started()) == []


@pytest.mark.parametrize("go", [*EVERYWHERE, lambda driver: driver.run_to_tone(Purpose.RETEST)])
def test_a_test_may_be_aborted_at_any_time(go: Any) -> None:
    driver = Driver(Settings(conduct="clinical"), flat(25))
    go(driver)
    actions = driver.feed(events.Aborted.by(Code.ABORTED))

    assert actions == [
        events.Silence(),
        tells.FinishTold(SessionOutcome.ABORTED, (reason(Code.ABORTED),)),
        events.Finish(driver.test.result()),
    ]
    assert driver.result["outcome"] == "aborted"
    assert Outcome.INCOMPLETE in [found["outcome"] for found in driver.result["ears"]]
    assert driver.feed(events.TimePassed(), after_us=10**9) == []
    assert driver.feed(events.Aborted()) == []
