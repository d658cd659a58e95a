"""Who says something or works is waited for; who stands still is given up on."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from host_tools.devices import patience
from host_tools.devices.patience import LOOK_S, WORK_S, Wait, processor_s
from host_tools.errors import HostError

SILENT_S_MAX = 60.0
LONGEST_S = 600.0


class Worker:
    """Somebody who is waited for, his clock, and what the user is shown."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.worked_s = 0.0
        self.shown: list[str] = []
        self.wait = Wait(
            "the firmware", "answer", lambda: self.worked_s, self.shown.append,
            silent_s_max=SILENT_S_MAX, longest_s=LONGEST_S, now_s=lambda: self.now_s,
        )  # fmt: skip

    def pass_by(self, seconds: float, work_s_per_s: float = 0.0) -> None:
        for _ in range(round(seconds / LOOK_S)):
            self.now_s += LOOK_S
            self.worked_s += work_s_per_s * LOOK_S
            self.wait.check()


@pytest.fixture
def worker() -> Worker:
    return Worker()


def test_who_says_progress_is_waited_for_longer_than_silence_is(worker: Worker) -> None:
    for kernel in range(1, 6):
        worker.pass_by(SILENT_S_MAX)
        worker.wait.hear(f"compiling kernel {kernel} of 14")
    assert worker.shown == [], "what it says is shown by who hears it"


def test_who_is_silent_is_given_up_on_and_what_it_said_last_is_told(worker: Worker) -> None:
    worker.pass_by(30)
    worker.wait.hear("compiling kernel 3 of 14 with Numba: mixture_infer")
    worker.pass_by(SILENT_S_MAX)
    with pytest.raises(HostError) as end:
        worker.pass_by(1)
    assert str(end.value) == (
        "the firmware did not answer within 91 s: it has said nothing for 61 s and does not work "
        "(last it said: compiling kernel 3 of 14 with Numba: mixture_infer); run the command "
        "again, and report it if it stops there again"
    )


@pytest.mark.parametrize(
    ("seconds", "work_s_per_s", "words"),
    [
        (LOOK_S + SILENT_S_MAX + 1, 0.0, r"for 62 s and does not work \(it never said an"),
        # who only looks up now and then
        (2 * SILENT_S_MAX, 0.9 * WORK_S / SILENT_S_MAX, "does not work"),
        (LONGEST_S + 1, 1.0, r"did not answer within 601 s: .* \(it never said"),
    ],
    ids=["silent", "looks up", "works without end"],
)
def test_who_is_given_up_on_in_the_end(
    worker: Worker, seconds: float, work_s_per_s: float, words: str
) -> None:
    with pytest.raises(HostError, match=words):
        worker.pass_by(seconds, work_s_per_s)


def test_who_works_silently_is_waited_for_and_that_is_shown(worker: Worker) -> None:
    """Fifty busy loops beside it leave a fiftieth of a processor."""
    worker.pass_by(5 * SILENT_S_MAX, work_s_per_s=0.02)
    assert worker.shown[0] == (
        "the firmware has said nothing for 101 s, but it works; waiting"
    )  # fmt: skip
    assert 2 <= len(worker.shown) <= 4


def test_who_comes_late_looks_before_he_judges(worker: Worker) -> None:
    """A machine that has no time for the one who waits has none for the other either."""
    worker.now_s += 5 * SILENT_S_MAX
    worker.wait.check()
    with pytest.raises(HostError, match="does not work"):
        worker.pass_by(SILENT_S_MAX + 1)


def test_a_worker_that_was_started_again_works_from_nothing(worker: Worker) -> None:
    worker.pass_by(10, work_s_per_s=10.0)
    worker.worked_s = 0.0
    worker.pass_by(2 * SILENT_S_MAX, work_s_per_s=0.05)


BUSY = "import time\nwhile time.process_time() < 0.4: pass\n"
FAMILY = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {BUSY!r}])
child = subprocess.Popen([sys.executable, "-c", {BUSY + "print(flush=True); input()"!r}],
                         stdin=sys.stdin, stdout=subprocess.PIPE)
child.stdout.readline()
print("worked", flush=True)
child.wait()
"""


@pytest.fixture
def family() -> Iterator[subprocess.Popen[str]]:
    """A process that did nothing; one child of it has worked and ended, another is still there."""
    with subprocess.Popen(
        [sys.executable, "-c", FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "worked\n"
        yield process
        process.communicate("\n")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
def test_the_work_of_a_process_is_its_own_and_that_of_those_it_started(
    family: subprocess.Popen[str],
) -> None:
    assert 0.75 <= processor_s([family.pid]) < 60.0
    assert processor_s([]) == 0.0


def test_where_nothing_tells_it_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PROC", Path("/none"))
    assert processor_s([1]) == 0.0
