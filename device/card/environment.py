"""What U-Boot is told: blocks of `name=value` with a check sum, as mkenvimage makes them."""

import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from device.card.errors import CardError

# Nobody stops it at the operator's line: by itself U-Boot waits two seconds for a key, and whoever
# types then is at its prompt, and may do anything to the card.
NOBODY_STOPS_IT: Final = {"bootdelay": "-2"}
PI_FILE: Final = "uboot.env"  # on the boot partition of a Raspberry Pi
PI_BYTES: Final = 0x4000
# The Raspberry Pi's U-Boot starts from a card alone, and leaves USB as it is: after it has used the
# controller Linux sees no device there any more. Which of three controllers has the card differs.
ON_PI: Final = NOBODY_STOPS_IT | {
    "preboot": "", "stdin": "serial", "stdout": "serial", "stderr": "serial",
    "bootcmd": "setenv devtype mmc; for devnum in 0 1 2; do "
    "if load mmc ${devnum}:1 ${scriptaddr} boot.scr; then source ${scriptaddr}; fi; done; reset",
}  # fmt: skip


def environment_of(program: bytes, told: Mapping[str, str], size: int) -> bytes:
    """Return the environment that is built into a U-Boot, but for what it is told otherwise.

    It has the `size` that the program was built for. What is told to be empty is left out.
    """
    at = program.find(b"\0bootdelay=")
    if at < 0:
        raise CardError("U-Boot has no 'bootdelay=' built into it")
    end = program.index(b"\0\0", at)
    begin = at
    while program[begin - 1] >= 0x20 or program[begin - 1] == 0 != program[begin - 2]:
        begin -= 1
    lines = [line for line in program[begin:end].decode("ascii").split("\0") if "=" in line]
    values = dict(line.split("=", 1) for line in lines) | dict(told)
    return make_environment([f"{name}={value}" for name, value in values.items() if value], size)


def make_environment(lines: Iterable[str], size: int) -> bytes:
    """Return a block of this size with these lines and their check sum."""
    with tempfile.TemporaryDirectory() as place:
        source, target = Path(place) / "lines", Path(place) / "environment"
        source.write_text("".join(f"{line}\n" for line in lines))
        subprocess.run(["mkenvimage", "-s", str(size), "-o", target, source], check=True)
        return target.read_bytes()
