"""Classes that people bring: named as `package.module:Class`, or by an entry point of a package."""

import hashlib
import importlib
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from inspect import getsourcefile
from pathlib import Path
from traceback import extract_tb
from typing import Any, Final, Self

from firmware_py.platform.named_file import content_of

BETWEEN: Final = ":"  # module and class
SOURCE_BYTES_MAX: Final = 2**24
INSTALLED: Final = "site-packages"
OURS: Final = ("__main__", "device", "firmware_py", "host_tools")  # no modules of somebody's own


class OwnCodeError(ValueError):
    """A name that leads to no class, or to one that lacks something; the message says which."""

    @classmethod
    def of(cls, error: Exception) -> Self:
        """Return what says that a class of somebody's own raised this, and on which line."""
        place = extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        return cls(f"raised {type(error).__name__}: {error} ({where})")


def names_in(group: str) -> list[str]:
    """Return the names that installed packages have in a group of entry points."""
    return sorted({point.name for point in entry_points(group=group)})


def is_own(text: str, group: str) -> bool:
    """Return whether a text names a class of somebody's, rightly or not."""
    return BETWEEN in text or text in names_in(group)


@cache
def class_named(text: str, group: str, methods: Sequence[str]) -> Any:
    """Return the class that a text names, which has to have these methods.

    `text` is `package.module:Class`, looked for in the current directory, too; or the name of an
    entry point of the group. An `OwnCodeError` if there is no such module or class, two packages
    have the name, or a method is missing.
    """
    place = text if BETWEEN in text else _place_of(text, group)
    module_name, _, name = place.partition(BETWEEN)
    module = _module(text, module_name)
    found = getattr(module, name, None)
    if not isinstance(found, type):
        has = [n for n, each in vars(module).items() if isinstance(each, type)]
        own = [n for n in has if getattr(module, n).__module__ == module.__name__]
        told = f"its classes are {', '.join(own)}" if own else "it has none"
        raise OwnCodeError(f"{text!r}: {module_name} has no class {name!r}; {told}")
    # In the class itself: every class has a __call__ of `type`, by which it is made.
    missing = [n for n in methods if not any(callable(vars(c).get(n)) for c in found.__mro__)]
    if missing:
        raise OwnCodeError(
            f"{text!r}: {name} lacks {', '.join(missing)}; wanted are {', '.join(methods)}"
        )
    return found


def digest_of_source(found: type) -> str:
    """Return the SHA-256 of the file that a class stands in, and of modules beside it.

    "": nobody knows the file.
    """
    path = getsourcefile(found)
    if path is None:
        return ""
    digest = hashlib.sha256()
    for each in [Path(path), *_beside(Path(path))]:
        digest.update(hashlib.sha256(content_of(each, SOURCE_BYTES_MAX)).digest())
    return digest.hexdigest()


def _beside(path: Path) -> list[Path]:
    """Return the other modules that are loaded from the folder of a file and below it.

    What is installed there counts only if it is of the same package, and this program never.
    """
    files = {
        Path(file)
        for name, module in [*sys.modules.items()]
        if (file := getattr(module, "__file__", None)) and name.partition(".")[0] not in OURS
    }
    return sorted(
        each
        for each in files - {path}
        if each.is_relative_to(path.parent)
        and each.suffix == ".py"
        and INSTALLED not in each.relative_to(path.parent.parent).parts
    )


def _place_of(name: str, group: str) -> str:
    points: list[EntryPoint] = [*entry_points(group=group, name=name)]
    places = {point.value for point in points}
    if not places:
        known = ", ".join(names_in(group)) or "none"
        raise OwnCodeError(f"{name!r} is no entry point of {group}; installed are {known}")
    if len(places) > 1:
        raise OwnCodeError(
            f"{name!r} is an entry point of {group} twice, {' and '.join(sorted(places))}; name "
            "one of these instead"
        )
    return places.pop()


def _module(text: str, name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:  # as with `python -m`; processes that are started have it, too
        sys.path.append(here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        if name != missing and not name.startswith(f"{missing}."):
            raise OwnCodeError(f"{text!r}: {name} imports {missing}, which is missing") from None
        raise OwnCodeError(
            f"{text!r}: there is no module {missing!r}, neither installed nor in {here}"
        ) from None
    except Exception as error:
        words = f"{type(error).__name__}: {error}"
        raise OwnCodeError(f"{text!r}: {name} cannot be imported: {words}") from error
