"""`gp-pta doctor`: what is here, what is missing for which command, with the line to type."""

import argparse
import json
import platform
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from firmware_py import __version__
from firmware_py.inference.library import LibraryError, chosen_library, runs_on
from host_tools.commands import simulate
from host_tools.commands.doctor.packages import Lack, Package, lacks, package, packages
from host_tools.commands.doctor.places import (
    TEMPORARY,
    Place,
    SerialPort,
    board_image,
    places,
    serial_ports,
    sound,
)
from host_tools.extras import CHECKOUT, remedy

NAME = "doctor"
SUMMARY = "what is here, and what is missing for which command, with the line to type"
EXAMPLE = """\
example:
  gp-pta doctor
  gp-pta doctor --json

It looks at Python, packages, kernels, places to write, serial ports, sound and the emulated board,
and changes nothing.

exit codes: 0 everything that is installed can run, 2 something cannot, and "fault" says what. What
is not installed, or not plugged in, is missing and no fault.
"""

COLUMNS: Final = 80
NAME_COLUMNS: Final = 16
TOGETHER: Final = "\N{NO-BREAK SPACE}"  # no line ends here


@dataclass(frozen=True)
class Findings:
    """All that was looked at; `faults` is what is installed and cannot run."""

    kernels: str
    packages: list[Package]
    places: list[Place]
    serial_ports: list[SerialPort]
    sound_cards: list[str]
    no_sound: str
    board_image: Path | None
    no_board_image: str
    commands: list[str]
    lacks: list[Lack]
    faults: list[str]


def add_arguments(p: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    p.add_argument("--json", action="store_true", help="print what was found as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Look, and say what was found."""
    from host_tools.main import COMMANDS

    findings = examine(COMMANDS)
    if arguments.json:
        print(json.dumps(as_json(findings)))
    else:
        print("\n".join(words(findings)))
    return 2 if findings.faults else 0


def examine(commands: Sequence[Any]) -> Findings:
    """Look at everything."""
    kernels, kernel_fault = _kernels()
    some = packages(commands)
    around = places()
    cards, no_sound = sound()
    image, no_image = board_image()
    without = lacks(commands)
    if package("sounddevice").usable and no_sound:
        without.append(Lack("listen", "a sound card", no_sound))
    if image is None:
        without += _without_image(commands, without, no_image)
    return Findings(
        kernels, some, around, serial_ports(), cards, no_sound, image, no_image,
        [command.NAME for command in commands], without,
        [kernel_fault] * bool(kernel_fault) + [*_package_faults(some), *_place_faults(around)],
    )  # fmt: skip


def _kernels() -> tuple[str, str]:
    """Return what the kernels run on, and what is wrong with that."""
    try:
        if chosen_library() is None and not package("numba").usable:
            missing = "there is no library of kernels, and Numba, which compiles them, is missing"
            return missing, f"{missing}: {remedy(['numba'])}"
        return runs_on(), ""
    except LibraryError as error:
        return "cannot be used", str(error)


def _package_faults(some: Iterable[Package]) -> Iterator[str]:
    always = packages([])
    for one in some:
        if one.fault:
            yield f"{one.name}: {one.fault}: {remedy([one.module])}"
        elif one in always and not one.version:
            yield f"{one.name}, which every command needs, is missing: {remedy([one.name])}"


def _place_faults(around: Iterable[Place]) -> Iterator[str]:
    for place in around:
        if place.what == TEMPORARY and place.why_not:
            yield f"{place.path}, for temporary files: {place.why_not}; {place.then}"


def _without_image(commands: Iterable[Any], found: Sequence[Lack], why: str) -> Iterator[Lack]:
    """Yield what the emulated board lacks, where it does not lack its emulator already."""
    (option,) = simulate.MAY_NEED
    known = {lack.what for lack in found}
    for command in commands:
        lack = Lack(command.NAME, option, why)
        if option in getattr(command, "MAY_NEED", {}) and lack.what not in known:
            yield lack


def as_json(findings: Findings) -> dict[str, Any]:
    """Return the findings as JSON values."""
    image = findings.board_image
    return {
        "version": __version__,
        "path": str(CHECKOUT),
        "python": platform.python_version(),
        "machine": _machine(),
        "kernels": findings.kernels,
        "packages": [asdict(package) for package in findings.packages],
        "places": [{**asdict(place), "path": str(place.path)} for place in findings.places],
        "serial_ports": [asdict(port) for port in findings.serial_ports],
        "sound_cards": findings.sound_cards,
        "no_sound": findings.no_sound,
        "board_image": None if image is None else str(image),
        "no_board_image": findings.no_board_image,
        "commands": [
            {
                "command": name,
                "ready": _is_ready(name, findings.lacks),
                "lacks": [asdict(lack) for lack in findings.lacks if lack.command == name],
            }
            for name in findings.commands
        ],
        "faults": findings.faults,
    }


def words(findings: Findings) -> Iterator[str]:
    """Return the findings in lines for people, 80 columns wide but for what is to be typed."""
    kind = "checkout" if (CHECKOUT / "pyproject.toml").is_file() else "installed"
    yield f"gp-pta {__version__} ({kind}) in {CHECKOUT}"
    yield from _row("Python", f"{platform.python_version()} on {_machine()}, {sys.executable}")
    yield from _row("kernels", findings.kernels)
    here = [f"{one.name}{TOGETHER}{one.version}" for one in findings.packages if one.version]
    yield from _row("packages", ", ".join(here))
    for place in findings.places:
        cannot = f"cannot be written: {place.why_not}; {place.then}"
        yield from _row(place.what, f"{place.path} {cannot if place.why_not else 'can be written'}")
    for port in findings.serial_ports:
        yield from _row("serial port", " ".join(_port(port)))
    if not findings.serial_ports:
        yield from _row("serial ports", "none plugged in")
    yield from _row("sound cards", ", ".join(findings.sound_cards) or findings.no_sound or "none")
    image = findings.board_image
    yield from _row("emulated board", image.name if image else findings.no_board_image)
    yield ""
    for name in findings.commands:
        yield from _row(name, _state(name, findings.lacks))
    yield from _to_type(findings.lacks)
    yield ""
    for fault in findings.faults:
        yield f"fault: {fault}"
    if not findings.faults:
        yield "Nothing that is installed is at fault."


def _is_ready(name: str, some: Iterable[Lack]) -> bool:
    return not any(lack.command == name and not lack.option for lack in some)


def _state(name: str, some: Sequence[Lack]) -> str:
    mine = [lack for lack in some if lack.command == name]
    if not mine:
        return "ready"
    whole = [lack.why for lack in mine if not lack.option]
    if whole:
        return f"not ready: {whole[0]}"
    # Why there is no sound, and no image, is said above.
    return "ready, without " + "; ".join(
        f"{lack.option} ({lack.why})" if lack.line else lack.option for lack in mine
    )


def _to_type(some: Sequence[Lack]) -> Iterator[str]:
    """Say what to type for what is missing, a line for all that it helps."""
    lines: dict[str, list[str]] = {}
    for lack in some:
        if lack.line:
            lines.setdefault(lack.line, []).append(lack.what.replace(" ", TOGETHER))
    for line, helped in lines.items():
        yield ""
        for row in textwrap.wrap(f"For {', '.join(helped)}, type:", COLUMNS):
            yield row.replace(TOGETHER, " ")
        yield f"  {line}"


def _port(port: SerialPort) -> Iterator[str]:
    yield port.device
    if port.description:
        yield f"({port.description})"
    yield f"is closed to you: {port.hint}" if port.hint else "can be opened"


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}"


def _row(name: str, text: str) -> Iterator[str]:
    lines = textwrap.wrap(
        text, COLUMNS, initial_indent=f"{name:<{NAME_COLUMNS}}",
        subsequent_indent=" " * NAME_COLUMNS, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return (line.replace(TOGETHER, " ") for line in lines)
