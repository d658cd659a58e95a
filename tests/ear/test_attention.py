"""Whether the listener attended, and where that is said."""

import itertools
from functools import cache

from device.simulator.listener import Tone
from firmware_py.ear.caps import CHECKS_USUAL
from tests.session.driver import Driver, Hears, flat, run_left_ear


@cache
def misses_clear_tones() -> Driver:
    """Every third of the tones that are well above the threshold, once it is known."""
    clear = itertools.count()

    def hears(tone: Tone) -> bool:
        is_clear = tone.number > 20 and tone.level_db_hl >= 30.0 + 8.0
        return tone.level_db_hl >= 30.0 and not (is_clear and next(clear) % 3 == 0)

    return run_left_ear(Hears(hears), masking="off")


def test_clear_tones_are_asked_at_the_end_of_an_ear_and_none_is_missed_by_who_attends() -> None:
    driver = run_left_ear(flat(30.0), masking="off")
    asked = driver.left.attention.clear()

    assert len(driver.left.attention.answers) == driver.left.tally.tones
    assert asked.asked >= CHECKS_USUAL
    assert asked.missed == 0
    assert driver.result["remarks"] == []


def test_missed_clear_tones_are_counted_in_a_remark_and_more_of_them_are_asked() -> None:
    driver = misses_clear_tones()
    clear = driver.left.attention.clear()

    assert clear.missed >= 2
    assert clear.asked > CHECKS_USUAL
    signs = [{"code": "misses", "missed": clear.missed, "asked": clear.asked}]
    assert {"code": "inattentive", "signs": signs} in driver.result["remarks"]


def test_checks_that_are_forgotten_are_told_apart_for_they_came_above_the_cap() -> None:
    """Or they would be asked again within the cap, and once more as checks."""
    attention = misses_clear_tones().left.attention
    asked = attention.checks_asked

    assert asked > CHECKS_USUAL
    assert attention.forget(attention.answers[:3]) == 0
    assert attention.forget(attention.answers) == asked
    assert attention.checks_asked == 0
