"""Memory of one firmware process over many tests: ``python -m bench.many_tests --tests 1000``.

Each is of one ear of a simulated listener at a simulated board, a thousand times faster than real.
``--traced`` says how much of it Python's objects are, at a third of the speed.
"""

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Final

from firmware_py.platform.program import run_program
from tests.firmware.rig import Process, Rig

UNLIMITED: Final = "[device]\nmemory_reserve_mb = 0\n"  # to trace takes memory, too
SPEED: Final = 1000.0


def memory_mb(pid: int) -> tuple[float, float]:
    """Return the memory that a process has, and the most that it has had."""
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    kib = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Vm")}
    return int(kib["VmRSS"]) * 1024 / 1e6, int(kib["VmHWM"]) * 1024 / 1e6


def trace(rig: Rig, process: Process, where: Path) -> str:
    os.kill(process.pid, signal.SIGUSR1)
    rig.wait(where.exists)
    words = where.read_text()
    where.unlink()
    return words


def main(arguments: list[str]) -> int:
    p = argparse.ArgumentParser(prog="python -m bench.many_tests")
    p.add_argument("--tests", type=int, default=1000)
    p.add_argument("--each", type=int, default=50, help="tests between two lines (default: 50)")
    p.add_argument("--traced", action="store_true", help="say what Python's objects have")
    given = p.parse_args(arguments)
    with tempfile.TemporaryDirectory() as directory, Rig(Path(directory), speed=SPEED) as rig:
        where = Path(directory, "traced")
        wrapper = [sys.executable, "-m", "bench.traced", str(where)] if given.traced else []
        process = rig.start(config=UNLIMITED if given.traced else "", wrapper=wrapper)
        print(process.first_line(), end="")
        for number in range(1, given.tests + 1):
            rig.begin(f"LEFT,SEED={number}")
            rig.until("! session-over")
            if number == 1 or number % given.each == 0:
                now_mb, peak_mb = memory_mb(process.pid)
                words = f"; {trace(rig, process, where)}" if given.traced else ""
                print(f"{number} tests: {now_mb:.2f} MB, peak {peak_mb:.2f} MB{words}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(sys.argv[1:])))
