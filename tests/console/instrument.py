"""The real table of commands before an instrument that only remembers what it was asked."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

from firmware_py.console.command_row import Answer, Command, When
from firmware_py.console.console import Console
from firmware_py.console.grammar import ConsoleError
from firmware_py.console.pin import PinLock
from firmware_py.operator.commands import COMMANDS

Call = tuple[object, ...]

PICTURE = ["first line of a picture", "second line"]


@dataclass
class Recorder:
    """Answers every query with the name of its handler, and refuses what it is told to."""

    calls: list[Call] = field(default_factory=list)
    refusal: ConsoleError | None = None
    waits: bool = False  # to be told whose it is
    results: SimpleNamespace = field(default_factory=SimpleNamespace)  # takes in what is refused

    def take_call(self, name: str, *values: object) -> str:
        """Remember a call; return what a query is answered."""
        self.calls.append((name, *values))
        if self.refusal is not None:
            raise self.refusal
        return name


def recording(row: Command) -> Command:
    """Return a row with such a handler; whether a test is under way does not matter to it."""
    name = row.handler.__name__

    def handler(recorder: Recorder, *values: object) -> Answer:
        answer = recorder.take_call(name, *values)
        if name == "audiogram":
            return PICTURE
        return answer if row.header.endswith("?") else None

    return replace(row, handler=handler, when=When.ALWAYS)


def connect(
    lock: PinLock | None = None,
    recorder: Recorder | None = None,
    *,
    begun_since_start: bool = False,
) -> tuple[Recorder, Console]:
    """Return such an instrument and the console in front of it."""
    recorder = recorder or Recorder()
    console = Console(
        map(recording, COMMANDS), recorder, lock, begun_since_start=lambda: begun_since_start
    )
    return recorder, console
