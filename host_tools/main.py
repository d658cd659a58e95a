"""`gp-pta`: the one command of the host tools."""

import argparse
import sys
from collections.abc import Sequence

from device.simulator.audiograms import AudiogramError
from firmware_py import __version__
from host_tools import calibrate, console, demo, install_board, replay, simulate
from host_tools.errors import HostError
from host_tools.learn_prior import command as learn_prior
from host_tools.prescription import command as prescribe
from host_tools.study import command as study

COMMANDS = (
    demo, simulate, console, replay, prescribe, calibrate, install_board, study, learn_prior,
)  # fmt: skip


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
        sub.set_defaults(run=command.run)
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    arguments = parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except (HostError, AudiogramError) as error:
        print(f"gp-pta: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
