"""`python -m bench.counting.instructions`: how many instructions the kernels of one trial take.

It is the last of so many answers that is counted, inference and selection, the mean of six
listeners: on x86-64 by Valgrind, on AArch64 by QEMU and a plugin. What Python does around the
kernels is counted beside them (`around`). `--update` keeps the counts in instructions.toml, which
tests/bench/test_instructions.py holds them to.
"""

import argparse
import copy
import json
import os
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

from bench.counting.around import BYTES, CASES, KINDS, NO_LIBRARY
from bench.counting.around import TRIALS as ANSWERS
from bench.counting.driver import calls_of, write_driver
from bench.sessions import AUDIOGRAMS, answers_of, estimator_before
from device.image.compile import optimise
from device.image.kernels import export
from device.image.targets import TARGETS
from device.simulator.preferences import SimulatedWearer
from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.ear.objective import BITS
from firmware_py.inference.library import VARIABLE
from firmware_py.inference.preference.estimator import PreferenceEstimator
from firmware_py.platform.program import run_program

HERE: Final = Path(__file__).parent
FILE: Final = HERE / "instructions.toml"
WISH_DB: Final = (4.0, -5.0, 2.0, 0.0)
# Its trials are comparisons of one person: one taken in, and the next pair chosen.
TUNING: Final = "tuning"
TRIALS: Final[dict[str, Sequence[int]]] = {
    **dict.fromkeys(CASES, ANSWERS),
    TUNING: (10, 25, 40),
}
# A target of device/image, and how its programs are linked: by the machine's own compiler where it
# can, because another has to compile a C library first.
_ZIG: Final = (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=all")
LINKERS: Final = {"x86-64": ("cc",), "aarch64": (*_ZIG, "-target", "aarch64-linux-musl")}
_COLLECTED: Final = re.compile(r"Collected : (\d+)")

# Of a count, that nobody has to answer for; bytes are few, and Python's own make half of them.
RISE_MAX: Final = 1.05
RISE_OF_BYTES_MAX: Final = 1.5

Counts = dict[str, dict[str, int]]


def missing(target: str) -> list[str]:
    programs = {"x86-64": ["valgrind", "cc"], "aarch64": ["qemu-aarch64", "cc"]}[target]
    lacks = [program for program in programs if shutil.which(program) is None]
    if target == "x86-64" and platform.machine() != "x86_64":
        lacks.append("x86-64 machine")
    if target == "aarch64" and find_spec("ziglang") is None:
        lacks.append("ziglang")
    return lacks


def instructions(target: str, text: str, trials: Mapping[str, Sequence[int]] = TRIALS) -> Counts:
    """Return the instructions of each case by the number of trials, of LLVM's text of the kernels.

    `target` is a key of LINKERS; `trials` says what is counted: of each case, of which trials.
    """
    module, machine = optimise(text, {}, TARGETS[target])
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        (directory / "kernels.o").write_bytes(machine.emit_object(module))
        if target == "aarch64":
            plugin = ["cc", "-shared", "-fPIC", "-O2", "-o", "count.so", str(HERE / "count.c")]
            subprocess.run(plugin, cwd=directory, check=True)
        return {
            case: {str(n): _of_trial(target, case, n, directory) for n in counted}
            for case, counted in trials.items()
        }


def _of_trial(target: str, case: str, n: int, directory: Path) -> int:
    """Return the instructions of one trial: of a run with some, less those of one without."""
    trials = [_comparison(n)] if case == TUNING else [_trial(a, case, n) for a in AUDIOGRAMS]
    calls = [call for trial in trials for call in calls_of(trial)]
    program, arrays = write_driver(calls, directory)
    link = [*LINKERS[target], "-static", "-O2", "-o", "driver", program.name, "kernels.o"]
    subprocess.run(link, cwd=directory, check=True, capture_output=True)
    with_them, without = (_count(target, directory, [arrays.name, choice]) for choice in "10")
    return round((with_them - without) / len(trials))


def _trial(audiogram: str, case: str, n: int) -> Callable[[], None]:
    estimator = copy.deepcopy(estimator_before(audiogram, case, n))

    def trial() -> None:
        estimator.observe(*answers_of(audiogram, case)[n - 1])
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


def around(cases: Sequence[str] = CASES) -> dict[str, Counts]:
    """Return what Python does around the kernels; nothing, if there is no library of them."""
    command = [sys.executable, "-m", "bench.counting.around", *cases]
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    run = subprocess.run(
        command, cwd=HERE.parents[1], env=environment, check=False, stdout=subprocess.PIPE
    )
    if run.returncode == NO_LIBRARY:
        return {}
    run.check_returncode()
    found: dict[str, Counts] = json.loads(run.stdout)
    return found


def read_counts(file: Path = FILE) -> dict[str, Counts]:
    counts: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    return counts


def rises(counted: dict[str, Counts], before: dict[str, Counts]) -> list[str]:
    """Return, in words, the counts that are more than so many times what they were."""
    return [
        f"{of}, {case}, {trials} trials: {count}, {was} on file"
        for of, of_case in counted.items()
        for case, of_trials in of_case.items()
        for trials, count in of_trials.items()
        if count > _rise_max(of) * (was := before[of][case][trials])
    ]


def _rise_max(of: str) -> float:
    return RISE_OF_BYTES_MAX if of == BYTES else RISE_MAX


def as_toml(counts: dict[str, Counts]) -> str:
    lines = [
        "# The last of so many trials: instructions of the kernels, by target; calls of functions",
        "# around them, and the most bytes taken at once. Means of six listeners.",
    ]
    for of, of_case in counts.items():
        for case, of_trials in of_case.items():
            lines += ["", f'["{of}"."{case}"]']
            lines += [f"{trials} = {count}" for trials, count in of_trials.items()]
    return "\n".join(lines) + "\n"


def as_table(counts: dict[str, Counts]) -> str:
    """Return a Markdown table, a row a case; instructions in millions."""

    def cell(of: str, case: str) -> str:
        found = counts[of].get(case, {}).values()
        return " · ".join(str(n) if of in KINDS else f"{n / 1e6:.2f}" for n in found)

    lines = [f"| case | trials | {' | '.join(counts)} |", "|---|---|" + "---|" * len(counts)]
    for case, trials in TRIALS.items():
        cells = (cell(of, case) for of in counts)
        lines.append(f"| `{case}` | {' · '.join(map(str, trials))} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Count what can be counted here; return an exit code, 1 if a count has risen."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.counting.instructions", description="Count instructions of a trial."
    )
    parser.add_argument("--update", action="store_true", help=f"keep the counts in {FILE.name}")
    arguments = parser.parse_args(argv)
    before, of_python = read_counts(), around()
    counts = before | of_python
    if not of_python:
        print("calls: not counted, there is no library: make kernels", file=sys.stderr)
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
