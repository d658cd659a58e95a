"""Familiarisation, ISO 8253-1: the listener learns the task with tones of 1 kHz.

The level goes down by 20 dB until a tone is not heard, then up by 10 dB until one is heard. These
answers belong to a listener who is still learning, and the estimator is not given them.

By a route that follows air the listener knows the task already: one tone that is heard is enough.

An unsure answer counts as not heard. On the way down it tells that the threshold is near, as
silence does; and the ascent has to end with a tone that was clear, answered by its button.
"""

from typing import Final

from firmware_py.ear.levels import Levels
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation

FAMILIAR_DOWN_DB: Final = 20.0
FAMILIAR_UP_DB: Final = 10.0
LIMIT_TONES_FAMILIAR: Final = 2  # unheard at the limit so often ends the familiarisation


class Familiarisation:
    """The familiarisation of one ear, from its first level on."""

    def __init__(self, level_db_hl: float, levels: Levels) -> None:
        self._level_db_hl = level_db_hl
        self._levels = levels
        self._going_up = False
        self._limit_tones = 0
        self.threshold_db_hl: float | None = None
        self.over = False

    def tone(self) -> Presentation:
        familiar_hz = self._levels.route.kind.familiar_hz
        return self._levels.tone(Purpose.FAMILIARISE, familiar_hz, self._level_db_hl)

    def take_answer(self, level_db_hl: float, heard: bool | None) -> None:
        familiar_hz = self._levels.route.kind.familiar_hz
        if heard:
            self.threshold_db_hl = level_db_hl
            knows = self._levels.route.kind.follows_air
            floor_db_hl = self._levels.floor_db_hl(familiar_hz)
            self.over = knows or self._going_up or level_db_hl <= floor_db_hl
            self._level_db_hl = max(level_db_hl - FAMILIAR_DOWN_DB, floor_db_hl)
        else:
            limit_db_hl = self._levels.limit_db_hl(familiar_hz)
            self._limit_tones += level_db_hl >= limit_db_hl
            self.over = self._limit_tones >= LIMIT_TONES_FAMILIAR
            self._going_up = True
            self._level_db_hl = min(level_db_hl + FAMILIAR_UP_DB, limit_db_hl)
