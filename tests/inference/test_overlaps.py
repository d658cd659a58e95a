"""No kernel writes what it reaches through another of its arrays: the compiler is told so."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.inference.overlaps import Array, OverlapError, refuse_if_apart_differs

ROOT = Path(__file__).parents[2]


@pytest.mark.thorough  # kernels as plain Python
def test_no_kernel_writes_what_it_reaches_through_two_arrays() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.inference.overlaps"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "uncalled:"


def copy_on(source: Array, out: Array) -> int:
    for i in range(len(source)):
        out[i] = source[i]
    return 0


def sum_of(a: Array, b: Array, out: Array) -> float:
    out[0] = a[0] + b[0]
    return float(out[0])


def fill_and_read(row: Array, rows: Array) -> float:
    row[0] = 3.0
    return float(rows[0, 0])


def fill_beside(row: Array, rows: Array) -> float:
    row[0] = 3.0
    rows[1, 0] = 4.0
    return float(rows[1, 0])


def test_a_kernel_that_is_told_a_lie_is_found_out() -> None:
    """Each does something else when its arrays lie apart, in what it writes or what it returns."""
    line, rows = np.arange(4.0), np.zeros((2, 2))
    with pytest.raises(OverlapError, match="copy_on writes what it reaches"):
        refuse_if_apart_differs(copy_on, (line[:-1], line[1:]))
    with pytest.raises(OverlapError, match="fill_and_read writes what it reaches"):
        refuse_if_apart_differs(fill_and_read, (rows[0], rows))


def test_arrays_may_overlap_where_they_are_read_or_not_looked_at() -> None:
    line, rows, out = np.array([1.0, np.nan]), np.zeros((2, 2)), np.zeros(1)
    assert refuse_if_apart_differs(sum_of, (line, line, out)) == 2.0
    assert refuse_if_apart_differs(fill_beside, (rows[0], rows)) == 4.0
    assert (rows[:, 0].tolist(), out.tolist()) == ([3.0, 4.0], [2.0])
