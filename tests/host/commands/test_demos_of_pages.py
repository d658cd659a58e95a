"""The demonstrations of pages are run as they stand there, but for the time that they take."""

import json
import shlex
from pathlib import Path
from typing import Final

import pytest

from tests.host.commands.test_demo import in_processes
from tests.host.journals import GpPta
from tests.test_commands_of_pages import TYPED

DEMO: Final = ("gp-pta", "demo")
# Fragments of a sentence are run, too, where they are whole: all but those with a word for a file.
SHOWN: Final = sorted({
    str(t) for t in TYPED if t.words[:2] == DEMO and len(t.words) > 2 and "FILE" not in str(t)
})  # fmt: skip
# A firmware that is killed is a process; the emulated board, which takes minutes, has a test of its
# own: tests/device/emulator/test_demo.py.
IN_PROCESSES: Final = [line for line in SHOWN if "--kill" in line and "emulated" not in line]
HERE: Final = [line for line in SHOWN if "--kill" not in line and "emulated" not in line]

pytestmark = pytest.mark.thorough


def test_most_lines_are_run() -> None:
    assert len(HERE) >= 8
    assert IN_PROCESSES


@pytest.mark.parametrize("line", HERE)
@pytest.mark.usefixtures("benches", "place_of_pages")
def test_a_demonstration_runs(line: str, gp_pta: GpPta) -> None:
    code, said, why = gp_pta(*shlex.split(line)[1:], "--json")
    assert code == 0, why
    assert json.loads(said.splitlines()[-1])["replay_identical"] is True


@pytest.mark.parametrize("line", IN_PROCESSES)
def test_a_demonstration_in_processes_runs(line: str, place_of_pages: Path) -> None:
    here = str(place_of_pages)
    words = shlex.split(
        line.replace("ears.csv", f"{here}/ears.csv").replace("--out ", f"--out {here}/")
    )
    done = in_processes(*words[2:])
    assert json.loads(done.stdout.splitlines()[-1])["replay_identical"] is True
