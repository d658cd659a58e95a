"""`gp-pta export`: what sessions found, for spreadsheets, programs and clinical systems."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from host_tools.commands.export.examination import Examination, read_examination
from host_tools.commands.export.formats import (
    FORMATS,
    Encode,
    add_csv_arguments,
    encoder,
    schema_text,
)
from host_tools.errors import HostError, NonsenseError
from host_tools.extras import need
from host_tools.files import check_name, write_bytes, write_text
from host_tools.recordings.convention import add_convention_argument
from host_tools.recordings.doubles import without_doubles
from host_tools.recordings.newest import add_journals_argument, journals_or_newest
from host_tools.terminal import say, say_aside

EXAMPLE = """\
examples:
  gp-pta export --format csv
  gp-pta export sessions -o thresholds.csv --tidy
  gp-pta export sessions/*.journal -o sessions.csv --decimal comma
  gp-pta export sessions/*.journal -o sessions.parquet
  gp-pta export sessions/session-000001.journal --format fhir -o P-17.json
  gp-pta export --schema

csv has a session a row, or with --tidy a threshold a row; a column of numbers has numbers only, and
what is no number is said in a column beside it. --nhanes writes variables and codes of NHANES; 666:
no response, 888: could not be obtained. json has a schema. fhir is an HL7 FHIR R4 bundle. parquet
has a threshold a row.

exit codes: 0 written, 2 nothing was written, 6 a journal was left out, and named: its lines are
intact, but a record of it says what no session can have recorded; the others, if any, were written
"""

STANDARD_OUTPUT: Final = Path("-")

NEEDS: Final = {
    f"--format {name}": format.libraries for name, format in FORMATS.items() if format.libraries
}


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_journals_argument(p)
    p.add_argument(
        "--format",
        choices=tuple(FORMATS),
        help="default: what FILE ends in (.csv, .json, .parquet)",
    )
    p.add_argument("-o", "--out", type=Path, metavar="FILE", help="default: standard output")
    p.add_argument("--force", action="store_true", help="replace FILE if it is there")
    add_csv_arguments(p)
    add_convention_argument(p)
    p.add_argument(
        "--unfinished",
        action="store_true",
        help="take sessions that did not come to an end as far as they go, and mark them",
    )
    p.add_argument("--schema", action="store_true", help="write the JSON Schema of json instead")


def run(arguments: argparse.Namespace) -> int:
    """Export the sessions, or print the schema."""
    out = None if arguments.out in (None, STANDARD_OUTPUT) else arguments.out
    if arguments.schema:
        _write_schema(out, arguments.force)
        return 0
    name = checked_format(arguments.format, out, "-o", arguments.force)
    encode = encoder(name, arguments)
    journals = journals_or_newest(arguments.journals)
    _check_once(journals)
    examinations, code = [], 0
    for path in journals:
        try:
            examinations.append(read_examination(path, arguments.unfinished, arguments.convention))
        except NonsenseError as error:
            say_aside(f"gp-pta: {error}")
            code = error.exit_code
    if examinations:
        export(once(examinations), encode, out)
    return code


def _check_once(journals: Iterable[Path]) -> None:
    """Refuse a journal that is named twice: its session would count twice."""
    seen: dict[Path, Path] = {}
    for path in journals:
        first = seen.setdefault(path.resolve(), path)
        if first is not path:
            same = "" if first == path else f", as {str(first)!r}"
            raise HostError(f"{str(path)!r} is named twice{same}; a journal is exported once")


def once(examinations: Sequence[Examination]) -> list[Examination]:
    """Return sessions without those that are there twice, and say which these are."""
    found = without_doubles(examinations, lambda each: each.about)
    for _, words in found.left_out:
        say_aside(f"left out: {words}")
    for line in found.doubted:
        say_aside(f"{line}: both are in")
    return found.kept


def _write_schema(out: Path | None, force: bool) -> None:
    if out is None:
        say(*schema_text().splitlines())
        return
    check_name(out, "-o", (".json",), force)
    write_text(out, schema_text(), for_all=True)


def checked_format(name: str | None, out: Path | None, option: str, force: bool) -> str:
    """Return the format that is asked for, and refuse what cannot be written.

    Parameters
    ----------
    name : str or None
        Of `FORMATS`; None: what `out` ends in.
    out : Path or None
        None: standard output.
    option : str
        That named `out`, for the message.
    force : bool
        A file that is there may be replaced.

    Raises
    ------
    HostError
        No format is told, its library is missing, or the file cannot have that name.
    """
    endings = {format.ending: key for key, format in reversed(FORMATS.items())}
    if name is None and (out is None or out.suffix not in endings):
        no_format = "" if out is None else f" and {option} {str(out)!r} does not tell it"
        raise HostError(f"--format is missing{no_format}; allowed are {', '.join(FORMATS)}")
    chosen = name or endings[out.suffix if out else ""]
    wanted = FORMATS[chosen]
    need(f"--format {chosen}", *wanted.libraries, use=f"export --format {chosen}")
    if out is not None:
        check_name(out, option, (wanted.ending,), force)
    elif not wanted.text:
        raise HostError(f"{chosen} is no text for standard output; name a file with -o")
    return chosen


def export(examinations: Sequence[Examination], encode: Encode, out: Path | None) -> None:
    """Write sessions in a format to a file, or to standard output (None)."""
    content = encode(examinations)
    if out is None:
        sys.stdout.write(content.decode())
    else:
        write_bytes(out, content)
