"""Familiarisation: 20 dB down until silent, 10 dB up until surely heard."""

from typing import Any

import pytest

from firmware_py.ear.familiarisation import Familiarisation
from firmware_py.ear.levels import Levels, no_limit
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.route import Route
from firmware_py.terms.settings import Settings

TO_THE_LIMIT = [40, 50, 60, 70, 80, 90, 100, 100]
BY_8_DB = {
    "familiar_level_db_hl": -10.0, "level_max_db_hl": 120.0, "loud_confirmed": True,
    "level_step_db": 4.0,
}  # fmt: skip
QUIET_LIMIT = {"familiar_level_db_hl": 60.0, "level_max_db_hl": 45.0}


@pytest.mark.parametrize(
    ("threshold_db_hl", "unsure_db", "about", "expected", "found_db_hl"),
    [
        (25.0, 0.0, {}, [40, 20, 30], 30),
        (45.0, 0.0, {}, [40, 50], 50),
        (0.0, 0.0, {}, [40, 20, 0, -10, 0], 0),
        (-10.0, 0.0, {}, [40, 20, 0, -10], -10),
        (999.0, 0.0, {}, TO_THE_LIMIT, None),
        (25.0, 0.0, {"familiar_level_db_hl": -10.0}, [-10, 0, 10, 20, 30], 30),
        (25.0, 0.0, {"familiar_level_db_hl": 33.0}, [33, 13, 23, 33], 33),
        (999.0, 0.0, BY_8_DB, [*range(-10, 111, 8), 120, 120], None),  # the longest way
        (25.0, 0.0, QUIET_LIMIT, [45, 25, 5, 15, 25], 25),
        (18.0, 4.0, {}, [40, 20, 30], 30),  # unsure on the way down turns it
        (28.0, 4.0, {}, [40, 20, 30, 40], 40),  # and does not end the way up
        (98.0, 4.0, {}, TO_THE_LIMIT, None),
    ],
)
def test_it_ends_with_a_tone_that_was_surely_heard(
    threshold_db_hl: float,
    unsure_db: float,
    about: dict[str, Any],
    expected: list[int],
    found_db_hl: float | None,
) -> None:
    settings = Settings(**about)
    levels = Levels(Route("left"), settings, no_limit)
    phase = Familiarisation(settings.familiar_level_db_hl, levels)
    asked = []
    while not phase.over:
        tone = phase.tone()
        above_db = tone.level_db_hl - threshold_db_hl
        unsure = -unsure_db <= above_db < unsure_db
        phase.take_answer(tone.level_db_hl, None if unsure else above_db >= 0.0)
        levels.note_tone(tone)
        assert (tone.purpose, tone.frequency_hz) == (Purpose.FAMILIARISE, 1000.0)
        asked.append(tone.level_db_hl)

    assert asked == expected
    assert phase.threshold_db_hl == found_db_hl
