"""The table of commands, and the console that reads lines and looks them up in it."""

import codecs
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from firmware_py.console.grammar import (
    ILLEGAL_PARAMETER,
    LINE_CHARACTERS_MAX,
    MISSING_PARAMETER,
    PARAMETER_NOT_ALLOWED,
    UNDEFINED_HEADER,
    ConsoleError,
    ErrorQueue,
    header_pattern,
    parse_line,
)
from firmware_py.console.named import Argument, in_order, usage_of
from firmware_py.console.pin import PinLock

START: Final = (
    Argument("EAR", "BOTH|LEFT|RIGHT", bare=True),
    Argument("AGE", "YEARS", number=True, personal=True),
    Argument("SEX", "F|M", personal=True),
    Argument("ID", "WORD", personal=True, any_script=True),
    Argument("SEED", "NUMBER", number=True),
)
ALWAYS: Final = -1  # of `Command.pin_beyond`


class Instrument(Protocol):
    """What the console can do: implemented by the firmware.

    A query returns its answer, a command None; both raise `ConsoleError`. Texts for people are
    several lines.
    """

    def identify(self) -> str:
        """Return maker, model, serial number and version."""

    def self_test(self) -> str:
        """Return the sum of what is at fault, 0 for nothing, and in quotes what was found."""

    def reset(self) -> None:
        """Abort a running test; settings as configured."""

    def shut_down(self) -> None:
        """End the firmware; a running test is kept."""

    def version(self) -> str:
        """Return the versions of firmware and wire."""

    def time(self) -> str:
        """Return date and time of day; the clock is never set from here."""

    def set_events(self, text: str) -> None:
        """Switch the unasked lines ON or OFF."""

    def events(self) -> str:
        """Return ON or OFF."""

    def start(
        self,
        ears: str | None,
        age_years: str | None,
        sex: str | None,
        identifier: str | None,
        seed: str | None,
    ) -> None:
        """Start a test.

        Of these ears (BOTH, LEFT, RIGHT) with this seed, None: as set; of somebody of this age and
        sex (F, M), whom somebody else's records call this, None: not told.
        """

    def pause(self) -> None:
        """Pause the test."""

    def go_on(self) -> None:
        """Go on with a paused test."""

    def abort(self) -> None:
        """End the test."""

    def state(self) -> str:
        """Return where the test is."""

    def sessions(self, count: str | None) -> str:
        """Return the newest sessions, so many at most, with number, outcome, start, ears, ID."""

    def result(self, number: str | None) -> str:
        """Return the result as JSON, of an earlier session, or the last: so far or final."""

    def threshold(self, ear: str | None, number: str | None) -> str:
        """Return the thresholds of an ear, None: of all tested; of a session as in `result`."""

    def audiogram(self, number: str | None) -> Sequence[str]:
        """Return the audiogram in characters, line by line; of a session as in `result`."""

    def play_tone(
        self, ear: str, frequency_hz: str, level_db_hl: str, noise_db_hl: str | None
    ) -> None:
        """Play a tone by hand while no test is under way, with noise in the other ear or none."""

    def stop_tone(self) -> None:
        """End that tone."""

    def calibration(self) -> str:
        """Return state, dates and serial numbers of the calibration as JSON."""

    def calibration_limits(self, ear: str | None) -> str:
        """Return the highest levels of an ear at the audiogram frequencies; None: of both."""

    def play_calibration_tone(self, ear: str, frequency_hz: str, level_dbfs: str) -> None:
        """Play a steady tone for a sound level meter, while no test is under way."""

    def calibration_tone(self) -> str:
        """Return what became of that tone."""

    def stop_calibration_tone(self) -> None:
        """End that tone."""

    def set_setting(self, name: str, value: str) -> None:
        """Change a setting of the next test."""

    def setting(self, name: str | None) -> str:
        """Return one setting as JSON; None: all."""


@dataclass(frozen=True)
class Command:
    """One row of the table.

    Attributes
    ----------
    header, arguments, help : str
        For people; what matches the header is made from it.
    needed, allowed : int
        How many arguments.
    handler : callable
        Is given as many arguments as are allowed, None for those that are missing.
    pin_beyond : int or None
        It needs the PIN when more arguments than so many are given; None: never.
    secret : bool
        No argument of it may ever be repeated in an answer.
    named : sequence of Argument
        Its arguments, if each is written NAME=VALUE; the handler is given them in this order. It
        needs the PIN when one of them tells something of a person.
    """

    header: str
    arguments: str
    needed: int
    allowed: int
    handler: Callable[..., str | Sequence[str] | None]
    help: str
    pin_beyond: int | None = None
    secret: bool = False
    named: Sequence[Argument] = ()

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return what matches the header in all its forms."""
        return header_pattern(self.header)

    @property
    def usage(self) -> str:
        """Return how it is typed, for people."""
        return f"{self.header} {self.arguments}".strip()

    def given(self, arguments: list[str]) -> list[str | None]:
        """Return what the handler is given, None for what is missing.

        Raises
        ------
        ConsoleError
            If there are too many or too few, or one that is not allowed.
        """
        if self.named:
            return in_order(self.named, arguments, self.usage)
        _check_arguments(self, arguments)
        return [*(a or None for a in arguments), *[None] * (self.allowed - len(arguments))]

    def needs_pin(self, given: Sequence[str | None]) -> bool:
        """Return whether it needs the PIN, given this."""
        if self.named:
            pairs = zip(self.named, given, strict=True)
            return any(argument.personal and value is not None for argument, value in pairs)
        told = max((n for n, a in enumerate(given, 1) if a is not None), default=0)
        return self.pin_beyond is not None and told > self.pin_beyond


def command_table(instrument: Instrument, console: "Console") -> list[Command]:
    """Return the whole table; `HELP` is made from it."""
    i = instrument
    return [
        Command("HELP", "", 0, 0, console.help, "this list"),
        Command("*IDN?", "", 0, 0, i.identify, "maker, model, serial number, version"),
        Command("*TST?", "", 0, 0, i.self_test, "self-test: 0 and what was found, or what fails"),
        Command("*RST", "", 0, 0, i.reset, "abort a running session, settings as configured"),
        Command("*CLS", "", 0, 0, console.clear, "forget all errors"),
        Command("SYSTem:ERRor?", "", 0, 0, console.next_error, "the oldest error, and forget it"),
        Command("SYSTem:VERSion?", "", 0, 0, i.version, "versions of firmware and wire"),
        Command("SYSTem:TIME?", "", 0, 0, i.time, "date and time of day, ISO 8601"),
        Command("SYSTem:PIN", "PIN", 1, 1, console.enter_pin, "unlock what needs it", secret=True),
        Command("SYSTem:PIN?", "", 0, 0, console.pin_state, "LOCKED, UNLOCKED, or NONE needed"),
        Command("SYSTem:LOCK", "", 0, 0, console.lock_pin, "lock again, as after 5 min by itself"),
        Command("SYSTem:EVENts", "ON|OFF", 1, 1, i.set_events, "tell what happens, lines with !"),
        Command("SYSTem:EVENts?", "", 0, 0, i.events, "whether it does"),
        Command("SYSTem:EXIT", "", 0, 0, i.shut_down, "end the firmware; a session is kept"),
        Command(
            "SESSion:STARt", usage_of(START), 0, len(START), i.start, "start a test", named=START
        ),
        Command("SESSion:PAUSe", "", 0, 0, i.pause, "silence, and wait"),
        Command("SESSion:CONTinue", "", 0, 0, i.go_on, "go on after a pause"),
        Command("SESSion:ABORt", "", 0, 0, i.abort, "end the test; what was measured is kept"),
        Command("SESSion:STATe?", "", 0, 0, i.state, "where the test is"),
        Command(
            "SESSion:LIST?", "[COUNT]", 0, 1, i.sessions, "number,outcome,start,ears,ID;...",
            pin_beyond=ALWAYS,
        ),
        Command(
            "SESSion:RESult?", "[NUMBER]", 0, 1, i.result, "the result as JSON, so far or final",
            pin_beyond=0,
        ),
        Command(
            "THReshold?", "[LEFT|RIGHT][,NUMBER]", 0, 2, i.threshold,
            "Hz,dB HL,SD dB,mark;... an ear", pin_beyond=1,
        ),
        Command("AUDiogram", "[NUMBER]", 0, 1, i.audiogram, "draw it", pin_beyond=0),
        Command(
            "TONE", "EAR,HZ,DBHL[,NOISE]", 3, 4, i.play_tone,
            "a tone while no test runs; noise in the other ear",
        ),
        Command("TONE:STOP", "", 0, 0, i.stop_tone, "end that tone"),
        Command("CALibration?", "", 0, 0, i.calibration, "of the next test, as JSON"),
        Command("CALibration:LIMits?", "[LEFT|RIGHT]", 0, 1, i.calibration_limits, "Hz,dB HL;..."),
        Command(
            "CALibration:TONE", "EAR,HZ,DBFS", 3, 3, i.play_calibration_tone, "5 s, for a meter",
            pin_beyond=ALWAYS,
        ),
        Command("CALibration:TONE?", "", 0, 0, i.calibration_tone, "what became of it"),
        Command("CALibration:STOP", "", 0, 0, i.stop_calibration_tone, "end the tone"),
        Command(
            "SETTing", "NAME,VALUE", 2, 2, i.set_setting, "of the next test", pin_beyond=ALWAYS
        ),
        Command("SETTing?", "[NAME]", 0, 1, i.setting, "one setting, or all as JSON"),
    ]  # fmt: skip


class Console:
    """Reads lines, does what they say, and answers each with one line.

    A query is answered with its value, a command with `OK`, an error with `ERROR number,"words"`.
    `HELP` and `AUDiogram` are for people: their lines come before the `OK`.

    Parameters
    ----------
    instrument : Instrument
        Does the work.
    lock : PinLock, optional
        Asks for the operator's PIN; without one none is needed.
    """

    def __init__(self, instrument: Instrument, lock: PinLock | None = None) -> None:
        self.errors = ErrorQueue()
        self.lock = lock or PinLock(None, lambda: 0.0)
        self._table = [(c.pattern, c) for c in command_table(instrument, self)]
        self._partial: list[str] = []
        # The bytes of a character may come apart.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def receive(self, data: bytes) -> list[str]:
        """Take in bytes from the port and return the lines to answer."""
        answers = []
        for character in self._decoder.decode(data):
            if character in "\r\n":
                line = "".join(self._partial)
                self._partial.clear()
                answers += self.execute(line)
            elif character in "\x08\x7f":
                if len(self._partial) <= LINE_CHARACTERS_MAX:  # what was dropped cannot come back
                    del self._partial[-1:]
            elif character in "\x03\x15":  # ^C, ^U: begin the line anew
                self._partial.clear()
            elif len(self._partial) <= LINE_CHARACTERS_MAX:
                self._partial.append(character)
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
            lines.append(f"{command.usage:<39}  {command.help}")
        lines.append(
            "NAME=VALUE in any order: SESS:STAR EAR=LEFT,AGE=67,SEX=F; LEFT alone is EAR=LEFT"
        )
        lines.append("Capitals are the short form: SESS:STAR is SESSION:START, in any case")
        return lines

    def clear(self) -> None:
        """Forget all errors."""
        self.errors.clear()

    def next_error(self) -> str:
        """Return the oldest error and forget it."""
        return self.errors.next()

    def enter_pin(self, pin: str) -> None:
        """Unlock what needs the PIN."""
        self.lock.enter(pin)

    def pin_state(self) -> str:
        """Return whether the PIN is needed."""
        return self.lock.state

    def lock_pin(self) -> None:
        """Lock what needs the PIN."""
        self.lock.lock()

    def _do(self, line: str) -> str | Sequence[str] | None:
        header, arguments = parse_line(line)
        for pattern, command in self._table:
            if pattern.fullmatch(header):
                given = command.given(arguments)
                if command.needs_pin(given):
                    self.lock.require()
                return command.handler(*given)
        shown = re.sub("[0-9]", "#", header)  # it may be a PIN, typed in the wrong place
        raise ConsoleError(
            UNDEFINED_HEADER, f"{shown!r} is no command; {self._nearest(shown)}; nothing was done"
        )

    def _nearest(self, header: str) -> str:
        """Say which command is nearest to what was typed, if one is near, and where they are."""
        from difflib import get_close_matches  # a start can do without it

        shorts = {command.header: re.sub("[a-z]", "", command.header) for _, command in self._table}
        forms = {header.upper(): short for header, short in shorts.items()}
        forms |= {short.upper(): short for short in shorts.values()}
        near = get_close_matches(header.upper(), forms, n=1, cutoff=0.7)
        return f"the nearest is {forms[near[0]]}, and HELP lists all" if near else "HELP lists them"


def _check_arguments(command: Command, arguments: list[str]) -> None:
    if len(arguments) < command.needed or "" in arguments[: command.needed]:
        raise ConsoleError(MISSING_PARAMETER, f"something is missing: {command.usage}")
    if len(arguments) > command.allowed:
        surplus = repr(",".join(arguments[command.allowed :]))
        shown = "something" if command.secret else surplus
        raise ConsoleError(PARAMETER_NOT_ALLOWED, f"{shown} is too much: {command.usage}")
    if not all(argument.isascii() for argument in arguments):
        shown = "an argument" if command.secret else repr(",".join(arguments))
        raise ConsoleError(ILLEGAL_PARAMETER, f"{shown} has to be ASCII: {command.usage}")
