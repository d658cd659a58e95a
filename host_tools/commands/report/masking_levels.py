"""The masking noise that each frequency of an ear was asked with."""

from firmware_py.procedure.asked import is_at
from firmware_py.procedure.settings import AUDIOGRAM_FREQUENCIES_HZ
from host_tools.catalogue import Catalogue
from host_tools.recorded import RecordedSession


def masking_levels(session: RecordedSession, ear: str) -> dict[int, tuple[float, float]]:
    """Return the least and the most effective masking level in the other ear, dB.

    Parameters
    ----------
    session : RecordedSession
    ear : str
        The one that was asked.

    Returns
    -------
    levels_db : dict
        By frequency of the audiogram: of the tones asked there whose answers count. A frequency
        that was asked without noise is not in it.
    """
    found: dict[int, tuple[float, float]] = {}
    for trial in session.trials_of(ear):
        hz, noise_db = trial.frequency_hz, trial.noise_db_hl
        if hz is None or noise_db is None or trial.purpose not in session.counted:
            continue
        for at_hz in AUDIOGRAM_FREQUENCIES_HZ:
            if is_at(at_hz, hz):
                low, high = found.get(at_hz, (noise_db, noise_db))
                found[at_hz] = min(low, noise_db), max(high, noise_db)
    return found


def noise_level(levels_db: tuple[float, float] | None, catalogue: Catalogue) -> str:
    """Return the masking levels of a frequency in words."""
    if levels_db is None:
        return "-"
    low, high = map(catalogue.number, levels_db)
    return low if low == high else catalogue.say("record", "noise_range", low=low, high=high)
