"""Running chunks of sessions on a Dask cluster."""

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Final

from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.research.study.plan import Chunk
from host_tools.research.study.work import WAITING_PER_WORKER, Done, Runs, run_chunk

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
