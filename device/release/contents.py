"""What a release is: one version in all places that say it, its notes, its files and sums."""

import re
import subprocess
import tarfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware_py import __version__
from firmware_py.platform.version import NO_RELEASE, ROOT

# One line, and all below it up to the next of its kind.
_SECTION: Final = re.compile(r"^## (\S+) - (\S+)$", re.MULTILINE)
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_CITED: Final = re.compile(r"^(version|date-released): \"?([^\s\"]+)", re.MULTILINE)


class ReleaseError(Exception):
    """Something is no release; the message says what, and what to do."""


@dataclass(frozen=True)
class Release:
    """A version that may be published: the day, what is new, and when its commit was made."""

    version: str
    day: str
    notes: str  # Markdown, of the changelog
    epoch: int  # seconds, the time of the commit


def release_of(root: Path = ROOT, version: str = __version__) -> Release:
    """Return the release that a checkout is; `ReleaseError` names the first that is not so."""
    if NO_RELEASE in version:
        raise ReleaseError(f"version {version} is no release; make version writes the one that is")
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    cited = dict(_CITED.findall((root / "CITATION.cff").read_text()))
    day, notes = _notes(root, version)
    for place, told, expected in (
        ("pyproject.toml: version", project, version),
        ("CITATION.cff: version", cited.get("version"), version),
        ("CITATION.cff: date-released", cited.get("date-released"), day),
    ):
        if told != expected:
            raise ReleaseError(f"{place} is {told!r}; the release is {expected!r}")
    if _git(root, "status", "--porcelain"):  # what Git does not know would be packed, too
        raise ReleaseError("the checkout is not as committed: commit or stash what git status says")
    tag, here = f"v{version}", _git(root, "rev-parse", "HEAD")
    if _git(root, "tag", "--list", tag) and _git(root, "rev-parse", f"{tag}^{{commit}}") != here:
        raise ReleaseError(f"tag {tag} is of another commit; a version is released once")
    return Release(version, day, notes, int(_git(root, "log", "-1", "--format=%ct")))


def _notes(root: Path, version: str) -> tuple[str, str]:
    """Return the day of the newest section of the changelog, which has to be this version's."""
    text = (root / "CHANGELOG.md").read_text()
    found = _SECTION.search(text)
    if found is None or found[1] != version:
        told = found and found[1]
        raise ReleaseError(f"CHANGELOG.md: the first section is of {told!r}; wanted is {version!r}")
    if not _DAY.fullmatch(found[2]):
        raise ReleaseError(f"CHANGELOG.md: the day of {version} is {found[2]!r}, not as 2026-11-30")
    following = _SECTION.search(text, found.end())
    notes = text[found.start() : following.start() if following else len(text)]
    return found[2], notes.rstrip() + "\n"


def pack(directory: Path, name: str, archive: Path, epoch: int) -> None:
    """Pack a directory below a name; the same content and time give the same bytes.

    What begins with a dot stays here: Sphinx keeps its pickles there, with paths of this machine.
    """

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if Path(info.name).name.startswith("."):
            return None
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = epoch
        info.mode = 0o755 if info.isdir() else 0o644
        return info

    with tarfile.open(archive, "w:xz") as out:
        out.add(directory, name, filter=plain)  # in the order of the names


def run(*command: str | Path, at: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """Run a program; return what it says, or say it in a `ReleaseError` if it fails."""
    done = subprocess.run(command, cwd=at, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = " ".join(map(str, command))
        raise ReleaseError(f"{words}: ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *words], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ReleaseError(f"a release is made of a commit: git {words[0]}: {done.stderr.strip()}")
    return done.stdout.strip()
