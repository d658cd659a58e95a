"""Processes that do not outlive the one that started them."""

import ctypes
import signal
from typing import Final

PR_SET_PDEATHSIG: Final = 1
# Of Linux. Looked up here: after a fork it could wait for a lock that another thread holds.
_PRCTL: Final = getattr(ctypes.CDLL(None), "prctl", None)


def die_with_parent() -> None:
    """Have the kernel end this process when the one that started it ends, however it ends."""
    if _PRCTL is not None:
        _PRCTL(PR_SET_PDEATHSIG, signal.SIGTERM)
