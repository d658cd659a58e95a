"""The linear algebra against SciPy for all sizes; nothing outside the leading block is touched."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg

from firmware_py.inference.kernel import CONVERGED, NOT_POSITIVE_DEFINITE
from firmware_py.inference.linear_algebra import (
    add_product,
    cholesky,
    inverse,
    multiply,
    solve,
    solve_lower,
    sweep_pivots,
    take_outer,
)
from tests.budget import quick
from tests.reference import FloatArray

ROOM = 131
SIZES = range(130)
# About the width of a vector instruction and of several.
QUICK = {*range(11), 15, 16, 17, 33, 65}
UNTOUCHED = 1e99


def _positive_definite(n: int) -> FloatArray:
    """The kind that occurs: I + W^1/2 K W^1/2, with a K that is all but singular."""
    rng = np.random.default_rng(n)
    x = rng.uniform(0.0, 20.0, n)
    root = np.exp(rng.uniform(-3.0, 1.0, n))
    K = 144.0 * np.exp(-(np.subtract.outer(x, x) ** 2) / 32.0) + 784.0
    return np.asarray(np.eye(n) + root[:, np.newaxis] * K * root)


def _in_the_corner_of_a_larger_one(block: FloatArray) -> FloatArray:
    room = np.full((ROOM, ROOM), UNTOUCHED)
    room[: block.shape[0], : block.shape[1]] = block
    return room


def _assert_rest_untouched(room: FloatArray, rows: int, columns: int) -> None:
    assert np.all(room[rows:] == UNTOUCHED)
    assert np.all(room[:, columns:] == UNTOUCHED)


def _factor(n: int) -> tuple[FloatArray, FloatArray]:
    A = _positive_definite(n)
    u = _in_the_corner_of_a_larger_one(A)
    assert cholesky(n, u) == CONVERGED
    return A, u


def _error_max(A: FloatArray) -> float:
    """What rounding does to a backward stable solution."""
    return 1e-14 * float(np.linalg.cond(A)) if len(A) else 0.0


@pytest.mark.parametrize("n", quick(SIZES, *QUICK))
def test_all_of_it(n: int) -> None:
    """One test a size: factor, both solves, inverse and product."""
    rng = np.random.default_rng(1000 + n)
    A, u = _factor(n)
    U = np.triu(u[:n, :n])
    _assert_rest_untouched(u, n, n)
    assert_array_equal(np.tril(u[:n, :n], -1), np.tril(A, -1))
    if n:
        assert_allclose(U, linalg.cholesky(A), rtol=1e-9, atol=1e-13 * np.max(np.abs(U)))
    assert_allclose(U.T @ U, A, rtol=1e-12, atol=1e-13 * np.max(np.abs(A), initial=0.0))

    b = rng.normal(size=ROOM)
    before = b.copy()
    assert solve(n, u, b) == CONVERGED
    expected = linalg.solve(A, before[:n], assume_a="pos") if n else before[:0]
    scale = np.max(np.abs(expected), initial=0.0)
    assert_allclose(b[:n], expected, atol=_error_max(A) * scale)
    assert_array_equal(b[n:], before[n:])

    columns = 1 + n % 17
    B = rng.normal(size=(n, columns))
    room = _in_the_corner_of_a_larger_one(B)
    assert solve_lower(n, columns, u, room) == CONVERGED
    if n:
        expected = linalg.solve_triangular(U, B, trans="T")
        assert_allclose(room[:n, :columns], expected, rtol=1e-9, atol=1e-11)
    _assert_rest_untouched(room, n, columns)

    scratch, a_inverse = (_in_the_corner_of_a_larger_one(np.zeros((0, 0))) for _ in range(2))
    assert inverse(n, u, scratch, a_inverse) == CONVERGED
    expected = np.linalg.inv(A) if n else A
    scale = np.max(np.abs(expected), initial=0.0)
    assert_allclose(np.tril(a_inverse[:n, :n]), np.tril(expected), atol=_error_max(A) * scale)
    for matrix in (scratch, a_inverse):
        _assert_rest_untouched(matrix, n, n)
        above = matrix[:n, :n][np.triu_indices(n, 1)]
        assert np.all(above == UNTOUCHED)

    out = np.full(ROOM, UNTOUCHED)
    vector = rng.normal(size=ROOM)
    assert multiply(n, _in_the_corner_of_a_larger_one(A), vector, out) == CONVERGED
    scale = np.max(np.abs(A) @ np.abs(vector[:n]), initial=0.0)
    assert_allclose(out[:n], A @ vector[:n], atol=1e-14 * scale)
    assert np.all(out[n:] == UNTOUCHED)


@pytest.mark.parametrize("n", quick(SIZES, *QUICK))
def test_in_place(n: int) -> None:
    """The sizes that have loops of their own, and all others: the same results."""
    rng = np.random.default_rng(2000 + n)
    A = _positive_definite(n)
    room, row, b = _in_the_corner_of_a_larger_one(A), np.zeros(ROOM), rng.normal(size=ROOM)
    half_log_determinant = sweep_pivots(n, room, row)
    expected = np.linalg.inv(A) if n else A
    scale = np.max(np.abs(expected), initial=0.0)
    assert_allclose(room[:n, :n], expected, atol=_error_max(A) * scale)
    assert half_log_determinant == pytest.approx(0.5 * np.linalg.slogdet(A)[1], abs=1e-9)
    _assert_rest_untouched(room, n, n)

    room = _in_the_corner_of_a_larger_one(A)
    assert take_outer(n, 0.7, b, room) == CONVERGED
    scale = np.max(np.abs(A), initial=0.0)
    assert_allclose(room[:n, :n], A - 0.7 * np.outer(b[:n], b[:n]), atol=1e-14 * scale)
    _assert_rest_untouched(room, n, n)

    rows, inner = 1 + n % 7, 1 + n % 5
    left, right = rng.normal(size=(inner, rows)), rng.normal(size=(inner, n))
    room = _in_the_corner_of_a_larger_one(np.ones((rows, n)))
    assert add_product(rows, inner, n, left, right, room) == CONVERGED
    assert_allclose(room[:rows, :n], 1.0 + left.T @ right, rtol=1e-12, atol=1e-12)
    _assert_rest_untouched(room, rows, n)


@pytest.mark.parametrize("n", [1, 4, 5, 8, 12, 64, 129])
@pytest.mark.parametrize("pivot", [0.0, -1.0, np.nan])
def test_what_is_not_positive_definite_is_reported(n: int, pivot: float) -> None:
    a = np.eye(n)
    a[n - 1, n - 1] = pivot
    assert cholesky(n, a.copy()) == NOT_POSITIVE_DEFINITE
    assert math.isnan(sweep_pivots(n, a, np.zeros(n)))


@pytest.mark.parametrize("exponent", [-60, 60])
def test_a_determinant_beyond_all_numbers_has_a_logarithm(exponent: int) -> None:
    """10**-720 and 10**720 are no numbers of a computer, their logarithms are."""
    found = sweep_pivots(12, 10.0**exponent * np.eye(12), np.zeros(12))
    assert found == pytest.approx(6.0 * exponent * math.log(10.0), rel=1e-13)
