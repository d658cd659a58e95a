"""Changes of the product for one process: another value of a constant, code after a module.

The source is changed as it is imported, so that what is derived from a constant follows it. Kernels
that were compiled before do not.
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Final

from firmware_py.inference.library import JIT, JIT_UNCACHED

COMPILED: Final = ("firmware_py.inference.stories",)  # constants of which stand in kernels


@dataclass(frozen=True)
class Change:
    """What is another in a module, by its whole name.

    `code` runs at the module's end, or is the new value of `constant`, a name that it binds once.
    """

    module: str
    code: str
    constant: str = ""


def kernels_with(changes: Sequence[Change]) -> str:
    """Return which kernels follow these changes: compiled anew where a constant stands in one."""
    return JIT_UNCACHED if any(each.module in COMPILED for each in changes) else JIT


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles a module with its changes, and keeps no byte code of it."""

    changes: Sequence[Change] = ()

    def get_code(self, fullname: str) -> object:  # type: ignore[override]
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        for change in self.changes:
            _apply(change, tree)
        return compile(ast.fix_missing_locations(tree), path, "exec")


def _apply(change: Change, tree: ast.Module) -> None:
    if not change.constant:
        tree.body += ast.parse(change.code).body
        return
    found = [each for each in tree.body if _bound(each) == change.constant]
    if len(found) != 1:
        raise ImportError(f"{change.module} binds {change.constant} {len(found)} times, not once")
    (assignment,) = found
    assert isinstance(assignment, ast.Assign | ast.AnnAssign)
    assignment.value = ast.parse(change.code, mode="eval").body


def _bound(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
            return name
        case _:
            return ""


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, changes: Sequence[Change]) -> None:
        self._changes = changes

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        mine = [each for each in self._changes if each.module == fullname]
        spec = PathFinder.find_spec(fullname, path, target) if mine else None
        if spec is None or spec.origin is None:
            return None
        loader = _Loader(fullname, spec.origin)
        loader.changes = mine
        return importlib.util.spec_from_loader(fullname, loader)


def install(changes: Sequence[Change]) -> Callable[[], None]:
    """Have what is imported from now on be changed; return what checks that all of it was.

    An `ImportError`: a module is imported already, or, when it is checked, is not imported.
    """
    for change in changes:
        if change.module in sys.modules:
            raise ImportError(f"{change.module} is imported already: it cannot be changed")
    sys.meta_path.insert(0, _Finder(changes))

    def check() -> None:
        for change in changes:
            if change.module not in sys.modules:
                raise ImportError(f"nothing imports {change.module}: its change changes nothing")

    return check
