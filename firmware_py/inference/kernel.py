"""How a kernel is compiled: in one place, the same for all of them.

A kernel is a free function on floats and arrays: inputs first, scratch and outputs last, a status
returned where something can go wrong. `_nrt=False` takes Numba's allocator away, so that an
allocation anywhere in a kernel is a compile error. Those that Python calls, the entries, have
explicit signatures: they, with all that they call, are compiled or loaded when their module is
imported, so that nothing compiles in the middle of a session; the others are not loaded by
themselves. There is no fastmath and no contraction, because results must have the same bits on
every machine.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import numba
import numpy as np

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

_COMPLETE: Final = "complete"  # a file in the cache: every kernel is there

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


@cache
def _cache_directory() -> str | None:
    """Return where compiled kernels are kept, or None if no place can be written.

    The name holds a digest of all kernel sources: Numba itself looks only at the file of the
    function it compiles, and would keep an old copy of a function inlined from another module.
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    user_cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for directory in (Path(__file__).parent / "__pycache__", user_cache / "gp-pta"):
        place = directory / name
        try:
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=place):
                return str(place)
        except OSError:
            continue
    return None


def compile_apart() -> None:
    """Have another process compile the kernels if they are not in the cache yet.

    Compiling takes half as much memory again as everything else the firmware does, and it would be
    kept for good. A cache that a power cut left torn is thrown away, and made once more.
    """
    directory = _cache_directory()
    if directory is None or (Path(directory) / _COMPLETE).exists():
        return
    compiler = [sys.executable, "-m", "firmware_py.inference"]
    if subprocess.run(compiler, check=False).returncode != 0:
        shutil.rmtree(directory, ignore_errors=True)
        subprocess.run(compiler, check=False)


def mark_complete() -> None:
    """Note that all kernels are in the cache, and on the disk: the note vouches for them."""
    directory = _cache_directory()
    if directory is not None:
        os.sync()
        (Path(directory) / _COMPLETE).touch()


@contextmanager
def _kernels_cached_in(directory: str | None) -> Any:
    """Point Numba's cache at `directory` while one kernel is declared, and put it back."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = directory or before
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _compiled(function: AnyFunction, *signatures: str) -> AnyFunction:
    directory = _cache_directory()
    with _kernels_cached_in(directory):
        compiled: AnyFunction = numba.njit(
            *signatures,
            error_model="numpy",
            fastmath=False,
            boundscheck=False,
            nogil=True,
            cache=directory is not None,
            no_cfunc_wrapper=True,
            _nrt=False,
        )(function)
    return compiled


def kernel(function: AnyFunction) -> AnyFunction:
    """Compile a function that other kernels call; it becomes a part of them."""
    return _compiled(function)


def entry(result: str, *arguments: str) -> Callable[[AnyFunction], AnyFunction]:
    """Compile a kernel that Python calls, with this result and these argument types.

    Parameters
    ----------
    result, *arguments : str
        Numba type names, `F8`, `I8`, `VECTOR`, `MATRIX`, `CUBE` or `INDICES` above.
    """

    def compile_entry(function: AnyFunction) -> AnyFunction:
        return _compiled(function, f"{result}({', '.join(arguments)})")

    return compile_entry
