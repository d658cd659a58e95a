"""`gp-pta sessions`: list the journals of a directory, choose among them, export them together."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from firmware_py.archive import COMPLETE, UNFINISHED
from firmware_py.calibration.in_force import STATES
from host_tools.commands.export.command import checked_format, export
from host_tools.commands.export.examination import Examination, read_examination
from host_tools.commands.export.formats import FORMATS
from host_tools.commands.sessions.choice import ORDERS, Choice, chosen
from host_tools.commands.sessions.entry import BROKEN, Entry
from host_tools.commands.sessions.index import entries_of
from host_tools.errors import HostError
from host_tools.progress import watched

NAME = "sessions"
SUMMARY = "list the journals of a directory, choose among them, export them together"
EXAMPLE = """\
examples:
  gp-pta sessions /srv/journals
  gp-pta sessions /srv/journals --identifier 'P-1*' --since 2026-01-01 --sort started
  gp-pta sessions /srv/journals --pta4-min 40 --calibration CALIBRATED --export losses.parquet

What was read is kept in an index under ~/.cache/gp-pta (or $XDG_CACHE_HOME/gp-pta), which may be
removed at any time; journals are never changed. PTA4 is the mean at 0.5, 1, 2 and 4 kHz.
"""

NEEDS: Final = {"--export FILE.parquet": FORMATS["parquet"].libraries}
OUTCOMES: Final = (COMPLETE, "aborted", "failed", UNFINISHED, *BROKEN)
NAMED_MAX: Final = 10  # of sessions that could not be exported


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument("directory", type=Path, metavar="DIR", help="with journals: *.journal")
    p.add_argument("--identifier", metavar="PATTERN", help="of the person; * and ? are wild")
    p.add_argument("--since", metavar="DAY", help="started on 2026-01-31, say, or later")
    p.add_argument("--until", metavar="DAY", help="started on this day, or earlier")
    p.add_argument("--outcome", choices=OUTCOMES, help="outcome of the session")
    p.add_argument("--ear", choices=("left", "right"), help="that was tested")
    p.add_argument("--calibration", choices=STATES, help="state when it began")
    p.add_argument("--pta4-min", type=float, metavar="DB_HL", help="of any of its ears")
    p.add_argument("--pta4-max", type=float, metavar="DB_HL", help="of any of its ears")
    p.add_argument("--sort", choices=tuple(ORDERS), default="name", help="default: name")
    p.add_argument("--reverse", action="store_true", help="the last first")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    p.add_argument(
        "--export", type=Path, metavar="FILE", help="write the results: .csv, .json or .parquet"
    )
    p.add_argument("--format", choices=tuple(FORMATS), help="of --export; default: its ending")
    p.add_argument("--force", action="store_true", help="replace FILE if it is there")
    p.add_argument("--no-index", action="store_true", help="read every journal, and keep nothing")


def run(arguments: argparse.Namespace) -> int:
    """List the sessions, or export them."""
    choice = Choice(
        arguments.identifier, arguments.since, arguments.until, arguments.outcome,
        arguments.calibration, arguments.ear, arguments.pta4_min, arguments.pta4_max,
    )  # fmt: skip
    format = None
    if arguments.export is not None:
        format = checked_format(arguments.format, arguments.export, "--export", arguments.force)
    directory: Path = arguments.directory
    entries = entries_of(directory, watched, not arguments.no_index)
    wanted = chosen(entries, choice, arguments.sort, arguments.reverse)
    if format is not None:
        _export(directory, wanted, format, arguments.export)
    elif arguments.json:
        print(json.dumps({"directory": str(directory), "sessions": [asdict(e) for e in wanted]}))
    else:
        print("\n".join([_HEADER, *map(_line, wanted)]))
    print(_summary(directory, entries, wanted), file=sys.stderr)
    return 0


def _export(directory: Path, entries: Sequence[Entry], format: str, out: Path) -> None:
    """Export what has a result, and say what has none."""
    examinations: list[Examination] = []
    left_out = [_why_left_out(entry) for entry in entries if not _has_result(entry)]
    names = [entry.name for entry in entries if _has_result(entry)]
    for path in watched([directory / name for name in names], len(names), "exporting"):
        try:
            examinations.append(read_examination(path))
        except HostError as error:  # changed since it was listed
            left_out.append(str(error))
    export(examinations, format, out)
    print(f"{out}: {len(examinations)} sessions", file=sys.stderr)
    for line in left_out[:NAMED_MAX]:
        print(f"left out: {line}", file=sys.stderr)
    if len(left_out) > NAMED_MAX:
        print(f"left out: {len(left_out) - NAMED_MAX} more without a result", file=sys.stderr)


def _why_left_out(entry: Entry) -> str:
    return ": ".join(filter(None, (entry.name, entry.outcome, entry.words)))


def _has_result(entry: Entry) -> bool:
    return not entry.broken and entry.outcome != UNFINISHED


_COLUMNS: Final = "{:<26}  {:<16}  {:<5}  {:<10}  {:>6}  {:>6}  {:<12}  {}"
_HEADER: Final = _COLUMNS.format(
    "journal", "started", "ears", "outcome", "PTA4 R", "PTA4 L", "calibration", "identifier"
)


def _line(entry: Entry) -> str:
    if entry.broken:
        return f"{entry.name:<26}  {entry.outcome}: {entry.words}"
    right, left = (_average(entry, ear) for ear in ("right", "left"))
    return _COLUMNS.format(
        entry.name, entry.started[:16].replace("T", " "), entry.ears, entry.outcome, right, left,
        entry.calibration, entry.identifier or "-",
    )  # fmt: skip


def _average(entry: Entry, ear: str) -> str:
    db_hl = entry.pta4_db_hl.get(ear)
    more = ">" if ear in entry.at_least.split() else ""
    return "-" if db_hl is None else f"{more}{db_hl:.0f}"


def _summary(directory: Path, entries: Sequence[Entry], wanted: Sequence[Entry]) -> str:
    if not entries:
        return f"no journals in {str(directory)!r}"
    counts = {outcome: sum(e.outcome == outcome for e in entries) for outcome in BROKEN}
    words = [f"{len(wanted)} of {len(entries)} journals"]
    words += [f"{count} {outcome}" for outcome, count in counts.items() if count]
    return ", ".join(words)
