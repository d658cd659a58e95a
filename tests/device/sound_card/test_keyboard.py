"""A terminal tells keys going down, again and again; the buttons make presses of them."""

import os
import termios
from collections.abc import Iterator

import pytest

from device.sound_card.keyboard import FIRST_REPEAT_US, NEXT_REPEAT_US, Keyboard, KeyButton

MS = 1000


def edges(presses_ms: list[int], until_ms: int) -> list[tuple[int, bool]]:
    """Return when the button goes down and up, looked at every millisecond."""
    button = KeyButton(1, b" ")
    found = []
    for now_ms in range(until_ms):
        if now_ms in presses_ms and button.press(MS * now_ms):
            found.append((now_ms, True))
        elif button.is_released(MS * now_ms):
            found.append((now_ms, False))
    return found


def test_a_key_that_is_tapped_is_one_press() -> None:
    assert edges([100], 2000) == [(100, True), (100 + FIRST_REPEAT_US // MS, False)]


@pytest.mark.parametrize("delay_ms", [250, 500, 660])
def test_a_key_that_is_held_is_one_press_however_it_repeats(delay_ms: int) -> None:
    held_ms = [100, *range(100 + delay_ms, 3000, 40)]

    assert edges(held_ms, 4000) == [(100, True), (held_ms[-1] + NEXT_REPEAT_US // MS, False)]


def test_two_presses_apart_are_two() -> None:
    assert [down for _, down in edges([100, 1500], 4000)] == [True, False, True, False]


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    master, slave = os.openpty()
    yield master, slave
    os.close(master)
    os.close(slave)


def test_a_terminal_tells_each_key_at_once_and_is_given_back_as_it_was(
    terminal: tuple[int, int],
) -> None:
    master, slave = terminal
    before = termios.tcgetattr(slave)
    with Keyboard(slave) as keyboard:
        assert keyboard.keys() == b""
        os.write(master, b" p")
        assert keyboard.keys(1.0) == b" p"
        assert not termios.tcgetattr(slave)[3] & (termios.ICANON | termios.ECHO)

    assert termios.tcgetattr(slave) == before


def test_a_pipe_will_do_and_its_end_is_no_key() -> None:
    reader, writer = os.pipe()
    with Keyboard(reader) as keyboard:
        os.write(writer, b"x \n")
        keyboard.wait_for(b" ")
        os.close(writer)
        keyboard.wait_for(b" ")
        assert keyboard.keys() == b""
    os.close(reader)
