"""`python -m bench.peers.compare NAME=PYTHON ...`: peers in environments of their own.

NAME is gpy, quest_plus or aepsych, PYTHON the interpreter it is installed for. Each gets the
answers of `gp-pta-2015` as JSON, and its processor times come back. `make bench` times the
firmware, after the answers of the same six listeners.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Final

from bench.markdown_tables import Times, machine, ratio_table
from bench.peers.exchange import Session
from bench.sessions import AUDIOGRAMS, answers_of, estimator_before
from tests.reference import warp

ROOT: Final = Path(__file__).parents[2]
TRIALS: Final = (16, 64)
SESSIONS: Final = {"aepsych": 2}  # of six: it takes a second for a trial


def session_of(audiogram: str, trials: int) -> Session:
    answers = answers_of(audiogram, "gp-pta-2015")[:trials]
    before = estimator_before(audiogram, "gp-pta-2015", trials)
    candidates_hz = before.candidate_frequencies_hz
    levels_db_hl = before.threshold(candidates_hz)[0]
    return Session(
        warp([a.frequency_hz for a in answers]).tolist(),
        [a.level_db_hl for a in answers],
        [a.heard for a in answers],
        [*zip(warp(candidates_hz).tolist(), levels_db_hl.tolist(), strict=True)],
    )


def times_of_peer(name: str, python: str) -> dict[str, dict[str, list[float]]]:
    given = {
        trials: [asdict(session_of(a, trials)) for a in AUDIOGRAMS[: SESSIONS.get(name)]]
        for trials in TRIALS
    }
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as place:  # some leave logs where they are started
        run = subprocess.run(
            [os.path.abspath(python), "-W", "ignore", "-m", f"bench.peers.{name}"],
            input=json.dumps(given), cwd=place,
            env={**os.environ, **one_thread, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    found: dict[str, dict[str, list[float]]] = json.loads(run.stdout.splitlines()[-1])
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers.compare", description="Time peers."
    )
    parser.add_argument("peers", nargs="+", metavar="NAME=PYTHON", help="gpy, quest_plus, aepsych")
    peers = [peer.partition("=") for peer in parser.parse_args(argv).peers]
    times: Times = {n: {} for n in TRIALS}
    failed = 0
    for name, _, python in peers:
        try:
            found = times_of_peer(name, python)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{name}: not measured ({error})", file=sys.stderr)
            failed = 1
            continue
        for method, by_trials in found.items():
            for trials, times_s in by_trials.items():
                if times_s:  # of the sessions it could fit
                    times[int(trials)][method] = median(times_s)
    print(machine(), *ratio_table(times), sep="\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
