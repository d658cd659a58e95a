"""A limit on the memory of the process: a leak ends in a MemoryError, not in a frozen machine."""

import resource
import sys
from pathlib import Path


def address_space_bytes() -> int:
    """Return how much memory the process has asked for by now, used or not (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def limit_growth(reserve_mb: int) -> None:
    """Let the process grow by so much from now on; beyond that an allocation is a MemoryError.

    Parameters
    ----------
    reserve_mb : int
        Enough for all that a session takes: estimators, the journal, the console's answers.
    """
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = address_space_bytes() + reserve_mb * 1_000_000
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
