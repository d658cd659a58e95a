"""An image as the install script lays it down: whole, in its place, and it runs there."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firmware_py.inference.library import check_sum
from tests.device.image.image import Image
from tests.device.install.conftest import Staging


@pytest.fixture
def staging(tmp_path: Path) -> Staging:
    return Staging(tmp_path / "root")


def copy_of(image: Image, place: Path) -> Path:
    """Return a copy of an image, to be spoilt; without what Python has put beside the sources."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(image.directory, place, ignore=ignored))


@pytest.fixture
def image_copy(small_image: Image, tmp_path: Path) -> Path:
    return copy_of(small_image, tmp_path / "copied")


def replace(path: Path, content: bytes, checksums: Path) -> None:
    old, new = (hashlib.sha256(each).hexdigest() for each in (path.read_bytes(), content))
    path.write_bytes(content)
    checksums.write_text(checksums.read_text().replace(old, new))


@pytest.mark.thorough
def test_the_firmware_runs_from_where_it_is_laid(
    staging: Staging, image: Image, tmp_path: Path
) -> None:
    staging.install("uart", "--image", str(copy_of(image, tmp_path / "copied")))
    python = staging.root / "opt/gp-pta/bin/python"  # is made where there is no --root
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -B "$@"\n')
    python.chmod(0o755)
    firmware = [str(staging.root / "opt/gp-pta/bin/gp-pta-device")]
    ports = ["--tone-generator", "/none", "--console", "/none", "--data", str(staging.root)]
    done = subprocess.run(
        [*firmware, "--check", *ports], capture_output=True, text=True, check=False
    )
    told = subprocess.run(
        [*firmware, "--version"], capture_output=True, text=True, check=True
    ).stdout
    assert "ready-made kernels for " in told
    (kernels,) = [line for line in done.stdout.splitlines() if "kernels" in line]
    assert kernels.startswith("ok"), "no Numba is asked for: there is none beside an image"


def test_nothing_of_the_image_before_is_left(staging: Staging, image_copy: Path) -> None:
    staging.install("uart", "--image", str(image_copy))
    once = staging.files()
    (staging.root / "opt/gp-pta/image/firmware_py/of_another_version.py").touch()
    staging.install("uart", "--image", str(image_copy))
    assert staging.files() == once
    staging.run("--uninstall")
    assert not (staging.root / "opt/gp-pta").exists()


@pytest.mark.parametrize("whole", [False, True])
def test_an_image_that_is_not_whole_or_for_another_machine_is_refused(
    whole: bool, staging: Staging, image_copy: Path
) -> None:
    before = staging.files()
    library = image_copy / "firmware_py/inference/kernels.so"
    if whole:
        other = b"\x7fELF of another machine"
        replace(library, other + check_sum(other), image_copy / "SHA256SUMS")
        words = f"{library} is no library of kernels for this machine"
    else:
        (image_copy / "firmware_py/main.py").write_text("print('mine')")
        words = f"install.sh: --image is '{image_copy}', which is not as it was made"
    done = staging.run("--console", "uart", "--image", str(image_copy))
    assert done.returncode == 2
    assert words in done.stderr
    assert whole or "firmware_py/main.py: FAILED" in done.stdout
    assert staging.files() == before
