"""A peer in an environment of its own, on the same people."""

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Final

from host_tools.errors import HostError
from host_tools.research.tuning.course import COUNTS, Course
from host_tools.research.tuning.people import NUMBERS, Person

ROOT: Final = Path(__file__).parents[3]
PEER: Final = "aepsych"
MODULE: Final = "bench.peers.preferences"
TITLE: Final = "AEPsych: pairwise GP"


def run_peer(python: str, people: Sequence[Person], workers: int) -> list[Course]:
    """Tune for people by the peer.

    Parameters
    ----------
    python : str
        The interpreter that it is installed for.
    people : sequence of Person
    workers : int
        Processes; 0 is one.

    Raises
    ------
    HostError
        If it does not run to its end.
    """
    parts = max(min(workers, len(people)), 1)
    shares = [people[part::parts] for part in range(parts)]
    with ThreadPoolExecutor(parts) as pool:
        found = [*pool.map(lambda share: _run_part(python, share), shares)]
    courses = [course for part in found for course in part]
    return sorted(courses, key=lambda course: course.person.seed)


def _run_part(python: str, people: Sequence[Person]) -> list[Course]:
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    given = {"people": [asdict(person) for person in people], "counts": COUNTS[1:]}
    with tempfile.TemporaryDirectory() as place:  # it leaves logs where it is started
        try:
            run = subprocess.run(
                [os.path.abspath(python), "-W", "ignore", "-m", MODULE],
                input=json.dumps(given), cwd=place,
                env={**os.environ, **one_thread, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE, text=True, check=True,
            )  # fmt: skip
        except (OSError, subprocess.CalledProcessError) as error:
            raise HostError(f"--peer {python}: {error}") from None
    told = json.loads(run.stdout.splitlines()[-1])
    return [
        Course(
            PEER,
            person,
            {0: (0.0,) * NUMBERS, **{int(n): tuple(each) for n, each in best_db.items()}},
        )
        for person, best_db in zip(people, told, strict=True)
    ]
