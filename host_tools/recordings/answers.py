"""The single answers of a session, as plain data: what was presented, and what came of it."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from firmware_py.platform.clock import was_clock_set
from host_tools.errors import HostError

if TYPE_CHECKING:  # a replay brings Numba with it; what the index has needs none
    from host_tools.recordings.recorded_session import ReplayedSession

ANSWERS: Final = "answers"  # the kind of what a replay finds


@dataclass(frozen=True)
class Answer:
    """One presentation that was answered."""

    number: int  # of the presentation, from 1 in a session
    ear: str  # a route, such as "left" or "left-bone"
    purpose: str
    # `frequency_hz`, `level_db_hl`: None: a catch trial, in which there is no tone
    frequency_hz: float | None
    level_db_hl: float | None
    noise_db_hl: float | None  # effective masking level in the other ear; None: no noise
    heard: bool | None  # None: unsure
    response_ms: float | None  # from the onset to the press; None: no press, or no tone
    at_us: int  # session time at which the answer was known
    answered: str | None  # the same by the clock, in ISO 8601; None: it was not set


@dataclass(frozen=True)
class Answers:
    """Those of a session, in their order."""

    each: tuple[Answer, ...] = ()

    @classmethod
    def of(cls, session: "ReplayedSession") -> Self:
        runs = session.course.runs
        return cls(
            tuple(
                Answer(
                    trial.number, str(trial.route), str(trial.purpose),
                    trial.frequency_hz, trial.level_db_hl, trial.noise_db_hl,
                    trial.heard, trial.response_ms, trial.at_us, _clock(runs, trial.at_us),
                )
                for trial in session.trials
            )
        )  # fmt: skip

    def to_record(self) -> dict[str, list[Any]]:
        """Return them as JSON values, a list a field: that is a third of a record an answer."""
        names = [field.name for field in fields(Answer)]
        return {name: [getattr(answer, name) for answer in self.each] for name in names}

    @classmethod
    def from_record(cls, record: Mapping[str, Sequence[Any]]) -> Self:
        """Undo `to_record`."""
        values = (record[field.name] for field in fields(Answer))
        return cls(tuple(Answer(*of_one) for of_one in zip(*values, strict=True)))


def findings_of(path: Path) -> dict[str, Any]:
    """Replay a journal, and return its answers as JSON values, of their kind.

    Of an unfinished session they are those so far. `HostError` if it is none, is damaged, does not
    replay to what it records, or is of another version and not replayed here.
    """
    from host_tools.recordings.recorded_session import ReplayedSession, read_true_session

    session = read_true_session(path)
    if not isinstance(session, ReplayedSession):
        raise HostError(f"{path}: single answers come of a replay; {session.header.replay_words}")
    return {ANSWERS: Answers.of(session).to_record()}


def _clock(runs: Sequence[tuple[int, str]], at_us: int) -> str | None:
    """Return when an answer came, by the clock of the run of the firmware that took it."""
    # The last input of a run may be an answer, and the next run begins at its time.
    since_us, since = next((run for run in reversed(runs) if run[0] < at_us), runs[0])
    if not was_clock_set(since):
        return None
    try:
        later = datetime.timedelta(microseconds=at_us - since_us)
        time = datetime.datetime.fromisoformat(since) + later
    except OverflowError:
        return None
    return time.isoformat(timespec="milliseconds")
