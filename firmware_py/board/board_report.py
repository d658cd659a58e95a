"""What a board says of itself, and what a person has to see there: `gp-pta-device --board-report`.

A card was tried in an emulated machine alone. Whoever has a board prints this, ticks what was seen
as it is written, and sends it back.
"""

import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from firmware_py.board.pi_models import machine
from firmware_py.platform.version import full_version

LINE_BYTES_MAX: Final = 400
CPU: Final = "sys/devices/system/cpu/cpu0/cpufreq"
# Figures of Linux: the word for it, and the files of which the first that is there says it
SOURCES: Final = (
    ("system", ("proc/version",)),
    ("slot", ("run/gp-pta/slot",)),
    ("memory", ("proc/meminfo",)),
    ("uptime and idle time, s", ("proc/uptime",)),
    ("clock now, kHz", (f"{CPU}/scaling_cur_freq",)),
    ("highest clock, kHz", (f"{CPU}/cpuinfo_max_freq",)),
    ("temperature, 0.001 C", ("sys/class/thermal/thermal_zone0/temp",)),
    ("voltage", ("run/gp-pta/power",)),
    (
        "throttled, as bits of vcgencmd get_throttled",
        ("sys/devices/platform/soc/soc:firmware/get_throttled",),
    ),
    ("watchdog", ("sys/class/watchdog/watchdog0/identity",)),
    ("watchdog waits, s", ("sys/class/watchdog/watchdog0/timeout",)),
    ("clock with a battery", ("sys/class/rtc/rtc0/name",)),
    ("card, sectors of 512 bytes", ("sys/class/block/mmcblk0/size", "sys/class/block/vda/size")),
    ("card, a fake: sectors it says, sectors it keeps", ("var/fake",)),
)
# Of each of some: the word for it, the directories, and the files there. Serial numbers are left
# out: nothing is found out by them, and they tell one box from all others.
EACH: Final = (
    (
        "card",
        "sys/class/block/mmcblk[0-9]/device",
        "name type manfid oemid date hwrev fwrev life_time pre_eol_info",
    ),
    (
        "data partition",
        "sys/fs/ext4/*",
        "errors_count warning_count lifetime_write_kbytes session_write_kbytes",
    ),
    ("USB", "sys/bus/usb/devices/*", "idVendor idProduct product speed bMaxPower maxchild"),
    ("USB port", "sys/bus/usb/devices/*/*-port*", "over_current_count"),
)
NOT_TOLD: Final = "is not told"
REVISION: Final = "proc/device-tree/system/linux,revision"
FACTS: Final = "run/gp-pta/board-facts"  # what only root may ask, asked by the system of a card
FACTS_BYTES_MAX: Final = 8192
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
    "No lightning on a screen, and no red LED that goes out, in a whole test.",
    "Hours that it ran at a stretch, and whether the voltage above was well then: ____",
)


def lines(now: datetime, checked: list[str], root: Path = Path("/")) -> Iterator[str]:
    """Yield the report, line by line; `checked`: what `--check` says, `root`: of Linux's files."""
    yield f"GP-PTA {full_version()}, report on a board, {now.isoformat(timespec='seconds')}"
    yield "It has no name, no answers and no serial number in it. Nothing was sent anywhere."
    yield "Please fill it in, and send all of it back: as an issue, where you have GP-PTA from."
    yield from ("", "What the machine says:")
    yield f"  machine: {machine(root).words}"
    yield f"  revision: {_number(root / REVISION)}"
    for name, files in SOURCES:
        yield f"  {name}: {_first_line(root / file for file in files)}"
    for name, pattern, wanted in EACH:
        yield from _lines_of_each(name, sorted(root.glob(pattern)), wanted.split())
    yield from (f"  {line}" for line in _content(root / FACTS, FACTS_BYTES_MAX).splitlines())
    ports = (path for pattern in ("ttyACM*", "ttyUSB*") for path in (root / "dev").glob(pattern))
    generators = sorted(path.name for path in ports)
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


def _lines_of_each(name: str, places: list[Path], files: list[str]) -> Iterator[str]:
    """Yield a line for each place that says anything."""
    told = False
    for place in places:
        said = [(file, _content(place / file)) for file in files if (place / file).is_file()]
        if said:
            yield f"  {name} {place.name}: " + ", ".join(f"{file} {words}" for file, words in said)
            told = True
    if not told:
        yield f"  {name}: {NOT_TOLD}"


def _first_line(paths: Iterable[Path]) -> str:
    for path in paths:
        if line := _content(path).split("\n")[0]:
            return " ".join(line.split())
    return NOT_TOLD


def _number(path: Path) -> str:
    """Return what a device tree keeps as a number."""
    try:
        with path.open("rb") as file:
            return file.read(4).hex()
    except OSError:
        return NOT_TOLD


def _content(path: Path, bytes_max: int = LINE_BYTES_MAX) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(bytes_max)
    except OSError:
        return ""
    return content.replace(b"\0", b" ").decode(errors="replace").strip()
