"""Inputs one after the other, of those that come to the same only the first."""

import signal
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final

from tests.fuzz.targets import Target

INPUTS_A_LINE: Final = 10_000
SECONDS_MAX: Final = 10.0  # of processor time, an input: more is a hang, on a busy machine too


def tries(target: Target, directory: Path) -> Callable[[bytes], None]:
    """Return what tries the inputs of a fuzzer, and says now and then how many they were."""
    inputs, different = 0, set[int]()
    signal.signal(signal.SIGVTALRM, _hangs)

    def try_input(data: bytes) -> None:
        nonlocal inputs
        inputs += 1
        meaning = hash(target.meaning(data))
        if meaning not in different:
            different.add(meaning)
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS_MAX)
            try:
                target.check(data, directory)
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        if inputs % INPUTS_A_LINE == 0:
            print(f"{inputs} inputs, {len(different)} of them different", flush=True)

    return try_input


def _hangs(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"an input takes more than {SECONDS_MAX} s of processor time")
