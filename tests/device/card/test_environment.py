"""What U-Boot is told: its own lines but for a few, in a block with a check sum."""

import os
import shutil
import struct
import zlib

import pytest

from device.card.build import PLACES_OF_TOOLS
from device.card.environment import NOBODY_STOPS_IT, ON_PI, environment_of, make_environment
from device.card.errors import CardError

PATH = os.pathsep.join((os.environ["PATH"], *PLACES_OF_TOOLS))
pytestmark = pytest.mark.skipif(
    shutil.which("mkenvimage", path=PATH) is None, reason="mkenvimage is not installed"
)
BUILT_IN = {
    "bootcmd": "run distro_bootcmd", "bootdelay": "2", "preboot": "pci enum; usb start;",
    "stdin": "serial,usbkbd", "stdout": "serial,vidconsole", "ramdisk_addr_r": "0x02700000",
}  # fmt: skip
PROGRAM = b"\xd5\x03\x20\x1f\0\0" + "\0".join(
    f"{name}={value}" for name, value in BUILT_IN.items()
).encode("ascii") + b"\0\0\x14\0"  # fmt: skip


def lines_of(block: bytes) -> dict[str, str]:
    assert struct.unpack_from("<I", block) == (zlib.crc32(block[4:]),)
    lines = block[4:].split(b"\0\0")[0].decode("ascii").split("\0")
    return dict(line.split("=", 1) for line in lines)


def test_a_raspberry_pi_starts_from_a_card_alone_and_leaves_usb_as_it_is() -> None:
    block = environment_of(PROGRAM, ON_PI, 0x4000)
    assert len(block) == 0x4000
    told = lines_of(block)
    assert "usb" not in " ".join(told.values())
    assert "preboot" not in told
    assert (told["stdin"], told["stdout"], told["bootdelay"]) == ("serial", "serial", "-2")
    assert told["bootcmd"].count("boot.scr") == 1
    assert told["ramdisk_addr_r"] == BUILT_IN["ramdisk_addr_r"]


def test_nobody_stops_it_and_the_rest_is_as_it_was_built() -> None:
    told = lines_of(environment_of(PROGRAM, NOBODY_STOPS_IT, 0x4000))
    assert told == BUILT_IN | {"bootdelay": "-2"}


def test_a_program_without_an_environment_is_refused() -> None:
    with pytest.raises(CardError, match="U-Boot has no 'bootdelay=' built into it"):
        environment_of(b"\0" * 64, ON_PI, 0x4000)


def test_a_block_has_its_lines_and_a_check_sum() -> None:
    assert lines_of(make_environment(["blocks=0x72b1"], 512)) == {"blocks": "0x72b1"}
