"""Laplace's approximation of the posterior of the threshold at the tones asked.

Rasmussen & Williams, Gaussian Processes for Machine Learning (2006): algorithm 3.1 (mode by
Newton), 3.2 (prediction), equation 3.32 (evidence), algorithm 5.1 (its gradient); the prior mean is
absorbed in the data, f = g - m(x). The kernel is k(x, x') = s**2 exp(-(x - x')**2 / (2 l**2)) +
o**2: squared exponential, and an offset of SD o common to all frequencies (0 in the paper).

K = Phi Phi^T, with a column of Phi for each function of the basis and one for the offset, `rank` of
them. K is never inverted. What is factored is the smaller of two matrices of the same determinant,
whose eigenvalues are 1 or more: A = I + Phi^T W Phi, rank x rank, when there are more trials than
columns; otherwise, with `rank` 0, B = I + W^1/2 K W^1/2, n x n. By the matrix inversion lemma
(I + W K)^-1 = I - W Phi A^-1 Phi^T = I - W^1/2 B^-1 W^1/2 K. So the cost of a trial grows as the
cube of their number while they are few, and then in proportion to it.
"""

import math

from firmware_py.inference.elementary import exp, log
from firmware_py.inference.kernel import (
    CONVERGED,
    F8,
    I8,
    MATRIX,
    NOT_CONVERGED,
    VECTOR,
    Array,
    entry,
    kernel,
)
from firmware_py.inference.laplace import weight_space
from firmware_py.inference.laplace.basis import HALF_WIDTH, functions_needed
from firmware_py.inference.likelihood import probit
from firmware_py.inference.linear_algebra import cholesky, inverse, multiply, solve, solve_lower

NEWTON_STEPS_MAX = 100  # damped Newton on a log-concave posterior needs 5 to 20
HALVINGS_MAX = 40
STEP_TOLERANCE = 5e-6  # of the response noise; the error left by Newton is about its square

# Rows of the `vectors` scratch matrix, which is (VECTORS, n or more).
LOG_P, GRADIENT, WEIGHT, THIRD, ROOT, DIRECTION, KERNEL_DIRECTION, WORK, DERIVATIVE = range(9)
VECTORS = 9


@kernel
def rank_of(n: int, length: float, interval: Array) -> int:
    """Return how many columns Phi has, 0 if they are not fewer than the trials."""
    functions = functions_needed(length, interval[HALF_WIDTH], n - 2)
    return functions + 1 if functions > 0 else 0


@kernel
def covariance(n: int, x: Array, length: float, sd_db: float, offset_sd_db: float, k: Array) -> int:
    """Write K, K_ij = s**2 exp(-(x_i - x_j)**2 / (2 l**2)) + o**2, n x n, both triangles."""
    c = -0.5 / (length * length)
    variance = sd_db * sd_db
    offset = offset_sd_db * offset_sd_db
    for i in range(n):
        for j in range(i):
            d = x[i] - x[j]
            k[i, j] = variance * exp(c * d * d) + offset
            k[j, i] = k[i, j]
        k[i, i] = variance + offset
    return CONVERGED


@kernel
def prepare(
    n: int, x: Array, length: float, sd_db: float, offset_sd_db: float, interval: Array, k: Array,
    scratch: Array,
) -> int:  # fmt: skip
    """Write Phi, or K, whichever is smaller, to `k`; return the rank, 0 for K."""
    rank = rank_of(n, length, interval)
    if rank > 0:
        weight_space.features(n, x, rank, length, sd_db, offset_sd_db, interval, scratch)
        weight_space.transpose(rank, n, scratch, k)
    else:
        covariance(n, x, length, sd_db, offset_sd_db, k)
    return rank


@kernel
def times_covariance(n: int, rank: int, k: Array, v: Array, work: Array, out: Array) -> int:
    """Write K v."""
    if rank > 0:
        weight_space.weights_of(n, rank, k, v, work)
        return weight_space.values_of(n, rank, k, work, out)
    return multiply(n, k, v, out)


@kernel
def log_joint(
    n: int,
    residual_db: Array,
    label: Array,
    noise_db: Array,
    a: Array,
    f_db: Array,
    vectors: Array,
) -> float:
    """Return Psi = log p(y | f) - a^T f / 2, with f = K a; `vectors` gets the derivatives there."""
    probit(
        n, residual_db, label, f_db, noise_db,
        vectors[LOG_P], vectors[GRADIENT], vectors[WEIGHT], vectors[THIRD],
    )  # fmt: skip
    psi = 0.0
    for i in range(n):
        psi += vectors[LOG_P, i] - 0.5 * a[i] * f_db[i]
    return psi


@kernel
def factor(n: int, rank: int, k: Array, b: Array, vectors: Array) -> int:
    """Factor A, or B, at the point of `log_joint` as U^T U (upper of `b`)."""
    root, weight = vectors[ROOT], vectors[WEIGHT]
    if rank > 0:
        return weight_space.factor(n, rank, k, weight, b)
    for i in range(n):
        root[i] = math.sqrt(weight[i])
    for i in range(n):
        for j in range(i, n):
            b[i, j] = root[i] * k[i, j] * root[j]
        b[i, i] += 1.0
    return cholesky(n, b)


@kernel
def newton_step(n: int, rank: int, k: Array, a: Array, b: Array, vectors: Array) -> int:
    """Write the Newton direction in a, and K times it, at the factored point.

    It is that of algorithm 3.1, lines 4-8, as a correction: (I + W K) d = d log p/df - a, whose
    right side vanishes at the mode and takes the rounding errors with it.
    """
    root = vectors[ROOT]
    direction = vectors[DIRECTION]
    work = vectors[WORK]
    for i in range(n):
        direction[i] = vectors[GRADIENT, i] - a[i]
    if rank > 0:
        weight_space.correct(n, rank, k, vectors[WEIGHT], b, work, direction)
    else:
        multiply(n, k, direction, work)
        for i in range(n):
            work[i] *= root[i]
        solve(n, b, work)
        for i in range(n):
            direction[i] -= root[i] * work[i]
    return times_covariance(n, rank, k, direction, work, vectors[KERNEL_DIRECTION])


@kernel
def find_mode(
    n: int,
    rank: int,
    residual_db: Array,
    label: Array,
    noise_db: Array,
    k: Array,
    a: Array,
    f_db: Array,
    b: Array,
    vectors: Array,
    log_evidence: Array,
) -> int:
    """Find the posterior mode by damped Newton, and the log evidence there.

    Parameters
    ----------
    n, residual_db, label, noise_db
        The data.
    rank, k
        Phi (n x rank), or K (n x n) if `rank` is 0; see `prepare`.
    a : (n,) in: where to start; out: K^-1 f at the mode.
    f_db : (n,) out: the mode.
    b, vectors : scratch; `b` keeps the factor U and `vectors` the derivatives at the mode.
    log_evidence : (1,) out, in nats (equation 3.32).

    Returns
    -------
    int
        `CONVERGED`, `NOT_CONVERGED` or `NOT_POSITIVE_DEFINITE`.
    """
    direction = vectors[DIRECTION]
    kernel_direction = vectors[KERNEL_DIRECTION]
    status = NOT_CONVERGED
    times_covariance(n, rank, k, a, vectors[WORK], f_db)
    psi = log_joint(n, residual_db, label, noise_db, a, f_db, vectors)
    for _ in range(NEWTON_STEPS_MAX):
        failed = factor(n, rank, k, b, vectors)
        if failed != CONVERGED:
            return failed
        if status == CONVERGED:
            break
        newton_step(n, rank, k, a, b, vectors)
        fraction = 1.0
        psi_before = psi
        for i in range(n):
            a[i] += direction[i]
            f_db[i] += kernel_direction[i]
        psi = log_joint(n, residual_db, label, noise_db, a, f_db, vectors)
        for _ in range(HALVINGS_MAX):
            if psi >= psi_before - 1e-12 * abs(psi_before):
                break
            fraction *= 0.5
            for i in range(n):
                a[i] -= fraction * direction[i]
                f_db[i] -= fraction * kernel_direction[i]
            psi = log_joint(n, residual_db, label, noise_db, a, f_db, vectors)
        largest = 0.0
        for i in range(n):
            largest = max(largest, abs(kernel_direction[i]) / noise_db[i])
        if largest <= STEP_TOLERANCE:
            status = CONVERGED
    log_evidence[0] = psi
    for i in range(rank if rank > 0 else n):
        log_evidence[0] -= log(b[i, i])
    return status


@kernel
def evidence_gradient(
    n: int,
    rank: int,
    x: Array,
    length: float,
    sd_db: float,
    offset_sd_db: float,
    interval: Array,
    k: Array,
    a: Array,
    b: Array,
    vectors: Array,
    scratch: Array,
    b_inverse: Array,
    gradient: Array,
) -> int:
    """Differentiate the log evidence with respect to log length and log SD (algorithm 5.1).

    `b` and `vectors` come from `find_mode`; `scratch` and `b_inverse` are n x n; `gradient` (2,) is
    the output. The implicit part uses diag((K^-1 + W)^-1)_i = (1 - (B^-1)_ii) / W_i.
    """
    root = vectors[ROOT]
    derivative = vectors[DERIVATIVE]
    work = vectors[WORK]
    if rank > 0:
        return weight_space.evidence_gradient(
            n, rank, x, length, offset_sd_db, interval, k, vectors[GRADIENT], vectors[WEIGHT],
            vectors[THIRD], b, derivative, work, scratch, b_inverse, gradient,
        )  # fmt: skip
    offset = offset_sd_db * offset_sd_db
    inverse(n, b, scratch, b_inverse)
    for parameter in range(2):
        quadratic = 0.0
        trace = 0.0
        for i in range(n):
            derivative[i] = 0.0
        for i in range(n):
            for j in range(i + 1):
                dk = k[i, j] - offset
                if parameter == 0:
                    d = (x[i] - x[j]) / length
                    dk *= d * d
                else:
                    dk *= 2.0
                twice = 1.0 if i == j else 2.0
                quadratic += twice * a[i] * dk * a[j]
                trace += twice * root[i] * b_inverse[i, j] * root[j] * dk
                derivative[i] += dk * vectors[GRADIENT, j]
                if i != j:
                    derivative[j] += dk * vectors[GRADIENT, i]
        for i in range(n):
            work[i] = root[i] * derivative[i]
        solve(n, b, work)
        for i in range(n):
            work[i] *= root[i]
        multiply(n, k, work, vectors[KERNEL_DIRECTION])
        implicit = 0.0
        for i in range(n):
            variance = sd_db * sd_db + offset
            if vectors[WEIGHT, i] > 0.0:
                variance = (1.0 - b_inverse[i, i]) / vectors[WEIGHT, i]
            df = derivative[i] - vectors[KERNEL_DIRECTION, i]
            implicit += 0.5 * variance * vectors[THIRD, i] * df
        gradient[parameter] = 0.5 * (quadratic - trace) + implicit
    return CONVERGED


@entry(
    I8, I8, I8, VECTOR, I8, VECTOR, F8, F8, F8, VECTOR, MATRIX, VECTOR, MATRIX, MATRIX, MATRIX,
    VECTOR, VECTOR,
)  # fmt: skip
def predict(
    n: int,
    rank: int,
    x: Array,
    points: int,
    x_star: Array,
    length: float,
    sd_db: float,
    offset_sd_db: float,
    interval: Array,
    k: Array,
    a: Array,
    b: Array,
    vectors: Array,
    scratch: Array,
    f_mean_db: Array,
    f_sd_db: Array,
) -> int:
    """Predict f at x_star: mean k*^T a, variance k** - |U^-T W^1/2 k*|**2 (algorithm 3.2).

    `scratch` is n x points; `f_mean_db` and `f_sd_db` (points,) are the outputs, without m(x_star).
    """
    if rank > 0:
        weight_space.features(points, x_star, rank, length, sd_db, offset_sd_db, interval, scratch)
        return weight_space.predict(
            n, rank, points, k, a, b, vectors[WORK], scratch, f_mean_db, f_sd_db
        )
    c = -0.5 / (length * length)
    variance = sd_db * sd_db
    offset = offset_sd_db * offset_sd_db
    for j in range(points):
        f_mean_db[j] = 0.0
        f_sd_db[j] = variance + offset
    for i in range(n):
        row = scratch[i]
        for j in range(points):
            d = x[i] - x_star[j]
            row[j] = variance * exp(c * d * d) + offset
        root = vectors[ROOT, i]
        for j in range(points):
            f_mean_db[j] += a[i] * row[j]
            row[j] *= root
    solve_lower(n, points, b, scratch)
    for i in range(n):
        row = scratch[i]
        for j in range(points):
            f_sd_db[j] -= row[j] * row[j]
    for j in range(points):
        f_sd_db[j] = math.sqrt(max(f_sd_db[j], 0.0))
    return CONVERGED
