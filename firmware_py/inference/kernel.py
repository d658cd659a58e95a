"""What a kernel is, and what runs it: in one place, the same for all kernels.

A kernel is a free function on numbers, arrays and groups of arrays (a `NamedTuple` each): inputs
first, scratch and outputs last. It returns a status where something can go wrong. Of the elements
of an array that it writes, it reaches none through another of its arrays, for the compiler of a
library is told so; arrays may overlap where they are only read, or not looked at. The entries are
the kernels that Python calls. Their annotations are their signatures, so they are compiled before
a session begins and nothing compiles in the middle of one. They come, with all that they call, from
a library that was compiled ahead of time if there is one (`library`). Otherwise Numba compiles or
loads them when their module is imported (`jit`).
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, TypeVar

import numpy as np

from firmware_py.inference import library
from firmware_py.inference.library import REMEDY, LibraryError, chosen_library, kernel_name

Array = np.ndarray[Any, np.dtype[np.float64]]

# Types of an entry's arguments, and of the fields of a group. Beside them: int and float.
Vector = Annotated[Array, "float64[::1]"]
Matrix = Annotated[Array, "float64[:,::1]"]
Cube = Annotated[Array, "float64[:,:,::1]"]
Indices = Annotated[np.ndarray[Any, np.dtype[np.int64]], "int64[::1]"]

# What a kernel reports.
CONVERGED: Final = 0
NOT_CONVERGED: Final = 1
NOT_POSITIVE_DEFINITE: Final = 2
NONE_ALLOWED: Final = 3  # no candidate for the next tone has an allowed level

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

LIBRARY: Final = chosen_library()

if LIBRARY is None:
    try:
        from firmware_py.inference.jit import compile_apart, compile_function, signature_of
    except ModuleNotFoundError as error:
        raise LibraryError(
            "there is no library of kernels beside the firmware, and "
            f"{error.name} is not installed; {REMEDY}"
        ) from None


def prepare() -> None:
    """Compile the kernels in another process, if there is no library and they are not compiled."""
    if LIBRARY is None:
        compile_apart()


def hold(groups: Iterable[Any], owner: object) -> None:
    """Bind groups of arrays to kernels, for as long as their owner lives."""
    if LIBRARY:
        library.hold(groups, owner)


def kernel(function: AnyFunction) -> AnyFunction:
    """Compile a function that other kernels call; it becomes a part of them."""
    return function if LIBRARY else compile_function(function)


def entry(function: AnyFunction) -> AnyFunction:
    """Compile a kernel that Python calls, for the types it is annotated with."""
    if LIBRARY:
        found: Any = LIBRARY.entry(kernel_name(function), *function.__annotations__.values())
        return found  # type: ignore[no-any-return]
    return compile_function(function, signature_of(function))
