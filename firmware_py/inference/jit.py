"""Kernels compiled here, by Numba, and kept in a directory of compiled kernels.

`_nrt=False` takes Numba's allocator away, so that an allocation anywhere in a kernel is a compile
error. There is no fastmath and no contraction, because results must have the same bits on every
machine.

Compiling takes more than a minute, so each kernel is announced on standard error.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import IO, Any, Final, TypeVar

import numba
from numba.core.sigutils import normalize_signature

from firmware_py.inference.library import (
    COMPILING,
    JIT_APART,
    JIT_EXPORT,
    JIT_UNCACHED,
    VARIABLE,
    entry_count,
    kernel_name,
    source_digest,
    type_names,
)

_COMPLETE: Final = "complete"  # a file in the cache: every kernel is there
_SAY_EVERY_S: Final = 20
NOT_KEPT: Final = 75  # the exit code of a compiler that cannot write
_LOCK: Final = "compiling"  # a file in the cache: locked by the process that compiles

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


def _say(words: str) -> None:
    print(f"gp-pta: {words}", file=sys.stderr, flush=True)


@cache
def _cache_directory() -> str | None:
    """Return where compiled kernels are kept, or None if no place can be written.

    The name holds a digest of all kernel sources: Numba itself looks only at the file of the
    function it compiles, and would keep an old copy of a function inlined from another module.
    """
    if os.environ.get(VARIABLE) in (JIT_UNCACHED, JIT_EXPORT):
        return None
    name = f"kernels-{source_digest()}"
    told = Path(os.environ.get("XDG_CACHE_HOME", ""))
    user_cache = told if told.is_absolute() else Path.home() / ".cache"  # as XDG has it
    places = (Path(__file__).parent / "__pycache__", user_cache / "gp-pta")
    for place in (directory / name for directory in places):
        try:
            place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=place):
                return str(place)
        except OSError:
            continue
    _keep_nothing(f"neither {places[0]} nor {places[1]} can be written")
    return None


def _keep_nothing(why: str) -> None:
    """Make this process, and those it starts, compile without a cache."""
    _say(f"{why}: compiled kernels are not kept, and every start compiles them")
    os.environ[VARIABLE] = JIT_UNCACHED
    _cache_directory.cache_clear()


def compile_apart() -> None:
    """Compile the kernels in another process if they are not in the cache yet.

    Compiling takes half as much memory again as everything else the firmware does, and this process
    would keep it. A cache that a power cut damaged is removed and made once more. Of two processes
    that start at once one compiles, and the other waits.
    """
    directory = _cache_directory()
    if directory is None or (Path(directory) / _COMPLETE).exists():
        return
    with (Path(directory) / _LOCK).open("w") as lock:
        _wait_for(lock)
        if (Path(directory) / _COMPLETE).exists():
            return
        code = _compile_all()
        if code == NOT_KEPT:
            _keep_nothing(f"{directory} cannot be written")
        elif code < 0:
            _say(f"the process that compiled was killed (signal {-code}); what it did is kept")
        elif code > 0:
            _say(f"{directory} is damaged, and is made once more")
            _clear(Path(directory))
            _compile_all()


def _compile_all() -> int:
    compiler = [sys.executable, "-m", "firmware_py.inference"]
    return subprocess.run(compiler, env={**os.environ, VARIABLE: JIT_APART}, check=False).returncode


def _clear(directory: Path) -> None:
    """Remove all but the lock, which another process may be waiting for."""
    for path in directory.iterdir():
        if path.name == _LOCK:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _wait_for(lock: IO[str]) -> None:
    """Lock a file as soon as no other process does, and say now and then that this one waits."""
    for second in count():
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if second % _SAY_EVERY_S == 0:
                _say("another process is compiling the kernels; waiting for it")
            time.sleep(1)
        else:
            return


def mark_complete() -> None:
    """Note that all kernels are in the cache, once they are on the disk."""
    directory = _cache_directory()
    if directory is not None:
        os.sync()
        (Path(directory) / _COMPLETE).touch()


@contextmanager
def _kernels_cached_in(directory: str | None) -> Any:
    """Use `directory` as Numba's cache while one kernel is declared."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = directory or before
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def _is_kept(function: Callable[..., Any], directory: str | None) -> bool:
    """Return whether Numba has an index of this function in the cache."""
    kept = f"*.{function.__name__}-{function.__code__.co_firstlineno}.*.nbi"
    return directory is not None and any(Path(directory).rglob(kept))


def _numba_type(annotation: Any) -> Any:
    if hasattr(annotation, "_fields"):
        fields = [_numba_type(field) for field in annotation.__annotations__.values()]
        return numba.types.BaseTuple.from_types(fields, annotation)
    ((kind,), _) = normalize_signature(f"void({type_names(annotation)[0]})")
    return kind


def signature_of(function: Callable[..., Any]) -> Any:
    """Return Numba's signature of a function from its annotations."""
    *arguments, result = (_numba_type(each) for each in function.__annotations__.values())
    return result(*arguments)


def compile_function(function: AnyFunction, *signatures: Any) -> AnyFunction:
    """Compile a function for these signatures now, or without any when another kernel calls it."""
    directory = _cache_directory()
    if signatures and not _is_kept(function, directory):
        of = f"one of {entry_count()}" + (", once" if directory else "")
        print(f"{COMPILING}{kernel_name(function)} with Numba, {of}", file=sys.stderr, flush=True)
    try:
        return _compile(function, directory, *signatures)
    except OSError as error:
        if os.environ.get(VARIABLE) == JIT_APART:
            raise
        _keep_nothing(f"{directory} cannot be written ({error.strerror})")
        return _compile(function, None, *signatures)


def _compile(function: AnyFunction, directory: str | None, *signatures: Any) -> AnyFunction:
    with _kernels_cached_in(directory):
        dispatcher: AnyFunction = numba.njit(
            *signatures,
            error_model="numpy",
            fastmath=False,
            boundscheck=False,
            nogil=True,
            cache=directory is not None,
            no_cfunc_wrapper=True,
            no_cpython_wrapper=os.environ.get(VARIABLE) == JIT_EXPORT,
            _nrt=False,
        )(function)
    return dispatcher
