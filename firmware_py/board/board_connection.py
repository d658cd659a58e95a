"""The connection to the tone generator: its port, its greeting, and what is done at a loss."""

import math
from dataclasses import dataclass
from typing import Final

from firmware_py.calibration import simulated
from firmware_py.link.client import Client
from firmware_py.link.notices import Lost, Notice
from firmware_py.platform.clock import POLL_S, SteadyClock, Waiting
from firmware_py.platform.ports import Port, PortError

REOPEN_S: Final = 1.0  # from one try to open a lost port, or to greet a lost board, to the next
FALL_SILENT_S: Final = 0.5
LOSSES_MAX: Final = 5  # in a row, before a board counts as lost for good
SOUND_S: Final = 10.0  # a board that was kept for so long was lost before by chance
TRUE_S: Final = 600.0  # the same of one whose word meant nothing: a clock may be wrong slowly

# IEC 60645-1 wants a time stated, of 10 minutes at most. A Pico, a DAC and an amplifier take less
# than a watt, and are taken to be warm within minutes; nobody has measured how their level drifts.
# `gp-pta calibrate` waits as long, so what it measures is how loud a test is played.
WARM_UP_S: Final = 120.0
# Of these the clock begins with a program, and tells nothing of when anything was switched on.
NEVER_COLD: Final = (simulated.BOARD_NAME, "card")


class Reopening:
    """Opens a port again, now and then, after it was lost."""

    def __init__(self, port: Port, clock: SteadyClock) -> None:
        self._port = port
        self._clock = clock
        self._next_s = self._greet_s = 0.0

    @property
    def may_greet(self) -> bool:
        return self._port.is_open and self._clock.world_s() >= self._greet_s

    def delay(self) -> None:
        self._next_s = self._greet_s = self._clock.world_s() + REOPEN_S

    def try_again(self) -> bool:
        """Open the port if it is not open and it is time; return whether it was opened now."""
        if self._port.is_open or self._clock.world_s() < self._next_s:
            return False
        self.delay()
        try:
            self._port.open()
        except PortError:
            return False
        self._greet_s = 0.0
        return True


@dataclass
class Greeting:
    """Name and version of the board that answered last, and when; what it refused since then."""

    board: str = ""
    at_us: int = 0
    refused: str = ""


class Losses:
    """Counts losses of a board in a row (`count`): one that greets and no more is lost for good."""

    def __init__(self, now_s: float) -> None:
        self.count = 0
        self._since_s = now_s
        self._waited_s = 0.0  # for it to come back, after the losses before this one
        self._disbelieved = 0

    def add(self, now_s: float, *, disbelieved: bool) -> bool:
        """Count one; return whether it is the first in a row."""
        self.count += 1
        self._since_s = now_s
        self._disbelieved += disbelieved
        return self.count == 1

    def end(self, now_s: float) -> None:
        if self.count:
            self._waited_s += now_s - self._since_s

    def waited_s(self, now_s: float) -> float:
        """Return how long the board was away altogether, since it is lost again and again."""
        return self._waited_s + now_s - self._since_s

    def forget(self, kept_s: float) -> None:
        """Forget those that the board was kept long enough after."""
        if kept_s >= SOUND_S:
            self.count, self._waited_s = 0, 0.0
        if kept_s >= TRUE_S:
            self._disbelieved = 0

    @property
    def words(self) -> str:
        if self.count < LOSSES_MAX <= self._disbelieved:
            return f"{self._disbelieved} losses for a word that could not be true"
        return f"{self.count} losses in a row"

    @property
    def too_many(self) -> bool:
        """Return whether nothing better is to be expected of this board."""
        return max(self.count, self._disbelieved) >= LOSSES_MAX


class BoardConnection:
    """The connection to the tone generator, by a port that is not yet open.

    One that was lost is awaited for `reconnect_s`, all losses in a row together; with `wait` one
    that was not there yet for as long as it takes.
    """

    def __init__(
        self,
        port: Port,
        client: Client,
        clock: SteadyClock,
        reconnect_s: float,
        *,
        wait: bool = False,
    ) -> None:
        self.port = port
        self.waits = wait
        self.why = ""  # it was lost
        self.client = client
        self._clock = clock
        self._wire_clock = clock.of_wire()
        self._reconnect_s = reconnect_s
        self._reopening = Reopening(port, clock)
        self.is_lost = False  # no tone generator answers, or none has answered yet
        self._losses = Losses(clock.world_s())
        self._greeting = Greeting()

    @property
    def board(self) -> str:
        return self._greeting.board

    @property
    def warms_up_s(self) -> int:
        """Return how many seconds the tone generator has to stay on until it is warm."""
        if not self.client.connected or self.client.board.partition(" ")[0] in NEVER_COLD:
            return 0
        on_for_s = self.client.on_for_us(self._wire_clock.now_us()) / 1e6
        return math.ceil(max(WARM_UP_S - on_for_s, 0.0))

    @property
    def state(self) -> str:
        if not self.is_lost:
            return f"tone generator {self.board}"
        return (
            f"tone generator is lost: {self.why}"
            if self.why
            else "tone generator does not answer yet"
        )

    def open(self) -> None:
        """Open the port; `PortError` if it is missing, and nobody waits."""
        try:
            self.port.open()
        except PortError as error:
            if not self.waits:
                raise
            self.why = str(error)

    def begin(self) -> None:
        self.is_lost, self._losses = True, Losses(self._clock.world_s())
        if self.port.is_open:
            self.client.connect(self._wire_clock.now_us())

    def seconds_to_wait(self) -> float | None:
        """Return how long nothing has to be sent, None for any time."""
        deadline_us = self.client.next_deadline_us()
        if deadline_us is None or not self.port.is_open:
            return None
        return self._wire_clock.seconds_until(deadline_us)

    def receive(self) -> list[Notice]:
        """Take in what has come; open a lost port again if it is time."""
        self._reopening.try_again()
        try:
            data = self.port.read()
        except PortError as error:
            return [Lost(str(error))]
        now_us = self._wire_clock.now_us()
        return self.client.receive(data, now_us) + self.client.advance(now_us)

    def send(self) -> list[Notice]:
        notices = self.client.advance(self._wire_clock.now_us())
        try:
            self.port.write(self.client.transmit())
        except PortError as error:
            notices.append(Lost(str(error)))
        return notices

    def meet(self, board: str) -> bool:
        """Take in which board has answered; return whether it is the first that did."""
        first = not self.board
        if self.is_lost:
            self._losses.end(self._clock.world_s())
        self.is_lost, self._greeting = False, Greeting(board, self._wire_clock.now_us())
        return first

    def note_refusal(self, why: str) -> bool:
        """Take in what it tells and cannot; return whether it is the first since its greeting."""
        first = not self._greeting.refused
        self._greeting.refused = why
        return first

    def note_loss(self, why: str, *, disbelieved: bool = False) -> bool:
        """Take in that the board is lost, and why; return whether that is to be said."""
        self.client.disconnect()
        self._reopening.delay()
        self.why = why
        if self.is_lost:  # a greeting had no answer: the port's name may lead elsewhere by now
            self.port.close()
            return False
        self.is_lost = True
        return self._losses.add(self._clock.world_s(), disbelieved=disbelieved)

    def greet_again(self) -> bool:
        """Greet a lost board now and then; return False if it is lost for good.

        One that never answered is not waited for.
        """
        if not self.is_lost:
            self._losses.forget((self._wire_clock.now_us() - self._greeting.at_us) / 1e6)
            return True
        if self._reopening.may_greet and self.client.next_deadline_us() is None:
            self.client.connect(self._wire_clock.now_us())
        if self.waits and not self.board:
            return True
        patience_s = self._reconnect_s if self.board else 0.0
        waited_s = self._losses.waited_s(self._clock.world_s())
        return not self.why or (waited_s <= patience_s and not self._losses.too_many)

    @property
    def is_unsound(self) -> bool:
        """Return whether it was lost again and again, or its word means nothing."""
        return self._losses.count > 1 or self._losses.too_many

    def last_words(self) -> str:
        if not self.is_unsound:
            return f"no tone generator at {self.port.url!r}: {self.why}"
        return (
            f"the tone generator at {self.port.url!r} is lost for good, after "
            f"{self._losses.words}: {self.why}"
        )

    def fall_silent(self, waiting: Waiting) -> None:
        """Have the tone generator stop, as far as it can still be told."""
        self.client.silence()
        until_s = self._clock.world_s() + FALL_SILENT_S
        try:
            while self.client.busy and self._clock.world_s() < until_s:
                now_us = self._wire_clock.now_us()
                self.client.receive(self.port.read(), now_us)
                self.client.advance(now_us)
                self.port.write(self.client.transmit())
                waiting.sleep(POLL_S)
        except PortError:
            return
