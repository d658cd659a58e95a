"""The machines that QEMU emulates for a card: a Raspberry Pi 3B, and one that no board is like.

Both start from the same card. The generic one (`virt`) has what the emulated Pi lacks: a watchdog
that knows its time, a clock with a battery, and a USB port for a real board's CDC-ACM.
"""

import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Final, Protocol

from device.card.card import BOOT_AT
from device.card.environment import NOBODY_STOPS_IT, environment_of
from tests.card.usb_board import UsbBoard

U_BOOT: Final = Path("/usr/lib/u-boot/qemu_arm64/u-boot.bin")
FLASH_BYTES: Final = 64 << 20  # where the generic machine's U-Boot looks for its environment
PI_TREE: Final = "bcm2837-rpi-3-b.dtb"
PI_PROGRAM: Final = "u-boot.bin"  # as config.txt names it
WATCHDOG_OF_PI: Final = "/soc/watchdog@7e100000"
# GPIO 14 and 15 in the register that has 10 to 19, three bits each, and the function of the PL011
PI_PINS: Final = 0x3F20_0004
PL011_AT_PINS: Final = 0b100_100 << 12

Monitor = Callable[..., Any]


class MachineError(Exception):
    """The machine did not do what it was waited for; with the end of its console and kernel log."""


class Plug(Protocol):
    """A tone generator that is plugged into a machine."""

    def pull(self) -> None: ...


class Board(Protocol):
    """A kind of machine."""

    # The register of its PL011 that says what interrupts
    interrupts: int
    qemu_version_min: int
    words: str  # as the firmware names it
    data: str  # as Linux names the data partition
    usb_bus: str
    watchdog: str  # as the kernel names it
    little_memory: tuple[str, ...]  # QEMU's option for that of a Zero 2 W, if it can be chosen
    flushes: bool  # what a card keeps back; an SD card knows no flush, and has what it has taken

    def prepare(self, card: Path, place: Path) -> None:
        """Put beside the card what the machine has that is on no card."""

    def options(self, place: Path, disk: str) -> list[str]:
        """Return QEMU's options, for a card behind this disk."""

    def waits_for(self, place: Path) -> list[Path]:
        """Return the sockets that there are as soon as its power is on."""

    def plug_in(self, place: Path, monitor: Monitor, port: str, *, second: bool = False) -> Plug:
        """Plug a tone generator's pty into a USB port."""

    def faults(self, register: Callable[[int], int], kernel_log: str) -> list[str]:
        """Return what of the board is not as a card has to set it up."""


class Virt(Board):
    """The generic machine; its tone generator is a Pico, which speaks CDC-ACM."""

    interrupts = 0x0900_0038
    qemu_version_min = 7
    words = "linux dummy-virt (no Raspberry Pi)"
    data = "vda4"
    usb_bus = "usb.0"
    watchdog = "i6300ESB"
    little_memory = ("-m", "512")
    flushes = True

    def prepare(self, card: Path, place: Path) -> None:
        flash = environment_of(U_BOOT.read_bytes(), NOBODY_STOPS_IT, 0x40000)
        (place / "flash.img").write_bytes(flash)
        os.truncate(place / "flash.img", FLASH_BYTES)

    def options(self, place: Path, disk: str) -> list[str]:
        return [
            "-M", "virt", "-cpu", "cortex-a53", "-smp", "2", "-m", "1024", "-bios", str(U_BOOT),
            "-drive", f"if=pflash,index=1,format=raw,file={place / 'flash.img'}",
            "-drive", f"if=none,id=card,{disk}", "-device", "virtio-blk-pci,drive=card",
            "-serial", "chardev:console",
            "-device", "virtio-serial-pci", "-device", "virtconsole,chardev=kernel",
            "-device", "qemu-xhci,id=usb",
            "-chardev", f"socket,id=pico,path={place / 'usb'},server=on,wait=off",
            "-device", "usb-redir,chardev=pico,bus=usb.0",
            "-chardev", f"socket,id=pico-2,path={place / 'usb-2'},server=on,wait=off",
            "-device", "usb-redir,chardev=pico-2,bus=usb.0",
            "-device", "i6300esb", "-action", "watchdog=reset", "-device", "virtio-rng-pci",
        ]  # fmt: skip

    def waits_for(self, place: Path) -> list[Path]:
        return [place / "usb", place / "usb-2"]

    def plug_in(self, place: Path, monitor: Monitor, port: str, *, second: bool = False) -> Plug:
        return UsbBoard(self.waits_for(place)[second], port)

    def faults(self, register: Callable[[int], int], kernel_log: str) -> list[str]:
        return []


class RaspberryPi3B(Board):
    """A Raspberry Pi 3B, of which QEMU has no VideoCore: what that reads of the card is read here.

    Its tone generator is behind a serial adapter of FTDI's. When its watchdog is armed QEMU starts
    it again at once, so its device tree says that this one knows no time.
    """

    interrupts = 0x3F20_1038
    qemu_version_min = 10
    words = "Raspberry Pi 3 Model B (tried in emulation only)"
    data = "mmcblk0p4"
    usb_bus = "usb-bus.0"
    watchdog = "Broadcom BCM2835 Watchdog timer"
    little_memory = ()
    flushes = False

    def prepare(self, card: Path, place: Path) -> None:
        for name in (PI_PROGRAM, PI_TREE):
            subprocess.run(
                ["mcopy", "-n", "-o", "-i", f"{card}@@{BOOT_AT}", f"::{name}", place], check=True
            )
        subprocess.run(["fdtput", place / PI_TREE, WATCHDOG_OF_PI, "gp-pta,untimed"], check=True)

    def options(self, place: Path, disk: str) -> list[str]:
        return [
            "-M", "raspi3b", "-kernel", str(place / PI_PROGRAM), "-dtb", str(place / PI_TREE),
            "-drive", f"if=sd,{disk}",
            "-serial", "chardev:console", "-serial", "chardev:kernel",
        ]  # fmt: skip

    def waits_for(self, place: Path) -> list[Path]:
        return []

    def plug_in(self, place: Path, monitor: Monitor, port: str, *, second: bool = False) -> Plug:
        return SerialAdapter(monitor, port)

    def faults(self, register: Callable[[int], int], kernel_log: str) -> list[str]:
        faults = [line for line in kernel_log.splitlines() if "already requested" in line]
        if "starting USB" in kernel_log:
            faults.append("U-Boot has used USB")
        if (function := register(PI_PINS) & 0b111_111 << 12) != PL011_AT_PINS:
            faults.append(f"GPIO 14 and 15 are not the PL011's, but {function:#x}")
        return faults


class SerialAdapter:
    """A USB serial adapter of QEMU's, in front of a pty."""

    _numbers = count()

    def __init__(self, monitor: Monitor, port: str) -> None:
        self._monitor = monitor
        self._name = f"tones-{next(self._numbers)}"
        backend = {"type": "serial", "data": {"device": port}}
        monitor("chardev-add", id=self._name, backend=backend)
        monitor("device_add", driver="usb-serial", id=f"{self._name}-usb", chardev=self._name)

    def pull(self) -> None:
        with suppress(MachineError, OSError, ValueError):  # of a machine whose power was cut
            self._monitor("device_del", id=f"{self._name}-usb")
            self._monitor("chardev-remove", id=self._name)


BOARDS: Final[dict[str, Board]] = {"virt": Virt(), "raspi3b": RaspberryPi3B()}
