"""What one ear's tones were answered with, counted."""

from dataclasses import dataclass


@dataclass
class Tally:
    """The tones of one ear; a tone is heard, unsure, or neither."""

    # `tones`, `heard`, `unsure`: the familiarisation's and the retest's tones included
    tones: int = 0
    heard: int = 0
    unsure: int = 0

    @property
    def answered(self) -> int:
        """Return how many tones were answered with either button."""
        return self.heard + self.unsure

    def count(self, heard: bool | None) -> None:
        """Count a tone and its answer; None: the listener was unsure."""
        self.tones += 1
        self.heard += heard is True
        self.unsure += heard is None
