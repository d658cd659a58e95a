"""Plant another value of each constant of the procedure, and see whether a test finds it.

    python -m tests.faults.constants

Rules are left out in the same way. First the people of `tests/bench/recorded_people.py` are tested;
what changes none of them is tried with the tests that `ELSEWHERE` names.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from bench.panel.constants import constants
from bench.panel.rules import RULES
from tests.faults.draw import ROOT

PEOPLE: Final = "tests/bench/test_people.py"
ELSEWHERE: Final[dict[str, str]] = {}
# What no test finds, and why it stays.
LEFT: Final[dict[str, str]] = {}


def finds(change: str, tests: str) -> bool:
    """Return whether these tests fail with a change of the panel."""
    options = ["-x", "-q", "--under-numba", "-p", "no:cacheprovider", "-p", "tests.faults.changed"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests.split()], cwd=ROOT,
        env=os.environ | {"GP_PTA_CHANGED": change, "GP_PTA_KERNELS": "jit"},
        capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode == 1


def found_by(change: str) -> str:
    """Return the tests that find a change; "": none does."""
    name = change.rpartition(" ")[0] if change in constants() else change
    tried = [PEOPLE, *filter(None, [ELSEWHERE.get(change) or ELSEWHERE.get(name)])]
    return next((tests for tests in tried if finds(change, tests)), "")


def main() -> int:
    """Try them all, and say what none of the tests finds; return 1 if that was not known."""
    changes = [*RULES, *constants()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(changes, pool.map(found_by, changes), strict=True))
    missed = [name for name, by in found.items() if not by]
    for name in missed:
        print(f"{name}: not found; {LEFT.get(name, 'that is new')}")
    print(f"{len(changes) - len(missed)} of {len(changes)} found")
    return int({*missed} != {*LEFT})


if __name__ == "__main__":
    sys.exit(main())
