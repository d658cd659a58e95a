"""The demonstration with the emulated board: the real processes, up to the first answer."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from device.emulator.image import ImageError, find_image
from firmware_py.journal import read_journal
from host_tools.recordings.replayed import UNFINISHED, replay_journal

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("emulator-demo")]

REPO: Final = Path(__file__).parents[3]
ANSWER: Final = re.compile(r"^ +\d+  right ")
ANSWERS: Final = 1


def test_the_tests_of_the_board_are_given_to_one_worker(request: pytest.FixtureRequest) -> None:
    """pytest-xdist knows a group by the end of its names, and is silent if it does not."""
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("the tests run in one process, or are not grouped")
    assert request.node.nodeid.endswith("@emulator-demo")


def test_it_says_what_it_runs_and_measures(tmp_path: Path) -> None:
    try:
        image = find_image()
    except ImageError as error:
        pytest.skip(str(error))
    command = [
        sys.executable, "-m", "host_tools.main", "demo", "--board", "emulated", "--ear", "right",
        "--audiogram", "N1", "--out", str(tmp_path),
    ]  # fmt: skip
    shown: list[str] = []
    with subprocess.Popen(
        command, cwd=REPO, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "MICROPYTHON_UF2": str(image)},
    ) as demo:  # fmt: skip
        assert demo.stdout is not None
        for line in demo.stdout:
            shown.append(line)
            if sum(ANSWER.match(line) is not None for line in shown) >= ANSWERS:
                break
        demo.terminate()

    words = "".join(shown)
    assert "starting the emulated tone generator and the firmware" in words
    assert "minutes in all" in words
    assert "MicroPython 1." in words
    assert "started: board pico" in words
    journal = tmp_path / "session-000001.journal"
    events = [r["event"]["what"] for r in read_journal(journal).records if r["kind"] == "input"]
    assert {"tone-on", "button-down"} <= set(events), "tones sounded, and a pin was pressed"
    assert replay_journal(journal).code == UNFINISHED
