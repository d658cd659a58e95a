"""Live through many stories on all processors: `make soak`; or through one, to see why it fails."""

import argparse
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from tests.simulation.run import Outcome, check
from tests.simulation.story import CABLE, Story, draw
from tests.simulation.violation import Violation

SEEDS_AT_ONCE: Final = 10  # for a process
SEEDS_A_LINE: Final = 500
FAILURES_MAX: Final = 5  # more of them teach nothing

Parts = tuple[frozenset[int], frozenset[str]]  # numbers of troubles, and what befalls a line


def story_of(seed: int, *, bone: bool) -> Story:
    return draw(seed).by_bone() if bone else draw(seed)


def outcome_of(seed: int, *, bone: bool) -> tuple[int, Outcome | str]:
    try:
        return seed, check(story_of(seed, bone=bone))
    except Violation as violation:
        return seed, str(violation)


def soak(seeds: Iterable[int], workers: int, *, bone: bool = False) -> int:
    """Live through all these stories, or until ^C; return how many failed."""
    began_s, total, met, failures = time.monotonic(), Counter[str](), Counter[str](), 0
    with (
        multiprocessing.get_context("spawn").Pool(workers, _leave_control_c) as pool,
        suppress(KeyboardInterrupt),
    ):
        for seed, outcome in pool.imap_unordered(
            partial(outcome_of, bone=bone), seeds, SEEDS_AT_ONCE
        ):
            if isinstance(outcome, Outcome):
                total["seeds"] += 1
                total["sessions"] += len(outcome.results)
                total["starts"] += outcome.lives
                total["lines"] += outcome.lines
                total["seconds"] += round(outcome.simulated_s)
                met.update(outcome.met)
                if total["seeds"] % SEEDS_A_LINE == 0:
                    print(f"{total['seeds']} seeds, {failures} failed", flush=True)
                continue
            failures += 1
            report(story_of(seed, bone=bone), outcome, bone=bone)
            if failures >= FAILURES_MAX:
                break
    took_s = time.monotonic() - began_s
    print(
        f"{total['seeds']} seeds lived through, {failures} failed; {total['sessions']} sessions, "
        f"{total['starts']} starts of the firmware, {total['lines']} lines typed; "
        f"{total['seconds'] / 3600.0:.1f} h in {took_s:.0f} s on {workers} processors"
    )
    print("; ".join(f"{kind} {count}" for kind, count in met.most_common()))
    return failures


def shrunk(story: Story, fails: Callable[[Story], bool], runs_max: int = 200) -> Parts:
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
        else:
            break
    return kept


def _fewer(story: Story, kept: Parts) -> Iterator[Parts]:
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


def report(story: Story, why: str, *, bone: bool) -> None:
    """Say what failed, in as short a story as fails as well, and how to see it again."""

    def fails(shorter: Story) -> bool:
        try:
            check(shorter)
        except Violation:
            return True
        return False

    print(f"seed {story.seed} FAILED: {why}", flush=True)
    kept = shrunk(story, fails)
    print(story.only(*kept))
    print(f"again: {command(story.seed, kept)}{' --bone' * bone}\n", flush=True)


def command(seed: int, kept: Parts) -> str:
    numbers, cable = ",".join(map(str, sorted(kept[0]))), ",".join(sorted(kept[1]))
    return f"python -m tests.simulation.soak --seed {seed} --troubles '{numbers}' --cable '{cable}'"


def once(story: Story) -> int:
    print(story)
    try:
        outcome = check(story)
    except Violation as violation:
        print(f"FAILED: {violation}")
        return 1
    print(f"lived through: {outcome}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seeds", type=int, default=2000, help="how many (default: 2000)")
    p.add_argument("--first", type=int, default=0, help="the first of them (default: 0)")
    p.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    p.add_argument("--seed", type=int, help="one story instead")
    p.add_argument("--troubles", metavar="N,...", help="only these of its troubles")
    p.add_argument("--cable", metavar="NAME,...", help=f"only these of {', '.join(CABLE)}")
    p.add_argument("--bone", action="store_true", help="every story with a test by bone")
    a = p.parse_args(argv)
    if a.seed is None:
        return int(soak(range(a.first, a.first + a.seeds), a.workers, bone=a.bone) > 0)
    story = story_of(a.seed, bone=a.bone)
    numbers = range(len(story.troubles)) if a.troubles is None else _split(a.troubles)
    cable = CABLE if a.cable is None else _split(a.cable)
    return once(story.only({int(number) for number in numbers}, cable))


def _split(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


if __name__ == "__main__":
    sys.exit(main())
