"""An image for the machine the tests run on: of all kernels, or of a few that take seconds."""

import fcntl
import os
import subprocess
import sys
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from unittest import mock

from device.image import kernels
from device.image.build import assemble
from device.image.commit import commit
from device.image.targets import target_of_this_machine
from firmware_py.inference.library import BESIDE, source_digest

HANGS_S: Final = 3600.0  # half a minute of a processor, if it has one to itself
ROOT = Path(__file__).parents[3]
FEW_KERNELS: Final = (("elementary",), ("mixture.prediction",))

Parts = tuple[tuple[str, ...], ...]

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
        return run_with(self.library, *command, **environment)


def run_with(library: Path, *command: str, **environment: str) -> list[str]:
    """Run Python in the repository, with this library of kernels; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=HANGS_S,
        env={**os.environ, "GP_PTA_KERNELS": str(library), **environment},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def make_image(place: Path, cache: Path, parts: Parts = kernels.PARTS) -> Image | None:
    """Make the image for this machine, or take the one that another worker has made.

    All workers of a run share `place`; `cache` is kept from run to run, for LLVM's text, which
    takes longest. With all parts the image runs. None: there is no image for this kind of machine,
    or nothing that makes one.
    """
    target = target_of_this_machine()
    if target is None or not target.is_for_devices or find_spec("ziglang") is None:
        return None
    place.mkdir(parents=True, exist_ok=True)
    directory = place / f"gp-pta-device-{target.name}"
    packed = directory.with_name(f"{directory.name}.tar.gz")
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        text = _text(cache, parts)
        if not packed.exists():
            page = place / "page.html"
            page.write_text(PAGE_TEXT, encoding="ascii")
            assemble(text, target, directory, commit(), page)
    return Image(directory, packed, text)


def _text(cache: Path, parts: Parts) -> str:
    how = zlib.crc32((ROOT / "device" / "image" / "export.py").read_bytes() + repr(parts).encode())
    made_by = f"{version('numba')}-{version('llvmlite')}"
    kept = cache / f"{source_digest()}-{how:08x}-{made_by}.ll"
    if not kept.exists():
        with mock.patch.object(kernels, "PARTS", parts):
            kept.write_text(kernels.export(), encoding="ascii")
    return kept.read_text(encoding="ascii")
