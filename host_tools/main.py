"""`gp-pta`: the one command of the host tools."""

import argparse
import io
import sys
import traceback
from collections.abc import Sequence
from typing import Final

from device.simulator.audiograms import AudiogramError
from firmware_py.inference.library import LibraryError
from firmware_py.platform.program import is_of_output, refusal, run_program
from host_tools.commands import (
    cable,
    completion,
    demo,
    install_board,
    listen,
    protect,
    simulate,
    tune,
    unprotect,
    update,
    workbench,
)
from host_tools.commands.calibrate import command as calibrate
from host_tools.commands.console import command as console
from host_tools.commands.doctor import command as doctor
from host_tools.commands.export import command as export
from host_tools.commands.page import command as page
from host_tools.commands.prescribe import command as prescribe
from host_tools.commands.replay import command as replay
from host_tools.commands.report import command as report
from host_tools.commands.sessions import command as sessions
from host_tools.commands.watch import command as watch
from host_tools.errors import FAULT, REFUSED, HostError
from host_tools.extras import need
from host_tools.parser import Command, CommandParser, parser_of
from host_tools.research.learn_prior import command as learn_prior
from host_tools.research.study import command as study
from host_tools.terminal import say_aside

COMMANDS: Final[tuple[Command, ...]] = (
    demo,
    workbench,
    listen,
    simulate,
    cable,
    console,
    page,
    watch,
    replay,
    report,
    prescribe,
    tune,
    export,
    sessions,
    protect,
    unprotect,
    calibrate,
    install_board,
    update,
    study,
    learn_prior,
    doctor,
    completion,
)


def parser() -> CommandParser:
    return parser_of(COMMANDS)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    return run_program(lambda: _command(argv), "gp-pta")


def _command(argv: Sequence[str] | None) -> int:
    if words := refusal():
        say_aside(f"gp-pta: {words}")
        return REFUSED
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file name may have bytes that are no text
        sys.stdout.reconfigure(errors="backslashreplace")
    return run(parser().parse_args(argv))


def run(arguments: argparse.Namespace) -> int:
    """Run the command that was asked for, and return its exit code."""
    try:
        command: Command = arguments.command
        need(f"gp-pta {command.NAME}", *command.NEEDS.get("", ()), use=command.NAME)
        code = command.run(arguments)
        sys.stdout.flush()
    except HostError as error:
        say_aside(f"gp-pta: {error}")
        return error.exit_code
    except (AudiogramError, LibraryError) as error:
        say_aside(f"gp-pta: {error}")
        return REFUSED
    except OSError as error:
        if is_of_output(error):
            raise
        if not isinstance(error, PermissionError) or error.filename is None:
            return _fault()
        say_aside(f"gp-pta: {error.filename}: {error.strerror}")  # in a closed directory, say
        return REFUSED
    except Exception:  # 1, as Python has it, would say something of a journal
        return _fault()
    return code


def _fault() -> int:
    """Say where the error is that is being handled, which nobody foresaw."""
    say_aside(*traceback.format_exc().splitlines())
    return FAULT


if __name__ == "__main__":
    sys.exit(main())
