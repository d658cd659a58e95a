"""`python -m device.card.build`: the card, from Debian's packages and the firmware."""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from device.card import packages
from device.card.bundle import keyring, make_bundle, make_keys
from device.card.card import make_card
from device.card.environment import ON_PI, PI_BYTES, PI_FILE, environment_of
from device.card.errors import CardError
from device.card.kernel import Kernel
from device.card.packages import Package
from device.card.root import EMULATOR, make_root
from device.card.slot import make_slot
from device.card.unpack import Tree
from firmware_py import __version__
from firmware_py.platform.program import run_program

HERE: Final = Path(__file__).parent
REPOSITORY: Final = HERE.parents[1]
TARGET: Final = "aarch64"
# What makes a card: the program, and Debian's package that has it.
TOOLS: Final = {
    "cpio": "cpio", "depmod": "kmod", "dpkg-deb": "dpkg",
    "faketime": "faketime", "mcopy": "mtools", "mkfs.vfat": "dosfstools",
    "mkimage": "u-boot-tools", "mkenvimage": "u-boot-tools", "mksquashfs": "squashfs-tools",
    "openssl": "openssl",
    EMULATOR: "qemu-user-static", "rauc": "rauc", "readelf": "binutils", "sfdisk": "fdisk",
    "veritysetup": "cryptsetup-bin", "xz": "xz-utils", "zstd": "zstd",
}  # fmt: skip
PLACES_OF_TOOLS: Final = ("/usr/sbin", "/sbin")  # which not everybody's PATH has
# What starts a Raspberry Pi before U-Boot; not free.
PI_FIRMWARE: Final = ("bootcode.bin", "fixup.dat", "fixup4.dat", "start.elf", "start4.elf")
PAGE: Final = "operator.html"
PI_BOARDS: Final = ("bcm2837-rpi-3-*", "bcm2837-rpi-zero-2-w", "bcm2711-rpi-4-b", "bcm2711-rpi-400")


def make(out: Path, keys: Path, page: Path, *, free: bool) -> Path:
    """Make the card, and the same as an update; return the card.

    What is half done is below `out`, too. Keys of updates are made if there are none. A `free` one
    is without the firmware of Raspberry Pi: only an emulated machine starts from it.
    """
    if not page.is_file():
        raise CardError(f"--page is {str(page)!r}, which is no file")
    _check_tools()
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    epoch = _epoch()
    version = version_of(epoch)
    make_keys(keys)
    locked = packages.read_packages()
    files = packages.fetch(locked, out / "packages")
    (kernel_package,) = (file for name, file in files.items() if name.startswith("linux-image"))
    kernel = Kernel(kernel_package, work / "kernel")
    apart = ("linux-image", "u-boot", packages.FIRMWARE_OF_THE_PI)
    tree = Tree(file for name, file in files.items() if not name.startswith(apart))
    root = work / "root"
    wheels = _wheels(work / "wheels")
    contents = bill_of_materials(version, locked, wheels)
    told = {
        "etc/os-release": f'VERSION_ID="{version}"\n',
        "etc/rauc/keyring.pem": keyring(keys),
        "usr/lib/gp-pta/contents.cdx.json": contents,
    }
    make_root(tree, kernel, _firmware(), wheels, told, root)
    (out / "gp-pta-card.cdx.json").write_text(contents)
    slot = make_slot(tree, kernel, root, work, epoch)
    boot_files = _boot_files(files, kernel, page, work / "boot", free=free)
    card = out / "gp-pta-card.img"
    make_card(slot, boot_files, card, epoch)
    make_bundle(slot, version, keys, out / f"gp-pta-{version}.raucb")
    return card


def version_of(epoch: int) -> str:
    """Return the version of a system: that of the firmware, and when its commit was made."""
    return f"{__version__}-{datetime.fromtimestamp(epoch, UTC):%Y%m%d.%H%M%S}"


def _check_tools() -> None:
    os.environ["PATH"] = os.pathsep.join((os.environ["PATH"], *PLACES_OF_TOOLS))
    missing = sorted({package for tool, package in TOOLS.items() if not shutil.which(tool)})
    if missing:
        raise CardError(f"these are needed: sudo apt install {' '.join(missing)}")


def _epoch() -> int:
    """Return the time of the commit: the same commit gives the same bytes."""
    told = subprocess.run(
        ["git", "log", "-1", "--format=%ct"],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    if not told:
        raise CardError("a card is made from a commit, and git knows none here")
    return int(told)


def _firmware() -> Path:
    """Return the directory of the firmware's image for the card's machine, made anew."""
    done = subprocess.run(
        [sys.executable, "-m", "device.image.build", "--target", TARGET],
        cwd=REPOSITORY, check=False, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        raise CardError("the firmware's image could not be made: see above")
    return REPOSITORY / f"build/image/gp-pta-device-{__version__}-{TARGET}"


def _wheels(place: Path) -> list[Path]:
    """Return NumPy and pyserial for the card's machine, at the versions of the lock."""
    lines = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8").split("\n")
    locked, taken = [], False
    for line in lines:
        if line[:1].isalpha():
            taken = line.partition("==")[0] in ("numpy", "pyserial")
        if taken and not line.startswith("#"):
            locked.append(line)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (place / "locked.txt").write_text("\n".join(locked))
    platforms = [f"--platform=manylinux_2_{minor}_aarch64" for minor in (17, 27, 28)]
    done = subprocess.run(
        [
            sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
            "--no-deps", "--require-hashes", "--only-binary=:all:", *platforms, "--platform=any",
            "--python-version=3.11", "--implementation=cp", "--abi=cp311", "--abi=none",
            f"--dest={place}", f"--requirement={place / 'locked.txt'}",
        ],
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise CardError("NumPy and pyserial could not be had: see above")
    return sorted(place.glob("*.whl"))


def _boot_files(
    files: dict[str, Path], kernel: Kernel, page: Path, place: Path, *, free: bool
) -> list[Path]:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    sources = [*(HERE / "files/boot").iterdir()]
    if not free:
        loader, firmware = place.with_name("u-boot"), place.with_name("pi-firmware")
        for package, target in (("u-boot-rpi", loader), (packages.FIRMWARE_OF_THE_PI, firmware)):
            shutil.rmtree(target, ignore_errors=True)
            subprocess.run(["dpkg-deb", "--extract", files[package], target], check=True)
        program = loader / "usr/lib/u-boot/rpi_arm64/u-boot.bin"
        sources += [program]
        (place / PI_FILE).write_bytes(environment_of(program.read_bytes(), ON_PI, PI_BYTES))
        sources += [firmware / "usr/lib/raspi-firmware" / name for name in PI_FIRMWARE]
        for board in PI_BOARDS:
            sources += kernel.device_trees.glob(f"{board}.dtb")
    for source in sources:
        shutil.copy(source, place)
    shutil.copy(page, place / PAGE)
    return sorted(place.iterdir())


def bill_of_materials(version: str, debian: list[Package], wheels: list[Path]) -> str:
    """Return a list of Debian's packages and Python's wheels, as CycloneDX 1.5 in JSON."""
    components: list[dict[str, Any]] = [
        {
            "type": "library", "name": each.name, "version": each.version,
            "purl": f"pkg:deb/debian/{each.name}@{each.version}?distro=bookworm",
            "hashes": [{"alg": "SHA-256", "content": each.sha256}],
        }
        for each in debian
    ]  # fmt: skip
    for wheel in wheels:
        name, its_version, *_ = wheel.name.split("-")
        purl = f"pkg:pypi/{name}@{its_version}"
        components.append({"type": "library", "name": name, "version": its_version, "purl": purl})
    content = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "firmware", "name": "gp-pta", "version": version}},
        "components": components,
    }  # fmt: skip
    return json.dumps(content, indent=1) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m device.card.build", description=__doc__)
    p.add_argument("--out", metavar="DIR", type=Path, default=REPOSITORY / "build/card")
    p.add_argument(
        "--keys", metavar="DIR", type=Path, default=REPOSITORY / "build/card/keys",
        help="the keys of updates (default: build/card/keys); made if there are none: keep them, "
        "for a card takes updates of nobody else",
    )  # fmt: skip
    p.add_argument(
        "--page", metavar="FILE", type=Path, required=True,
        help="the operator's page, of gp-pta page -o",
    )  # fmt: skip
    p.add_argument(
        "--free", action="store_true",
        help="without the firmware of Raspberry Pi, which is not free: no Pi starts from that card",
    )  # fmt: skip
    arguments = p.parse_args(argv)
    try:
        card = make(arguments.out, arguments.keys, arguments.page, free=arguments.free)
    except CardError as error:
        print(f"device.card.build: {error}", file=sys.stderr)
        return 1
    subprocess.run(["xz", "--keep", "--force", "--threads=0", card], check=True)
    packed = card.with_name(f"{card.name}.xz")
    print(f"{packed}: {packed.stat().st_size} bytes; unpacked {card.stat().st_size}")
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
