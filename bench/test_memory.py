"""Peak memory of the firmware process, in a whole demonstration without SciPy."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.processes import PATH_WITHOUT_SCIPY, ROOT


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_peak_memory_of_the_firmware(benchmark: Any, tmp_path: Path) -> None:
    """Both ears of a simulated listener, kernels of Numba; the time is that of the demo."""
    environment = {
        **os.environ,
        "PYTHONPATH": PATH_WITHOUT_SCIPY,
        "GP_PTA_KERNELS": "jit",
        "PEAK_MEMORY_NOTES": str(tmp_path / "notes"),
    }
    subprocess.run(
        [sys.executable, "-m", "firmware_py.inference"], env=environment, cwd=ROOT, check=True
    )

    def demonstrate() -> None:
        command = [sys.executable, "-m", "host_tools.main", "demo", "--audiogram", "S2",
                   "--seed", "3", "--json", "--out", str(tmp_path / "demo")]  # fmt: skip
        subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True)

    benchmark.group = "demonstration of both ears"
    benchmark.pedantic(demonstrate, rounds=1, iterations=1)
    notes = [json.loads(line) for line in (tmp_path / "notes").read_text().splitlines()]
    (peak_bytes,) = {
        note["peak_rss_bytes"] for note in notes if "firmware_py.main" in note["command"]
    }
    benchmark.extra_info["report"] = {
        "peak memory of the firmware process, Numba": (
            f"{peak_bytes / 1e6:.1f} MB ({peak_bytes / 2**20:.1f} MiB)"
        )
    }
