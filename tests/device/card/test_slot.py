"""A slot and a card from a small root: what is where, and the same bytes each time."""

import os
import random
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from device.card import kernel, slot
from device.card.build import PLACES_OF_TOOLS, TOOLS
from device.card.bundle import COMPATIBLE
from device.card.card import BOOT_AT, BOOT_BYTES, CARD_BYTES, SIGNATURE, make_card
from device.card.errors import CardError
from device.card.kernel import INIT, Kernel, read_modules, with_needs
from device.card.slot import SLOT_BYTES, START_AT, make_slot
from device.card.unpack import Tree

EPOCH = 1_790_000_000
PATH = os.pathsep.join((os.environ["PATH"], *PLACES_OF_TOOLS))
pytestmark = pytest.mark.skipif(
    any(shutil.which(tool, path=PATH) is None for tool in TOOLS),
    reason="not everything that makes a card is installed",
)


@pytest.fixture(autouse=True)
def paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", PATH)


class SmallKernel(Kernel):
    def __init__(self, place: Path) -> None:
        self.version = "6.1"
        self.image = place / "vmlinuz"
        self.image.write_bytes(bytes(range(256)) * 4096)

    def write_modules(self, root: Path, *, first_only: bool) -> None:
        (root / "usr/lib/modules").mkdir(parents=True)


def small_slot(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kernel, "FIRST_PROGRAMS", ())
    monkeypatch.setattr(Tree, "matching", lambda _self, _patterns: set())
    root = place / "root"
    (root / "etc").mkdir(parents=True)
    for number in range(40):
        (root / "etc" / f"file-{number}").write_bytes(random.Random(number).randbytes(5000))
    return make_slot(Tree([]), SmallKernel(place), root, place, EPOCH)


def test_a_slot_has_a_root_its_hashes_and_what_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = small_slot(tmp_path, monkeypatch)
    assert made.stat().st_size == SLOT_BYTES
    sectors, version, *rest = (tmp_path / "initramfs/verity").read_text().split()
    block, hash_block, blocks, hashes_at, algorithm, digest, salt = rest
    assert (version, block, hash_block, algorithm, salt) == ("1", "4096", "4096", "sha256", "-")
    assert int(blocks) == int(hashes_at) == int(sectors) // 8
    offset = f"--hash-offset={int(hashes_at) * 4096}"
    verify = ["veritysetup", "verify", "--no-superblock", "--salt=-", f"--data-blocks={blocks}"]
    subprocess.run([*verify, offset, made, made, digest], check=True)
    with made.open("r+b") as file:
        file.seek(4096)
        byte = file.read(1)
        file.seek(4096)
        file.write(bytes([byte[0] ^ 1]))
    done = subprocess.run(
        [*verify, offset, made, made, digest], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0, "one changed bit"

    with made.open("rb") as file:
        file.seek(START_AT)
        sector, image = file.read(512), file.read()
    assert struct.unpack_from("<I", sector) == (zlib.crc32(sector[4:]),)
    told = sector[4:].split(b"\0")[0].decode()
    magic, _, _, size, _, _, data_crc = struct.unpack_from(">7I", image)
    assert magic == 0x27051956
    assert told == f"blocks={-(-(64 + size) // 512):#x}"
    assert data_crc == zlib.crc32(image[64 : 64 + size])
    parts = (tmp_path / "vmlinuz.gz").read_bytes(), (tmp_path / "initramfs.zst").read_bytes()
    assert struct.unpack_from(">3I", image, 64) == (len(parts[0]), len(parts[1]), 0)
    at = 64 + 12
    for part in parts:
        assert image[at : at + len(part)] == part
        at += -(-len(part) // 4) * 4


@pytest.mark.thorough
def test_the_same_files_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for name in ("one", "two"):
        place = tmp_path / name
        place.mkdir()
        made = small_slot(place, monkeypatch)
        told = place / "gp-pta.toml"
        told.write_text("[test]\n")
        make_card(made, [told], place / "card.img", EPOCH)
        found.append((place / "card.img").read_bytes())
    assert found[0] == found[1]


def test_a_card_has_three_partitions_and_room_for_a_fourth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = small_slot(tmp_path, monkeypatch)
    card = tmp_path / "card.img"
    make_card(made, [], card, EPOCH)
    assert card.stat().st_size == CARD_BYTES
    with card.open("rb") as file:
        sector = file.read(512)
        file.seek(BOOT_AT + BOOT_BYTES)
        assert file.read(4) == b"hsqs", "the root of the first slot"
        file.seek(BOOT_AT + BOOT_BYTES + SLOT_BYTES)
        assert not any(file.read(4096)), "the second slot is empty"
    assert struct.unpack_from("<I", sector, 440) == (SIGNATURE,)
    entries = [struct.unpack_from("<BxxxBxxxII", sector, 446 + 16 * n) for n in range(4)]
    at, boot, size = BOOT_AT // 512, BOOT_BYTES // 512, SLOT_BYTES // 512
    assert entries == [
        (0x80, 0x0C, at, boot), (0, 0x83, at + boot, size), (0, 0x83, at + boot + size, size),
        (0, 0, 0, 0),
    ]  # fmt: skip


def test_an_update_that_the_boot_script_of_a_card_cannot_start_is_for_another_device() -> None:
    """The script is in no update: if it reads slots otherwise than before, `COMPATIBLE` is new."""
    _, _, reads = (INIT.parent / "boot.cmd").read_text().partition("# The last part of a slot")
    commands = "".join(line for line in reads.splitlines() if not line.startswith("#"))
    found = COMPATIBLE, START_AT, zlib.crc32(commands.encode())
    assert found == ("gp-pta-aarch64-2", 136 << 20, 1_260_266_188)
    settings = (INIT.parent / "root/etc/rauc/system.conf").read_text()
    assert f"\ncompatible={COMPATIBLE}\n" in settings


def test_what_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slot, "START_AT", 4096)
    with pytest.raises(CardError, match=r"the root and its hashes take .* 4096 are allowed"):
        small_slot(tmp_path, monkeypatch)


def test_a_module_that_the_kernel_has_not_is_named() -> None:
    needs = {"fs/ext4/ext4.ko": ["fs/jbd2/jbd2.ko"], "fs/jbd2/jbd2.ko": []}
    assert with_needs(["ext4"], needs) == {*needs}
    with pytest.raises(CardError, match="the kernel has no module 'dm-verity'"):
        with_needs(["dm-verity"], needs)
    assert {*read_modules("first")} < {*read_modules("first", "asked", "later")}


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_the_scripts_of_a_card_are_clean() -> None:
    scripts = [INIT, *(INIT.parent / "root/usr/lib/gp-pta").iterdir()]
    done = subprocess.run(
        ["shellcheck", "-x", "--shell=dash", *scripts],
        cwd=INIT.parents[3], capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
