"""Replay all golden sessions and tunings where there is no pytest; exit 0 if all come out."""

import sys
from pathlib import Path
from typing import Final

from firmware_py.inference.library import runs_on
from host_tools.commands.replay.tuning import replay_tuning_journal
from host_tools.recordings.replayed import IDENTICAL, replay_journal

GOLDEN: Final = Path(__file__).parents[1] / "golden"
TUNING: Final = Path(__file__).parents[1] / "tuning" / "golden-tuning.journal"


def main() -> int:
    print(runs_on())
    verdicts = [replay_journal(path) for path in sorted(GOLDEN.iterdir())]
    tuning = replay_tuning_journal(TUNING)
    found = [(each.journal, each.code, each.differences) for each in verdicts]
    for journal, _, differences in [*found, (TUNING, tuning.code, tuning.differences)]:
        print(f"{journal.name}: {len(differences)} outputs differ")
    return int(not verdicts or any(code != IDENTICAL for _, code, _ in found) or tuning.code)


if __name__ == "__main__":
    sys.exit(main())
