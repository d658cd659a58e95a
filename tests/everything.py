"""Run every test there is, folder by folder, and go on where an earlier run ended: `make test-all`.

A step that passed is not run again until a file changes. All steps are run, whatever fails; in the
end the failed ones are named.

    python -m tests.everything [STEP ...]      # some steps only
"""

import argparse
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
NOTES: Final = ROOT / "build" / "tested"
WORKERS: Final = str((os.cpu_count() or 1) + 1)  # many tests wait for a process, a port or a clock
PYTEST: Final = (sys.executable, "-m", "pytest", "--all", "-n", WORKERS, "--dist", "loadgroup")
FOLDERS: Final = (
    "board", "calibration", "console", "device", "ear", "findings", "firmware", "fuzz", "host",
    "inference", "installation", "journal", "link", "operator", "paper", "platform", "presenting",
    "session", "sessions", "simulation", "standards", "terms", "tuning",
)  # fmt: skip


def steps() -> Iterator[tuple[str, tuple[str, ...], dict[str, str]]]:
    """Yield name, command and environment of every step."""
    yield "files", (*PYTEST, *map(str, sorted((ROOT / "tests").glob("test_*.py")))), {}
    for folder in FOLDERS:
        yield folder, (*PYTEST, f"tests/{folder}"), {}
    # All of them again, and what only Numba runs.
    yield "numba", PYTEST, {"GP_PTA_KERNELS": "jit"}
    yield "docs", ("make", "docs"), {}
    yield "soak", (sys.executable, "-m", "tests.simulation.soak"), {}
    yield "arm", ("make", "test-arm"), {}
    for machine in ("raspi3b", "virt"):
        yield f"card-{machine}", ("make", "test-card", "ALL=1", f"MACHINE={machine}"), {}


def tree() -> str:
    """Return a check sum of every file that git does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    digest = 0
    for path in sorted(filter(None, listed.split("\0"))):
        digest = zlib.crc32(path.encode(), digest)
        if (ROOT / path).is_file():
            digest = zlib.crc32((ROOT / path).read_bytes(), digest)
    return f"{digest:08x}"


def run_step(name: str, command: Sequence[str], environment: dict[str, str], now: str) -> bool:
    """Run a step that has not passed yet with these files, and note that it passed."""
    note = NOTES / name
    if note.exists() and note.read_text() == now:
        print(f"{name}: passed already", flush=True)
        return True
    print(f"{name}: {' '.join(command)}", flush=True)
    began_s = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False).returncode
    print(f"{name}: exit {code} after {time.monotonic() - began_s:.0f} s", flush=True)
    if code == 0:
        NOTES.mkdir(parents=True, exist_ok=True)
        note.write_text(now)
    return code == 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run and return the exit code, 0 if nothing failed."""
    known = {name: (command, environment) for name, command, environment in steps()}
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    p.add_argument("steps", nargs="*", metavar="STEP", help=f"of {', '.join(known)}")
    wanted = p.parse_args(argv).steps or [*known]
    if unknown := [name for name in wanted if name not in known]:
        p.error(f"there is no step {unknown[0]!r}; there are {', '.join(known)}")
    now = tree()
    failed = [name for name in wanted if not run_step(name, *known[name], now)]
    print(f"{len(wanted) - len(failed)} steps passed; failed: {', '.join(failed) or 'none'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
