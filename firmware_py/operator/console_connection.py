"""The connection to the operator: its port, what is typed there, and what is said."""

from typing import Final

from firmware_py.board.board_connection import Reopening
from firmware_py.console import grammar
from firmware_py.console.console import Console, Left
from firmware_py.console.grammar import ConsoleError
from firmware_py.console.pin import RELOCK_S
from firmware_py.platform.clock import SteadyClock, Waiting
from firmware_py.platform.ports import Port, PortError
from firmware_py.terms.printable import printable

LAST_WORDS_S: Final = 0.25  # some 2800 bytes of the line
# Without a byte: whoever comes then counts as somebody else. Not every line tells that its other
# end went, see the console's page.
SILENCE_S: Final = RELOCK_S


class ConsoleConnection:
    """The connection to the operator, by a port not yet open; the device goes on without one."""

    def __init__(self, port: Port, console: Console, clock: SteadyClock) -> None:
        self.port = port
        self._console = console
        self._clock = clock
        self._reopening = Reopening(port, clock)
        self._told: list[str] = []
        self._heard_s: float | None = None  # when the last byte came; None: nobody is there

    def say(self, line: str) -> None:
        self._told.append(line)

    def serve(self) -> None:
        try:
            self._reopening.try_again()
            typed = self.port.read()
            self._look_at_the_time(comes=bool(typed))
            self._told += self._console.receive(typed)
            if self.port.has_hung_up():
                self._operator_left(Left.LINE)
        except PortError as error:
            self._lose(error)

    def flush(self) -> None:
        lines, self._told = self._told, []
        try:
            # What is told may come from a file, or be the name of one.
            told = "".join(f"{printable(line)}\r\n" for line in lines)
            self.port.write(told.encode())
        except PortError as error:
            self._lose(error)

    def flush_last_words(self, waiting: Waiting) -> None:
        try:
            self.flush()
            self.port.drain(LAST_WORDS_S, self._clock.world_s, waiting.sleep)
        except PortError:
            return

    def _look_at_the_time(self, *, comes: bool) -> None:
        """Lock when it is time, before anything is done that comes only now."""
        now_s = self._clock.world_s()
        if self._heard_s is not None and now_s - self._heard_s >= SILENCE_S:
            self._operator_left(Left.UNASKED)
        self._console.lock_when_it_is_time()
        if comes:
            self._heard_s = now_s

    def _operator_left(self, left: Left) -> None:
        """Keep from the next operator what was this one's, a line typed by half included."""
        self._heard_s = None
        if left is Left.LINE:
            self._told.clear()
        self.port.forget_unsent()
        self._console.forget_line()
        self._console.lock_up(left)

    def _lose(self, error: PortError) -> None:
        self._operator_left(Left.LINE)
        self._reopening.delay()
        self._console.errors.add(ConsoleError(grammar.HARDWARE_MISSING, str(error)))
