"""The commit that something is built from; what is built carries it in a file.

`python -m device.image.commit DIR` writes that file into a copy of the sources.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from firmware_py.platform import version
from firmware_py.platform.program import run_program

UNKNOWN: Final = "unknown"


def commit() -> str:
    """Return the commit of the sources, with "-changed" if they are not as committed."""
    if (version.ROOT / version.BUILT_FROM).exists():  # a source archive, wherever it was unpacked
        return version.commit_of(version.ROOT) or UNKNOWN
    command = [
        "git", "-C", str(version.ROOT), "describe", "--always", "--exclude=*",
        f"--abbrev={version.COMMIT_DIGITS}", f"--dirty={version.CHANGED}",
    ]  # fmt: skip
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):  # no Git, or it does not trust the owner
        return version.commit_of(version.ROOT) or UNKNOWN


def write_commit(source_commit: str, root: Path) -> Path | None:
    """Write the file of a build, below the root of what is built; None: no commit is known."""
    if source_commit == UNKNOWN:
        return None
    path = root / version.BUILT_FROM
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{source_commit}\n", encoding="ascii")
    return path


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m device.image.commit", description=__doc__)
    p.add_argument("copy", metavar="DIR", type=Path, help="a copy of the sources")
    write_commit(commit(), p.parse_args(argv).copy)
    return 0


if __name__ == "__main__":
    sys.exit(run_program(main))
