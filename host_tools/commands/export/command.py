"""`gp-pta export`: what sessions found, for spreadsheets, programs and clinical systems."""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final, Self

from host_tools.commands.export.by_month import month_of, write_by_month
from host_tools.commands.export.document_session import DocumentSession, Sessions
from host_tools.commands.export.formats import (
    FORMATS,
    GDT,
    OF_ANSWERS,
    PARQUET,
    Encode,
    add_row_arguments,
    add_unfinished_argument,
    encoder,
)
from host_tools.commands.export.journals import Journals
from host_tools.commands.export.saved import ENDING as DOCUMENT
from host_tools.commands.export.schema import schema_text
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.files import check_directory, check_name, file_to_write, write_text
from host_tools.recordings.convention import add_convention_argument
from host_tools.recordings.index import Index, add_index_argument, looked_at
from host_tools.recordings.newest import add_journals_argument, journals_or_newest
from host_tools.terminal import name_left_out, say, say_aside, show_progress

EXAMPLE = """\
examples:
  gp-pta export --format csv
  gp-pta export sessions -o thresholds.csv --tidy
  gp-pta export sessions/*.journal -o sessions.csv --decimal comma
  gp-pta export sessions/*.journal -o sessions.parquet
  gp-pta export sessions --answers -o answers
  gp-pta export sessions/session-000001.journal --format fhir -o P-17.json
  gp-pta export gp-pta-session-1.json --format fhir -o P-17.json
  gp-pta export --order order.gdt -o answer.gdt
  gp-pta export --schema

csv has a session a row, or with --tidy a threshold a row; a column of numbers has numbers only, and
what is no number is said in a column beside it. --nhanes writes variables and codes of NHANES; 666:
no response, 888: could not be obtained. json has a schema. fhir is an HL7 FHIR R4 bundle. gdt is a
record 6310 of GDT 2.1 for each session of one person; --order answers an order 6302, and brings its
patient back. parquet has a threshold a row. --answers has an answer a row: a directory gets a file
of Parquet a month, as in answers/month=2026-11/answers.parquet; .parquet and .csv are one file.
They come out of a replay, which is kept in the index of gp-pta sessions.

A JOURNAL in .json is a document of sessions, which the operator's page saves and --format json
writes: it gives every format that its journals give.

What cannot be written is left out, and named: what was not finished, is damaged or no journal of a
session, or says what no session can have recorded.

exit codes: 0 all were written; 1 some were written, and others left out, and named; 2 nothing was
written; 6 the same, for the one journal or session says what no session can have recorded
"""

STANDARD_OUTPUT: Final = Path("-")

NEEDS: Final = {
    f"--format {name}": format.libraries for name, format in FORMATS.items() if format.libraries
}


def add_arguments(p: argparse.ArgumentParser) -> None:
    add_journals_argument(p)
    p.add_argument(
        "--format",
        choices=tuple(FORMATS),
        help="default: what FILE ends in (.csv, .json, .gdt, .parquet)",
    )
    p.add_argument(
        "-o", "--out", type=Path, metavar="FILE",
        help="default: standard output; with --answers also a directory",
    )  # fmt: skip
    p.add_argument("--force", action="store_true", help="replace FILE if it is there")
    add_row_arguments(p)
    add_convention_argument(p)
    add_unfinished_argument(p, "take")
    add_index_argument(p, "--answers: replay every journal, and keep nothing")
    p.add_argument(
        "--order", type=Path, metavar="FILE", help="gdt: answer this order of a practice system"
    )
    p.add_argument("--schema", action="store_true", help="write the JSON Schema of json instead")


def run(arguments: argparse.Namespace) -> int:
    out = None if arguments.out in (None, STANDARD_OUTPUT) else arguments.out
    if arguments.schema:
        _write_schema(out, arguments.force)
        return 0
    wanted = Wanted.of(arguments, out, "-o")
    if arguments.order is not None:
        wanted = wanted.answer_to(arguments.order)
    journals = journals_or_newest(arguments.journals, tunings=False)
    _check_once(journals)
    there = [path for path in journals if path.is_file() and path.suffix != DOCUMENT]
    keep = not arguments.no_index
    with looked_at(there, show_progress, keep=keep) if wanted.answers else nullcontext() as index:
        return export(journals, wanted, index).exit_code


def _check_once(journals: Iterable[Path]) -> None:
    """Refuse a journal that is named twice: its session would count twice."""
    seen: dict[Path, Path] = {}
    for path in journals:
        first = seen.setdefault(path.resolve(), path)
        if first is not path:
            same = "" if first == path else f", as {str(first)!r}"
            raise HostError(f"{str(path)!r} is named twice{same}; a journal is exported once")


def _write_schema(out: Path | None, force: bool) -> None:
    if out is None:
        say(*schema_text().splitlines())
        return
    check_name(out, "-o", (".json",), force)
    write_text(out, schema_text(), for_all=True)


@dataclass(frozen=True)
class Wanted:
    """An export that somebody asked for."""

    name: str  # of the format
    encode: Encode
    out: Path | None  # None: standard output
    answers: bool
    unfinished: bool
    convention: str | None

    @classmethod
    def of(cls, arguments: argparse.Namespace, out: Path | None, option: str) -> Self:
        """Return what the options ask for; `HostError` if they contradict one another.

        So it is if a library is missing, or the file, which `option` named, cannot have that name
        or is there and not to be replaced.
        """
        answers = arguments.rows == OF_ANSWERS
        if answers and arguments.convention is not None:
            raise HostError(f"--convention is of thresholds; --{OF_ANSWERS} has what was played")
        name = _checked_format(arguments, out, option)
        encode = encoder(name, arguments)
        return cls(name, encode, out, answers, arguments.unfinished, arguments.convention)

    def answer_to(self, order: Path) -> Self:
        """Return the same as the answer to an order; `HostError` if it is none, or of no GDT."""
        from host_tools.commands.export.gdt import Order, as_gdt

        if self.name != GDT:
            raise HostError(f"--order is of {GDT}; the format is {self.name}")
        encode = partial(as_gdt, order=Order.read(order, date.today()))
        return replace(self, encode=encode)


def _checked_format(arguments: argparse.Namespace, out: Path | None, option: str) -> str:
    """Return the format that is asked for, or else that of the ending of `out`; `HostError`."""
    name, force = arguments.format, arguments.force
    endings = {format.ending: key for key, format in reversed(FORMATS.items())}
    by_month = _is_by_month(out) and arguments.rows == OF_ANSWERS
    if by_month:
        name = name or PARQUET
    elif name is None and (out is None or out.suffix not in endings):
        no_format = "" if out is None else f" and {option} {str(out)!r} does not tell it"
        raise HostError(f"--format is missing{no_format}; allowed are {', '.join(FORMATS)}")
    chosen = name or endings[out.suffix if out else ""]
    wanted = FORMATS[chosen]
    need(f"--format {chosen}", *wanted.libraries, use=f"export --format {chosen}")
    if out is None:
        if not wanted.text:
            raise HostError(f"{chosen} is no text for standard output; name a file with -o")
    elif by_month and chosen == PARQUET:
        check_directory(out, option, force)
    else:
        named = wanted.any_name and name is not None and out.suffix not in endings
        check_name(out, option, (out.suffix if named else wanted.ending,), force)
    return chosen


def _is_by_month(out: Path | None) -> bool:
    """Return whether answers go to a directory of this name: it is one, or has no ending."""
    return out is not None and (out.suffix == "" or os.path.isdir(out))


def export(paths: Sequence[Path], wanted: Wanted, index: Index | None = None) -> Journals:
    """Write what can be to a file, or to standard output, and name the rest; return what became.

    If nothing can be written, there is a `HostError` and no file. Answers need the index.
    """
    journals = Journals(
        paths, wanted.unfinished, wanted.convention, index if wanted.answers else None
    )
    doubles, out = journals.doubles, wanted.out
    name_left_out([words for _, words in doubles.left_out])
    say_aside(*(f"{words}: both are in" for _, words in doubles.doubted))
    by_month = wanted.answers and _is_by_month(out)
    if by_month:
        journals.order_by(lambda about: month_of(about.started))
    sessions = journals.sessions
    sessions = Sessions(_at_least_one(iter(sessions), journals), sessions.routes)
    if out is None:
        for part in wanted.encode(sessions):
            sys.stdout.write(part.decode())
    elif by_month:
        write_by_month(sessions, wanted.encode, out)
    else:
        with file_to_write(out) as unfinished, unfinished.open("wb") as file:
            file.writelines(wanted.encode(sessions))
    name_left_out([*map(str, journals.left_out)])
    return journals


def _at_least_one(each: Iterator[DocumentSession], journals: Journals) -> Iterator[DocumentSession]:
    """Return these sessions; if there is none, refuse before anything is written."""
    for first in each:
        return chain((first,), each)
    if journals.count == 1:
        raise journals.left_out[0]
    name_left_out([*map(str, journals.left_out)])
    raise HostError(f"none of {journals.count} journals can be exported: nothing was written")
