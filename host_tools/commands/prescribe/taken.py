"""The thresholds of an ear as a rule is given them, whoever found them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from device.speech import FloatArray
from firmware_py.findings.rows import Row
from firmware_py.terms.results import ThresholdResult

DRAWS: Final = 4000  # of what is known: the ends of a 95 % band are then good to 0.1 SD


@dataclass(frozen=True)
class Taken:
    """The thresholds of an ear as a rule is given them."""

    found: tuple[ThresholdResult, ...]  # as the paper of the audiogram has them
    marks: tuple[str, ...]  # how sure each is (`terms.outcomes`), or that it is a table's
    clinical: tuple[ThresholdResult, ...]  # those that rules were made for
    # by so much they lie above those that are heard half of the time; None: nobody knows
    clinical_offset_db: float | None
    # Where there was no response the limit, and where no tone was asked what was inferred.
    point_db_hl: FloatArray  # (m,)
    # (n, m), curves from what is known of them; one alone: how sure they are nobody knows
    draws_db_hl: FloatArray
    calibrated: bool  # whether they are dB HL
    # of those that are known less well than the test wanted, by frequency: how far the 95 % band
    # reaches to either side, and how far it was to
    wide_db: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    # where the other ear may have heard the tones: threshold and gain are the least there can be
    doubtful_hz: tuple[int, ...] = ()
    # frequencies that get no gain, by why, under the names that they have in JSON
    lacking_hz: Mapping[str, Sequence[float]] = field(default_factory=dict)
    said: Sequence[Row] = ()  # what has to be known of them

    @property
    def frequencies_hz(self) -> tuple[int, ...]:
        return tuple(found.frequency_hz for found in self.found)

    @property
    def has_bands(self) -> bool:
        """Return whether it is known how sure they are; else nothing has a band."""
        return len(self.draws_db_hl) > 1
