"""Replay every golden session where there is no pytest; exit 0 only if all come out bit for bit."""

import sys
from pathlib import Path
from typing import Final

from firmware_py.inference.library import runs_on
from host_tools.commands.replay.command import IDENTICAL, replay_journal

GOLDEN: Final = Path(__file__).parents[1] / "golden"


def main() -> int:
    """Say of each what came out; return an exit code."""
    print(runs_on())
    verdicts = [replay_journal(path) for path in sorted(GOLDEN.iterdir())]
    for verdict in verdicts:
        print(f"{verdict.journal.name}: {len(verdict.differences)} outputs differ")
    return int(not verdicts or any(verdict.code != IDENTICAL for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
