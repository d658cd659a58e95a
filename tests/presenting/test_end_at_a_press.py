"""The board ends a tone at the press that answers it. That voids nothing; any other cut does."""

from dataclasses import replace

import pytest

from firmware_py.presenting.presenter import LISTENING, PAUSE_BEFORE, PAUSED, STARTING
from firmware_py.terms import events, tells
from firmware_py.terms.settings import Settings
from firmware_py.terms.words import say
from tests.session.driver import MS, AlwaysPresses, Driver, Listener, NeverPresses, flat, run_to_end

SETTINGS = Settings(ears="left", seed=4)
TWO_BUTTONS = replace(SETTINGS, unsure_button=True)
ANSWER_US = 400 * MS
EARLY_US = SETTINGS.response_ms_min * MS - 1


def answers(actions: list[events.Action]) -> list[bool | None]:
    return [a.heard for a in actions if isinstance(a, tells.AnswerTold)]


def void(actions: list[events.Action]) -> list[str]:
    return [say(a.why) for a in actions if isinstance(a, tells.VoidTold)]


def at_the_onset(settings: Settings = SETTINGS) -> tuple[Driver, int]:
    """A tone that has begun, at a board of which nothing more is to come; and its number."""
    driver = Driver(settings, NeverPresses())
    number = driver.run_to_onset().number
    driver.forget()
    return driver, number


def press(
    driver: Driver, onset_us: int, since_us: int = ANSWER_US, button: int = events.HEARD_BUTTON
) -> list[events.Action]:
    return driver.feed(events.ButtonPressed(onset_us + since_us, button))


def end(driver: Driver, number: int, at_us: int) -> list[events.Action]:
    return driver.feed(events.ToneEnded(number, at_us, cut=True))


@pytest.mark.parametrize(
    ("settings", "buttons"), [(SETTINGS, 1), (TWO_BUTTONS, 3)], ids=["one", "two"]
)
def test_a_press_that_may_answer_a_tone_ends_it_at_the_board(
    settings: Settings, buttons: int
) -> None:
    play = Driver(replace(settings, response_ms_min=120)).run_to_tone()

    assert (play.press_ms, play.press_buttons) == (120, buttons)


@pytest.mark.parametrize("button", [events.HEARD_BUTTON, events.UNSURE_BUTTON])
@pytest.mark.parametrize("since_us", [EARLY_US + 1, ANSWER_US])
def test_the_end_that_follows_the_answer_voids_nothing(since_us: int, button: int) -> None:
    driver, number = at_the_onset(TWO_BUTTONS)
    onset_us = driver.onset_us
    heard = None if button == events.UNSURE_BUTTON else True
    assert answers(press(driver, onset_us, since_us, button)) == [heard]
    waiting, starts = driver.wait_until_us, len(driver.plays)

    assert end(driver, number, onset_us + since_us) == []
    assert (driver.test.state, driver.test.number) == (PAUSE_BEFORE, number + 1)
    assert driver.wait_until_us == waiting
    assert driver.run_to_tone().number == number + 1
    assert len(driver.plays) == starts + 1


def test_tone_press_and_end_may_all_be_told_at_once() -> None:
    driver = Driver(SETTINGS, NeverPresses())
    number = driver.run_to_tone().number
    driver.forget()
    driver.feed(events.ToneStarted(number, 5_000))
    assert answers(press(driver, 5_000)) == [True]
    assert end(driver, number, 5_000 + ANSWER_US) == []
    assert driver.test.number == number + 1
    assert driver.tells("void") == []


def test_a_press_whose_tone_is_not_known_to_have_begun_answers_nothing_nor_does_its_end() -> None:
    driver = Driver(SETTINGS, NeverPresses())
    number = driver.run_to_tone().number
    driver.forget()

    assert answers(press(driver, 5_000)) == []
    assert end(driver, number, 5_000 + ANSWER_US) == []
    assert (driver.test.state, driver.test.number) == (STARTING, number)
    driver.feed(events.BoardLost())
    driver.feed(events.BoardReady(tone_known=False))
    assert driver.run_to_tone().number == number, "it is asked again"


@pytest.mark.parametrize("tone_known", [False, True])
def test_the_power_may_go_between_press_and_end(tone_known: bool) -> None:
    """The board keeps the end, and tells it once the session has been resumed."""
    driver, number = at_the_onset()
    onset_us = driver.onset_us
    press(driver, onset_us)
    driver.feed(events.BoardReady(tone_known))

    assert end(driver, number, onset_us + ANSWER_US) == []
    assert (driver.test.state, driver.test.number) == (PAUSE_BEFORE, number + 1)
    assert driver.tells("void") == []


@pytest.mark.parametrize(
    ("gone", "back"),
    [(events.BoardLost(), events.BoardReady(tone_known=False)),
     (events.Paused(), events.Continued())],
)  # fmt: skip
def test_the_board_may_be_lost_or_the_operator_pause_between_press_and_end(
    gone: events.Event, back: events.Event
) -> None:
    driver, number = at_the_onset()
    onset_us = driver.onset_us
    press(driver, onset_us)
    driver.feed(gone)
    assert end(driver, number, onset_us + ANSWER_US) == []
    assert (driver.test.state == PAUSED) == (gone == events.Paused())
    driver.feed(back)

    assert driver.run_to_tone().number == number + 1
    assert driver.tells("void") == []


def test_an_end_that_no_press_explains_is_a_void() -> None:
    driver, number = at_the_onset()
    assert void(end(driver, number, driver.onset_us + ANSWER_US)) == ["the tone was cut short"]
    assert driver.run_to_tone().number == number


def test_a_press_too_early_voids_once_and_the_end_at_one_on_its_heels_is_no_second_void() -> None:
    driver, number = at_the_onset()
    onset_us = driver.onset_us
    assert len(void(press(driver, onset_us, EARLY_US))) == 1
    press(driver, onset_us, EARLY_US + 50 * MS)

    assert end(driver, number, onset_us + EARLY_US + 50 * MS) == []
    assert driver.test.state == PAUSE_BEFORE
    assert driver.run_to_tone().number == number, "it is asked again"


def test_a_press_of_a_button_that_does_not_count_neither_answers_nor_voids() -> None:
    driver, _ = at_the_onset()

    assert press(driver, driver.onset_us, button=events.UNSURE_BUTTON) == []
    assert driver.test.state == LISTENING


@pytest.mark.parametrize("listener", [flat(25.0), flat(25.0, unsure_db=6.0), AlwaysPresses()])
def test_no_whole_test_is_voided_by_the_ends_of_its_tones(listener: Listener) -> None:
    driver = run_to_end(TWO_BUTTONS, listener)
    cut = [e for _, e in driver.events if isinstance(e, events.ToneEnded) and e.cut]

    assert len(cut) > 3
    assert driver.tells("void") == []
