"""A bad cable between the board and whoever talks to it: lines lost, garbled, late, double, merged.

A pure object like the board it is wrapped around, with the same four methods. The luck of every
line, both ways, is drawn from one seed, a stream for each direction, so that the n-th line of a
direction meets the same luck in every run. A line never overtakes another: what is late holds up
all behind it, as on a real wire. `firmware_py/link/README.md` says what has to survive this.
"""

import random
from collections import deque
from dataclasses import dataclass, fields
from typing import Final, Protocol

RATE_MAX: Final = 0.5  # above, hardly anything is ever answered
DELAY_US: Final = (20_000, 400_000)  # to beyond the 200 ms after which a command is repeated
GARBLED_BYTES_MAX: Final = 4
LINES_MAX: Final = 512  # under way in one direction; a session has some ten
LINE_BYTES_MAX: Final = 512  # without a newline; goes on its way as it is then


@dataclass(frozen=True)
class FaultRates:
    """How often each fault befalls a line, 0 to `RATE_MAX`; others are a `ValueError`."""

    drop: float = 0.0  # the line is lost
    # one to `GARBLED_BYTES_MAX` of its bytes are others; its newline may be among them
    garble: float = 0.0
    delay: float = 0.0  # it comes later, by a time within `DELAY_US`, and so does what is behind it
    duplicate: float = 0.0  # it comes twice
    merge: float = 0.0  # its newline is lost, so that it and the next are one

    def __post_init__(self) -> None:
        for field in fields(self):
            rate = getattr(self, field.name)
            if not 0.0 <= rate <= RATE_MAX:
                raise ValueError(f"{field.name} is {rate:g}, allowed are 0 to {RATE_MAX:g} a line")

    @classmethod
    def parse(cls, text: str) -> "FaultRates":
        """Read rates as they are written on a command line: ``drop=.02,delay=.05``."""
        names = [field.name for field in fields(cls)]
        rates: dict[str, float] = {}
        for part in text.split(","):
            name, _, rate = (word.strip() for word in part.partition("="))
            if name not in names or name in rates:
                raise ValueError(
                    f"faults are {text!r}, allowed are NAME=RATE, with commas between them and "
                    f"each once: {', '.join(names)}"
                )
            try:
                rates[name] = float(rate)
            except ValueError:
                raise ValueError(f"{name} is {rate!r}, allowed is a number") from None
        return cls(**rates)


class Board(Protocol):
    """What is served at the board's end of a wire."""

    def next_deadline_us(self) -> int | None:
        """Give the board time of the next thing that happens by itself, if any."""

    def advance(self, now_us: int) -> None: ...

    def receive(self, data: bytes, now_us: int) -> None: ...

    def transmit(self, frames_max: int | None = None) -> bytes:
        """Hand over what is to be sent to the host, whole frames, and forget it."""


@dataclass
class FaultCounts:
    """How many lines there were, and what befell them."""

    lines: int = 0
    dropped: int = 0
    garbled: int = 0
    delayed: int = 0
    duplicated: int = 0
    merged: int = 0


class FaultyBoard:
    """A board at the end of a bad cable.

    Parameters
    ----------
    board : Board
    rates : FaultRates
    seed : int
        Of all luck.
    speed : float
        How many times faster than the world board time runs; delays are of the world.
    """

    def __init__(self, board: Board, rates: FaultRates, seed: int, speed: float = 1.0) -> None:
        self._board = board
        self.counts = FaultCounts()
        self._to_board = _Cable(rates, f"{seed} to board", speed, self.counts)
        self._to_host = _Cable(rates, f"{seed} to host", speed, self.counts)
        self._partial = b""
        self._now_us = 0

    def next_deadline_us(self) -> int | None:
        due = [self._board.next_deadline_us(), self._to_board.due_us()]
        late_us = self._to_host.due_us()
        if late_us is not None and late_us > self._now_us:  # what is not late is only not fetched
            due.append(late_us)
        return min((us for us in due if us is not None), default=None)

    def advance(self, now_us: int) -> None:
        """Let time pass; late lines reach the board at their own moments."""
        while (due_us := self._to_board.due_us()) is not None and due_us <= now_us:
            self._board.receive(self._to_board.take(), due_us)
        self._board.advance(now_us)
        self._now_us = now_us

    def receive(self, data: bytes, now_us: int) -> None:
        self.advance(now_us)
        *whole, self._partial = (self._partial + data).split(b"\n")
        lines = [line + b"\n" for line in whole]
        if len(self._partial) > LINE_BYTES_MAX:
            lines.append(self._partial)
            self._partial = b""
        for line in lines:
            self._to_board.put(line, now_us)
        self.advance(now_us)

    def transmit(self, frames_max: int | None = None) -> bytes:
        """Hand over what has come through the cable, at most so many lines."""
        while not self._to_host.is_full and (frame := self._board.transmit(frames_max=1)):
            self._to_host.put(frame, self._now_us)
        come = b""
        taken = 0
        while frames_max is None or taken < frames_max:
            due_us = self._to_host.due_us()
            if due_us is None or due_us > self._now_us:
                break
            come += self._to_host.take()
            taken += 1
        return come


class _Cable:
    # One direction: lines under way, each with the time at which it comes out.

    def __init__(self, rates: FaultRates, seed: str, speed: float, counts: FaultCounts) -> None:
        self._rates = rates
        self._chance = random.Random(seed)
        self._merging = random.Random(f"{seed}, merge")
        self._delay_us = tuple(us * speed for us in DELAY_US)
        self._counts = counts
        self._lines: deque[tuple[int, bytes]] = deque()
        self._last_us = 0

    @property
    def is_full(self) -> bool:
        return len(self._lines) >= LINES_MAX

    def due_us(self) -> int | None:
        return self._lines[0][0] if self._lines else None

    def take(self) -> bytes:
        return self._lines.popleft()[1]

    def put(self, line: bytes, now_us: int) -> None:
        # As many draws for every line, whatever befalls it: rates do not change each other's luck.
        drop, garble, delay, duplicate, share = (self._chance.random() for _ in range(5))
        garbled = _garble(line, self._chance)
        merge = self._merging.random()
        rates, counts = self._rates, self._counts
        counts.lines += 1
        if drop < rates.drop or self.is_full:
            counts.dropped += 1
            return
        if garble < rates.garble:
            counts.garbled += 1
            line = garbled
        if merge < rates.merge:
            counts.merged += 1
            line = line.rstrip(b"\n")
        due_us = now_us
        if delay < rates.delay:
            counts.delayed += 1
            low_us, high_us = self._delay_us
            due_us += round(low_us + share * (high_us - low_us))
        self._last_us = max(due_us, self._last_us)
        self._lines.append((self._last_us, line))
        if duplicate < rates.duplicate:
            counts.duplicated += 1
            self._lines.append((self._last_us, line))


def _garble(line: bytes, chance: random.Random) -> bytes:
    garbled = bytearray(line)
    for _ in range(chance.randint(1, GARBLED_BYTES_MAX)):
        garbled[chance.randrange(len(garbled))] ^= chance.randrange(1, 256)
    return bytes(garbled)
