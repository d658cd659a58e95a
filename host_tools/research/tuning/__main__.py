"""`python -m host_tools.research.tuning`: the same simulated people tuned in several ways.

Prints how far off they are left after so many comparisons, and how the firmware's own procedure
ends with people who answer badly. `--peer PYTHON` has AEPsych tune the first of them too, in the
environment that `make bench-peers` makes; `--picture FILE` draws the regret.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from device.simulator.preferences import PEOPLE
from firmware_py.inference.preference.arrays import UNIT_DB
from firmware_py.procedure.tuning.outcomes import Finding
from host_tools.drawing import PICTURE_ENDINGS
from host_tools.errors import HostError
from host_tools.files import check_name
from host_tools.research.tuning.methods import COMPARISONS, METHODS, settings_of
from host_tools.research.tuning.people import LIMIT_DB, Somebody, drawn_people
from host_tools.research.tuning.picture import draw_regret
from host_tools.research.tuning.procedure import Ended, ended

ROOT: Final = Path(__file__).parents[3]
AFTER: Final = (5, 10, 15, 20, 25)
NEAR_DB: Final = 3.0
THIRD: Final = 1.0 / 3.0

Settings = Sequence[Sequence[float]]  # of a person: before the first comparison, and after each


def main(argv: Sequence[str] | None = None) -> int:
    """Tune, print the tables, and draw."""
    arguments = _parser().parse_args(argv)
    try:
        if arguments.people < 1:
            raise HostError(f"--people is {arguments.people}; allowed is 1 and more")
        if arguments.picture is not None:
            check_name(arguments.picture, "--picture", PICTURE_ENDINGS, force=True)
    except HostError as error:
        print(error, file=sys.stderr)
        return 2
    people = drawn_people(arguments.people, arguments.seed)
    with multiprocessing.get_context("spawn").Pool(arguments.workers) as pool:
        tasks = [(name, somebody) for name in METHODS for somebody in people]
        done = pool.starmap(settings_of, tasks, chunksize=4)
        found = {name: done[k * len(people) :][: len(people)] for k, name in enumerate(METHODS)}
        groups = {kind: drawn_people(arguments.people, arguments.seed, kind) for kind in PEOPLE}
        endings = {kind: pool.map(ended, group, chunksize=4) for kind, group in groups.items()}
    print(*method_table(people, found), "", sep="\n")
    if arguments.peer:
        few = people[: arguments.peer_people]
        theirs: dict[str, Sequence[Settings]] = {n: found[n][: len(few)] for n in METHODS}
        theirs |= of_peer(arguments.peer, few)
        print(f"The first {len(few)} of them:", "", *method_table(few, theirs), "", sep="\n")
    print(*ending_table(endings), sep="\n")
    if arguments.picture is not None:
        draw_regret({n: _regrets(people, each) for n, each in found.items()}, arguments.picture)
    return 0


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="python -m host_tools.research.tuning", description=__doc__)
    p.add_argument("--people", type=int, default=200)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    p.add_argument("--peer", metavar="PYTHON", help="the interpreter that has AEPsych")
    p.add_argument("--peer-people", type=int, default=16, help="that it tunes (default: 16)")
    p.add_argument("--picture", type=Path, metavar="FILE")
    return p


def method_table(
    people: Sequence[Somebody], found: Mapping[str, Sequence[Settings]]
) -> Iterable[str]:
    """Yield the lines of the table: what is left of the prescription's regret, and how near."""
    heads = " | ".join(f"after {count}" for count in AFTER)
    near = f"each within {NEAR_DB:g} dB, after {COMPARISONS}"
    yield f"| method | {heads} | comparisons to a third | RMS within {NEAR_DB:g} dB | {near} |"
    yield "|---" * (len(AFTER) + 4) + "|"
    for name, settings in found.items():
        regrets = _regrets(people, settings)
        left = [_left(regrets, count) for count in range(COMPARISONS + 1)]
        shares = " | ".join(f"{100.0 * left[count]:.0f} %" for count in AFTER)
        third = next((str(count) for count, share in enumerate(left) if share <= THIRD), "-")
        rms = _share(_rms_db(*pair) <= NEAR_DB for pair in zip(people, settings, strict=True))
        each = _share(_worst_db(*pair) <= NEAR_DB for pair in zip(people, settings, strict=True))
        yield f"| {name} | {shares} | {third} | {rms} | {each} |"


def ending_table(endings: Mapping[str, Sequence[Ended]]) -> Iterable[str]:
    """Yield the lines of the table of how tunings end."""
    yield "| who | a wish found | found, unsure | none | comparisons | seconds | regret left |"
    yield "|---|---|---|---|---|---|---|"
    for kind, each in endings.items():
        findings = [
            _share(one.finding == finding for one in each)
            for finding in (Finding.WISH, Finding.UNSURE, Finding.NONE)
        ]
        comparisons = statistics.median(one.comparisons for one in each)
        seconds = statistics.median(one.seconds for one in each)
        left = statistics.mean(one.regret for one in each)
        yield (
            f"| {kind}: {PEOPLE[kind]} | {' | '.join(findings)} | {comparisons:g} | {seconds:.0f} "
            f"| {100.0 * left:.0f} % |"
        )


def of_peer(python: str, people: Sequence[Somebody]) -> dict[str, list[Settings]]:
    """Have AEPsych tune people, in its own environment."""
    told = {
        "people": [somebody.as_json() for somebody in people],
        "unit_db": UNIT_DB,
        "limit_db": min(LIMIT_DB),
        "comparisons": COMPARISONS,
    }
    done = subprocess.run(
        [os.path.abspath(python), "-W", "ignore", "-m", "bench.peers.preferences"],
        input=json.dumps(told), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=True, env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    found: dict[str, list[Settings]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _regrets(people: Sequence[Somebody], settings: Sequence[Settings]) -> list[list[float]]:
    """Return the regret of each person (rows) after each comparison."""
    pairs = zip(people, settings, strict=True)
    return [[somebody.regret(each) for each in found] for somebody, found in pairs]


def _left(regrets: Sequence[Sequence[float]], count: int) -> float:
    """Return the mean regret after so many comparisons, over that of the prescription."""
    return sum(each[count] for each in regrets) / sum(each[0] for each in regrets)


def _rms_db(somebody: Somebody, settings: Settings) -> float:
    return UNIT_DB * float((2.0 * somebody.regret(settings[-1]) / len(LIMIT_DB)) ** 0.5)


def _worst_db(somebody: Somebody, settings: Settings) -> float:
    return max(abs(a - b) for a, b in zip(settings[-1], somebody.wish_db, strict=True))


def _share(each: Iterable[bool]) -> str:
    flags = list(each)
    return f"{100.0 * sum(flags) / len(flags):.0f} %"


if __name__ == "__main__":
    sys.exit(main())
