"""How Python has to be started, what a program may take, and how it ends: by which exit code."""

import errno
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

# Exit codes of the firmware.
EXIT_DONE: Final = 0
EXIT_FAULT: Final = 1  # of the firmware itself, with a traceback
EXIT_CONFIGURATION: Final = 2
EXIT_TONE_GENERATOR: Final = 3
EXIT_JOURNAL: Final = 4
# As a shell says that a program was ended by SIGINT or SIGPIPE.
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
STANDARD_ERROR: Final = 2
# Only standard output fails so here: a program names the files that it cannot write.
FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def run_program(run: Callable[[], int | None], name: str = "") -> int:
    """Run a program and return its exit code.

    ^C, and a pipe that nobody reads any more, end it in silence; of a disk that is full it is said.
    """
    open_standard_files()
    try:
        try:
            code = run() or 0
        except KeyboardInterrupt:
            code = INTERRUPTED
        finally:  # what --help says, which ends a program by itself, may be in the buffer still
            sys.stdout.flush()
    except OSError as error:
        if not is_of_output(error):
            raise
        forget_stdout()
        if isinstance(error, BrokenPipeError):
            return BROKEN_PIPE
        words = f"the output cannot be written: {error.strerror}"
        print(f"{name}: {words}" if name else words, file=sys.stderr)
        return EXIT_CONFIGURATION
    return code


def open_standard_files() -> None:
    """Put what swallows all in the place of a standard file that is closed.

    A port or a journal that is opened first would have its number, and get what is printed.
    """
    while (handle := os.open(os.devnull, os.O_RDWR)) <= STANDARD_ERROR:
        os.set_inheritable(handle, True)  # what is started needs it as well
    os.close(handle)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: SIM115 - it stays


def is_of_output(error: OSError) -> bool:
    return isinstance(error, BrokenPipeError) or error.errno in FULL


def forget_stdout() -> None:
    """Leave nothing that Python would try to write again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def refusal() -> str:
    """Say why nothing may run in this interpreter; empty: it may.

    With `-O` Python leaves out every assertion, those of the compiled kernels too, which keep them
    within their arrays.
    """
    if not sys.flags.optimize:
        return ""
    return "Python was started with -O or PYTHONOPTIMIZE, which leaves checks out; start it without"


def address_space_bytes() -> int:
    """Return how much memory the process has asked for by now, used or not (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def limit_growth(reserve_mb: int) -> None:
    """Let the process grow by so much from now on: a leak ends in a MemoryError, not in a freeze.

    It has to be enough for a session: estimators, the journal, the console's answers.
    """
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = address_space_bytes() + reserve_mb * 1_000_000
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
