"""What a replay ends with, and its differences in words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # a session brings Numba with it, which the other commands can do without
    from firmware_py.sessions.session import Difference

IDENTICAL, DIFFERENT, UNFINISHED, DAMAGED, NOT_SEALED = 0, 1, 3, 4, 5
DIFFERENCES_MAX: Final = 10  # that are listed


def difference_lines(differences: "Sequence[Difference]") -> list[str]:
    """Return what was recorded and what was replayed, of the first few differences."""
    lines = []
    for difference in differences[:DIFFERENCES_MAX]:
        lines.append(f"record {difference.record}: recorded {difference.recorded}")
        lines.append(f"{'':>{len(str(difference.record)) + 7}}  replayed {difference.replayed}")
    if len(differences) > DIFFERENCES_MAX:
        lines.append(f"... and {len(differences) - DIFFERENCES_MAX} more")
    return lines
