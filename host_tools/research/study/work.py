"""The one runner of all studies: here, in processes, or on a Dask cluster.

What is made comes as it is made, with its place, so that whoever sums can do so in one order.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from host_tools.errors import HostError
from host_tools.research.study.cluster import run_on_cluster
from host_tools.research.study.pieces import (
    KEPT,
    WAITING_PER_WORKER,
    Given,
    Made,
    Piece,
    digest,
    program,
    run_piece,
)
from host_tools.terminal import progress, say_aside

WORKER_ENDED: Final = f"a worker process was ended from outside (out of memory?); {KEPT}"
INTERRUPTS: Final = (KeyboardInterrupt, SystemExit)  # of ^C and of SIGTERM


@dataclass(frozen=True)
class Where:
    """Where a study is run."""

    workers: int = 0  # processes; 0: this one alone
    dask: str | None = None  # the address of a scheduler, whose workers are taken


def run(
    function: Callable[[Given], Made], given: Iterable[tuple[int, Given]], where: Where
) -> Generator[tuple[int, Made], None, None]:
    """Apply a function to what has a place, and yield place and what is made, as it is made.

    When the generator is closed, by an interrupt or otherwise, what it began is ended at once.
    """
    own = digest(program())
    pieces = (Piece(place, function, each, own) for place, each in given)
    if where.dask is not None:
        yield from run_on_cluster(pieces, where.dask)
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
