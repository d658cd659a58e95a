"""Memory of one firmware process over many tests: ``python -m bench.many_tests --tests 1000``.

Each is of one ear of a simulated listener at a simulated board, a thousand times faster than real.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from firmware_py.platform.program import ended
from tests.firmware.rig import Rig

SPEED: Final = 1000.0


def memory_mb(pid: int) -> tuple[float, float]:
    """Return the memory that a process has, and the most that it has had."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    kib = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
    return int(kib["VmRSS"]) * 1024 / 1e6, int(kib["VmHWM"]) * 1024 / 1e6


def main(arguments: list[str]) -> int:
    """Print a line each so many tests."""
    p = argparse.ArgumentParser(prog="python -m bench.many_tests")
    p.add_argument("--tests", type=int, default=1000)
    p.add_argument("--each", type=int, default=50, help="tests between two lines (default: 50)")
    given = p.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory, Rig(Path(directory), speed=SPEED) as rig:
        process = rig.start()
        print(process.first_line(), end="")
        for number in range(1, given.tests + 1):
            rig.begin(f"LEFT,SEED={number}")
            rig.until("! session-over")
            if number == 1 or number % given.each == 0:
                now_mb, peak_mb = memory_mb(process.pid)
                print(f"{number} tests: {now_mb:.2f} MB, peak {peak_mb:.2f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(ended(lambda: main(sys.argv[1:])))
