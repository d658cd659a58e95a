"""What an image costs on this machine: from start to ready, and the memory of a session."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.processes import processor_time_s
from firmware_py.inference.library import Library
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.device.image.image import ROOT, Image
from tests.device.image.test_process import start
from tests.firmware.rig import Rig

SESSIONS = 50
SHOWN = (1, 10, SESSIONS)  # after so many of them the memory is told

CORE_ALONE = (
    "import pathlib, sys, time; from firmware_py.inference.library import Library; "
    "before_s = time.process_time(); Library(pathlib.Path(sys.argv[1])); "
    "print(time.process_time() - before_s)"
)


def test_from_start_to_ready(benchmark: Any, image: Image, tmp_path: Path) -> None:
    """The process, NumPy, the kernels, the ports, and a board that answers."""
    used_s: list[float] = []
    with Rig(tmp_path / "data") as rig:

        def become_ready() -> None:
            assert "; ready-made kernels for " in start(rig, image).first_line()

        def end() -> None:
            if rig.process is not None:
                before_s = processor_time_s()
                rig.process.terminate()
                rig.process.end_of()
                used_s.append(processor_time_s() - before_s)

        benchmark.group = "image"
        benchmark.pedantic(become_ready, setup=end, rounds=20, warmup_rounds=1)
    benchmark.extra_info["report"] = {
        "processor time of a process that became ready and ended": f"{1e3 * min(used_s):.0f} ms"
    }


def test_memory_of_a_session(benchmark: Any, image: Image, tmp_path: Path) -> None:
    """One ear from start to end; the time is that of the session, a hundred times faster."""
    with Rig(tmp_path / "data") as rig:
        process = start(rig, image)

        def measure() -> None:
            rig.begin()
            rig.until("! session-over")

        benchmark.group = "image"
        benchmark.pedantic(measure, rounds=1, iterations=1)
        rig.operator.ask("SYST:EXIT")
        process.end_of()
        notes = json.loads(rig.data.with_name("notes").read_text())
    benchmark.extra_info["report"] = {
        "peak memory of the firmware process, image": f"{notes['peak_rss_bytes'] / 1e6:.1f} MB"
    }


def peak_rss_mb(pid: int) -> float:
    """Return the most memory that a process has had so far."""
    status = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    (peak_kib,) = (line.split()[1] for line in status if line.startswith("VmHWM:"))
    return int(peak_kib) * 1024 / 1e6


def test_memory_of_many_sessions(benchmark: Any, image: Image, tmp_path: Path) -> None:
    """One after the other in one process, which may grow no more than it always may."""
    peaks_mb: list[float] = []
    with Rig(tmp_path / "data", speed=400.0) as rig:
        process = start(rig, image)
        assert "; ready-made kernels for " in process.first_line()

        def measure() -> None:
            rig.begin(f"LEFT,SEED={len(peaks_mb)}")
            rig.until("! session-over")
            peaks_mb.append(peak_rss_mb(process.pid))

        benchmark.group = "image"
        benchmark.pedantic(measure, rounds=SESSIONS, iterations=1)
        assert rig.operator.ask("SYST:EXIT") == "OK"
        assert process.end_of() == (0, "")
        assert replay_journal(rig.journal(SESSIONS)).code == IDENTICAL
    benchmark.extra_info["report"] = {
        f"peak memory after {count} sessions in one process": f"{peaks_mb[count - 1]:.2f} MB"
        for count in SHOWN
    }


def test_numeric_core_alone(benchmark: Any, image: Image) -> None:
    """The library loaded and checked in a Python that has nothing else."""
    alone_s = [
        float(
            subprocess.run(
                [sys.executable, "-c", CORE_ALONE, str(image.library)],
                cwd=ROOT, capture_output=True, text=True, check=True,
            ).stdout
        )
        for _ in range(10)
    ]  # fmt: skip
    benchmark.group = "image"
    benchmark(lambda: Library(image.library))
    benchmark.extra_info["report"] = {
        "processor time until the library is loaded and checked": f"{1e3 * min(alone_s):.1f} ms"
    }
