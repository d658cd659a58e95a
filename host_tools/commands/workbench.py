"""`gp-pta workbench`: simulated board, firmware and the operator's console in one terminal."""

import argparse
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Final

from device.simulator.serve import end_by_signals
from firmware_py.console.grammar import header_pattern
from firmware_py.platform.ports import Port, PortError
from firmware_py.terms.outcomes import UNFINISHED
from host_tools.commands.console import command as console
from host_tools.commands.console.command import (
    EXIT_DONE,
    Talk,
    converse,
    lines_of_a_script,
    lines_of_people,
)
from host_tools.devices import simulation
from host_tools.devices.live import IDLE_STATES, add_prior_argument, as_typed, check_prior
from host_tools.devices.processes import ConsoleLine, FirmwareProcess, Operator
from host_tools.devices.simulation import (
    SPEED,
    add_board_arguments,
    add_speed_argument,
    check_board,
    check_place,
    options_of,
    settings_of,
    start_devices,
)
from host_tools.devices.unfinished import WAITS, why_of
from host_tools.errors import HostError
from host_tools.recordings.look import entry_of
from host_tools.terminal import say_aside, say_wrapped

EXAMPLE = """\
example:
  gp-pta workbench --audiogram S2 --seed 3
  gp-pta workbench --speed 1 --data sessions
  printf 'SESS:STAR LEFT\\n' | gp-pta workbench --speed 100

Type what the console takes: HELP lists it, SESS:STAR starts a test. ^D or SYST:EXIT ends it all.
The journals stay, and an unfinished test is gone on with next time. A firmware that somebody kills
is started again.

From a pipe, a test that is under way after the last line is waited for, unless it is paused. Only
what the console says goes to standard output then.

exit codes: 0 ended, 1 a line was answered with an error, 2 it could not start or go on
"""

NEEDS: Final = {**console.NEEDS, **simulation.NEEDS}
EXIT_HEADER: Final = header_pattern("SYSTem:EXIT")
START_HEADER: Final = header_pattern("SESSion:STARt")
WAITING_STATES: Final = (*IDLE_STATES, "state=paused")  # for an operator
POLL_S: Final = 0.2


def add_arguments(p: argparse.ArgumentParser) -> None:
    add_board_arguments(p)
    add_prior_argument(p)
    add_speed_argument(p)
    p.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        default=Path("sessions"),
        help="keeps the journals; made if it is not there (default: sessions)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Open the bench, and close it when the operator has gone."""
    check_board(arguments)
    check_prior(arguments.prior)
    check_place(arguments, arguments.data, say_aside)
    before = _sizes(arguments.data)
    # SIGHUP is of a closed terminal.
    with end_by_signals(signal.SIGTERM, signal.SIGHUP), ExitStack() as stack:
        say_aside(f"starting the {arguments.board} tone generator and the firmware ...")
        parts = stack.enter_context(start_devices(arguments, arguments.data, say_aside))
        bench = _Bench(arguments, parts.console, parts.firmware)
        try:
            return bench.serve()
        finally:
            bench.leaving = True
            stack.close()
            if bench.greeted:
                _say_what_stays(arguments, before)


class _Bench:
    """The operator's end of the cable to a firmware, and what is typed there."""

    def __init__(
        self, arguments: argparse.Namespace, cable: ConsoleLine, firmware: FirmwareProcess
    ) -> None:
        self._arguments = arguments
        self._cable = cable
        self._firmware = firmware
        self._interactive = sys.stdin.isatty() and sys.stdout.isatty()
        self.greeted = False
        self.leaving = False

    def serve(self) -> int:
        """Talk until the operator leaves; a firmware that was killed is started again."""
        while True:
            operator = Operator(self._cable, self._firmware)
            state = operator.greet()
            for line in self._settings():
                say_aside(f"{line}: {operator.ask(line)}")
            if not state.startswith(IDLE_STATES):
                say_aside(f"going on with the unfinished test in {self._arguments.data}")
            if WAITS in state:
                say_aside(f"{why_of(state)} SESS:CONT goes on with it")
            if self._interactive and not self.greeted:
                say_aside("HELP lists the commands, SESS:STAR starts a test, ^D ends")
            self.greeted = True
            try:
                return self._talk()
            except (HostError, KeyboardInterrupt):
                # If it ended by itself, the error has its own words.
                if not self._firmware.has_ended() or not self._firmware.restart_if_killed():
                    raise
                if not self._interactive:  # the line under way may be lost
                    raise HostError("the firmware was killed") from None
            say_aside("the firmware was killed; started again")

    def _talk(self) -> int:
        end = OperatorsEnd(self._cable, self._firmware)
        with closing(Talk(end, say_wrapped, self._wake_operator)) as talk:
            talk.wake()
            if self._interactive:
                converse(talk, self._until_exit(talk, lines_of_people(talk)))
                code = EXIT_DONE  # a person has seen what was refused; a script needs the code
            else:
                code = converse(talk, self._until_exit(talk, lines_of_a_script()))
                while not self.leaving and not talk.insist("SESS:STAT?").startswith(WAITING_STATES):
                    time.sleep(POLL_S)
            self._close(talk)
            return code

    def _until_exit(self, talk: Talk, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            header = line.strip().removeprefix(":").partition(" ")[0]
            self.leaving = EXIT_HEADER.fullmatch(line.strip().removeprefix(":")) is not None
            yield line
            if self.leaving:
                return
            if START_HEADER.fullmatch(header):  # settings were of that test; the board stays
                for setting in self._settings():
                    talk.ask(setting)

    def _settings(self) -> list[str]:
        settings = settings_of(self._arguments)
        return [f"SETT {name},{as_typed(value)}" for name, value in settings.items()]

    def _close(self, talk: Talk) -> None:
        if not self.leaving:
            self.leaving = True
            talk.insist("SYST:EXIT")
        self._firmware.wait()

    def _wake_operator(self) -> None:
        """Interrupt a prompt that waits for a line, as the firmware is gone."""
        if not self.leaving:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


class OperatorsEnd(Port):
    """The operator's end of the cable as a port that is lost when the firmware ends."""

    is_open = True

    def __init__(self, cable: ConsoleLine, firmware: FirmwareProcess) -> None:
        super().__init__(cable.port, "console")
        self._cable = cable
        self._firmware = firmware

    def open(self) -> None: ...

    def close(self) -> None: ...

    def read(self) -> bytes:
        """Return whole lines that have come; `PortError` if there are no more, and it has ended."""
        ended = self._firmware.has_ended()
        come = "".join(f"{line}\n" for line in self._cable.lines(0.0))
        if ended and not come:
            raise PortError("the firmware has ended")
        return come.encode()

    def write(self, data: bytes) -> None:
        self._cable.send(data.rstrip(b"\r"))


def _sizes(data: Path) -> dict[Path, int]:
    with suppress(OSError):
        return {path: path.stat().st_size for path in data.glob("session-*.journal")}
    return {}


def _say_what_stays(arguments: argparse.Namespace, before: dict[Path, int]) -> None:
    touched = [p for p, size in _sizes(arguments.data).items() if before.get(p) != size]
    for path in sorted(touched):
        outcome = entry_of(path).outcome
        say_aside(f"{path}: {outcome}")
        if outcome == UNFINISHED:
            say_aside(f"  to go on: {_the_same(arguments)}")
        else:
            page = shlex.quote(f"{path.stem}.html")
            say_aside(f"  next: gp-pta report {shlex.quote(str(path))} -o {page}")


def _the_same(arguments: argparse.Namespace) -> str:
    """Return the command that opens this bench again, with the same listener."""
    usual = arguments.speed == SPEED[arguments.board]
    speed = [] if usual else ["--speed", f"{arguments.speed:g}"]
    more = [*speed, *_prior(arguments), "--data", str(arguments.data)]
    return shlex.join(["gp-pta", "workbench", *options_of(arguments), *more])


def _prior(arguments: argparse.Namespace) -> list[str]:
    return [] if arguments.prior is None else ["--prior", shlex.quote(str(arguments.prior))]
