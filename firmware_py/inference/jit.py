"""Kernels compiled here, by Numba, and kept in a directory of compiled kernels.

`_nrt=False` takes Numba's allocator away, so that an allocation anywhere in a kernel is a compile
error. There is no fastmath and no contraction, because results must have the same bits on every
machine.
"""

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

from firmware_py.inference.library import JIT_UNCACHED, VARIABLE, source_digest

_COMPLETE: Final = "complete"  # a file in the cache: every kernel is there

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


@cache
def _cache_directory() -> str | None:
    """Return where compiled kernels are kept, or None if no place can be written.

    The name holds a digest of all kernel sources: Numba itself looks only at the file of the
    function it compiles, and would keep an old copy of a function inlined from another module.
    """
    if os.environ.get(VARIABLE) == JIT_UNCACHED:
        return None
    name = f"kernels-{source_digest()}"
    told = Path(os.environ.get("XDG_CACHE_HOME", ""))
    user_cache = told if told.is_absolute() else Path.home() / ".cache"  # as XDG has it
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


def compiled(function: AnyFunction, *signatures: str) -> AnyFunction:
    """Compile a function for these signatures now, or without any when another kernel calls it."""
    directory = _cache_directory()
    with _kernels_cached_in(directory):
        dispatcher: AnyFunction = numba.njit(
            *signatures,
            error_model="numpy",
            fastmath=False,
            boundscheck=False,
            nogil=True,
            cache=directory is not None,
            no_cfunc_wrapper=True,
            _nrt=False,
        )(function)
    return dispatcher
