"""What is at a serial port: a firmware's console, or the tone generator of the board."""

import secrets
from typing import Final

from firmware_py.link.frames import FrameError, decode, encode
from firmware_py.link.messages import WIRE_VERSION

IDENTIFY: Final = b"\x15\r*IDN?\r"  # ^U: the console forgets a line that was typed in part
IDENTITY: Final = "GP-PTA,"  # how a firmware's answer begins
CONSOLE_WANTED: Final = (
    "the operator's console is wanted: the port that gp-pta-device has as --console, or the other "
    "end of its cable"
)
BOARD_WANTED: Final = (
    "the board's own port is wanted, the one that gp-pta-device has as --tone-generator, and "
    "nothing else may have it open meanwhile"
)

_SEQUENCE: Final = 1


def hello() -> bytes:
    """Return a frame that a tone generator answers in any state."""
    return encode(_SEQUENCE, "hello", (("wire", WIRE_VERSION), ("host", secrets.token_hex(4))))


def answer_to_hello(line: bytes) -> tuple[str, dict[str, str]] | None:
    """Return the answer of a tone generator to `hello`; None if the line is something else.

    Returns
    -------
    verb : str
        ``ok`` or ``error``.
    fields : dict
        What it says about itself, or the ``code`` of the error.
    """
    try:
        sequence, verb, fields = decode(line)
    except FrameError:
        return None
    return (verb, fields) if sequence == _SEQUENCE and verb in ("ok", "error") else None
