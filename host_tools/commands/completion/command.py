"""`gp-pta completion`: what a shell needs to complete commands, options and their values."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from host_tools.extras import need

NAME = "completion"
SUMMARY = "print the completion of gp-pta for a shell"
EXAMPLE = """\
example:
  gp-pta completion bash > ~/.local/share/bash-completion/completions/gp-pta
  gp-pta completion zsh > ~/.zfunc/_gp-pta
  gp-pta completion fish > ~/.config/fish/completions/gp-pta.fish
"""

MAY_NEED: Final = {"bash, zsh and tcsh": ("shtab",)}
FISH: Final = "fish"
SHELLS: Final = ("bash", "zsh", "tcsh", FISH)
# How arguments that name files are called: a port is one too.
_FILES: Final = re.compile(r"\b(FILE|DIR|PORT)\b")


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument("shell", choices=SHELLS, help="which shell")


def run(arguments: argparse.Namespace) -> int:
    """Print it, made from the same parser that reads the command line."""
    from host_tools.main import parser

    if arguments.shell == FISH:
        from host_tools.commands.completion.fish import fish_completion

        print(fish_completion(parser(), _names_file), end="")
        return 0
    need(f"gp-pta {NAME} {arguments.shell}", *MAY_NEED["bash, zsh and tcsh"], use=NAME)
    import shtab

    complete = parser()
    for action in _naming_files(complete):
        action.complete = shtab.FILE  # type: ignore[attr-defined]  # it is how shtab is told
    print(shtab.complete(complete, shell=arguments.shell))
    return 0


def _naming_files(p: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser, and of its commands, that are names of files."""
    for action in p._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _naming_files(command)
        elif _names_file(action):
            yield action


def _names_file(action: argparse.Action) -> bool:
    return action.type is Path or _FILES.search(str(action.metavar)) is not None
