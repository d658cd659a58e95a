"""What Numba refuses in a kernel, where compiled kernels are kept, and what is said meanwhile."""

import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache as cache_of
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from firmware_py.inference import jit as jit_module
from firmware_py.inference.jit import compile_apart, compile_function
from firmware_py.inference.library import COMPILING, JIT, JIT_UNCACHED, VARIABLE

ROOT = Path(__file__).parents[2]
REFUSED = r"NRT required but not enabled|Only accept returning of array passed into"


def _allocates_an_array(n: int) -> float:
    return float(np.zeros(n)[0])


def _makes_a_temporary(v: Any) -> float:
    return float((v + 1.0)[0])


def _copies_a_slice(v: Any) -> float:
    return float(v[1:].copy()[0])


def _grows_a_list(n: int) -> int:
    return len([i for i in range(n)])  # noqa: C416


def _first(v: Any) -> float:
    return float(v[0])


def _calls_what_allocates(n: int) -> float:
    return float(inner(n))


inner = compile_function(_allocates_an_array)


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (_allocates_an_array, 3),
        (_makes_a_temporary, np.ones(3)),
        pytest.param(_copies_a_slice, np.ones(3), marks=pytest.mark.thorough),
        pytest.param(_grows_a_list, 3, marks=pytest.mark.thorough),
        (_calls_what_allocates, 3),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_allocation_in_a_kernel_does_not_compile(function: Any, argument: Any) -> None:
    """The guard bites; without it the same function compiles and runs."""
    with pytest.raises(numba.core.errors.NumbaError, match=REFUSED):
        compile_function(function)(argument)
    if function is not _calls_what_allocates:
        numba.njit(function)(argument)


def test_allocation_in_an_entry_does_not_even_import() -> None:
    with pytest.raises(numba.core.errors.NumbaError, match=REFUSED):
        compile_function(_allocates_an_array, "float64(int64)")


def test_entry_refuses_other_types() -> None:
    first = compile_function(_first, "float64(float64[::1])")
    assert first(np.array([2.5])) == 2.5
    for wrong in (np.ones(3, dtype=np.float32), np.ones((2, 2)), np.ones(6)[::2], 1.0):
        with pytest.raises(TypeError, match="No matching definition"):
            first(wrong)


# What compiles, if it does not stumble over a torn file: twenty seconds shorter than the real one.
COMPILER = """\
#!/bin/sh
test ! -e "{cache}/torn" && mkdir -p "{cache}" && touch "{cache}/complete"
"""


@pytest.mark.parametrize("torn", [False, True])
def test_a_cache_that_a_power_cut_left_torn_is_made_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torn: bool
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "good").touch()
    if torn:
        (cache / "torn").touch()
    _compile_with(COMPILER.format(cache=cache), tmp_path, monkeypatch)
    monkeypatch.setattr(jit_module, "_cache_directory", lambda: str(cache))

    compile_apart()

    left = {path.name for path in cache.iterdir()}
    assert left == ({"compiling", "complete"} if torn else {"compiling", "complete", "good"})


@pytest.mark.parametrize(
    ("told", "used"),
    [("{}/cache", "cache"), ("relative/is/not/allowed", "home/.cache"), ("", "home/.cache")],
)
def test_where_the_package_cannot_be_written_kernels_are_in_the_cache_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str, used: str
) -> None:
    """A relative path is ignored, by the XDG Base Directory Specification."""
    (tmp_path / "package").touch()  # no directory: nothing can be in it
    monkeypatch.setattr(jit_module, "__file__", str(tmp_path / "package" / "jit.py"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", told.format(tmp_path))
    monkeypatch.delenv(VARIABLE, raising=False)

    found = jit_module._cache_directory.__wrapped__()
    assert found is not None
    assert Path(found).parent == tmp_path / used / "gp-pta"
    assert Path(found).is_dir()
    assert not (tmp_path / "relative").exists()


# It notes that it runs, and goes on when something is written to a pipe.
SLOW_COMPILER = """\
#!/bin/sh
echo ran >> "{cache}/../runs"
read -r line < "{cache}/../go"
touch "{cache}/complete"
"""
HANG_S = 120.0


def until(happened: Callable[[], bool]) -> None:
    """Wait for an event that one only can look for."""
    gives_up_s = time.monotonic() + HANG_S
    while not happened():
        assert time.monotonic() < gives_up_s
        time.sleep(0.01)


@pytest.fixture
def slow_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cache = tmp_path / "cache"
    cache.mkdir()
    os.mkfifo(tmp_path / "go")
    _compile_with(SLOW_COMPILER.format(cache=cache), tmp_path, monkeypatch)
    monkeypatch.setattr(jit_module, "_cache_directory", lambda: str(cache))
    return cache


def _compile_with(script: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = place / "compiler"
    compiler.write_text(script)
    compiler.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(compiler))


def test_of_two_first_starts_one_compiles_and_the_other_waits(
    slow_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = io.StringIO()  # what pytest captures cannot be read while it is written
    monkeypatch.setattr(sys, "stderr", said)

    with ThreadPoolExecutor() as pool:
        both = [pool.submit(compile_apart) for _ in range(2)]
        until(lambda: said.getvalue().endswith("\n"))
        (slow_cache.parent / "go").write_text("on\n")
        for done in both:
            done.result()

    assert (slow_cache.parent / "runs").read_text() == "ran\n"
    assert said.getvalue() == "gp-pta: another process is compiling the kernels; waiting for it\n"


def test_after_a_compilation_that_was_killed_the_next_start_compiles(slow_cache: Path) -> None:
    pid = os.fork()
    if pid == 0:  # the lock of a process that is no more is nobody's
        compile_apart()
        os._exit(0)
    runs = slow_cache.parent / "runs"
    until(runs.exists)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert not (slow_cache / "complete").exists()

    with ThreadPoolExecutor() as pool:
        done = pool.submit(compile_apart)
        until(lambda: runs.read_text() == "ran\nran\n")
        (slow_cache.parent / "go").write_text("on\n")  # to this compiler, or to the orphan
        done.result()

    assert (slow_cache / "complete").exists()


PROGRAM = """
from firmware_py.inference import jit
jit.__file__ = __file__ + "/jit.py"  # no directory: nothing can be kept beside the package
def twice(x):
    return 2.0 * x
print(jit.compile_function(twice, "float64(float64)")(2.0))
"""


def _program(home: Path, **limits: int) -> tuple[str, str]:
    """Run the program above in a process with these limits; return its output and its errors."""
    source = home / "program.py"
    source.write_text(PROGRAM)
    words = "import resource, runpy, sys; "
    words += "".join(f"resource.setrlimit(resource.{k}, ({v}, {v})); " for k, v in limits.items())
    done = subprocess.run(  # -B: it would keep a hundred bytes of any module that it imports
        [sys.executable, "-B", "-c", f"{words}runpy.run_path({str(source)!r})"],
        cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, VARIABLE: JIT, "XDG_CACHE_HOME": str(home)},
    )  # fmt: skip
    return done.stdout, done.stderr


@pytest.mark.thorough
def test_what_is_compiled_is_said_and_only_when_it_is(tmp_path: Path) -> None:
    out, words = _program(tmp_path)
    assert out == "4.0\n"
    assert re.fullmatch(rf"{COMPILING}<run_path>_twice with Numba, one of \d+, once\n", words)
    assert _program(tmp_path) == ("4.0\n", "")


def test_where_there_is_no_room_kernels_are_not_kept_and_it_is_said_once(tmp_path: Path) -> None:
    out, words = _program(tmp_path, RLIMIT_FSIZE=100)
    assert out == "4.0\n"
    first, second = words.splitlines()
    assert first.startswith(COMPILING)
    assert "cannot be written (File too large): compiled kernels are not kept" in second


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("kill -9 $$", "was killed (signal 9); what it did is kept"),
        ("exit 75", "cannot be written: compiled kernels are not kept"),
    ],
)
def test_a_compiler_that_did_not_end_well_is_named_and_nothing_is_thrown_away(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    script: str,
    said: str,
) -> None:
    monkeypatch.setenv(VARIABLE, JIT)  # and put back what is set here
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "good").touch()
    _compile_with(f"#!/bin/sh\n{script}\n", tmp_path, monkeypatch)
    directory = cache_of(lambda: str(cache))
    monkeypatch.setattr(jit_module, "_cache_directory", directory)

    compile_apart()

    assert said in capfd.readouterr().err
    assert (cache / "good").exists()


def test_where_nothing_can_be_written_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("package", "home"):
        (tmp_path / name).touch()  # no directory: nothing can be in it
    monkeypatch.setattr(jit_module, "__file__", str(tmp_path / "package" / "jit.py"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(VARIABLE, JIT)

    assert jit_module._cache_directory.__wrapped__() is None
    assert os.environ[VARIABLE] == JIT_UNCACHED
    assert capsys.readouterr().err.endswith(
        "can be written: compiled kernels are not kept, and every start compiles them\n"
    )
