"""Check sums of files, in the form that `sha256sum` reads."""

import hashlib
from pathlib import Path
from typing import Final

SUMS: Final = "SHA256SUMS"


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_checksums(directory: Path) -> None:
    """Write what `sha256sum --check` reads of all files below a directory."""
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.name != SUMS)
    lines = [f"{sha256_of(path)}  {path.relative_to(directory)}\n" for path in files]
    (directory / SUMS).write_text("".join(lines), encoding="utf-8")
