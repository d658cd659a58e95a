"""The parser of the command line: one command in it for each module that offers one."""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import takewhile
from typing import Any, Final, NamedTuple, Protocol, cast

# Of a command, or a group of them.
Options = argparse.ArgumentParser | argparse._ArgumentGroup


class CommandModule(Protocol):
    """What the module of a command offers.

    `EXAMPLE` is what its own help shows. `NEEDS` has third-party modules by what needs them: the
    words of an option, or "" for the command as a whole, which is refused without them.
    """

    @property
    def EXAMPLE(self) -> str: ...  # noqa: N802
    @property
    def NEEDS(self) -> Mapping[str, tuple[str, ...]]: ...  # noqa: N802

    def add_arguments(self, p: argparse.ArgumentParser, /) -> None: ...

    def run(self, arguments: argparse.Namespace, /) -> int: ...


class Command(NamedTuple):
    """A command of `gp-pta`, as `gp-pta --help` lists it.

    Its module is imported when the command is meant, and no sooner: all of them take half a second.
    """

    name: str
    group: str  # in which it is listed, "" if the words of another command name it
    path: str  # of its module, dotted
    summary: str

    @property
    def module(self) -> CommandModule:
        return cast(CommandModule, import_module(self.path))


_NUMBERS: Final[dict[object, str]] = {float: "a number", int: "a whole number"}
USAGE: Final = "usage: gp-pta COMMAND ...   (gp-pta COMMAND --help: its options, with examples)"


def overview(commands: Iterable[Command]) -> str:
    """Return which commands there are, by group, for a terminal of 24 lines of 80 columns."""
    listed = [command for command in commands if command.group]
    groups = max(len(command.group) for command in listed)
    names = max(len(command.name) for command in listed)
    lines, above = [USAGE], ""
    for name, group, _, summary in listed:
        lines.append(f"{'' if group == above else group:{groups}}  {name:{names}} {summary}")
        above = group
    return "\n".join(lines) + "\n"


class CommandParser(argparse.ArgumentParser):
    """A parser that answers what it does not know with its own usage, and with what it may mean.

    That of a command gets its options when it first has to parse, which imports the command.
    """

    def __init__(self, command: Command | None = None, **options: object) -> None:
        super().__init__(**options)  # type: ignore[arg-type]  # handed on as they come
        self._command = command  # whose options are still to be added
        self._of_commands: dict[str, CommandParser] = {}
        self._overview = ""  # of the commands, where there are any

    @property
    def commands(self) -> "dict[str, CommandParser]":
        """Return the parser of each command, which imports all; a command itself has none."""
        for each in self._of_commands.values():
            each.complete()
        return self._of_commands

    @property
    def arguments(self) -> list[argparse.Action]:
        return [action for action in self._actions if action.dest != "help"]

    def offer(self, commands: Sequence[Command]) -> None:
        """Take the name of a command, and what its own parser takes of the words behind it."""
        self._overview = overview(commands)
        chooser = self.add_subparsers(metavar="COMMAND", required=True)
        for command in commands:
            of_command = chooser.add_parser(
                command.name,
                command=command,
                help=command.summary,
                description=command.summary[0].upper() + command.summary[1:] + ".",
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            of_command.set_defaults(command=command, commands=commands, parser=self)
            self._of_commands[command.name] = of_command

    def complete(self) -> None:
        if self._command is not None:
            module = self._command.module
            self._command = None
            self.epilog = module.EXAMPLE
            module.add_arguments(self)

    def format_help(self) -> str:
        """Return the help of a command as argparse has it, that of all commands as one screen."""
        return self._overview or super().format_help()

    def parse_known_args(  # type: ignore[override]  # one signature of three
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, and refuse what is left over."""
        self.complete()
        args = sys.argv[1:] if args is None else args
        if self._of_commands and not args:
            self.print_help(sys.stderr)
            self.exit(2)  # a script that names none, by an empty variable, has done nothing
        self._check_options(args)
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown

    def _check_options(self, args: Sequence[str]) -> None:
        """Name a mistyped option before the required one that is missing because of it."""
        known = self._option_string_actions
        for word in takewhile(lambda word: not self._of_commands or word[:1] == "-", args):
            name = word.partition("=")[0]
            if name == "--":
                return
            if name.startswith("--") and not any(option.startswith(name) for option in known):
                meant = _guess(name, known)
                if meant:
                    self.error(f"{name} is no option{meant}")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Refuse what is no number as values are refused that are none of the choices."""
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError:
            if action.type not in _NUMBERS:
                raise
        name = action.option_strings[-1] if action.option_strings else action.dest
        self.error(f"{name} is {arg_string!r}; allowed is {_NUMBERS[action.type]}")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse a value that is none of the choices."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        meant, allowed = _guess(str(value), choices), ", ".join(map(_apart, choices))
        if self._of_commands:
            self.error(f"{value} is no command{meant or f'; commands are {allowed}'}")
        name = action.option_strings[-1] if action.option_strings else action.dest
        self.error(f"{name} is {value!r}; allowed are {allowed}{meant}")


class Version(argparse.Action):
    """Says version and journals; looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from firmware_py.platform.version import program_words
        from host_tools.terminal import say

        say(f"gp-pta {program_words()}")
        parser.exit(0)


def parser_of(commands: Sequence[Command]) -> CommandParser:
    """Return the parser of the command line.

    What it returns of a command line has, beside the options, `command`, `commands` (all of them)
    and `parser` (this one).
    """
    p = CommandParser(prog="gp-pta")
    p.add_argument("--version", action=Version, nargs=0, help="say which program this is, and end")
    p.offer(commands)
    return p


def _guess(typed: str, known: Iterable[str]) -> str:
    """Return a question whether the nearest name was meant; "" if none is near."""
    from difflib import get_close_matches

    names = {name.lstrip("-"): name for name in known}  # that both begin with dashes is no likeness
    near = get_close_matches(typed.lstrip("-"), names, n=1)
    return f"; did you mean {names[near[0]]}?" if near else ""


def _apart(choice: str) -> str:
    """Return a choice as it stands in a list: one with a comma in it in quotes."""
    return repr(choice) if "," in choice else choice
