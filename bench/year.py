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
# A list of a directory, and what is asked of it; in this order, and the index of one is there for
# the next. A year is a tenth of the journals.
LISTS: Final[dict[str, tuple[str, ...]]] = {
    "first list": (),
    "second list": (),
    "list of one person": ("--identifier", "P-17"),
    "list of a month": ("--since", "2020-03-01", "--until", "2020-03-31"),
    "list by device and verdict": ("--device", "N-*", "--verdict", "doubtful"),
    "list of what was valid, as JSON": ("--outcome", "complete", "--json"),
    "people of a year, replayed": PEOPLE,
    "people of a year, from the index": PEOPLE,
    "one person, from the index": ("--people", "--identifier", "P-1"),
    "answers of a year, from the index": ANSWERS,
}


class Cost(NamedTuple):
    processor_s: float
    peak_mb: float
    journals_opened: int

    def __str__(self) -> str:
        return f"{self.processor_s:.2f} s | {self.peak_mb:.0f} MB | {self.journals_opened}"


def places(directory: Path) -> list[str]:
    """Return what a list is made of."""
    return [str(directory)]


def start(directory: Path) -> None:
    """Start a firmware there, until it has met its board."""
    world = World(directory, a_listener())
    world.until(lambda: bool(world.ready))
    world.close()


def show(directory: Path, words: Sequence[str]) -> None:
    out = str(directory.with_name("answers"))
    gp_pta(["sessions", *places(directory), *(word.replace(OUT, out) for word in words)])


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


def table(journals: int, directory: Path) -> list[str]:
    """Make the journals of a year, and one directory with few, and return a row for each cost."""
    few, all_there = len(KINDS) + journals % len(KINDS), directory / "all"
    for place, count in ((directory / "few", few), (all_there, journals)):
        place.mkdir()
        write_journals(place, count, DEVICE)
    costs = {
        f"{START}, {few} journals": apart(START, directory / "few", directory),
        START: apart(START, all_there, directory),
        **{name: apart(name, all_there, directory) for name in LISTS},
    }
    heads = ["what", "processor time", "peak memory", "journals opened"]
    kept = sum(each.stat().st_size for each in (directory / "gp-pta").iterdir())
    return [
        f"{journals} journals; {machine()}; the index has {kept / 1e6:.1f} MB",
        "",
        "| " + " | ".join(heads) + " |",
        "|---" * len(heads) + "|",
        *(f"| {name} | {cost} |" for name, cost in costs.items()),
    ]


def main(arguments: list[str]) -> int:
    p = argparse.ArgumentParser(prog="python -m bench.year")
    p.add_argument("--journals", type=int, default=2000, help="in the directory (default: 2000)")
    p.add_argument("--row", help=argparse.SUPPRESS)
    p.add_argument("--at", type=Path, help=argparse.SUPPRESS)
    given = p.parse_args(arguments)
    if given.row is None:
        with tempfile.TemporaryDirectory() as directory:
            print(*table(given.journals, Path(directory)), sep="\n")
        return 0
    do = start if given.row == START else lambda at: show(at, LISTS[given.row])
    print(json.dumps(cost_of(lambda: do(given.at))), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(run_program(lambda: main(sys.argv[1:])))
