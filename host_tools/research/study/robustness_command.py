"""`gp-pta study --robustness`: the cases that are asked for, and their table."""

import argparse
from typing import Any

from host_tools.errors import HostError
from host_tools.research.study.ears import EARS_MAX
from host_tools.research.study.ears import Table as EarTable
from host_tools.research.study.robustness import (
    EARS_USUAL,
    SEEDS_USUAL,
    Case,
    SessionFound,
    read_off,
)
from host_tools.research.study.robustness_cases import BY_NAME, CASES
from host_tools.research.study.robustness_sessions import Unit, ears_of_case, run_unit, units_of
from host_tools.research.study.table import Table
from host_tools.terminal import markdown

SEEDS_MAX = 10_000


def table(arguments: argparse.Namespace, ears: EarTable | None) -> Table[Unit, SessionFound]:
    """Return the table that is asked for; of real ears with steep steps are those of `ears`."""
    cases = cases_named(arguments.cases)
    count, seeds = _count(arguments)
    units = [
        unit
        for case in cases
        for unit in sorted(units_of(case, ears_of_case(case, count, ears), seeds), key=_place)
    ]
    return Table(
        units,
        run_unit,
        SessionFound,
        lambda found: [
            row
            for case in cases
            for row in read_off(
                case,
                [each for u, each in zip(units, found, strict=True) if u.case_name == case.name],
            )
        ],
        {"ears": count, "seeds": seeds},
        lambda rows: table_lines(rows, count, seeds),
    )


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


def _place(unit: Unit) -> tuple[str, int]:
    return unit.ear.name, unit.seed


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
