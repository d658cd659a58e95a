"""Runs the panel with each rule taken away, and with each constant changed; tells what is lost.

    python -m bench.panel                         # the rules of `rules.py`, a row each
    python -m bench.panel --rules late-start      # some of them
    python -m bench.panel --constants -o FILE     # each constant one step up and one down

Every change is tried with the same people, answers and seeds as nothing is: differences are of
pairs, and stand with the standard error of their mean. `-o FILE` keeps what each test gave.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
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
RULE_ERRORS: Final = 2.0  # what moves by no more standard errors is not shown
CONSTANT_ERRORS: Final = 3.0  # of so many constants
WAYS: Final = ("up", "down")
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
    lines = constant_lines if arguments.constants else rule_lines
    print(*lines(results), sep="\n")


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


def rule_lines(results: Mapping[str, Found]) -> list[str]:
    """Return what each rule is worth: the table of the page, of those without which a mean moves.

    Before it stand the means with all rules, after it the other rules.
    """
    told = _told(results, RULE_ERRORS, [name for name in MEASURES if name != "tones"])
    means = {name: _by_test(results[NOTHING], name).values() for name in MEASURES}
    head = ["without", f"tests that differ, of {len(results[NOTHING])}", "what moves"]
    rows = [[name, differ, what] for name, (differ, what) in told.items() if what]
    others = [f"{name} ({differ})" for name, (differ, what) in told.items() if not what]
    return [
        "; ".join(f"{name} {fmean(values):.3g}" for name, values in means.items() if values),
        "",
        *markdown([head, *rows]),
        *(["", f"no mean so far: {', '.join(others)}"] if others else []),
    ]


def constant_lines(results: Mapping[str, Found]) -> list[str]:
    """Return the table of the page, of the constants a step of which moves a mean."""
    told = _told(results, CONSTANT_ERRORS, MEASURES)
    rows: dict[str, dict[str, tuple[str, str]]] = {}
    for name, said in told.items():
        constant, _, way = name.partition(" ")
        rows.setdefault(constant, {})[way] = said
    cells = [
        [f"`{constant}`", *(": ".join(ways[way]) if way in ways else "" for way in WAYS)]
        for constant, ways in rows.items()
        if any(what for _, what in ways.values())
    ]
    return markdown([["constant", *WAYS], *cells])


def _told(
    results: Mapping[str, Found], errors: float, names: Iterable[str]
) -> dict[str, tuple[str, str]]:
    """Return of each change how many tests differ, and what moves by so many standard errors."""
    base = results[NOTHING]
    told: dict[str, tuple[str, str]] = {}
    for change, found in results.items():
        if "error" in found:
            told[change] = ("-", " ".join(["does not run", *found["error"]["what"]]))
        elif change != NOTHING:
            moved = {name: _moved(base, found, name, errors) for name in names}
            what = "; ".join(f"{name} {by}" for name, by in moved.items() if by)
            told[change] = (str(sum(found[test] != base[test] for test in base)), what)
    return told


def _moved(base: Found, found: Found, name: str, errors: float) -> str:
    """Return a mean difference with its standard error; nothing where it is not that large."""
    before, after = _by_test(base, name), _by_test(found, name)
    differences = [after[test] - before[test] for test in before if test in after]
    if not any(differences):
        return ""
    mean, error = fmean(differences), stdev(differences) / len(differences) ** 0.5
    return f"{mean:+.2g} ± {error:.2g}" if abs(mean) > errors * error else ""


def _by_test(found: Found, name: str) -> dict[str, float]:
    """Return a measure of each test that has it."""
    values = {test: MEASURES[name](each) for test, each in found.items()}
    return {test: value for test, value in values.items() if value is not None}


def _mean_of_thresholds(name: str) -> Callable[[Mapping[str, Any]], float | None]:
    """Return a mean over the measured thresholds of a test, if it has any."""
    return lambda found: found[name] / found["measured"] if found["measured"] else None


def _rms_error(found: Mapping[str, Any]) -> float | None:
    return (found["square_db2"] / found["measured"]) ** 0.5 if found["measured"] else None


# What a table tells of a test: the mean over tests; shares in %, the error in dB.
MEASURES: Final[dict[str, Callable[[Mapping[str, Any]], float | None]]] = {
    "seconds": lambda found: found["seconds"],
    "tones": lambda found: found["tones"],
    "error": _rms_error,
    "coverage": _mean_of_thresholds("covered"),
    "thresholds": lambda found: found["measured"],
    "uncertain": lambda found: found["uncertain"],
    "silently wrong": lambda found: 100.0 * found["wrong"],
    "no valid test": lambda found: 100.0 * found["doubted"],
    "inferred far off": lambda found: 100.0 * found["far_inferred"],
}


def _run(changes: Sequence[dict[str, str]], every: int) -> None:
    check = install([Change(**each) for each in changes])
    from bench.panel.rows import sittings

    found = {str(each): asdict(each.run()) for each in [*sittings()][::every]}
    check()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    sys.exit(run_program(main))
