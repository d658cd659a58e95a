"""The two hyperparameters of the kernel, refitted after every trial.

theta = (log length, log SD). What is maximised is the log evidence, alone (the paper) or with
log-normal priors on both (MAP). With few trials the evidence alone runs the length to a bound in a
quarter to two thirds of all sessions; a prior never does. The search is BFGS in a box, started at
the last optimum with the last curvature, so that a trial costs three or four evidences.
"""

from firmware_py.inference.elementary import exp
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
from firmware_py.inference.laplace.posterior import evidence_gradient, find_mode, prepare

SEARCH_STEPS_MAX = 30
HALVINGS_MAX = 20
STEP_MAX = 0.7  # a factor of two in length or SD
GAIN_TOLERANCE_NATS = 1e-7  # predicted gain of the next step at which the search ends
ARMIJO = 1e-4
CURVATURE_GROWTH = 4.0  # of the inverse Hessian after a step that was too short ...
CURVATURE_MAX = 1000.0  # ... up to this; then it is forgotten

# Columns of `box`, which is (4, 2): for each of theta its bounds, prior median and prior precision.
LOW, HIGH, MEDIAN, PRECISION = range(4)
# Entries of `search`: what is kept between trials (theta, inverse curvature) and reported.
CURVATURE = 2  # ... to 4: the inverse Hessian's 00, 01, 11
OBJECTIVE, LOG_EVIDENCE, EVALUATIONS, RANK = 5, 6, 7, 8
SEARCH_ENTRIES = 9


@kernel
def log_prior(theta: Array, box: Array) -> float:
    """Return the log prior of theta, without its constant; precision 0 is a flat prior."""
    total = 0.0
    for i in range(2):
        d = theta[i] - box[MEDIAN, i]
        total -= 0.5 * box[PRECISION, i] * d * d
    return total


@kernel
def evaluate(
    n: int, x: Array, residual_db: Array, label: Array, noise_db: Array, offset_sd_db: float,
    interval: Array, box: Array, theta: Array, k: Array, a: Array, f_db: Array, b: Array,
    vectors: Array, scratch: Array, search: Array,
) -> int:  # fmt: skip
    """Write the objective at theta to `search`, leaving the Laplace state of theta behind."""
    rank = prepare(n, x, exp(theta[0]), exp(theta[1]), offset_sd_db, interval, k, scratch)
    search[RANK] = rank
    status = find_mode(
        n, rank, residual_db, label, noise_db, k, a, f_db, b, vectors, search[LOG_EVIDENCE:]
    )
    search[OBJECTIVE] = search[LOG_EVIDENCE] + log_prior(theta, box)
    search[EVALUATIONS] += 1.0
    return status


@kernel
def objective_gradient(
    n: int, x: Array, offset_sd_db: float, interval: Array, box: Array, theta: Array, k: Array,
    a: Array, b: Array, vectors: Array, scratch: Array, b_inverse: Array, search: Array,
    gradient: Array,
) -> int:  # fmt: skip
    """Write the gradient of the objective at theta, where `evaluate` has left the Laplace state."""
    evidence_gradient(
        n, int(search[RANK]), x, exp(theta[0]), exp(theta[1]), offset_sd_db, interval, k, a, b,
        vectors, scratch, b_inverse, gradient,
    )  # fmt: skip
    for i in range(2):
        gradient[i] -= box[PRECISION, i] * (theta[i] - box[MEDIAN, i])
    return CONVERGED


@kernel
def ascent_direction(
    theta: Array, gradient: Array, box: Array, search: Array, direction: Array
) -> int:
    """Write the quasi-Newton direction; a coordinate that would leave the box is held.

    With one held, the step of the other divides by its own entry of the Hessian, which is not the
    inverse of its entry of the inverse Hessian.
    """
    free_0 = not (
        (theta[0] <= box[LOW, 0] and gradient[0] < 0.0)
        or (theta[0] >= box[HIGH, 0] and gradient[0] > 0.0)
    )
    free_1 = not (
        (theta[1] <= box[LOW, 1] and gradient[1] < 0.0)
        or (theta[1] >= box[HIGH, 1] and gradient[1] > 0.0)
    )
    h00 = search[CURVATURE]
    h01 = search[CURVATURE + 1]
    h11 = search[CURVATURE + 2]
    direction[0] = 0.0
    direction[1] = 0.0
    if free_0 and free_1:
        direction[0] = h00 * gradient[0] + h01 * gradient[1]
        direction[1] = h01 * gradient[0] + h11 * gradient[1]
    elif free_0:
        direction[0] = (h00 - h01 * h01 / h11) * gradient[0]
    elif free_1:
        direction[1] = (h11 - h01 * h01 / h00) * gradient[1]
    largest = max(abs(direction[0]), abs(direction[1]))
    if largest > STEP_MAX:
        direction[0] *= STEP_MAX / largest
        direction[1] *= STEP_MAX / largest
    return CONVERGED


@kernel
def reset_curvature(search: Array) -> int:
    """Set the inverse Hessian to a diagonal typical of these posteriors."""
    search[CURVATURE] = 0.25
    search[CURVATURE + 1] = 0.0
    search[CURVATURE + 2] = 0.25
    return CONVERGED


@kernel
def update_curvature(step: Array, change: Array, search: Array) -> int:
    """Apply the BFGS update of the inverse Hessian of -objective; `change` is minus the gradient's.

    Where the objective is not concave along a step there is nothing to update; a longer step would
    have done better, and the next one is.
    """
    sy = step[0] * change[0] + step[1] * change[1]
    if not sy > 1e-10:
        for i in range(3):
            search[CURVATURE + i] *= CURVATURE_GROWTH
        if max(search[CURVATURE], search[CURVATURE + 2]) > CURVATURE_MAX:
            reset_curvature(search)
        return NOT_CONVERGED
    h00 = search[CURVATURE]
    h01 = search[CURVATURE + 1]
    h11 = search[CURVATURE + 2]
    hy0 = h00 * change[0] + h01 * change[1]
    hy1 = h01 * change[0] + h11 * change[1]
    c = (sy + change[0] * hy0 + change[1] * hy1) / (sy * sy)
    search[CURVATURE] = h00 + c * step[0] * step[0] - 2.0 * hy0 * step[0] / sy
    search[CURVATURE + 1] = h01 + c * step[0] * step[1] - (hy0 * step[1] + hy1 * step[0]) / sy
    search[CURVATURE + 2] = h11 + c * step[1] * step[1] - 2.0 * hy1 * step[1] / sy
    return CONVERGED


@entry(
    I8, I8, VECTOR, VECTOR, VECTOR, VECTOR, F8, VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, MATRIX,
    MATRIX, MATRIX, MATRIX, MATRIX, VECTOR,
)  # fmt: skip
def fit(
    n: int, x: Array, residual_db: Array, label: Array, noise_db: Array, offset_sd_db: float,
    interval: Array, box: Array, k: Array, a: Array, f_db: Array, b: Array, vectors: Array,
    scratch: Array, b_inverse: Array, points: Array, search: Array,
) -> int:  # fmt: skip
    """Maximise the objective over theta, starting from and ending in ``search[:2]``.

    Parameters
    ----------
    n, x, residual_db, label, noise_db : the data.
    offset_sd_db : SD of the common offset, which is fixed.
    interval : (2,) what the basis covers, see `basis`.
    box : (4, 2) bounds and prior of theta.
    k, a, f_db, b, vectors : Laplace's state, which belongs to the optimum afterwards.
    scratch, b_inverse : n x n scratch.
    points : (5, 2) scratch: trial point, gradient, direction, new gradient, step.
    search : (SEARCH_ENTRIES,) in and out.

    Returns
    -------
    int
        The status of the Laplace approximation at the optimum. Ending by the bound on steps is not
        an error: the point reached is the best one seen, and the next trial goes on from it.
    """
    theta = search[:2]
    trial = points[0]
    gradient = points[1]
    direction = points[2]
    gradient_new = points[3]
    step = points[4]
    search[EVALUATIONS] = 0.0
    status = evaluate(
        n, x, residual_db, label, noise_db, offset_sd_db, interval, box, theta, k, a, f_db, b,
        vectors, scratch, search,
    )  # fmt: skip
    if status != CONVERGED:
        return status
    objective_gradient(
        n, x, offset_sd_db, interval, box, theta, k, a, b, vectors, scratch, b_inverse, search,
        gradient,
    )  # fmt: skip
    for _ in range(SEARCH_STEPS_MAX):
        ascent_direction(theta, gradient, box, search, direction)
        gain = direction[0] * gradient[0] + direction[1] * gradient[1]
        if gain < 0.0:
            reset_curvature(search)
            continue
        required = 0.0
        attempts = HALVINGS_MAX
        if gain < GAIN_TOLERANCE_NATS:
            largest = max(abs(direction[0]), abs(direction[1]))
            if min(abs(direction[0]), abs(direction[1])) > 0.0 or largest == 0.0:
                break
            # Along a bound the evidence may be next to flat and yet rise in the end: with an SD at
            # its lowest the length hardly matters. One step of full length tells.
            direction[0] *= STEP_MAX / largest
            direction[1] *= STEP_MAX / largest
            required = GAIN_TOLERANCE_NATS
            attempts = 1
        best = search[OBJECTIVE]
        accepted = False
        fraction = 1.0
        for _ in range(attempts):
            gain = 0.0
            for i in range(2):
                trial[i] = theta[i] + fraction * direction[i]
                trial[i] = min(max(trial[i], box[LOW, i]), box[HIGH, i])
                step[i] = trial[i] - theta[i]
                gain += step[i] * gradient[i]
            status = evaluate(
                n, x, residual_db, label, noise_db, offset_sd_db, interval, box, trial, k, a, f_db,
                b, vectors, scratch, search,
            )  # fmt: skip
            if status == CONVERGED and search[OBJECTIVE] >= best + max(ARMIJO * gain, required):
                accepted = True
                break
            fraction *= 0.5
        if not accepted:
            return evaluate(
                n, x, residual_db, label, noise_db, offset_sd_db, interval, box, theta, k, a, f_db,
                b, vectors, scratch, search,
            )  # fmt: skip
        theta[0] = trial[0]
        theta[1] = trial[1]
        objective_gradient(
            n, x, offset_sd_db, interval, box, theta, k, a, b, vectors, scratch, b_inverse, search,
            gradient_new,
        )  # fmt: skip
        for i in range(2):
            direction[i] = gradient[i] - gradient_new[i]
            gradient[i] = gradient_new[i]
        update_curvature(step, direction, search)
    return status
