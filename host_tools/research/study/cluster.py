"""Pieces done on a Dask cluster, whatever becomes of its scheduler and its workers."""

import asyncio
import logging
import pickle
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib.metadata import version
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.research.study.pieces import KEPT, WAITING_PER_WORKER, Made, Piece, SentPiece

if TYPE_CHECKING:
    from distributed import Future

CONNECT_S_MAX: Final = 10
WORKERS_S_MAX: Final = 60  # a queueing system takes its time to start the first
LOOK_S: Final = 2  # without a result so long, it is looked whether anybody is there to make one
# What they say to each other differs from release to release. What bits depend on is in `program`.
ALIKE: Final = ("dask", "distributed")
_ADDRESS: Final = re.compile(r"((tcp|tls|wss?)://)?(\[[\da-fA-F:.]+\]|[^\s:/\[\]]+):(\d{1,5})")
_PORT_MAX: Final = 65535

Packages = Mapping[str, str | None]


def check_address(address: str) -> None:
    """Refuse what is no address of a scheduler; Dask leaves a client half made by one."""
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found[4]) <= _PORT_MAX:
        raise HostError(
            f"--dask is {address!r}; allowed is tcp://HOST:PORT, as 'dask scheduler' prints it "
            f"(or tls://, ws:// or wss://), with a port from 1 to {_PORT_MAX}"
        )


def run_on_cluster(
    pieces: Iterator[Piece[Any, Made]], address: str
) -> Generator[tuple[int, Made], None, None]:
    """Do pieces on the cluster of this scheduler, and yield them as they are done."""
    need("--dask", "distributed", use="study --dask")
    with closing(Cluster(address)) as cluster:
        yield from cluster.run(pieces)


class Cluster:
    """A scheduler, and the workers that it has.

    Raises
    ------
    HostError
        If there is none, or it is not like this machine.
    """

    def __init__(self, address: str) -> None:
        import distributed

        self._address = address
        self._done: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        try:
            self._compare("the scheduler", asyncio.run(_packages_of(address)))
            self._client = distributed.Client(address, timeout=CONNECT_S_MAX, set_as_default=False)
        except HostError:
            raise
        except Exception as error:  # whatever it is that listens there
            raise self._error(f"there is no Dask scheduler ({_why(error)})") from None

    def close(self) -> None:
        # A client whose scheduler is gone logs with a traceback that it stops looking for it.
        logger = logging.getLogger("distributed.client")
        logger.disabled = True
        try:
            self._client.close()
        finally:
            logger.disabled = False

    def run(self, pieces: Iterator[Piece[Any, Made]]) -> Generator[tuple[int, Made], None, None]:
        """Do pieces, and yield them as they are done.

        The cluster has only a few per thread at a time, so that a study may have any number of
        them. Results are kept here, not on the cluster.
        """
        self._look()
        with self._connected():
            for worker, about in self._client.get_versions()["workers"].items():
                self._compare(f"the worker {worker}", about["packages"])
        waiting = 0
        while True:
            for piece in islice(pieces, self._room(waiting)):
                self._begin(piece)
                waiting += 1
            if waiting == 0:
                return
            yield self._next()
            waiting -= 1

    def _room(self, waiting: int) -> int:
        with self._connected():
            threads: int = sum(self._client.nthreads().values())
        return max(0, max(1, WAITING_PER_WORKER * threads) - waiting)

    def _begin(self, piece: Piece[Any, Any]) -> None:
        sent = pickle.dumps(SentPiece(piece))
        with self._connected():
            future = self._client.submit(pickle.loads, sent, pure=False)
            self._client.loop.add_callback(self._fetch, future)

    async def _fetch(self, future: "Future") -> None:
        """Wait for what a piece makes, however often it is lost with a worker and made again."""
        try:
            made = await self._client.gather(future, asynchronous=True)
            self._done.put((made, None))
        except BaseException as error:
            self._done.put((None, error))

    def _next(self) -> Any:
        """Return what a piece made, as soon as one is done, or raise what became of it."""
        while True:
            try:
                made, error = self._done.get(timeout=LOOK_S)
            except Empty:
                self._look()
                continue
            if error is not None:
                raise self._named(error)
            return made

    def _named(self, error: BaseException) -> BaseException:
        """Return an error with a name, if it is one of the cluster and none of the piece."""
        from distributed import CancelledError, KilledWorker

        if isinstance(error, KilledWorker):
            return self._error(
                f"{error.allowed_failures + 1} workers ended while they did one piece, the last at "
                f"{error.last_worker.address} (out of memory? its log says more); {KEPT}"
            )
        if self._client.status != "running":
            return self._gone()
        if isinstance(error, CancelledError):
            return self._error(f"sessions were lost: {_in_one_line(error)}; {KEPT}")
        if isinstance(error, ImportError):
            return self._error(
                f"a worker has not got this program ({error}): install there what is installed here"
            )
        return error

    def _look(self) -> None:
        """Wait until there is a worker."""
        with self._connected():
            try:
                self._client.wait_for_workers(1, timeout=WORKERS_S_MAX)
            except TimeoutError:
                raise self._error(
                    f"the scheduler had no worker for {WORKERS_S_MAX} s; start one: "
                    f"dask worker {self._address}; {KEPT}"
                ) from None

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """Within this the scheduler is asked."""
        if self._client.status != "running":
            raise self._gone()
        try:
            yield
        except OSError:
            raise self._gone() from None

    def _compare(self, who: str, packages: Packages) -> None:
        """Refuse other releases of Dask."""
        for name in ALIKE:
            if packages.get(name) != version(name):
                raise self._error(
                    f"{who} has {name} {packages.get(name)}, and this machine {version(name)}: "
                    "install there what is installed here"
                )

    def _gone(self) -> HostError:
        return self._error(f"the scheduler is gone; {KEPT}")

    def _error(self, words: str) -> HostError:
        return HostError(f"--dask {self._address!r}: {words}")


async def _packages_of(address: str) -> Packages:
    """Ask a scheduler for the versions of its packages.

    A client does not: it would wait for ever for the first word of something that says nothing.
    """
    from distributed import Security, rpc

    arguments = Security().get_connection_args("client")
    async with rpc(address, timeout=CONNECT_S_MAX, connection_args=arguments) as scheduler:
        about = await asyncio.wait_for(scheduler.versions(), 2 * CONNECT_S_MAX)
    packages: Packages = about["packages"]
    return packages


def _why(error: BaseException) -> str:
    while isinstance(error.__cause__, OSError):  # the first of them says most
        error = error.__cause__
    if isinstance(error, OSError):
        return _in_one_line(error) or f"no answer for {CONNECT_S_MAX} s"
    return f"what answers there is something else: {type(error).__name__}"


def _in_one_line(error: BaseException) -> str:
    return " ".join(str(error).split())
