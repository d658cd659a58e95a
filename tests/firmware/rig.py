"""A real firmware process at real ptys: the board at one, the operator at the other."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Self

from device.simulator.listener import Listener
from device.simulator.serve import serve_in_thread
from device.simulator.simulated_board import SimulatedBoard
from firmware_py.calibration.simulated import SERIAL
from host_tools.devices.patience import Wait
from host_tools.devices.processes import ConsoleLine, FirmwareProcess, Operator
from tests.firmware.whole_sessions import a_listener

REPO: Final = Path(__file__).parents[2]
SPEED: Final = 100.0
WAIT_S_MAX: Final = 60.0  # for anything at all, on a very busy machine


class Served:
    """A board behind a pty, in a thread; the board itself can be looked at."""

    def __init__(
        self, listener: Listener, boot: int = 1, speed: float = SPEED, serial: str = SERIAL
    ) -> None:
        silence_us = round(1e6 * speed)
        self.board = SimulatedBoard(listener, boot=boot, serial=serial, host_silence_us=silence_us)
        self._service = ExitStack()
        self.port = self._service.enter_context(serve_in_thread(self.board, speed))

    def stop(self) -> None:
        self._service.close()


class Process(FirmwareProcess):
    """The firmware as a process of the test."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = [*command]
        self._tell = print
        self.kills = 0
        self.rest = ""
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command, cwd=REPO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def hear(self, wait: Wait) -> None:
        """Leave what it says to the test, which reads it itself."""

    def _last_words(self) -> str:
        return self.end_of()[1]

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def first_line(self) -> str:
        """Wait for the first line of standard output and return it."""
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def terminate(self) -> None:
        self._process.terminate()

    def end_of(self) -> tuple[int, str]:
        """Wait for the end and return exit code and standard error."""
        self.rest, words = self._process.communicate(timeout=WAIT_S_MAX)
        return self._process.returncode, words

    def close(self) -> None:
        if not self.ended:
            self._process.kill()
        if self._process.stderr is not None and not self._process.stderr.closed:
            self._process.communicate()


class Rig:
    """A firmware with what it needs, used in a `with` statement; files go beside its data."""

    def __init__(
        self, directory: Path, listener: Listener | None = None, speed: float = SPEED
    ) -> None:
        self.data = directory
        self.speed = speed
        self.listener = listener or a_listener("S2")
        self.console = ConsoleLine()
        self.served = Served(self.listener, speed=speed)
        self._cables = {name: directory.with_name(f"{directory.name}.{name}") for name in "tc"}
        self.lines: list[str] = []
        self.process: Process | None = None
        self.plug(self.served.port, self.console.port)

    def plug(self, tones: str, console: str) -> None:
        """Have the names that the firmware knows lead to these ports."""
        for cable, port in zip(self._cables.values(), (tones, console), strict=True):
            cable.unlink(missing_ok=True)
            cable.symlink_to(port)

    def hang_up(self) -> None:
        """Pull the board's cable; the name leads nowhere before the pty is anybody else's."""
        self._cables["t"].unlink(missing_ok=True)
        self.served.stop()

    def new_board(self, boot: int = 2, serial: str = SERIAL) -> None:
        """Start the board anew, or put one with another serial number in its place."""
        self.hang_up()
        self.served = Served(self.listener, boot, self.speed, serial)
        self.plug(self.served.port, self.console.port)

    def start(
        self, *options: str, config: str = "", tones: str = "", wrapper: Sequence[str] = ()
    ) -> Process:
        """Start the firmware; one that was there has to have ended."""
        if self.process is not None:
            self.process.close()
        if config:
            path = self.data.with_name(f"{self.data.name}.toml")
            path.write_text(config)
            options = (*options, "--config", str(path))
        self.process = Process(
            [
                *wrapper, sys.executable, "-m", "firmware_py.main",
                "--tone-generator", tones or str(self._cables["t"]),
                "--console", str(self._cables["c"]), "--data", str(self.data),
                "--speed", str(self.speed), *options,
            ]
        )  # fmt: skip
        return self.process

    @property
    def operator(self) -> Operator:
        assert self.process is not None
        return Operator(self.console, self.process)

    def begin(self, what: str = "LEFT,SEED=3") -> None:
        """Have the operator start a test, at a firmware that is started first if none was."""
        if self.process is None:
            self.start()
        self.operator.greet()
        assert self.operator.ask(f"SESS:STAR {what}") == "OK"

    def until(self, *words: str) -> str:
        """Read what the firmware tells until a line has all these words; return that line."""
        until_s = time.monotonic() + WAIT_S_MAX
        while time.monotonic() < until_s:
            for line in self.console.lines(0.1):
                self.lines.append(line)
                if all(word in line for word in words):
                    return line
            if self.process is not None and self.process.ended and not self._more():
                break
        raise AssertionError(f"{words} did not come; it ended like this: {self.lines[-10:]}")

    def _more(self) -> bool:
        lines = [*self.console.lines(0.1)]
        self.console._unread.extend(lines)
        return bool(lines)

    def rest(self) -> str:
        """Return all that is still to be read, and what was read before."""
        while more := [*self.console.lines(0.1)]:
            self.lines += more
        return "\n".join(self.lines)

    def errors(self) -> str:
        """Return all errors the firmware has for the operator."""
        errors: list[str] = []
        while not (error := self.operator.ask("SYST:ERR?")).startswith("0,"):
            errors.append(error)
        return "\n".join(errors)

    def wait(self, come: Callable[[], bool]) -> None:
        """Wait until something has come that the firmware does not tell."""
        until_s = time.monotonic() + WAIT_S_MAX
        while not come():
            assert time.monotonic() < until_s
            time.sleep(0.02)

    def journal(self, number: int = 1) -> Path:
        return self.data / f"session-{number:06d}.journal"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.close()
        self.served.stop()
        self.console.close()
