"""A piece of a study: what is sent to whoever does it, and what it is done with there."""

import hashlib
import json
import os
import pickle
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from firmware_py import __version__
from firmware_py.inference.library import JIT, VARIABLE, chosen_library
from host_tools.errors import HostError
from host_tools.extras import need

WAITING_PER_WORKER: Final = 2  # pieces handed out: one in work, one to go on with
KEPT: Final = "with -o what was done is kept, and the same command goes on with it"
# A study is continued, and done elsewhere, only by the same program.
_CODE: Final = ("firmware_py", "device/simulator", "host_tools/research")
_NO_CODE: Final = {".md", ".svg", ".png"}

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Piece(Generic[Given, Made]):
    """A piece of work."""

    place: int
    function: Callable[[Given], Made]  # at the top of a module
    given: Given
    program: str  # digest of `program`; a worker with another program refuses it


def run_piece(piece: Piece[Given, Made]) -> tuple[int, Made]:
    """Do a piece of work, and return its place and what it makes."""
    _check_program(piece.program)
    one_thread()
    return piece.place, piece.function(piece.given)


class SentPiece:
    """A piece for another machine: unpickled there it is done, and is what `run_piece` returns.

    So whoever hands it on, as a scheduler does, needs nothing of this program.
    """

    def __init__(self, piece: Piece[Any, Any]) -> None:
        self._piece = piece

    def __reduce__(self) -> tuple[Callable[[str, bytes], Any], tuple[str, bytes]]:
        return _run_sent, (self._piece.program, pickle.dumps(self._piece))


def _run_sent(own: str, piece: bytes) -> tuple[int, Any]:
    """Have Numba run the kernels, as the command has here, and do a piece, which imports them."""
    _check_program(own)  # another one may lack what the piece is made of
    os.environ[VARIABLE] = JIT
    if chosen_library() is not None:
        raise HostError(
            "a worker has loaded the library of kernels for other work, and a study has kernels "
            "that are not in it; start that worker anew"
        )
    from firmware_py.inference.kernel import prepare

    prepare()  # of several workers of a machine one compiles
    return run_piece(pickle.loads(piece))


def _check_program(own: str) -> None:
    if own != digest(program()):
        raise HostError(
            f"a worker has another program than the one that began the study, {program()}: was "
            "something installed or edited meanwhile? The results would not have the same bits"
        )


@cache
def one_thread() -> None:
    """Have BLAS use one thread in this process: with more, sums have other last bits."""
    need("a study", "threadpoolctl", use="study")
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")


def digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


@cache
def program() -> dict[str, str]:
    """Return versions, and a digest of the code, that the bits of a result depend on."""
    root = Path(__file__).parents[3]
    code = hashlib.sha256()
    for name in _CODE:
        for path in sorted((root / name).rglob("*")):
            is_code = "__pycache__" not in path.parts and path.suffix not in _NO_CODE
            if is_code and path.is_file():
                code.update(path.relative_to(root).as_posix().encode() + b"\0")
                code.update(hashlib.sha256(path.read_bytes()).digest())
    return {
        "gp-pta": __version__,
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",  # 3.12 sums otherwise
        "numpy": version("numpy"),
        "numba": _version_of_numba(),
        "code": code.hexdigest()[:16],
    }


def _version_of_numba() -> str:
    """Return its version; "": the library of kernels does without it."""
    try:
        return version("numba")
    except PackageNotFoundError:
        return ""
