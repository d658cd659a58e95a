"""The constants of the procedure and of stopping, each one step up and one step down."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.panel.changes import Change

ROOT: Final = Path(__file__).parents[2]
MODULES: Final = (
    "firmware_py/ear/*.py", "firmware_py/session/*.py", "firmware_py/presenting/pace.py",
    "firmware_py/presenting/silent_time.py", "firmware_py/inference/between.py",
    "firmware_py/inference/enough.py", "firmware_py/inference/stories.py",
)  # fmt: skip
STEP: Final = 0.1  # of what is no small whole number
WHOLE_MAX: Final = 1000  # a larger one is a duration
LIKELY: Final = 0.8  # of a probability above this the rest is moved
# They decide nothing that is asked or found: what is told on the way, digits, numerics, standards.
LEFT_OUT: Final = frozenset({
    "LEVEL_DIGITS", "SHARE_DIGITS", "ROUNDING_OCTAVES", "_QUADRATURE",
    "OF_EAR_MAX", "GRADES_DB_HL", "ROWS", "COLUMNS", "COUNTS", "SILENT_ROW", "PRESSING_ROW",
    "_LOG_2PI", "LOG_ODDS_MAX", "NOTHING_DB", "OWN_DB_PER_OCTAVE", "OWN_DB_MAX",
})  # fmt: skip


def constants() -> dict[str, tuple[Change, ...]]:
    """Return the changes by name: the module's last part, the constant, and up or down."""
    return {
        f"{path.stem}.{name} {way}": (Change(_module(path), code, name),)
        for pattern in MODULES
        for path in sorted(ROOT.glob(pattern))
        if path.stem != "time_to_go"
        for name, value in _numbers(ast.parse(path.read_text()))
        if name not in LEFT_OUT and not name.endswith(("_HZ", "_HZ_MAX"))
        for way, code in (("up", _moved(value, 1)), ("down", _moved(value, -1)))
    }


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def _numbers(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the constants of a module whose value holds a number."""
    for statement in tree.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value) if name.isupper():
                if _is_own(value):
                    yield name, value


def _is_own(value: ast.expr) -> bool:
    """Return whether a value holds a number, and rests on no other constant."""
    parts = [*ast.walk(value)]
    others = [each for each in parts if isinstance(each, ast.Name) and each.id.isupper()]
    numbers = [each for each in parts if isinstance(each, ast.Constant) and _is_number(each.value)]
    return bool(numbers) and not others


def _is_number(value: object) -> bool:
    return type(value) in (int, float)


class _Move(ast.NodeTransformer):
    def __init__(self, way: int) -> None:
        self._way = way

    def visit_Dict(self, node: ast.Dict) -> ast.Dict:
        return ast.Dict(node.keys, [self.visit(each) for each in node.values])

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        """Move a fraction by what is above its line: moved alike, both would leave it the same."""
        right = node.right if isinstance(node.op, ast.Div) else self.visit(node.right)
        return ast.BinOp(self.visit(node.left), node.op, right)

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        value = node.value
        if not isinstance(value, int | float) or isinstance(value, bool):
            return node
        if isinstance(value, int) and value < WHOLE_MAX:
            return ast.Constant(value + self._way)
        factor = (1.0 + STEP) ** self._way
        if LIKELY < value < 1.0:
            return ast.Constant(1.0 - (1.0 - value) / factor)
        return ast.Constant(type(value)(value * factor))


def _moved(value: ast.expr, way: int) -> str:
    """Return the code of a value all of whose numbers are a step higher, or lower."""
    copy = ast.parse(ast.unparse(value), mode="eval").body
    return ast.unparse(_Move(way).visit(copy))
