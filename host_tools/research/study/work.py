"""Running chunks of sessions: here, or in processes. On a Dask cluster: `cluster.py`."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Final

from host_tools.errors import HostError
from host_tools.research.study.plan import Chunk, digest, program
from host_tools.research.study.session import Session, run_session

WORKERS_MAX: Final = 512
WAITING_PER_WORKER: Final = 2  # chunks handed out: one in work, one to go on with

Done = tuple[int, list[Session]]
Runs = Generator[Done, None, None]  # closed, it ends what it has begun


def run_chunk(chunk: Chunk) -> Done:
    """Run the sessions of a chunk, and return its index and them.

    Raises
    ------
    HostError
        The chunk was made by another program.
    """
    if chunk.program != digest(program()):
        raise HostError(
            f"a worker has another program than the one that began the study, {program()}: was "
            "something installed or edited meanwhile? The results would not have the same bits"
        )
    one_thread()
    return chunk.index, [run_session(job, chunk.setting, chunk.learned) for job in chunk.jobs]


def run_here(chunks: Iterable[Chunk]) -> Runs:
    """Run chunks in this process, one after the other."""
    yield from map(run_chunk, chunks)


def run_in_processes(chunks: Iterable[Chunk], workers: int) -> Runs:
    """Run chunks in processes, and yield them as they are done.

    When the generator is closed, by an interrupt or otherwise, the processes are ended at once.

    Raises
    ------
    HostError
        A process was ended from outside.
    """
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker)
    left = iter(chunks)
    try:
        with _interrupts_for_children_off():
            first = islice(left, WAITING_PER_WORKER * workers)
            pending = {executor.submit(run_chunk, chunk) for chunk in first}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            pending |= {executor.submit(run_chunk, chunk) for chunk in islice(left, len(done))}
            yield from map(_result, done)
        executor.shutdown()
    finally:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        executor.shutdown(cancel_futures=True)


def _result(future: Future[Done]) -> Done:
    try:
        return future.result()
    except BrokenProcessPool:
        raise HostError(
            "a worker process was ended from outside (out of memory?); what was done is kept, and "
            "the same command goes on with it"
        ) from None


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
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=1, user_api="blas")
