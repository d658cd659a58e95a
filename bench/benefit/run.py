"""Does it help? `python -m bench.benefit.run nhanes_audiograms.csv --judge PYTHON`.

Synthetic speech goes through the real hearing aid, fitted for each ear in several ways, and HASPI
and HASQI say how much of it that ear understands, and how good it sounds. What was judged is kept:
a run that was stopped goes on.
"""

import argparse
import queue
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from bench.benefit.conditions import COUNTS, compared_methods, own_conditions, tested_conditions
from bench.benefit.judging import (
    Case,
    Judge,
    Judged,
    JudgeError,
    Store,
    write_entries,
)
from bench.benefit.material import COMPARED_IN, KINDS, NOISE, QUIET, TALKER, SpeechError, scene
from bench.benefit.picture import draw
from bench.benefit.tables import tables
from device.hearing_aid.openmha import Installation, OpenMhaError
from firmware_py.platform.program import run_program
from host_tools.errors import HostError
from host_tools.research.methods.population import STRATA
from host_tools.research.methods.registry import Learned, learn
from host_tools.research.study.ears import (
    BISGAARD,
    HELD_OUT,
    JITTER_DB,
    TRAIN,
    ears_of,
    read_table,
    standard_ears,
)
from host_tools.research.study.listener import Ear

SEED: Final = 1
WITHOUT_LOSS: Final = STRATA[0]  # nobody fits an aid there


def ears_and_learned(audiograms: str, each: int) -> tuple[list[Ear], Learned | None]:
    """Return ears, one of each degree of loss after another, and what methods learned from others.

    Parameters
    ----------
    audiograms : str
        A table of ears, of which those of people held out are taken; or "bisgaard".
    each : int
        Ears of each degree of loss of a table.
    """
    if audiograms == BISGAARD:
        return list(standard_ears()), None
    table = read_table(Path(audiograms), "audiograms")
    drawn, _ = ears_of(table.part(HELD_OUT), each)
    ears = [ear.jitter(SEED, JITTER_DB) for ear in drawn if ear.stratum != WITHOUT_LOSS]
    by_stratum = [[ear for ear in ears if ear.stratum == stratum] for stratum in STRATA[1:]]
    in_turn = [part[i] for i in range(each) for part in by_stratum if i < len(part)]
    return in_turn, learn(compared_methods(True), table.part(TRAIN))


def cases(
    ears: Sequence[Ear], compared: int, learned: Learned | None, kinds: Sequence[str]
) -> Iterator[Case]:
    """Yield what is to be judged: all ears without other methods first, then some with them."""
    # Ears of different degrees of loss hear the same sentences, one after another.
    scenes = [[scene(kind, n // len(STRATA[1:])) for kind in kinds] for n in range(len(ears))]
    for number, ear in enumerate(ears):
        for aided in own_conditions(ear, number):
            yield Case(number, ear, aided, scenes[number], quality=True)
    in_noise = [[each for each in row if each.kind == COMPARED_IN] for row in scenes]
    for number, ear in enumerate(ears[:compared]):
        for method in compared_methods(learned is not None):
            for aided in tested_conditions(method, ear, COUNTS, learned or Learned()):
                yield Case(number, ear, aided, in_noise[number], quality=False)


def known_entries(wanted: Sequence[Case], store: Store) -> list[Judged]:
    """Return what is known of the ears that were judged in every condition without other methods.

    Raises
    ------
    JudgeError
        If there is no such ear.
    """
    open_ = {case.number for case in wanted if case.quality and not case.is_known(store)}
    known = [case for case in wanted if case.number not in open_ and case.is_known(store)]
    if not known:
        raise JudgeError("no ear was judged in every condition yet")
    return [entry for case in known for entry in case.entries(store)]


def judge_all(wanted: Sequence[Case], store: Store, python: str, judges: int) -> list[Judged]:
    """Return what was said of all cases, in their order."""
    began_s = time.monotonic()
    installation = Installation()
    free: queue.Queue[Judge] = queue.Queue()

    def judge_case(number: int, case: Case) -> list[Judged]:
        judge = free.get()
        try:
            found = case.judge(store, judge, installation)
        finally:
            free.put(judge)
        passed_s = time.monotonic() - began_s
        print(f"{number + 1} of {len(wanted)}, {passed_s:.0f} s", file=sys.stderr, flush=True)
        return found

    with ExitStack() as stack:
        for _ in range(judges):
            free.put(stack.enter_context(Judge(python)))
        pool = stack.enter_context(ThreadPoolExecutor(judges))
        pending = [pool.submit(judge_case, number, case) for number, case in enumerate(wanted)]
        try:
            return [entry for each in pending for entry in each.result()]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def main(argv: Sequence[str] | None = None) -> int:
    """Judge, and print tables in Markdown; return an exit code."""
    p = argparse.ArgumentParser(prog="python -m bench.benefit.run", description=__doc__)
    p.add_argument(
        "audiograms", metavar="FILE|bisgaard", help="whose ears; of a table held-out ones"
    )
    p.add_argument("--judge", required=True, metavar="PYTHON", help="interpreter with pyclarity")
    p.add_argument("--ears", type=int, default=8, help="of each of three degrees of loss")
    p.add_argument("--compared", type=int, default=9, help="ears, of those, for other methods")
    p.add_argument("--judges", type=int, default=2, help="processes")
    p.add_argument("--known", action="store_true", help="judge nothing: tables of what is known")
    usual = ",".join((QUIET, NOISE, TALKER))
    p.add_argument("--scenes", default=usual, help=f"of {', '.join(KINDS)} (default: {usual})")
    p.add_argument("-o", "--out", type=Path, default=Path("build/benefit"), metavar="DIR")
    arguments = p.parse_args(argv)
    kinds = arguments.scenes.split(",")
    if wrong := [kind for kind in kinds if kind not in KINDS]:
        p.error(f"--scenes has {wrong[0]!r}; allowed are {', '.join(KINDS)}")
    for name in ("ears", "judges"):
        if getattr(arguments, name) < 1:
            p.error(f"--{name} is {getattr(arguments, name)}; allowed is 1 or more")
    if COMPARED_IN not in kinds:
        p.error(f"--scenes is {arguments.scenes}; allowed is what has {COMPARED_IN}")
    out: Path = arguments.out
    try:
        out.mkdir(parents=True, exist_ok=True)
        ears, learned = ears_and_learned(arguments.audiograms, arguments.ears)
        wanted = list(cases(ears, arguments.compared, learned, kinds))
        store = Store(out / "scores.jsonl")
        if arguments.known:
            entries = known_entries(wanted, store)
        else:
            entries = judge_all(wanted, store, arguments.judge, arguments.judges)
    except (HostError, JudgeError, OpenMhaError, OSError, SpeechError) as error:
        print(error, file=sys.stderr)
        return 2
    write_entries(out / "entries.jsonl", entries)
    print(*tables(entries), sep="\n")
    draw(entries, out / "haspi.svg")
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
