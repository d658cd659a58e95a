"""What went into a session and what came out, in its journal: one rule for writer and reader."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic

from firmware_py.journal import Record
from firmware_py.sessions.earlier_formats import input_today
from firmware_py.sessions.session_record import BoardMark, Found_co, Header, SessionRecordError
from firmware_py.sessions.start_time import start
from firmware_py.terms.events import Event
from firmware_py.terms.printable import show
from firmware_py.terms.record_checks import text, whole

# A key of the first input after the firmware had ended: date and time of day, as of `started`.
RESUMED: Final = "resumed"
RESUMED_BY: Final = "firmware"  # beside it: the version, if another one began the session
SESSION_US: Final = whole(0, 2**63 - 1)


@dataclass(frozen=True)
class Input:
    """What went into the test."""

    record: int  # its number
    at_us: int  # session time
    event: Event
    board: BoardMark  # up to where the board's events are recorded by now
    # when the firmware had been started again before it; "": nobody knows when; None: it ran on
    resumed: str | None


@dataclass(frozen=True)
class Output(Generic[Found_co]):
    """What came out of it."""

    record: int  # its number
    action: Any  # JSON values
    result: Found_co | None  # that the action tells; None: it is another one


def inputs_and_outputs(
    header: Header[Any, Found_co], records: Sequence[Record]
) -> Iterator[Input | Output[Found_co]]:
    """Check what the records after the header say, and return it in its order, without notes."""
    board = BoardMark()
    for number, record in enumerate(records[1:], 1):
        if record["kind"] == "input":
            told = input_of(header, number, record, board)
            board = told.board
            yield told
        elif record["kind"] == "output":
            action = record.get("action")
            yield Output(number, action, header.result_of(number, action))


def result_in(told: Iterable[Input | Output[Found_co]]) -> Found_co | None:
    """Return the result that came out at last, after a look at all; None: there is none."""
    result = None
    for each in told:
        if isinstance(each, Output) and each.result is not None:
            result = each.result
    return result


def input_of(header: Header[Any, Any], number: int, record: Record, before: BoardMark) -> Input:
    """Check what a record says that went in; `before` it the board's events were recorded up to."""
    record = input_today(record, header.journal)
    try:
        at_us = SESSION_US("at_us", record.get("at_us"))
        event = header.event_from_record(record.get("event"))
        board = _board(record, before).later(event)
        resumed = record.get(RESUMED)
        if RESUMED in record and not (header.is_earlier and resumed == ""):
            start(RESUMED, resumed)
    except ValueError as error:
        raise SessionRecordError(f"record {number}: {error}") from None
    return Input(number, at_us, event, board, resumed)


def _board(record: Record, before: BoardMark) -> BoardMark:
    if "board" not in record:
        return before
    told = record["board"]
    if not isinstance(told, list) or [type(each) for each in told] != [str, int] or told[1] < 0:
        raise SessionRecordError(
            f"board is {show(told)}; allowed is a list of its boot and the number of its event"
        )
    boot = text("board[0]", told[0])
    return BoardMark(boot, told[1], before.us if boot == before.boot else 0)
