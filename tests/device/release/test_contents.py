"""What may be released, and what lies beside it."""

import re
import subprocess
import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from device.image.checksums import SUMS, write_checksums
from device.release.contents import ReleaseError, pack, release_of
from firmware_py import __version__
from firmware_py.platform.version import ROOT

FILES: Final = {
    "pyproject.toml": '[project]\nversion = "1.2.0"\n',
    "CITATION.cff": "title: x\nversion: 1.2.0\ndate-released: 2026-11-30\nreferences: []\n",
    "CHANGELOG.md": "# Changelog\n\n## 1.2.0 - 2026-11-30\n\n- new\n\n## 1.1.0 - 2025-01-01\n",
}


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "one", "--date", "2026-11-30T12:00:00Z")
    return tmp_path


def test_a_release_has_the_day_and_the_notes_of_its_section(checkout: Path) -> None:
    release = release_of(checkout, "1.2.0")
    assert (release.version, release.day) == ("1.2.0", "2026-11-30")
    assert release.notes == "## 1.2.0 - 2026-11-30\n\n- new\n"
    git(checkout, "tag", "v1.2.0")
    assert release_of(checkout, "1.2.0") == release


def in_file(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        assert old in FILES[name]
        (root / name).write_text(FILES[name].replace(old, new, 1))
        git(root, "commit", "--quiet", "--all", "-m", "two")

    return change


def tag_then_go_on(root: Path) -> None:
    git(root, "tag", "v1.2.0")
    git(root, "commit", "--quiet", "--allow-empty", "-m", "two")


def not_committed(root: Path) -> None:
    (root / "CITATION.cff").write_text(FILES["CITATION.cff"] + "\n")


def not_known(root: Path) -> None:
    (root / "notes.py").write_text("")


CHANGES, CITED = "CHANGELOG.md", "CITATION.cff"
FAULTS: Final[dict[str, tuple[Callable[[Path], None], str]]] = {
    "package": (in_file("pyproject.toml", "1.2.0", "1.3.0"), "pyproject.toml: version is '1.3.0'"),
    "cited": (in_file(CITED, "1.2.0", "1.1.0"), "CITATION.cff: version is '1.1.0'"),
    "day": (in_file(CITED, "-30", "-29"), "is '2026-11-29'; the release is '2026-11-30'"),
    "no day": (in_file(CHANGES, "2026-11-30", "unreleased"), "day of 1.2.0 is 'unreleased'"),
    "no notes": (in_file(CHANGES, "1.2.0", "1.1.9"), "is of '1.1.9'; wanted is '1.2.0'"),
    "not committed": (not_committed, "not as committed"),
    "not known to Git": (not_known, "not as committed"),
    "released before": (tag_then_go_on, "tag v1.2.0 is of another commit"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_release_is_named(checkout: Path, fault: str) -> None:
    change, words = FAULTS[fault]
    change(checkout)
    with pytest.raises(ReleaseError, match=re.escape(words)):
        release_of(checkout, "1.2.0")


def test_a_version_between_releases_is_none(checkout: Path) -> None:
    with pytest.raises(ReleaseError, match=r"1\.2\.0\.dev0 is no release; make version writes"):
        release_of(checkout, "1.2.0.dev0")


def test_sums_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"a")
    (tmp_path / "b.img").write_bytes(b"b")
    write_checksums(tmp_path)
    check = ["sha256sum", "--check", "--strict", SUMS]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "a.whl: OK\nb.img: OK\n"
    (tmp_path / "b.img").write_bytes(b"c")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_the_same_content_is_packed_to_the_same_bytes(tmp_path: Path) -> None:
    archives = []
    for order in ("ab", "ba"):
        site = tmp_path / order
        (site / ".doctrees").mkdir(parents=True)
        for name in order:
            (site / name).write_text(name)
        archives.append(tmp_path / f"{order}.tar.xz")
        pack(site, "docs", archives[-1], 1_700_000_000)
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with tarfile.open(archives[0]) as archive:
        assert archive.getnames() == ["docs", "docs/a", "docs/b"]


def test_make_version_finds_the_version_of_the_program_wherever_one_stands() -> None:
    told = tomllib.loads((ROOT / ".bumpversion.toml").read_text())["tool"]["bumpversion"]
    for each in told["files"]:
        if "include_bumps" not in each:
            words = each["search"].format(current_version=__version__)
            assert words in (ROOT / each["filename"]).read_text()
