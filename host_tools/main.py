"""`gp-pta`: the one command of the host tools."""

import argparse
import errno
import io
import os
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Final

from device.simulator.audiograms import AudiogramError
from firmware_py import __version__
from firmware_py.inference.library import JIT, VARIABLE, LibraryError
from firmware_py.platform import interpreter
from host_tools.commands import (
    cable,
    demo,
    install_board,
    listen,
    protect,
    simulate,
    unprotect,
    workbench,
)
from host_tools.commands.calibrate import command as calibrate
from host_tools.commands.completion import command as completion
from host_tools.commands.console import command as console
from host_tools.commands.doctor import command as doctor
from host_tools.commands.export import command as export
from host_tools.commands.prescribe import command as prescribe
from host_tools.commands.replay import command as replay
from host_tools.commands.report import command as report
from host_tools.commands.sessions import command as sessions
from host_tools.commands.watch import command as watch
from host_tools.errors import HostError
from host_tools.extras import need
from host_tools.research.learn_prior import command as learn_prior
from host_tools.research.study import command as study

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
    """A parser that answers what it does not know with its own usage, and with what it may mean."""

    def parse_known_args(  # type: ignore[override]  # one signature of three
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, and refuse what is left over."""
        self._check_options(sys.argv[1:] if args is None else args)
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown

    def _check_options(self, args: Sequence[str]) -> None:
        """Refuse a mistyped option before one that is missing for want of it."""
        known = self._option_string_actions
        for word in takewhile(lambda word: self._subparsers is None or word[:1] == "-", args):
            name = word.partition("=")[0]
            if name == "--":
                return
            if name.startswith("--") and not any(option.startswith(name) for option in known):
                meant = _meant(name, known)
                if meant:
                    self.error(f"{name} is no option{meant}")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse what is none of the choices."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        meant, allowed = _meant(str(value), choices), ", ".join(choices)
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"{value} is no command{meant or f'; commands are {allowed}'}")
        name = action.option_strings[-1] if action.option_strings else action.dest
        self.error(f"{name} is {value!r}; allowed are {allowed}{meant}")


def _meant(typed: str, known: Iterable[str]) -> str:
    """Return a question whether the one that is nearest was meant, "" if none is near."""
    names = {name.lstrip("-"): name for name in known}  # that they have dashes makes no two alike
    near = get_close_matches(typed.lstrip("-"), names, n=1)
    return f"; did you mean {names[near[0]]}?" if near else ""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, made from the commands' own parts."""
    p = CommandParser(
        prog="gp-pta",
        description="Host tools of the GP-PTA fitting device.",
        epilog="gp-pta COMMAND --help shows an example of each.",
    )
    p.add_argument("--version", action="version", version=f"gp-pta {__version__}")
    commands = p.add_subparsers(metavar="COMMAND", required=True)
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
        under_numba = getattr(command, "UNDER_NUMBA", False)
        sub.set_defaults(
            run=command.run, command=command.NAME, needs=needs, under_numba=under_numba
        )
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    if words := interpreter.refusal():
        print(f"gp-pta: {words}", file=sys.stderr)
        return 2
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name with bytes that are no text is spelt out
        sys.stdout.reconfigure(errors="backslashreplace")
    arguments = parser().parse_args(argv)
    try:
        if arguments.under_numba:
            os.environ[VARIABLE] = JIT
        need(f"gp-pta {arguments.command}", *arguments.needs, use=arguments.command)
        code: int = arguments.run(arguments)
        sys.stdout.flush()
    except (HostError, AudiogramError, LibraryError) as error:
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
