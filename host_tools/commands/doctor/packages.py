"""Which packages are here, whether they can be used, and which command lacks which."""

import importlib
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from typing import Any, Final

from host_tools.extras import DISTRIBUTION, EXTRA_FOR, remedy

MODULES: Final = {"pyserial": "serial"}  # where a module has another name than its package
# Its import looks for sound cards, and says what it lacks itself: `places.sound` does it.
NOT_TRIED: Final = ("sounddevice",)
_REQUIREMENT: Final = re.compile(r"([A-Za-z0-9._-]+)\s*([^;]*?)\s*(?:;(.*))?")
_CLAUSE: Final = re.compile(r"(>=|<=|==|!=|<|>)\s*([0-9.]+?)(\.\*)?")


@dataclass(frozen=True)
class Package:
    """A package that some command needs.

    Attributes
    ----------
    name, module : str
        As it is installed, and as it is imported.
    wanted : str
        Which versions, such as ">=14"; "": any.
    version : str
        That is installed; "": none.
    fault : str
        Why it cannot be used although it is here; "": it can.
    """

    name: str
    module: str
    wanted: str
    version: str
    fault: str

    @property
    def usable(self) -> bool:
        """Return whether a command can use it."""
        return bool(self.version) and not self.fault


@dataclass(frozen=True)
class Lack:
    """What a command cannot do here.

    Attributes
    ----------
    command : str
    option : str
        What it cannot do; "": anything.
    why : str
    line : str
        What to type; "": `why` says it.
    """

    command: str
    option: str
    why: str
    line: str = ""

    @property
    def what(self) -> str:
        """Return the command with its option."""
        if not self.option:
            return self.command
        named = self.option if self.option.startswith("-") else f"({self.option})"
        return f"{self.command} {named}"


def needed_always() -> list[str]:
    """Return the packages of a plain installation; those of this one if it cannot be asked."""
    found = [name for name, (_, extra) in _requirements().items() if not extra]
    return found or ["numpy", "pyserial"]


def needs_of(command: Any) -> tuple[str, ...]:
    """Return the modules that a command cannot be without."""
    return tuple(getattr(command, "NEEDS", ()))


def may_need(command: Any) -> Mapping[str, tuple[str, ...]]:
    """Return the modules that only some options of a command need."""
    found: Mapping[str, tuple[str, ...]] = getattr(command, "MAY_NEED", {})
    return found


def packages(commands: Iterable[Any]) -> list[Package]:
    """Return what all these commands need, those of every command first."""
    modules = {module for command in commands for module in needs_of(command)}
    modules |= {m for command in commands for some in may_need(command).values() for m in some}
    always = needed_always()
    extra = sorted(modules - {_module(name) for name in always})
    return [package(name) for name in [*always, *extra]]


@cache
def package(name: str) -> Package:
    """Look at a package, by its name or that of its module, and try to import it."""
    module = _module(name)
    wanted = _requirements().get(_normal(name), ("", ""))[0]
    try:
        there = version(name) if find_spec(module) is not None else ""
    except PackageNotFoundError:  # a module that nobody installed as a package
        there = "of unknown version"
    return Package(name, module, wanted, there, _fault(module, there, wanted) if there else "")


def satisfies(there: str, wanted: str) -> bool:
    """Tell whether a version is one of those wanted; what is not understood is taken to be so."""
    return all(_fulfils(_numbers(there), clause.strip()) for clause in wanted.split(","))


def lacks(commands: Iterable[Any]) -> list[Lack]:
    """Return what the commands cannot do for want of a package."""
    found = []
    for command in commands:
        wants = {"": needs_of(command), **may_need(command)}
        for option, modules in wants.items():
            missing = [module for module in modules if not package(module).usable]
            if missing:
                verb = "is" if len(missing) == 1 else "are"
                why = f"{', '.join(missing)} {verb} missing"
                found.append(
                    Lack(command.NAME, option, why, remedy(missing, _use(command, option)))
                )
    return found


def _use(command: Any, option: str) -> str:
    """Return of what an extra is for what this option of a command wants."""
    whole = f"{command.NAME} {option}"
    return max((use for use in EXTRA_FOR if whole.startswith(use)), key=len, default="")


def _fault(module: str, there: str, wanted: str) -> str:
    if not satisfies(there, wanted):
        return f"version {there}; wanted is {wanted}"
    if module in NOT_TRIED:
        return ""
    try:
        with warnings.catch_warnings(action="ignore"):
            importlib.import_module(module)
    except Exception as error:  # whatever a broken installation raises
        return f"cannot be imported: {type(error).__name__}: {error}"
    return ""


@cache
def _requirements() -> dict[str, tuple[str, str]]:
    """Return for each package that gp-pta names which versions it wants, and "" or an extra."""
    try:
        lines = requires(DISTRIBUTION) or []
    except PackageNotFoundError:  # run from a copy that is not installed
        lines = []
    found: dict[str, tuple[str, str]] = {}
    for line in lines:
        match = _REQUIREMENT.fullmatch(line.strip())
        if match:
            extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", match[3] or "")
            found.setdefault(_normal(match[1]), (match[2], extra[1] if extra else ""))
    return found


def _module(name: str) -> str:
    return MODULES.get(name, _normal(name))


def _normal(name: str) -> str:
    return name.lower().replace("-", "_")


def _numbers(text: str) -> list[int]:
    """Return the numbers of a release: 0.68.1rc1+cpu is 0, 68, 1."""
    release = re.match(r"\d+(?:\.\d+)*", text)
    return [int(number) for number in release[0].split(".")] if release else []


def _fulfils(there: list[int], clause: str) -> bool:
    match = _CLAUSE.fullmatch(clause)
    if match is None or not there:
        return True
    wanted = _numbers(match[2])
    length = len(wanted) if match[3] else max(len(wanted), len(there))
    a, b = ((numbers + [0] * length)[:length] for numbers in (there, wanted))
    return {
        ">=": a >= b, "<=": a <= b, "==": a == b, "!=": a != b, "<": a < b, ">": a > b
    }[match[1]]  # fmt: skip
