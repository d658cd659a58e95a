"""`python -m bench.counting.instructions`: how many instructions the kernels of one trial take.

It is the last of so many answers that is counted, inference and selection, without Python around
the kernels: on x86-64 by Valgrind, on AArch64 by QEMU and a plugin. `--update` keeps the counts in
instructions.toml, which tests/bench/test_instructions.py holds them to.
"""

import argparse
import copy
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from bench.counting.driver import calls_of, write_driver
from bench.sessions import answers_of, estimator_before
from device.image.compile import optimise
from device.image.kernels import export
from device.image.targets import TARGETS
from device.simulator.preferences import SimulatedWearer
from firmware_py.inference.preference.estimator import PreferenceEstimator
from firmware_py.platform.program import run_program
from firmware_py.procedure.objective import BITS
from firmware_py.procedure.tuning.space import DIMENSIONS

HERE: Final = Path(__file__).parent
FILE: Final = HERE / "instructions.toml"
AUDIOGRAM: Final = "S2"
WISH_DB: Final = (4.0, -5.0, 2.0, 0.0)
TUNING: Final = "tuning"  # its trials are comparisons: one taken in, and the next pair chosen
TRIALS: Final[dict[str, Sequence[int]]] = {
    "default": (16, 64, 128),
    "annealed-laplace": (16, 64, 128),
    TUNING: (10, 25, 40),
}
# A target of device/image, and how its programs are linked: by the machine's own compiler where it
# can, because another has to compile a C library first.
_ZIG: Final = (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=all")
LINKERS: Final = {"x86-64": ("cc",), "aarch64": (*_ZIG, "-target", "aarch64-linux-musl")}
_COLLECTED: Final = re.compile(r"Collected : (\d+)")

RISE_MAX: Final = 1.05  # of a count, that nobody has to answer for

Counts = dict[str, dict[str, int]]


def missing(target: str) -> list[str]:
    """Return what is not here that counting for a target takes."""
    programs = {"x86-64": ["valgrind", "cc"], "aarch64": ["qemu-aarch64", "cc"]}[target]
    lacks = [program for program in programs if shutil.which(program) is None]
    if target == "x86-64" and platform.machine() != "x86_64":
        lacks.append("x86-64 machine")
    if target == "aarch64" and find_spec("ziglang") is None:
        lacks.append("ziglang")
    return lacks


def instructions(target: str, text: str, trials: Mapping[str, Sequence[int]] = TRIALS) -> Counts:
    """Return the instructions of each profile by the number of trials.

    Parameters
    ----------
    target : str
        A key of LINKERS.
    text : str
        LLVM's of the kernels (`device.image.build.export`).
    trials : mapping
        What is counted: of each profile, of which trials.

    Raises
    ------
    subprocess.CalledProcessError
        If something cannot be compiled or run.
    """
    module, machine = optimise(text, {}, TARGETS[target])
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        (directory / "kernels.o").write_bytes(machine.emit_object(module))
        if target == "aarch64":
            plugin = ["cc", "-shared", "-fPIC", "-O2", "-o", "count.so", str(HERE / "count.c")]
            subprocess.run(plugin, cwd=directory, check=True)
        return {
            profile: {str(n): _of_trial(target, profile, n, directory) for n in counted}
            for profile, counted in trials.items()
        }


def _of_trial(target: str, profile: str, trials: int, directory: Path) -> int:
    """Return the instructions of one trial: of a run with it, less those of one without."""
    trial = _comparison(trials) if profile == TUNING else _trial(profile, trials)
    program, arrays = write_driver(calls_of(trial), directory)
    link = [*LINKERS[target], "-static", "-O2", "-o", "driver", program.name, "kernels.o"]
    subprocess.run(link, cwd=directory, check=True, capture_output=True)
    with_it, without = (_count(target, directory, [arrays.name, choice]) for choice in "10")
    return with_it - without


def _trial(profile: str, trials: int) -> Callable[[], None]:
    estimator = copy.deepcopy(estimator_before(AUDIOGRAM, profile, trials))

    def trial() -> None:
        estimator.observe(*answers_of(AUDIOGRAM, profile)[trials - 1])
        BITS.choose(estimator)

    return trial


def _comparison(comparisons: int) -> Callable[[], None]:
    """Return the last of so many comparisons of somebody who wants something."""
    estimator = PreferenceEstimator(
        ranges_db=[(-each.limit_db, each.limit_db) for each in DIMENSIONS],
        prior_sd_db=[each.wish_sd_db for each in DIMENSIONS],
    )
    wearer = SimulatedWearer(WISH_DB)
    for _ in range(comparisons - 1):
        pair = estimator.next_pair()
        estimator.observe(*pair, wearer.answer(*pair))
    pair = estimator.next_pair()
    answer = wearer.answer(*pair)

    def trial() -> None:
        estimator.observe(*pair, answer)
        estimator.next_pair()

    return trial


def _count(target: str, directory: Path, arguments: list[str]) -> int:
    counted = {
        "x86-64": ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"],
        "aarch64": ["qemu-aarch64", "-plugin", "./count.so", "-d", "plugin"],
    }[target]
    run = subprocess.run(
        [*counted, "./driver", *arguments], cwd=directory, check=True, capture_output=True,
        text=True,
    )  # fmt: skip
    found = _COLLECTED.search(run.stderr)
    assert found is not None, run.stderr
    return int(found[1])


def read_counts(file: Path = FILE) -> dict[str, Counts]:
    counts: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    return counts


def rises(counted: dict[str, Counts], before: dict[str, Counts]) -> list[str]:
    """Return, in words, the counts that are more than RISE_MAX times what they were."""
    return [
        f"{target}, {profile}, {trials} trials: {count} instructions, {was} on file"
        for target, of_profile in counted.items()
        for profile, of_trials in of_profile.items()
        for trials, count in of_trials.items()
        if count > RISE_MAX * (was := before[target][profile][trials])
    ]


def as_toml(counts: dict[str, Counts]) -> str:
    """Return the text of the file."""
    lines = ["# Instructions of the kernels of one trial, by target, profile and number of trials."]
    for target, of_profile in counts.items():
        for profile, of_trials in of_profile.items():
            lines += ["", f'["{target}"."{profile}"]']
            lines += [f"{trials} = {count}" for trials, count in of_trials.items()]
    return "\n".join(lines) + "\n"


def as_table(counts: dict[str, Counts]) -> str:
    """Return a Markdown table, in millions."""
    lines = ["| target | profile | trials: instructions of the last |", "|---|---|---|"]
    for target, of_profile in counts.items():
        for profile, of_trials in of_profile.items():
            cells = (f"{n}: {count / 1e6:.2f} M" for n, count in of_trials.items())
            lines.append(f"| {target} | `{profile}` | {', '.join(cells)} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Count what can be counted here; return an exit code, 1 if a count has risen."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.counting.instructions", description="Count instructions of a trial."
    )
    parser.add_argument("--update", action="store_true", help=f"keep the counts in {FILE.name}")
    arguments = parser.parse_args(argv)
    before = read_counts()
    counts = dict(before)
    text = export()
    for target in LINKERS:
        lacks = missing(target)
        if lacks:
            print(f"{target}: not counted, there is no {', no '.join(lacks)}", file=sys.stderr)
        else:
            counts[target] = instructions(target, text)
    print(as_table(counts))
    if arguments.update:
        FILE.write_text(as_toml(counts), encoding="utf-8")
        return 0
    risen = rises(counts, before)
    for line in risen:
        print(line, file=sys.stderr)
    return 1 if risen else 0


if __name__ == "__main__":
    sys.exit(run_program(main))
