"""What a kernel is, and what it is run by: in one place, the same for all of them.

A kernel is a free function on floats and arrays: inputs first, scratch and outputs last, a status
returned where something can go wrong. Those that Python calls, the entries, have explicit
signatures: they come, with all that they call, out of a library that was compiled ahead of time if
there is one (`library`), or are compiled or loaded by Numba when their module is imported (`jit`),
so that nothing compiles in the middle of a session. The others are not loaded by themselves.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np

from firmware_py.inference.library import REMEDY, LibraryError, chosen_library, kernel_name

Array = np.ndarray[Any, np.dtype[np.float64]]
Indices = np.ndarray[Any, np.dtype[np.int64]]

F8: Final = "float64"
I8: Final = "int64"
VECTOR: Final = "float64[::1]"
MATRIX: Final = "float64[:,::1]"
CUBE: Final = "float64[:,:,::1]"
INDICES: Final = "int64[::1]"

# What a kernel reports.
CONVERGED: Final = 0
NOT_CONVERGED: Final = 1
NOT_POSITIVE_DEFINITE: Final = 2
NONE_ALLOWED: Final = 3  # no candidate for the next tone has an allowed level

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

LIBRARY: Final = chosen_library()

if LIBRARY is None:
    try:
        from firmware_py.inference.jit import compile_apart, compiled
    except ModuleNotFoundError as error:
        raise LibraryError(
            "there is no library of kernels beside the firmware, and "
            f"{error.name} is not installed; {REMEDY}"
        ) from None


def prepare() -> None:
    """Have the kernels compiled, in a process apart, if there is no library and they are not."""
    if LIBRARY is None:
        compile_apart()


def kernel(function: AnyFunction) -> AnyFunction:
    """Compile a function that other kernels call; it becomes a part of them."""
    return function if LIBRARY else compiled(function)


def entry(result: str, *arguments: str) -> Callable[[AnyFunction], AnyFunction]:
    """Compile a kernel that Python calls, with this result and these argument types.

    Parameters
    ----------
    result, *arguments : str
        Numba type names, `F8`, `I8`, `VECTOR`, `MATRIX`, `CUBE` or `INDICES` above.
    """

    def declare(function: AnyFunction) -> AnyFunction:
        if LIBRARY:
            found: Any = LIBRARY.entry(kernel_name(function), result, *arguments)
            return found  # type: ignore[no-any-return]
        return compiled(function, f"{result}({', '.join(arguments)})")

    return declare
