"""Nothing is allocated from one answer to the next: counted, not claimed."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from device.image import workspace_table
from firmware_py.inference.library import BESIDE
from tests.budget import quick
from tests.device.image.image import ROOT, run_with
from tests.inference.models import PROFILES

COUNTER = """
#include <stddef.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
long allocations;
void *malloc(size_t size) { allocations++; return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { allocations++; return __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { allocations++; return __libc_realloc(old, size); }
void *aligned_alloc(size_t to, size_t size) { allocations++; return __libc_memalign(to, size); }
"""
TRIALS = {"default": 80, "gp-pta-2015": 60}


@pytest.fixture(scope="session")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a library that counts what is asked of the C library's allocator."""
    compiler = shutil.which("cc")
    if compiler is None or os.confstr("CS_GNU_LIBC_VERSION") is None:
        pytest.skip("counting allocations takes a C compiler (cc) and the GNU C library")
    library = tmp_path_factory.mktemp("counter") / "counter.so"
    subprocess.run(
        [compiler, "-O1", "-fno-builtin", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)],
        input=COUNTER, text=True, check=True,
    )  # fmt: skip
    return library


@pytest.fixture(scope="session")
def library(request: pytest.FixtureRequest) -> Path:
    """Return the library of kernels of this checkout, or that of an image, which is made alike."""
    if BESIDE.exists():
        return BESIDE
    made: Path = request.getfixturevalue("image").library
    return made


# One session in the quick suite.
EACH_PROFILE = pytest.mark.parametrize(
    "profile",
    quick(PROFILES, "default"),
)


@EACH_PROFILE
def test_a_session_allocates_nothing(library: Path, counter: Path, profile: str) -> None:
    """Not in the kernels, and not in the Python around them, beyond what Python keeps for itself.

    Nor does it touch a page of memory that it had not touched before.
    """
    program = ("-m", "tests.device.image.counted_session", profile, str(TRIALS[profile]))
    (line,) = run_with(library, *program, LD_PRELOAD=str(counter))
    assert json.loads(line) == {"allocations": 0, "faults": 0}


def test_an_allocation_is_counted(library: Path, counter: Path) -> None:
    """The alarm rings."""
    program = (
        "import ctypes, numpy as np; "
        "n = ctypes.c_long.in_dll(ctypes.CDLL(None), 'allocations'); before = n.value; "
        "kept = np.ones(5000) + 1.0; print(n.value - before)"
    )
    (line,) = run_with(library, "-c", program, LD_PRELOAD=str(counter))
    assert int(line) >= 1


@EACH_PROFILE
@pytest.mark.parametrize("sessions", [40, pytest.param(200, marks=pytest.mark.thorough)])
def test_python_keeps_no_block_over_trials_and_sessions(
    library: Path, profile: str, sessions: int
) -> None:
    program = ("tests.device.image.counted_session", profile, "5", str(3 + sessions))
    (line,) = run_with(library, "-m", *program)
    blocks = [int(word) for word in line.split()]
    assert blocks[3:] == [blocks[3]] * sessions


@pytest.mark.parametrize("profile", PROFILES)
def test_the_size_of_a_workspace_is_as_the_formula_says(profile: str) -> None:
    a, b, c = workspace_table.coefficients(profile)
    for trials in (128, 129, 500, 1024):
        assert (
            workspace_table.workspace_bytes(profile, trials) == a + b * trials + c * trials * trials
        )
    assert workspace_table.workspace_bytes(profile, 128) <= 1_000_000


def test_the_table_of_the_page_is_what_the_command_prints() -> None:
    page = (ROOT / "bench" / "README.md").read_text(encoding="utf-8")
    assert "\n".join(workspace_table.table_lines()) in page
