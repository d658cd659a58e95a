"""The environment of U-Boot: the one built into it, but nobody stops it at the operator's line.

Without one U-Boot waits two seconds for a key, and whoever types then is at its prompt, on the
operator's own line, and may do anything to the card.
"""

import subprocess
import tempfile
from pathlib import Path
from typing import Final

from device.card.errors import CardError

WAITS: Final = "bootdelay=2"
DOES_NOT: Final = "bootdelay=-2"
PI_FILE: Final = "uboot.env"  # on the boot partition of a Raspberry Pi
PI_BYTES: Final = 0x4000


def environment_of(program: bytes, size: int) -> bytes:
    """Return an environment for a U-Boot.

    Parameters
    ----------
    program : bytes
        U-Boot.
    size : int
        The size of an environment that it was built for.

    Raises
    ------
    CardError
        If none is built into it.
    """
    at = program.find(f"\0{WAITS}\0".encode())
    if at < 0:
        raise CardError(f"U-Boot has no {WAITS!r} built into it")
    end = program.index(b"\0\0", at)
    begin = at
    while program[begin - 1] >= 0x20 or program[begin - 1] == 0 != program[begin - 2]:
        begin -= 1
    lines = program[begin:end].decode("ascii").split("\0")
    told = [DOES_NOT if line == WAITS else line for line in lines if "=" in line]
    with tempfile.TemporaryDirectory() as place:
        source, target = Path(place) / "lines", Path(place) / "environment"
        source.write_text("\n".join(told) + "\n")
        subprocess.run(["mkenvimage", "-s", str(size), "-o", target, source], check=True)
        return target.read_bytes()
