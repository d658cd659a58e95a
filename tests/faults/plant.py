"""Plant the faults, one at a time, and see whether the tests that reach their lines find them.

    python -m pytest --cov=firmware_py --cov=device --cov=host_tools --cov-branch --cov-context=test
    GP_PTA_KERNELS=jit python -m tests.faults.plant --coverage .coverage --out found.jsonl -- -n 2

What reaches a line is told by the contexts of a coverage run (pytest-cov; it is in no environment
here), to which a second run adds those of tests/host/research by --cov-append. A fault in a kernel
is tried with the tests of inference and the golden sessions; one in the page with the tests of
pages. Numba runs the kernels: those of research are in no library. A line that runs at import is
tried with every test that reaches its file. What follows `--` is given to pytest.
"""

import argparse
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.faults.draw import ROOT, Fault, stored_faults

LONGEST_S: Final = 600.0  # tests that a fault makes hang have found it
OF_KERNELS: Final = ("tests/inference", "tests/firmware/test_golden.py")
OF_PAGES: Final = (
    "tests/host/commands/page", "tests/host/commands/report",
    "tests/host/commands/sessions/test_people.py", "tests/host/drawings/test_symbols.py",
)  # fmt: skip
FOUND, NOT_FOUND, NO_TESTS = "found", "not found", "no tests"
USAGE: Final = 4
NO_CONFTEST: Final = "ImportError while loading conftest"
OUTCOMES: Final = {0: NOT_FOUND, 1: FOUND, 2: FOUND, 3: FOUND, 5: NO_TESTS}


def tests_reaching(fault: Fault, coverage: sqlite3.Connection) -> list[str]:
    """Return the tests that reach a fault's line, those of its room first."""
    source = (ROOT / fault.path).read_text()
    if fault.path.endswith(".js"):
        return [*OF_PAGES]
    if fault.path.startswith("firmware_py/inference/") and "@kernel" in source:
        return [*OF_KERNELS]
    query = (
        "SELECT DISTINCT context.context, arc.tono FROM arc JOIN file ON file.id = arc.file_id "
        "JOIN context ON context.id = arc.context_id WHERE '/' || file.path LIKE ?"
    )
    rows = coverage.execute(query, (f"%/{fault.path}",)).fetchall()
    line = fault.line_in(source)
    tests = _without_phase(context for context, number in rows if number == line)
    tests = tests or _without_phase(context for context, _ in rows)
    room = "tests/" + fault.path.removeprefix("firmware_py/").rpartition("/")[0]
    return sorted(tests, key=lambda test: (not test.startswith(room), test))


def _without_phase(contexts: Any) -> set[str]:
    """Return the tests of contexts: without "|run", and the group that xdist puts behind a name."""
    names = {context.rpartition("|")[0] for context in contexts if "|" in context}
    return {re.sub(r"@[^\]@]*$", "", name) for name in names}


def try_fault(fault: Fault, tests: Sequence[str], options: Sequence[str]) -> tuple[str, float, str]:
    """Plant a fault, run tests until one fails, and mend it; return what came, and in how long."""
    if not tests:
        return NO_TESTS, 0.0, "no test reaches its file"
    path = ROOT / fault.path
    source, began_s = path.read_text(), time.monotonic()
    path.write_text(fault.in_source(source))
    try:
        outcome, words = _run(tests, options)
    finally:
        path.write_text(source)
    return outcome, time.monotonic() - began_s, words


def _run(tests: Sequence[str], options: Sequence[str]) -> tuple[str, str]:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        names.write("\n".join(tests))
        names.flush()
        command = [sys.executable, "-m", "pytest", "-q", "-x", *options, f"@{names.name}"]
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        )  # fmt: skip
        try:
            said, _ = process.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return FOUND, "it hangs"
    lines = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if process.returncode == USAGE and NO_CONFTEST in said:
        return FOUND, "no test can be collected"
    if process.returncode == USAGE:
        raise SystemExit(f"pytest could not be run as it was asked to: {said[-500:]}")
    return OUTCOMES[process.returncode], lines[0] if lines else said.strip().rpartition("\n")[2]


def main(argv: Sequence[str] | None = None) -> int:
    """Try the faults and say what came; return 1 if one was not found."""
    p = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    p.add_argument("--coverage", type=Path, required=True, metavar="FILE")
    p.add_argument("--out", type=Path, required=True, metavar="FILE", help="a line for each fault")
    p.add_argument("--numbers", metavar="N,...", help="only these")
    p.add_argument("options", nargs="*", help="of pytest")
    a = p.parse_args(argv)
    coverage, missed = sqlite3.connect(f"file:{a.coverage}?mode=ro", uri=True), 0
    wanted = {int(number) for number in a.numbers.split(",")} if a.numbers else None
    for number, fault in enumerate(stored_faults(), 1):
        if wanted is not None and number not in wanted:
            continue
        tests = tests_reaching(fault, coverage)
        outcome, took_s, words = try_fault(fault, tests, a.options)
        missed += outcome != FOUND
        about = {"number": number, "fault": str(fault), "tests": len(tests), "outcome": outcome}
        with a.out.open("a") as out:
            out.write(json.dumps(about | {"seconds": round(took_s), "by": words}) + "\n")
        print(f"{number:2} {outcome}, {took_s:.0f} s, {len(tests)} tests: {fault}", flush=True)
        print(f"   {words[:200]}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
