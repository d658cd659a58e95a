"""The kernel of a card: its modules, and the first system, which finds the root and checks it."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from device.card.errors import CardError
from device.card.unpack import Tree

HERE: Final = Path(__file__).parent
MODULES: Final = HERE / "modules.txt"
INIT: Final = HERE / "files" / "init"
# The programs of the first system; what they are linked with comes by itself.
FIRST_PROGRAMS: Final = (
    "usr/bin/busybox",
    "usr/lib/ld-linux-aarch64.so.1",
    "usr/sbin/dmsetup",
    "usr/sbin/e2fsck",
    "usr/sbin/mke2fs",
)


class Kernel:
    """The unpacked kernel package."""

    def __init__(self, package: Path, place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        subprocess.run(["dpkg-deb", "--extract", package, place], check=True)
        (modules,) = (place / "lib/modules").iterdir()
        self.version = modules.name
        self.image = place / "boot" / f"vmlinuz-{self.version}"
        self.device_trees = place / "usr/lib" / f"linux-image-{self.version}" / "broadcom"
        self._modules = modules
        _depmod(place, self.version)
        self._needs = self._dependencies()

    def write_modules(self, root: Path, *, first_only: bool) -> None:
        """Write the modules of the list, and what they depend on, below a directory."""
        target = root / "usr/lib/modules" / self.version
        names = (
            read_modules("first", "asked")
            if first_only
            else read_modules("first", "asked", "later")
        )
        for path in sorted(with_needs(names, self._needs)):
            file = target / path
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._modules / path, file)
        for name in ("modules.builtin", "modules.builtin.modinfo", "modules.order"):
            shutil.copyfile(self._modules / name, target / name)
        _depmod(root / "usr", self.version)

    def _dependencies(self) -> dict[str, list[str]]:
        lines = (self._modules / "modules.dep").read_text().splitlines()
        return {path: needs.split() for path, _, needs in (line.partition(":") for line in lines)}


def with_needs(names: Iterable[str], needs: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the files of these modules and of those that they depend on, by `needs`."""
    paths = {PurePosixPath(path).stem.replace("_", "-"): path for path in needs}
    found = set[str]()
    for name in names:
        if (path := paths.get(name.replace("_", "-"))) is None:
            raise CardError(f"the kernel has no module {name!r}")
        found |= {path, *needs[path]}
    return found


def read_modules(*whens: str) -> list[str]:
    names = []
    for line in MODULES.read_text(encoding="ascii").splitlines():
        when, _, some = line.partition(":")
        if when in whens:
            names += some.split()
    return names


def _depmod(root: Path, version: str) -> None:
    subprocess.run(["depmod", "-b", root, version], check=True)


def make_initramfs(tree: Tree, kernel: Kernel, verity: str, place: Path, epoch: int) -> Path:
    """Make the first system, which knows dm-verity's table without the device; return its file."""
    root = place / "initramfs"
    shutil.rmtree(root, ignore_errors=True)
    tree.write(tree.with_libraries(tree.matching(FIRST_PROGRAMS)), root)
    kernel.write_modules(root, first_only=True)
    for name in ("dev", "proc", "root", "run", "sys", "tmp"):
        (root / name).mkdir()
    shutil.copyfile(INIT, root / "init")
    (root / "init").chmod(0o755)
    (root / "modules").write_text("".join(f"{name}\n" for name in read_modules("first")))
    (root / "verity").write_text(f"{verity}\n")
    packed = place / "initramfs.zst"
    _pack(root, packed, epoch)
    return packed


def _pack(root: Path, packed: Path, epoch: int) -> None:
    paths = sorted(path.relative_to(root) for path in root.rglob("*"))
    for path in paths:
        os.utime(root / path, (epoch, epoch), follow_symlinks=False)
    archive = subprocess.run(
        ["cpio", "--create", "--format=newc", "--owner=0:0", "--reproducible", "--quiet"],
        cwd=root, input="".join(f"{path}\n" for path in paths).encode(), check=True,
        stdout=subprocess.PIPE,
    ).stdout  # fmt: skip
    subprocess.run(
        ["zstd", "-19", "--quiet", "--force", "-", "-o", packed], input=archive, check=True
    )
