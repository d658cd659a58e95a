"""Two tones that decide if an earphone that moved is again where it was.

Each has a level half way between the thresholds before and after it moved: one that was passed on
softer since is heard again, and one that was passed on louder is not.
"""

from collections.abc import Sequence

from firmware_py.ear.caps import IN_PLACE_TONES
from firmware_py.ear.levels import Levels
from firmware_py.ear.otherwise import Otherwise
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation


class InPlace:
    """The two tones; `tones`: frequency and threshold before it moved, the best known first."""

    def __init__(
        self, moved: Otherwise, tones: Sequence[tuple[float, float]], levels: Levels
    ) -> None:
        self.moved, self._levels = moved, levels
        self._tones = [tones[place % len(tones)] for place in range(IN_PLACE_TONES)]
        self._as_before: list[bool] = []

    @property
    def asked(self) -> int:
        return len(self._as_before)

    @property
    def over(self) -> bool:
        return self.asked == IN_PLACE_TONES or not all(self._as_before)

    @property
    def as_before(self) -> bool:
        return self.over and all(self._as_before)

    def tone(self) -> Presentation:
        frequency_hz, before_db_hl = self._tones[len(self._as_before)]
        level_db_hl = before_db_hl + 0.5 * self.moved.softer_db
        return self._levels.tone(Purpose.MEASURE, frequency_hz, level_db_hl)

    def take_answer(self, _level_db_hl: float, heard: bool | None) -> None:
        self._as_before.append((heard is not False) == (self.moved.softer_db > 0.0))
