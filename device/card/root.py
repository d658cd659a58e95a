"""The root of a card: a system that only reads, with Debian's programs and the firmware."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from device.card.errors import CardError
from device.card.kernel import Kernel
from device.card.unpack import Tree

HERE: Final = Path(__file__).parent
REPOSITORY: Final = HERE.parents[1]
KEPT: Final = HERE / "kept.txt"
FILES: Final = HERE / "files" / "root"
PYTHON: Final = "usr/bin/python3.11"
# Of the wheels: tests, what compilers read, and what type checkers read
LEFT_OUT: Final = ("tests", "f2py", "include", "*.pyi", "*.a", "*.h")
EMULATOR: Final = "qemu-aarch64-static"
EMPTY: Final = ("boot", "dev", "proc", "root", "run", "sys", "tmp", "var")


def make_root(
    tree: Tree,
    kernel: Kernel,
    image: Path,
    wheels: list[Path],
    told: Mapping[str, str],
    root: Path,
) -> None:
    """Make the directory of the root; what was there is removed.

    `image` is the firmware for AArch64, `wheels` are what its Python needs besides, and `told` is
    written at the end of files of the root: version, certificates, contents.
    """
    shutil.rmtree(root, ignore_errors=True)
    kept = [
        line for line in KEPT.read_text(encoding="ascii").splitlines() if line[:1] not in ("", "#")
    ]
    packages = _unpack_wheels(wheels, root)
    tree.write(tree.with_libraries(tree.matching(kept), packages.rglob("*.so*")), root)
    for name in EMPTY:
        (root / name).mkdir()
    kernel.write_modules(root, first_only=False)
    shutil.copytree(FILES, root, dirs_exist_ok=True, symlinks=True)
    for name, content in told.items():
        with (root / name).open("a", encoding="utf-8") as file:
            file.write(content)
    _link_small_programs(root)
    _install_firmware(root, image)
    _compile(root)


def _link_small_programs(root: Path) -> None:
    for line in _emulate(root, "usr/bin/busybox", "--list-full").splitlines():
        path = root / "usr" / line.removeprefix("usr/")
        if not path.exists() and not path.is_symlink():
            path.parent.mkdir(exist_ok=True)
            path.symlink_to("/usr/bin/busybox")


def _unpack_wheels(wheels: list[Path], root: Path) -> Path:
    """Unpack what Python finds by itself; return where. What only tests use is left out."""
    packages = root / "opt/gp-pta/lib/python3.11/site-packages"
    packages.mkdir(parents=True)
    for wheel in wheels:
        shutil.unpack_archive(wheel, packages, "zip")
    for pattern in LEFT_OUT:
        for path in packages.rglob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return packages


def _install_firmware(root: Path, image: Path) -> None:
    (root / "opt/gp-pta/bin").mkdir()
    (root / "opt/gp-pta/bin/python").symlink_to("/usr/bin/python3.11")
    (root / "opt/gp-pta/pyvenv.cfg").write_text("home = /usr/bin\n")
    python = root.with_name("bin") / "python3"
    python.parent.mkdir(exist_ok=True)
    python.write_text(f'#!/bin/sh\nexec {EMULATOR} -0 "$0" -L {root} {root / PYTHON} "$@"\n')
    python.chmod(0o755)
    script = REPOSITORY / "device/install/install.sh"
    done = subprocess.run(
        [script, "--console", "uart", "--image", image, "--root", root],
        capture_output=True, text=True,
        env={**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}, check=False,
    )  # fmt: skip
    if done.returncode:
        raise CardError(f"install.sh ended with {done.returncode}: {done.stderr}")


def _compile(root: Path) -> None:
    """Have Python's byte code there: who only reads would compile it at every start."""
    for place in ("usr/lib/python3.11", "opt/gp-pta"):
        _emulate(
            root, PYTHON, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash",
            "-s", str(root), str(root / place),
        )  # fmt: skip


def _emulate(root: Path, program: str, *words: str) -> str:
    done = subprocess.run(
        [EMULATOR, "-L", root, root / program, *words], capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    if done.returncode:
        raise CardError(f"{program} {' '.join(words)}: {done.stderr or done.stdout}")
    return done.stdout
