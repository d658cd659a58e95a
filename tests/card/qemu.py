"""The QEMU of the tests: it has to be 10 or later for a Raspberry Pi, and Debian 12 has 7.2."""

import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from device.card.packages import fetch, read_packages

PROGRAM: Final = "qemu-system-aarch64"
LOCK: Final = Path(__file__).with_name("qemu.lock")
ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


def qemu(version_min: int, place: Path) -> Path:
    """Return a QEMU that is new enough: this system's, or that of the list, unpacked below `place`.

    The libraries of that are those of Debian 12's own qemu-system-arm.
    """
    found = shutil.which(PROGRAM)
    if found and version_of(Path(found)) >= version_min:
        return Path(found)
    ending = f"_{ARCHITECTURES[platform.machine()]}.deb"
    (package,) = (each for each in read_packages(LOCK) if each.path.endswith(ending))
    unpacked = place / f"qemu-{package.sha256[:16]}"
    if not unpacked.exists():
        (file,) = fetch([package], place / "packages").values()
        part = unpacked.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        subprocess.run(["dpkg-deb", "--extract", file, part], check=True)
        part.rename(unpacked)
    return unpacked / "usr/bin" / PROGRAM


def version_of(program: Path) -> int:
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"version (\d+)[.]", told)
    return int(found[1]) if found else 0
