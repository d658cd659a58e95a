"""The processes of a demonstration: simulator and firmware, joined by ptys."""

import ctypes
import os
import select
import signal
import subprocess
import sys
import termios
import time
import tty
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from firmware_py.self_test import PARTS
from host_tools.errors import HostError
from host_tools.simulate import SERVED

START_TIMEOUT_S: Final = 120.0  # the first start compiles the kernels
ANSWER_TIMEOUT_S: Final = 60.0
WAKE_S: Final = 0.25
QUIET_S: Final = 0.05
WAKE: Final = "*IDN?"
BOARD_FAULTS: Final = PARTS["wire"] | PARTS["board"]
WOKEN: Final = "GP-PTA,"  # how its answer begins
SAYS: Final = "gp-pta: "  # how the words of an error begin
PR_SET_PDEATHSIG: Final = 1
# Of Linux; looked up here, for after a fork nothing may be waited for that another thread has.
_PRCTL: Final = getattr(ctypes.CDLL(None), "prctl", None)


def _die_with_parent() -> None:
    """Have the kernel end this process when the one that started it ends, however it ends."""
    if _PRCTL is not None:
        _PRCTL(PR_SET_PDEATHSIG, signal.SIGTERM)


class Simulator:
    """`gp-pta simulate` as a process; `tell` is called with every line it says before it serves."""

    def __init__(self, options: list[str], tell: Callable[[str], None]) -> None:
        command = [sys.executable, "-m", "host_tools.main", "simulate", *options]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            process_group=0,  # Ctrl+C is for us: we end it
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - it waits for nothing
        )  # fmt: skip
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        told: list[str] = []
        for line in self._process.stderr:
            told.append(line)
            if line.strip() == SERVED:
                self.port = self._process.stdout.readline().strip()
                return
            if not line.startswith(SAYS):
                tell(line.rstrip())
        self.end()
        raise HostError("".join(told[-1:]).strip().removeprefix(SAYS))

    def end(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.communicate()


class ConsoleLine:
    """The operator's end of a pty whose other end is the firmware's console."""

    def __init__(self) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave, termios.TCSANOW)
        self.port = os.ttyname(self._slave)
        self._partial = b""
        self._unread: deque[str] = deque()

    def send(self, line: str) -> None:
        """Type a line."""
        os.write(self._master, f"{line}\n".encode())

    def lines(self, timeout_s: float) -> Iterator[str]:
        """Return the lines that come within the time; those not taken are first next time."""
        if not self._unread and select.select([self._master], [], [], timeout_s)[0]:
            *whole, self._partial = (self._partial + os.read(self._master, 65536)).split(b"\n")
            self._unread += (line.decode(errors="replace").strip() for line in whole)
        while self._unread:
            yield self._unread.popleft()

    def close(self) -> None:
        """Pull the cable."""
        os.close(self._master)
        os.close(self._slave)


class FirmwareProcess:
    """`gp-pta-device` as a process, which may be killed and started again."""

    def __init__(self, tone_generator: str, console: str, data: Path, speed: float) -> None:
        self._command = [
            sys.executable, "-m", "firmware_py.main", "--tone-generator", tone_generator,
            "--console", console, "--data", str(data), "--speed", str(speed),
        ]  # fmt: skip
        self.kills = 0
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            process_group=0,  # Ctrl+C is for us: we end it
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - it waits for nothing
        )  # fmt: skip

    def kill(self) -> bool:
        """Pull the plug: SIGKILL; return False if that was done already."""
        if self._process.poll() is not None:
            return False
        self._process.kill()
        self._process.wait()
        return True

    def restart_if_killed(self) -> bool:
        """Start the firmware again if it was killed by a signal.

        Raises
        ------
        HostError
            If it ended by itself; the message is its own.
        """
        code = self._process.poll()
        if code is None:
            return False
        _, words = self._process.communicate()
        if code != -signal.SIGKILL:
            raise HostError(f"the firmware ended with exit code {code}: {words.strip()}")
        self.kills += 1
        self._start()
        return True

    def wait(self, timeout_s: float = 10.0) -> int:
        """Wait for the end and return the exit code."""
        try:
            self._process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self.end()
        return self._process.returncode

    def end(self) -> None:
        """End the process whatever it does."""
        self._process.terminate()
        try:
            self._process.communicate(timeout=5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


class Operator:
    """Talks to a firmware over its console, as a person or a script would."""

    def __init__(self, console: ConsoleLine, firmware: FirmwareProcess) -> None:
        self._console = console
        self._firmware = firmware

    def ask(self, line: str) -> str:
        """Send a line and return its answer; unasked lines on the way are dropped.

        What is typed before the firmware has opened its console is lost, so it is typed again when
        the firmware was started anew.

        Raises
        ------
        HostError
            If there is no answer, or the firmware has ended.
        """
        until_s = time.monotonic() + ANSWER_TIMEOUT_S
        self._console.send(line)
        while time.monotonic() < until_s:
            answer = self._answer()
            if answer is not None and (line == WAKE or not answer.startswith(WOKEN)):
                return answer
            if self._firmware.restart_if_killed():
                self._wake()
                self._console.send(line)
        raise HostError(f"the firmware did not answer {line!r} within {ANSWER_TIMEOUT_S:g} s")

    def greet(self) -> str:
        """Wait until the firmware answers and knows its tone generator; return its state.

        From then on it tells what happens unasked, and what happens after this state is told.

        Raises
        ------
        HostError
            If it does not come so far in time.
        """
        self._wake()
        until_s = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < until_s:
            if not _fault_of(self.ask("*TST?")) & BOARD_FAULTS:
                self.ask("SYST:EVEN ON")
                return self.ask("SESS:STAT?")
            time.sleep(0.05)
        raise HostError("the firmware found no tone generator")

    def _wake(self) -> None:
        """Type until there is an answer, and let the answers that are too many go by.

        What a firmware before this one had said is no answer.
        """
        self._let_by()
        until_s = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < until_s:
            self._console.send(WAKE)
            if (self._answer(WAKE_S) or "").startswith(WOKEN):
                self._let_by()
                return
            self._firmware.restart_if_killed()
        raise HostError(f"the firmware did not answer within {START_TIMEOUT_S:g} s of its start")

    def _let_by(self) -> None:
        while self._answer(QUIET_S) is not None:
            continue

    def _answer(self, timeout_s: float = 0.2) -> str | None:
        for answer in self._console.lines(timeout_s):
            if not answer.startswith("!"):
                return answer
        return None


def _fault_of(answer: str) -> int:
    """Return the code of a self-test's answer; every fault there can be if it is none."""
    code = answer.partition(",")[0]
    return int(code) if code.isascii() and code.isdigit() else BOARD_FAULTS
