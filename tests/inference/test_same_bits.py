"""The same answers give the same bits: in every process, compiled now or before, or not at all."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firmware_py.inference.library import COMPILING, JIT, VARIABLE
from tests.inference.session_bits import SESSIONS, bits_of

ROOT = Path(__file__).parents[2]
TRIALS = 24
NUMBA = {VARIABLE: JIT}
TRIALS_SLOW = 9  # without compilation a trial takes a tenth of a second


def _bits_of_another_process(root: Path, trials: int, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.inference.session_bits", str(trials)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    words = [line for line in done.stderr.splitlines() if not line.startswith(COMPILING)]
    assert (done.returncode, words) == (0, [])
    return done.stdout.splitlines()


def _bits_of_this_process(trials: int) -> list[str]:
    lines = []
    for profile, scale, told in SESSIONS:
        lines += [f"{profile} {scale}", *bits_of(profile, scale, told, trials)]
    return lines


def test_the_same_session_again_and_in_another_process_gives_the_same_bits() -> None:
    bits = _bits_of_this_process(TRIALS)
    assert _bits_of_this_process(TRIALS) == bits
    assert _bits_of_another_process(ROOT, TRIALS) == bits


@pytest.mark.thorough
def test_compilation_changes_no_bit() -> None:
    """The kernels as plain Python: what the compiler does to them, it does to the speed only."""
    interpreted = _bits_of_another_process(ROOT, TRIALS_SLOW, NUMBA_DISABLE_JIT="1", **NUMBA)
    assert interpreted == _bits_of_this_process(TRIALS_SLOW)


@pytest.mark.thorough
def test_a_machine_of_another_age_gives_the_same_bits_from_a_cold_and_a_warm_cache(
    tmp_path: Path,
) -> None:
    """A copy of the package compiles everything anew, and loads it the second time.

    For a plain x86-64 or AArch64, without the vector units of this one.
    """
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", **NUMBA}
    without_cache = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "firmware_py", tmp_path / "firmware_py", ignore=without_cache)
    (tmp_path / "tests" / "inference").mkdir(parents=True)
    shutil.copy(ROOT / "tests" / "inference" / "session_bits.py", tmp_path / "tests" / "inference")
    caches = tmp_path / "firmware_py" / "inference" / "__pycache__"

    cold = _bits_of_another_process(tmp_path, TRIALS, **plain)
    compiled = {p: p.stat().st_mtime_ns for p in caches.rglob("*.nbc")}
    warm = _bits_of_another_process(tmp_path, TRIALS, **plain)

    assert cold == warm == _bits_of_this_process(TRIALS)
    assert compiled
    assert {p: p.stat().st_mtime_ns for p in caches.rglob("*.nbc")} == compiled


@pytest.mark.parametrize("trials", [1, 5])
def test_a_session_is_the_beginning_of_a_longer_one(trials: int) -> None:
    for profile, scale, told in SESSIONS:
        beginning = bits_of(profile, scale, told, trials)
        assert beginning == bits_of(profile, scale, told, 12)[:trials]
