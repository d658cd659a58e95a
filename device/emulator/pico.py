"""An emulated Pico whose time is that of its own clock: nothing here knows what time it really is.

`rp2040py` runs the real MicroPython, some twenty times slower than a Pico where it computes and
faster than one where it waits.
"""

import logging
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from rp2040py.device.bootrom import BOOTROM_B1
from rp2040py.device.load_flash import load_uf2
from rp2040py.execute_batch import execute_batch
from rp2040py.gpio_pin import GPIOPinState
from rp2040py.memory_map import FLASH_START_ADDRESS
from rp2040py.rp2040 import RP2040
from rp2040py.simulator import Simulator
from rp2040py.usb.cdc import USBCDC
from rp2040py.utils.logging import ConsoleLogger, LogLevel

FLASH_BYTES: Final = 2 * 1024 * 1024  # of a Pico; the emulator has more
TICK_BATCH: Final = 64  # instructions between looks at the clock where no alarm is near
WAIT_US_MAX: Final = 5_000_000
WAIT_STEP_US: Final = 500
START_US: Final = 200_000  # MicroPython takes 5 ms; a new file system 100
PROMPT: Final = b">>> "
RAW_PROMPT: Final = b"raw REPL; CTRL-B to exit\r\n>"
RAW_END: Final = b"\x04>"
CONTROL_A, CONTROL_D = b"\x01", b"\x04"

_CIRCLE_ADDRESS: Final = 0x2004_1F00  # in the second small bank of RAM, beside the stack
_SLEEP_AND_AGAIN: Final = 0xE7FD_BF30  # wfi, and a branch back to it

BAUD_RATE: Final = 115_200
BITS_PER_BYTE: Final = 10  # on the line, with start and stop bit


class GuestError(Exception):
    """The MicroPython in the emulator raised, or did not answer; the text is its own."""


def is_over_usb(image: Path) -> bool:
    """Return whether the REPL of an image is at USB only, by starting it."""
    pico = EmulatedPico(image)
    try:
        pico.wait_for(PROMPT, START_US)
    except GuestError:
        return True
    return False


class EmulatedPico:
    """A Pico with its REPL on UART0, or on USB, as with the images that a user downloads."""

    def __init__(
        self,
        image: Path,
        baud_rate: int = BAUD_RATE,
        *,
        over_usb: bool = False,
    ) -> None:
        logging.getLogger("rp2040py").setLevel(logging.ERROR)
        self._chip: Any = RP2040()
        self._chip.logger = ConsoleLogger(LogLevel.ERROR, throw_on_error=False)
        self._simulator: Any = Simulator(rp2040=self._chip)
        self._chip.load_bootrom(BOOTROM_B1)
        load_uf2(image, self._chip)
        self._uart: Any = self._chip.uart[0]
        self._outgoing: deque[int] = deque()  # to the board
        self._incoming = bytearray()
        self._byte_ns = BITS_PER_BYTE / baud_rate * 1e9
        self._mend_uart()
        self._usb: Any = None
        self._usb_asked_bytes = 0  # how much the board would take now
        if over_usb:
            self._plug_usb()
        else:
            self._uart.on_byte = self._incoming.append
        self.watchdog_resets = 0
        self._chip.watchdog.on_watchdog_trigger = self._watchdog_reset
        self._byte_alarm = self._simulator.clock.create_alarm(self._feed)
        self._end_alarm = self._simulator.clock.create_alarm(self._simulator.stop)
        self._chip.core.pc = FLASH_START_ADDRESS

    def write_flash(self, offset: int, data: bytes) -> int:
        """Put bytes into the flash, from FLASH_BYTES on beside what MicroPython knows of.

        Returns the address at which a program finds them.
        """
        self._chip.flash[offset : offset + len(data)] = data
        return int(FLASH_START_ADDRESS) + offset

    @property
    def now_us(self) -> float:
        return float(self._simulator.clock.nanos) / 1000.0

    def run(self, duration_us: float) -> None:
        self._simulator.stopped = False
        self._end_alarm.schedule(1000.0 * duration_us)
        while not self._simulator.stopped:
            execute_batch(self._simulator, TICK_BATCH)

    def at(self, at_us: float, deed: Callable[[], None]) -> None:
        """Do something at a moment of emulated time that is still to come."""
        alarm = self._simulator.clock.create_alarm(deed)
        alarm.schedule(1000.0 * max(at_us - self.now_us, 0.0))

    # The serial port

    def send(self, data: bytes) -> None:
        """Send bytes to the board, at the speed of the line."""
        idle = not self._outgoing
        self._outgoing.extend(data)
        if self._usb is not None:
            self._answer_usb()
        elif idle and data:
            self._byte_alarm.schedule(self._byte_ns)

    def take_output(self) -> bytes:
        data = bytes(self._incoming)
        self._incoming.clear()
        return data

    def _mend_uart(self) -> None:
        # The emulator's UART raises its transmit interrupt at every look, and the guest would be
        # at it for ever: here an interrupt is raised as status and mask say.
        uart = self._uart

        def check_interrupts() -> None:
            raised = uart._interrupt_status & uart._interrupt_mask
            self._chip.set_interrupt(uart.irq, bool(raised))

        uart.check_interrupts = check_interrupts

    def _feed(self) -> None:
        # One byte after the other, as a real line has them: MicroPython's own buffer is finite.
        if not self._uart.rx_fifo.full:
            self._uart.feed_byte(self._outgoing.popleft())
        if self._outgoing:
            self._byte_alarm.schedule(self._byte_ns)

    def _plug_usb(self) -> None:
        # The emulator's host answers every question for bytes at once, with none if it has none,
        # and the guest asks again for ever: here the answer waits for bytes.
        controller = self._chip.usb_ctrl
        self._usb = USBCDC(controller)
        self._usb.on_serial_data = self._incoming.extend
        answer_others = controller.on_endpoint_read

        def on_read(endpoint: int, count: int) -> None:
            if endpoint == self._usb._out_endpoint:
                self._usb_asked_bytes = count
                self._answer_usb()
            else:
                answer_others(endpoint, count)

        controller.on_endpoint_read = on_read

    def _answer_usb(self) -> None:
        count = min(self._usb_asked_bytes, len(self._outgoing))
        if count > 0:
            data = bytes(self._outgoing.popleft() for _ in range(count))
            self._usb_asked_bytes = 0
            self._chip.usb_ctrl.endpoint_read_done(self._usb._out_endpoint, data)

    # The pins

    def watch(self, *pins: int) -> list[tuple[float, int, bool]]:
        """Return a list that grows with every change of outputs: when (us), which, and to what."""
        changes: list[tuple[float, int, bool]] = []

        def watch_one(pin: int) -> None:
            def on_change(state: GPIOPinState, _before: GPIOPinState) -> None:
                changes.append((self.now_us, pin, state == GPIOPinState.HIGH))

            self._chip.gpio[pin].add_listener(on_change)

        for pin in pins:
            watch_one(pin)
        return changes

    def press(self, pin: int) -> None:
        """Connect a pin to ground."""
        self._chip.gpio[pin].set_input_value(False)

    def release(self, pin: int) -> None:
        """Leave a pin to its pull-up."""
        self._chip.gpio[pin].set_input_value(True)

    def hang(self) -> None:
        """Have the processor wait for ever for what does not come, as a broken program does."""
        self._chip.write_uint32(_CIRCLE_ADDRESS, _SLEEP_AND_AGAIN)
        self._chip.core.pc = _CIRCLE_ADDRESS

    # The REPL

    def wait_for(self, token: bytes, wait_us: float = WAIT_US_MAX) -> bytes:
        """Let time pass until the board has sent this, and return all up to it, or `GuestError`."""
        until_us = self.now_us + wait_us
        while token not in self._incoming:
            if self.now_us >= until_us:
                raise GuestError(f"{token!r} did not come; what did: {self.take_output()!r}")
            self.run(WAIT_STEP_US)
        end = self._incoming.index(token) + len(token)
        data = bytes(self._incoming[:end])
        del self._incoming[:end]
        return data

    def enter_raw_repl(self) -> None:
        self.send(CONTROL_A)
        self.wait_for(RAW_PROMPT)

    def execute(self, source: str, wait_us: float = WAIT_US_MAX) -> str:
        """Run a piece of MicroPython and return what it printed; `GuestError` if it raised."""
        self.send(source.encode() + CONTROL_D)
        answer = self.wait_for(RAW_END, wait_us)
        printed, _, raised = answer[: -len(RAW_END)].partition(b"\x04")
        if raised:
            raise GuestError(raised.decode(errors="replace"))
        return printed.decode().removeprefix("OK").replace("\r\n", "\n")

    def _watchdog_reset(self) -> None:
        self.watchdog_resets += 1
        self._usb_asked_bytes = 0
        self._chip.enter_reset(from_watchdog=True)
        self._chip.leave_reset()
