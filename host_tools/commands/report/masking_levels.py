"""The masking noise that each frequency of an ear was asked with, in words."""

from host_tools.catalogue import Catalogue
from host_tools.recordings.recorded_session import RecordedSession


def masking_levels(session: RecordedSession, ear: str) -> dict[int, tuple[float, float]]:
    """Return the least and the most effective masking level in the other ear, by frequency, dB.

    Of the tones whose answers count.
    """
    return session.test.given.noise_at(ear, session.counted)


def noise_level(levels_db: tuple[float, float] | None, catalogue: Catalogue) -> str:
    """Return the masking levels of a frequency in words."""
    if levels_db is None:
        return "-"
    low, high = map(catalogue.number, levels_db)
    return low if low == high else catalogue.say("record", "noise_range", low=low, high=high)
