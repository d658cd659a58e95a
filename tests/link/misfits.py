"""A board's program whose clock, answers or buttons are not what the wire page has."""

from collections.abc import Callable
from typing import Any

from device.simulator.simulated_board import SimulatedBoard
from device.tone_generator.outbox import Outbox
from device.tone_generator.server import ToneGenerator
from firmware_py.link.frames import encode

Clock = Callable[[int], int]  # what a board tells, of its true time


def right(us: int) -> int:
    return us


class MisfitOutbox(Outbox):
    """Stamps events by a clock of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.clock: Clock = right

    def put_event(self, verb: str, values: dict[str, Any]) -> None:
        super().put_event(verb, {**values, "us": self.clock(values["us"])})


class MisfitServer(ToneGenerator):
    """The program, whose answers have no fields, or are not given, or refuse, where that is told.

    A ping is told the time by its `clock`, and that nothing has happened if it `forgets`.
    """

    outbox: MisfitOutbox
    outbox_type = MisfitOutbox

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.clock: Clock = right
        self.without_fields = False
        self.deaf_to = self.refuses = ""
        self.forgets = False

    def set_clock(self, clock: Clock) -> None:
        """Have all its times told by a clock."""
        self.clock = self.outbox.clock = clock

    def _ping(self, values: dict[str, Any]) -> dict[str, Any]:
        answer = super()._ping(values)
        event = 0 if self.forgets else answer["event"]
        return {**answer, "event": event, "us": self.clock(answer["us"])}

    def _do(self, sequence: int, verb: str, fields: dict[str, str]) -> bytes:
        answer = super()._do(sequence, verb, fields)
        if verb == self.refuses:
            return encode(sequence, "error", (("code", "verb"),))
        if self.without_fields and verb not in ("hello", "serial"):
            return encode(sequence, "ok", ())
        return answer

    def _take_command(self, sequence: int, verb: str, fields: dict[str, str]) -> None:
        if verb != self.deaf_to:
            super()._take_command(sequence, verb, fields)


class MisfitBoard(SimulatedBoard):
    server: MisfitServer
    server_type = MisfitServer
