"""The limit on the memory of the process."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Fills memory megabyte by megabyte and says how far it came.
GROW = """
import sys
from firmware_py.platform.program import limit_growth
limit_growth(int(sys.argv[1]))
taken = []
try:
    while len(taken) < 1000:
        taken.append(bytearray(1_000_000))
except MemoryError:
    taken_mb = len(taken)
    taken.clear()
    print(taken_mb)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("reserve_mb", [8, 32])
def test_a_process_that_grows_beyond_its_reserve_gets_a_memory_error(reserve_mb: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", GROW, str(reserve_mb)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert reserve_mb - 3 <= int(done.stdout) <= reserve_mb
