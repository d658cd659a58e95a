"""What the install script lays down, in a directory instead of a machine."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

INSTALL: Final = Path(__file__).parents[3] / "device" / "install"
CONSOLES: Final = ("gadget", "uart")

# What a Raspberry Pi OS has of it, in brief: it ends within a section of another board.
CONFIG_TXT: Final = "dtparam=audio=on\n[cm5]\ndtoverlay=dwc2,dr_mode=host\n"
CMDLINE_TXT: Final = "console=serial0,115200 console=tty1 root=PARTUUID=5e5a0f2c-02 rootwait\n"


class Staging:
    """A root directory with the boot partition of a Pi, for the install script to work on."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.boot = root / "boot/firmware"
        self.boot.mkdir(parents=True)
        (self.boot / "config.txt").write_text(CONFIG_TXT)
        (self.boot / "cmdline.txt").write_text(CMDLINE_TXT)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["sh", str(INSTALL / "install.sh"), "--root", str(self.root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def install(self, console: str, *arguments: str) -> str:
        """Install, which has to succeed; return what was said."""
        done = self.run("--console", console, *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def files(self) -> dict[str, str]:
        """Return every file with its content, and every link with where it leads."""
        return {
            str(path.relative_to(self.root)): (
                f"-> {path.readlink()}"
                if path.is_symlink()
                else path.read_text(errors="surrogateescape")  # a library is no text
            )
            for path in self.root.rglob("*")
            if path.is_symlink() or path.is_file()
        }


@pytest.fixture
def staging(tmp_path: Path) -> Staging:
    return Staging(tmp_path / "root")
