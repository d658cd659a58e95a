"""From the start of the firmware to the first tone of a test: compiled before, and an image."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.markdown_tables import note
from bench.processes import PATH_WITHOUT_SCIPY, ROOT, processor_time_s
from tests.device.image.image import Image
from tests.device.image.test_process import start
from tests.firmware.rig import Process, Rig

ROUNDS = 5


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


@pytest.mark.skipif(sys.platform != "linux", reason="the device is a Linux machine")
def test_compiled_before(benchmark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a device, which has no SciPy; the kernels are in the cache."""
    monkeypatch.setenv("PYTHONPATH", PATH_WITHOUT_SCIPY)
    monkeypatch.setenv("GP_PTA_KERNELS", "jit")
    subprocess.run([sys.executable, "-m", "firmware_py.inference"], cwd=ROOT, check=True)
    measure_to_first_tone(benchmark, "Numba, cached", tmp_path / "data", lambda rig: rig.start())


def test_image(benchmark: Any, image: Image, tmp_path: Path) -> None:
    measure_to_first_tone(benchmark, "image", tmp_path / "data", lambda rig: start(rig, image))
