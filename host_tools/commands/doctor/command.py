"""`gp-pta doctor`: what is here, what is missing for which command, with the line to type."""

import argparse
import json
import platform
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from firmware_py.platform.version import full_version
from host_tools.commands.doctor.findings import Findings, Lack, SerialPort, examine
from host_tools.extras import CHECKOUT
from host_tools.terminal import say

EXAMPLE = """\
example:
  gp-pta doctor
  gp-pta doctor --json

It looks at Python, packages, kernels, places to write, serial ports, sound and the emulated board,
and changes nothing.

exit codes: 0 everything that is installed can run, 2 something cannot, and "fault" says what. What
is not installed, or not plugged in, is missing and no fault.
"""

NEEDS: Final[dict[str, tuple[str, ...]]] = {}
COLUMNS: Final = 80
NAME_COLUMNS: Final = 16
TOGETHER: Final = "\N{NO-BREAK SPACE}"  # no line ends here


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument("--json", action="store_true", help="print what was found as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Look, and say what was found."""
    names = [command.name for command in arguments.commands]
    findings = examine(arguments.commands)
    if arguments.json:
        say(json.dumps(as_json(findings, names)))
    else:
        say(*words(findings, names))
    return 2 if findings.faults else 0


def as_json(findings: Findings, names: Iterable[str]) -> dict[str, Any]:
    found = asdict(findings)
    lacks = found.pop("lacks")
    commands = []
    for name in names:
        mine = [lack for lack in lacks if lack["command"] == name]
        ready = all(lack["option"] for lack in mine)
        commands.append({"command": name, "ready": ready, "lacks": mine})
    return {
        "version": full_version(),
        "path": str(CHECKOUT),
        "python": platform.python_version(),
        "machine": _machine(),
        **found,
        "commands": commands,
    }


def words(findings: Findings, names: Iterable[str]) -> Iterator[str]:
    """Return the findings in lines for people, 80 columns wide but for what is to be typed."""
    kind = "checkout" if (CHECKOUT / "pyproject.toml").is_file() else "installed"
    yield f"gp-pta {full_version()} ({kind}) in {CHECKOUT}"
    yield from _row("Python", f"{platform.python_version()} on {_machine()}, {sys.executable}")
    yield from _row("kernels", findings.kernels)
    here = [f"{one.name}{TOGETHER}{one.version}" for one in findings.packages if one.version]
    yield from _row("packages", ", ".join(here))
    for place in findings.places:
        cannot = f"cannot be written: {place.why_not}; {place.then}"
        yield from _row(place.what, f"{place.path} {cannot if place.why_not else 'can be written'}")
    for port in findings.serial_ports:
        yield from _row("serial port", _port(port))
    if not findings.serial_ports:
        yield from _row("serial ports", "none plugged in")
    yield from _row("sound cards", ", ".join(findings.sound_cards) or findings.no_sound or "none")
    image = findings.board_image
    yield from _row("emulated board", Path(image).name if image else findings.no_board_image)
    yield ""
    for name in names:
        yield from _row(name, _state([lack for lack in findings.lacks if lack.command == name]))
    yield from _to_type(findings.lacks)
    yield ""
    for fault in findings.faults:
        yield f"fault: {fault}"
    if not findings.faults:
        yield "Nothing that is installed is at fault."


def _state(lacks: Sequence[Lack]) -> str:
    """Return what a command that lacks this can do."""
    whole = [lack.why for lack in lacks if not lack.option]
    if whole:
        return f"not ready: {whole[0]}"
    # Why there is no sound, and no image, is said above.
    without = [f"{lack.option} ({lack.why})" if lack.line else lack.option for lack in lacks]
    return f"ready, without {'; '.join(without)}" if without else "ready"


def _to_type(lacks: Sequence[Lack]) -> Iterator[str]:
    """Say what to type for what is missing, a line for all that it helps."""
    helped_by: dict[str, list[str]] = {}
    for lack in lacks:
        if lack.line:
            option = lack.option if lack.option.startswith("-") else f"({lack.option})"
            what = f"{lack.command} {option}" if lack.option else lack.command
            helped_by.setdefault(lack.line, []).append(what.replace(" ", TOGETHER))
    for line, helped in helped_by.items():
        yield ""
        for row in textwrap.wrap(f"For {', '.join(helped)}, type:", COLUMNS):
            yield row.replace(TOGETHER, " ")
        yield f"  {line}"


def _port(port: SerialPort) -> str:
    description = f" ({port.description})" if port.description else ""
    state = f"is closed to you: {port.hint}" if port.hint else "can be opened"
    return f"{port.device}{description} {state}"


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}"


def _row(name: str, text: str) -> Iterator[str]:
    lines = textwrap.wrap(
        text, COLUMNS, initial_indent=f"{name:<{NAME_COLUMNS}}",
        subsequent_indent=" " * NAME_COLUMNS, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return (line.replace(TOGETHER, " ") for line in lines)
