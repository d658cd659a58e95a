"""The formats by name, and the forms of CSV; JSON, which has a schema and a version, is here."""

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
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


def as_json(sessions: "Iterable[DocumentSession]") -> Iterator[bytes]:
    """Yield one document of all sessions, at full precision."""
    from host_tools.commands.export.document_session import JSON_FORMAT, document

    return document({"format": JSON_FORMAT}, "sessions", (each.record for each in sessions))


def _of(module: str, name: str) -> Callable[..., Iterator[bytes]]:
    """Return a function of a module that is imported when something is written."""

    def encode(*of: Any, **how: Any) -> Iterator[bytes]:
        written: Iterator[bytes] = getattr(import_module(f"{__package__}.{module}"), name)(
            *of, **how
        )
        return written

    return encode


FORMATS: Final = {
    "csv": Format(".csv", _of("csv_table", "as_csv")),
    "json": Format(".json", as_json),
    "fhir": Format(".json", _of("bundle", "as_fhir")),
    "parquet": Format(
        ".parquet", _of("long_table", "as_parquet"), text=False, libraries=("pyarrow",)
    ),
}
CSV: Final = "csv"
TIDY: Final = "tidy"
NHANES: Final = "nhanes"
CSV_FORMS: Final[dict[str | None, Callable[..., Iterator[bytes]]]] = {
    None: _of("csv_table", "as_csv"),
    TIDY: _of("long_table", "as_tidy_csv"),
    NHANES: _of("csv_table", "as_nhanes_csv"),
}


def add_csv_arguments(p: argparse.ArgumentParser) -> None:
    form = p.add_mutually_exclusive_group()
    form.add_argument(
        f"--{TIDY}",
        dest="csv_form",
        action="store_const",
        const=TIDY,
        help="csv: a threshold a row (default: a session a row)",
    )
    form.add_argument(
        f"--{NHANES}", dest="csv_form", action="store_const", const=NHANES,
        help="csv: variables and codes of NHANES, 666 and 888 among the levels",
    )  # fmt: skip
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
    record = {
        f"--{arguments.csv_form}": arguments.csv_form,
        "--separator": arguments.separator,
        "--decimal": arguments.decimal,
    }
    used = [option for option, value in record.items() if value is not None]
    if name != CSV:
        if used:
            raise HostError(f"{used[0]} is of csv; the format is {name}")
        return FORMATS[name].encode
    spelling = spelling_of(arguments.separator, arguments.decimal or POINT)
    return partial(CSV_FORMS[arguments.csv_form], spelling=spelling)
