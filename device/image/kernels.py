"""The library of kernels; `python -m device.image.kernels` makes this checkout's own.

It is made if there is none, or if the one there is for another machine or of other kernels.
"""

import fcntl
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Final

from device.image.commit import commit
from device.image.compile import BuildError, compile_library, join_texts
from device.image.targets import Target, target_of_this_machine
from firmware_py import __version__
from firmware_py.inference.library import (
    BESIDE,
    COMPILING,
    ELF,
    JIT_EXPORT,
    VARIABLE,
    Library,
    check_sum,
    entry_count,
    is_made,
    source_digest,
)
from firmware_py.platform.program import run_program

ROOT: Final = Path(__file__).parents[2]
LIBRARY_BYTES_MAX: Final = 226_000
# The modules that have entries, in two parts of about the same duration: a process each.
PARTS: Final = (
    (
        "elementary",
        "mixture.otherwise",
        "mixture.posterior",
        "mixture.prediction",
        "mixture.selection",
        "stories",
    ),
    (
        "laplace.posterior",
        "laplace.hyperparameters",
        "laplace.selection",
        "preference.posterior",
        "preference.selection",
        "preference.points",
    ),
)
# They make the text the same on every machine that builds: for no processor in particular, not yet
# optimised (that is done for the target), and with sets and dictionaries in one order.
COMPILE_ENVIRONMENT: Final = {
    VARIABLE: JIT_EXPORT,
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "NUMBA_LOOP_VECTORIZE": "0",
    "NUMBA_SLP_VECTORIZE": "0",
    "NUMBA_OPT": "0",
    "PYTHONHASHSEED": "0",
}


def export(tell: Callable[[str], None] = lambda line: None) -> str:
    """Return LLVM's text of the kernels, from processes in which Numba knows no processor.

    `tell` is called with the name of each kernel when its turn comes. `BuildError` if one fails.
    """
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor() as pool:

        def text_of(part: Sequence[str]) -> str:
            return _export_part(part, Path(place) / f"{part[0]}.ll", tell)

        return join_texts(pool.map(text_of, PARTS))


def _export_part(modules: Sequence[str], text: Path, tell: Callable[[str], None]) -> str:
    process = subprocess.Popen(
        [sys.executable, "-m", "device.image.export", str(text), *modules],
        cwd=ROOT, env={**os.environ, **COMPILE_ENVIRONMENT}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    words = []
    with process:
        for line in process.stderr or ():
            if line.startswith(COMPILING):
                tell(line.removeprefix(COMPILING).split()[0])
            else:
                words.append(line)
    if process.returncode != 0:
        raise BuildError(f"the kernels cannot be compiled: {''.join(words).strip()}")
    return text.read_text(encoding="ascii")


def make_library(text: str, target: Target, path: Path, source_commit: str) -> dict[str, str]:
    """Make the library of one target, and return its description; one that is there is replaced.

    `BuildError` if it cannot be linked, or is larger than it may be.
    """
    about = {
        "version": __version__,
        "commit": source_commit,
        "target": target.name,
        "sources": source_digest(),
        **versions_in_use(),
    }
    part = path.with_suffix(".part")
    compile_library(text, about, target, part)
    with part.open("rb+") as file:
        content = file.read()
        if content.startswith(ELF):
            file.write(check_sum(content))
        os.fsync(file.fileno())  # after a power cut there is the old library, or this one
    refuse_more("the library has", part.stat().st_size, LIBRARY_BYTES_MAX)
    part.replace(path)
    return about


def refuse_more(what: str, size_bytes: int, most_bytes: int) -> None:
    if size_bytes > most_bytes:
        raise BuildError(f"{what} {size_bytes} bytes; allowed are {most_bytes}")


def versions_in_use() -> dict[str, str]:
    """Return the versions of everything that determines the bytes of a library."""
    sources = (Path(__file__).with_name(f"{name}.py") for name in ("compile", "export", "targets"))
    return {
        "numba": version("numba"),
        "llvmlite": version("llvmlite"),
        "linker": version("ziglang"),
        "maker": f"{zlib.crc32(b''.join(path.read_bytes() for path in sources)):08x}",
    }


def is_as_made_now() -> bool:
    """Return whether the library of this checkout is there, and is what would be made now."""
    return is_made() and versions_in_use().items() <= Library(BESIDE).about.items()


def make_beside(tell: Callable[[str], None]) -> None:
    """Make the library of this checkout if it is not there; a second process waits."""
    target = target_of_this_machine()
    if target is None:
        tell("there is no library of kernels for this kind of machine: Numba compiles them")
        return
    with _lock(BESIDE.parent, tell):
        if is_as_made_now():
            return
        said: list[str] = []

        def tell_kernel(name: str) -> None:
            if name not in said:
                said.append(name)
                count = f"{len(said)} of {entry_count()}"
                tell(f"making this machine's library of kernels, once: {count}, {name}")

        make_library(export(tell_kernel), target, BESIDE, commit())


@contextmanager
def _lock(directory: Path, tell: Callable[[str], None]) -> Iterator[None]:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("another process is making the library of kernels; waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _tell(line: str) -> None:
    """Show a line of progress: in a terminal in the place of the one before."""
    end = "\r" if sys.stderr.isatty() else "\n"
    print(f"{line:<78}", end=end, file=sys.stderr, flush=True)


def main() -> int:
    if is_as_made_now():
        return 0
    try:
        make_beside(_tell)
    except (BuildError, OSError) as error:
        print(f"device.image.kernels: {error}", file=sys.stderr)
        return 1
    _tell("the library of kernels is made")
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
