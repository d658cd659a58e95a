"""Look for inputs that break a target, guided by coverage: `make fuzz`.

What it finds is left in `tests/fuzz/corpus/TARGET/`, to be mended and kept there.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import atheris

REPO: Final = Path(__file__).parents[2]
CORPUS: Final = REPO / "tests" / "fuzz" / "corpus"
PACKAGES: Final = ("firmware_py", "device", "host_tools")
FURTHER: Final = ("tomllib", "csv")
MEMORY: Final = Path("/dev/shm")  # files there are no work for a disk
ALL: Final = "all"
WALL_SECONDS_MAX: Final = 300  # an input, wherever it hangs; `tries` knows of most, and sooner
MEGABYTES_MAX: Final = 1024  # with coverage and Numba; the firmware itself has a limit of its own

# Arrays here are small: to share them out among threads takes longer than to compute.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def compiled_modules() -> list[str]:
    """Return the modules with kernels: their compiler knows no counters of coverage."""
    sources = [path for package in PACKAGES for path in (REPO / package).rglob("*.py")]
    with_kernels = (p for p in sources if re.search(r"^@(kernel|entry)\b", p.read_text(), re.M))
    return [".".join(path.relative_to(REPO).with_suffix("").parts) for path in with_kernels]


with atheris.instrument_imports(include=[*PACKAGES, *FURTHER], exclude=compiled_modules()):
    from firmware_py.inference.kernel import prepare
    from tests.fuzz.targets import TARGETS
    from tests.fuzz.tries import tries


def main() -> int:
    """Fuzz a target, or each in a process of its own; exit code 0 if nothing was found."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("target", choices=(*TARGETS, ALL))
    p.add_argument("--inputs", type=int, default=1_000_000)
    p.add_argument("--seed", type=int, default=1)
    arguments = p.parse_args()
    if arguments.target != ALL:
        fuzz(arguments.target, arguments.inputs, arguments.seed)
    words = ["--inputs", str(arguments.inputs), "--seed", str(arguments.seed)]
    program = [sys.executable, "-m", "tests.fuzz.run"]
    codes = {n: subprocess.run([*program, n, *words], check=False).returncode for n in TARGETS}
    broken = [name for name, code in codes.items() if code]
    print(f"{len(TARGETS)} targets, {arguments.inputs} inputs each; broken: {broken or 'none'}")
    return len(broken)


def fuzz(name: str, inputs: int, seed: int) -> None:
    """Fuzz one target; libFuzzer ends the process, with 0 if nothing was found."""
    target = TARGETS[name]
    found = CORPUS / name
    found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as scratch:
        directory, begin = Path(scratch), Path(scratch) / "begin"
        begin.mkdir()
        prepare()  # to compile kernels, and to import what is late, takes longer than an input may
        for number, data in enumerate(target.seeds()):
            (begin / str(number)).write_bytes(data)
            target.check(data, directory)
        options = [
            f"-runs={inputs}", f"-seed={seed}", f"-max_len={target.bytes_max}",
            f"-timeout={WALL_SECONDS_MAX}", f"-report_slow_units={WALL_SECONDS_MAX}",
            f"-rss_limit_mb={MEGABYTES_MAX}",
            f"-artifact_prefix={found}/", "-print_final_stats=1", "-print_pcs=0", "-verbosity=0",
        ]  # fmt: skip
        atheris.Setup([name, str(begin), str(found), *options], tries(target, directory))
        print(f"fuzzing {name}")
        atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
