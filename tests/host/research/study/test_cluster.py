"""A Dask cluster does what one process does, and what becomes of it is said in a line.

Where it has to be one, it is started by the lines of the page, in an environment that names nothing
to run the kernels, beside a library of them.
"""

import asyncio
import importlib
import itertools
import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, closing, suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from firmware_py.inference.library import VARIABLE, is_made
from host_tools.errors import HostError
from host_tools.main import main
from host_tools.research.study import cluster, pieces
from host_tools.research.study.cluster import ALIKE, check_address
from host_tools.research.study.options import Options
from host_tools.research.study.pieces import (
    KEPT,
    WAITING_PER_WORKER,
    Piece,
    SentPiece,
    digest,
    program,
)
from host_tools.research.study.plan import plan_study
from host_tools.research.study.sessions import Chunk, run_chunk
from host_tools.research.study.work import Where, run
from tests.host.journals import Refused
from tests.host.research.study.ears import write_table
from tests.host.research.study.test_work import METHODS, assert_same
from tests.test_commands_of_pages import SHOWN
from tests.test_pages import ROOT

distributed: Final = pytest.importorskip("distributed")

PAGE: Final = "host_tools/research/README.md"
SCHEDULER, WORKER = (each.words for each in SHOWN[PAGE] if each.words[0] == "dask")
(STUDY,) = (each.words for each in SHOWN[PAGE] if each.whole and "--dask" in each.words)
ADDRESS: Final = WORKER[-1]
# An option that comes twice counts as it comes last.
LESS: Final = ("--methods", METHODS, "--ears", "1", "--seeds", "4", "--trials", "5")
ON_LOOPBACK: Final = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
WITHOUT_VARIABLE: Final = {name: of for name, of in os.environ.items() if name != VARIABLE}
STARTED_S_MAX: Final = 120.0


class Scheduler:
    """A Dask cluster of one thread, in this process; what it is given is done at once."""

    status = "running"
    has_workers = True
    loses_workers = False  # as soon as it has work for them

    def __init__(self) -> None:
        self.fault: Exception | None = None
        self.packages = {name: version(name) for name in ALIKE}
        self.of_worker = self.packages
        self.submitted = 0
        self.is_closed = False
        self.loop = SimpleNamespace(add_callback=self._call)

    def _call(self, do: Callable[..., Any], *given: Any) -> None:
        if self.has_workers:
            asyncio.run(do(*given))

    def wait_for_workers(self, _count: int, timeout: float) -> None:
        if not self.has_workers:
            raise TimeoutError(timeout)

    def get_versions(self) -> dict[str, Any]:
        return {"workers": {"tcp://one:1": {"packages": self.of_worker}}}

    def nthreads(self) -> dict[str, int]:
        self.has_workers = not self.loses_workers
        return {"one": 1}

    def submit(self, do: Callable[[Any], Any], piece: Any, *, pure: bool) -> Callable[[], Any]:
        assert not pure
        self.submitted += 1
        return partial(do, piece)

    async def gather(self, future: Callable[[], Any], *, asynchronous: bool) -> Any:
        assert asynchronous
        if self.fault is not None:
            raise self.fault
        return future()

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    asked = Scheduler()

    async def packages(_address: str) -> Any:
        return asked.packages

    monkeypatch.setattr(cluster, "_packages_of", packages)
    monkeypatch.setattr(cluster, "LOOK_S", 0.01)
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: asked)
    return asked


def quest_chunks(count: int) -> list[tuple[int, Chunk[Any, Any]]]:
    plan = plan_study(Options("bisgaard", methods=("quest",), trials=1, seeds=8 * count))
    return [*itertools.islice(plan.make(plan.chunks), count)]


def made_by(
    function: Callable[[Any], Any], given: Any, address: str = "tcp://x"
) -> list[tuple[int, Any]]:
    with closing(run(function, [(0, given)], Where(dask=address))) as runs:
        return [*runs]


def test_a_cluster_has_only_a_few_chunks_at_a_time(scheduler: Scheduler) -> None:
    chunks = quest_chunks(WAITING_PER_WORKER + 2)
    runs = run(run_chunk, chunks, Where(dask="tcp://x"))
    index, sessions = next(runs)
    assert (index, len(sessions)) == (0, len(chunks[0][1][1]))
    assert scheduler.submitted == WAITING_PER_WORKER
    assert [index for index, _ in runs] == [index for index, _ in chunks[1:]]
    assert scheduler.is_closed


def test_a_cluster_without_workers_is_named(scheduler: Scheduler) -> None:
    scheduler.has_workers = False
    with pytest.raises(HostError, match=r"--dask 'tcp://x': the scheduler had no worker for 60 s"):
        made_by(str, 1)
    assert scheduler.is_closed


def test_a_cluster_that_has_lost_its_workers_is_named(scheduler: Scheduler) -> None:
    scheduler.loses_workers = True
    with pytest.raises(HostError, match=f"no worker for 60 s; start one: dask worker .*; {KEPT}"):
        made_by(str, 1)
    assert scheduler.is_closed


KILLED: Final = distributed.KilledWorker("it", SimpleNamespace(address="tcp://y:2"), 3)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (CancelledError("it"), f"sessions were lost: it; {KEPT}"),
        (ImportError("no host_tools"), r"a worker has not got this program \(no host_tools\)"),
        (KILLED, "4 workers ended while they did one piece, the last at tcp://y:2"),
    ],
)
def test_a_chunk_that_a_cluster_loses_is_named(
    fault: Exception, why: str, scheduler: Scheduler
) -> None:
    scheduler.fault = fault
    with pytest.raises(HostError, match=f"--dask 'tcp://x': {why}"):
        next(run(run_chunk, quest_chunks(1), Where(dask="tcp://x")))
    assert scheduler.is_closed


def test_what_a_piece_raises_is_raised_here(scheduler: Scheduler) -> None:
    with pytest.raises(ZeroDivisionError):
        made_by((1).__truediv__, 0)
    assert scheduler.is_closed


@pytest.mark.parametrize("of_worker", [False, True])
@pytest.mark.parametrize("name", ALIKE)
def test_another_release_of_dask_is_named(name: str, of_worker: bool, scheduler: Scheduler) -> None:
    other = {**scheduler.packages, name: "2025.7.0"}
    scheduler.packages, scheduler.of_worker = (
        (scheduler.packages, other) if of_worker else (other, scheduler.packages)
    )
    who = "the worker tcp://one:1" if of_worker else "the scheduler"
    with pytest.raises(HostError, match=f"{who} has {name} 2025.7.0, and this machine "):
        made_by(str, 1)
    assert scheduler.submitted == 0


def test_other_releases_of_what_changes_no_bit_are_taken(scheduler: Scheduler) -> None:
    scheduler.packages = {**scheduler.packages, "msgpack": "1.0.0", "python": "3.12.1.final.0"}
    assert made_by(str, 1) == [(0, "1")]


@pytest.mark.parametrize("name", ["python", "numpy", "numba", "gp-pta", "code"])
def test_a_worker_with_another_program_refuses(name: str) -> None:
    assert name in program()
    own = digest(program() | {name: "another"})
    with pytest.raises(HostError, match="a worker has another program than the one"):
        pickle.loads(pickle.dumps(SentPiece(Piece(0, str, "given", own))))


def test_a_worker_that_has_loaded_the_library_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "chosen_library", object)
    with pytest.raises(HostError, match="has loaded the library of kernels for other work"):
        pickle.loads(pickle.dumps(SentPiece(Piece(0, str, "given", digest(program())))))


@pytest.mark.parametrize(
    "address",
    [
        "nonsense", "", "tcp://127.0.0.1", "127.0.0.1:", "tcp://127.0.0.1:0", "tcp://a:65536",
        "a:b", "nonsense://x:1", "tcp://a:1/x", "tcp://a b:1", "::1:8786", "tcp://:8786",
        "tcp://a:8786 ",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(HostError) as refused:
        check_address(address)
    assert str(refused.value).startswith(f"--dask is {address!r}; allowed is tcp://HOST:PORT, as ")


@pytest.mark.parametrize(
    "address",
    [ADDRESS, "localhost:8786", "tls://a.b.example:65535", "tcp://[::1]:8786", "ws://a:1"],
)
def test_an_address_is_taken(address: str) -> None:
    check_address(address)


def answer(with_bytes: bytes, ends: bool, stack: ExitStack) -> str:
    """Return the address of what answers whoever connects, and hangs up or not."""
    server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))

    def serve() -> None:
        with ExitStack() as callers:
            while True:
                try:
                    caller = callers.enter_context(server.accept()[0])
                except OSError:  # the test is over
                    return
                with suppress(OSError):  # who called has hung up
                    caller.sendall(with_bytes)
                if ends:
                    caller.close()

    thread = threading.Thread(target=serve)
    thread.start()
    stack.callback(thread.join)
    stack.callback(server.shutdown, socket.SHUT_RDWR)
    return f"tcp://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    ("says", "ends", "s_max", "why"),
    [
        (b"", False, 0.2, "no answer for 0.2 s"),
        (b"", True, 0.2, ""),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", False, 60, "what answers there is something else: "),
        (bytes(800), False, 60, "what answers there is something else: "),
    ],
    ids=["nothing", "hangs up", "HTTP", "zeros"],
)
def test_what_is_no_scheduler_is_named(
    says: bytes, ends: bool, s_max: float, why: str, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(cluster, "CONNECT_S_MAX", s_max)
    with ExitStack() as stack:
        address = answer(says, ends, stack)
        with pytest.raises(HostError, match=rf"{address}': there is no Dask scheduler \({why}"):
            made_by(str, 1, address)
    assert capfd.readouterr().err == ""


def test_a_scheduler_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal_of: Refused
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S_MAX", 0.2)
    for address in ("tcp://127.0.0.1:9", "localhost:9"):
        words = f"study --audiograms bisgaard --methods quest -o {tmp_path} --dask {address}"
        why = refusal_of(*words.split())
        assert f"--dask '{address}': there is no Dask scheduler" in why


def test_without_dask_installed_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(HostError, match=r"\[dask\]'"):
        made_by(str, 1)


class Started:
    """A cluster that was started by hand."""

    def __init__(self, place: Path, stack: ExitStack) -> None:
        self._place, self._stack = place, stack
        file = place / "scheduler.json"
        self.scheduler = self._start(SCHEDULER, "--port", "0", "--scheduler-file", str(file))
        with distributed.Client(scheduler_file=str(file), timeout=STARTED_S_MAX) as client:
            self.address = str(client.scheduler.address)

    def start_workers(self, count: int, *options: str) -> None:
        worker = [self.address if word == ADDRESS else word for word in WORKER]
        for _ in range(count):
            self._start(worker, "--local-directory", str(self._place), *options)
        with self.client() as client:
            client.wait_for_workers(count, timeout=STARTED_S_MAX)

    def client(self) -> Any:
        return distributed.Client(self.address, timeout=STARTED_S_MAX, set_as_default=False)

    def _start(self, line: Sequence[str], *options: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", *line, *ON_LOOPBACK, *options]
        process = subprocess.Popen(
            command, cwd=ROOT, env=WITHOUT_VARIABLE, stderr=subprocess.DEVNULL
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.terminate)
        return process


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    if not is_made():
        pytest.skip("there is no library of kernels; run: make kernels")
    with ExitStack() as stack:
        yield Started(tmp_path, stack)


def kill_one_at_work(started: Started, study: "subprocess.Popen[str]", parts: Path) -> None:
    """Kill a worker that has work, once some is done."""
    at_work: list[str] = []
    with started.client() as client:
        pids = client.run(os.getpid)
        while not (at_work and any(parts.glob("*.parquet"))):
            assert study.poll() is None, study.communicate()
            time.sleep(0.02)
            at_work = [worker for worker, keys in client.processing().items() if keys]
        os.kill(pids[at_work[0]], signal.SIGKILL)


@pytest.mark.thorough
@pytest.mark.parametrize("options", [(), ("--no-nanny",)], ids=["nannies", "no nannies"])
def test_the_lines_of_the_page_do_what_one_process_does(
    options: tuple[str, ...], started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three workers, one of which is killed in the middle."""
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "ears.csv")
    words = [started.address if word == ADDRESS else word for word in STUDY[1:]]
    dask = words.index("--dask")
    alone = [*words[:dask], "--workers", "0", *words[dask + 2 :], *LESS]
    assert main([*alone, "-o", "alone"]) == 0
    started.start_workers(3, *options)
    command = [sys.executable, "-m", "host_tools.main", *words, *LESS]
    study = subprocess.Popen(command, env=WITHOUT_VARIABLE, stderr=subprocess.PIPE, text=True)
    with study:
        kill_one_at_work(started, study, tmp_path / "study" / "parts")
        assert study.stderr is not None
        said = study.stderr.read()
    assert study.returncode == 0, said
    assert "Traceback" not in said
    assert_same(tmp_path / "study", tmp_path / "alone")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("ends", "options", "worker_s_max", "why"),
    [
        ("scheduler", (), STARTED_S_MAX, f"the scheduler is gone; {KEPT}"),
        ("worker", ("--no-nanny",), 1, "the scheduler had no worker for 1 s; start one: "),
        ("worker", (), STARTED_S_MAX, "4 workers ended while they did one piece, the last at tcp"),
    ],
    ids=["the scheduler", "the only worker", "every new worker"],
)
def test_a_piece_that_ends_a_part_of_its_cluster(
    ends: str, options: tuple[str, ...], worker_s_max: float, why: str, started: Started,
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setattr(cluster, "WORKERS_S_MAX", worker_s_max)
    monkeypatch.setattr(logging.getLogger("distributed"), "propagate", True)
    started.start_workers(1, *options)
    own = signal.raise_signal
    kill = partial(os.kill, started.scheduler.pid) if ends == "scheduler" else own
    with pytest.raises(HostError) as ended:
        made_by(kill, signal.SIGKILL, started.address)
    assert f"--dask '{started.address}': {why}" in str(ended.value)
    assert [each.getMessage() for each in caplog.records if each.levelno > logging.INFO] == []


@pytest.mark.thorough
def test_a_worker_that_did_other_work_by_the_library_says_so(started: Started) -> None:
    started.start_workers(1)
    with started.client() as client:
        other = client.submit(importlib.import_module, "firmware_py.inference.kernel")
        assert other.exception() is None
        with pytest.raises(HostError, match="has loaded the library of kernels for other work"):
            made_by(str, 1, started.address)
