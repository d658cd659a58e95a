"""The most stack that a kernel takes: the sum of LLVM's frames along the deepest calls."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import llvmlite.binding as llvm

from device.image.compile import DEFINE, BuildError, entries_of, optimise
from device.image.targets import TARGETS, Target

_CALL: Final = re.compile(r'call [^@\n]*@"?([\w.]+)"?\(')
_RETURN_ADDRESS_BYTES: Final = 8  # at most; of a call, beside the frame
_FRAME: Final = re.compile(r"stack frame size \((\d+)\) exceeds limit .* in function '([^']+)'")


def deepest(frame_bytes: Mapping[str, int], calls: Mapping[str, set[str]], name: str) -> int:
    """Return the stack a function takes with all that it calls.

    `BuildError` if one calls itself, directly or not: then there is no bound.
    """

    def depth(function: str, above: tuple[str, ...]) -> int:
        if function in above:
            raise BuildError(f"{function} calls itself: its stack has no bound")
        below = (depth(called, (*above, function)) for called in calls.get(function, ()))
        own = frame_bytes.get(function, 0) + _RETURN_ADDRESS_BYTES
        return own + max(below, default=0)

    return depth(name, ())


def stack_bytes(text: str, target: Target) -> dict[str, int]:
    """Return the most stack each kernel takes on this target, bytes.

    LLVM reports the frames as warnings, on standard error only: hence the process.
    """
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "kernels.ll"
        path.write_text(text, encoding="ascii")
        done = subprocess.run(
            [sys.executable, "-m", "device.image.stack", target.name, str(path)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    frame_bytes = {name: int(size) for size, name in _FRAME.findall(done.stderr)}
    calls = {
        DEFINE.match(function)[1]: set(_CALL.findall(function))  # type: ignore[index]
        for function in re.findall(r"^define .*?^\}", done.stdout, re.MULTILINE | re.DOTALL)
    }
    return {name: deepest(frame_bytes, calls, name) for name in entries_of(text)}


def _compile_with_warnings(text: str, target: Target) -> str:
    """Compile, have LLVM warn of every frame, and return the text it compiled."""
    module, machine = optimise(text, {}, target)
    optimised_text = DEFINE.sub(r'\g<0> "warn-stack-size"="0"', str(module))
    machine.emit_object(llvm.parse_assembly(optimised_text))
    return optimised_text


if __name__ == "__main__":
    print(_compile_with_warnings(Path(sys.argv[2]).read_text("ascii"), TARGETS[sys.argv[1]]))
