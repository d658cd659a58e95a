"""The commands for the board: one is under way at a time, the others wait."""

from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from firmware_py.link.frames import encode
from firmware_py.link.messages import COMMANDS, write

ANSWER_TIMEOUT_US: Final = 200_000  # a command is answered within milliseconds
PING_INTERVAL_US: Final = 300_000  # the board falls silent after 1 s without a frame
SEQUENCE_RENEWAL: Final = 900_000  # a new nonce before 999999, see the wire page
QUEUE_MAX: Final = 16
SOUND_VERBS: Final = ("tone", "stop", "mask", "unmask")


class UnansweredError(ValueError):
    """More commands wait for the board than a session ever needs."""


@dataclass
class Command:
    """A command under way: its bytes, how often they were sent, and when first (`asked_us`).

    `told`: the last event that the board had told by then. `bytes_heard`, `frames_heard`: what
    has come since.
    """

    sequence: int
    verb: str
    line: bytes
    asked_us: int
    told: int
    sent: int = 0
    due_us: int = 0
    bytes_heard: int = 0
    frames_heard: int = 0

    def say_unanswered(self) -> str:
        why = f"{self.verb!r} was sent {self.sent} times without answer"
        if self.verb != "hello" or not self.bytes_heard:
            return why
        if self.frames_heard:
            return f"{why}; frames came, but none that answers (does the line echo?)"
        return f"{why}; {self.bytes_heard} bytes came that are not of the wire"


class Commands:
    """The commands for the board, as bytes that are to be sent; one is `under_way`, if any."""

    def __init__(self) -> None:
        self.under_way: Command | None = None
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque()
        self._sequence = 0
        self._next_ping_us = 0
        self._bytes = bytearray()

    @property
    def busy(self) -> bool:
        return self.under_way is not None or bool(self._waiting)

    @property
    def numbers_run_out(self) -> bool:
        """Return whether a new conversation should begin: with its numbers from 1 on."""
        return self._sequence >= SEQUENCE_RENEWAL

    def clear(self) -> None:
        self.under_way = None
        self._waiting.clear()
        self._bytes.clear()
        self._sequence = 0

    def request(self, verb: str, values: dict[str, Any]) -> None:
        if len(self._waiting) >= QUEUE_MAX:
            raise UnansweredError(f"{verb}: {QUEUE_MAX} commands wait for the board already")
        self._waiting.append((verb, values))

    def waits(self, verb: str) -> bool:
        return any(waiting == verb for waiting, _ in self._waiting)

    def first(self, verb: str, values: dict[str, Any], *, instead_of: tuple[str, ...] = ()) -> None:
        """Have a command sent before those that wait, and none of some others."""
        self._drop(instead_of)
        self._waiting.appendleft((verb, values))

    def last(self, verb: str, values: dict[str, Any]) -> None:
        """Have a command sent after those that wait, and none of its kind before."""
        self._drop((verb,))
        self._waiting.append((verb, values))

    def _drop(self, verbs: tuple[str, ...]) -> None:
        self._waiting = deque(each for each in self._waiting if each[0] not in verbs)

    def send(self, verb: str, values: dict[str, Any], told: int, now_us: int) -> None:
        """Have a command under way; `told`: the last event that the board has told."""
        self._sequence += 1
        line = encode(self._sequence, verb, write(COMMANDS[verb][0], values))
        self.under_way = Command(self._sequence, verb, line, now_us, told)
        self.transmit(self.under_way, now_us)

    def send_due(self, told: int, now_us: int) -> None:
        if self._waiting:
            self.send(*self._waiting.popleft(), told, now_us)
        elif now_us >= self._next_ping_us:
            self.send("ping", {}, told, now_us)

    def transmit(self, command: Command, now_us: int) -> None:
        command.sent += 1
        command.due_us = now_us + ANSWER_TIMEOUT_US
        self._next_ping_us = now_us + PING_INTERVAL_US
        self._bytes += command.line

    def due_us(self) -> int:
        if self.under_way is not None:
            return self.under_way.due_us
        return 0 if self._waiting else self._next_ping_us

    def take(self) -> bytes:
        data = bytes(self._bytes)
        self._bytes.clear()
        return data
