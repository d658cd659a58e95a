"""`gp-pta`: the one command of the host tools."""

import argparse
import io
import sys
from collections.abc import Sequence
from typing import Final

from firmware_py.platform.program import is_of_output, refusal, run_program
from host_tools.errors import FAULT, REFUSED, HostError
from host_tools.parser import Command, CommandParser, parser_of
from host_tools.terminal import say_aside

COMMANDS: Final = (
    Command("demo", "try it", "host_tools.commands.demo",
        "measure a simulated listener, live, and replay it"),
    Command("workbench", "try it", "host_tools.commands.workbench",
        "simulated board, firmware and console in a terminal"),
    Command("listen", "try it", "host_tools.commands.listen",
        "your own ears: sound card and space bar"),
    Command("page", "measure", "host_tools.commands.page.command",
        "the page that runs a hearing test in a browser"),
    Command("console", "measure", "host_tools.commands.console.command",
        "talk to the firmware's console"),
    Command("report", "results", "host_tools.commands.report.command",
        "draw a session: audiogram, grade, quality, each tone"),
    Command("replay", "results", "host_tools.commands.replay.command",
        "check that a session comes out again, bit for bit"),
    Command("export", "results", "host_tools.commands.export.command",
        "write results as CSV, JSON, FHIR, GDT or Parquet"),
    Command("sessions", "results", "host_tools.commands.sessions.command",
        "list, choose and export the journals of a directory"),
    Command("prescribe", "hearing aid", "host_tools.commands.prescribe.command",
        "fit a hearing aid from a session, by a rule"),
    Command("tune", "hearing aid", "host_tools.commands.tune",
        "tune it by what its wearer likes better"),
    Command("budget", "device", "host_tools.commands.budget",
        "how loud and how quiet a box would be, by its parts"),
    Command("install-board", "device", "host_tools.commands.install_board",
        "put the tone generator's program on a Pico"),
    Command("calibrate", "device", "host_tools.commands.calibrate.command",
        "measure with a sound level meter, and write the file"),
    Command("update", "device", "host_tools.commands.update",
        "send a device that runs from a card a new system"),
    Command("study", "research", "host_tools.research.study.command",
        "compare methods, time tests, draw the paper's figures"),
    Command("learn-prior", "research", "host_tools.research.learn_prior.command",
        "learn a prior from audiograms; nhanes: make a table"),
    Command("nhanes", "", "host_tools.research.nhanes",
        "make the table of NHANES from the CDC's public files"),
    Command("doctor", "and also", "host_tools.commands.doctor",
        "what is missing on this machine, and how to get it"),
    Command("simulate", "and also", "host_tools.commands.simulate",
        "serve a simulated tone generator and listener"),
    Command("completion", "and also", "host_tools.commands.completion",
        "let a shell complete all these"),
)  # fmt: skip


def parser() -> CommandParser:
    return parser_of(COMMANDS)


def main(argv: Sequence[str] | None = None) -> int:
    return run_program(lambda: _command(argv), "gp-pta")


def _command(argv: Sequence[str] | None) -> int:
    if words := refusal():
        say_aside(f"gp-pta: {words}")
        return REFUSED
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file name may have bytes that are no text
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        arguments = parser().parse_args(argv)  # imports the command
    except Exception as error:
        if not _is_of_user(error):
            raise
        say_aside(f"gp-pta: {error}")
        return REFUSED
    return run(arguments)


def run(arguments: argparse.Namespace) -> int:
    from host_tools.extras import need

    try:
        command: Command = arguments.command
        module = command.module
        need(f"gp-pta {command.name}", *module.NEEDS.get("", ()), use=command.name)
        code = module.run(arguments)
        sys.stdout.flush()
    except HostError as error:
        say_aside(f"gp-pta: {error}")
        return error.exit_code
    except OSError as error:
        if is_of_output(error):
            raise
        if not isinstance(error, PermissionError) or error.filename is None:
            return _fault()
        say_aside(f"gp-pta: {error.filename}: {error.strerror}")  # in a closed directory, say
        return REFUSED
    except Exception as error:  # 1, as Python has it, would say something of a journal
        if not _is_of_user(error):
            return _fault()
        say_aside(f"gp-pta: {error}")
        return REFUSED
    return code


def _is_of_user(error: Exception) -> bool:
    """Return whether an error of another room is one that a user can see to."""
    from device.audiogram_tables.ears import AudiogramError  # whoever raises one, imported it
    from firmware_py.inference.library import LibraryError

    return isinstance(error, AudiogramError | LibraryError)


def _fault() -> int:
    """Say where the error is that is being handled, which nobody foresaw."""
    import traceback

    say_aside(*traceback.format_exc().splitlines())
    return FAULT


if __name__ == "__main__":
    sys.exit(main())
