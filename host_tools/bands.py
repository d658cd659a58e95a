"""How wide the 95 % band of a threshold is, beside what the test wanted."""

from collections.abc import Mapping
from typing import Any, Final

WIDE_SIGN: Final = "~"  # before a threshold that is known less well than was wanted
WIDE_MARKER: Final = r"$\sim$"  # the same, as Matplotlib takes it for a marker


def half_width_db(threshold: Mapping[str, Any]) -> float | None:
    """Return how far the band of a threshold of a result reaches to either side; None: no band."""
    if threshold["low_db_hl"] is None or threshold["high_db_hl"] is None:
        return None
    half_db: float = 0.5 * (threshold["high_db_hl"] - threshold["low_db_hl"])
    return half_db


def wide_db(threshold: Mapping[str, Any], wanted_db: float) -> float | None:
    """Return how far a band reaches to either side, None if that is not beyond `wanted_db`."""
    half_db = half_width_db(threshold)
    return half_db if half_db is not None and half_db > wanted_db else None


def is_wide(threshold: Mapping[str, Any], wanted_db: float) -> bool:
    """Tell whether a band reaches further to either side than `wanted_db`."""
    return wide_db(threshold, wanted_db) is not None
