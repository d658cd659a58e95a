"""Small faults, drawn from a seed: do the tests notice them?

A fault changes one place of the product: a bound, a sign, a comparison, a unit, a check that is
dropped, an ear taken for the other. Every room gets at least two, limits of level and the journal
more. They are kept in `drawn.json`, and planted by `tests.faults.plant`, one at a time. A fault
whose line is gone is put where its code went, by hand; where that is nowhere, another is drawn:

    python -m tests.faults.draw
"""

import ast
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from itertools import cycle
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
KEPT: Final = Path(__file__).with_name("drawn.json")
SEED: Final = 31
FAULTS_A_FILE: Final = 2

# How many faults, and in which files; a file belongs to the first row that has it.
ROOMS: Final = (
    ("limits of level", 7, (
        "firmware_py/ear/levels.py", "firmware_py/session/masking.py",
        "firmware_py/board/sounds.py", "firmware_py/operator/manual_tone.py",
        "firmware_py/calibration/calibration.py", "firmware_py/operator/meter_tone.py",
        "device/tone_generator/server.py",
    )),
    ("inference", 8, ("firmware_py/inference/*",)),
    ("procedure", 8, (
        "firmware_py/terms/*", "firmware_py/ear/*", "firmware_py/presenting/*",
        "firmware_py/session/*", "firmware_py/comparisons/*",
    )),
    ("link", 3, ("firmware_py/link/*",)),
    ("journal", 5, ("firmware_py/journal/*",)),
    ("platform", 3, ("firmware_py/platform/*",)),
    ("calibration", 2, ("firmware_py/calibration/*",)),
    ("console", 2, ("firmware_py/console/*",)),
    ("board", 2, ("firmware_py/board/*",)),
    ("installation", 2, ("firmware_py/installation/*",)),
    ("sessions", 2, ("firmware_py/sessions/*",)),
    ("tuning", 2, ("firmware_py/tuning/*",)),
    ("operator", 2, ("firmware_py/operator/*",)),
    ("firmware", 2, ("firmware_py/*",)),
    ("board's program", 5, ("device/tone_generator/*",)),
    ("device", 4, ("device/*",)),
    ("page", 5, ("host_tools/commands/page/assets/*.js", "host_tools/drawing_js/*.js")),
    ("host commands", 2, ("host_tools/commands/*",)),
    ("host tools", 2, ("host_tools/*",)),
)  # fmt: skip
LEFT_OUT: Final = ("*/__init__.py", "*/document/*")

OTHER_EAR: Final = {"left": "right", "right": "left"}
COMPARED: Final = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
UNITS: Final = {"1000": "100", "1000.0": "100.0", "1e3": "1e2", "1e6": "1e5"}
OF_JAVASCRIPT: Final = (
    ("comparison", re.compile(r"(?<= )(<=|>=|===|!==|<|>)(?= )")),
    ("bound", re.compile(r"(?<![\w.#\"'-])\d+(?:\.\d+)?(?![\w.\"'])")),
    ("ear", re.compile(r"(?<=\")(left|right)(?=\")")),
    ("sign", re.compile(r"(?<=[\w)] )[+-](?= [\w(])")),
)


@dataclass(frozen=True)
class Fault:
    """What is changed: in this file and line, from this column on, one text for another.

    `text` is the line as it was when the fault was drawn: by it the line is found where the file
    has changed since.
    """

    path: str
    line: int
    column: int
    before: str
    after: str
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.kind}: {self.before!r} -> {self.after!r}"

    def line_in(self, source: str) -> int:
        """Return the number of its line in a source, counted from 1.

        Raises
        ------
        LookupError
            There is no such line any more.
        """
        lines = source.splitlines()
        same = [number for number, line in enumerate(lines, 1) if line == self.text]
        if not same:
            raise LookupError(f"{self}: there is no such line any more: {self.text.strip()}")
        return min(same, key=lambda number: abs(number - self.line))

    def in_source(self, source: str) -> str:
        lines = source.splitlines(keepends=True)
        number, end = self.line_in(source), self.column + len(self.before)
        lines[number - 1] = self.text[: self.column] + self.after + self.text[end:] + "\n"
        return "".join(lines)


def draw(seed: int = SEED, kept: Sequence[Fault] = ()) -> list[Fault]:
    """Return the faults of a seed: of each room so many, of every kind that it has in turn.

    `kept`: faults that stay; so many fewer are drawn.
    """
    chance = random.Random(seed)
    files, faults = _files(), list[Fault]()
    for _, count, patterns in ROOMS:
        here = [path for path in files if any(fnmatch(path, pattern) for pattern in patterns)]
        files = [path for path in files if path not in here]
        by_kind: dict[str, list[Fault]] = {}
        for fault in (fault for path in here for fault in _possible(path)):
            by_kind.setdefault(fault.kind, []).append(fault)
        kinds = sorted(by_kind)
        chance.shuffle(kinds)
        wanted = len(faults) + count
        faults += [fault for fault in kept if fault.path in here]
        for kind in cycle(kinds):
            if len(faults) >= wanted:
                break
            if spread := [fault for fault in by_kind[kind] if _is_elsewhere(fault, faults)]:
                faults.append(chance.choice(spread))
    return faults


def _is_elsewhere(fault: Fault, faults: list[Fault]) -> bool:
    """Return whether its line has no fault yet, and its file one at most."""
    lines = [other.line for other in faults if other.path == fault.path]
    return fault.line not in lines and len(lines) < FAULTS_A_FILE


def _files() -> list[str]:
    paths = (
        str(path.relative_to(ROOT))
        for top in ("firmware_py", "device", "host_tools")
        for path in (ROOT / top).rglob("*")
        if path.suffix in (".py", ".js")
    )
    return sorted(p for p in paths if not any(fnmatch(p, pattern) for pattern in LEFT_OUT))


def _possible(path: str) -> Iterator[Fault]:
    search = _in_javascript if path.endswith(".js") else _in_python
    yield from search(path, (ROOT / path).read_text())


def _in_javascript(path: str, source: str) -> Iterator[Fault]:
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith(("//", "*", "/*", "import")):
            continue
        for kind, pattern in OF_JAVASCRIPT:
            for found in pattern.finditer(line):
                after = _change(kind, found.group())
                yield Fault(path, number, found.start(), found.group(), after, kind, line)


def _change(kind: str, before: str) -> str:
    if kind == "comparison":
        strict = before if len(before) < 3 else before[:-1]
        after = COMPARED[strict]
        return after if strict == before else f"{after}="
    if kind == "ear":
        return OTHER_EAR[before]
    if kind == "sign":
        return "-" if before == "+" else "+"
    return _other_number(before)


def _other_number(before: str) -> str:
    return UNITS.get(before) or f"{2.0 * float(before) + 1.0:g}"


def _in_python(path: str, source: str) -> Iterator[Fault]:
    lines = source.splitlines()
    tree = ast.parse(source)
    hidden = {
        id(part)
        for node in ast.walk(tree)
        for passive in _passive(node)
        for part in ast.walk(passive)
    }
    for node in ast.walk(tree):
        if id(node) not in hidden:
            for where, before, after, kind in _in_node(node, lines):
                yield Fault(path, *where, before, after, kind, lines[where[0] - 1])


def _passive(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a node that decide nothing: annotations, docstrings, messages."""
    if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
        yield node.annotation
    if isinstance(node, ast.FunctionDef):
        yield from node.decorator_list
        if node.returns is not None:
            yield node.returns
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr):
        yield node
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node


def _in_node(node: ast.AST, lines: list[str]) -> Iterator[tuple[tuple[int, int], str, str, str]]:
    match node:
        case ast.Compare(left, [_], [right]):
            yield from _between(left, right, lines, COMPARED, "comparison")
        case ast.BinOp(left, ast.Add() | ast.Sub(), right) if not isinstance(left, ast.Constant):
            yield from _between(left, right, lines, {"+": "-", "-": "+"}, "sign")
        case ast.BoolOp(_, [left, right]):
            yield from _between(left, right, lines, {"and": "or", "or": "and"}, "condition")
        case ast.Constant(value=str() as word) if word in OTHER_EAR:
            text = _text(node, lines)
            yield (node.lineno, node.col_offset), text, text.replace(word, OTHER_EAR[word]), "ear"
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            text = _text(node, lines)
            if re.fullmatch(r"[\d_.e]+", text) and number not in (0, 1):
                kind = "unit" if text in UNITS else "bound"
                yield (node.lineno, node.col_offset), text, _other_number(text), kind
        case ast.If(test, [ast.Raise()], []) if test.lineno == test.end_lineno:
            yield (test.lineno, test.col_offset), _text(test, lines), "False", "dropped check"


def _text(node: ast.expr, lines: list[str]) -> str:
    line = lines[node.lineno - 1].encode()
    return line[node.col_offset : node.end_col_offset].decode()


def _between(
    left: ast.expr, right: ast.expr, lines: list[str], changes: dict[str, str], kind: str
) -> Iterator[tuple[tuple[int, int], str, str, str]]:
    """Yield the change of the operator between two operands on one line of ASCII."""
    line = lines[left.lineno - 1]
    if left.end_lineno != right.lineno or left.lineno != right.lineno or not line.isascii():
        return
    start, end = left.end_col_offset or 0, right.col_offset
    operator = line[start:end].strip(" ()")
    if operator in changes:
        column = line.index(operator, start)
        yield (left.lineno, column), operator, changes[operator], kind


def stored_faults() -> list[Fault]:
    """Return the faults that were drawn and are kept."""
    return [Fault(**fault) for fault in json.loads(KEPT.read_text())]


def _has_its_line(fault: Fault) -> bool:
    path = ROOT / fault.path
    return path.exists() and fault.text in path.read_text().splitlines()


if __name__ == "__main__":
    drawn = draw(kept=[fault for fault in stored_faults() if _has_its_line(fault)])
    words = json.dumps([asdict(fault) for fault in drawn], indent=1, ensure_ascii=False)
    KEPT.write_text(words + "\n")
