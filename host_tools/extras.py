"""Packages that only some commands need: which are missing, and the extra that has them."""

import re
import shlex
import sys
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from host_tools.errors import HostError

DISTRIBUTION: Final = "gp-pta"
# The extra that a command needs, or an option of it. The pages name the same one, and so do errors,
# whichever of its packages is missing.
EXTRA_FOR: Final = {
    "demo --board emulated": "emulator",
    "demo --fit": "report",
    "listen": "audio",
    "tune": "audio",
    "simulate --board emulated": "emulator",
    "console": "host",
    "page PORT": "host",
    "page --guide -o FILE.pdf": "report",
    "replay --picture": "report",
    "report -o PICTURE": "report",
    "prescribe -o PICTURE": "report",
    "export --format parquet": "export",
    "sessions --format parquet": "export",
    "install-board": "host",
    "study": "study",
    "study --dask": "dask",
    "learn-prior": "study",
    "nhanes": "study",
    "completion": "host",
}
MODULES: Final = {"pyserial": "serial", "quickjs-ng": "quickjs"}  # of another name than the package
CHECKOUT: Final = Path(__file__).parents[1]  # if it is one: it has a pyproject.toml
_REQUIREMENT: Final = re.compile(
    r"([A-Za-z0-9._-]+)\s*([^;]*?)\s*(?:;(?:.*extra\s*==\s*['\"]([^'\"]+))?.*)?"
)


@dataclass(frozen=True)
class Requirement:
    """A package that gp-pta names: which versions of it (">=14"), for which extra ("": always)."""

    name: str
    wanted: str
    extra: str


def need(what: str, *modules: str, use: str = "") -> None:
    """Refuse to begin if a module that is needed is not installed.

    `what` is a command or an option, for the message; `use` its entry of `EXTRA_FOR`.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise HostError(f"{what} needs {', '.join(missing)}, not installed: {remedy(missing, use)}")


def remedy(modules: Collection[str], use: str = "") -> str:
    """Return the command that installs these modules, for this interpreter, to paste in a shell.

    It names the extra of the use, and the smallest one that has what that extra lacks. In a
    checkout pip installs the extra of the checkout itself, so gp-pta need not be in an index.
    """
    extras: dict[str, set[str]] = defaultdict(set)
    for requirement in requirements():
        extras[requirement.extra].add(normal(requirement.name))
    extras.pop("", None)
    names = [name for name in [EXTRA_FOR.get(use)] if name in extras]
    lacking = {normal(name) for name in modules}.difference(*(extras[name] for name in names))
    if lacking:
        found = [extra for extra, packages in extras.items() if lacking <= packages]
        if not found:
            return _pip_install(*sorted(modules))
        names.append(min(found, key=lambda extra: len(extras[extra])))
    if (CHECKOUT / "pyproject.toml").is_file():
        return _pip_install("--editable", f"{CHECKOUT}[{','.join(names)}]")
    return _pip_install(f"{DISTRIBUTION}[{','.join(names)}]")


def _pip_install(*arguments: str) -> str:
    return shlex.join([sys.executable, "-m", "pip", "install", *arguments])


@cache
def requirements() -> tuple[Requirement, ...]:
    """Return what this installation says that gp-pta requires; none if it is not installed."""
    from importlib.metadata import PackageNotFoundError, requires  # the mail's parser with it

    try:
        lines = requires(DISTRIBUTION) or []
    except PackageNotFoundError:  # run from a copy that is not installed
        lines = []
    found = map(_REQUIREMENT.fullmatch, lines)
    return tuple(Requirement(m[1], m[2], m[3] or "") for m in found if m)


def normal(name: str) -> str:
    """Return the name by which a package is imported."""
    return MODULES.get(name, name.lower().replace("-", "_"))
