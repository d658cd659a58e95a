"""Runs the panel with each rule taken away, and with each constant changed; tells what is lost.

    python -m bench.panel                         # the rules of `rules.py`, a row each
    python -m bench.panel --rules late-start      # some of them
    python -m bench.panel --constants -o FILE     # each constant one step up and one down

Every change is tried with the same people, answers and seeds as nothing is: differences are of
pairs, and stand with the standard error of their mean.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, Final

from bench.panel.changes import Change, install, kernels_with
from bench.panel.constants import constants
from bench.panel.rules import RULES
from firmware_py.inference.library import VARIABLE
from firmware_py.platform.program import run_program
from host_tools.terminal import markdown

NOTHING: Final = "nothing"
Found = Mapping[str, Mapping[str, Any]]  # by test, its `Ending`


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rules", default="", metavar="NAME,...", help="these alone")
    parser.add_argument("--constants", action="store_true", help="constants in place of rules")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one of N tests alone")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("-o", type=Path, metavar="FILE", help="what was found, as JSON lines")
    parser.add_argument("--run", metavar="JSON", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run is not None:
        _run(json.loads(arguments.run), arguments.every)
        return
    wanted = {name for name in arguments.rules.split(",") if name}
    rules = constants() if arguments.constants else RULES
    if unknown := wanted - {*rules}:
        parser.error(f"--rules names {', '.join(sorted(unknown))}; allowed are {', '.join(rules)}")
    chosen = {name: rules[name] for name in rules if not wanted or name in wanted}
    with ThreadPoolExecutor(arguments.workers) as pool:
        names = [NOTHING, *chosen]
        found = pool.map(partial(_in_a_process, arguments.every), [(), *chosen.values()])
        results = dict(zip(names, found, strict=True))
    if arguments.o is not None:
        with arguments.o.open("w") as file:
            for name, by_test in results.items():
                file.write(json.dumps({"without": name, "tests": by_test}) + "\n")
    print(*markdown([HEADS, *rows(results)]), sep="\n")


def _in_a_process(every: int, changes: Sequence[Change]) -> Found:
    """Run all tests in a process of its own, which has imported nothing yet."""
    told = json.dumps([asdict(change) for change in changes])
    done = subprocess.run(
        [sys.executable, "-m", "bench.panel", "--run", told, "--every", str(every)],
        env=os.environ | {VARIABLE: kernels_with(changes)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        return {"error": {"what": done.stderr.strip().splitlines()[-1:]}}
    found: Found = json.loads(done.stdout)
    return found


def rows(results: Mapping[str, Found]) -> Iterator[list[str]]:
    """Yield the rows of the table: of nothing as it is, of each change by how much it differs."""
    base = results[NOTHING]
    for name, found in results.items():
        if "error" in found:
            yield [name, "does not run", *found["error"]["what"], *[""] * (len(MEASURES) - 1)]
            continue
        others = sum(found[test] != base[test] for test in base)
        cells = []
        for measure in MEASURES.values():
            of_base, of_this = (
                {test: value for test in each if (value := measure(each[test])) is not None}
                for each in (base, found)
            )
            if name == NOTHING:
                cells.append(f"{fmean(of_base.values()):.3g}")
            else:
                pairs = [of_this[test] - of_base[test] for test in of_base if test in of_this]
                cells.append(_say(pairs))
        yield [name, f"{others} of {len(base)}", *cells]


def _say(differences: Sequence[float]) -> str:
    """Return a mean difference with its standard error; nothing where there is none."""
    if not any(differences):
        return ""
    error = stdev(differences) / len(differences) ** 0.5
    return f"{fmean(differences):+.2g} ± {error:.2g}"


def _mean_of_thresholds(name: str) -> Callable[[Mapping[str, Any]], float | None]:
    """Return a mean over the measured thresholds of a test, if it has any."""
    return lambda found: found[name] / found["measured"] if found["measured"] else None


def _rms_error(found: Mapping[str, Any]) -> float | None:
    return (found["square_db2"] / found["measured"]) ** 0.5 if found["measured"] else None


# What a table tells of a test: the mean over tests.
MEASURES: Final[dict[str, Callable[[Mapping[str, Any]], float | None]]] = {
    "seconds": lambda found: found["seconds"],
    "tones": lambda found: found["tones"],
    "error, dB": _rms_error,
    "coverage": _mean_of_thresholds("covered"),
    "thresholds": lambda found: found["measured"],
    "uncertain": lambda found: found["uncertain"],
    "silently wrong": lambda found: 100.0 * found["wrong"],
    "doubted": lambda found: 100.0 * found["doubted"],
    "inferred far off": lambda found: 100.0 * found["far_inferred"],
}
HEADS: Final = ["without", "tests that differ", *MEASURES]


def _run(changes: Sequence[dict[str, str]], every: int) -> None:
    check = install([Change(**each) for each in changes])
    from bench.panel.rows import sittings

    found = {str(each): asdict(each.run()) for each in [*sittings()][::every]}
    check()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    sys.exit(run_program(main))
