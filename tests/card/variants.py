"""Cards and updates that differ a little from the one that was made: newer, older, broken."""

import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from device.card import packages, slot
from device.card.bundle import COMPATIBLE, make_bundle
from device.card.card import BOOT_AT, BOOT_BYTES
from device.card.kernel import Kernel
from device.card.slot import SLOT_BYTES
from device.card.unpack import Tree
from firmware_py import __version__

REPOSITORY: Final = Path(__file__).parents[2]
BUILT: Final = REPOSITORY / "build/card"
EPOCH: Final = 1_800_000_000
STATUS: Final = "gp-pta-status.txt"
VERSION: Final = f"{__version__}-20270115.080000"  # of all that says nothing else


class Workshop:
    """Makes variants from what `make card` has left."""

    def __init__(self, place: Path) -> None:
        self.place = place
        files = packages.fetch(packages.read_packages(), BUILT / "packages")
        (kernel_package,) = (f for name, f in files.items() if name.startswith("linux-image"))
        apart = ("linux-image", "u-boot", packages.FIRMWARE_OF_THE_PI)
        self._tree = Tree(f for name, f in files.items() if not name.startswith(apart))
        self._kernel = Kernel(kernel_package, place / "kernel")

    def slot(
        self, name: str, change: Callable[[Path], None], version: str = VERSION, keyring: str = ""
    ) -> Path:
        work = self.place / name
        work.mkdir()
        root = work / "root"
        subprocess.run(["cp", "-al", BUILT / "work/root", root], check=True)
        _replace(root / "etc/os-release", _with_version(root / "etc/os-release", version))
        if keyring:
            _replace(root / "etc/rauc/keyring.pem", keyring)
        change(root)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(slot, "COMPRESSION", ("-comp", "zstd", "-Xcompression-level", "1"))
            made = slot.make_slot(self._tree, self._kernel, root, work, EPOCH)
        shutil.rmtree(root)
        return made

    def bundle(
        self,
        made: Path,
        keys: Path = BUILT / "keys",
        *,
        version: str = VERSION,
        compatible: str = COMPATIBLE,
        name: str = "update",
    ) -> Path:
        bundle = self.place / f"{name}.raucb"
        make_bundle(made, version, keys, bundle, compatible)
        return bundle


def _with_version(path: Path, version: str) -> str:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("VERSION_ID")]
    return "\n".join([*lines, f'VERSION_ID="{version}"', ""])


def _replace(path: Path, content: str) -> None:
    """Write a file anew: its bytes are those of the root that was made, too."""
    mode = path.stat().st_mode
    path.unlink()
    path.write_text(content)
    path.chmod(mode)


def nothing(_root: Path) -> None:
    """Change nothing."""


def with_configuration(card: Path, content: str) -> None:
    assert card.stat().st_size > BOOT_AT + BOOT_BYTES
    subprocess.run(
        ["mcopy", "-o", "-i", f"{card}@@{BOOT_AT}", "-", "::gp-pta.toml"],
        input=content, text=True, check=True,
    )  # fmt: skip


def with_clock(card: Path) -> None:
    """Say what time it is, as the operator of a board without a clock's battery does."""
    told = boot_file(card, "gp-pta.toml")
    assert "# clock = 2026" in told
    with_configuration(card, told.replace("# clock = 2026", "clock = 2026"))


def digests(card: Path) -> dict[str, str]:
    """Return the SHA-256 of the partitions that a card is made with."""
    found, at = {}, BOOT_AT
    with card.open("rb") as file:
        for name, size in (("boot", BOOT_BYTES), ("slot A", SLOT_BYTES), ("slot B", SLOT_BYTES)):
            file.seek(at)
            found[name] = hashlib.sha256(file.read(size)).hexdigest()
            at += size
    return found


def boot_file(card: Path, name: str) -> str:
    return subprocess.run(
        ["mtype", "-i", f"{card}@@{BOOT_AT}", f"::{name}"], capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip
