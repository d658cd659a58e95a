"""The board ends a tone at the press that answers it. That voids nothing; any other cut does."""

from dataclasses import replace

import pytest

from firmware_py.presenting.presenter import LISTENING, PAUSE_BEFORE, PAUSED, STARTING
from firmware_py.terms import events
from firmware_py.terms.settings import Settings
from tests.presenting.test_presentation import at_the_first_onset, press
from tests.session.driver import (
    MS,
    AlwaysPresses,
    Driver,
    Listener,
    NeverPresses,
    answers,
    flat,
    run_to_end,
    void,
)

SETTINGS = Settings(ears="left", seed=4)
TWO_BUTTONS = replace(SETTINGS, unsure_button=True)
ANSWER_US = 400 * MS
EARLY_US = SETTINGS.response_ms_min * MS - 1


def end(driver: Driver, since_us: int = ANSWER_US, number: int = 1) -> list[events.Action]:
    return driver.feed(events.ToneEnded(number, driver.onset_us + since_us, cut=True))


def check_answered(driver: Driver) -> None:
    """Check that the first tone was answered and none is void, and that the second one comes."""
    assert (driver.test.state, driver.test.number) == (PAUSE_BEFORE, 2)
    assert driver.tells("void") == []
    assert driver.run_to_tone().number == 2


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
    driver = at_the_first_onset(TWO_BUTTONS)
    heard = None if button == events.UNSURE_BUTTON else True
    assert answers(press(driver, since_us, button)) == [heard]
    waiting, starts = driver.wait_until_us, len(driver.plays)

    assert end(driver, since_us) == []
    assert driver.wait_until_us == waiting
    check_answered(driver)
    assert len(driver.plays) == starts + 1


def test_tone_press_and_end_may_all_be_told_at_once() -> None:
    driver = Driver(SETTINGS, NeverPresses())
    driver.run_to_tone()
    driver.forget()
    driver.feed(events.ToneStarted(1, 5_000))
    assert answers(press(driver, ANSWER_US)) == [True]
    assert end(driver) == []
    check_answered(driver)


def test_a_press_whose_tone_is_not_known_to_have_begun_answers_nothing_nor_does_its_end() -> None:
    driver = Driver(SETTINGS, NeverPresses())
    driver.run_to_tone()
    driver.forget()

    assert answers(press(driver, ANSWER_US)) == []
    assert end(driver) == []
    assert (driver.test.state, driver.test.number) == (STARTING, 1)
    driver.feed(events.BoardLost())
    driver.feed(events.BoardReady(tone_known=False))
    assert driver.run_to_tone().number == 1, "it is asked again"


@pytest.mark.parametrize(
    "between",
    [
        [events.BoardReady(tone_known=False)],
        [events.BoardReady(tone_known=True)],
        [events.BoardLost(), events.BoardReady(tone_known=False)],
        [events.Paused(), events.Continued()],
    ],
)
def test_power_board_or_operator_may_go_between_press_and_end(between: list[events.Event]) -> None:
    """The board keeps the end, and tells it once the session has been resumed."""
    driver = at_the_first_onset(SETTINGS)
    press(driver, ANSWER_US)
    driver.feed(between[0])
    assert end(driver) == []
    assert (driver.test.state == PAUSED) == (between[0] == events.Paused())
    for event in between[1:]:
        driver.feed(event)
    check_answered(driver)


def test_a_press_too_early_voids_once_and_the_end_at_one_on_its_heels_is_no_second_void() -> None:
    driver = at_the_first_onset(SETTINGS)
    assert len(void(press(driver, EARLY_US))) == 1
    press(driver, EARLY_US + 50 * MS)

    assert end(driver, EARLY_US + 50 * MS) == []
    assert driver.test.state == PAUSE_BEFORE
    assert driver.run_to_tone().number == 1, "it is asked again"


def test_a_press_of_a_button_that_does_not_count_neither_answers_nor_voids() -> None:
    driver = at_the_first_onset(SETTINGS)

    assert press(driver, ANSWER_US, events.UNSURE_BUTTON) == []
    assert driver.test.state == LISTENING


@pytest.mark.parametrize("listener", [flat(25.0), flat(25.0, unsure_db=6.0), AlwaysPresses()])
def test_no_whole_test_is_voided_by_the_ends_of_its_tones(listener: Listener) -> None:
    driver = run_to_end(TWO_BUTTONS, listener)
    cut = [e for _, e in driver.events if isinstance(e, events.ToneEnded) and e.cut]

    assert len(cut) > 3
    assert driver.tells("void") == []
