"""Replay a journal: its inputs go through the machine again, and its outputs have to come out.

The state of a session is a pure function of the inputs: to resume it, or to check it on another
computer, they are fed through the procedure again.
"""

import datetime
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from firmware_py.inference.estimator import InferenceError, TrialLimitError
from firmware_py.journal import Record
from firmware_py.platform.own_prior import FindPrior, OwnPriorError, find_none
from firmware_py.session.hearing import HearingTest
from firmware_py.sessions.session_course import Input, Output, inputs_and_outputs
from firmware_py.sessions.session_record import (
    BoardMark,
    First,
    Header,
    SessionHeader,
    SessionRecordError,
    Test,
)
from firmware_py.terms.events import Action, Event, Result, records_of
from firmware_py.terms.results import SessionResult
from firmware_py.terms.settings import SettingError

Found = TypeVar("Found", bound=Result)


class ReplayError(ValueError):
    """A journal that this version cannot follow."""


@dataclass(frozen=True)
class Difference:
    """A place where the procedure says something else than the journal."""

    record: int
    recorded: dict[str, Any] | None
    replayed: dict[str, Any] | None


@dataclass(frozen=True)
class Break:
    """The firmware had ended, and the session was gone on with."""

    at_us: int  # session time of the last input before it
    ended: str  # date and time of day when it was gone on with, ISO 8601


@dataclass
class Replay(Generic[First, Test, Found]):
    """What came of feeding a journal through the procedure."""

    header: First  # as recorded
    test: Test  # in the state after the last input
    # empty if every output came out bit for bit
    differences: list[Difference] = field(default_factory=list)
    # outputs of the last input that did not reach the journal any more
    pending: list[dict[str, Any]] = field(default_factory=list)
    at_us: int = 0  # session time of the last input
    # up to where the board's events are recorded
    board: BoardMark = field(default_factory=BoardMark)
    # `tones`, `inputs`: how many tones were played, and how many inputs there are
    tones: int = 0
    inputs: int = 0
    result: Found | None = None  # as recorded; None: the session is not finished
    # when the session was gone on with after the firmware had ended, each time
    breaks: list[Break] = field(default_factory=list)

    @property
    def resumed(self) -> int:
        return len(self.breaks)

    def last_input_at(self, speed: float = 1.0) -> datetime.datetime:
        """Return when the last input came, by the clock that dated the session.

        `speed`: how many times faster than the world the time of the session went.
        """
        since = Break(0, self.header.started) if not self.breaks else self.breaks[-1]
        began = datetime.datetime.fromisoformat(since.ended)
        return began + datetime.timedelta(microseconds=(self.at_us - since.at_us) / speed)


HearingReplay = Replay[SessionHeader, HearingTest, SessionResult]
# Of the state after an input, the input, and what the procedure says to it.
Watcher = Callable[[Any, Event, Sequence[Action]], None]


def replay(
    records: Sequence[Record], watch: Watcher | None = None, find_prior: FindPrior = find_none
) -> HearingReplay:
    """Feed the journal of a hearing test through the procedure; see `replay_from`."""
    state: HearingReplay = replay_from(SessionHeader, records, watch, find_prior)
    return state


def replay_from(
    kind: type[Header[Any, Any]],
    records: Sequence[Record],
    watch: Watcher | None = None,
    find_prior: FindPrior = find_none,
) -> Replay[Any, Any, Any]:
    """Feed the inputs of a journal through the procedure and compare the outputs.

    `watch` is called after every input; `find_prior` returns the prior that the header names. A
    `ReplayError` says that header or input are not of this version, that the procedure fails at
    one, or that the journal is of an earlier format or with a word that is gone. Its cause is the
    error if that is one that nobody foresaw, or an `OwnPriorError`: its prior is not to be had.
    """
    try:
        with _named_if_unforeseen(0):
            header = kind.from_record(records[0])
            if not header.replays_here:
                raise ReplayError(f"it is read here, not replayed: {header.replay_words}")
            state: Replay[Any, Any, Any] = Replay(header, header.new_test(find_prior))
        entries = inputs_and_outputs(header, records)
        number = 0
        while True:
            with _named_if_unforeseen(number + 1):
                told = next(entries, None)
            if told is None:
                return state
            number = told.record
            if isinstance(told, Output):
                _compare_output(state, told)
                continue
            left = [Difference(told.record, None, missing) for missing in state.pending]
            state.differences += left
            with _named_if_unforeseen(number):
                actions = _take_input(state, told)
            if watch is not None:
                watch(state, told.event, actions)
    except OwnPriorError as error:
        raise ReplayError(str(error)) from error
    except (SessionRecordError, SettingError) as error:
        raise ReplayError(str(error)) from None


@contextmanager
def _named_if_unforeseen(number: int) -> Iterator[None]:
    """Name the record at which anything else goes wrong: it would end every life of a firmware."""
    try:
        yield
    except (ReplayError, SessionRecordError, SettingError, OwnPriorError):
        raise
    except MemoryError:  # the next time it may go well
        raise
    except Exception as error:
        raise ReplayError(f"record {number}: {type(error).__name__}: {error}") from error


def _take_input(state: Replay[Any, Any, Any], told: Input) -> list[Action]:
    if told.resumed:
        state.breaks.append(Break(state.at_us, told.resumed))
    state.at_us, state.board = told.at_us, told.board
    state.inputs += 1
    try:
        actions: list[Action] = state.test.handle(told.at_us, told.event)
    except (InferenceError, TrialLimitError) as error:  # as in the session itself, every time
        raise ReplayError(f"record {told.record}: {error}") from None
    state.pending = records_of(actions)
    return actions


def _compare_output(state: Replay[Any, Any, Any], told: Output[Any]) -> None:
    replayed = state.pending.pop(0) if state.pending else None
    if told.action != replayed:
        state.differences.append(Difference(told.record, told.action, replayed))
    state.tones += isinstance(told.action, dict) and told.action.get("what") == "play"
    state.result = told.result or state.result
