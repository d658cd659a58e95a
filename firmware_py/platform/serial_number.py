"""The serial number of this fitting device: which box a session was recorded on."""

import re
from pathlib import Path
from typing import Final

from firmware_py.platform.sha256 import sha256

DIGITS: Final = 16
# A board's own number, which stays with the box when its card goes to another one.
OF_BOARD: Final = "proc/device-tree/serial-number"
# The number of an installed system; not to be told as it is (machine-id(5)).
OF_SYSTEM: Final = "etc/machine-id"
BYTES_MAX: Final = 200


def serial_number(root: Path = Path("/")) -> str:
    """Return it: that of the board, else one made from that of the system; "" if there is none."""
    if own := re.sub("[^0-9A-Za-z-]", "", _read(root / OF_BOARD)):
        return own
    if system := _read(root / OF_SYSTEM).strip():
        return sha256(f"gp-pta device {system}".encode()).hex()[:DIGITS]
    return ""


def _read(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(BYTES_MAX).decode("ascii", "replace")
    except OSError:
        return ""
