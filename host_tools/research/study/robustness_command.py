"""`gp-pta study --robustness`: run the cases, and print the table."""

import argparse
import json
from typing import Any

from host_tools.errors import HostError
from host_tools.research.study.ears import EARS_MAX, Table
from host_tools.research.study.robustness import (
    EARS_USUAL,
    SEEDS_USUAL,
    Case,
    SessionFound,
    read_off,
)
from host_tools.research.study.robustness_cases import BY_NAME, CASES
from host_tools.research.study.robustness_sessions import ears_of_case, run_unit, units_of
from host_tools.research.study.work import all_done, one_thread
from host_tools.terminal import markdown

SEEDS_MAX = 10_000


def robustness(arguments: argparse.Namespace, table: Table | None, workers: int) -> int:
    """Run the cases, and print the table; exit status 0 whether the goals are met or not."""
    cases = cases_named(arguments.cases)
    count, seeds = _count(arguments)
    one_thread()
    units = [
        unit for case in cases for unit in units_of(case, ears_of_case(case, count, table), seeds)
    ]
    by_case: dict[str, list[tuple[str, int, SessionFound]]] = {case.name: [] for case in cases}
    for case_name, ear, seed, found in all_done(run_unit, units, workers):
        by_case[case_name].append((ear, seed, found))
    rows: list[dict[str, Any]] = []
    for case in cases:
        # In one order whoever was done first, so that sums have the same bits.
        sessions = sorted(by_case[case.name], key=lambda each: each[:2])
        rows += read_off(case, [found for _, _, found in sessions])
    if arguments.json:
        print(json.dumps({"ears": count, "seeds": seeds, "rows": rows}))
    else:
        print("\n".join(table_lines(rows, count, seeds)))
    return 0


def cases_named(text: str | None) -> tuple[Case, ...]:
    """Return the cases that are named with commas; all if none is."""
    if text is None:
        return CASES
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in BY_NAME:
            raise HostError(f"--cases has {name!r}; allowed are {', '.join(BY_NAME)}")
    return tuple(case for case in CASES if case.name in names)


def table_lines(rows: list[dict[str, Any]], ears: int, seeds: int) -> list[str]:
    """Return the table in Markdown, which is read as well as it is pasted."""
    cells = [["case", "number", "wanted", "found", "met"]]
    before = ""
    for row in rows:
        cells.append(
            [
                "" if row["title"] == before else row["title"],
                row["what"],
                row["wanted"],
                row["shown"],
                _say_met(row),
            ]
        )
        before = row["title"]
    return [f"{ears} ears x {seeds} seeds a row", "", *markdown(cells)]


def _say_met(row: dict[str, Any]) -> str:
    if not row["sessions"]:
        return "needs --audiograms FILE"
    return {True: "yes", False: "no", None: ""}[row["met"]]


def _count(arguments: argparse.Namespace) -> tuple[int, int]:
    count = EARS_USUAL if arguments.ears is None else arguments.ears
    seeds = SEEDS_USUAL if arguments.seeds is None else arguments.seeds
    for option, value, high in (("--ears", count, EARS_MAX), ("--seeds", seeds, SEEDS_MAX)):
        if not 1 <= value <= high:
            raise HostError(f"{option} is {value}; allowed are whole numbers 1 to {high}")
    return count, seeds
