"""From which levels on tones are uncomfortable to an ear, as a journal has them, in dB HL."""

from dataclasses import dataclass
from typing import Annotated, Final

from firmware_py.terms.record_checks import number, object_of, one_of, several, switch

# Between those at which it was learned how people differ, and those themselves.
LEVELS_HZ: Final = (500, 750, 1000, 1500, 2000, 3000, 4000)
LEVEL_LIMITS_DB_HL: Final = (0.0, 130.0)


@dataclass(frozen=True)
class DiscomfortLevel:
    """From which level a tone is uncomfortable; `above`: it was not yet at the highest tried."""

    frequency_hz: Annotated[int, one_of(*LEVELS_HZ)]
    level_db_hl: Annotated[float, number(*LEVEL_LIMITS_DB_HL, "dB HL")]
    above: Annotated[bool, switch] = False

    @property
    def words(self) -> str:
        return f"{self.frequency_hz}:{'>' * self.above}{self.level_db_hl:g}"


DiscomfortLevels = tuple[DiscomfortLevel, ...]
# Of one ear; none: they are taken back.
levels_at: Final = several(object_of(DiscomfortLevel), 0, len(LEVELS_HZ), key="frequency_hz")
