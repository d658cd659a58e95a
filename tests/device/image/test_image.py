"""What an image is: small, self-contained, described, and the same bytes every time."""

import ast
import hashlib
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from device.image.build import DEVICES, LAUNCHER, PAGE, STACK_BYTES_MAX, main
from device.image.commit import UNKNOWN
from device.image.compile import (
    DEFINE,
    NEVER_INLINED,
    ONCE,
    BuildError,
    compile_library,
    entries_of,
)
from device.image.kernels import LIBRARY_BYTES_MAX, refuse_more
from device.image.stack import deepest
from device.image.targets import TARGETS
from firmware_py import __version__
from firmware_py.inference import library as library_module
from firmware_py.inference.library import Library, LibraryError, source_digest
from firmware_py.platform.version import commit_of, full_version, program_words, with_commit
from tests.device.image.elf import undefined_symbols
from tests.device.image.image import PAGE_TEXT, ROOT, Image


@pytest.mark.parametrize("of", ["small_image", pytest.param("image", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", DEVICES)
def test_a_library_is_small_and_needs_nobody(
    of: str, name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Neither malloc nor libm: nothing is there to allocate with, or to differ in a last bit."""
    library, image = tmp_path / "kernels.so", request.getfixturevalue(of)
    compile_library(image.text, {"target": name}, TARGETS[name], library)
    assert undefined_symbols(library) == set()
    assert library.stat().st_size <= LIBRARY_BYTES_MAX


def test_a_library_has_the_kernels_that_python_calls_and_no_other(small_image: Image) -> None:
    assert entries_of(small_image.text) == [
        "elementary_exp", "elementary_log", "elementary_normal_cdf", "mixture_prediction_predict",
        "mixture_prediction_probability_of", "mixture_prediction_quantile",
    ]  # fmt: skip


def test_undefined_symbols_are_noticed() -> None:
    """The alarm rings: an extension module of Python asks for much."""
    import _struct

    if _struct.__spec__.origin == "built-in":
        pytest.skip("this Python has its extensions built in")
    assert "PyErr_SetString" in undefined_symbols(Path(_struct.__file__))


@pytest.mark.thorough
def test_two_builds_give_the_same_bytes(image: Image, tmp_path: Path) -> None:
    """From the first step on, in other processes, with another order of hashing."""
    program = (
        "import sys; from pathlib import Path; from device.image.build import assemble; "
        "from device.image.kernels import export; "
        "from device.image.targets import TARGETS; "
        "target, directory, source_commit, page = sys.argv[1:]; "
        "assemble(export(), TARGETS[target], Path(directory), source_commit, Path(page))"
    )
    manifest = json.loads((image.directory / "manifest.json").read_text())
    again = tmp_path / image.directory.name
    page = tmp_path / "page.html"
    page.write_text(PAGE_TEXT, encoding="ascii")
    image.run(
        "-c", program, manifest["target"], str(again), manifest["commit"], str(page),
        PYTHONHASHSEED="7", GP_PTA_KERNELS="jit",
    )  # fmt: skip
    packed = again.with_name(image.packed.name)
    assert packed.read_bytes() == image.packed.read_bytes()


def test_the_checksums_are_those_of_all_files(small_image: Image) -> None:
    lines = (small_image.directory / "SHA256SUMS").read_text().splitlines()
    told = {name: digest for digest, name in (line.split("  ") for line in lines)}
    found = {
        str(path.relative_to(small_image.directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in small_image.directory.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and path.name != "SHA256SUMS"
    }
    assert told == found
    prior = "firmware_py/inference/mixture/nhanes_prior.json"
    assert {prior, "gp-pta-device", "LICENSE", PAGE} <= set(told)


def statements_of(module: Path) -> tuple[str, list[int]]:
    """Return the statements of a module that are no docstrings, and their lines."""
    tree = ast.parse(module.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = node.body[ast.get_docstring(node) is not None :]
    return ast.dump(tree), [n.lineno for n in ast.walk(tree) if isinstance(n, ast.stmt)]


def test_a_module_does_on_the_same_lines_what_it_does_here_and_has_no_docstrings(
    small_image: Image,
) -> None:
    """But for those whose check sum the library of kernels has: they are the same bytes."""
    emptied = 0
    for module in sorted((small_image.directory / "firmware_py").rglob("*.py")):
        here = ROOT / module.relative_to(small_image.directory)
        if "inference" in module.parts:
            assert module.read_bytes() == here.read_bytes()
            continue
        assert statements_of(module) == statements_of(here), module
        documented = ast.parse(module.read_text("utf-8"))
        assert not ast.get_docstring(documented), module
        emptied += here.stat().st_size - module.stat().st_size
    assert emptied > 100_000


def test_a_page_that_is_not_there_is_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--page", str(tmp_path / "none.html"), "--out", str(tmp_path)]) == 1
    assert "none.html', which is no file" in capsys.readouterr().err


def test_an_image_says_what_it_was_made_from_without_git_and_has_the_operators_page(
    small_image: Image,
) -> None:
    manifest = json.loads((small_image.directory / "manifest.json").read_text())
    told = commit_of(small_image.directory)
    assert told == ("" if manifest["commit"] == UNKNOWN else manifest["commit"])
    assert not (small_image.directory / ".git").exists()
    assert (small_image.directory / PAGE).read_text("ascii") == PAGE_TEXT
    assert manifest["version"] == __version__
    assert re.fullmatch(r"[0-9a-f]{12}(-changed)?|unknown", manifest["commit"])
    assert manifest["sources"] == source_digest()
    assert set(manifest["stack_bytes"]) == set(entries_of(small_image.text))
    assert 0 < max(manifest["stack_bytes"].values()) <= STACK_BYTES_MAX
    assert manifest["numba"].startswith("0.68.")


@pytest.mark.thorough
def test_the_library_has_every_kernel_that_python_calls_and_the_stack_of_the_deepest_is_found(
    image: Image,
) -> None:
    from tests.inference.test_kernels import ENTRIES  # takes Numba

    stack_bytes = json.loads((image.directory / "manifest.json").read_text())["stack_bytes"]
    assert entries_of(image.text) == sorted(name.replace(".", "_") for name in ENTRIES)
    assert set(stack_bytes) == set(entries_of(image.text))
    assert 1000 < max(stack_bytes.values()) <= STACK_BYTES_MAX


def test_the_tar_is_the_directory(small_image: Image) -> None:
    with tarfile.open(small_image.packed) as tar:
        launcher = tar.extractfile(f"{small_image.directory.name}/gp-pta-device")
        assert launcher is not None
        assert launcher.read().decode() == LAUNCHER
        names = {member.name for member in tar.getmembers()}
        modes = {member.mode for member in tar.getmembers() if member.name.endswith("-device")}
    assert modes == {0o755}
    assert not any("__pycache__" in name for name in names)
    assert f"{small_image.directory.name}/firmware_py/inference/kernels.so" in names


@pytest.mark.thorough
def test_the_version_names_target_and_commit(image: Image) -> None:
    manifest = json.loads((image.directory / "manifest.json").read_text())
    own = with_commit(__version__, commit_of(image.directory))
    done = subprocess.run(
        [sys.executable, str(image.directory / "gp-pta-device"), "--version"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == (
        f"gp-pta-device {program_words().replace(full_version(), own)}, "
        f"ready-made kernels for {manifest['target']}, commit {manifest['commit']}\n"
    )


def test_a_library_of_other_kernels_is_refused(
    small_image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = source_digest()
    monkeypatch.setattr(library_module, "source_digest", lambda: "01234567")
    library = small_image.library
    words = rf"{library} was made from other kernels \({own}\) than those .* \(01234567\)"
    with pytest.raises(LibraryError, match=words):
        Library(library)


def test_what_is_larger_than_it_may_be_is_no_image() -> None:
    refuse_more("the library has", 226_000, LIBRARY_BYTES_MAX)
    with pytest.raises(BuildError, match="the library has 226001 bytes; allowed are 226000"):
        refuse_more("the library has", 226_001, LIBRARY_BYTES_MAX)


@pytest.mark.thorough
def test_what_is_never_inlined_are_kernels(image: Image) -> None:
    """Under other names LLVM would inline them again, and the library would be larger."""
    names = [found[1] for found in DEFINE.finditer(image.text)]
    assert [NEVER_INLINED in name for name in names].count(True) == 1
    for once in ONCE:
        assert any(once in name for name in names), once


def test_the_stack_of_a_function_is_that_of_the_deepest_way_through_it_if_it_has_a_bound() -> None:
    calls = {"a": {"b", "c"}, "b": {"d"}, "c": set(), "d": set()}
    assert deepest({"a": 100, "b": 10, "c": 16, "d": 20}, calls, "a") == 130 + 3 * 8
    with pytest.raises(BuildError, match="a calls itself: its stack has no bound"):
        deepest({}, {"a": {"b"}, "b": {"a"}}, "a")
