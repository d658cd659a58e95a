"""A slot of a card: what an update writes anew, and what a start of the device checks.

First the root as a squashfs, then the hashes of its blocks for dm-verity. At `START_AT` is what
U-Boot reads: a sector with the number of those that follow, and an image of its own with the kernel
and the first system, which knows the hash of those hashes. Each has a check sum; it is CRC-32, for
U-Boot's build for a Raspberry Pi has no other. So whatever the card gives back is what was written,
or the device starts again.
"""

import gzip
import os
import re
import subprocess
from pathlib import Path
from typing import Final

from device.card.environment import make_environment
from device.card.errors import CardError
from device.card.kernel import Kernel, make_initramfs
from device.card.unpack import Tree

SECTOR_BYTES: Final = 512
BLOCK_BYTES: Final = 4096
SLOT_BYTES: Final = 160 << 20
START_AT: Final = 136 << 20
COMPRESSION: Final = ("-comp", "zstd", "-Xcompression-level", "19")


def make_slot(tree: Tree, kernel: Kernel, root: Path, place: Path, epoch: int) -> Path:
    """Make the bytes of a slot from the directory of its root; return the file."""
    slot = _squash(root, place / "slot", epoch)
    blocks = slot.stat().st_size // BLOCK_BYTES
    verity = _with_hashes(slot, blocks)
    _refuse_more("the root and its hashes", slot.stat().st_size, START_AT)
    make_initramfs(tree, kernel, verity, place, epoch)
    (place / "vmlinuz.gz").write_bytes(gzip.compress(kernel.image.read_bytes(), 9, mtime=0))
    start = _what_starts(place, epoch)
    _refuse_more("the kernel and the first system", len(start), SLOT_BYTES - START_AT)
    with slot.open("r+b") as file:
        file.seek(START_AT)
        file.write(start)
        file.truncate(SLOT_BYTES)
    return slot


def _what_starts(place: Path, epoch: int) -> bytes:
    """Return what U-Boot reads, of the kernel and the first system in this directory."""
    image = place / "start.image"
    subprocess.run(
        [
            "mkimage", "-A", "arm64", "-O", "linux", "-T", "multi", "-C", "none", "-n", "GP-PTA",
            "-d", f"{place / 'vmlinuz.gz'}:{place / 'initramfs.zst'}", image,
        ],
        check=True, stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
    )  # fmt: skip
    content = image.read_bytes()
    blocks = -(-len(content) // SECTOR_BYTES)
    return make_environment([f"blocks={blocks:#x}"], SECTOR_BYTES) + content


def _squash(root: Path, target: Path, epoch: int) -> Path:
    target.unlink(missing_ok=True)
    subprocess.run(
        [
            "mksquashfs", root, target, "-all-root", "-all-time", str(epoch), "-mkfs-time",
            str(epoch), *COMPRESSION, "-no-progress", "-quiet", "-no-xattrs",
        ],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    size = target.stat().st_size
    os.truncate(target, size + -size % BLOCK_BYTES)
    return target


def _with_hashes(slot: Path, blocks: int) -> str:
    """Write the hashes of the blocks after them; return the table, but for the device."""
    told = subprocess.run(
        [
            "veritysetup", "format", "--no-superblock", "--salt=-", f"--data-blocks={blocks}",
            f"--hash-offset={blocks * BLOCK_BYTES}", slot, slot,
        ],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    found = re.search(r"^Root hash:\s+([0-9a-f]{64})$", told, re.MULTILINE)
    if found is None:
        raise CardError(f"veritysetup told no root hash: {told}")
    sectors = blocks * BLOCK_BYTES // SECTOR_BYTES
    return f"{sectors} 1 {BLOCK_BYTES} {BLOCK_BYTES} {blocks} {blocks} sha256 {found[1]} -"


def _refuse_more(what: str, size: int, allowed: int) -> None:
    if size > allowed:
        raise CardError(f"{what} take {size} bytes; {allowed} are allowed")
