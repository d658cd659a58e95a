"""Replay the journal of a tuning: whether it comes out the same, and how it went."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from firmware_py.comparisons.result import TuningResult
from firmware_py.comparisons.tuning import Tuning
from firmware_py.journal import FORMAT_VERSION, Record, SealKey
from firmware_py.journal.records import HEADER_BYTES_MAX, LineError, decode_line
from firmware_py.platform.named_file import open_named
from firmware_py.sessions.earlier_formats import replay_words
from firmware_py.sessions.replay import Replay, ReplayError, replay_from
from firmware_py.sessions.session_record import SessionRecordError
from firmware_py.terms.events import Action, Event
from firmware_py.tuning.tuning_record import TuningHeader, is_tuning
from host_tools.errors import HostError, NonsenseError
from host_tools.recordings.recorded_session import good_records, not_replayed
from host_tools.recordings.replayed import Verdict, code_of, elsewhere
from host_tools.recordings.seals import seals_of

TuningReplay = Replay[TuningHeader, Tuning, TuningResult]


@dataclass(frozen=True)
class Step:
    """What was known after a comparison; dB from the prescription, in the order of DIMENSIONS."""

    setting_db: tuple[float, ...]  # the best one
    low_db: tuple[float, ...]  # of the wish, 95 %
    high_db: tuple[float, ...]
    expected_regret: float


@dataclass
class TuningVerdict(Verdict):
    """What the replay of a tuning showed."""

    KIND: ClassVar[str] = "tuning"
    COUNTED: ClassVar[str] = "comparisons"
    COUNT_NAME: ClassVar[str] = "comparisons"
    OUTPUT: ClassVar[str] = "setting"

    result: TuningResult | None = None
    header: TuningHeader = field(kw_only=True)
    steps: list[Step] = field(kw_only=True)  # before the first comparison, and after each


def replay_tuning_journal(path: Path, keys: Sequence[SealKey] = ()) -> TuningVerdict:
    """Replay the journal of a tuning; `HostError` if it cannot be replayed at all."""
    recovered, damage = good_records(path)
    if recovered.format < FORMAT_VERSION:
        raise not_replayed(recovered, replay_words(recovered.header), keys)
    steps: list[Step] = []

    def watch(state: TuningReplay, _event: Event, _actions: Sequence[Action]) -> None:
        estimator = state.test.estimator
        if len(steps) != estimator.comparison_count + 1:
            low_db, high_db = map(tuple, estimator.wish_band())
            steps.append(Step(estimator.best(), low_db, high_db, estimator.expected_regret))

    try:
        state: TuningReplay = replay_from(TuningHeader, recovered.records, watch)
    except ReplayError as error:
        raise NonsenseError(f"{path}: {error}") from error.__cause__
    complete = recovered.complete and not state.pending
    return TuningVerdict(
        journal=path,
        code=code_of(len(state.differences), damage, complete=complete),
        count=state.test.estimator.comparison_count,
        inputs=state.inputs,
        torn_bytes=recovered.torn_bytes,
        differences=state.differences,
        damage=damage,
        result=state.result,
        seals=seals_of(recovered, keys),
        elsewhere=elsewhere(state.header),
        header=state.header,
        steps=steps,
    )


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
        with open_named(path) as file:
            return decode_line(file.readline(HEADER_BYTES_MAX + 1), 0, "")[0]
    except (OSError, LineError):
        return {}
