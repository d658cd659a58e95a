"""The whole card as one file: the boot partition, the two slots, and room for the data."""

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from device.card.slot import SECTOR_BYTES, SLOT_BYTES, START_AT

HERE: Final = Path(__file__).parent
# The disk's signature, by which the first system finds its card: "gppt".
SIGNATURE: Final = 0x67707074
BOOT_AT: Final = 4 << 20
BOOT_BYTES: Final = 64 << 20
BOOT_LABEL: Final = "GP-PTA"
CARD_BYTES: Final = BOOT_AT + BOOT_BYTES + 2 * SLOT_BYTES


def make_card(slot: Path, boot_files: list[Path], card: Path, epoch: int) -> None:
    """Write the card, with files of this time. Its second slot is empty until the first update."""
    boot = card.with_name("boot.vfat")
    _make_boot(boot, boot_files, epoch)
    card.unlink(missing_ok=True)
    with card.open("wb") as file:
        file.truncate(CARD_BYTES)
    subprocess.run(["sfdisk", "--quiet", card], input=_partitions(), text=True, check=True)
    with card.open("r+b") as file:
        for at, part in ((BOOT_AT, boot), (BOOT_AT + BOOT_BYTES, slot)):
            file.seek(at)
            with part.open("rb") as content:
                shutil.copyfileobj(content, file)


def _partitions() -> str:
    """Return what sfdisk makes of it: an MBR, for the boot ROM of a Raspberry Pi 3 wants one."""
    lines, at = ["label: dos", f"label-id: {SIGNATURE:#x}"], BOOT_AT
    for size, words in (
        (BOOT_BYTES, "type=c, bootable"),
        (SLOT_BYTES, "type=83"),
        (SLOT_BYTES, "type=83"),
    ):
        lines.append(f"start={at // SECTOR_BYTES}, size={size // SECTOR_BYTES}, {words}")
        at += size
    return "\n".join(lines) + "\n"


def _make_boot(boot: Path, files: list[Path], epoch: int) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "TZ": "UTC"}
    script = boot.with_name("boot.scr")
    source = boot.with_name("boot.cmd")
    text = (HERE / "files/boot.cmd").read_text(encoding="ascii")
    source.write_text(text.replace("@START_SECTOR@", f"{START_AT // SECTOR_BYTES:#x}"))
    subprocess.run(
        ["mkimage", "-A", "arm64", "-T", "script", "-C", "none", "-d", source, script],
        check=True, env=environment, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    boot.unlink(missing_ok=True)
    with boot.open("wb") as whole:
        whole.truncate(BOOT_BYTES)
    subprocess.run(
        ["mkfs.vfat", "--invariant", "-n", BOOT_LABEL, "-i", f"{SIGNATURE:08x}", boot],
        check=True, env=environment, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    for file in (script, *sorted(files)):
        os.utime(file, (epoch, epoch))
    # mcopy also writes when it was at work; of that, faketime says always the same.
    frozen = f"{datetime.fromtimestamp(epoch, UTC):%Y-%m-%d %H:%M:%S}"
    subprocess.run(
        ["faketime", "-f", frozen, "mcopy", "-m", "-i", boot, script, *sorted(files), "::"],
        check=True, env=environment,
    )  # fmt: skip
