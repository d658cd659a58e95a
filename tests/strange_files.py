"""What somebody may put where a program expects a file: each makes it at a path."""

from pathlib import Path


def link(path: Path) -> None:
    """Make a link to the file `outside` beside it."""
    path.symlink_to(path.with_name("outside"))


def second_name(path: Path) -> None:
    """Give the file `outside` beside it another name."""
    path.hardlink_to(path.with_name("outside"))


def hollow(path: Path) -> None:
    """Make a link to nothing."""
    path.symlink_to(path.with_name("nothing"))


def full(path: Path) -> None:
    """Make a directory with a file in it."""
    path.mkdir()
    (path / "file").touch()
