"""Replay the journal of a tuning."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firmware_py.journal import JournalDamagedError, JournalError, read_journal
from firmware_py.session import ReplayError
from firmware_py.tuning_record import TuningReplay, replay_tuning
from host_tools.errors import HostError, NonsenseError


@dataclass(frozen=True)
class TuningVerdict:
    """What the replay of a tuning showed."""

    journal: Path
    state: TuningReplay
    complete: bool
    damage: str

    @property
    def identical(self) -> bool:
        """Return whether the tuning is finished and everything came out the same."""
        return self.code == 0

    @property
    def code(self) -> int:
        """Return what the command ends with, as of `gp-pta replay`."""
        if self.state.differences:
            return 1
        if self.damage:
            return 4
        return 0 if self.complete and not self.state.pending else 3

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        return {
            "journal": str(self.journal),
            "replay_identical": self.identical,
            "comparisons": self.state.test.estimator.comparison_count,
            "inputs": self.state.inputs,
            "damage": self.damage,
            "differences": [vars(difference) for difference in self.state.differences],
            "result": self.state.result.to_record() if self.state.result else None,
        }


def replay_tuning_journal(path: Path) -> TuningVerdict:
    """Replay the journal of a tuning; `HostError` if it cannot be replayed at all."""
    damage = ""
    try:
        recovered = read_journal(path)
    except JournalDamagedError as error:
        if error.good is None or not error.good.records:
            raise HostError(str(error)) from None
        recovered, damage = error.good, str(error)
    except JournalError as error:
        raise HostError(str(error)) from None
    try:
        state = replay_tuning(recovered.records)
    except ReplayError as error:
        raise NonsenseError(f"{path}: {error}") from error.__cause__
    return TuningVerdict(path, state, recovered.complete, damage)


def verdict_words(verdict: TuningVerdict) -> list[str]:
    """Return the verdict in words, the short first."""
    count = verdict.state.test.estimator.comparison_count
    endings = {
        0: "every setting and the result came out bit for bit",
        1: f"{len(verdict.state.differences)} outputs DIFFER",
        3: "the same so far; the tuning is not finished",
        4: "the same up to where the journal is damaged",
    }
    lines = [
        f"{verdict.journal}: {count} comparisons from {verdict.state.inputs} inputs; "
        f"{endings[verdict.code]}"
    ]
    if verdict.damage:
        lines.append(f"DAMAGED: {verdict.damage}")
    for difference in verdict.state.differences[:10]:
        lines.append(f"record {difference.record}: recorded {difference.recorded}")
        lines.append(f"{'':>{len(str(difference.record)) + 7}}  replayed {difference.replayed}")
    return lines
