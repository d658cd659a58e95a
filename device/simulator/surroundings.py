"""What a firmware stands on: ports, a board with a listener, a hearing aid, an operator, time."""

import copy
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Self

from device.simulator.aid import SimulatedAid
from device.simulator.lines import SimulatedLine
from device.simulator.simulated_board import SimulatedBoard
from device.simulator.virtual_clock import S, VirtualClock, microseconds
from firmware_py.platform.ports import Port

TURNS_MAX: Final = 1_000_000  # of the loop; a session of two ears has some ten thousand
BOARD_BEGAN_US: Final = -7_654_321  # the board was on before the firmware began


class Terminal:
    """The operator's terminal, at the firmware's console; it keeps all that was said there."""

    def __init__(self) -> None:
        self.line = SimulatedLine("/dev/console", self._hear)
        self.heard = ""
        self._typed: deque[tuple[str, Callable[[], bool]]] = deque()

    def type(self, line: str, when: Callable[[], bool] = lambda: True) -> None:
        """Have the operator type a line, or some at once, when it is time for it.

        Lines are typed one after the other, and one in a turn of the loop.
        """
        self._typed.append((line, when))

    def carry(self) -> None:
        if self._typed and not self.line.incoming and self.line.is_talking:
            line, when = self._typed[0]
            if when():
                self._typed.popleft()
                self.type_now(line)

    def type_now(self, line: str) -> None:
        self.line.incoming += f"{line}\n".encode("utf-8", "surrogatepass")

    def _hear(self, data: bytes) -> None:
        self.heard += data.decode()


class Surroundings:
    """All around a firmware; time passes while it waits.

    Parameters
    ----------
    board : SimulatedBoard or None
        None: nobody answers at its port.
    speed : int
        How many times faster than the wire the test and the board run.
    aid : SimulatedAid or None

    Attributes
    ----------
    clock : VirtualClock
        What the firmware takes for the time.
    terminal : Terminal
        The operator's.
    tones, aids : SimulatedLine
        The other ports.
    wire_cut : bool
        Whether bytes between firmware and board are lost.
    """

    def __init__(self, board: SimulatedBoard | None, speed: int, aid: SimulatedAid | None) -> None:
        self._board, self.aid = board, aid
        self.clock = VirtualClock(speed, _Waits(self))
        self.board_began_us = BOARD_BEGAN_US
        self.wire_cut = False
        self.plug_in()

    def plug_in(self) -> None:
        self.terminal = Terminal()
        self._to_happen: list[tuple[Callable[[], bool], Callable[[], None]]] = []
        self._is_rung = False
        self._turns = 0
        self.has_sent = False  # the firmware, since this was set
        self.tones = SimulatedLine("/dev/tone-generator", self._to_board)
        self.aids = SimulatedLine("/dev/hearing-aid", self._to_aid)

    def parallel(self) -> Self:
        """Return what goes on beside this from here on; its ports are still those here."""
        other = copy.copy(self)
        other._board = copy.deepcopy(self._board)
        other.clock = self.clock.another(_Waits(other))
        return other

    @property
    def board(self) -> SimulatedBoard:
        if self._board is None:
            raise ValueError("there is no board in this world")
        return self._board

    @board.setter
    def board(self, board: SimulatedBoard) -> None:
        self._board = board

    def swap_board(self, board: SimulatedBoard) -> None:
        """Put another board in this one's place; it was on before."""
        self.tones.vanish()
        self._board = board
        self.board_began_us = self.clock.us + BOARD_BEGAN_US
        self.tones.there = True

    def when(self, come: Callable[[], bool], happen: Callable[[], None]) -> None:
        self._to_happen.append((come, happen))

    @property
    def console(self) -> SimulatedLine:
        return self.terminal.line

    @property
    def heard(self) -> str:
        return self.terminal.heard

    def type(self, line: str, when: Callable[[], bool] = lambda: True) -> None:
        self.terminal.type(line, when)

    # Time

    def wait(self, seconds: float) -> None:
        """Let time pass until anything is due; not at all where that is now."""
        self._turns += 1
        if self._turns > TURNS_MAX:
            raise AssertionError(f"the firmware does not end; it said last: {self.heard[-500:]}")
        self.carry()
        if self._is_rung or self.is_anything_ready():
            return
        now_us = self.clock.us
        due_us = min(now_us + microseconds(seconds), self._next_us())
        self.clock.us = max(now_us + 1, due_us)
        self.carry()

    def sleep(self, seconds: float) -> None:
        self.clock.us += microseconds(seconds)
        self.carry()

    def ring(self) -> None:
        """Let no time pass any more."""
        self._is_rung = True

    def _next_us(self) -> int:
        due = [self.clock.us + S]
        board_us = None if self._board is None else self._board.next_deadline_us()
        if board_us is not None:
            due.append(math.ceil(board_us / self.clock.speed) + self.board_began_us)
        aid_us = None if self.aid is None else self.aid.next_deadline_us()
        if aid_us is not None:
            due.append(aid_us)
        return min(due)

    # Bytes

    def board_us(self) -> int:
        return int((self.clock.us - self.board_began_us) * self.clock.speed)

    def is_anything_ready(self) -> bool:
        lines = (self.tones, self.console, self.aids)
        return any(line.is_ready for line in lines if line.is_open)

    def carry(self) -> None:
        """Carry to the ports what board and aid send, and what the operator types."""
        if self._board is not None:
            self._board.advance(self.board_us())
            sent = self._from_board()
            if self.tones.is_talking and not self.wire_cut:
                self.tones.incoming += sent
        if self.aid is not None:
            self.aid.advance(self.clock.us)
            self.aids.incoming += self.aid.transmit() if self.aids.is_talking else b""
        due = [each for each in self._to_happen if each[0]()]
        for each in due:
            self._to_happen.remove(each)
            each[1]()
        self.terminal.carry()

    def _from_board(self) -> bytes:
        return self.board.transmit()

    def _to_board(self, data: bytes) -> None:
        self.has_sent = True
        if self._board is not None and not self.wire_cut:
            self._board.receive(data, self.board_us())

    def _to_aid(self, data: bytes) -> None:
        self.has_sent = True
        if self.aid is not None:
            self.aid.receive(data, self.clock.us)


class _Waits:
    """What the firmware waits with: its surroundings."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around

    def wait(self, _ports: Sequence[Port], seconds: float) -> None:
        self._around.wait(seconds)

    def sleep(self, seconds: float) -> None:
        self._around.sleep(seconds)

    def ring(self) -> None:
        self._around.ring()

    def close(self) -> None:
        """Hold nothing."""
