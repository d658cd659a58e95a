"""Completion for fish, which shtab does not know: made from the same parser."""

import argparse
from collections.abc import Callable, Iterator
from typing import Final

NamesFile = Callable[[argparse.Action], bool]

FUNCTION: Final = "__gp_pta_command_is"
# The command is the first word that is no option: what comes after it may be called like another.
HEAD: Final = f"""\
function {FUNCTION}
    for word in (commandline -opc)[2..-1]
        if not string match -q -- '-*' $word
            test "$word" = "$argv[1]"
            return
        end
    end
    test -z "$argv[1]"
end
complete -c gp-pta -f
"""


def fish_completion(p: argparse.ArgumentParser, names_file: NamesFile) -> str:
    """Return the lines that fish reads.

    Parameters
    ----------
    p : ArgumentParser
        With commands.
    names_file : callable
        Tells whether an argument is the name of a file.
    """
    return HEAD + "".join(f"complete -c gp-pta {line}\n" for line in _lines(p, "", names_file))


def _lines(p: argparse.ArgumentParser, command: str, names_file: NamesFile) -> Iterator[str]:
    here = f"-n {_quoted(f'{FUNCTION} {command}'.strip())}"
    for action in p._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield f"{here} -a {choice.dest} -d {_quoted(choice.help or '')}"
            for name, sub in action.choices.items():
                yield from _lines(sub, name, names_file)
        else:
            words = [here, *map(_option, action.option_strings), *_values(action, names_file)]
            if action.help and action.option_strings:
                help_words = argparse.HelpFormatter(p.prog)._expand_help(action)
                words += ["-d", _quoted(help_words)]
            yield " ".join(words)


def _option(name: str) -> str:
    return f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"


def _values(action: argparse.Action, names_file: NamesFile) -> list[str]:
    """Return what may come after an option, or in the place of an argument."""
    if action.nargs == 0:
        return []
    needed = ["-r"] if action.option_strings else []
    if names_file(action):
        return [*needed, "-F"]
    choices = [] if action.choices is None else [" ".join(map(str, action.choices))]
    return [*needed, "-f", *(f"-a {_quoted(words)}" for words in choices)]


def _quoted(words: str) -> str:
    escaped = words.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
