"""`gp-pta sessions`: list the journals of directories, choose among them, export them together."""

import argparse
import json
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final

from firmware_py.findings.rows import Cell, no_value, row, verdicts_row
from firmware_py.platform.clock import was_clock_set
from firmware_py.terms.calibration_states import STATES
from firmware_py.terms.outcomes import UNFINISHED, SessionOutcome, Verdict
from host_tools.catalogue import add_language_argument
from host_tools.commands.export.formats import FORMATS, add_row_arguments, add_unfinished_argument
from host_tools.commands.sessions.choice import ORDERS, SHIPPED, Choice, arrange, in_order
from host_tools.errors import LEFT_OUT, HostError
from host_tools.files import check_name, write_text
from host_tools.papers import Shown
from host_tools.recordings.convention import add_convention_argument
from host_tools.recordings.entry import BROKEN, TUNING, Entry
from host_tools.recordings.index import Index, add_index_argument, looked_at
from host_tools.terminal import name_left_out, say, say_aside, say_in_parts, show_progress

if TYPE_CHECKING:
    from host_tools.commands.export.command import Wanted
    from host_tools.commands.sessions.people_page import Compared

EXAMPLE = """\
examples:
  gp-pta sessions /srv/journals
  gp-pta sessions /srv/journals --identifier 'P-1*' --since 2026-01-01 --sort started
  gp-pta sessions /srv/journals --people --identifier P-17 -o P-17.html
  gp-pta sessions /srv/journals --people --rules --baseline session-000017.journal
  gp-pta sessions site-1 site-2 --device 'box-*' --verdict doubtful
  gp-pta sessions /srv/journals --pta4-min 40 --export losses.parquet

Journals are looked for in all folders of a directory, and known by what is in them, not by their
names. What was read, and what a replay found, is kept in an index under ~/.cache/gp-pta (or
$XDG_CACHE_HOME/gp-pta), which may be removed at any time; journals are never changed. A copy of a
journal counts once. PTA4 is the mean at 0.5, 1, 2 and 4 kHz, of 50 % points (heard half the time;
clinical thresholds lie some 2.8 dB higher); in brackets if one of the four was not measured but
inferred. The verdict says whether there was a test: an ear has a PTA4, and is compared, only if it
is valid. People are told apart by their identifier alone, and their sessions are in the order of
their numbers. With --people all thresholds and means of a person are in one convention, that of the
last test's settings if --convention says none; sessions without a calibration stand apart, in
nominal dB.

exit codes: 0 done, also where no session is of whom was asked for; 1 with --export or --people:
some were written or told, and others left out, and named; 2 there is no such directory, all were
left out, or nothing was written; 6 the same with --export, for a record of the one journal says
what no session can have recorded
"""

NEEDS: Final = {"--export FILE.parquet": FORMATS["parquet"].libraries}
OUTCOMES: Final = (SessionOutcome.COMPLETE, "aborted", "failed", UNFINISHED, *BROKEN)
PAGE: Final = ".html"
OF_EXPORT: Final = ("rows", "separator", "decimal", "unfinished", "format")
HEADS: Final = (
    "journal", "started", "ears", "routes", "outcome", "verdict", "pta4-right", "pta4-left",
)  # fmt: skip


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "places", type=Path, nargs="+", metavar="DIR", help="with journals, in it or its folders"
    )
    p.add_argument("--identifier", metavar="PATTERN", help="of the person; * and ? are wild")
    p.add_argument("--since", metavar="DAY", help="started on 2026-01-31, say, or later")
    p.add_argument("--until", metavar="DAY", help="started on this day, or earlier")
    p.add_argument("--outcome", choices=OUTCOMES, help="outcome of the session")
    p.add_argument("--ear", choices=("left", "right"), help="that was tested")
    p.add_argument("--calibration", choices=STATES, help="state when it began")
    p.add_argument("--device", metavar="PATTERN", help="by its serial number; * and ? are wild")
    p.add_argument("--verdict", choices=tuple(Verdict), help="of any of its ears")
    p.add_argument(
        "--prior", metavar="HASH",
        help=f"of a prior that somebody brought, * and ? are wild; {SHIPPED}: nobody did",
    )  # fmt: skip
    p.add_argument("--pta4-min", type=float, metavar="DB_HL", help="of any of its ears")
    p.add_argument("--pta4-max", type=float, metavar="DB_HL", help="of any of its ears")
    p.add_argument(
        "--sort",
        choices=tuple(ORDERS),
        default="name",
        help="default: name; started: by the numbers of each device",
    )
    p.add_argument("--reverse", action="store_true", help="the last first")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    p.add_argument(
        "--people", action="store_true",
        help="by person: their sessions in order, and whether an ear changed",
    )  # fmt: skip
    p.add_argument(
        "--rules", action="store_true",
        help="with --people: what OSHA, NIOSH and ASHA say of the last test against the baseline",
    )  # fmt: skip
    p.add_argument(
        "--baseline", action="append", metavar="SESSION",
        help="of --rules: this journal, by its name, and not a person's first valid test; again "
        "for other people, or for one that was revised",
    )  # fmt: skip
    p.add_argument(
        "-o", "--out", type=Path, metavar="FILE.html",
        help="with --people: write a page with thresholds over the years",
    )  # fmt: skip
    add_language_argument(p, "of the list, and of --people")
    p.add_argument(
        "--export",
        type=Path,
        metavar="FILE",
        help="write the results: .csv, .json or .parquet; with --answers also a directory",
    )
    p.add_argument("--format", choices=tuple(FORMATS), help="of --export; default: its ending")
    add_unfinished_argument(p, "--export: take")
    add_row_arguments(p)
    add_convention_argument(p)
    p.add_argument("--force", action="store_true", help="replace FILE if it is there")
    add_index_argument(p, "read every journal, and keep nothing")


def run(arguments: argparse.Namespace) -> int:
    choice = Choice(
        arguments.identifier, arguments.since, arguments.until, arguments.outcome,
        arguments.calibration, arguments.ear, arguments.device, arguments.verdict, arguments.prior,
        arguments.pta4_min, arguments.pta4_max,
    )  # fmt: skip
    export = _export_wanted(arguments)
    _check_people(arguments)
    with looked_at(arguments.places, show_progress, keep=not arguments.no_index) as index:
        doubles = index.doubles()
        chosen = {each.path: each for each in index.entries(choice.where)}
        copies = [words for each, words in doubles.left_out if chosen.pop(each.path, None)]
        wanted = arrange(chosen.values(), arguments.sort, arguments.reverse, doubles.shared_devices)
        name_left_out(copies)
        say_aside(*(f"{words}; both count" for e, words in doubles.doubted if e.path in chosen))
        code = 0
        if export is not None:
            code = _export(wanted, export, index)
        elif arguments.people:
            code = _show_people(index, wanted, doubles.shared_devices, arguments)
        elif arguments.json:
            places = [*map(str, arguments.places)]
            say(json.dumps({"directories": places, "sessions": [asdict(e) for e in wanted]}))
        else:
            say(*in_columns(list_lines(wanted), Shown(arguments.language)))
        say_aside(_summary(arguments.places, index, len(wanted), len(doubles.left_out)))
    return code


def _export_wanted(arguments: argparse.Namespace) -> "Wanted | None":
    """Return what is to be exported; `HostError` if it cannot be written."""
    if arguments.export is None:
        for option in OF_EXPORT:
            if getattr(arguments, option):
                name = arguments.rows if option == "rows" else option
                raise HostError(f"--{name} is of --export, which is missing")
        return None
    from host_tools.commands.export.command import Wanted

    return Wanted.of(arguments, arguments.export, "--export")


def _check_people(arguments: argparse.Namespace) -> None:
    if arguments.people and arguments.export is not None:
        raise HostError("--people and --export do not go together: an export has a row a session")
    if arguments.out is not None:
        if not arguments.people:
            raise HostError("-o writes a page of people; it needs --people")
        check_name(arguments.out, "-o", (PAGE,), arguments.force)
    for option, given in (("--rules", arguments.rules), ("--baseline", arguments.baseline)):
        if given and not arguments.people:
            raise HostError(f"{option} is of people; it needs --people")


def _baselines(entries: Sequence[Entry], named: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the sessions that rules take as baselines, by whose they are."""
    whose: dict[str, tuple[str, ...]] = {}
    for name in named:
        found = [each for each in entries if each.name == name]
        if len(found) != 1:
            of = "none of the sessions chosen" if not found else f"{len(found)} of them"
            raise HostError(
                f"--baseline is {name!r}, which is {of}; allowed is the name of a journal that "
                "gp-pta sessions lists, such as session-000017.journal"
            )
        identifier = found[0].identifier
        whose[identifier] = (*whose.get(identifier, ()), name)
    return whose


def _export(entries: Sequence[Entry], wanted: "Wanted", index: Index) -> int:
    from host_tools.commands.export.command import export

    paths = [Path(entry.path) for entry in entries if entry.outcome != TUNING]
    journals = export(paths, wanted, index)
    say_aside(f"{wanted.out}: {journals.written} sessions")
    return journals.exit_code


def _show_people(
    index: Index,
    entries: Sequence[Entry],
    shared_devices: Container[str],
    arguments: argparse.Namespace,
) -> int:
    """Show sessions by person, or write a page of them, and return the exit code."""
    from rich.console import Console

    from host_tools.commands.sessions.people import VISIT, findings_of, people_of
    from host_tools.commands.sessions.people_page import people_page
    from host_tools.commands.sessions.people_paper import summary
    from host_tools.papers.characters import show_sections

    left_out = [f"{e.path}: {e.outcome}: {e.words}" for e in entries if e.is_wrong]
    whose = _baselines(entries, arguments.baseline or ())
    with_rules = arguments.rules or bool(whose)
    people = people_of(
        in_order((entry for entry in entries if not entry.broken), shared_devices),
        lambda entry: index.found(
            Path(entry.path), entry.content, VISIT, lambda _: findings_of(entry)
        ),
        show_progress,
        left_out,
        arguments.convention,
        shared_devices,
    )
    asked = (
        replace(person, baselines=whose.get(person.identifier, ())) if with_rules else person
        for person in people
    )
    each = ((person, person.comparisons()) for person in asked)
    first = next(each, None)
    if first is None and (left_out or arguments.out is not None):
        name_left_out(left_out)
        places = ", ".join(repr(str(place)) for place in arguments.places)
        raise HostError(f"no session in {places} is of anybody: nothing was written")
    compared: Iterable[Compared] = chain([] if first is None else [first], each)
    if arguments.out is not None:
        on_page = [*compared]
        compared = on_page
        write_text(arguments.out, people_page(on_page, arguments.language))
        say_aside(f"{arguments.out} written")
    if arguments.json:
        say_in_parts(_as_json(arguments.places, compared))
    elif arguments.out is None:
        sections = (summary(n, *each) for n, each in enumerate(compared, 1))
        show_sections(Console(highlight=False), sections, Shown(arguments.language))
    name_left_out(left_out)
    return LEFT_OUT if left_out else 0


def _as_json(places: Sequence[Path], compared: "Iterable[Compared]") -> Iterator[str]:
    """Yield the parts of one JSON object, person by person: a network has much of many."""
    from host_tools.commands.sessions.by_rule import by_rules

    opened, closed = json.dumps({"directories": [*map(str, places)], "people": []}).rsplit("]", 1)
    yield opened
    before = ""
    for person, found in compared:
        rules = [each.as_json() for each in by_rules(person)]
        yield before + json.dumps(person.as_json(found) | {"rules": rules})
        before = ", "
    yield f"]{closed}"


def list_lines(entries: Sequence[Entry]) -> list[list[Cell]]:
    """Return a line a journal; what an option takes stands there as it is typed."""
    devices = len({entry.device for entry in entries if not entry.broken}) > 1
    heads: list[Cell] = [row(f"list-{name}") for name in HEADS]
    heads += [row("fact-calibration"), row("fact-identifier"), row("list-remark")]
    lines = [heads, *map(_cells, entries)]
    if not devices:
        return lines
    first = (row("fact-device"), *(entry.device or no_value() for entry in entries))
    return [[device, *line] for device, line in zip(first, lines, strict=True)]


def in_columns(lines: Sequence[Sequence[Cell]], shown: Shown) -> list[str]:
    """Return cells in columns; the last of a line is as long as it is."""
    said = [[shown.say(cell) for cell in line] for line in lines]
    columns = zip_longest(*(line[:-1] for line in said), fillvalue="")
    widths = [max(map(len, column)) for column in columns]
    return ["  ".join(map(str.ljust, line, [*widths, 0])).rstrip() for line in said]


def _cells(entry: Entry) -> list[Cell]:
    if entry.broken:
        return [entry.name, f"{entry.outcome}: {entry.words}"]
    remarks = [] if was_clock_set(entry.started) else [row("clock_not_set")]
    if entry.recorded_by:
        remarks.append(row("list-recorded-by", version=entry.recorded_by))
    return [
        entry.name, entry.begun, entry.ears, entry.routes, entry.outcome,
        verdicts_row(entry.verdicts) if entry.verdicts else no_value(),
        entry.mean_of("right"), entry.mean_of("left"), entry.calibration,
        entry.identifier or no_value(), row("joined", parts=remarks) if remarks else "",
    ]  # fmt: skip


def _summary(places: Sequence[Path], index: Index, wanted: int, copies: int) -> str:
    counts = index.counts()
    if not counts:
        return f"no journals in {', '.join(repr(str(place)) for place in places)}"
    words = [f"{wanted} of {counts.total()} journals"]
    words += [f"{counts[outcome]} {outcome}" for outcome in BROKEN if counts[outcome]]
    words += [f"{copies} there twice"] if copies else []
    return ", ".join(words)
