"""`python -m device.image.wheels`: a wheel for each target, in dist.

The wheel for this machine is installed into a new environment with its dependencies only, and a
demonstration runs there, without a compiler and without this checkout. `make test-arm` tests the
wheels for ARM under emulation. The wheels for macOS are untested.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from device.image.commit import commit
from device.image.compile import BuildError
from device.image.kernels import ROOT, export, make_library, refuse_more
from device.image.targets import TARGETS, Target, target_of_this_machine
from device.image.wheel_hook import LIBRARY_VARIABLE
from firmware_py.platform.program import run_program

WHEEL_BYTES_MAX: Final = 1_800_000
BUILD: Final = (
    "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
)
DEMO: Final = ("demo", "--ear", "left", "--speed", "100")


def make_wheels(text: str, targets: Sequence[Target], place: Path, out: Path) -> list[Path]:
    """Make a wheel for each target; what is made on the way is in `place`.

    `BuildError` if hatch does not make one, or it is larger than it may be.
    """
    wheels = []
    for target in targets:
        library = (place / target.name / "kernels.so").absolute()
        library.parent.mkdir(parents=True, exist_ok=True)
        make_library(text, target, library, commit())
        done = subprocess.run(
            [sys.executable, "-c", BUILD, str(out.absolute())],
            cwd=ROOT, env={**os.environ, LIBRARY_VARIABLE: str(library)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise BuildError(f"the wheel cannot be made: {done.stdout}{done.stderr}")
        wheel = out.absolute() / done.stdout.split()[-1]
        refuse_more(f"{wheel.name} has", wheel.stat().st_size, WHEEL_BYTES_MAX)
        wheels.append(wheel)
    return wheels


def try_wheel(wheel: Path, place: Path) -> None:
    """Install a wheel into a new environment, as people do, and run a demonstration there."""
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    pip = [str(place / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", str(wheel)], check=True)
    nothing = {"HOME": str(place), "PATH": os.defpath}
    for command in (["gp-pta-device", "--version"], ["gp-pta", *DEMO]):
        whole = [str(place / "bin" / command[0]), *command[1:]]
        subprocess.run(whole, cwd=place, env=nothing, check=True)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m device.image.wheels", description="Make wheels with ready-made kernels."
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=ROOT / "dist", help="default: dist"
    )
    parser.add_argument("--untried", action="store_true", help="do not try the one of this machine")
    arguments = parser.parse_args(argv)
    place = ROOT / "build" / "wheels"
    try:
        wheels = make_wheels(export(), [*TARGETS.values()], place, arguments.out)
        for wheel, target in zip(wheels, TARGETS.values(), strict=True):
            print(f"{wheel}: {wheel.stat().st_size} bytes")
            if target == target_of_this_machine() and not arguments.untried:
                try_wheel(wheel, place / "environment")
    except (BuildError, subprocess.CalledProcessError) as error:
        print(f"device.image.wheels: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
