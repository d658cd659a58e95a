"""The table of commands, and the console that reads lines and looks them up in it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from firmware_py.console.grammar import (
    LINE_CHARACTERS_MAX,
    MISSING_PARAMETER,
    PARAMETER_NOT_ALLOWED,
    UNDEFINED_HEADER,
    ConsoleError,
    ErrorQueue,
    header_pattern,
    parse_line,
)

START_ARGUMENTS: Final = "[BOTH|LEFT|RIGHT][,SEED][,AGE][,F|M]"


class Instrument(Protocol):
    """What the console can do: implemented by the firmware.

    A query returns its answer, a command None; both raise `ConsoleError`. Texts for people are
    several lines.
    """

    def identify(self) -> str:
        """Return maker, model, serial number and version."""

    def self_test(self) -> str:
        """Return 0 and what was found in quotes, or 1 and what is wrong."""

    def reset(self) -> None:
        """Abort a running test; settings as configured."""

    def shut_down(self) -> None:
        """End the firmware; a running test is kept."""

    def version(self) -> str:
        """Return the versions of firmware and wire."""

    def set_events(self, text: str) -> None:
        """Switch the unasked lines ON or OFF."""

    def events(self) -> str:
        """Return ON or OFF."""

    def start(
        self, ears: str | None, seed: str | None, age_years: str | None, sex: str | None
    ) -> None:
        """Start a test.

        Of these ears (BOTH, LEFT, RIGHT) with this seed, None: as set; of somebody of this age and
        sex (F, M), None: not told.
        """

    def pause(self) -> None:
        """Pause the test."""

    def go_on(self) -> None:
        """Go on with a paused test."""

    def abort(self) -> None:
        """End the test."""

    def state(self) -> str:
        """Return where the test is."""

    def result(self) -> str:
        """Return the result, so far or final, as JSON."""

    def threshold(self, ear: str | None) -> str:
        """Return the thresholds of an ear; None: of all that were tested."""

    def audiogram(self) -> Sequence[str]:
        """Return the audiogram in characters, line by line."""

    def set_setting(self, name: str, value: str) -> None:
        """Change a setting of the next test."""

    def setting(self, name: str | None) -> str:
        """Return one setting as JSON; None: all."""


@dataclass(frozen=True)
class Command:
    """One row of the table: header, arguments for people, how many are needed, handler, help."""

    header: str
    arguments: str
    needed: int
    allowed: int
    handler: Callable[..., str | Sequence[str] | None]
    help: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return what matches the header in all its forms."""
        return header_pattern(self.header)


def command_table(instrument: Instrument, console: "Console") -> list[Command]:
    """Return the whole table; `HELP` is made from it."""
    i = instrument
    return [
        Command("HELP", "", 0, 0, console.help, "this list"),
        Command("*IDN?", "", 0, 0, i.identify, "maker, model, serial number, version"),
        Command("*TST?", "", 0, 0, i.self_test, "self-test: 0 and what was found, or 1 and what"),
        Command("*RST", "", 0, 0, i.reset, "abort a running session, settings as configured"),
        Command("*CLS", "", 0, 0, console.clear, "forget all errors"),
        Command("SYSTem:ERRor?", "", 0, 0, console.next_error, "the oldest error, and forget it"),
        Command("SYSTem:VERSion?", "", 0, 0, i.version, "versions of firmware and wire"),
        Command("SYSTem:EVENts", "ON|OFF", 1, 1, i.set_events, "tell what happens, lines with !"),
        Command("SYSTem:EVENts?", "", 0, 0, i.events, "whether it does"),
        Command("SYSTem:EXIT", "", 0, 0, i.shut_down, "end the firmware; a session is kept"),
        Command("SESSion:STARt", START_ARGUMENTS, 0, 4, i.start, "start a hearing test"),
        Command("SESSion:PAUSe", "", 0, 0, i.pause, "silence, and wait"),
        Command("SESSion:CONTinue", "", 0, 0, i.go_on, "go on after a pause"),
        Command("SESSion:ABORt", "", 0, 0, i.abort, "end the test; what was measured is kept"),
        Command("SESSion:STATe?", "", 0, 0, i.state, "where the test is"),
        Command("SESSion:RESult?", "", 0, 0, i.result, "the result as JSON, so far or final"),
        Command("THReshold?", "[LEFT|RIGHT]", 0, 1, i.threshold, "Hz,dB HL,SD dB,mark;... an ear"),
        Command("AUDiogram", "", 0, 0, i.audiogram, "draw it"),
        Command("SETTing", "NAME,VALUE", 2, 2, i.set_setting, "of the next test"),
        Command("SETTing?", "[NAME]", 0, 1, i.setting, "one setting, or all as JSON"),
    ]


class Console:
    """Reads lines, does what they say, and answers each with one line.

    A query is answered with its value, a command with `OK`, an error with `ERROR number,"words"`.
    `HELP` and `AUDiogram` are for people: their lines come before the `OK`.

    Parameters
    ----------
    instrument : Instrument
        Does the work.
    """

    def __init__(self, instrument: Instrument) -> None:
        self.errors = ErrorQueue()
        self._table = [(c.pattern, c) for c in command_table(instrument, self)]
        self._partial = bytearray()

    def receive(self, data: bytes) -> list[str]:
        """Take in bytes from the port and return the lines to answer."""
        answers = []
        for byte in data:
            if byte in b"\r\n":
                line = self._partial.decode("ascii", "replace")
                self._partial.clear()
                answers += self.execute(line)
            elif byte in b"\x08\x7f":
                if len(self._partial) <= LINE_CHARACTERS_MAX:  # what was dropped cannot come back
                    del self._partial[-1:]
            elif byte in (0x03, 0x15):  # ^C, ^U: begin the line anew
                self._partial.clear()
            elif len(self._partial) <= LINE_CHARACTERS_MAX:
                self._partial.append(byte)
        return answers

    def execute(self, line: str) -> list[str]:
        """Do what a line says; an empty line says nothing."""
        if not line.strip():
            return []
        try:
            answer = self._do(line)
        except ConsoleError as error:
            self.errors.add(error)
            return [f"ERROR {error.answer}"]
        if answer is None:
            return ["OK"]
        return [answer] if isinstance(answer, str) else [*answer, "OK"]

    def help(self) -> list[str]:
        """Return the table of commands for people."""
        lines = []
        for _, command in self._table:
            usage = f"{command.header} {command.arguments}".strip()
            lines.append(f"{usage:<40} {command.help}")
        lines.append("Capitals are the short form: SESS:STAR LEFT,7,67,F or SESS:STAR LEFT")
        return lines

    def clear(self) -> None:
        """Forget all errors."""
        self.errors.clear()

    def next_error(self) -> str:
        """Return the oldest error and forget it."""
        return self.errors.next()

    def _do(self, line: str) -> str | Sequence[str] | None:
        header, arguments = parse_line(line)
        for pattern, command in self._table:
            if pattern.fullmatch(header):
                _check_arguments(command, arguments)
                given: list[str | None] = [a or None for a in arguments]
                missing = [None] * (command.allowed - len(given))
                return command.handler(*given, *missing)
        raise ConsoleError(
            UNDEFINED_HEADER, f"{header!r} is no command; HELP lists them; nothing was done"
        )


def _check_arguments(command: Command, arguments: list[str]) -> None:
    usage = f"{command.header} {command.arguments}".strip()
    if len(arguments) < command.needed or "" in arguments[: command.needed]:
        raise ConsoleError(MISSING_PARAMETER, f"something is missing: {usage}")
    if len(arguments) > command.allowed:
        surplus = ",".join(arguments[command.allowed :])
        raise ConsoleError(PARAMETER_NOT_ALLOWED, f"{surplus!r} is too much: {usage}")
