"""`python -m bench.first_start`: how long the first demonstration takes in a fresh clone.

Each start has a new clone with its packages installed, a new home and no library of kernels; busy
loops may stand beside it. Told are the seconds from the command to the first tone, and to the end.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from firmware_py.platform.program import ended

ROOT: Final = Path(__file__).parents[1]
FIRST_TONE: Final = re.compile(r"^ +1 +(left|right) ")
LOOP: Final = "while True: pass"


def clone_with_packages(place: Path) -> Path:
    """Return a fresh clone in which what `make demo` takes is installed."""
    clone = place / "gp-pta"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    subprocess.run(
        ["make", "--silent", ".venv/host.txt"], cwd=clone, check=True, capture_output=True
    )
    return clone


def demonstrate(clone: Path, home: Path, busy: int) -> tuple[float, float, int]:
    """Run `make demo` beside busy loops; return seconds to the first tone, to the end, the code."""
    with ExitStack() as stack:
        for _ in range(busy):
            loop = stack.enter_context(subprocess.Popen([sys.executable, "-c", LOOP]))
            stack.callback(loop.kill)
        environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
        began_s = time.monotonic()
        first_tone_s = float("nan")
        demo = stack.enter_context(
            subprocess.Popen(
                ["make", "demo"],
                cwd=clone,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
        for line in demo.stdout or ():
            if FIRST_TONE.match(line):
                first_tone_s = time.monotonic() - began_s
        return first_tone_s, time.monotonic() - began_s, demo.wait()


def main(argv: Sequence[str] | None = None) -> int:
    """Start as often as told; return 0 if every start succeeded."""
    parser = argparse.ArgumentParser(prog="python -m bench.first_start", description=__doc__)
    parser.add_argument("--starts", type=int, default=1, help="default: 1")
    parser.add_argument("--busy", type=int, default=0, help="busy loops beside it (default: 0)")
    arguments = parser.parse_args(argv)
    failed = 0
    print("| start | to the first tone, s | to the end, s | exit code |\n|---|---|---|---|")
    for start in range(1, arguments.starts + 1):
        with tempfile.TemporaryDirectory() as place:
            clone = clone_with_packages(Path(place))
            home = Path(place) / "home"
            home.mkdir()
            first_tone_s, end_s, code = demonstrate(clone, home, arguments.busy)
        print(f"| {start} | {first_tone_s:.1f} | {end_s:.1f} | {code} |", flush=True)
        failed += code != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(ended(main))
