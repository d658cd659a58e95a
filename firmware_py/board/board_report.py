"""What a board says of itself, and what a person has to see there: `gp-pta-device --board-report`.

A card was tried in an emulated machine alone. Whoever has a board prints this, ticks what was seen
as it is written, and sends it back.
"""

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from firmware_py.platform.version import full_version

LINE_BYTES_MAX: Final = 200
# Figures of Linux: the word for it, and the files of which the first that is there says it
SOURCES: Final = (
    ("board", ("proc/device-tree/model", "sys/class/dmi/id/product_name")),
    ("system", ("proc/version",)),
    ("slot", ("run/gp-pta/slot",)),
    ("memory", ("proc/meminfo",)),
    ("uptime and idle time, s", ("proc/uptime",)),
    ("highest clock, kHz", ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",)),
    ("temperature, 0.001 C", ("sys/class/thermal/thermal_zone0/temp",)),
    ("watchdog", ("sys/class/watchdog/watchdog0/identity",)),
    ("clock with a battery", ("sys/class/rtc/rtc0/name",)),
    ("card", ("sys/class/block/mmcblk0/device/name", "sys/class/block/vda/serial")),
    ("card, sectors of 512 bytes", ("sys/class/block/mmcblk0/size", "sys/class/block/vda/size")),
)
TO_BE_SEEN: Final = (
    "The console answered *IDN? at GPIO 14 and 15, with 115200 baud.",
    'The console answered *IDN? at the USB port, after console = "usb" was written.',
    "*TST? said 0 with the tone generator plugged in, and 'board FAULT' without it.",
    "*TST? said 0 again after the tone generator was pulled and plugged in.",
    "A tone of TONE RIGHT,1000,40 was heard in the right earphone, and only there.",
    "A whole test of both ears ended, and its recording was replayed by gp-pta replay.",
    "The plug was pulled in the middle of a test: the test went on at the next start.",
    "An update from a USB stick was installed, and SYST:VERS? told the other slot.",
    "An update by gp-pta update was installed.",
    "The plug was pulled in the middle of an update: the device started, and the update went on.",
    "An update whose system was started thrice without a tone generator was rolled back, and said.",
    "A new PIN in gp-pta.toml was asked for, and the file held its hash afterwards.",
    "gp-pta-status.txt was read on another computer.",
    "Seconds from power on to the answer to *IDN?, by a watch: ____",
    "Current at 5 V, idle and in a test, in mA: ____ ____",
)


def lines(now: datetime, checked: list[str], root: Path = Path("/")) -> Iterator[str]:
    """Yield the report, line by line; `checked`: what `--check` says, `root`: of Linux's files."""
    yield f"GP-PTA {full_version()}, report on a board, {now.isoformat(timespec='seconds')}"
    yield "It has no person's name and no answers in it. Nothing was sent anywhere."
    yield from ("", "What the machine says:")
    for name, files in SOURCES:
        yield f"  {name}: {_first_line(root, files)}"
    generators = sorted(path.name for path in (root / "dev").glob("ttyACM*"))
    yield f"  tone generators: {' '.join(generators) or 'none'}"
    yield f"  processors: {os.cpu_count()}"
    yield from ("", "What the check says:")
    yield from (f"  {line}" for line in checked)
    yield from (
        "",
        "What a person saw; put an x where it was so, and write beside it what was not:",
    )
    yield from (f"  [ ] {number:2} {words}" for number, words in enumerate(TO_BE_SEEN, 1))
    yield from (
        "",
        "Board, power supply, card, and who tried it, if it may be told:",
        "",
    )


def _first_line(root: Path, files: tuple[str, ...]) -> str:
    for name in files:
        try:
            with (root / name).open("rb") as file:
                content = file.read(LINE_BYTES_MAX)
        except OSError:
            continue
        line = content.split(b"\n")[0].replace(b"\0", b" ").decode(errors="replace")
        return " ".join(line.split())
    return "is not told"
