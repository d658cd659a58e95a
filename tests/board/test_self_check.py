"""The watch over the buttons: what is held down for ever, by the board's time alone."""

from firmware_py.board.self_check import STUCK_US, ButtonWatch
from firmware_py.link.notices import ButtonPressed, ButtonReleased, Greeted, Missed

S = 1_000_000


def watch_with_button_down(at_us: int, button: int = 1) -> ButtonWatch:
    watch = ButtonWatch()
    moved = watch.notice(ButtonPressed(1, at_us, button))
    assert moved == ("button-down", button)
    return watch


def test_a_button_is_held_as_long_as_the_board_has_not_said_otherwise() -> None:
    watch = watch_with_button_down(7 * S, button=2)

    assert watch.held_button(9 * S - 1, 2 * S) is None
    assert watch.held_button(9 * S, 2 * S) == 2
    assert watch.part(7 * S + STUCK_US - 1).works
    assert not watch.part(7 * S + STUCK_US).works


def test_a_release_that_is_told_late_was_no_later_for_that() -> None:
    watch = watch_with_button_down(7 * S)
    assert watch.held_button(7 * S, 2 * S) is None, "nobody knows yet what came after"
    watch.notice(ButtonReleased(2, 7 * S + 150_000, 1))

    assert watch.held_button(99 * S, 2 * S) is None


def test_of_a_button_whose_release_may_be_lost_nothing_is_known() -> None:
    for lost in (Missed(1, 2), Greeted("sim", "1", "00000001", "-", "51b0")):
        watch = watch_with_button_down(7 * S)
        watch.notice(lost)
        assert watch.held_button(99 * S, 2 * S) is None
