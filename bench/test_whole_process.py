"""Whole processes: from the start to the first tone of a test, and the memory of a session."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.many_tests import memory_mb
from bench.markdown_tables import note
from tests.device.image.image import ROOT, Image
from tests.device.image.test_process import start
from tests.firmware.rig import Process, Rig

ROUNDS = 5
WITHOUT_SCIPY = os.pathsep.join([str(Path(__file__).parent / "without_scipy"), str(ROOT)])
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the device is a Linux machine")

Start = Callable[[Rig], Process]


@pytest.fixture(params=["Numba, cached", "image"])
def firmware(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Start]]:
    """Return what runs the kernels, and what starts such a firmware; a device has no SciPy."""
    if request.param == "image":
        image: Image = request.getfixturevalue("image")
        yield request.param, lambda rig: start(rig, image)
        return
    monkeypatch.setenv("PYTHONPATH", WITHOUT_SCIPY)
    monkeypatch.setenv("GP_PTA_KERNELS", "jit")
    subprocess.run([sys.executable, "-m", "firmware_py.inference"], cwd=ROOT, check=True)
    yield request.param, lambda rig: rig.start()


def processor_time_s() -> float:
    """Return that of all processes that this one started, and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_start(benchmark: Any, firmware: tuple[str, Start], tmp_path: Path) -> None:
    """Time from the start of the process until the first tone of a test is told of.

    The pauses of the test before it are a hundred times shorter than for a person.
    """
    name, start_in = firmware
    used_s: list[float] = []
    with Rig(tmp_path / "data") as rig:

        def to_first_tone() -> None:
            start_in(rig).first_line()
            rig.begin()
            rig.until("! tone number=1")

        def end() -> None:
            if rig.process is None:
                return
            assert rig.operator.ask("SESS:ABOR") == "OK"
            assert rig.operator.ask("SYST:EXIT") == "OK"
            before_s = processor_time_s()
            rig.process.end_of()
            used_s.append(processor_time_s() - before_s)

        benchmark.group = "start"
        benchmark.pedantic(to_first_tone, setup=end, rounds=ROUNDS, warmup_rounds=1)
        end()
    note(benchmark, f"start to first tone, {name}")
    benchmark.extra_info["report"] = {
        f"processor time of a process that came to its first tone, {name}": (
            f"{1e3 * min(used_s):.0f} ms"
        )
    }


def test_memory(benchmark: Any, firmware: tuple[str, Start], tmp_path: Path) -> None:
    """One ear from start to end; the time is that of the session, a hundred times faster."""
    name, start_in = firmware
    with Rig(tmp_path / "data") as rig:
        process = start_in(rig)
        process.first_line()

        def measure() -> None:
            rig.begin()
            rig.until("! session-over")

        benchmark.group = "session"
        benchmark.pedantic(measure, rounds=1, iterations=1)
        peak_mb = memory_mb(process.pid)[1]
    benchmark.extra_info["report"] = {
        f"peak memory of the firmware process, {name}": f"{peak_mb:.1f} MB"
    }
