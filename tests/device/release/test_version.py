"""`make version` writes a release wherever a version stands, and then what follows."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from device.release.contents import release_of
from firmware_py import __version__
from firmware_py.platform.version import ROOT
from tests.device.release.test_contents import git

TOOLS: Final = Path(sys.prefix) / "release.txt"
PLACES: Final = (
    "Makefile", ".bumpversion.toml", "pyproject.toml", "CITATION.cff", "CHANGELOG.md",
    "firmware_py/__init__.py", ".gitignore", "tools.lock",
)  # fmt: skip


def make_version(root: Path, *words: str) -> str:
    make = ["make", "version", f"VENV={sys.prefix}", *words]
    subprocess.run(make, cwd=root, check=True, capture_output=True)
    found = re.search('__version__ = "(.*?)"', (root / "firmware_py/__init__.py").read_text())
    assert found is not None
    git(root, "commit", "--quiet", "--all", "-m", found[1])
    return found[1]


@pytest.mark.skipif(not TOOLS.exists(), reason="make version was never made here")
@pytest.mark.skipif(".dev" not in __version__, reason="this is a release")
def test_a_version_is_written_wherever_it_stands(tmp_path: Path) -> None:
    (tmp_path / "firmware_py").mkdir()
    for name in PLACES:
        shutil.copy(ROOT / name, tmp_path / name)
    os.utime(tmp_path / "tools.lock", (0, 0))  # the tools are there, and stay
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    version = make_version(tmp_path)
    assert release_of(tmp_path, version).version == version == __version__.partition(".dev")[0]
    following = make_version(tmp_path, "PART=minor")
    assert following.endswith(".0.dev0")
    assert f'version = "{following}"' in (tmp_path / "pyproject.toml").read_text()
    assert f"version: {version}\n" in (tmp_path / "CITATION.cff").read_text()
