"""Kernels compiled ahead of time: a shared library beside them, called through ctypes.

`device/image` makes the library. Its functions take floats and integers as they are, and an array
as a pointer to what it is: where its data lie, and its shape. An array is looked at when it is
first passed, and the pointer is kept for as long as it lives: those of a workspace are looked at
once.
"""

import ctypes
import os
import weakref
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

VARIABLE: Final = "GP_PTA_KERNELS"  # path of a library, or one of the next two
JIT: Final = "jit"
JIT_UNCACHED: Final = "jit-uncached"  # compiled anew, so that LLVM's text of it is there

FILE_NAME: Final = "kernels.so"
DESCRIBE: Final = "kernels_description"
DIMENSIONS_MAX: Final = 3


class LibraryError(Exception):
    """A library of kernels that cannot be used; the message says which and why."""


class _ArrayDescription(ctypes.Structure):
    """What a kernel is told of an array."""

    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * DIMENSIONS_MAX))


class Converter(Protocol):
    """What ctypes asks of the type of an argument."""

    def from_param(self, value: Any, /) -> Any:
        """Return what is passed for this value."""
        ...


class ArrayConverter:
    """Passes arrays of one kind, each described once.

    Parameters
    ----------
    dtype : str
        "float64" or "int64".
    dimensions : int
        At most `DIMENSIONS_MAX`.
    """

    def __init__(self, dtype: str, dimensions: int) -> None:
        self._dtype = dtype
        self._dimensions = dimensions
        self._known: dict[int, tuple[Any, weakref.ref[Any]]] = {}

    def from_param(self, array: Any, /) -> Any:
        """Return a pointer to the description of an array.

        Raises
        ------
        TypeError
            If it is of another type or shape, or not contiguous.
        """
        known = self._known.get(id(array))
        return (known or self._describe(array))[0]

    def _describe(self, array: Any) -> tuple[Any, weakref.ref[Any]]:
        fits = (
            str(getattr(array, "dtype", "")) == self._dtype
            and array.ndim == self._dimensions
            and array.flags.c_contiguous
        )
        if not fits:
            raise TypeError(
                f"No matching definition: a kernel takes a contiguous array of {self._dtype} with "
                f"{self._dimensions} dimensions, and was given {array!r}"
            )
        description = _ArrayDescription(array.ctypes.data, tuple(array.shape))
        key = id(array)
        known = self._known[key] = (
            ctypes.byref(description),
            weakref.ref(array, lambda _: self._known.pop(key, None)),
        )
        return known


SCALARS: Final = {"float64": ctypes.c_double, "int64": ctypes.c_int64}
CONVERTERS: Final[dict[str, Converter]] = {
    **SCALARS,
    "float64[::1]": ArrayConverter("float64", 1),
    "float64[:,::1]": ArrayConverter("float64", 2),
    "float64[:,:,::1]": ArrayConverter("float64", 3),
    "int64[::1]": ArrayConverter("int64", 1),
}


class Library:
    """A shared library of kernels.

    Parameters
    ----------
    path : Path
        Of the file.

    Attributes
    ----------
    about : dict
        What it was made from and for: target, commit, sources.

    Raises
    ------
    LibraryError
        If it is for another machine, or was made from other kernels than those beside this module.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._functions = ctypes.CDLL(str(path))
            describe = self._functions[DESCRIBE]
        except (OSError, AttributeError) as error:
            raise LibraryError(
                f"{path} is no library of kernels for this machine: {error}"
            ) from None
        describe.restype = ctypes.c_char_p
        self.about: dict[str, str] = dict(
            pair.split("=", 1) for pair in describe().decode("ascii").split()
        )
        if self.about["sources"] != source_digest():
            raise LibraryError(
                f"{path} was made from other kernels ({self.about['sources']}) than those that are "
                f"here ({source_digest()})"
            )

    def entry(self, name: str, result: str, *arguments: str) -> Callable[..., Any]:
        """Return a kernel by its name and types; called as under the JIT."""
        try:
            function = self._functions[name]
        except AttributeError:
            raise LibraryError(f"the library of kernels has no {name}") from None
        function.restype = SCALARS[result]
        function.argtypes = [CONVERTERS[argument] for argument in arguments]  # type: ignore[misc]
        return function


def runs_on() -> str:
    """Say in words what the kernels run on; errors as of `chosen_library`."""
    library = chosen_library()
    if library is None:
        return f"no image: kernels compiled here by Numba for {os.uname().machine}"
    return f"image for {library.about['target']}, commit {library.about['commit']}"


@cache
def source_digest() -> str:
    """Return a check sum of all kernels as they are written here."""
    digest = 0
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest = zlib.crc32(source.read_bytes(), digest)
    return f"{digest:08x}"


@cache
def chosen_library() -> Library | None:
    """Return the library to use, or None for the JIT: the one place that decides.

    Raises
    ------
    LibraryError
        If the one that was asked for, or is there, cannot be used.
    """
    told = os.environ.get(VARIABLE, "")
    if told in (JIT, JIT_UNCACHED):
        return None
    beside = Path(__file__).with_name(FILE_NAME)
    if not told and not beside.exists():
        return None
    return Library(Path(told or beside))
