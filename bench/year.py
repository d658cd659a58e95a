"""A year's journals on one device: ``python -m bench.year --journals 10000`` prints a table.

What a start of the firmware and each list cost, in a process of its own: processor time, the most
memory it had, and how many journals it opened. The journals are recorded ones under other headers.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench.many_tests import memory_mb
from bench.markdown_tables import machine
from device.simulator.world import World
from firmware_py.platform.program import run_program
from host_tools.main import main as gp_pta
from tests.firmware.whole_sessions import a_listener
from tests.host.journals import KINDS, write_journals

DEVICE: Final = "N-1"
START: Final = "start of the firmware"
OUT: Final = "{out}"  # stands for the directory that answers go to
YEAR: Final = ("--since", "2020-01-01", "--until", "2020-12-31")
PEOPLE: Final = (*YEAR, "--people", "--json")
ANSWERS: Final = (*YEAR, "--answers", "--force", "--export", OUT)
PEAK_MB_MAX: Final = 200.0
ABOVE_FEW: Final = (0.1, 10.0)  # seconds and MB of a start with many journals above one with few


class List(NamedTuple):
    """A list of the directory, and at most how much processor time it may take: with N journals."""

    words: tuple[str, ...]
    fixed_s: float
    journal_ms: float = 0.0  # for each of the N
    opens: bool = False  # journals, beyond what the index has


# In this order: the index of one is there for the next. A year is a tenth of the journals.
LISTS: Final[dict[str, List]] = {
    "first list": List((), 0.2, 3.0, opens=True),
    "second list": List((), 0.2, 0.2),
    "list of one person": List(("--identifier", "P-17"), 0.2),
    "list of a month": List(("--since", "2020-03-01", "--until", "2020-03-31"), 0.2),
    "list by device and verdict": List(("--device", "N-*", "--verdict", "doubtful"), 0.2),
    "list of what was valid, as JSON": List(("--outcome", "complete", "--json"), 0.2, 0.2),
    "people of a year, replayed": List(PEOPLE, 1.0, 20.0, opens=True),
    "people of a year, from the index": List(PEOPLE, 1.0, 0.5),
    "one person, replayed": List(("--people", "--identifier", "P-1"), 2.0, opens=True),
    "answers of a year, from the index": List(ANSWERS, 1.0, 2.0, opens=True),
}


class Cost(NamedTuple):
    processor_s: float
    peak_mb: float
    journals_opened: int

    def __str__(self) -> str:
        return f"{self.processor_s:.2f} s | {self.peak_mb:.0f} MB | {self.journals_opened}"

    def is_within(self, most: "Cost") -> bool:
        return all(mine <= yours for mine, yours in zip(self, most, strict=True))


def start(directory: Path) -> None:
    """Start a firmware there, until it has met its board."""
    world = World(directory, a_listener())
    world.until(lambda: bool(world.ready))
    world.close()


def show(directory: Path, words: Sequence[str]) -> None:
    out = str(directory.with_name("answers"))
    gp_pta(["sessions", str(directory), *(word.replace(OUT, out) for word in words)])


def cost_of(do: Callable[[], None]) -> Cost:
    """Return what this process has used to do it, the imports before it apart."""
    opened = 0

    def count(event: str, about: tuple[Any, ...]) -> None:
        nonlocal opened
        opened += event == "open" and str(about[0]).endswith(".journal")

    before_s = processor_s()
    sys.addaudithook(count)
    do()
    return Cost(processor_s() - before_s, memory_mb(os.getpid())[1], opened)


def processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def apart(what: str, directory: Path, cache: Path) -> Cost:
    """Return what a row of the table costs, in a process of its own."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    ended = subprocess.run(
        [sys.executable, "-m", "bench.year", "--row", what, "--at", str(directory)],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return Cost(*json.loads(ended.stderr.splitlines()[-1]))


def table(journals: int, directory: Path) -> tuple[list[str], bool]:
    """Make the journals of a year, and one directory with few; return what each costs, and may.

    And whether all is within what it may.
    """
    few, all_there = len(KINDS) + journals % len(KINDS), directory / "all"
    for place, count in ((directory / "few", few), (all_there, journals)):
        place.mkdir()
        write_journals(place, count, DEVICE)
    with_few = apart(START, directory / "few", directory)
    start_most = Cost(with_few.processor_s + ABOVE_FEW[0], with_few.peak_mb + ABOVE_FEW[1], 1)
    rows = {
        f"{START}, {few} journals": (with_few, with_few),
        START: (apart(START, all_there, directory), start_most),
    }
    for name, of in LISTS.items():
        most_s = of.fixed_s + 1e-3 * of.journal_ms * journals
        most = Cost(most_s, PEAK_MB_MAX, 5 * journals if of.opens else 0)
        rows[name] = (apart(name, all_there, directory), most)
    heads = ["what", "processor time", "peak memory", "journals opened", "and at most"]
    kept = sum(each.stat().st_size for each in (directory / "gp-pta").iterdir())
    lines = [
        f"{journals} journals; {machine()}; the index has {kept / 1e6:.1f} MB",
        "",
        "| " + " | ".join(heads) + " |",
        "|---" * len(heads) + "|",
        *(
            f"| {name} | {cost} | {str(most).replace(' |', ',')} |"
            for name, (cost, most) in rows.items()
        ),
    ]
    return lines, all(cost.is_within(most) for cost, most in rows.values())


def main(arguments: list[str]) -> int:
    p = argparse.ArgumentParser(prog="python -m bench.year")
    p.add_argument("--journals", type=int, default=2000, help="in the directory (default: 2000)")
    p.add_argument("--row", help=argparse.SUPPRESS)
    p.add_argument("--at", type=Path, help=argparse.SUPPRESS)
    given = p.parse_args(arguments)
    if given.row is None:
        with tempfile.TemporaryDirectory() as directory:
            lines, is_within = table(given.journals, Path(directory))
        print(*lines, "" if is_within else "\nsomething takes more than it may", sep="\n")
        return 0 if is_within else 1
    do = start if given.row == START else lambda at: show(at, LISTS[given.row].words)
    print(json.dumps(cost_of(lambda: do(given.at))), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(sys.argv[1:])))
