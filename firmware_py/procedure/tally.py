"""What one ear's tones were answered with, counted."""

from collections import Counter
from dataclasses import dataclass, field

from firmware_py.procedure.levels import Levels
from firmware_py.procedure.presentation import Presentation


@dataclass
class Tally:
    """The tones of one ear; a tone is heard, unsure, or neither."""

    # `tones`, `heard`, `unsure`: the familiarisation's and the retest's tones included
    tones: int = 0
    heard: int = 0
    unsure: int = 0
    # `silent_at_limit`, `heard_at_floor`: answers beyond which no level can be asked
    silent_at_limit: Counter[float] = field(default_factory=Counter)
    heard_at_floor: Counter[float] = field(default_factory=Counter)

    @property
    def answered(self) -> int:
        """Return how many tones were answered with either button."""
        return self.heard + self.unsure

    def count(self, tone: Presentation, heard: bool | None, levels: Levels) -> None:
        """Count a tone and its answer; None: the listener was unsure."""
        self.tones += 1
        self.heard += heard is True
        self.unsure += heard is None
        if heard is False and tone.level_db_hl >= levels.limit_db_hl(tone.frequency_hz):
            self.silent_at_limit[tone.frequency_hz] += 1
        if heard is True and tone.level_db_hl <= levels.floor_db_hl:
            self.heard_at_floor[tone.frequency_hz] += 1
