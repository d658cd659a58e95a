"""Board, hearing aid and firmware as processes of ours, and the operator who talks to them."""

import math
import os
import queue
import select
import signal
import subprocess
import sys
import termios
import threading
import time
import tty
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, NamedTuple

from device.die_with_parent import die_with_parent
from firmware_py.board.self_check import PARTS
from host_tools.devices.patience import Wait, processor_s
from host_tools.errors import HostError

SERVED: Final = "a tone generator and a listener are at this port; end with ^C"
END_SILENT_S_MAX: Final = 10.0  # of a process that was told to end; then it is killed
END_S_MAX: Final = 60.0
LAST_WORDS_S: Final = 1.0  # to read what a process said before it ended
LAST_LINES_MAX: Final = 100
WAKE_S: Final = 0.25
DOUBT_S: Final = 5.0  # how long a firmware that seems to stand still has for an answer
QUIET_S: Final = 0.05
POLL_S: Final = 0.05
WAKE: Final = "*IDN?"
BOARD_FAULTS: Final = PARTS["wire"] | PARTS["board"]
WOKEN: Final = "GP-PTA,"  # how the answer to it begins
SAYS: Final = "gp-pta: "  # how our commands begin a line about an error or progress
AID_SAYS: Final = "hearing aid: "
PORTS: Final = ("/dev/", "socket://")  # how a line begins that says where something serves


class Said(NamedTuple):
    """A line that a process has said, on standard error or on standard output."""

    line: str
    is_error: bool


def start_process(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        process_group=0,  # Ctrl+C is for us: we end it
        preexec_fn=die_with_parent,  # noqa: PLW1509 - it waits for nothing
    )  # fmt: skip


class Program:
    """A process of ours; what it says is read all the time, or it would wait for a full pipe."""

    def _launch(self, command: list[str]) -> None:
        self._process = start_process(command)
        self._said: queue.SimpleQueue[Said] = queue.SimpleQueue()
        self._readers = [
            threading.Thread(target=self._read, args=(stream, is_error), daemon=True)
            for stream, is_error in ((self._process.stdout, False), (self._process.stderr, True))
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: IO[str], is_error: bool) -> None:
        with stream:
            for line in stream:
                self._said.put(Said(line.rstrip("\n"), is_error))

    def _lines(self, timeout_s: float = 0.0) -> Iterator[Said]:
        """Yield the lines not taken yet; wait up to `timeout_s` for the first."""
        try:
            yield self._said.get(block=timeout_s > 0.0, timeout=timeout_s)
            while True:
                yield self._said.get_nowait()
        except queue.Empty:
            return

    def _last_lines(self) -> Iterator[Said]:
        """Yield the lines not taken yet of a process that has ended."""
        for reader in self._readers:
            reader.join(LAST_WORDS_S)  # not for ever: a process that it started may hold its pipes
        return self._lines()

    def work_s(self) -> float:
        """Return the processor time it has used, with what it started."""
        return processor_s([self._process.pid])

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def _ends(self, wait: Wait) -> bool:
        """Wait until it has ended; return False if it was given up."""
        while not wait.in_vain():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(POLL_S)
                return True
        return False

    def end(self) -> None:
        """End it, and what it started: SIGTERM, and SIGKILL if that does not do."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if self.has_ended():
                return
            os.killpg(self._process.pid, number)
            wait = Wait(
                "the process", "end", self.work_s,
                silent_s_max=END_SILENT_S_MAX, longest_s=END_S_MAX,
            )  # fmt: skip
            self._ends(wait)


class Server(Program):
    """A process of ours that serves at a port; `tell` gets every line it says before it does.

    `who` it is stands in messages. Its errors begin with `says`, and it has told all when it says
    `served` on standard error, if that is not "".
    """

    def __init__(
        self, who: str, command: list[str], says: str, served: str, tell: Callable[[str], None]
    ) -> None:
        self._who, self._says, self._served = who, says, served
        self._launch([sys.executable, "-m", *command])
        try:
            self.port = self._wait_until_served(tell)
        except BaseException:
            self.end()
            raise

    def check(self) -> None:
        """Raise `HostError` with its last words if it is not there any more."""
        if self.has_ended():
            words = [said.line for said in self._last_lines() if said.line]
            why = words[-1].removeprefix(self._says) if words else "it said nothing"
            raise HostError(
                f"{self._who} is lost: {why}; the journal is kept, and the same command goes on "
                "with it"
            )

    def _wait_until_served(self, tell: Callable[[str], None]) -> str:
        wait = Wait(self._who, "start", self.work_s, tell)
        port, last_words, serves = "", "", not self._served
        while not (port and serves):
            wait.check()
            ended = self.has_ended()
            for said in self._last_lines() if ended else self._lines(POLL_S):
                wait.hear(said.line)
                if not said.is_error and said.line.startswith(PORTS):
                    port = said.line.strip()
                elif said.is_error and said.line == self._served:
                    serves = True
                else:
                    last_words = said.line
                    if not said.line.startswith(self._says):
                        tell(said.line)
            if ended and not (port and serves):
                why = last_words.strip().removeprefix(self._says) or "it said nothing"
                raise HostError(f"{self._who} did not start: {why}")
        return port


class Simulator(Server):
    """`gp-pta simulate` as a process."""

    def __init__(self, options: list[str], tell: Callable[[str], None]) -> None:
        command = ["host_tools.main", "simulate", *options]
        super().__init__("the tone generator", command, SAYS, SERVED, tell)


class HearingAidProcess(Server):
    """`device.hearing_aid.serve` as a process: openMHA with a fit, and the speech it plays."""

    def __init__(
        self, fit: Path, speech: Path, options: list[str], tell: Callable[[str], None]
    ) -> None:
        command = ["device.hearing_aid.serve", "--fit", str(fit), "--speech", str(speech)]
        super().__init__("the hearing aid", [*command, *options], AID_SAYS, "", tell)


class ConsoleLine:
    """The operator's end of a pty whose other end is the firmware's console."""

    def __init__(self) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave, termios.TCSANOW)
        self.port = os.ttyname(self._slave)
        self._partial = b""
        self._unread: deque[str] = deque()

    def send(self, line: str | bytes) -> None:
        os.write(self._master, (line.encode() if isinstance(line, str) else line) + b"\n")

    def lines(self, timeout_s: float) -> Iterator[str]:
        """Yield the lines that come within the time; those not taken come first next time."""
        if not self._unread and select.select([self._master], [], [], timeout_s)[0]:
            *whole, self._partial = (self._partial + os.read(self._master, 65536)).split(b"\n")
            self._unread += (line.decode(errors="replace").rstrip() for line in whole)
        while self._unread:
            yield self._unread.popleft()

    def close(self) -> None:
        os.close(self._master)
        os.close(self._slave)


class FirmwareProcess(Program):
    """`gp-pta-device` as a process, which may be killed and started again.

    It has the ports of a tone generator, a console and, unless that is "", a hearing aid. Where the
    `clock` of an emulated board is a file, it keeps that time in place of its `speed`. `tell` is
    called with every line that it says about its progress.
    """

    def __init__(
        self,
        tone_generator: str,
        console: str,
        data: Path,
        speed: float,
        clock: Path | None = None,
        tell: Callable[[str], None] = lambda _: None,
        hearing_aid: str = "",
        prior: Path | None = None,
    ) -> None:
        time_options = ["--speed", str(speed)] if clock is None else ["--clock", str(clock)]
        options = ["--hearing-aid", hearing_aid] if hearing_aid else []
        options += [] if prior is None else ["--prior", str(prior)]
        self._command = [
            sys.executable, "-m", "firmware_py.main", "--tone-generator", tone_generator,
            "--console", console, "--data", str(data), *time_options, *options,
        ]  # fmt: skip
        self._tell = tell
        self.kills = 0
        self._start()

    def _start(self) -> None:
        self._launch(self._command)
        self._errors: deque[str] = deque(maxlen=LAST_LINES_MAX)

    def wait_for(self, what: str) -> Wait:
        """Return a wait until it does something; `hear` prolongs it by what the firmware says."""
        return Wait("the firmware", what, self.work_s, self._tell)

    def hear(self, wait: Wait) -> None:
        """Take what it has said since the last time, and tell its progress."""
        self._take(self._lines(), wait)

    def _take(self, said: Iterable[Said], wait: Wait | None = None) -> None:
        for one in said:
            if wait is not None:
                wait.hear(one.line)
            if one.is_error and one.line.startswith(SAYS):
                self._tell(one.line.removeprefix(SAYS))
            elif one.is_error:
                self._errors.append(one.line)

    def kill(self) -> bool:
        """Pull the plug: SIGKILL; return False if that was done already."""
        if self.has_ended():
            return False
        self._process.kill()
        self._process.wait()
        return True

    def restart_if_killed(self) -> bool:
        """Start the firmware again if it was killed by a signal."""
        code = self._process.poll()
        if code is None:
            return False
        if code != -signal.SIGKILL:
            words = self._last_words().strip()
            raise HostError(f"the firmware ended with exit code {code}: {words}")
        self.kills += 1
        self._start()
        return True

    def _last_words(self) -> str:
        self._take(self._last_lines())
        return "\n".join(self._errors)

    def wait(self) -> int:
        """Wait for the end and return the exit code; end it if it stands still."""
        if not self._ends(self.wait_for("end")):
            self.end()
        return self._process.returncode


class Operator:
    """Talks to a firmware over its console as a person or a script would."""

    def __init__(self, console: ConsoleLine, firmware: FirmwareProcess) -> None:
        self.console = console
        self.firmware = firmware

    def ask(self, line: str, doubt: str = "") -> str:
        """Send a line and return its answer; unasked lines on the way are dropped.

        What is typed before the firmware has opened its console is lost, so it is typed again when
        the firmware was started anew. `doubt` is why it may not answer; the wait is short then, and
        this is the error.
        """
        wait = self.firmware.wait_for(f"answer {line!r}")
        until_s = time.monotonic() + (DOUBT_S if doubt else math.inf)
        self.console.send(line)
        while True:
            answer = self._answer(wait)
            if answer is not None and (line == WAKE or not answer.startswith(WOKEN)):
                return answer
            if self.firmware.restart_if_killed():
                self._wake()
                wait = self.firmware.wait_for(f"answer {line!r}")
                self.console.send(line)
            if time.monotonic() > until_s:
                raise HostError(doubt)
            wait.check()

    def greet(self) -> str:
        """Wait until the firmware answers and has found its tone generator; return its state.

        From then on the firmware sends unasked lines about all that happens after this state.
        """
        self._wake()
        wait = self.firmware.wait_for("find its tone generator")
        while _fault_of(self.ask("*TST?")) & BOARD_FAULTS:
            wait.check()
            time.sleep(POLL_S)
        self.ask("SYST:EVEN ON")
        return self.ask("SESS:STAT?")

    def _wake(self) -> None:
        """Ask until there is an answer, and drop further answers to the same question.

        Lines that a firmware process before this one had sent are dropped first.
        """
        self._let_by()
        wait = self.firmware.wait_for("answer after its start")
        while True:
            self.console.send(WAKE)
            if (self._answer(wait, WAKE_S) or "").startswith(WOKEN):
                self._let_by()
                return
            self.firmware.restart_if_killed()
            wait.check()

    def _let_by(self) -> None:
        while any(not line.startswith("!") for line in self.console.lines(QUIET_S)):
            continue

    def _answer(self, wait: Wait, timeout_s: float = 0.2) -> str | None:
        """Return the next answer, None if none comes; every line is noted as a sign of life."""
        self.firmware.hear(wait)
        for line in self.console.lines(timeout_s):
            wait.hear(line)
            if not line.startswith("!"):
                return line
        return None


def _fault_of(answer: str) -> int:
    """Return the code in the answer to *TST?; every fault if it is not such an answer."""
    code = answer.partition(",")[0]
    return int(code) if code.isascii() and code.isdigit() else BOARD_FAULTS
