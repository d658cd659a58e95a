"""Laplace's approximation with K = Phi Phi^T, in as many dimensions as Phi has columns.

`phi` is Phi, n x rank; A = I + Phi^T W Phi, and `a` keeps its factor U, A = U^T U. Arrays whose
name ends in `_rows` are transposed, rank x n, so that loops run over the trials.
"""

import math

from firmware_py.inference.kernel import CONVERGED, Array, kernel
from firmware_py.inference.laplace.basis import differentiate_functions, evaluate_functions
from firmware_py.inference.linear_algebra import cholesky, solve, solve_lower


@kernel
def features(
    points: int, x: Array, rank: int, length: float, sd_db: float, offset_sd_db: float,
    interval: Array, phi_rows: Array,
) -> int:  # fmt: skip
    """Write Phi^T at some points: the functions of the basis, and last the offset."""
    evaluate_functions(points, x, rank - 1, length, sd_db, interval, phi_rows)
    for j in range(points):
        phi_rows[rank - 1, j] = offset_sd_db
    return CONVERGED


@kernel
def transpose(rows: int, columns: int, a: Array, out: Array) -> int:
    """Write A^T, A being rows x columns."""
    for i in range(rows):
        for j in range(columns):
            out[j, i] = a[i, j]
    return CONVERGED


@kernel
def weights_of(n: int, rank: int, phi: Array, v: Array, out: Array) -> int:
    """Write Phi^T v."""
    for k in range(rank):
        out[k] = 0.0
    for i in range(n):
        c, row = v[i], phi[i]
        for k in range(rank):
            out[k] += c * row[k]
    return CONVERGED


@kernel
def values_of(n: int, rank: int, phi: Array, w: Array, out: Array) -> int:
    """Write Phi w."""
    for i in range(n):
        total, row = 0.0, phi[i]
        for k in range(rank):
            total += row[k] * w[k]
        out[i] = total
    return CONVERGED


@kernel
def factor(n: int, rank: int, phi: Array, weight: Array, a: Array) -> int:
    """Write the factor of A to its upper triangle; four trials at a time, as in `cholesky`."""
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
def correct(n: int, rank: int, phi: Array, weight: Array, a: Array, work: Array, v: Array) -> int:
    """Overwrite v with (I + W K)^-1 v = v - W Phi A^-1 Phi^T v."""
    weights_of(n, rank, phi, v, work)
    solve(rank, a, work)
    for i in range(n):
        total, row = 0.0, phi[i]
        for k in range(rank):
            total += row[k] * work[k]
        v[i] -= weight[i] * total
    return CONVERGED


@kernel
def evidence_gradient(
    n: int, rank: int, x: Array, length: float, offset_sd_db: float, interval: Array, phi: Array,
    mode_gradient: Array, weight: Array, third: Array, a: Array, derivative: Array, work: Array,
    c_rows: Array, slope_rows: Array, gradient: Array,
) -> int:  # fmt: skip
    """Differentiate the log evidence with respect to log length and log SD.

    With dK = dPhi Phi^T + Phi dPhi^T, C = U^-T Phi^T and D = U^-T dPhi^T, the trace of algorithm
    5.1 is 2 sum_i W_i c_i^T d_i, and the posterior variance of f_i is |c_i|**2. By log SD, dPhi is
    Phi without the offset, which is the last column: D differs from C in the last row only.

    Parameters
    ----------
    n, rank, x, length, offset_sd_db, interval, phi : the trials, and Phi.
    mode_gradient, weight, third : (n,) derivatives of the log likelihood at the mode.
    a : the factor of A there.
    derivative : (n,) scratch; work : (rank,) scratch.
    c_rows, slope_rows : rank x n scratch.
    gradient : (2,) out.
    """
    last = rank - 1
    transpose(n, rank, phi, c_rows)
    differentiate_functions(n, x, last, length, interval, c_rows, slope_rows)
    weights_of(n, rank, phi, mode_gradient, work)
    for i in range(n):
        derivative[i] = 0.0
        slope_rows[last, i] = 0.0
    for k in range(last):
        total = 0.0
        for i in range(n):
            total += slope_rows[k, i] * mode_gradient[i]
        for i in range(n):
            derivative[i] += slope_rows[k, i] * work[k] + c_rows[k, i] * total
    solve_lower(rank, n, a, c_rows)
    solve_lower(rank, n, a, slope_rows)
    gradient[0] = slope_of_evidence(
        n, rank, mode_gradient, weight, third, derivative, c_rows, slope_rows, work
    )
    weights_of(n, rank, phi, mode_gradient, work)
    values_of(n, last, phi, work, derivative)
    for i in range(n):
        derivative[i] *= 2.0
        for k in range(rank):
            slope_rows[k, i] = c_rows[k, i]
        slope_rows[last, i] -= offset_sd_db / a[last, last]
    gradient[1] = slope_of_evidence(
        n, rank, mode_gradient, weight, third, derivative, c_rows, slope_rows, work
    )
    return CONVERGED


@kernel
def slope_of_evidence(
    n: int, rank: int, mode_gradient: Array, weight: Array, third: Array, derivative: Array,
    c_rows: Array, d_rows: Array, work: Array,
) -> float:  # fmt: skip
    """Return the derivative of the log evidence, explicit and through the mode (algorithm 5.1).

    `derivative` is dK times the gradient of the log likelihood; it becomes scratch.
    """
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
def predict(
    n: int, rank: int, points: int, phi: Array, mode: Array, a: Array, work: Array,
    phi_rows: Array, f_mean_db: Array, f_sd_db: Array,
) -> int:  # fmt: skip
    """Predict f where Phi^T is `phi_rows`, which is overwritten.

    The mean is phi^T w, with w = Phi^T K^-1 f at the mode (`mode` is K^-1 f), and the variance
    phi^T A^-1 phi.
    """
    weights_of(n, rank, phi, mode, work)
    for j in range(points):
        f_mean_db[j] = 0.0
        f_sd_db[j] = 0.0
    for k in range(rank):
        for j in range(points):
            f_mean_db[j] += work[k] * phi_rows[k, j]
    solve_lower(rank, points, a, phi_rows)
    for k in range(rank):
        for j in range(points):
            f_sd_db[j] += phi_rows[k, j] * phi_rows[k, j]
    for j in range(points):
        f_sd_db[j] = math.sqrt(f_sd_db[j])
    return CONVERGED
