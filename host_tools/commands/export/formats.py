"""The formats by name, and the forms of CSV; JSON, which has a schema and a version, is here."""

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from host_tools.commands.export.cells import DECIMALS, POINT, SEPARATORS, spelling_of
from host_tools.errors import HostError

if TYPE_CHECKING:
    from host_tools.commands.export.document_session import DocumentSession, Sessions

# Of sessions: the content of the file in parts, none of which ends within a character. A session is
# taken when what was written of the one before it was yielded.
Encode = Callable[["Sessions"], Iterator[bytes]]


@dataclass(frozen=True)
class Format:
    """A way of writing sessions."""

    ending: str  # of its files, with the dot
    encode: Encode
    text: bool = True  # a person may read it, in UTF-8
    libraries: tuple[str, ...] = ()  # that it needs beside those of every command
    # Where --format says it a file has the name that its reader looks for, such as PRAXAUDI.001.
    any_name: bool = False


def as_json(sessions: "Iterable[DocumentSession]") -> Iterator[bytes]:
    """Yield one document of all sessions, at full precision."""
    from host_tools.commands.export.document_session import JSON_FORMAT, document

    return document({"format": JSON_FORMAT}, "sessions", (each.record for each in sessions))


def _of(module: str, name: str) -> Callable[..., Iterator[bytes]]:
    """Return a function of a module that is imported when something is written."""

    def encode(*of: Any, **how: Any) -> Iterator[bytes]:
        written: Iterator[bytes] = attrgetter(name)(import_module(f"{__package__}.{module}"))(
            *of, **how
        )
        return written

    return encode


CSV: Final = "csv"
GDT: Final = "gdt"
PARQUET: Final = "parquet"
FORMATS: Final = {
    CSV: Format(".csv", _of("csv_table", "as_csv")),
    "json": Format(".json", as_json),
    "fhir": Format(".json", _of("bundle", "as_fhir")),
    GDT: Format(".gdt", _of("gdt", "as_gdt"), text=False, any_name=True),
    PARQUET: Format(
        ".parquet",
        _of("threshold_rows", "THRESHOLDS.as_parquet"),
        text=False,
        libraries=("pyarrow",),
    ),
}
TIDY: Final = "tidy"
NHANES: Final = "nhanes"
OF_ANSWERS: Final = "answers"
CSV_FORMS: Final[dict[str | None, Callable[..., Iterator[bytes]]]] = {
    None: _of("csv_table", "as_csv"),
    TIDY: _of("threshold_rows", "THRESHOLDS.as_csv"),
    NHANES: _of("csv_table", "as_nhanes_csv"),
}
# The formats that have answers.
WITH_ANSWERS: Final[dict[str, Callable[..., Iterator[bytes]]]] = {
    CSV: _of("answer_rows", "ANSWERS.as_csv"),
    PARQUET: _of("answer_rows", "ANSWERS.as_parquet"),
}


def add_row_arguments(p: argparse.ArgumentParser) -> None:
    """Add what says what a row is, and how CSV is spelt."""
    form = p.add_mutually_exclusive_group()
    rows = {
        TIDY: "csv: a threshold a row (default: a session a row)",
        NHANES: "csv: variables and codes of NHANES, 666 and 888 among the levels",
        OF_ANSWERS: "csv, parquet: an answer a row; parquet by month, if FILE is a directory",
    }
    for name, words in rows.items():
        form.add_argument(f"--{name}", dest="rows", action="store_const", const=name, help=words)
    p.add_argument(
        "--separator",
        choices=tuple(SEPARATORS),
        help="csv: between cells (default: comma; with --decimal comma: semicolon)",
    )
    p.add_argument("--decimal", choices=tuple(DECIMALS), help="csv: of numbers (default: point)")


def add_unfinished_argument(p: argparse.ArgumentParser, take: str) -> None:
    """Add what asks for sessions without a result; `take`: to take them, and where."""
    p.add_argument(
        "--unfinished",
        action="store_true",
        help=f"{take} sessions that did not come to an end as far as they go, and mark them",
    )


def encoder(name: str, arguments: argparse.Namespace) -> Encode:
    """Return what writes a format as the options say; `HostError` if these are of another one."""
    rows = arguments.rows
    if rows == OF_ANSWERS and name not in WITH_ANSWERS:
        raise HostError(f"--{rows} is of {', '.join(WITH_ANSWERS)}; the format is {name}")
    if name == CSV:
        spelling = spelling_of(arguments.separator, arguments.decimal or POINT)
        forms = WITH_ANSWERS[CSV] if rows == OF_ANSWERS else CSV_FORMS[rows]
        return partial(forms, spelling=spelling)
    told = {"--separator": arguments.separator, "--decimal": arguments.decimal}
    if rows != OF_ANSWERS:
        told = {f"--{rows}": rows, **told}
    used = [option for option, value in told.items() if value is not None]
    if used:
        raise HostError(f"{used[0]} is of csv; the format is {name}")
    return WITH_ANSWERS[name] if rows == OF_ANSWERS else FORMATS[name].encode
