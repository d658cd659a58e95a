"""Packages that only some commands need: what is missing, and which extra of gp-pta has it."""

import re
import shlex
import sys
from collections import defaultdict
from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from host_tools.errors import HostError

DISTRIBUTION: Final = "gp-pta"
CHECKOUT: Final = Path(__file__).parents[1]  # if it is one: it has a pyproject.toml
_REQUIREMENT: Final = re.compile(r"([A-Za-z0-9._-]+).*;\s*extra\s*==\s*['\"]([^'\"]+)['\"]")


def need(what: str, *modules: str) -> None:
    """Refuse to begin without what it takes.

    Parameters
    ----------
    what : str
        A command or an option, for the message.
    *modules : str
        Third-party modules, by the name they are imported by.

    Raises
    ------
    HostError
        If one is not installed.
    """
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise HostError(f"{what} needs {', '.join(missing)}, not installed: {remedy(missing)}")


def remedy(modules: Collection[str]) -> str:
    """Return the command that installs these modules, for this interpreter, to paste in a shell.

    In a checkout the extra is that of the checkout: no index has to know gp-pta.
    """
    wanted = {_normal(name) for name in modules}
    found = [extra for extra, packages in _extras().items() if wanted <= packages]
    if not found:
        return _pip_install(*sorted(modules))
    smallest = min(found, key=lambda extra: len(_extras()[extra]))
    if (CHECKOUT / "pyproject.toml").is_file():
        return _pip_install("--editable", f"{CHECKOUT}[{smallest}]")
    return _pip_install(f"{DISTRIBUTION}[{smallest}]")


def _pip_install(*arguments: str) -> str:
    return shlex.join([sys.executable, "-m", "pip", "install", *arguments])


def _extras() -> dict[str, set[str]]:
    """Return the packages of each extra."""
    extras: dict[str, set[str]] = defaultdict(set)
    try:
        lines = requires(DISTRIBUTION) or []
    except PackageNotFoundError:  # run from a copy that is not installed
        lines = []
    for line in lines:
        match = _REQUIREMENT.match(line)
        if match:
            extras[match[2]].add(_normal(match[1]))
    return extras


def _normal(name: str) -> str:
    return name.lower().replace("-", "_")
