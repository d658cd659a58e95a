"""A Pico without a Pico: as much of `machine`, `micropython` and `time` as the program uses.

The modules are put into `sys.modules` when this one is imported; time is a number that a test
turns.
"""

import sys
import time
from array import array
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar, Final

TICKS: Final = 1 << 30  # where the ticks of MicroPython wrap around
CPU_HZ: Final = 125_000_000


class Reset(Exception):  # noqa: N818 - it is one, and no error
    """The board was reset."""


class FakeTime:
    us = 0
    asked: Callable[[], None] | None = None  # what happens whenever the program looks at it


def ticks_us() -> int:
    if FakeTime.asked is not None:
        FakeTime.asked()
    return FakeTime.us % TICKS


def sleep_ms(ms: int) -> None:
    FakeTime.us += 1000 * ms


def ticks_add(ticks: int, delta: int) -> int:
    return (ticks + delta) % TICKS


def ticks_diff(later: int, earlier: int) -> int:
    return (later - earlier + TICKS // 2) % TICKS - TICKS // 2


class Pin:
    """A pin; `drive` is what is wired to it."""

    IN, PULL_UP, OUT, IRQ_FALLING, IRQ_RISING = 0, 1, 3, 4, 8
    made: ClassVar[dict[int, "Pin"]] = {}
    moved_us = 0

    def __init__(self, number: int, mode: int = -1, pull: int = -1, value: int = 1) -> None:
        self.number = number
        self.level = value
        self.handler: Callable[[Pin], None] | None = None
        Pin.made[number] = self

    def irq(self, handler: Callable[["Pin"], None], trigger: int, hard: bool) -> None:
        assert hard
        assert trigger == Pin.IRQ_FALLING | Pin.IRQ_RISING
        self.handler = handler

    def value(self, level: int | None = None) -> int:
        if level is not None and level != self.level:
            self.level = level
            self.moved_us = FakeTime.us
        return self.level

    def drive(self, level: int) -> None:
        if level != self.level:
            self.level = level
            if self.handler is not None:
                self.handler(self)


class PWM:
    """A pulse width modulator that notes what it was told, and when."""

    made: ClassVar[dict[int, "PWM"]] = {}

    def __init__(self, pin: Pin, freq: int, duty_u16: int) -> None:
        self.frequency_hz = freq
        self.duties: list[tuple[int, int]] = [(FakeTime.us, duty_u16)]
        PWM.made[pin.number] = self

    def freq(self, frequency_hz: int) -> None:
        self.frequency_hz = frequency_hz

    def duty_u16(self, duty: int) -> None:
        assert 0 <= duty <= 65535
        self.duties.append((FakeTime.us, duty))

    def deinit(self) -> None:
        self.duties.append((FakeTime.us, 0))

    @property
    def duty(self) -> int:
        return self.duties[-1][1]


class I2S:
    """An I2S output that keeps what it was given; `turn` asks for the next block.

    Or an input, which fills a block with what it hears in `turn`.
    """

    TX, RX, MONO, STEREO = 1, 0, 0, 1
    made: ClassVar[list["I2S"]] = []

    def __init__(self, number: int, **wiring: Any) -> None:
        self.wiring = wiring
        self.samples: array[int] = array("i")
        self.handler: Callable[[I2S], None] | None = None
        self.open = True
        self.asked_us = FakeTime.us
        self.hears: Callable[[int], list[int]] = lambda frames: [0] * frames
        self._wanted: array[int] | None = None
        I2S.made.append(self)

    def irq(self, handler: Callable[["I2S"], None]) -> None:
        self.handler = handler

    def write(self, block: "array[int]") -> int:
        assert self.open
        self.samples.extend(block)
        return 4 * len(block)

    def readinto(self, block: "array[int]") -> int:
        assert self.open
        self._wanted = block
        return 4 * len(block)

    def turn(self) -> None:
        assert self.handler is not None
        if self._wanted is not None:
            self._wanted[:] = array("i", self.hears(len(self._wanted)))
        self.asked_us = FakeTime.us
        self.handler(self)

    def deinit(self) -> None:
        self.open = False


class WDT:
    made: ClassVar[list["WDT"]] = []

    def __init__(self, timeout: int) -> None:
        self.timeout_ms = timeout
        self.fed_us = FakeTime.us
        WDT.made.append(self)

    def feed(self) -> None:
        assert FakeTime.us - self.fed_us < 1000 * self.timeout_ms
        self.fed_us = FakeTime.us


UNIQUE_ID: Final = bytes.fromhex("e66123456789abcd")


def _reset() -> None:
    raise Reset


def _module(name: str, **contents: Any) -> None:
    module = ModuleType(name)
    for key, value in contents.items():
        setattr(module, key, value)
    sys.modules[name] = module


MACHINE: Final = "Raspberry Pi Pico with RP2040"
MEM32: Final[dict[int, int]] = {}  # the registers, as far as they were written
vars(sys.implementation)["_machine"] = MACHINE  # as MicroPython has it
_module(
    "machine",
    Pin=Pin, PWM=PWM, I2S=I2S, WDT=WDT, mem32=MEM32, reset=_reset,
    freq=lambda: CPU_HZ, unique_id=lambda: UNIQUE_ID,
    disable_irq=lambda: 0, enable_irq=lambda _state: None,
)  # fmt: skip
_module("micropython", viper=lambda function: function, kbd_intr=lambda _character: None)
for _function in (sleep_ms, ticks_us, ticks_add, ticks_diff):
    setattr(time, _function.__name__, _function)


def power_on(us: int = 0) -> None:
    """Forget everything, and start the clock anew, at a time if one is given."""
    FakeTime.us, FakeTime.asked = us, None
    for made in (Pin.made, PWM.made):
        made.clear()
    I2S.made.clear()
    WDT.made.clear()
    MEM32.clear()
