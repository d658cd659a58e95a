"""Whole processes: from start to the first tone, the memory of sessions, the library alone."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.many_tests import memory_mb
from bench.markdown_tables import note
from firmware_py.inference.library import Library
from tests.device.image.image import ROOT, Image
from tests.device.image.test_process import start
from tests.firmware.rig import Process, Rig

ROUNDS = 5
SESSIONS = 50
SHOWN = (1, 10, SESSIONS)  # after so many of them the memory is told
WITHOUT_SCIPY = os.pathsep.join([str(Path(__file__).parent / "without_scipy"), str(ROOT)])
CORE_ALONE = (
    "import pathlib, sys, time; from firmware_py.inference.library import Library; "
    "before_s = time.process_time(); Library(pathlib.Path(sys.argv[1])); "
    "print(time.process_time() - before_s)"
)
linux = pytest.mark.skipif(sys.platform != "linux", reason="the device is a Linux machine")


@pytest.fixture
def _compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Numba run the kernels, from its cache, and no SciPy, which a device does not have."""
    monkeypatch.setenv("PYTHONPATH", WITHOUT_SCIPY)
    monkeypatch.setenv("GP_PTA_KERNELS", "jit")
    subprocess.run([sys.executable, "-m", "firmware_py.inference"], cwd=ROOT, check=True)


def processor_time_s() -> float:
    """Return that of all processes that this one started, and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_to_first_tone(
    benchmark: Any, name: str, directory: Path, start_in: Callable[[Rig], Process]
) -> None:
    """Time from the start of the process until the first tone of a test is told of.

    The pauses of the test before it are a hundred times shorter than for a person.
    """
    used_s: list[float] = []
    with Rig(directory) as rig:

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


@linux
@pytest.mark.usefixtures("_compile")
def test_start_compiled_before(benchmark: Any, tmp_path: Path) -> None:
    measure_to_first_tone(benchmark, "Numba, cached", tmp_path / "data", lambda rig: rig.start())


def test_start_of_an_image(benchmark: Any, image: Image, tmp_path: Path) -> None:
    measure_to_first_tone(benchmark, "image", tmp_path / "data", lambda rig: start(rig, image))


@linux
@pytest.mark.usefixtures("_compile")
def test_memory_compiled_before(benchmark: Any, tmp_path: Path) -> None:
    """Both ears of a simulated listener; the time is that of the demonstration."""
    environment = {**os.environ, "PEAK_MEMORY_NOTES": str(tmp_path / "notes")}

    def demonstrate() -> None:
        command = [sys.executable, "-m", "host_tools.main", "demo", "--audiogram", "S2",
                   "--seed", "3", "--json", "--out", str(tmp_path / "demo")]  # fmt: skip
        subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True)

    benchmark.group = "demonstration of both ears"
    benchmark.pedantic(demonstrate, rounds=1, iterations=1)
    notes = [json.loads(line) for line in (tmp_path / "notes").read_text().splitlines()]
    (peak_bytes,) = {
        each["peak_rss_bytes"] for each in notes if "firmware_py.main" in each["command"]
    }
    benchmark.extra_info["report"] = {
        "peak memory of the firmware process, Numba": (
            f"{peak_bytes / 1e6:.1f} MB ({peak_bytes / 2**20:.1f} MiB)"
        )
    }


def test_memory_of_sessions_of_an_image(benchmark: Any, image: Image, tmp_path: Path) -> None:
    """One ear after the other in one process; the time is that of a session, 400 times faster."""
    peaks_mb: list[float] = []
    with Rig(tmp_path / "data", speed=400.0) as rig:
        process = start(rig, image)
        assert "; ready-made kernels for " in process.first_line()

        def measure() -> None:
            rig.begin(f"LEFT,SEED={len(peaks_mb)}")
            rig.until("! session-over")
            peaks_mb.append(memory_mb(process.pid)[1])

        benchmark.group = "image"
        benchmark.pedantic(measure, rounds=SESSIONS, iterations=1)
    benchmark.extra_info["report"] = {
        f"peak memory of an image's process after sessions: {count}": (
            f"{peaks_mb[count - 1]:.2f} MB"
        )
        for count in SHOWN
    }


def test_library_of_an_image_alone(benchmark: Any, image: Image) -> None:
    """The library loaded and checked in a Python that has nothing else."""
    alone_s = [float(image.run("-c", CORE_ALONE, str(image.library))[0]) for _ in range(10)]
    benchmark.group = "image"
    benchmark(lambda: Library(image.library))
    benchmark.extra_info["report"] = {
        "processor time until the library is loaded and checked": f"{1e3 * min(alone_s):.1f} ms"
    }
