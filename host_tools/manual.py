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


def manual() -> str:
    """Return the page, in Markdown."""
    parts = [TITLE, "\n".join(_contents()), "\n".join(_extras())]
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
