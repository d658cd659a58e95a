"""What every table has: how its cells are written, and what it says of a session.

Numbers, what separates cells, and what must not run; which session it was, of whom, with what.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from firmware_py.terms.words import say
from host_tools.errors import HostError

if TYPE_CHECKING:
    from host_tools.commands.export.document_session import DocumentSession

COMMA: Final = "comma"
SEMICOLON: Final = "semicolon"
TAB: Final = "tab"
POINT: Final = "point"
SEPARATORS: Final = {COMMA: ",", SEMICOLON: ";", TAB: "\t"}
DECIMALS: Final = {POINT: ".", COMMA: ","}
# A spreadsheet runs a cell that begins with such a sign, and takes one that begins with an
# apostrophe for a text. Where a cell begins depends on what separates lists there, a semicolon in
# many countries, and on how it reads quotes; but nobody's separator is a letter, a digit or a sign.
MAY_RUN: Final = re.compile(r"(?<![\w=+@-])(?=[=+@-])")
TEXT_SIGN: Final = "'"
YES, NO = "yes", "no"


@dataclass(frozen=True)
class Spelling:
    """What separates cells, and what the decimals of a number."""

    separator: str = ","
    decimal: str = "."

    def number(self, value: float, form: str = ".1f") -> str:
        """Return a number, to a tenth if nothing else is said."""
        return f"{value:{form}}".replace(".", self.decimal)

    def level(self, value: float | None) -> str:
        """Return a number to a tenth, or nothing: a browser writes 30 for 30.0."""
        return "" if value is None else self.number(value)

    def cell(self, value: Any) -> str:
        """Return a value as a cell: nothing, yes or no, a number, a list or a guarded text."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return YES if value else NO
        if isinstance(value, float):
            return self.number(value)
        if isinstance(value, list):
            return guard("; ".join(map(str, value)))
        return guard(str(value)) if isinstance(value, str) else str(value)


def spelling_of(separator: str | None, decimal: str) -> Spelling:
    """Return how a file is written, by names; `HostError` if both are the same character."""
    chosen = separator or (SEMICOLON if decimal == COMMA else COMMA)
    if chosen == decimal:
        others = ", ".join(name for name in SEPARATORS if name != decimal)
        raise HostError(
            f"--separator and --decimal are both {decimal}: no program could tell one number from "
            f"two; beside --decimal {decimal} allowed is --separator {others}"
        )
    return Spelling(SEPARATORS[chosen], DECIMALS[decimal])


def guard(text: str) -> str:
    """Return a text that somebody may have written so that no spreadsheet runs any of it."""
    return MAY_RUN.sub(TEXT_SIGN, text)


def file_of(
    columns: Sequence[str], rows: Iterable[Mapping[str, Any]], spelling: Spelling
) -> Iterator[bytes]:
    """Yield a row of names and the others; what a row does not have is blank.

    Lines end by RFC 4180. A cell that is a text already stands as it is.
    """
    line = io.StringIO()
    writer = csv.DictWriter(line, columns, restval="", delimiter=spelling.separator)
    writer.writeheader()
    for row in rows:
        writer.writerow(row)
        yield line.getvalue().encode()
        line.seek(0)
        line.truncate()
    yield line.getvalue().encode()  # without a row, the names


ABOUT: Final = (
    "journal", "session", "started", "firmware", "outcome", "calibration", "level_unit",
    "identifier",
)  # fmt: skip
WITH_WHAT: Final = (
    "device", "transducer", "calibration_digest", "broken_off", "waited", "which_ear",
    "room", "discomfort",
)  # fmt: skip


def about(session: "DocumentSession") -> dict[str, Any]:
    record = session.record
    return {
        **{name: record[name] for name in ("journal", "session", "started", "firmware", "outcome")},
        "calibration": record["calibration"]["state"],
        "level_unit": session.unit,
        "identifier": record["person"]["identifier"],
    }


def with_what(session: "DocumentSession") -> dict[str, Any]:
    """Return device and earphones, where it was broken off, and what the listener confirmed."""
    record, calibration = session.record, session.record["calibration"]
    breaks = [f"{each['left'] or '?'} to {each['resumed'] or '?'}" for each in record["breaks"]]
    waits = [f"{at} {say(why)}" for at, why in session.waits]
    which_ear = record["which_ear"] if len(record["ears"]) > 1 else None  # one ear has no other
    with_these = (record["device"], calibration["transducer"], calibration["digest"])
    discomfort = [told.words for told in session.discomfort]  # as `prescribe` takes them
    others = breaks, waits, which_ear, session.room, ", ".join(discomfort)
    return dict(zip(WITH_WHAT, (*with_these, *others), strict=True))
