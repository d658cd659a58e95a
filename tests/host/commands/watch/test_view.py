"""What is seen of a session: how long it still takes, and the bits of every tone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.procedure.settings import Settings
from host_tools.commands.watch.view import Answered, View, blocks, presentations_to_go

SETTINGS = Settings(stop_half_width_db=8.0, tones_max=40, retest=True)


def measured(widths_db: list[float], ear: str = "left") -> list[Answered]:
    return [
        Answered(n, ear, "measure", 1000.0, 40.0, True, 0.5, width_db)
        for n, width_db in enumerate(widths_db, 1)
    ]


def test_it_is_too_early_to_tell_before_four_answers() -> None:
    assert presentations_to_go(measured([40.0, 30.0, 20.0]), 0, SETTINGS) is None
    assert View("", "", answers=measured([40.0]), settings=SETTINGS).remaining_s() is None


def test_a_band_that_halves_every_four_tones_is_followed_to_its_end() -> None:
    widths_db = [64.0 * 2.0 ** (-n / 4) for n in range(9)]  # to 16 dB
    assert presentations_to_go(measured(widths_db), 0, SETTINGS) == pytest.approx(4 + 3, abs=1)


def test_a_band_that_stays_goes_on_to_the_cap() -> None:
    assert presentations_to_go(measured([20.0] * 10), 0, SETTINGS) == 30.0


def test_an_ear_to_come_takes_as_many_as_this_one() -> None:
    answers = measured([64.0 * 2.0 ** (-n / 4) for n in range(9)])
    alone = presentations_to_go(answers, 0, SETTINGS)
    assert alone is not None
    assert presentations_to_go(answers, 1, SETTINGS) == pytest.approx(alone + len(answers) + alone)


def test_a_retest_is_nearly_over() -> None:
    answers = [*measured([20.0] * 9), Answered(10, "left", "retest", 1000.0, 30.0, False)]
    assert presentations_to_go(answers, 0, SETTINGS) == 2.0


def test_catch_trials_take_time_too() -> None:
    answers = measured([20.0] * 10)
    catches = [Answered(90 + n, "left", "catch", None, None, False) for n in range(5)]
    assert presentations_to_go([*answers[:5], *catches, *answers[5:]], 0, SETTINGS) == 45.0


@given(
    widths_db=st.lists(st.floats(0.1, 80.0), min_size=1, max_size=45),
    ears_to_come=st.integers(0, 1),
)
def test_it_is_never_less_than_nothing_or_more_than_the_caps(
    widths_db: list[float], ears_to_come: int
) -> None:
    to_go = presentations_to_go(measured(widths_db), ears_to_come, SETTINGS)
    assert to_go is None or 0.0 <= to_go <= (1 + ears_to_come) * max(40, len(widths_db))


def test_time_to_go_is_presentations_at_the_pace_so_far() -> None:
    view = View("", "", answers=measured([20.0] * 10), settings=SETTINGS, elapsed_s=50.0)
    assert view.remaining_s() == pytest.approx(30.0 * 5.0)


def test_blocks_have_the_height_of_their_values() -> None:
    assert blocks([0.0, 0.5, 1.0, None, 7.0], 1.0) == "▁▅█ █"
