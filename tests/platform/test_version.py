"""Which program this is: the commit of a build, of a checkout as Git wrote it, or none."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from packaging.version import Version

from firmware_py import __version__
from firmware_py.platform.version import (
    BUILT_FROM,
    COMMIT_DIGITS,
    ROOT,
    commit_of,
    full_version,
    with_commit,
)
from tests.strange_files import link

DEV: Final = "0.2.0.dev0"
# Whatever this machine is told about Git is not for these.
APART: Final = {
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a", "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a",
}  # fmt: skip
needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


def git(place: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=place, env=APART, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a repository with two commits; the first is tagged."""
    made = tmp_path / "checkout"
    made.mkdir()
    git(made, "init", "--quiet", "--initial-branch=main")
    for words in ("one", "two"):
        git(made, "commit", "--quiet", "--allow-empty", "-m", words)
    git(made, "tag", "first", "HEAD~1")
    return made


PACK: Final = ("tag -a -m two second", "pack-refs --all --prune")  # a line follows that of a tag
TREE: Final = ("worktree add --quiet -b other ../tree first",)
# What Git is told there, and where a commit is asked for then.
WAYS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "on a branch": ((), "checkout"),
    "on a branch in a folder": (("switch --quiet --create some/thing first",), "checkout"),
    "at a commit": (("switch --quiet --detach first",), "checkout"),
    "packed": (PACK, "checkout"),
    "packed, and gone on": ((*PACK, "commit --quiet --allow-empty -m three"), "checkout"),
    "worktree": (TREE, "tree"),
    "worktree of packs": ((*TREE, "pack-refs --all --prune"), "tree"),
    "submodule": (
        ("init --quiet ../whole",
         "-C ../whole -c protocol.file.allow=always submodule --quiet add {} part"),
        "whole/part",
    ),
}  # fmt: skip


@needs_git
@pytest.mark.parametrize("way", WAYS)
def test_the_commit_of_a_checkout_is_what_git_says(
    checkout: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands, place = WAYS[way]
    for command in commands:
        git(checkout, *command.format(checkout).split())
    root = checkout.parent / place
    wanted = git(root, "rev-parse", "HEAD")[:COMMIT_DIGITS]
    monkeypatch.setattr(subprocess, "Popen", None)  # it is read, and Git is not run
    assert commit_of(root) == wanted


def test_without_git_and_without_a_build_no_commit_is_known(tmp_path: Path) -> None:
    assert commit_of(tmp_path) == ""
    assert with_commit(DEV, commit_of(tmp_path)) == DEV


@needs_git
@pytest.mark.parametrize(
    "head",
    [b"ref: HEAD\n", b"ref: refs/heads/none\n", b"4711\n", b"ref: \0\xff\n", b"a" * 1_000_000],
)
def test_what_names_no_commit_is_none(checkout: Path, head: bytes) -> None:
    (checkout / ".git/HEAD").write_bytes(head)
    assert commit_of(checkout) == ""


def a_directory(place: Path) -> None:
    (place / "HEAD").mkdir(parents=True)


@needs_git
@pytest.mark.parametrize(
    "put",
    [a_directory, Path.mkdir, lambda place: place.write_text("gitdir: /nonexistent\n"), link],
)
def test_what_cannot_be_read_of_git_is_no_commit(
    checkout: Path, put: Callable[[Path], object]
) -> None:
    shutil.rmtree(checkout / ".git")
    put(checkout / ".git")
    assert commit_of(checkout) == ""


def with_build(root: Path, content: bytes) -> Path:
    file = root / BUILT_FROM
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return root


@pytest.mark.parametrize("told", ["7799b712abcd", "7799b712abcd-changed", "7799b71"])
def test_what_was_built_has_the_commit_in_a_file(told: str, tmp_path: Path) -> None:
    assert commit_of(with_build(tmp_path, f"{told}\n".encode())) == told


@needs_git
@pytest.mark.parametrize(
    ("content", "commit"),
    [(b"0123456789ab\n", "0123456789ab"), (b"nonsense\n", ""), (b"\xff", ""), (b"", "")],
)
def test_the_file_of_a_build_wins(content: bytes, commit: str, checkout: Path) -> None:
    assert commit_of(checkout) != ""
    assert commit_of(with_build(checkout, content)) == commit


@pytest.mark.parametrize(
    ("version", "commit", "full"),
    [
        (DEV, "7799b712abcd", f"{DEV}+g7799b712abcd"),
        (DEV, "7799b712abcd-changed", f"{DEV}+g7799b712abcd.changed"),
        (DEV, "", DEV),
        ("0.2.0", "7799b712abcd", "0.2.0"),
    ],
)
def test_a_version_that_is_no_release_names_its_commit(
    version: str, commit: str, full: str
) -> None:
    assert with_commit(version, commit) == full
    assert str(Version(full)) == full, "as PEP 440 writes it"
    assert Version(full) >= Version(version)


def test_the_version_is_this_programs() -> None:
    assert full_version() == with_commit(__version__, commit_of(ROOT))
    assert full_version() is full_version(), "it is found out once"


def test_nothing_is_read_before_somebody_asks() -> None:
    """Neither at import nor where a parser is made."""
    program = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "import firmware_py.main, host_tools.main, firmware_py.sessions.session_record\n"
        "wanted = lambda: [path for path in opened if '/.git' in path or 'built-from' in path]\n"
        "assert not wanted(), wanted()\n"
        "from firmware_py.platform.version import full_version\n"
        "full_version()\n"
        "assert wanted()\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)
