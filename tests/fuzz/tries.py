"""Inputs one after the other, of those that come to the same only the first."""

import signal
from pathlib import Path
from types import FrameType
from typing import Final

from tests.fuzz.targets import Target

INPUTS_A_LINE: Final = 10_000
SECONDS_MAX: Final = 10.0  # of processor time, an input: more is a hang, on a busy machine too


class Tries:
    """Tries the inputs that a fuzzer finds, and says now and then how many they were.

    Parameters
    ----------
    target : Target
    directory : Path
        For files.
    """

    def __init__(self, target: Target, directory: Path) -> None:
        self._target, self._directory = target, directory
        self._inputs = 0
        self._different: set[int] = set()
        signal.signal(signal.SIGVTALRM, _hangs)

    def __call__(self, data: bytes) -> None:
        """Try an input, unless one before it came to the same."""
        self._inputs += 1
        meaning = hash(self._target.meaning(data))
        if meaning not in self._different:
            self._different.add(meaning)
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS_MAX)
            try:
                self._target.check(data, self._directory)
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        if self._inputs % INPUTS_A_LINE == 0:
            print(f"{self._inputs} inputs, {len(self._different)} of them different", flush=True)


def _hangs(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"an input takes more than {SECONDS_MAX} s of processor time")
