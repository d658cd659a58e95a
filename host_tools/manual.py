"""The page of all commands, `host_tools/README.md`, made from the parsers that read them.

`python -m host_tools.manual` prints it; a test says when the page is not this any more.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import Final

from firmware_py.platform.program import run_program
from host_tools.extras import DISTRIBUTION, EXTRA_FOR
from host_tools.main import COMMANDS, parser
from host_tools.parser import CommandParser

TITLE: Final = """\
# gp-pta: the commands

Made by `python -m host_tools.manual` from what `gp-pta COMMAND --help` shows.

Of every command 2 means that it could not do what was asked, and says why in a line; 70 is a fault
of its own, with a traceback to report. What comes from a file is shown with whatever cannot be
printed spelt out: `\\x1b`, `\\n`, `\\u202e`.
"""


TABLES: Final = """\
## Tables of audiograms

`--audiogram` of `demo`, `workbench`, `simulate`, `study` and `prescribe`, `study --audiograms` and
`learn-prior` read the same tables. `FILE:ROW` is a row by its number, 1 after the header, or the
name of somebody in it; where a person has several rows, people are counted.

{rows}

Other headings are said, `--columns 'right.500=R AC 500 Hz,ignore=PTA4'`, or in a file of such
lines, as places above, or hz, khz or ignore. Who leaves that out is told what to type, filled in
as far as it can be guessed.

A refusal says where that is and what is allowed. Nothing is made up in silence: a simulated
listener hears what lies between its neighbours where the table knows nothing, and that is said,
shown as `?` and not counted as an error; `learn-prior` says how many thresholds, times without a
response and unknowns it read; `prescribe` has no gain there. Between two thresholds an octave apart
or less, what lies on the line counts as known.
"""
HOW_WRITTEN: Final = {
    "file": "CSV: separated by comma, semicolon, tab or bar, with decimal points or commas, with "
    "or without a line `sep=;`, in UTF-8 or UTF-16. JSON. Parquet, with `gp-pta[export]`",
    "an ear a row": "`t500`, `t1000` and so on, by bone `b500`; `ear` is R or L. A second reading, "
    "`t1000_retest`, is averaged with the first",
    "a person a row": "`R500`, `L500`, by bone `right.bone.500`; or NHANES' `AUXU500R`",
    "a threshold a row": "`ear`, `frequency` and `threshold`, or `frequency`, `left` and `right`; "
    "`route` is AC or BC, also where a row has several frequencies",
    "JSON": "listeners of pyclarity (`audiogram_cfs`, `audiogram_levels_l`, "
    '`audiogram_levels_r`), `{"left": {"250": 10}, "right": {}}` alone, by name or of LibrePods, '
    "or a list of rows",
    "FHIR": "a bundle of observations or components by LOINC's codes; `subject` tells people "
    "apart, encounter, day or time their tests",
    "what `gp-pta export` writes": "all of it: CSV in its three forms, JSON, FHIR, Parquet",
    "who": "`subject`, `person`, `id`, `name`, `patient` or `SEQN`; `session`, `visit` or `date`; "
    "`age`; `sex`, F or M; `source`",
    "no response": "`NR`, or up to a limit `>110` or `110+`; 666; or an empty cell and its "
    "frequency in `no_response`, as `4000;8000`",
    "not known": "an empty cell, `-`, `NA`, `NT`, `CNT`, 888",
    "passed over, and said": "a column without a number in its heading, of which nothing is known; "
    "of FHIR whatever is no threshold, or withdrawn",
    "refused, with what to type": "any other heading with a number, and one or a column of words "
    "that say what a number is: AC, BC, UCL, MCL, SF, aided, masked",
    "refused": "a file without headings; a cell that is nothing of these; a level beside a no "
    "response; a row with more or fewer cells; whatever comes twice; a workbook; XML",
}


def manual() -> str:
    """Return the page, in Markdown."""
    parts = [TITLE, "\n".join(_contents()), "\n".join(_extras()), _tables()]
    parts += ["\n".join(_command(name, p)) for name, p in parser().commands.items()]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _contents() -> Iterator[str]:
    yield "| | command | what it does |"
    yield "|---|---|---|"
    above = ""
    for name, group, _, summary in COMMANDS:
        shown = "" if group == above else group
        yield f"| {shown} | [`{name}`](#{name}) | {_cell(summary)} |"
        above = group or above


def _extras() -> Iterator[str]:
    yield "## Extras"
    yield ""
    yield "What a command takes beyond what the device needs is in an extra; without it the command"
    yield "says the line to type, in a checkout `pip install --editable '.[report]'`."
    yield ""
    yield "| extra | for |"
    yield "|---|---|"
    for extra in dict.fromkeys(EXTRA_FOR.values()):
        uses = ", ".join(f"`{use}`" for use, its in EXTRA_FOR.items() if its == extra)
        yield f"| `{DISTRIBUTION}[{extra}]` | {uses} |"


def _tables() -> str:
    rows = [f"| {_cell(what)} | {_cell(how)} |" for what, how in HOW_WRITTEN.items()]
    return TABLES.format(rows="\n".join(("| | as it is written |", "|---|---|", *rows)))


def _command(name: str, p: CommandParser) -> Iterator[str]:
    yield f"## {name}"
    yield ""
    yield str(p.description)
    yield ""
    yield "| argument | |"
    yield "|---|---|"
    for action in p.arguments:
        yield f"| {_names(action)} | {_cell(_words(action))} |"
    yield ""
    yield "```"
    yield str(p.epilog).strip("\n")
    yield "```"


def _names(action: argparse.Action) -> str:
    if not action.option_strings:
        return _cell(f"`{action.metavar or action.dest.upper()}`")
    choices = ",".join(map(str, action.choices or ()))
    value = "" if action.nargs == 0 else f" {action.metavar or choices or action.dest.upper()}"
    return _cell(f"`{', '.join(action.option_strings)}{value}`")


def _words(action: argparse.Action) -> str:
    words = action.help or ""
    values = {name: value for name, value in vars(action).items() if not name.startswith("_")}
    return words % {**values, "prog": "gp-pta"} if words else words


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> None:
    print(manual(), end="")


if __name__ == "__main__":
    sys.exit(run_program(main))
