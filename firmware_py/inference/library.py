"""Kernels compiled ahead of time: a shared library beside them, called through ctypes.

`device/image` makes the library. Its functions take numbers by value, of a group of numbers one
after the other; an array as a pointer to its description (the address of its data, and its shape);
and a group of arrays as a pointer to the table of their descriptions. An array is described when it
is first passed, and the description is kept for as long as the array lives. The groups of a
workspace are described when it is made, and kept for as long as it lives; any other group is
described each time.
"""

import ctypes
import os
import re
import sys
import weakref
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

VARIABLE: Final = "GP_PTA_KERNELS"  # path of a library, or one of the next four
JIT: Final = "jit"
JIT_APART: Final = "jit-apart"  # for another process, which waits
JIT_UNCACHED: Final = "jit-uncached"  # compiled anew, because they cannot be kept
JIT_EXPORT: Final = "jit-export"  # compiled anew for `device/image`; Python cannot call them

COMPILING: Final = "gp-pta: compiling the kernel "  # how a line begins that tells of progress
BESIDE: Final = Path(__file__).with_name("kernels.so")  # where a library is looked for
REMEDY: Final = "in a checkout: make kernels; elsewhere: pip install 'gp-pta[kernels]'"
DESCRIBE: Final = "kernels_description"
DIMENSIONS_MAX: Final = 3
ELF: Final = b"\x7fELF"  # how a library for Linux begins; for a Mac it has no check sum
# An import of ours. To parse all files instead takes 50 ms of every start, on a board more.
_IMPORT: Final = re.compile(r"from firmware_py\.inference\.?([\w.]*) import (\([^)]*\)|.*)")
_DEFINES: Final = {"kernel.kernel", "kernel.entry"}  # who imports one of them has kernels


class LibraryError(Exception):
    """A library of kernels that cannot be used; the message says which and why."""


class _ArrayDescription(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * DIMENSIONS_MAX))


_Nothing = ctypes.c_char * 0


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
        self._code = f"{dtype[0]}8"  # as NumPy has it after the order of the bytes
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
        return (known or self._remember(array))[0]

    def _remember(self, array: Any) -> tuple[Any, weakref.ref[Any]]:
        pointer, key = ctypes.byref(self.describe(array)), id(array)
        known = pointer, weakref.ref(array, lambda _: self._known.pop(key, None))
        self._known[key] = known
        return known

    def describe(self, array: Any) -> _ArrayDescription:
        """Return the description of an array; errors as of `from_param`."""
        fits = (
            hasattr(array, "dtype")
            and array.dtype.isnative
            and array.dtype.str[1:] == self._code
            and array.ndim == self._dimensions
            and array.flags.carray  # contiguous, and may be written
        )
        if not fits:
            raise TypeError(
                f"No matching definition: a kernel takes a contiguous array of {self._dtype} with "
                f"{self._dimensions} dimensions, and was given {array!r}"
            )
        address = ctypes.addressof(_Nothing.from_buffer(array))  # a third of `array.ctypes.data`
        return _ArrayDescription(address, array.shape)


class GroupConverter:
    """Passes groups of arrays of one kind; those that are held are described once.

    A tuple does not tell when it is gone. So a group is held for as long as something else lives,
    which does.

    Parameters
    ----------
    fields : sequence of ArrayConverter

    Attributes
    ----------
    held : dict
        Pointer to the table, and group, by the group's identity.
    """

    def __init__(self, fields: Sequence[ArrayConverter]) -> None:
        self._fields = fields
        self._table = _ArrayDescription * len(fields)
        self.held: dict[int, tuple[Any, Any]] = {}

    def hold(self, group: Any, owner: object) -> None:
        """Keep a group and its table for as long as its owner lives."""
        key = id(group)
        self.held[key] = self._describe(group), group  # no other has this identity meanwhile
        weakref.finalize(owner, self.held.pop, key).atexit = False

    def from_param(self, group: Any, /) -> Any:
        """Return a pointer to the table of the descriptions of a group's arrays.

        Raises
        ------
        TypeError
            If it has other arrays than those of such a group.
        """
        held = self.held.get(id(group))
        return self._describe(group) if held is None else held[0]

    def _describe(self, group: Any) -> Any:
        if not isinstance(group, tuple) or len(group) != len(self._fields):
            raise TypeError(
                f"No matching definition: a kernel takes a group of {len(self._fields)} arrays, "
                f"and was given {group!r}"
            )
        described = [of.describe(array) for of, array in zip(self._fields, group, strict=True)]
        return ctypes.byref(self._table(*described))


SCALARS: Final = {"float64": ctypes.c_double, "int64": ctypes.c_int64}
CONVERTERS: Final[dict[str, Any]] = {
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
        _check_whole(path)
        try:
            self._functions = ctypes.CDLL(str(path))
            describe = self._functions[DESCRIBE]
        except (OSError, AttributeError):
            raise LibraryError(f"{path} is no library of kernels for this machine") from None
        describe.restype = ctypes.c_char_p
        self.about: dict[str, str] = dict(
            pair.split("=", 1) for pair in describe().decode("ascii").split()
        )
        if self.about["sources"] != source_digest():
            raise LibraryError(
                f"{path} was made from other kernels ({self.about['sources']}) than those that are "
                f"here ({source_digest()})"
            )

    def entry(self, name: str, *annotations: Any) -> Callable[..., Any]:
        """Return a kernel by its name and annotations, the result's last; called as under Numba."""
        try:
            function = self._functions[name]
        except AttributeError:
            raise LibraryError(
                f"the library of kernels has no {name}; with GP_PTA_KERNELS=jit in the environment "
                "Numba compiles it, as a study needs it"
            ) from None
        *arguments, result = annotations
        (function.restype,) = converters_of(result)
        function.argtypes = [of for argument in arguments for of in converters_of(argument)]
        if len(function.argtypes) == len(arguments):
            return function
        several = [len(converters_of(argument)) > 1 for argument in arguments]

        def call(*values: Any) -> Any:
            fields = [
                field
                for value, has_fields in zip(values, several, strict=True)
                for field in (value if has_fields else (value,))
            ]
            return function(*fields)

        return call


def converters_of(annotation: Any) -> Sequence[Any]:
    """Return what passes an argument: of a group of numbers one for each field."""
    of_fields = [CONVERTERS[name] for name in type_names(annotation)]
    are_numbers = all(of in SCALARS.values() for of in of_fields)
    return of_fields if are_numbers or len(of_fields) == 1 else [_group_converter(tuple(of_fields))]


def hold(groups: Iterable[Any], owner: object) -> None:
    """Describe these groups of arrays once, for as long as their owner lives."""
    for group in groups:
        (converter,) = converters_of(type(group))
        converter.hold(group, owner)


@cache
def _group_converter(fields: tuple[ArrayConverter, ...]) -> GroupConverter:
    return GroupConverter(fields)


def type_names(annotation: Any) -> list[str]:
    """Return Numba's name of the type that is passed for an annotation; of a group, all names."""
    if annotation in (int, float):
        return [f"{annotation.__name__}64"]
    if hasattr(annotation, "_fields"):
        return [name for field in annotation.__annotations__.values() for name in type_names(field)]
    return [annotation.__metadata__[0]]


def check_sum(content: bytes) -> bytes:
    """Return the end of a library with this content. Loading half a library would crash."""
    return f"\ncrc32={zlib.crc32(content):08x}".encode("ascii")


def _check_whole(path: Path) -> None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LibraryError(f"{path} cannot be read: {error.strerror}") from None
    length = len(check_sum(b""))
    if content.startswith(ELF) and check_sum(content[:-length]) != content[-length:]:
        raise LibraryError(f"{path} is no library of kernels, or is damaged")


def kernel_name(function: Callable[..., Any]) -> str:
    """Return the name of a kernel in a library: two modules may have a function of one name."""
    inside = function.__module__.removeprefix(f"{__package__}.")
    return f"{inside.replace('.', '_')}_{function.__name__}"


def runs_on() -> str:
    """Return in words what runs the kernels; errors as of `chosen_library`."""
    library = chosen_library()
    if library is None:
        return f"kernels compiled here by Numba for {os.uname().machine}"
    return f"ready-made kernels for {library.about['target']}, commit {library.about['commit']}"


def sources() -> list[Path]:
    """Return the files that kernels come from: where one is defined, and what these import of ours.

    What a kernel calls, and each constant in it, is in one of them.
    """
    here = Path(__file__).parent
    paths = {_module_name(path.relative_to(here)): path for path in here.rglob("*.py")}
    imports = {name: _imports(path) for name, path in paths.items()}
    found: set[str] = set()
    waiting = {name for name in imports if imports[name] & _DEFINES}
    while waiting:
        found |= waiting
        waiting = set().union(*(imports[name] for name in waiting)) & paths.keys() - found
    return sorted(paths[name] for name in found)


def _module_name(path: Path) -> str:
    return path.as_posix().removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imports(path: Path) -> set[str]:
    """Return the names of modules that a file imports or imports from, and of what it imports."""
    found: set[str] = set()
    for module, names in _IMPORT.findall(path.read_text("utf-8")):
        found |= {module, *(f"{module}.{name}".strip(".") for name in re.findall(r"\w+", names))}
    return found


@cache
def source_digest() -> str:
    """Return a check sum of all sources that kernels come from."""
    digest = 0
    for source in sources():
        digest = zlib.crc32(source.read_bytes(), digest)
    return f"{digest:08x}"


@cache
def entry_count() -> int:
    """Return how many kernels Python calls."""
    return sum(path.read_text("utf-8").count("\n@entry\n") for path in sources())


def is_made() -> bool:
    """Return whether a library is beside this module, for this machine and these kernels."""
    try:
        Library(BESIDE)
    except LibraryError:
        return False
    return True


@cache
def chosen_library() -> Library | None:
    """Return the library to use, or None for the JIT: the one place that decides.

    Where a library beside this module cannot be used and Numba is installed, Numba is used instead,
    with a message. That is so after a change of a kernel, until the next `make`.

    Raises
    ------
    LibraryError
        If a library cannot be used, and was asked for or cannot be replaced.
    """
    told = os.environ.get(VARIABLE, "")
    if told in (JIT, JIT_APART, JIT_UNCACHED, JIT_EXPORT) or not (told or BESIDE.exists()):
        return None
    try:
        return Library(Path(told or BESIDE))
    except LibraryError as error:
        if told:
            raise LibraryError(
                f"{VARIABLE}: {error}; allowed are {JIT}, for Numba, and the path of a library"
            ) from None
        if find_spec("numba") is None:
            raise LibraryError(f"{error}; {REMEDY}") from None
        print(f"gp-pta: {error}; Numba is used instead", file=sys.stderr)
        os.environ[VARIABLE] = (
            JIT  # so that the processes started from here do not repeat the message
        )
        return None
