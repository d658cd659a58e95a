"""The level of the next tone after equal answers in a row at its frequency."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_py.ear.objective import STRIDES_DB
from firmware_py.inference.mixture.stride import strode

LOWEST_DB_HL = -10.0
RULE = (LOWEST_DB_HL, STRIDES_DB)
LEVELS = st.integers(-10, 120).map(float)
ANSWERS = st.lists(st.tuples(LEVELS, st.booleans()), max_size=12)


def test_it_goes_further_with_every_equal_answer() -> None:
    levels_db_hl = [10.0, 11.0, 13.0, 14.0, 16.0]
    asked = [
        strode(18.0, [(level, False) for level in levels_db_hl[: n + 1]], *RULE) for n in range(5)
    ]
    # The level itself after one answer; then 5, 10, 15 and 15 dB above the loudest.
    assert asked == [18.0, 18.0, 23.0, 29.0, 31.0]


def test_it_goes_down_after_answers_that_were_heard() -> None:
    assert strode(38.0, [(50.0, True), (40.0, True), (39.0, True)], *RULE) == 29.0


def test_it_halves_what_is_left_between_two_sides() -> None:
    answers = [(48.0, True), (20.0, False), (30.0, False), (40.0, False)]
    assert strode(42.0, answers, *RULE) == 44.0  # not 50, by the stride
    assert strode(46.0, answers, *RULE) == 46.0  # further than half already


@pytest.mark.parametrize("heard", [True, False])
def test_a_level_that_is_on_the_known_side_is_left(heard: bool) -> None:
    answers = [(30.0, heard), (31.0, heard)]
    assert strode(35.0 if heard else 25.0, answers, *RULE) == (35.0 if heard else 25.0)


@given(level_db_hl=LEVELS, answers=ANSWERS)
def test_it_never_turns_back_nor_passes_the_other_side(
    level_db_hl: float, answers: list[tuple[float, bool]]
) -> None:
    found = strode(level_db_hl, answers, *RULE)
    assert found == round(found) >= LOWEST_DB_HL
    if found == level_db_hl:
        return
    heard = answers[-1][1]
    assert answers[-2][1] == heard
    side = -1.0 if heard else 1.0
    run = [level for level, also in answers[-2:] if also == heard]
    assert side * found > side * level_db_hl
    assert side * found <= max(side * level for level, also in answers if also == heard) + max(
        STRIDES_DB
    )
    assert len(run) == 2
    beyond = [side * level for level, also in answers if also != heard]
    passed = [each for each in beyond if side * level_db_hl < each < side * found]
    last = max(side * level for level in run)
    assert not [each for each in passed if each > last]
