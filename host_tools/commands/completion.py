"""`gp-pta completion`: what a shell needs to complete commands, options and their values."""

import argparse
import re
from pathlib import Path
from typing import Final

EXAMPLE = """\
example:
  gp-pta completion bash > ~/.local/share/bash-completion/completions/gp-pta
  gp-pta completion zsh > ~/.zfunc/_gp-pta
  gp-pta completion fish > ~/.config/fish/completions/gp-pta.fish
"""

NEEDS: Final = {"": ("shtab",)}
SHELLS: Final = ("bash", "zsh", "tcsh", "fish")
# The placeholders of arguments that name files; a port is a file too.
_FILES: Final = re.compile(r"\b(FILE|DIR|PORT)\b")


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("shell", choices=SHELLS, help="which shell")


def run(arguments: argparse.Namespace) -> int:
    """Print it, made from the same parser that reads the command line."""
    import shtab

    for command in arguments.parser.commands.values():
        for action in command.arguments:
            if action.type is Path or _FILES.search(str(action.metavar)):
                action.complete = shtab.FILE
    print(shtab.complete(arguments.parser, shell=arguments.shell))
    return 0
