"""Which program this is: its version and, where that is no release, the commit that it is made of.

What was built has the commit in a file beside this one. A checkout has it in `.git`, which is read
as Git wrote it: a device has no Git. Nothing is read before somebody asks.
"""

import os
import re
from functools import cache
from pathlib import Path
from typing import Final

from firmware_py import __version__
from firmware_py.journal import FORMAT_VERSION
from firmware_py.platform.named_file import content_of

ROOT: Final = Path(__file__).parents[2]
BUILT_FROM: Final = "firmware_py/platform/built-from.txt"  # below the root; a build writes it
CHANGED: Final = "-changed"  # after a commit: the sources were not as committed
COMMIT_DIGITS: Final = 12
NO_RELEASE: Final = ".dev"  # in the version, as PEP 440 has it

_LINE_BYTES_MAX: Final = 4096  # of a file of Git that has one line
_PACKED_BYTES_MAX: Final = 64 * 1024 * 1024  # of that with all branches and tags
_LINKS_MAX: Final = 5  # from HEAD to a commit, as Git has it
_REFERENCE: Final = "ref: "
_WHOLE: Final = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_BUILT: Final = re.compile(f"[0-9a-f]{{7,64}}({CHANGED})?")


@cache
def full_version() -> str:
    """Return the version of this program, with its commit where it is no release and one is known.

    It is a version of PEP 440: ``0.2.0.dev0+g7799b712abcd``.
    """
    return with_commit(__version__, commit_of(ROOT))


def program_words() -> str:
    """Return the version, and which journals this program writes and reads."""
    written = f"journals of format {FORMAT_VERSION} written"
    return f"{full_version()}, {written}, 1 to {FORMAT_VERSION} read"


def with_commit(version: str, commit: str) -> str:
    """Return a version and, where it is no release, the commit; "": none is known."""
    if NO_RELEASE not in version or not commit:
        return version
    return f"{version}+g{commit.replace('-', '.')}"


def commit_of(root: Path) -> str:
    """Return the commit of the program below `root`: of the file of a build, or else of Git.

    "": none is known.
    """
    try:
        told = _line(root / BUILT_FROM)
    except FileNotFoundError:
        return _commit_of_checkout(root / ".git")
    except OSError:
        return ""
    return told if _BUILT.fullmatch(told) else ""


def _commit_of_checkout(git: Path) -> str:
    try:
        directory = git if git.is_dir() else git.parent / _line(git).removeprefix("gitdir: ")
        told = _line(directory / "HEAD")
        for _ in range(_LINKS_MAX):
            if not told.startswith(_REFERENCE):
                break
            told = _value_of(told.removeprefix(_REFERENCE), directory)
    except (OSError, ValueError):  # of a path with a NUL
        return ""
    return told[:COMMIT_DIGITS] if _WHOLE.fullmatch(told) else ""


def _value_of(name: str, directory: Path) -> str:
    """Return what a branch or a tag is; `directory` is that of one worktree."""
    common = directory
    if (directory / "commondir").is_file():  # what all worktrees share is elsewhere
        common = directory / _line(directory / "commondir")
    for place in (directory, common):
        if (place / name).is_file():
            return _line(place / name)
    lines = os.fsdecode(content_of(common / "packed-refs", _PACKED_BYTES_MAX)).splitlines()
    packed = (line.partition(" ") for line in lines)
    return next((commit for commit, _, told in packed if told == name), "")


def _line(path: Path) -> str:
    return os.fsdecode(content_of(path, _LINE_BYTES_MAX)).strip()
