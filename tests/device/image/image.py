"""An image for the machine the tests run on."""

import fcntl
import os
import subprocess
import sys
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from device.image.build import assemble
from device.image.kernels import commit, export
from device.image.targets import target_of_this_machine
from firmware_py.inference.library import BESIDE, source_digest

ROOT = Path(__file__).parents[3]

PAGE_TEXT = "<!doctype html><title>of the operator</title>\n"


@dataclass(frozen=True)
class Image:
    """An image, and LLVM's text of the kernels that it was made from."""

    directory: Path
    packed: Path
    text: str

    @property
    def library(self) -> Path:
        return self.directory / "firmware_py" / "inference" / BESIDE.name

    def run(self, *command: str, **environment: str) -> list[str]:
        """Run Python in the repository, with the kernels of the image; return what it prints."""
        done = subprocess.run(
            [sys.executable, "-W", "error", *command],
            cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
            env={**os.environ, "GP_PTA_KERNELS": str(self.library), **environment},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()


def make_image(place: Path, cache: Path) -> Image | None:
    """Make the image for this machine, or take the one that another worker has made.

    Parameters
    ----------
    place : Path
        A directory that all workers of a run share.
    cache : Path
        A directory that is kept from run to run, for LLVM's text: that takes longest.

    Returns
    -------
    Image or None
        None where there is no image for this kind of machine, or nothing that makes one.
    """
    target = target_of_this_machine()
    if target is None or not target.is_for_devices or find_spec("ziglang") is None:
        return None
    place.mkdir(exist_ok=True)
    directory = place / f"gp-pta-device-{target.name}"
    packed = directory.with_name(f"{directory.name}.tar.gz")
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        text = _text(cache)
        if not packed.exists():
            page = place / "page.html"
            page.write_text(PAGE_TEXT, encoding="ascii")
            assemble(text, target, directory, commit(), page)
    return Image(directory, packed, text)


def _text(cache: Path) -> str:
    """Return LLVM's text of the kernels as they are now."""
    how = zlib.crc32((ROOT / "device" / "image" / "export.py").read_bytes())
    made_by = f"{version('numba')}-{version('llvmlite')}"
    kept = cache / f"{source_digest()}-{how:08x}-{made_by}.ll"
    if not kept.exists():
        kept.write_text(export(), encoding="ascii")
    return kept.read_text(encoding="ascii")
