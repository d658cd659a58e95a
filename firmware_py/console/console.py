"""The console: reads lines, looks them up in its table of commands, and answers each."""

import codecs
import re
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Final

from firmware_py.console.arguments import Argument, Word
from firmware_py.console.command_row import Answer, Command, UnderWay, help_lines
from firmware_py.console.grammar import (
    LINE_CHARACTERS_MAX,
    MASS_STORAGE,
    SETTINGS_CONFLICT,
    UNDEFINED_HEADER,
    ConsoleError,
    ErrorQueue,
    parse_line,
)
from firmware_py.console.pin import PinLock

ERASE: Final = "\x08\x7f"
BEGIN_ANEW: Final = "\x03\x15"  # ^C, ^U


class Left(Enum):
    """How an operator left."""

    ASKED = "locked"
    UNASKED = "locked by time alone"  # perhaps somebody is still there
    LINE = "the line went"


class Console:
    """Reads lines, does what they say, and answers each with one line.

    A query is answered with its value, a command with `OK`, an error with `ERROR number,"words"`.
    Lines for people come before the `OK`.

    To the table of `commands`, whose handlers are given the `instrument` first, the console adds
    its own (`OWN_COMMANDS`). `forget` forgets what else was an operator's; see `add`. `record` puts
    what happened on the disk, and returns what that refused, in words: nothing is answered before.
    """

    def __init__(
        self,
        commands: Iterable[Command],
        instrument: object,
        lock: PinLock | None = None,
        under_way: Callable[[], UnderWay] = lambda: UnderWay.NOTHING,
        begun_since_start: Callable[[], bool] = lambda: False,
        forget: Callable[[Left], None] | None = None,
        record: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._record = record
        self.errors = ErrorQueue()
        self.lock = lock or PinLock(None, lambda: 0.0)
        self._under_way = under_way
        self._begun_since_start = begun_since_start
        self._forgetting: list[Callable[[Left], None]] = []
        self._table: list[tuple[Command, object]] = [(own, self) for own in OWN_COMMANDS]
        self.add(commands, instrument, forget)
        self._partial: list[str] = []
        # The bytes of a character may come apart.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def add(
        self,
        commands: Iterable[Command],
        instrument: object,
        forget: Callable[[Left], None] | None = None,
    ) -> None:
        """Take these commands, too; `instrument` is what their handlers are given first.

        `forget` is told when, and how, the operator has left, to forget what was his.
        """
        self._table += [(command, instrument) for command in commands]
        if forget is not None:
            self._forgetting.append(forget)

    def receive(self, data: bytes) -> list[str]:
        answers = []
        for character in self._decoder.decode(data):
            if character in "\r\n":
                line = "".join(self._partial)
                self._partial.clear()
                answers += self.execute(line)
            elif character in ERASE:
                if len(self._partial) <= LINE_CHARACTERS_MAX:  # what was dropped cannot come back
                    del self._partial[-1:]
            elif character in BEGIN_ANEW:
                self._partial.clear()
            elif len(self._partial) <= LINE_CHARACTERS_MAX:
                self._partial.append(character)
        return answers

    def forget_line(self) -> None:
        self._partial.clear()
        self._decoder.reset()

    def lock_up(self, left: Left = Left.ASKED) -> None:
        """Lock, and forget what was this operator's: the next one is somebody else."""
        self.lock.lock()
        self.errors.forget_lines()
        for forget in self._forgetting:
            forget(left)

    def lock_when_it_is_time(self) -> None:
        """Lock if the PIN was needed for nothing for too long, or a wrong one was typed."""
        if self.lock.is_over:
            self.lock_up(Left.UNASKED)

    def execute(self, line: str) -> list[str]:
        """Do what a line says; an empty line says nothing."""
        if not line.strip():
            return []
        self.lock_when_it_is_time()
        try:
            answer = self._do(line)
        except ConsoleError as error:
            self.errors.add(error, of_line=True)
            return [f"ERROR {error.answer}"]
        if answer is None:
            return ["OK"]
        return [answer] if isinstance(answer, str) else [*answer, "OK"]

    def help(self) -> list[str]:
        return help_lines(command for command, _ in self._table)

    def _do(self, line: str) -> Answer:
        header, typed = parse_line(line)
        command, subject = self._row(header)
        try:
            return self._run_command(command, subject, typed)
        except ConsoleError:
            if command.refused is not None:
                command.refused(subject)
            raise

    def _run_command(self, command: Command, subject: object, typed: list[str]) -> Answer:
        self._record()  # what the disk refuses of before is no fault of this command
        texts = command.texts(typed)
        if command.needs_pin(subject, texts, self._begun_since_start()):
            self.lock.require()
        if hindrance := command.when.hindrance(self._under_way()):
            raise ConsoleError(SETTINGS_CONFLICT, hindrance)
        answer = command.handler(subject, *command.values(texts))
        if refused := self._record():
            raise ConsoleError(MASS_STORAGE, "; ".join(refused))
        return answer

    def _row(self, header: str) -> tuple[Command, object]:
        for command, subject in self._table:
            if command.pattern.fullmatch(header):
                return command, subject
        shown = re.sub("[0-9]", "#", header)  # it may be a PIN, typed in the wrong place
        raise ConsoleError(
            UNDEFINED_HEADER, f"{shown!r} is no command; {self._nearest(shown)}; nothing was done"
        )

    def _nearest(self, header: str) -> str:
        """Say which command is nearest to what was typed, if one is near, and where they are."""
        from difflib import get_close_matches  # a start can do without it

        forms = {command.header.upper(): command.short for command, _ in self._table}
        forms |= {command.short: command.short for command, _ in self._table}
        near = get_close_matches(header.upper(), forms, n=1, cutoff=0.7)
        return f"the nearest is {forms[near[0]]}, and HELP lists all" if near else "HELP lists them"


OWN_COMMANDS: Final = (
    Command("HELP", Console.help, "this list"),
    Command("*CLS", lambda console: console.errors.clear(), "forget all errors"),
    Command(
        "SYSTem:ERRor?", lambda console: console.errors.next(), "the oldest error, and forget it"
    ),
    Command(
        "SYSTem:PIN", lambda console, pin: console.lock.enter(pin), "unlock the console",
        (Argument("PIN", Word("PIN")),), secret=True,
    ),
    Command("SYSTem:PIN?", lambda console: console.lock.state, "LOCKED, UNLOCKED, or NONE needed"),
    Command(
        "SYSTem:LOCK", lambda console: console.lock_up(),
        "lock, and forget what you set (by itself after 5 min)",
    ),
)  # fmt: skip
