"""What the benchmarks of whole processes share: their paths without SciPy, and their time."""

import os
import resource
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATH_WITHOUT_SCIPY = os.pathsep.join([str(Path(__file__).parent / "without_scipy"), str(ROOT)])


def processor_time_s() -> float:
    """Return that of all processes that this one started, and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
