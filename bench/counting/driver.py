"""A program in C that calls kernels as one trial did, without Python around it.

The calls are recorded where Python makes them: the name of each kernel, and copies of its arguments
just before. The program maps the file of all arrays to memory and makes the same calls.
"""

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
from numba.core import types
from numba.core.dispatcher import Dispatcher

from device.image.export import types_to_pass
from firmware_py.inference.laplace import hyperparameters
from firmware_py.inference.laplace import model as laplace_model
from firmware_py.inference.library import kernel_name
from firmware_py.inference.mixture import model as mixture_model
from firmware_py.inference.preference import estimator as preference

_ALIGNMENT_BYTES: Final = 64
_CALLERS: Final = (mixture_model, laplace_model, hyperparameters, preference)
_SCALARS: Final = {types.float64: "double", types.int64: "int64_t"}
_DIMENSIONS: Final = 3
_PROGRAM: Final = """\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct array {{ void *data; int64_t shape[{dimensions}]; }};

{declarations}

static char *m;

static void trial(void)
{{
{calls}
}}

int main(int argc, char **argv)
{{
    FILE *file = fopen(argv[1], "rb");
    m = aligned_alloc({alignment}, {size});
    if (!file || !m || fread(m, 1, {size}, file) != {size}) return 1;
    if (argv[2][0] == '1') trial();
    return 0;
}}
"""


@dataclass(frozen=True)
class Call:
    """One call of a kernel: the kernel, and copies of its arguments."""

    kernel: Dispatcher
    arguments: tuple[Any, ...]

    @property
    def name(self) -> str:
        """Return the name the kernel has in a library."""
        return kernel_name(self.kernel.py_func)

    @property
    def types(self) -> tuple[Any, ...]:
        """Return Numba's types of what a library is passed."""
        return tuple(types_to_pass(self.kernel.nopython_signatures[0].args))


def calls_of(trial: Any) -> list[Call]:
    """Run `trial()`, and return the calls of kernels that it makes.

    A `RuntimeError`: there are none, as where a library runs the kernels.
    """
    calls: list[Call] = []

    def noting(kernel: Dispatcher) -> Any:
        def call(*arguments: Any) -> Any:
            calls.append(Call(kernel, copy.deepcopy(arguments)))
            return kernel(*arguments)

        return call

    entries = [
        (module, name, value)
        for module in _CALLERS
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher) and not value._can_compile  # type: ignore[attr-defined]
    ]
    patches = [patch.object(module, name, noting(kernel)) for module, name, kernel in entries]
    for each in patches:
        each.start()
    try:
        trial()
    finally:
        for each in patches:
            each.stop()
    if not calls:
        raise RuntimeError("no kernel was called by Numba; it has to run them: GP_PTA_KERNELS=jit")
    return calls


def write_driver(calls: list[Call], directory: Path) -> tuple[Path, Path]:
    memory = bytearray()
    lines = []
    for call in calls:
        passed = [_argument(value, memory) for value in call.arguments]
        lines.append(f"    {call.name}({', '.join(passed)});")
    declarations = sorted({_declaration(call) for call in calls})
    memory += bytes(-len(memory) % _ALIGNMENT_BYTES)
    program, arrays = directory / "driver.c", directory / "arrays"
    program.write_text(
        _PROGRAM.format(
            dimensions=_DIMENSIONS, declarations="\n".join(declarations), calls="\n".join(lines),
            alignment=_ALIGNMENT_BYTES, size=len(memory),
        ),
        encoding="ascii",
    )  # fmt: skip
    arrays.write_bytes(memory)
    return program, arrays


def _declaration(call: Call) -> str:
    parameters = ", ".join(_SCALARS.get(kind, "const struct array *") for kind in call.types)
    result = _SCALARS[call.kernel.nopython_signatures[0].return_type]
    return f"extern {result} {call.name}({parameters});"


def _argument(value: Any, memory: bytearray) -> str:
    """Return an argument in C; an array is put at the end of the memory."""
    if isinstance(value, tuple) and isinstance(value[0], np.ndarray):
        return f"(struct array[]){{{', '.join(_description(each, memory) for each in value)}}}"
    if isinstance(value, tuple):
        return ", ".join(_argument(each, memory) for each in value)
    if isinstance(value, np.ndarray):
        return f"&(struct array){_description(value, memory)}"
    return float(value).hex() if isinstance(value, float) else f"INT64_C({int(value)})"


def _description(array: Any, memory: bytearray) -> str:
    memory += bytes(-len(memory) % _ALIGNMENT_BYTES)
    place, shape = len(memory), ", ".join(str(extent) for extent in array.shape)
    memory += array.tobytes()
    return f"{{m + {place}, {{{shape}}}}}"
