"""The loop of the board: one turn every few milliseconds, watched by the hardware.

The port is the one of the REPL, whichever that is: USB, or the UART of images that have one. The
program leaves it to the REPL when a ^C comes and no host has talked for `SERVICE_SILENCE_US`: so a
new program can be installed, and no garbled byte ends a session.
"""

import binascii
import sys
from select import POLLIN, POLLOUT, poll
from time import ticks_diff, ticks_us  # type: ignore[attr-defined]  # MicroPython's

import machine
import micropython

from device.tone_generator import settings
from device.tone_generator.buttons import Button
from device.tone_generator.outputs import I2SOutput, PwmOutput
from device.tone_generator.server import ToneGenerator, has_host
from device.tone_generator.switched import SwitchedOutput
from firmware_py.link.frames import FRAME_BYTES_MAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WATCHDOG_MS = 1000
SERVICE_SILENCE_US = 3000000
CONTROL_C = 3
HEARD, UNSURE = 1, 2
UNSETTLED_MS = 2  # while a button bounces

# The only microcontroller that runs this: the address below is a PLL's on an RP2350 (Pico 2).
CHIP = "RP2040"
# The enable bit of the watchdog's control register (RP2040 datasheet, 4.7.6): MicroPython can
# start the watchdog, but not stop it.
_WATCHDOG_CLEAR = 0x40058000 + 0x3000
_WATCHDOG_ENABLE = 1 << 30


class Clock:
    """Microseconds since the start, made of ticks that wrap around after 18 minutes."""

    def __init__(self) -> None:
        self._last = ticks_us()
        self.now_us = 0

    def tick(self) -> int:
        """Bring `now_us` up to date and return the ticks; call it every few minutes at least."""
        ticks: int = ticks_us()
        self.now_us += ticks_diff(ticks, self._last)
        self._last = ticks
        return ticks


class SerialPort:
    """The port of the REPL as bytes in and frames out, neither of which waits."""

    def __init__(self) -> None:
        self._in: Any = sys.stdin.buffer
        self._out = sys.stdout.buffer
        self._readable = poll()
        self._readable.register(sys.stdin, POLLIN)
        self._writable = poll()
        self._writable.register(sys.stdout, POLLOUT)
        self._byte = bytearray(1)
        self._bytes = bytearray(FRAME_BYTES_MAX)

    def read(self, wait_ms: int) -> int:
        """Wait for bytes, and return how many there are; `take_bytes` has them."""
        count = 0
        while count < FRAME_BYTES_MAX and self._ready(self._readable, wait_ms):
            self._in.readinto(self._byte)
            self._bytes[count] = self._byte[0]
            count += 1
            wait_ms = 0
        return count

    def take_bytes(self, count: int) -> bytes:
        return bytes(self._bytes[:count])

    def write(self, frame: bytes) -> bool:
        """Write a frame; return False if nobody takes it now."""
        if not self._ready(self._writable, 0):
            return False
        self._out.write(frame)
        return True

    def _ready(self, poller: "Any", wait_ms: int) -> bool:
        ready = False
        for _ in poller.ipoll(wait_ms):  # it is read to its end, or it would have to be made anew
            ready = True
        return ready


class Board:
    """Everything on the board, and one turn of its loop."""

    def __init__(self, kept: settings.Settings, port: SerialPort) -> None:
        if "smps" in kept.pins:
            machine.Pin(kept.pins["smps"], machine.Pin.OUT, value=1)
        boot = settings.next_boot()  # before there is sound: a flash that is written stops all else
        output: Any = I2SOutput(kept.pins) if kept.output == "i2s" else PwmOutput(kept.pins)
        self.output = output
        self._microphone: Any = None
        if kept.has_microphone:
            # Loaded where it is needed: a board without one starts sooner, and has more memory.
            from device.tone_generator.microphone import Microphone

            full_scale_db_spl = kept.microphone_full_scale_db_spl
            self._microphone = Microphone(output, kept.pins, full_scale_db_spl)
        if kept.has_vibrator:
            self.output = SwitchedOutput(self.output, kept.pins)
        self._light = machine.Pin(kept.pins["loud"], machine.Pin.OUT, value=0)
        self.buttons = (Button(kept.pins["heard"], HEARD), Button(kept.pins["unsure"], UNSURE))
        serial = binascii.hexlify(machine.unique_id()).decode()
        self.server = ToneGenerator(
            self.output, kept.limits_dbfs, boot, serial, microphone=self._microphone
        )
        self.clock = Clock()
        self.port = port

    def turn(self) -> bool:
        """Do what is due, and wait a little; return False when the REPL is asked for."""
        count = self.port.read(self._wait_ms())
        ticks = self.clock.tick()
        upto_us = self.clock.now_us
        # The buttons first: whenever the program stands still, what is told of the tone is known
        # up to every press that is told, and no press is unknown that was before `upto_us`.
        changes = self._settle(ticks) if self._is_unsettled() else ()
        self._advance_output()
        if count or changes or self.server.sounding:
            self.server.advance(upto_us, changes)
            if count:
                data = self.port.take_bytes(count)
                if CONTROL_C in data and self._nobody_talks():
                    return False
                self.server.receive(data, self.clock.now_us, self._told_us(ticks, upto_us))
                self._advance_output()  # a command takes milliseconds
        self.output.attend(has_host(self.server, self.clock.now_us))
        self._light.value(1 if self.server.sounds.loud else 0)
        self._send()
        return True

    def mute(self) -> None:
        """Let nothing run by itself any more: the REPL, or a restart, comes next."""
        if self._microphone is not None:
            self._microphone.mute()
        self.output.mute()
        self._light.value(0)

    def _advance_output(self) -> None:
        # Has the output do what is due by now.
        ticks = self.clock.tick()
        self.output.advance(ticks, self.clock.now_us)

    def _wait_ms(self) -> int:
        if self._is_unsettled():
            return UNSETTLED_MS
        due_ms: int = self.output.due_ms
        return due_ms

    def _is_unsettled(self) -> bool:
        return self.buttons[0].unsettled or self.buttons[1].unsettled

    def _settle(self, ticks: int) -> "list[tuple[int, int, bool]]":
        # Asks the buttons, and returns what has settled: when, which, whether it is down.
        now_us = self.clock.now_us
        return [
            (now_us - ticks_diff(ticks, button.since_ticks_us), button.number, button.down)
            for button in self.buttons
            if button.poll()
        ]

    def _told_us(self, ticks: int, upto_us: int) -> int:
        # Up to when everything has been told: to the first edge of a contact that still bounces.
        told_us = upto_us
        for button in self.buttons:
            if button.unsettled:
                told_us = min(told_us, upto_us - ticks_diff(ticks, button.pending_ticks_us()))
        return told_us

    def _nobody_talks(self) -> bool:
        return (
            not self.server.sounding
            and self.server.quiet_us(self.clock.now_us) >= SERVICE_SILENCE_US
        )

    def _send(self) -> None:
        waiting = self.server.outbox.waiting
        while waiting and self.port.write(waiting[0]):
            waiting.pop(0)


def run() -> None:
    """Run until the REPL is asked for; any error silences the board and starts it anew.

    A board with another microcontroller is refused by its name, and left to the REPL.
    """
    kind = str(getattr(sys.implementation, "_machine", "unknown"))
    if CHIP not in kind:
        print("tone generator: does not run: the board is", kind, "- wanted is one with an", CHIP)
        return
    micropython.kbd_intr(-1)  # a garbled byte must not be taken for ^C
    board = Board(settings.load_or_silent(), SerialPort())
    watchdog = machine.WDT(timeout=WATCHDOG_MS)
    try:
        while board.turn():
            watchdog.feed()
    except BaseException as error:
        board.mute()
        sys.print_exception(error)  # type: ignore[attr-defined]  # MicroPython's
        machine.reset()
    board.mute()
    machine.mem32[_WATCHDOG_CLEAR] = _WATCHDOG_ENABLE
    micropython.kbd_intr(CONTROL_C)
