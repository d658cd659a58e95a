"""`gp-pta`: the one command of the host tools."""

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence
from typing import Final

from device.simulator.audiograms import AudiogramError
from firmware_py import __version__
from host_tools import (
    cable,
    calibrate,
    completion,
    console,
    demo,
    install_board,
    listen,
    protect,
    replay,
    simulate,
    unprotect,
    workbench,
)
from host_tools.doctor import command as doctor
from host_tools.errors import HostError
from host_tools.export import command as export
from host_tools.extras import need
from host_tools.learn_prior import command as learn_prior
from host_tools.prescription import command as prescribe
from host_tools.report import command as report
from host_tools.sessions import command as sessions
from host_tools.study import command as study
from host_tools.watch import command as watch

COMMANDS = (
    demo,
    workbench,
    listen,
    simulate,
    cable,
    console,
    watch,
    replay,
    report,
    prescribe,
    export,
    sessions,
    protect,
    unprotect,
    calibrate,
    install_board,
    study,
    learn_prior,
    doctor,
    completion,
)

# As a shell says that a program was ended by SIGINT or SIGPIPE.
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
# Only what is written can fail so, and a command names its own files itself.
FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class CommandParser(argparse.ArgumentParser):
    """The parser of a command: what it does not know is answered with its own usage."""

    def parse_known_args(  # type: ignore[override]  # one signature of three
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, and refuse what is left over."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, made from the commands' own parts."""
    p = argparse.ArgumentParser(
        prog="gp-pta",
        description="Host tools of the GP-PTA fitting device.",
        epilog="gp-pta COMMAND --help shows an example of each.",
    )
    p.add_argument("--version", action="version", version=f"gp-pta {__version__}")
    commands = p.add_subparsers(metavar="COMMAND", required=True, parser_class=CommandParser)
    for command in COMMANDS:
        sub = commands.add_parser(
            command.NAME,
            help=command.SUMMARY,
            description=command.SUMMARY[0].upper() + command.SUMMARY[1:] + ".",
            epilog=command.EXAMPLE,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(sub)
        needs = getattr(command, "NEEDS", ())
        sub.set_defaults(run=command.run, command=command.NAME, needs=needs)
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name with bytes that are no text is spelt out
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = parser().parse_args(argv)
    try:
        need(f"gp-pta {arguments.command}", *arguments.needs)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except (HostError, AudiogramError) as error:
        print(f"gp-pta: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return BROKEN_PIPE
    except OSError as error:
        if error.errno not in FULL:
            raise
        _forget_stdout()
        print(f"gp-pta: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return code


def _forget_stdout() -> None:
    """Leave nothing that Python would fail to write once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
