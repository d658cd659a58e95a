"""An image for the machine the tests run on."""

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from device.image.build import assemble, commit, export
from device.image.targets import TARGETS
from firmware_py.inference.library import FILE_NAME

ROOT = Path(__file__).parents[3]
TARGET_OF_MACHINE = {"x86_64": "x86-64", "aarch64": "aarch64", "armv7l": "armhf"}


@dataclass(frozen=True)
class Image:
    """An image, and LLVM's text of the kernels that it was made from."""

    directory: Path
    packed: Path
    text: str

    @property
    def library(self) -> Path:
        return self.directory / "firmware_py" / "inference" / FILE_NAME

    def run(self, *command: str, **environment: str) -> list[str]:
        """Run Python in the repository, with the kernels of the image; return what it prints."""
        done = subprocess.run(
            [sys.executable, "-W", "error", *command],
            cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
            env={**os.environ, "GP_PTA_KERNELS": str(self.library), **environment},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()


def make_image(directory: Path) -> Image:
    """Make the image for this machine in a directory; the test is skipped where there is none."""
    target = TARGET_OF_MACHINE.get(platform.machine())
    if target is None or sys.platform != "linux":
        pytest.skip(f"there is no image for {sys.platform} on {platform.machine()}")
    place = directory / f"gp-pta-device-{target}"
    text = export()
    return Image(place, assemble(text, TARGETS[target], place, commit()), text)
