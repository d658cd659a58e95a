"""Live through many stories on all processors: `make soak`; or through one, to see why it fails."""

import argparse
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple, Protocol, Self

from tests.simulation.clinic import live_through
from tests.simulation.run import Outcome, check
from tests.simulation.story import CABLE, draw
from tests.simulation.violation import Violation
from tests.simulation.year import draw_year

SEEDS_AT_ONCE: Final = 10  # for a process
SEEDS_A_LINE: Final = 500
SEEDS_A_YEAR: Final = 100  # of devices; a year takes as long as some twenty of them
FAILURES_MAX: Final = 5  # more of them teach nothing

Parts = tuple[frozenset[int], frozenset[str]]  # numbers of troubles, and what befalls a line


class Shrinkable(Protocol):
    """What can be cut down: a story, or a year."""

    @property
    def troubles(self) -> Sequence[Any]: ...

    def kinds(self) -> list[str]: ...

    def only(self, numbers: Collection[int], cable: Collection[str]) -> Self: ...


class Kind(NamedTuple):
    """What is lived through: by which option one is seen again, drawn how, and lived how."""

    option: str
    draw: Callable[[int], Any]
    live: Callable[[Any], Outcome]
    shrink_runs_max: int


DEVICE, BONE, YEAR = "device", "bone", "year"
KINDS: Final = {
    DEVICE: Kind("--seed {}", draw, check, 200),
    BONE: Kind("--bone --seed {}", lambda seed: draw(seed).by_bone(), check, 200),
    YEAR: Kind("--year {}", draw_year, live_through, 40),
}
Work = tuple[str, int]  # kind and seed


def outcome_of(work: Work) -> tuple[Work, Outcome | str]:
    kind, seed = KINDS[work[0]], work[1]
    try:
        return work, kind.live(kind.draw(seed))
    except Violation as violation:
        return work, str(violation)


def soak(work: Iterable[Work], workers: int) -> int:
    """Live through all of this, or until ^C; return how many failed."""
    began_s, total, met, failures = time.monotonic(), Counter[str](), Counter[str](), 0
    with (
        multiprocessing.get_context("spawn").Pool(workers, _leave_control_c) as pool,
        suppress(KeyboardInterrupt),
    ):
        for (name, seed), outcome in pool.imap_unordered(outcome_of, work, SEEDS_AT_ONCE):
            if isinstance(outcome, Outcome):
                total["seeds"] += 1
                total["years"] += name == YEAR
                total["sessions"] += outcome.sessions
                total["starts"] += outcome.lives
                total["lines"] += outcome.lines
                total["seconds"] += round(outcome.simulated_s)
                met.update(outcome.met)
                if total["seeds"] % SEEDS_A_LINE == 0:
                    print(f"{total['seeds']} seeds, {failures} failed", flush=True)
                continue
            failures += 1
            report(KINDS[name], seed, outcome)
            if failures >= FAILURES_MAX:
                break
    took_s = time.monotonic() - began_s
    print(
        f"{total['seeds']} seeds lived through, of these {total['years']} of a clinic's year, "
        f"{failures} failed; {total['sessions']} sessions, "
        f"{total['starts']} starts of the firmware, {total['lines']} lines typed; "
        f"{total['seconds'] / 3600.0:.1f} h in {took_s:.0f} s on {workers} processors"
    )
    print("; ".join(f"{kind} {count}" for kind, count in met.most_common()))
    return failures


def shrunk(story: Shrinkable, fails: Callable[[Any], bool], runs_max: int = 200) -> Parts:
    """Return what has to be kept of a story, so that it still fails.

    Kind by kind at first, then one by one, until nothing more can be left out.
    """
    kept: Parts = frozenset(range(len(story.troubles))), frozenset[str](CABLE) & set(story.kinds())
    runs = 0
    while runs < runs_max:
        for fewer in _fewer(story, kept):
            runs += 1
            if fails(story.only(*fewer)):
                kept = fewer
                break
            if runs >= runs_max:
                break
        else:
            break
    return kept


def _fewer(story: Shrinkable, kept: Parts) -> Iterator[Parts]:
    numbers, cable = kept
    for kind in dict.fromkeys(story.troubles[number].kind for number in sorted(numbers)):
        yield frozenset(n for n in numbers if story.troubles[n].kind != kind), cable
    for name in sorted(cable):
        yield numbers, cable - {name}
    for number in sorted(numbers):
        yield numbers - {number}, cable


def _leave_control_c() -> None:
    """Have ^C end this process's work only when the first process says so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def report(kind: Kind, seed: int, why: str) -> None:
    """Say what failed, in as short a story as fails as well, and how to see it again."""

    def fails(shorter: Any) -> bool:
        try:
            kind.live(shorter)
        except Violation:
            return True
        return False

    story = kind.draw(seed)
    print(f"seed {seed} FAILED: {why}", flush=True)
    kept = shrunk(story, fails, kind.shrink_runs_max)
    print(story.only(*kept))
    print(f"again: {command(kind, seed, kept)}\n", flush=True)


def command(kind: Kind, seed: int, kept: Parts) -> str:
    numbers, cable = ",".join(map(str, sorted(kept[0]))), ",".join(sorted(kept[1]))
    what = kind.option.format(seed)
    return f"python -m tests.simulation.soak {what} --troubles '{numbers}' --cable '{cable}'"


def once(kind: Kind, story: Any) -> int:
    print(story)
    try:
        outcome = kind.live(story)
    except Violation as violation:
        print(f"FAILED: {violation}")
        return 1
    print(f"lived through: {outcome}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seeds", type=int, default=2000, help="how many (default: 2000)")
    p.add_argument("--first", type=int, default=0, help="the first of them (default: 0)")
    p.add_argument("--years", type=int, help=f"of a clinic (default: one for {SEEDS_A_YEAR} seeds)")
    p.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    p.add_argument("--seed", type=int, help="one story instead")
    p.add_argument("--year", type=int, help="one year instead")
    p.add_argument("--troubles", metavar="N,...", help="only these of its troubles, or visits")
    p.add_argument("--cable", metavar="NAME,...", help=f"only these of {', '.join(CABLE)}")
    p.add_argument("--bone", action="store_true", help="every story with a test by bone")
    a = p.parse_args(argv)
    name = BONE if a.bone else DEVICE
    if a.seed is None and a.year is None:
        years = a.seeds // SEEDS_A_YEAR if a.years is None else a.years
        work = [(YEAR, seed) for seed in range(a.first, a.first + years)]
        work += [(name, seed) for seed in range(a.first, a.first + a.seeds)]
        return int(soak(work, a.workers) > 0)
    name, seed = (name, a.seed) if a.year is None else (YEAR, a.year)
    story = KINDS[name].draw(seed)
    numbers = range(len(story.troubles)) if a.troubles is None else _split(a.troubles)
    cable = CABLE if a.cable is None else _split(a.cable)
    return once(KINDS[name], story.only({int(number) for number in numbers}, cable))


def _split(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


if __name__ == "__main__":
    sys.exit(main())
