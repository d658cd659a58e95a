"""Expectation propagation for one Gaussian over unknowns (Minka 2001; R&W section 3.6).

`sites` says what a site is. All sites are renewed at once, from the same posterior, which is then
computed anew from them. So the cost is in loops over the answers that are vectorised. Where that
does not settle, because answers contradict each other, the steps are damped, and then the sites are
renewed one after the other.

The log evidence is Seeger's: with A(tau, nu) = (nu**2 / tau - log tau) / 2 the log partition
function of a Gaussian in natural parameters, log Z = A(posterior) - A(prior)
+ sum_i [log p_i + A(cavity_i) - A(marginal_i)]. A sweep finds that of the sites it begins with.
Near the fixed point, the difference to those it ends with is of second order.
"""

import math
from typing import Final

from firmware_py.inference.kernel import (
    CONVERGED,
    NOT_CONVERGED,
    NOT_POSITIVE_DEFINITE,
    Matrix,
    Vector,
    kernel,
)
from firmware_py.inference.linear_algebra import (
    UNROLLED_MAX,
    multiply,
    sweep_more_pivots,
    sweep_pivots,
    take_outer,
)
from firmware_py.inference.mixture.arrays import Gaussian, Likelihood, Scratch, Sites, Tones
from firmware_py.inference.mixture.prediction import place_of
from firmware_py.inference.mixture.sites import NEW_NU, NEW_TAU, move_of, site_of, sweep

SWEEPS_MAX: Final = 50
# All at once: undamped at first, and damped more each time that one moves more than the one before.
SWEEPS_AT_ONCE: Final = 16
DAMPING_AT_ONCE: Final = 0.7
SHARE_AT_ONCE_MIN: Final = 0.3
UNDAMPED_SWEEPS: Final = 8  # in turn; then by half: two that contradict each other can take turns
DAMPING: Final = 0.5
# Largest move of a marginal by one answer, in its own SDs, that ends the sweeps; and the one at
# which the result is still one when they have been used up (contradictions converge slowly).
TOLERANCE_SD: Final = 1e-3
TOLERANCE_AT_THE_END_SD: Final = 0.05
# A hypothesis of weight w may move more, by this over w: thresholds are means over all hypotheses,
# and the last move of this one is then no more than this in them.
TOLERANCE_BY_WEIGHT_SD: Final = 1e-5


@kernel
def tolerance_of(weight: float) -> float:
    """1e-5 / weight, within bounds: the largest move, in SDs, that ends the sweeps."""
    return min(max(TOLERANCE_BY_WEIGHT_SD / weight, TOLERANCE_SD), TOLERANCE_AT_THE_END_SD)


@kernel
def project(
    size: int, i: int, tones: Tones, posterior: Gaussian, column: Vector
) -> tuple[float, float]:
    """b^T m and b^T C b: mean and variance of the threshold at tone i.

    Writes C b, the covariance of the threshold there with the unknowns, to `column`.
    """
    mean, covariance = posterior
    left, fraction, bow_db = place_of(tones.left[i]), tones.fraction[i], tones.bow_db[i]
    for a in range(size):
        column[a] = covariance[left, a]
    m, right = mean[left], left
    if fraction > 0.0:
        right = left + 1
        for a in range(size):
            column[a] = (1.0 - fraction) * column[a] + fraction * covariance[right, a]
        m = (1.0 - fraction) * m + fraction * mean[right]
    if bow_db == 0.0:
        return m, (1.0 - fraction) * column[left] + fraction * column[right]
    bend = tones.bend[i]
    for a in range(size):
        column[a] += bow_db * covariance[bend, a]
    variance = (1.0 - fraction) * column[left] + fraction * column[right] + bow_db * column[bend]
    return m + bow_db * mean[bend], variance


@kernel
def posterior_of_size(
    size: int, n: int, tones: Tones, likelihood: Likelihood, prior_precision: Matrix, sites: Sites,
    posterior: Gaussian, scratch: Scratch,
) -> float:  # fmt: skip
    """See `posterior_of`."""
    natural = scratch.natural
    mean, covariance = posterior
    for a in range(size):
        natural[a] = 0.0
        for b in range(size):
            covariance[a, b] = prior_precision[a, b]
    for i in range(n):
        j, u, v = place_of(tones.left[i]), tones.fraction[i], 1.0 - tones.fraction[i]
        tau, nu = sites.tau[i], sites.nu[i]
        natural[j] += v * nu
        covariance[j, j] += v * v * tau
        if u > 0.0:
            natural[j + 1] += u * nu
            covariance[j, j + 1] += u * v * tau
            covariance[j + 1, j + 1] += u * u * tau
        bow_db = tones.bow_db[i]
        if bow_db > 0.0:
            b = tones.bend[i]
            natural[b] += bow_db * nu
            covariance[b, b] += bow_db * bow_db * tau
            covariance[j, b] += v * bow_db * tau
            if u > 0.0:
                covariance[j + 1, b] += u * bow_db * tau
    if size > UNROLLED_MAX:
        half_log_determinant = sweep_more_pivots(size, covariance, scratch.column)
    else:
        half_log_determinant = sweep_pivots(size, covariance, scratch.column)
    multiply(size, covariance, natural, mean)
    square = 0.0
    for a in range(size):
        square += mean[a] * natural[a]
    return 0.5 * square - half_log_determinant


@kernel
def posterior_of(
    n: int, size: int, tones: Tones, likelihood: Likelihood, prior_precision: Matrix, sites: Sites,
    posterior: Gaussian, scratch: Scratch,
) -> float:  # fmt: skip
    """C = (P + sum tau b b^T)^-1, m = C sum nu b; return A(posterior), NaN if C is not positive.

    The loops are short: where the compiler knows how long they are they take half the instructions.
    """
    if size == 4:
        return posterior_of_size(
            4, n, tones, likelihood, prior_precision, sites, posterior, scratch
        )
    if size == 8:
        return posterior_of_size(
            8, n, tones, likelihood, prior_precision, sites, posterior, scratch
        )
    if size == 12:
        return posterior_of_size(
            12, n, tones, likelihood, prior_precision, sites, posterior, scratch
        )
    return posterior_of_size(size, n, tones, likelihood, prior_precision, sites, posterior, scratch)


@kernel
def step_by(
    size: int, d_tau: float, d_nu: float, m: float, v: float, posterior: Gaussian, column: Vector
) -> int:
    """C' = C - d C b b^T C, d = dtau / (1 + dtau v): renew the posterior by a change of a site.

    `m`, `v` and `column` are what `project` found of its tone.
    """
    mean, covariance = posterior
    gain = d_tau / (1.0 + d_tau * v)
    step = d_nu - gain * (m + v * d_nu)
    for a in range(size):
        mean[a] += step * column[a]
    return take_outer(size, gain, column, covariance)


@kernel
def renew_of_size(
    size: int, i: int, damping: float, tones: Tones, likelihood: Likelihood, sites: Sites,
    posterior: Gaussian, column: Vector,
) -> float:  # fmt: skip
    """See `renew`."""
    tau, nu, _ = sites
    m, v = project(size, i, tones, posterior, column)
    kept = 1.0 - tau[i] * v
    new_tau, new_nu = site_of(
        tones.answer[i], likelihood.margin_db[i], likelihood.noise_db2[i],
        likelihood.lapse_rate[i], likelihood.false_alarm_rate[i], likelihood.half_width_db[i],
        v / kept, (m - nu[i] * v) / kept,
    )  # fmt: skip
    d_tau, d_nu = damping * (new_tau - tau[i]), damping * (new_nu - nu[i])
    step_by(size, d_tau, d_nu, m, v, posterior, column)
    tau[i] += d_tau
    nu[i] += d_nu
    return move_of(d_tau, d_nu, m, v)


@kernel
def renew(
    size: int, i: int, damping: float, tones: Tones, likelihood: Likelihood, sites: Sites,
    posterior: Gaussian, column: Vector,
) -> float:  # fmt: skip
    """Renew site i, and the posterior by it; return the move of its marginal, in SDs."""
    if size == 8:
        return renew_of_size(8, i, damping, tones, likelihood, sites, posterior, column)
    return renew_of_size(size, i, damping, tones, likelihood, sites, posterior, column)


@kernel
def sweep_in_turn(
    n: int, size: int, damping: float, tones: Tones, likelihood: Likelihood, sites: Sites,
    posterior: Gaussian, column: Vector,
) -> float:  # fmt: skip
    """Renew all sites one after the other; return the largest move, in SDs."""
    largest = 0.0
    for i in range(n):
        move = renew(size, i, damping, tones, likelihood, sites, posterior, column)
        largest = max(largest, move)
    return largest


@kernel
def propagate(
    n: int, size: int, tones: Tones, likelihood: Likelihood, tolerance_sd: float,
    prior_precision: Matrix, prior_log_partition: float, sites: Sites, posterior: Gaussian,
    scratch: Scratch,
) -> tuple[float, int]:  # fmt: skip
    """Sweep to a fixed point of moment matching, from the sites there are.

    Parameters
    ----------
    n, tones, likelihood : the answers.
    size : unknowns, the first rows and columns of `prior_precision` and of `posterior`.
    tolerance_sd : largest move of a marginal that ends the sweeps, in SDs.
    prior_precision, prior_log_partition : P, and A of the prior.
    sites : in and out.
    posterior : out.

    Returns
    -------
    log_evidence, status : NOT_CONVERGED: the last sweep still moved a marginal noticeably.
    """
    rows = scratch.sites
    log_partition = posterior_of(
        n, size, tones, likelihood, prior_precision, sites, posterior, scratch
    )
    move, log_evidence, at_once, in_turn, share = math.inf, 0.0, True, 0, 1.0
    for k in range(SWEEPS_MAX):
        if at_once:
            move_before = move
            move, log_factors = sweep(n, tones, likelihood, sites, posterior, rows)
            log_evidence = log_partition - prior_log_partition + log_factors
            for i in range(n):
                sites.tau[i] += share * (rows[NEW_TAU, i] - sites.tau[i])
                sites.nu[i] += share * (rows[NEW_NU, i] - sites.nu[i])
            log_partition = posterior_of(
                n, size, tones, likelihood, prior_precision, sites, posterior, scratch
            )
            if move >= move_before:
                share *= DAMPING_AT_ONCE
            at_once = k + 1 < SWEEPS_AT_ONCE and share >= SHARE_AT_ONCE_MIN
        else:
            damping = 1.0 if in_turn < UNDAMPED_SWEEPS else DAMPING
            move = sweep_in_turn(
                n, size, damping, tones, likelihood, sites, posterior, scratch.column
            )
            in_turn += 1
        if move <= tolerance_sd:
            break
    if in_turn > 0:
        log_partition = posterior_of(
            n, size, tones, likelihood, prior_precision, sites, posterior, scratch
        )
        _, log_factors = sweep(n, tones, likelihood, sites, posterior, rows)
        log_evidence = log_partition - prior_log_partition + log_factors
    if math.isnan(log_evidence) or math.isnan(log_partition):
        return math.nan, NOT_POSITIVE_DEFINITE
    return log_evidence, CONVERGED if move <= TOLERANCE_AT_THE_END_SD else NOT_CONVERGED
