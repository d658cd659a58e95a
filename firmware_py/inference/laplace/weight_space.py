"""Laplace's approximation with K = Phi Phi^T, in as many dimensions as Phi has columns.

Phi, n x rank, is `State.k`; A = I + Phi^T W Phi, and `State.b` keeps its factor U, A = U^T U.
Arrays whose name ends in `_rows` are transposed, rank x n, so that loops run over the trials.
"""

import math

from firmware_py.inference.kernel import CONVERGED, Matrix, Vector, kernel
from firmware_py.inference.laplace.arrays import (
    DERIVATIVE,
    DIRECTION,
    GRADIENT,
    THIRD,
    WEIGHT,
    WORK,
    Covariance,
    Interval,
    State,
)
from firmware_py.inference.laplace.basis import differentiate_functions
from firmware_py.inference.linear_algebra import cholesky, solve, solve_lower


@kernel
def transpose(rows: int, columns: int, a: Matrix, out: Matrix) -> int:
    """A^T of A, which is rows x columns."""
    for i in range(rows):
        for j in range(columns):
            out[j, i] = a[i, j]
    return CONVERGED


@kernel
def weights_of(n: int, rank: int, phi: Matrix, v: Vector, out: Vector) -> int:
    """Phi^T v."""
    for k in range(rank):
        out[k] = 0.0
    for i in range(n):
        c, row = v[i], phi[i]
        for k in range(rank):
            out[k] += c * row[k]
    return CONVERGED


@kernel
def values_of(n: int, rank: int, phi: Matrix, w: Vector, out: Vector) -> int:
    """Phi w."""
    for i in range(n):
        total, row = 0.0, phi[i]
        for k in range(rank):
            total += row[k] * w[k]
        out[i] = total
    return CONVERGED


@kernel
def factor(n: int, rank: int, phi: Matrix, weight: Vector, a: Matrix) -> int:
    """`U^T U = A = I + Phi^T W Phi`, U in the upper triangle; four trials a time, as `cholesky`."""
    for j in range(rank):
        for k in range(j, rank):
            a[j, k] = 0.0
        a[j, j] = 1.0
    i = 0
    while i + 4 <= n:
        phi_0, phi_1, phi_2, phi_3 = phi[i], phi[i + 1], phi[i + 2], phi[i + 3]
        w_0, w_1, w_2, w_3 = weight[i], weight[i + 1], weight[i + 2], weight[i + 3]
        for j in range(rank):
            row = a[j]
            c_0, c_1, c_2, c_3 = w_0 * phi_0[j], w_1 * phi_1[j], w_2 * phi_2[j], w_3 * phi_3[j]
            for k in range(j, rank):
                row[k] += ((c_0 * phi_0[k] + c_1 * phi_1[k]) + c_2 * phi_2[k]) + c_3 * phi_3[k]
        i += 4
    while i < n:
        phi_0, w_0 = phi[i], weight[i]
        for j in range(rank):
            row, c_0 = a[j], w_0 * phi_0[j]
            for k in range(j, rank):
                row[k] += c_0 * phi_0[k]
        i += 1
    return cholesky(rank, a)


@kernel
def correct(n: int, rank: int, state: State) -> int:
    """`d = (I + W K)^-1 v = v - W Phi A^-1 Phi^T v`: overwrite the vector in row DIRECTION."""
    phi, vectors = state.k, state.vectors
    weight, work, v = vectors[WEIGHT], vectors[WORK], vectors[DIRECTION]
    weights_of(n, rank, phi, v, work)
    solve(rank, state.b, work)
    for i in range(n):
        total, row = 0.0, phi[i]
        for k in range(rank):
            total += row[k] * work[k]
        v[i] -= weight[i] * total
    return CONVERGED


@kernel
def evidence_gradient(
    x: Vector, rank: int, covariance: Covariance, interval: Interval, state: State, gradient: Vector
) -> int:
    """`d log Z` by d log length and by d log SD; algorithm 5.1 with trace 2 sum_i W_i c_i^T d_i.

    dK = dPhi Phi^T + Phi dPhi^T, C = U^-T Phi^T and D = U^-T dPhi^T; the posterior variance of f_i
    is |c_i|**2. By log SD, dPhi is Phi, and D is C.

    Parameters
    ----------
    x, rank, covariance, interval : (n,) of the trials, and the basis.
    state : at the mode; `scratch` and `b_inverse` are overwritten with C and D.
    gradient : (2,) out.
    """
    n, phi = len(x), state.k
    mode_gradient, derivative, work = (
        state.vectors[GRADIENT], state.vectors[DERIVATIVE], state.vectors[WORK]
    )  # fmt: skip
    c_rows, d_rows = state.scratch, state.b_inverse
    transpose(n, rank, phi, c_rows)
    differentiate_functions(x, rank, covariance.length, interval, c_rows, d_rows)
    weights_of(n, rank, phi, mode_gradient, work)
    for i in range(n):
        derivative[i] = 0.0
    for k in range(rank):
        total = 0.0
        for i in range(n):
            total += d_rows[k, i] * mode_gradient[i]
        for i in range(n):
            derivative[i] += d_rows[k, i] * work[k] + c_rows[k, i] * total
    solve_lower(rank, n, state.b, c_rows)
    solve_lower(rank, n, state.b, d_rows)
    gradient[0] = slope_of_evidence(n, rank, state)
    weights_of(n, rank, phi, mode_gradient, work)
    values_of(n, rank, phi, work, derivative)
    for i in range(n):
        derivative[i] *= 2.0
        for k in range(rank):
            d_rows[k, i] = c_rows[k, i]
    gradient[1] = slope_of_evidence(n, rank, state)
    return CONVERGED


@kernel
def slope_of_evidence(n: int, rank: int, state: State) -> float:
    """`d log Z`, explicit and through the mode (algorithm 5.1), where C and D are in the scratch.

    The row DERIVATIVE is dK times the gradient of the log likelihood; it becomes scratch.
    """
    mode_gradient, weight, third = (
        state.vectors[GRADIENT], state.vectors[WEIGHT], state.vectors[THIRD]
    )  # fmt: skip
    derivative, work = state.vectors[DERIVATIVE], state.vectors[WORK]
    c_rows, d_rows = state.scratch, state.b_inverse
    slope = 0.0
    for i in range(n):
        slope += 0.5 * mode_gradient[i] * derivative[i]
    for k in range(rank):
        total = 0.0
        for i in range(n):
            c = weight[i] * c_rows[k, i]
            total += c * derivative[i]
            slope -= c * d_rows[k, i]
        work[k] = total
    for k in range(rank):
        for i in range(n):
            derivative[i] -= c_rows[k, i] * work[k]
    for i in range(n):
        variance = 0.0
        for k in range(rank):
            variance += c_rows[k, i] * c_rows[k, i]
        slope += 0.5 * variance * third[i] * derivative[i]
    return slope


@kernel
def predict(n: int, rank: int, state: State, f_mean_db: Vector, f_sd_db: Vector) -> int:
    """phi^T w and phi^T A^-1 phi: mean and variance of f where Phi^T is `state.scratch`.

    w = Phi^T K^-1 f at the mode. The scratch is overwritten.
    """
    phi_rows, work, points = state.scratch, state.vectors[WORK], len(f_mean_db)
    weights_of(n, rank, state.k, state.a, work)
    for j in range(points):
        f_mean_db[j] = 0.0
        f_sd_db[j] = 0.0
    for k in range(rank):
        for j in range(points):
            f_mean_db[j] += work[k] * phi_rows[k, j]
    solve_lower(rank, points, state.b, phi_rows)
    for k in range(rank):
        for j in range(points):
            f_sd_db[j] += phi_rows[k, j] * phi_rows[k, j]
    for j in range(points):
        f_sd_db[j] = math.sqrt(f_sd_db[j])
    return CONVERGED
