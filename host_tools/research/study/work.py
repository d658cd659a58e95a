"""Running chunks of sessions: here, in processes, or on a Dask cluster."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeVar

from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.research.study.plan import Chunk, digest, program
from host_tools.research.study.session import Session, run_session
from host_tools.terminal import progress

WORKER_ENDED: Final = "a worker process was ended from outside (out of memory?)"
WAITING_PER_WORKER: Final = 2  # chunks handed out: one in work, one to go on with

Given = TypeVar("Given")
Made = TypeVar("Made")
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
    try:
        yield from map_in_processes(run_chunk, chunks, workers)
    except BrokenProcessPool:
        raise HostError(
            f"{WORKER_ENDED}; what was done is kept, and the same command goes on with it"
        ) from None


def map_in_processes(
    function: Callable[[Given], Made], given: Iterable[Given], workers: int
) -> Generator[Made, None, None]:
    """Apply a function in processes, and yield what it makes as it is made; see above.

    Raises
    ------
    BrokenProcessPool
        A process was ended from outside.
    """
    context = multiprocessing.get_context("spawn")
    others = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin_worker)
    left = iter(given)
    try:
        with _interrupts_for_children_off():
            first = islice(left, WAITING_PER_WORKER * workers)
            pending = {executor.submit(function, each) for each in first}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            pending |= {executor.submit(function, each) for each in islice(left, len(done))}
            yield from (future.result() for future in done)
        executor.shutdown()
    finally:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        executor.shutdown(cancel_futures=True)


def all_done(
    function: Callable[[Given], Made], given: Sequence[Given], workers: int
) -> Iterator[Made]:
    """Apply a function to sessions, here or in processes, and show how far it has come.

    What is made comes as it is made, in no order; with 0 workers in this process.

    Raises
    ------
    HostError
        A process was ended from outside.
    """
    runs: Generator[Made, None, None] = (
        (function(each) for each in given)
        if workers == 0
        else map_in_processes(function, given, min(workers, len(given)) or 1)
    )
    try:
        with closing(runs), progress("sessions", len(given)) as tell:
            for done, made in enumerate(runs, 1):
                tell(done)
                yield made
    except BrokenProcessPool:
        raise HostError(WORKER_ENDED) from None


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


if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_S_MAX: Final = 10
WORKERS_S_MAX: Final = 60  # a queueing system takes its time to start the first


def run_on_cluster(chunks: Iterable[Chunk], address: str) -> Runs:
    """Run chunks on the cluster of this scheduler, and yield them as they are done.

    The cluster has only a few chunks per thread at a time, so that a study may have any number of
    them. Results are kept here, not on the cluster.

    Raises
    ------
    HostError
        Dask is not installed, there is no scheduler, it has no workers, they have another program
        than this one, or they die over a chunk.
    """
    need("--dask", "distributed", use="study --dask")
    import distributed

    try:
        client = distributed.Client(address, timeout=CONNECT_S_MAX, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise HostError(f"--dask {address!r}: there is no Dask scheduler ({error})") from None
    try:
        _wait_for_workers(client, address)
        left = iter(chunks)
        running = distributed.as_completed(loop=client.loop)
        while True:
            threads = sum(client.nthreads().values())
            free = max(1, WAITING_PER_WORKER * threads) - running.count()
            for chunk in islice(left, max(free, 0)):
                running.add(client.submit(run_chunk, chunk, pure=False))
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


def _result(future: "Future", address: str) -> Done:
    from distributed import CancelledError, KilledWorker

    try:
        done: Done = future.result()
    except (CancelledError, KilledWorker) as error:
        raise HostError(f"--dask {address!r}: sessions were lost: {error}") from None
    except ImportError as error:
        raise HostError(
            f"--dask {address!r}: a worker has not got this program ({error}): install there what "
            "is installed here"
        ) from None
    return done
