"""What commands find around them: places to write, serial ports, a sound card, an image."""

import grp
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from serial.tools import list_ports

from device.emulator.image import ImageError, find_image
from device.sound_card.card import NoSoundError, outputs
from firmware_py.platform.data_directory import FREE_BYTES_MIN
from host_tools.commands.doctor.packages import package
from host_tools.files import user_directory

TEMPORARY: Final = "temporary files"


@dataclass(frozen=True)
class Place:
    """A directory that commands write to.

    Attributes
    ----------
    what : str
    path : Path
    why_not : str
        Why it cannot be written; "": it can.
    then : str
        What follows from that.
    """

    what: str
    path: Path
    why_not: str
    then: str


@dataclass(frozen=True)
class SerialPort:
    """A serial port of this machine.

    Attributes
    ----------
    device, description : str
    hint : str
        What to do to be allowed to open it; "": it may be opened.
    """

    device: str
    description: str
    hint: str


def places() -> list[Place]:
    """Try to write wherever commands do."""
    cache = user_directory("XDG_CACHE_HOME", ".cache") / "gp-pta"
    try:
        temporary, why_not = Path(tempfile.gettempdir()), ""
    except OSError as error:  # none of the usual places can be written
        temporary, why_not = Path(os.environ.get("TMPDIR", "/tmp")), str(error.strerror)
    return [
        Place("the cache", cache, _why_not(cache), "what is kept there is made anew each time"),
        Place(TEMPORARY, temporary, why_not or _why_not(temporary), "set TMPDIR to another"),
        Place("this directory", Path.cwd(), _why_not(Path.cwd()), "name others: --out, --data"),
    ]


def serial_ports() -> list[SerialPort]:
    """Return the serial ports that there are."""
    return [
        SerialPort(port.device, _description(port), _hint(Path(port.device)))
        for port in sorted(list_ports.comports(), key=lambda port: str(port.device))
    ]


def sound() -> tuple[list[str], str]:
    """Return the names of the sound cards, and why there is no sound ("" if there is)."""
    if not package("sounddevice").usable:
        return [], "sounddevice is missing"
    try:
        return [str(device["name"]) for device in outputs()], ""
    except NoSoundError as error:
        return [], str(error)


def board_image() -> tuple[Path | None, str]:
    """Return the image of MicroPython for the emulated board, and why there is none."""
    try:
        return find_image(), ""
    except ImageError as error:
        return None, str(error)


def _why_not(place: Path) -> str:
    """Say why a directory cannot be written, or made where it will be; "" if it can."""
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            state = os.statvfs(place)
    except OSError as error:
        return str(error.strerror)
    free_bytes = state.f_bavail * state.f_frsize
    return "" if free_bytes >= FREE_BYTES_MIN else f"only {free_bytes / 1e6:.1f} MB are free"


def _description(port: object) -> str:
    words = str(getattr(port, "description", "") or "")
    return "" if words == "n/a" else words


def _hint(device: Path) -> str:
    if os.access(device, os.R_OK | os.W_OK):
        return ""
    try:
        group = grp.getgrgid(device.stat().st_gid).gr_name
    except (OSError, KeyError):
        group = "dialout"
    return f"sudo usermod -aG {group} $USER, and log in again"
