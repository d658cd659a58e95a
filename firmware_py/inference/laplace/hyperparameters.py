"""The two hyperparameters of the kernel, refitted after every trial.

theta = (log length, log SD). What is maximised is the log evidence, as in the paper: of few trials
it runs the length to a bound in a quarter to two thirds of all sessions. The search is BFGS in a
box, started at the last optimum with the last curvature, so that a trial costs three or four
evidences.
"""

from firmware_py.inference.elementary import exp
from firmware_py.inference.kernel import CONVERGED, NOT_CONVERGED, Matrix, Vector, entry, kernel
from firmware_py.inference.laplace.arrays import (
    CURVATURE,
    EVALUATIONS,
    LOG_EVIDENCE,
    RANK,
    Covariance,
    Interval,
    State,
    Steps,
    Trials,
)
from firmware_py.inference.laplace.posterior import evidence_gradient, find_mode, prepare

SEARCH_STEPS_MAX = 30
HALVINGS_MAX = 20
EVALUATIONS_MAX = 60  # of the evidence in one trial: what a decision may cost
STEP_MAX = 0.7  # a factor of two in length or SD
GAIN_TOLERANCE_NATS = 1e-7  # predicted gain of the next step at which the search ends
ARMIJO = 1e-4
CURVATURE_GROWTH = 4.0  # of the inverse Hessian after a step that was too short ...
CURVATURE_MAX = 1000.0  # ... up to this; then it is forgotten

# Rows of `box`, which is (3, 2): for each of theta its bounds, and where the first search begins.
LOW, HIGH, START = range(3)


@kernel
def evaluate(
    trials: Trials, interval: Interval, theta: Vector, state: State, search: Vector
) -> int:
    """`log Z(theta)` goes to `search`, and the state belongs to theta."""
    covariance = Covariance(exp(theta[0]), exp(theta[1]))
    rank = prepare(trials.x, covariance, interval, state)
    search[RANK] = rank
    status = find_mode(rank, trials, state, search[LOG_EVIDENCE:])
    search[EVALUATIONS] += 1.0
    return status


@kernel
def slope(
    x: Vector, interval: Interval, theta: Vector, state: State, search: Vector, gradient: Vector
) -> int:
    """`d log Z / d theta`, where `evaluate` has left the state of theta."""
    covariance = Covariance(exp(theta[0]), exp(theta[1]))
    return evidence_gradient(int(search[RANK]), x, covariance, interval, state, gradient)


@kernel
def ascent_direction(
    theta: Vector, gradient: Vector, box: Matrix, search: Vector, direction: Vector
) -> int:
    """`d = H g`, H the inverse Hessian; a coordinate that would leave the box is held.

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
def reset_curvature(search: Vector) -> int:
    """H = diag(1/4, 1/4), typical of these posteriors: forget the inverse Hessian."""
    search[CURVATURE] = 0.25
    search[CURVATURE + 1] = 0.0
    search[CURVATURE + 2] = 0.25
    return CONVERGED


@kernel
def update_curvature(step: Vector, change: Vector, search: Vector) -> int:
    """H y = s by BFGS, y = `change` minus that of the gradient: update the inverse Hessian.

    Where the evidence is not concave along a step there is nothing to update: a longer step would
    have done better, so the next one is longer.
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


@kernel
def climb(
    attempts: int, required: float, trials: Trials, interval: Interval, box: Matrix, theta: Vector,
    state: State, steps: Steps, search: Vector,
) -> tuple[bool, int]:  # fmt: skip
    """`theta + d / 2**j`, in the box, with the least j that rises enough (Armijo).

    Returns
    -------
    accepted, status : whether one of `attempts` rose, by at least `required`; status of the last.
    """
    best = search[LOG_EVIDENCE]
    fraction, status = 1.0, CONVERGED
    for _ in range(attempts):
        gain = 0.0
        for i in range(2):
            steps.trial[i] = theta[i] + fraction * steps.direction[i]
            steps.trial[i] = min(max(steps.trial[i], box[LOW, i]), box[HIGH, i])
            steps.step[i] = steps.trial[i] - theta[i]
            gain += steps.step[i] * steps.gradient[i]
        status = evaluate(trials, interval, steps.trial, state, search)
        if status == CONVERGED and search[LOG_EVIDENCE] >= best + max(ARMIJO * gain, required):
            return True, status
        fraction *= 0.5
    return False, status


@kernel
def lengthen(direction: Vector) -> bool:
    """STEP_MAX d / |d| along a bound, where one coordinate of d is 0; False elsewhere.

    Along a bound the evidence may be next to flat and yet rise in the end: with an SD at its lowest
    the length hardly matters. One step of full length tells.
    """
    largest = max(abs(direction[0]), abs(direction[1]))
    if min(abs(direction[0]), abs(direction[1])) > 0.0 or largest == 0.0:
        return False
    direction[0] *= STEP_MAX / largest
    direction[1] *= STEP_MAX / largest
    return True


@entry
def fit(
    n: int, room: Trials, interval: Interval, box: Matrix, state: State, steps: Steps,
    search: Vector,
) -> int:  # fmt: skip
    """`argmax log Z(theta)`, starting from and ending in ``search[:2]``.

    Parameters
    ----------
    n, room : the trials are the first n.
    interval : what the basis covers.
    box : (3, 2) bounds of theta, and where the first search began.
    state : Laplace's approximation, which belongs to the optimum afterwards.
    steps : scratch.
    search : (SEARCH_ENTRIES,) in and out.

    Returns
    -------
    int
        The status of the Laplace approximation at the optimum. Ending by a bound, on steps or on
        evaluations, is not an error: the point reached is the best one seen, and the next trial
        goes on from it.
    """
    trials = Trials(room.x[:n], room.residual_db[:n], room.label[:n], room.noise_db[:n])
    theta, gradient, direction = search[:2], steps.gradient, steps.direction
    search[EVALUATIONS] = 0.0
    status = evaluate(trials, interval, theta, state, search)
    if status != CONVERGED:
        return status
    slope(trials.x, interval, theta, state, search, gradient)
    for _ in range(SEARCH_STEPS_MAX):
        ascent_direction(theta, gradient, box, search, direction)
        gain = direction[0] * gradient[0] + direction[1] * gradient[1]
        if gain < 0.0:
            reset_curvature(search)
            continue
        required, attempts = 0.0, HALVINGS_MAX
        if gain < GAIN_TOLERANCE_NATS:
            if not lengthen(direction):
                break
            required, attempts = GAIN_TOLERANCE_NATS, 1
        # One is left for the state of the best point, if none of these is better.
        attempts = min(attempts, EVALUATIONS_MAX - 1 - int(search[EVALUATIONS]))
        if attempts < 1:
            break
        accepted, status = climb(
            attempts, required, trials, interval, box, theta, state, steps, search
        )
        if not accepted:
            return evaluate(trials, interval, theta, state, search)
        theta[0], theta[1] = steps.trial[0], steps.trial[1]
        slope(trials.x, interval, theta, state, search, steps.gradient_new)
        for i in range(2):
            direction[i] = gradient[i] - steps.gradient_new[i]
            gradient[i] = steps.gradient_new[i]
        update_curvature(steps.step, direction, search)
    return status
