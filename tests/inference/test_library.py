"""Which kernels are used, and how arrays are passed to a library of them."""

import ast
import copy
import ctypes
import gc
import os
import shutil
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from firmware_py.inference import library as library_module
from firmware_py.inference.estimator import ThresholdEstimator
from firmware_py.inference.kernel import Matrix, Vector
from firmware_py.inference.laplace.arrays import Trials
from firmware_py.inference.library import (
    BESIDE,
    REMEDY,
    VARIABLE,
    ArrayConverter,
    Library,
    LibraryError,
    check_sum,
    chosen_library,
    converters_of,
    hold,
    runs_on,
    source_digest,
)
from firmware_py.inference.mixture.arrays import Tones

ROOT = Path(__file__).parents[2]


@pytest.fixture
def library(request: pytest.FixtureRequest) -> Path:
    """Return a library of kernels that this machine can use."""
    for path in (Path(os.environ.get(VARIABLE, "")), BESIDE):
        if path.is_file():
            return path
    made: Path = request.getfixturevalue("image").library
    return made


def describe(pointer: Any) -> tuple[int, tuple[int, ...]]:
    return as_seen(at(pointer))


def at(pointer: Any) -> Any:
    return pointer._obj


def as_seen(description: Any) -> tuple[int, tuple[int, ...]]:
    return description.data, tuple(description.shape)


def test_an_array_is_passed_as_its_address_and_shape() -> None:
    array = np.arange(12.0).reshape(3, 4)
    address, shape = describe(ArrayConverter("float64", 2).from_param(array))
    assert shape == (3, 4, 0)
    found = (ctypes.c_double * array.size).from_address(address)
    assert list(found) == list(range(12))


def test_an_array_is_looked_at_once() -> None:
    converter, array = ArrayConverter("float64", 1), np.zeros(3)
    assert converter.from_param(array) is converter.from_param(array)


def test_an_array_that_is_gone_is_forgotten() -> None:
    """Another one may come to lie at its place."""
    converter = ArrayConverter("float64", 1)
    for size in range(1, 50):
        array = np.zeros(size)
        assert describe(converter.from_param(array))[1] == (size, 0, 0)
        del array
    gc.collect()
    assert converter._known == {}


class Pair(NamedTuple):
    """A group as kernels have it."""

    line: Vector
    rows: Matrix


class Owner:
    """Has a group."""

    def __init__(self) -> None:
        self.pair = Pair(np.arange(3.0), np.ones((2, 5)))


def test_a_group_is_passed_as_a_table_of_its_arrays() -> None:
    pair = Owner().pair
    (converter,) = converters_of(Pair)
    assert converters_of(Pair)[0] is converter
    assert [*map(as_seen, at(converter.from_param(pair)))] == [
        (pair.line.ctypes.data, (3, 0, 0)), (pair.rows.ctypes.data, (2, 5, 0))
    ]  # fmt: skip


def test_a_group_is_held_while_its_owner_lives() -> None:
    (converter,) = converters_of(Pair)
    owners = [Owner() for _ in range(3)]
    for owner in owners:
        hold([owner.pair], owner)
    owner = owners[1]
    assert converter.from_param(owner.pair) is converter.from_param(owner.pair)
    same = Pair(*owner.pair)  # of the same arrays, and yet another: its owner may be gone first
    assert converter.from_param(same) is not converter.from_param(same)
    assert {id(each) for _, each in converter.held.values()} == {id(o.pair) for o in owners}
    gone = weakref.ref(owner.pair.line)
    owners.remove(owner)
    del owner, same
    gc.collect()
    assert gone() is None
    assert len(converter.held) == len(owners)


@pytest.mark.parametrize(("profile", "group"), [("default", Tones), ("gp-pta-2015", Trials)])
def test_an_estimator_and_its_copies_are_held_while_they_live(
    profile: str, group: type[tuple[Any, ...]]
) -> None:
    """Also one that takes in bends, for which it makes room anew."""
    if chosen_library() is None:
        pytest.skip("Numba takes the arrays themselves")
    (converter,) = converters_of(group)

    def count() -> int:
        gc.collect()
        return len(converter.held)

    before = count()
    estimator = ThresholdEstimator(profile, max_trials=4)
    other = copy.deepcopy(estimator)
    assert count() - before == 2
    other.observe(1337.0, 40.0, True)
    assert count() - before == 2
    del other
    assert count() - before == 1
    del estimator
    assert count() == before


@pytest.mark.parametrize(
    "wrong", [[np.zeros(3), np.ones((2, 5))], (np.zeros(3),), np.zeros(2), (np.zeros(3),) * 2]
)
def test_another_group_is_a_type_error(wrong: Any) -> None:
    (converter,) = converters_of(Pair)
    with pytest.raises(TypeError, match="No matching definition: a kernel takes a"):
        converter.from_param(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        np.ones(3, np.float32),
        np.ones(3, np.int64),
        np.ones((2, 2)),
        np.ones(6)[::2],
        np.frombuffer(bytes(24)),
        [1.0],
        1.0,
    ],
    ids=repr,
)
def test_another_array_is_a_type_error_as_under_the_jit(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"No matching definition: .* float64 with 1 dimensions"):
        ArrayConverter("float64", 1).from_param(wrong)


def test_a_file_that_is_no_library_is_named(tmp_path: Path) -> None:
    path = tmp_path / BESIDE.name
    with pytest.raises(LibraryError, match=rf"^{path} cannot be read: No such file or directory$"):
        Library(path)
    path.write_text("nothing of that kind")
    with pytest.raises(LibraryError, match=rf"^{path} is no library of kernels for this machine$"):
        Library(path)


def test_a_library_of_something_else_is_named(tmp_path: Path) -> None:
    other = Path(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
    with pytest.raises(LibraryError, match=r"is no library of kernels, or is damaged$"):
        Library(other)
    path = tmp_path / "other.so"
    path.write_bytes(other.read_bytes() + check_sum(other.read_bytes()))
    with pytest.raises(LibraryError, match=r"is no library of kernels for this machine$"):
        Library(path)


@pytest.mark.parametrize("left_bytes", [0, 100, 5000, -1])
@pytest.mark.parametrize("zeros", [0, 100_000])
def test_a_library_that_is_not_whole_is_not_loaded(
    tmp_path: Path, library: Path, left_bytes: int, zeros: int
) -> None:
    """To load it would end the process without a word."""
    path = tmp_path / BESIDE.name
    path.write_bytes(library.read_bytes()[:left_bytes] + bytes(zeros))
    with pytest.raises(LibraryError, match=rf"^{path} is no library of kernels"):
        Library(path)


def test_it_is_said_what_runs_the_kernels() -> None:
    library = chosen_library()
    if library is None:
        assert runs_on() == f"kernels compiled here by Numba for {os.uname().machine}"
    else:
        assert runs_on().startswith(f"ready-made kernels for {library.about['target']}, commit ")


IMPORT = (
    "import sys; sys.modules.update({}); import firmware_py.inference.kernel as k; print(k.LIBRARY)"
)


@pytest.mark.parametrize("numba", [True, False])
@pytest.mark.parametrize("whose", ["another machine", "other kernels"])
def test_a_library_that_is_there_and_cannot_be_used_is_named(
    tmp_path: Path, library: Path, whose: str, numba: bool
) -> None:
    """Numba takes its place where it is; who changes a kernel has such a library."""
    package = tmp_path / "firmware_py"
    unneeded = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "firmware_py", package, ignore=unneeded)
    library = Path(shutil.copy(library, package / "inference" / BESIDE.name))
    if whose == "other kernels":
        (package / "inference" / "scales.py").write_text("# changed\n")
        why = f"{library} was made from other kernels"
    else:
        elf = b"\x7fELF and nothing more"
        library.write_bytes(elf + check_sum(elf))
        why = f"{library} is no library of kernels for this machine"
    done = subprocess.run(
        [sys.executable, "-c", IMPORT.format({} if numba else {"numba": None})],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={name: value for name, value in os.environ.items() if name != VARIABLE},
    )  # fmt: skip
    *_, last = done.stderr.splitlines()
    if numba:
        assert (done.returncode, done.stdout) == (0, "None\n")
        assert last.startswith(f"gp-pta: {why}")
        assert last.endswith("; Numba is used instead")
    else:
        assert done.returncode == 1
        assert last.startswith(f"firmware_py.inference.library.LibraryError: {why}")
        assert last.endswith(f"; {REMEDY}")


@pytest.mark.parametrize(
    ("name", "constant", "is_in_kernel"),
    [
        ("elementary.py", "LOG_2: Final = ", True),
        ("laplace/arrays.py", "CURVATURE: Final = ", True),  # it has no kernel of its own
        ("enough.py", "ANSWERS_MIN: Final = ", False),
        ("laplace/standard_audiograms.py", "FREQUENCIES_HZ = (", False),
    ],
)
def test_kernels_are_others_after_a_change_of_what_is_in_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, constant: str, is_in_kernel: bool
) -> None:
    """And after no other: to make them takes a minute."""
    package = tmp_path / "inference"
    unneeded = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "firmware_py" / "inference", package, ignore=unneeded)
    monkeypatch.setattr(library_module, "__file__", str(package / "library.py"))
    assert source_digest.__wrapped__() == source_digest()
    source = (package / name).read_text("utf-8")
    assert constant in source
    (package / name).write_text(source.replace(constant, f"{constant}1"), "utf-8")
    assert (source_digest.__wrapped__() != source_digest()) is is_in_kernel


def test_without_a_library_and_without_numba_the_firmware_says_so(tmp_path: Path) -> None:
    command = "import sys; sys.modules['numba'] = None; from firmware_py.main import main; "
    done = subprocess.run(
        [sys.executable, "-c", command + "sys.exit(main(sys.argv[1:]))",
         "--tone-generator", "t", "--console", "c", "--data", str(tmp_path)],
        cwd=ROOT, env={**os.environ, "GP_PTA_KERNELS": "jit"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        2,
        "gp-pta-device: there is no library of kernels beside the firmware, and numba is not "
        f"installed; {REMEDY}\n",
    )


def test_a_library_that_was_asked_for_and_is_not_there_is_not_replaced() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "firmware_py.main", "--version"],
        cwd=ROOT, env={**os.environ, "GP_PTA_KERNELS": "/nowhere/kernels.so"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "gp-pta-device: GP_PTA_KERNELS: /nowhere/kernels.so cannot be read: No such file or "
        "directory; allowed are jit, for Numba, and the path of a library\n"
    )


def test_it_knows_all_that_the_modules_of_kernels_import() -> None:
    """It looks for imports with a pattern: one of another form would go unseen."""
    known = {path: path.read_text(encoding="utf-8") for path in library_module.sources()}
    top = Path(library_module.__file__).parents[2]
    missing = {
        (path.name, name)
        for path, source in known.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("firmware_py.")
        for name in (str(node.module), *(f"{node.module}.{each.name}" for each in node.names))
        if (file := top / f"{name.replace('.', '/')}.py").is_file() and file not in known
    }

    assert missing == set()
