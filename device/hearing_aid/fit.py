"""What a hearing aid is set to: gain over input level in bands, and what it may never exceed."""

from dataclasses import dataclass
from typing import Final

# In a band, dB SPL at the place of the listener's head; a table of gains has a value at each.
INPUT_LEVELS_DB_SPL: Final = tuple(float(level) for level in range(0, 125, 5))


@dataclass(frozen=True)
class BandFit:
    """One band of one ear."""

    center_hz: float
    # insertion gain at each of `INPUT_LEVELS_DB_SPL`; between them on a line, beyond them held
    gains_db: tuple[float, ...]
    gain_max_db: float  # no setting asks for more: feedback, comfort
    output_max_db_spl: float  # no sound in this band is louder, whatever comes in


@dataclass(frozen=True)
class EarFit:
    """All bands of one ear; the bands meet halfway on log frequency."""

    ear: str  # "left" or "right"
    bands: tuple[BandFit, ...]
    output_max_db_spl: float  # of all bands together, as a peak of the waveform


@dataclass(frozen=True)
class Fit:
    """A fit: of one ear, or of both with the same centres."""

    ears: tuple[EarFit, ...]
    rule: str  # what it was derived by, in words
    source: str  # from what: the name of a session
