"""The one runner of all studies: here, in processes, or on a Dask cluster.

What is made comes as it is made, with its place, so that whoever sums can do so in one order.
"""

import hashlib
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from firmware_py import __version__
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.terminal import progress, say_aside

if TYPE_CHECKING:
    from distributed import Client, Future

WORKER_ENDED: Final = (
    "a worker process was ended from outside (out of memory?); with -o what was done is kept, and "
    "the same command goes on with it"
)
WAITING_PER_WORKER: Final = 2  # pieces handed out: one in work, one to go on with
INTERRUPTS: Final = (KeyboardInterrupt, SystemExit)  # of ^C and of SIGTERM
CONNECT_S_MAX: Final = 10
WORKERS_S_MAX: Final = 60  # a queueing system takes its time to start the first
# A study is continued, and done elsewhere, only by the same program.
_CODE: Final = ("firmware_py", "device/simulator", "host_tools/research")
_NO_CODE: Final = {".md", ".svg", ".png"}


Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True)
class Where:
    """Where a study is run."""

    workers: int = 0  # processes; 0: this one alone
    dask: str | None = None  # the address of a scheduler, whose workers are taken


@dataclass(frozen=True, eq=False)
class Piece(Generic[Given, Made]):
    """A piece of work."""

    place: int
    function: Callable[[Given], Made]  # at the top of a module
    given: Given
    program: str  # digest of `program`; a worker with another program refuses it


def run_piece(piece: Piece[Given, Made]) -> tuple[int, Made]:
    """Do a piece of work, and return its place and what it makes."""
    if piece.program != digest(program()):
        raise HostError(
            f"a worker has another program than the one that began the study, {program()}: was "
            "something installed or edited meanwhile? The results would not have the same bits"
        )
    one_thread()
    return piece.place, piece.function(piece.given)


def run(
    function: Callable[[Given], Made], given: Iterable[tuple[int, Given]], where: Where
) -> Generator[tuple[int, Made], None, None]:
    """Apply a function to what has a place, and yield place and what is made, as it is made.

    When the generator is closed, by an interrupt or otherwise, what it began is ended at once.
    """
    own = digest(program())
    pieces = (Piece(place, function, each, own) for place, each in given)
    if where.dask is not None:
        yield from _run_on_cluster(pieces, where.dask)
    elif where.workers == 0:
        yield from map(run_piece, pieces)
    else:
        yield from _run_in_processes(pieces, where.workers)


def all_done(function: Callable[[Given], Made], given: Sequence[Given], where: Where) -> list[Made]:
    """Apply a function to each, show how far it has come, and return what is made in their order.

    Errors as of `run`.
    """
    made: dict[int, Made] = {}
    here = Where(min(where.workers, len(given)), where.dask)
    try:
        with (
            closing(run(function, enumerate(given), here)) as runs,
            progress("sessions", len(given)) as tell,
        ):
            for place, each in runs:
                made[place] = each
                tell(len(made))
    except INTERRUPTS:
        say_aside(
            f"gp-pta: interrupted; {len(made)} of {len(given)} sessions are lost; with -o DIR they "
            "are kept, and the same command goes on with them"
        )
        raise
    return [made[place] for place in range(len(given))]


def _run_in_processes(
    pieces: Iterator[Piece[Any, Made]], workers: int
) -> Generator[tuple[int, Made], None, None]:
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker)
    try:
        with _interrupts_for_children_off():
            first = islice(pieces, WAITING_PER_WORKER * workers)
            pending = {executor.submit(run_piece, each) for each in first}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            pending |= {executor.submit(run_piece, each) for each in islice(pieces, len(done))}
            yield from (future.result() for future in done)
        executor.shutdown()
    except BrokenProcessPool:
        raise HostError(WORKER_ENDED) from None
    finally:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        executor.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_for_children_off() -> Iterator[None]:
    """Within this, processes are started that ignore ^C; the parent ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin_worker() -> None:
    """End this worker when its parent ends, as it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is None:
        raise RuntimeError("this is no worker process")

    def end_with_parent() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


@cache
def one_thread() -> None:
    """Have BLAS use one thread in this process: with more, sums have other last bits."""
    need("a study", "threadpoolctl", use="study")
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")


def _run_on_cluster(
    pieces: Iterator[Piece[Any, Made]], address: str
) -> Generator[tuple[int, Made], None, None]:
    """Do pieces on the cluster of this scheduler, and yield them as they are done.

    The cluster has only a few per thread at a time, so that a study may have any number of them.
    Results are kept here, not on the cluster.
    """
    need("--dask", "distributed", use="study --dask")
    import distributed

    try:
        client = distributed.Client(address, timeout=CONNECT_S_MAX, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise HostError(f"--dask {address!r}: there is no Dask scheduler ({error})") from None
    try:
        _wait_for_workers(client, address)
        running = distributed.as_completed(loop=client.loop)
        while True:
            threads = sum(client.nthreads().values())
            free = max(1, WAITING_PER_WORKER * threads) - running.count()
            for piece in islice(pieces, max(free, 0)):
                running.add(client.submit(run_piece, piece, pure=False))
            if running.is_empty():
                return
            yield _result(next(running), address)
    finally:
        client.close()


def _wait_for_workers(client: "Client", address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=WORKERS_S_MAX)
    except TimeoutError:
        raise HostError(
            f"--dask {address!r}: the scheduler had no worker for {WORKERS_S_MAX} s"
        ) from None


def _result(future: "Future", address: str) -> Any:
    from distributed import CancelledError, KilledWorker

    try:
        return future.result()
    except (CancelledError, KilledWorker) as error:
        raise HostError(f"--dask {address!r}: sessions were lost: {error}") from None
    except ImportError as error:
        raise HostError(
            f"--dask {address!r}: a worker has not got this program ({error}): install there what "
            "is installed here"
        ) from None


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
