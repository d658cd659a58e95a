"""`gp-pta completion`: what a shell needs to complete commands, options and their values."""

import argparse
from typing import Final

NAME = "completion"
SUMMARY = "print the completion of gp-pta for a shell"
EXAMPLE = """\
example:
  gp-pta completion bash > ~/.local/share/bash-completion/completions/gp-pta
  gp-pta completion zsh > ~/.zfunc/_gp-pta
"""

NEEDS: Final = ("shtab",)
SHELLS: Final = ("bash", "zsh", "tcsh")


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument("shell", choices=SHELLS, help="which shell")


def run(arguments: argparse.Namespace) -> int:
    """Print it, made from the same parser that reads the command line."""
    import shtab

    from host_tools.main import parser

    print(shtab.complete(parser(), shell=arguments.shell))
    return 0
