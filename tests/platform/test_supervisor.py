"""systemd is told what it waits for, and only what is true."""

import itertools
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from firmware_py.firmware import LOOK_AROUND_S
from firmware_py.platform.supervisor import (
    ALIVE_PER_WATCHDOG,
    WATCHDOG_US_MIN,
    Supervisor,
    SupervisorError,
)
from tests.firmware.rig import WAIT_S_MAX, Rig

WATCHDOG_S = WATCHDOG_US_MIN / 1e6
LONGEST_S = WATCHDOG_S / ALIVE_PER_WATCHDOG + LOOK_AROUND_S  # from one keep-alive to the next


class Manager:
    """The other end of the socket, as systemd has it."""

    def __init__(self, name: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(name.replace("@", "\0", 1))
        self.name = name
        self.told: list[str] = []

    def next(self, timeout_s: float = WAIT_S_MAX) -> str | None:
        """Return what is told next, None if nothing is."""
        self._socket.settimeout(timeout_s)
        try:
            self.told.append(self._socket.recv(4096).decode())
        except (TimeoutError, BlockingIOError):
            return None
        return self.told[-1]

    def until(self, word: str) -> str:
        while (told := self.next()) is not None:
            if word in told:
                return told
        raise AssertionError(f"{word} was not told; the rest was {self.told}")

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    manager = Manager(str(tmp_path / "notify"))
    yield manager
    manager.close()


@pytest.fixture
def supervisor_of(manager: Manager) -> Iterator[Callable[..., Supervisor]]:
    made: list[Supervisor] = []

    def make(now_s: Callable[[], float] = time.monotonic, **environment: str) -> Supervisor:
        made.append(Supervisor({"NOTIFY_SOCKET": manager.name, **environment}, now_s=now_s))
        return made[-1]

    yield make
    for supervisor in made:
        supervisor.close()


def test_beginning_readiness_and_end_are_told(
    manager: Manager, supervisor_of: Callable[..., Supervisor]
) -> None:
    supervisor = supervisor_of()
    supervisor.ready("ready; two\nlines")
    supervisor.ending("ends as told")

    assert manager.next() == "STATUS=starting"
    assert manager.next() == "READY=1\nSTATUS=ready; two lines"
    assert manager.next() == "STOPPING=1\nSTATUS=ends as told"
    assert manager.next(0.0) is None


def test_a_name_that_is_no_file_is_a_socket_too(
    manager: Manager, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = Manager(f"@gp-pta-{os.getpid()}")
    supervisor = Supervisor({"NOTIFY_SOCKET": other.name})
    assert other.next() == "STATUS=starting"
    supervisor.close()
    other.close()


def test_a_keep_alive_comes_as_often_as_it_has_to_and_when_something_changes(
    manager: Manager,
    supervisor_of: Callable[..., Supervisor],
) -> None:
    now_s = 1000.0
    supervisor = supervisor_of(
        lambda: now_s, WATCHDOG_USEC="8000000", WATCHDOG_PID=str(os.getpid())
    )
    manager.next()
    times_s = []
    for _ in range(100):
        supervisor.alive("idle")
        times_s += [now_s] if manager.next(0.0) else []
        now_s += 0.5
    assert times_s == [1000.0 + 2.0 * n for n in range(25)]

    supervisor.alive("session 1 under way")
    assert manager.next() == "WATCHDOG=1\nSTATUS=session 1 under way"


@pytest.mark.parametrize("environment", [{}, {"WATCHDOG_USEC": "8000000", "WATCHDOG_PID": "1"}])
def test_without_a_watchdog_only_changes_are_told(
    manager: Manager,
    supervisor_of: Callable[..., Supervisor],
    environment: Mapping[str, str],
) -> None:
    supervisor = supervisor_of(itertools.count(1.0, 1e9).__next__, **environment)
    supervisor.alive("idle")
    supervisor.alive("idle")
    assert [manager.next(), manager.next(0.0)] == ["STATUS=starting", "WATCHDOG=1\nSTATUS=idle"]
    assert manager.next(0.0) is None


def test_whoever_waits_for_nothing_is_told_nothing_but_words() -> None:
    said: list[str] = []
    supervisor = Supervisor({}, said.append)
    supervisor.ready("ready")
    supervisor.alive("idle")
    supervisor.ending("ends as told")
    assert said == ["ready"]


def test_a_manager_who_reads_nothing_or_is_gone_does_not_hold_the_firmware_up(
    manager: Manager, supervisor_of: Callable[..., Supervisor]
) -> None:
    supervisor = supervisor_of()
    began_s = time.monotonic()
    for number in range(2000):  # more than a socket holds
        supervisor.alive(str(number))
    manager.close()
    supervisor.alive("idle")
    assert time.monotonic() - began_s < 1.0


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"NOTIFY_SOCKET": "run/notify"}, "NOTIFY_SOCKET is 'run/notify'; allowed are an absolute"),
        ({"NOTIFY_SOCKET": "/none/at/all"}, "'/none/at/all' cannot be reached: No such file or"),
        ({"WATCHDOG_USEC": "soon"}, "WATCHDOG_USEC is 'soon'; allowed are whole numbers from"),
        ({"WATCHDOG_USEC": "3999999"}, "WATCHDOG_USEC is '3999999'; allowed are whole numbers"),
        ({"WATCHDOG_USEC": "9" * 5000}, "WATCHDOG_USEC is '9999"),
        ({"WATCHDOG_USEC": "-1"}, "WATCHDOG_USEC is '-1'; allowed are whole numbers"),
    ],
)
def test_what_cannot_be_done_is_refused(environment: dict[str, str], words: str) -> None:
    with pytest.raises(SupervisorError, match=words):
        Supervisor(environment)


# The firmware itself


@pytest.fixture
def rig(tmp_path: Path, manager: Manager, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    """Give a rig whose firmware is watched as systemd would."""
    monkeypatch.setenv("NOTIFY_SOCKET", manager.name)
    monkeypatch.setenv("WATCHDOG_USEC", str(WATCHDOG_US_MIN))
    with Rig(tmp_path / "data") as rig:
        yield rig


def test_a_firmware_tells_what_it_does_from_its_beginning_to_its_end(
    rig: Rig, manager: Manager
) -> None:
    process = rig.start()
    assert manager.next() == "STATUS=starting"
    assert "READY=1" not in (manager.next() or ""), "the tone generator has not answered yet"
    assert "ready; tone generator sim 1 at " in manager.until("READY=1")
    rig.begin()
    assert manager.until("session 1") == (
        "WATCHDOG=1\nSTATUS=session 1 under way; tone generator sim 1"
    )
    rig.until("! session-over")
    assert "no test under way" in manager.until("STATUS=no test")
    rig.new_board()
    assert "tone generator is lost: " in manager.until("lost")
    manager.until("STATUS=no test under way; tone generator sim 1")
    process.terminate()
    assert manager.until("STOPPING=1") == "STOPPING=1\nSTATUS=ends as told"
    assert process.end_of() == (0, "")


def test_a_firmware_that_has_to_end_tells_why(rig: Rig, manager: Manager) -> None:
    process = rig.start(tones="/dev/there-is-none")
    told = manager.until("STOPPING=1")
    assert "cannot open '/dev/there-is-none': No such file or directory" in told
    assert process.end_of()[0] == 2
    assert not any("READY=1" in line for line in manager.told)


# A firmware whose loop hangs for ever in the step that sees the operator's word, while every other
# thread and the process itself are well.
HANGING = """
import sys, threading
from firmware_py import firmware, main
def hang(_self): threading.Event().wait()
firmware.Firmware.stop = hang
sys.exit(main.main(sys.argv[4:]))  # after python -m firmware_py.main
"""


@pytest.mark.thorough  # silence takes time; in no time it is seen in tests/simulation
def test_a_loop_that_hangs_tells_nothing_and_dies_with_its_place(
    rig: Rig, manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONFAULTHANDLER", "1")
    process = rig.start(wrapper=[sys.executable, "-c", HANGING])
    manager.until("READY=1")
    manager.until("WATCHDOG=1")
    assert manager.next(LONGEST_S + 1.0) is not None, "an idle loop goes round"
    rig.console.send("SYST:EXIT")
    while manager.next(LONGEST_S + 0.5) is not None:
        pass
    assert not process.ended
    os.kill(process.pid, signal.SIGABRT)  # as systemd does
    code, words = process.end_of()
    assert code == -signal.SIGABRT
    assert "in hang" in words
    assert "in step" in words
