"""Laplace's approximation of the posterior of the threshold at the tones asked.

Rasmussen & Williams, Gaussian Processes for Machine Learning (2006): algorithm 3.1 (mode by
Newton), 3.2 (prediction), equation 3.32 (evidence), algorithm 5.1 (its gradient); the prior mean is
subtracted from the data, f = g - m(x). The kernel is squared exponential, k(x, x') =
s**2 exp(-(x - x')**2 / (2 l**2)).

K = Phi Phi^T, with a column of Phi for each function of the basis, `rank` of them. K is never
inverted. What is factored is the smaller of two matrices of the same determinant, whose eigenvalues
are 1 or more: A = I + Phi^T W Phi, rank x rank, when there are more trials than columns; otherwise,
with `rank` 0, B = I + W^1/2 K W^1/2, n x n. By the matrix inversion lemma
(I + W K)^-1 = I - W Phi A^-1 Phi^T = I - W^1/2 B^-1 W^1/2 K. So the cost of a trial grows as the
cube of their number while they are few, and then in proportion to it.
"""

import math

from firmware_py.inference.elementary import exp, log
from firmware_py.inference.kernel import CONVERGED, NOT_CONVERGED, Matrix, Vector, entry, kernel
from firmware_py.inference.laplace import weight_space
from firmware_py.inference.laplace.arrays import (
    DERIVATIVE,
    DIRECTION,
    GRADIENT,
    KERNEL_DIRECTION,
    LOG_P,
    ROOT,
    THIRD,
    WEIGHT,
    WORK,
    Covariance,
    Interval,
    State,
    Trials,
)
from firmware_py.inference.laplace.basis import evaluate_functions, functions_needed
from firmware_py.inference.likelihood import probit
from firmware_py.inference.linear_algebra import cholesky, inverse, multiply, solve, solve_lower

NEWTON_STEPS_MAX = 100  # damped Newton on a log-concave posterior needs 5 to 20
HALVINGS_MAX = 40
STEP_TOLERANCE = 5e-6  # of the response noise; the error left by Newton is about its square


@kernel
def rank_of(n: int, length: float, interval: Interval) -> int:
    """Columns of Phi, the functions of the basis; 0 if they are not fewer than n trials."""
    return functions_needed(length, interval.half_width, n - 2)


@kernel
def covariance_of(x: Vector, covariance: Covariance, k: Matrix) -> int:
    """K_ij = s**2 exp(-(x_i - x_j)**2 / (2 l**2)), n x n, both triangles."""
    c = -0.5 / (covariance.length * covariance.length)
    variance = covariance.sd_db * covariance.sd_db
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            k[i, j] = variance * exp(c * d * d)
            k[j, i] = k[i, j]
        k[i, i] = variance
    return CONVERGED


@kernel
def prepare(x: Vector, covariance: Covariance, interval: Interval, state: State) -> int:
    """Phi or K, whichever is smaller, is written to `state.k`; return the rank, 0 for K."""
    rank = rank_of(len(x), covariance.length, interval)
    if rank > 0:
        evaluate_functions(x, rank, covariance, interval, state.scratch)
        weight_space.transpose(rank, len(x), state.scratch, state.k)
    else:
        covariance_of(x, covariance, state.k)
    return rank


@kernel
def times_covariance(n: int, rank: int, k: Matrix, v: Vector, work: Vector, out: Vector) -> int:
    """K v."""
    if rank > 0:
        weight_space.weights_of(n, rank, k, v, work)
        return weight_space.values_of(n, rank, k, work, out)
    return multiply(n, k, v, out)


@kernel
def log_joint(trials: Trials, state: State) -> float:
    """Psi = log p(y | f) - a^T f / 2, with f = K a; `state.vectors` gets the derivatives there."""
    n, vectors = len(trials.x), state.vectors
    probit(
        n, trials.residual_db, trials.label, state.f_db, trials.noise_db,
        vectors[LOG_P], vectors[GRADIENT], vectors[WEIGHT], vectors[THIRD],
    )  # fmt: skip
    psi = 0.0
    for i in range(n):
        psi += vectors[LOG_P, i] - 0.5 * state.a[i] * state.f_db[i]
    return psi


@kernel
def factor(n: int, rank: int, state: State) -> int:
    """`U^T U = A` or `U^T U = B`, where `log_joint` was; U is the upper triangle of `state.b`."""
    root, weight, k, b = state.vectors[ROOT], state.vectors[WEIGHT], state.k, state.b
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
def newton_step(n: int, rank: int, state: State) -> int:
    """(I + W K) d = d log p/df - a: the Newton direction in a, and K d, at the factored point.

    It is that of algorithm 3.1, lines 4-8, as a correction: the right side vanishes at the mode and
    takes the rounding errors with it.
    """
    vectors = state.vectors
    root, direction, work = vectors[ROOT], vectors[DIRECTION], vectors[WORK]
    for i in range(n):
        direction[i] = vectors[GRADIENT, i] - state.a[i]
    if rank > 0:
        weight_space.correct(n, rank, state)
    else:
        multiply(n, state.k, direction, work)
        for i in range(n):
            work[i] *= root[i]
        solve(n, state.b, work)
        for i in range(n):
            direction[i] -= root[i] * work[i]
    return times_covariance(n, rank, state.k, direction, work, vectors[KERNEL_DIRECTION])


@kernel
def advance(trials: Trials, state: State, psi_before: float) -> float:
    """`Psi(a + d / 2**j)` with the least j at which it does not fall: move a there."""
    n, a, f_db = len(trials.x), state.a, state.f_db
    direction, kernel_direction = state.vectors[DIRECTION], state.vectors[KERNEL_DIRECTION]
    fraction = 1.0
    for i in range(n):
        a[i] += direction[i]
        f_db[i] += kernel_direction[i]
    psi = log_joint(trials, state)
    for _ in range(HALVINGS_MAX):
        if psi >= psi_before - 1e-12 * abs(psi_before):
            break
        fraction *= 0.5
        for i in range(n):
            a[i] -= fraction * direction[i]
            f_db[i] -= fraction * kernel_direction[i]
        psi = log_joint(trials, state)
    return psi


@kernel
def find_mode(rank: int, trials: Trials, state: State, log_evidence: Vector) -> int:
    """`argmax Psi` by damped Newton, and `log Z = Psi - sum_i log U_ii` there (equation 3.32).

    Parameters
    ----------
    rank : of Phi in `state.k`, or 0 for K there; see `prepare`.
    trials : the data.
    state : `a` is where to start; all of it belongs to the mode afterwards.
    log_evidence : (1,) out, in nats.

    Returns
    -------
    int
        `CONVERGED`, `NOT_CONVERGED` or `NOT_POSITIVE_DEFINITE`.
    """
    n = len(trials.x)
    status = NOT_CONVERGED
    times_covariance(n, rank, state.k, state.a, state.vectors[WORK], state.f_db)
    psi = log_joint(trials, state)
    for _ in range(NEWTON_STEPS_MAX):
        failed = factor(n, rank, state)
        if failed != CONVERGED:
            return failed
        if status == CONVERGED:
            break
        newton_step(n, rank, state)
        psi = advance(trials, state, psi)
        largest = 0.0
        for i in range(n):
            moved = abs(state.vectors[KERNEL_DIRECTION, i])
            largest = max(largest, moved / trials.noise_db[i])
        if largest <= STEP_TOLERANCE:
            status = CONVERGED
    log_evidence[0] = psi
    for i in range(rank if rank > 0 else n):
        log_evidence[0] -= log(state.b[i, i])
    return status


@kernel
def evidence_gradient(
    rank: int, x: Vector, covariance: Covariance, interval: Interval, state: State, gradient: Vector
) -> int:
    """`d log Z` by d log length and by d log SD (algorithm 5.1).

    `state` comes from `find_mode`, and `gradient` (2,) is the output.
    """
    if rank > 0:
        return weight_space.evidence_gradient(x, rank, covariance, interval, state, gradient)
    inverse(len(x), state.b, state.scratch, state.b_inverse)
    for parameter in range(2):
        gradient[parameter] = slope_of_evidence(parameter, x, covariance, state)
    return CONVERGED


@kernel
def slope_of_evidence(parameter: int, x: Vector, covariance: Covariance, state: State) -> float:
    """(a^T dK a - tr((W^-1 + K)^-1 dK)) / 2 + implicit part; by log length (0) or log SD (1).

    The implicit part uses diag((K^-1 + W)^-1)_i = (1 - (B^-1)_ii) / W_i.
    """
    n, vectors, k, a, b_inverse = len(x), state.vectors, state.k, state.a, state.b_inverse
    root, derivative, work = vectors[ROOT], vectors[DERIVATIVE], vectors[WORK]
    quadratic = 0.0
    trace = 0.0
    for i in range(n):
        derivative[i] = 0.0
    for i in range(n):
        for j in range(i + 1):
            dk = k[i, j]
            if parameter == 0:
                d = (x[i] - x[j]) / covariance.length
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
    solve(n, state.b, work)
    for i in range(n):
        work[i] *= root[i]
    multiply(n, k, work, vectors[KERNEL_DIRECTION])
    implicit = 0.0
    for i in range(n):
        variance = covariance.sd_db * covariance.sd_db
        if vectors[WEIGHT, i] > 0.0:
            variance = (1.0 - b_inverse[i, i]) / vectors[WEIGHT, i]
        df = derivative[i] - vectors[KERNEL_DIRECTION, i]
        implicit += 0.5 * variance * vectors[THIRD, i] * df
    return 0.5 * (quadratic - trace) + implicit


@entry
def predict(
    n: int, rank: int, trials: Trials, x_star: Vector, covariance: Covariance, interval: Interval,
    state: State, f_mean_db: Vector, f_sd_db: Vector,
) -> int:  # fmt: skip
    """k*^T a and k** - |U^-T W^1/2 k*|**2: mean and variance of f at x_star (algorithm 3.2).

    `f_mean_db` and `f_sd_db` are the outputs, without the prior mean m(x_star).
    """
    points, scratch = len(x_star), state.scratch
    if rank > 0:
        evaluate_functions(x_star, rank, covariance, interval, scratch)
        return weight_space.predict(n, rank, state, f_mean_db, f_sd_db)
    c = -0.5 / (covariance.length * covariance.length)
    variance = covariance.sd_db * covariance.sd_db
    for j in range(points):
        f_mean_db[j] = 0.0
        f_sd_db[j] = variance
    for i in range(n):
        row = scratch[i]
        for j in range(points):
            d = trials.x[i] - x_star[j]
            row[j] = variance * exp(c * d * d)
        root = state.vectors[ROOT, i]
        for j in range(points):
            f_mean_db[j] += state.a[i] * row[j]
            row[j] *= root
    solve_lower(n, points, state.b, scratch)
    for i in range(n):
        row = scratch[i]
        for j in range(points):
            f_sd_db[j] -= row[j] * row[j]
    for j in range(points):
        f_sd_db[j] = math.sqrt(max(f_sd_db[j], 0.0))
    return CONVERGED
