"""Replay the journal of a tuning: whether it comes out the same, and how it went."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firmware_py.journal import JournalDamagedError, JournalError, Record, SealKey, read_journal
from firmware_py.journal.records import HEADER_BYTES_MAX, LineError, decode_line
from firmware_py.platform.named_file import opened
from firmware_py.procedure.events import Action, Event
from firmware_py.procedure.tuning.result import TuningResult
from firmware_py.procedure.tuning.tuning import Tuning
from firmware_py.sessions.replay import Replay, ReplayError, replay_from
from firmware_py.sessions.session_record import SessionRecordError
from firmware_py.tuning.tuning_record import TuningHeader, is_tuning
from host_tools.errors import HostError, NonsenseError
from host_tools.recordings.replayed import (
    DAMAGED,
    DIFFERENT,
    IDENTICAL,
    NOT_SEALED,
    UNFINISHED,
    Seals,
    difference_lines,
    seals_of,
)

TuningReplay = Replay[TuningHeader, Tuning, TuningResult]


@dataclass(frozen=True)
class Step:
    """What was known after a comparison; dB from the prescription, in the order of DIMENSIONS."""

    setting_db: tuple[float, ...]  # the best one
    low_db: tuple[float, ...]  # of the wish, 95 %
    high_db: tuple[float, ...]
    expected_regret: float


@dataclass(frozen=True)
class TuningVerdict:
    """What the replay of a tuning showed."""

    journal: Path
    state: TuningReplay
    complete: bool
    damage: str
    steps: list[Step]  # before the first comparison, and after each
    seals: Seals

    @property
    def identical(self) -> bool:
        """Return whether the tuning is finished and everything came out the same."""
        return self.code == IDENTICAL

    @property
    def code(self) -> int:
        """Return what the command ends with, seals aside."""
        if self.state.differences:
            return DIFFERENT
        if self.damage:
            return DAMAGED
        return IDENTICAL if self.complete and not self.state.pending else UNFINISHED

    @property
    def exit_code(self) -> int:
        """Return what the command ends with: what is forged is nothing else."""
        return NOT_SEALED if self.seals.true is False else self.code

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
            "seals": vars(self.seals),
        }


def replay_tuning_journal(path: Path, keys: Sequence[SealKey] = ()) -> TuningVerdict:
    """Replay the journal of a tuning; `HostError` if it cannot be replayed at all."""
    damage, steps = "", _Steps()
    try:
        recovered = read_journal(path)
    except JournalDamagedError as error:
        if error.good is None or not error.good.records:
            raise HostError(str(error)) from None
        recovered, damage = error.good, str(error)
    except JournalError as error:
        raise HostError(str(error)) from None
    try:
        state: TuningReplay = replay_from(TuningHeader, recovered.records, steps.watch)
    except ReplayError as error:
        raise NonsenseError(f"{path}: {error}") from error.__cause__
    seals = seals_of(recovered, keys)
    return TuningVerdict(path, state, recovered.complete, damage, steps.taken, seals)


def is_of_tuning(path: Path) -> bool:
    """Return whether the journal is of a tuning; what cannot be read is of none."""
    return is_tuning(_first_record(path))


def header_of_tuning(path: Path) -> TuningHeader:
    """Return what a tuning began with; `HostError` if the journal is of none."""
    header = _first_record(path)
    if not is_tuning(header):
        raise HostError(f"{path}: this is no journal of a tuning")
    try:
        return TuningHeader.from_record(header)
    except SessionRecordError as error:
        raise NonsenseError(f"{path}: {error}") from None


def _first_record(path: Path) -> Record:
    """Return the first record; nothing of what cannot be read."""
    try:
        with opened(path) as file:
            return decode_line(file.readline(HEADER_BYTES_MAX + 1), 0, "")[0]
    except (OSError, LineError):
        return {}


class _Steps:
    """Notes what is known after each comparison."""

    def __init__(self) -> None:
        self.taken: list[Step] = []

    def watch(self, state: TuningReplay, _event: Event, _actions: Sequence[Action]) -> None:
        estimator = state.test.estimator
        if len(self.taken) == estimator.comparison_count + 1:
            return
        low_db, high_db = estimator.wish_band()
        best = estimator.best()
        self.taken.append(Step(best, tuple(low_db), tuple(high_db), estimator.expected_regret))


def verdict_words(verdict: TuningVerdict) -> list[str]:
    """Return the verdict in words, the short first."""
    count = verdict.state.test.estimator.comparison_count
    endings = {
        IDENTICAL: "every setting and the result came out bit for bit",
        DIFFERENT: f"{len(verdict.state.differences)} outputs DIFFER",
        UNFINISHED: "the same so far; the tuning is not finished",
        DAMAGED: "the same up to where the journal is damaged",
    }
    lines = [
        f"{verdict.journal}: {count} comparisons from {verdict.state.inputs} inputs; "
        f"{endings[verdict.code]}"
    ]
    damage = [f"DAMAGED: {verdict.damage}"] if verdict.damage else []
    seals = [verdict.seals.words] if verdict.seals.words else []
    return [*lines, *seals, *damage, *difference_lines(verdict.state.differences)]
