"""The sites of expectation propagation: Gaussians in the place of the answers' likelihoods.

Every answer i sees the threshold through one projection g = b_i^T w of the deviations w of the
unknowns from their prior mean. b_i has at most three entries that are not 0: the straight line
between two knots, and the bend between them. The site exp(nu_i g - tau_i g**2 / 2) takes the place
of its likelihood. It is chosen by moment matching: the cavity (the marginal of g without the site)
times the site has the mean and variance that the cavity times the likelihood has (Minka 2001; R&W
section 3.6).

tau_i is kept at 0 or above. A likelihood with lapses is not log-concave, and an answer that
contradicts the others widens the posterior. Its site then moves the mean only, and the posterior is
a proper one whatever the answers are.
"""

import math
from typing import Final

from firmware_py.inference.elementary import INV_SQRT_2PI, SQRT_HALF, erfcx, exp, log
from firmware_py.inference.kernel import CONVERGED, Matrix, Vector, kernel
from firmware_py.inference.linear_algebra import PRODUCT_MAX, PRODUCT_MIN
from firmware_py.inference.mixture.arrays import Gaussian, Likelihood, Sites, Tones
from firmware_py.inference.mixture.prediction import component_at
from firmware_py.inference.psychometric import UNSURE, expected_answer, normal_from

# Rows of `Scratch.sites`: of the marginal of g and of its cavity, of the probability of the answer
# there, and of the site that comes of it.
MEAN, VARIANCE, WIDENING, CAVITY_MEAN, CAVITY_VARIANCE = range(5)
PER_SD, EDGE, TAIL, BELL, SLOPE, CURVATURE = range(5, 11)
GRADIENT, SECOND, NEW_TAU, NEW_NU, MOVE, FACTOR = range(11, 17)
SITE_ROWS: Final = 17


@kernel
def tau_of(second: float, cavity_variance: float) -> float:
    """`tau = max(-s / (1 + v s), 0)`, v the variance of the cavity.

    s = d2 log p / d mean**2, p the probability of the answer in the cavity.
    """
    shrinking = 1.0 + cavity_variance * second  # the variance with the answer over that without
    return max(-second / shrinking, 0.0) if shrinking > 0.0 else 0.0


@kernel
def nu_of(gradient: float, cavity_mean: float, cavity_variance: float, tau: float) -> float:
    """`nu = d + (m + v d) tau`; m and v of the cavity, d = d log p / d mean."""
    return gradient + (cavity_mean + cavity_variance * gradient) * tau


@kernel
def move_of(d_tau: float, d_nu: float, mean: float, variance: float) -> float:
    """|d mean| / sd + |d tau| v / 2: by how much a marginal moves with its site, in SDs."""
    step = (d_nu - d_tau * mean) / (1.0 + d_tau * variance)
    return abs(step) * math.sqrt(variance) + 0.5 * abs(d_tau) * variance


@kernel
def site_of(
    answer: int,
    margin_db: float,
    noise_db2: float,
    lapse_rate: float,
    false_alarm_rate: float,
    unsure_half_width_db: float,
    variance: float,
    mean: float,
) -> tuple[float, float]:
    """`tau` and `nu` by moment matching in one cavity.

    Parameters
    ----------
    answer : what was answered.
    margin_db, noise_db2, lapse_rate, false_alarm_rate : see `Likelihood`.
    unsure_half_width_db : of the dead zone.
    variance, mean : of the cavity.
    """
    p, slope, curvature = expected_answer(
        answer,
        margin_db - mean,
        math.sqrt(variance + noise_db2),
        lapse_rate,
        false_alarm_rate,
        unsure_half_width_db,
    )
    gradient = slope / p
    tau = tau_of(curvature / p - gradient * gradient, variance)
    return tau, nu_of(gradient, mean, variance, tau)


# The loops below have one result each, and no turn of a loop depends on the turn before. So the
# compiler vectorises them, which changes no bit.


@kernel
def leave_out(n: int, tones: Tones, sites: Sites, posterior: Gaussian, rows: Matrix) -> int:
    """v_cav = v / (1 - tau v), m_cav = (m - nu v) / (1 - tau v): write marginals and cavities."""
    m, variance, widening = rows[MEAN], rows[VARIANCE], rows[WIDENING]
    cavity_mean, cavity_variance = rows[CAVITY_MEAN], rows[CAVITY_VARIANCE]
    mean, covariance = posterior
    tau, nu = sites.tau, sites.nu
    for i in range(n):
        m[i], variance[i] = component_at(
            tones.left[i], tones.bend[i], tones.fraction[i], tones.bow_db[i], mean, covariance
        )
    for i in range(n):
        widening[i] = 1.0 / (1.0 - tau[i] * variance[i])
    for i in range(n):
        cavity_variance[i] = variance[i] * widening[i]
    for i in range(n):
        cavity_mean[i] = (m[i] - nu[i] * variance[i]) * widening[i]
    return CONVERGED


@kernel
def expect(n: int, likelihood: Likelihood, probability: Vector, rows: Matrix) -> int:
    """`p = E[P(answer | g)]`, dp/dm and d2p/dm2 of each answer in its cavity: `expected_answer`."""
    cavity_mean, cavity_variance = rows[CAVITY_MEAN], rows[CAVITY_VARIANCE]
    per_sd, edge, tail, bell = rows[PER_SD], rows[EDGE], rows[TAIL], rows[BELL]
    slope, curvature = rows[SLOPE], rows[CURVATURE]
    margin_db, noise_db2 = likelihood.margin_db, likelihood.noise_db2
    dead_db, sign = likelihood.half_width_db, likelihood.sign
    rate, attention = likelihood.rate, likelihood.attention
    for i in range(n):
        per_sd[i] = 1.0 / math.sqrt(cavity_variance[i] + noise_db2[i])
    for i in range(n):
        edge[i] = (sign[i] * (margin_db[i] - cavity_mean[i]) - dead_db[i]) * per_sd[i]
    for i in range(n):
        tail[i] = erfcx(abs(edge[i]) * SQRT_HALF)
    for i in range(n):
        bell[i] = exp(-0.5 * edge[i] * edge[i])
    for i in range(n):
        below, _ = normal_from(edge[i], tail[i], bell[i])
        probability[i] = rate[i] + attention[i] * below
    for i in range(n):
        slope[i] = -sign[i] * attention[i] * (INV_SQRT_2PI * bell[i]) * per_sd[i]
    for i in range(n):
        curvature[i] = sign[i] * slope[i] * edge[i] * per_sd[i]
    if dead_db[0] > 0.0:  # there is a second button
        for i in range(n):
            if sign[i] == UNSURE:
                probability[i], slope[i], curvature[i] = expected_answer(
                    UNSURE, margin_db[i] - cavity_mean[i], 1.0 / per_sd[i],
                    likelihood.lapse_rate[i], likelihood.false_alarm_rate[i], dead_db[i],
                )  # fmt: skip
    return CONVERGED


@kernel
def match(n: int, probability: Vector, rows: Matrix) -> int:
    """`d = p' / p`, `s = p'' / p - d**2`: write the new sites."""
    cavity_mean, cavity_variance = rows[CAVITY_MEAN], rows[CAVITY_VARIANCE]
    slope, curvature = rows[SLOPE], rows[CURVATURE]
    gradient, second = rows[GRADIENT], rows[SECOND]
    new_tau, new_nu = rows[NEW_TAU], rows[NEW_NU]
    for i in range(n):
        gradient[i] = slope[i] / probability[i]
    for i in range(n):
        second[i] = curvature[i] / probability[i] - gradient[i] * gradient[i]
    for i in range(n):
        new_tau[i] = tau_of(second[i], cavity_variance[i])
    for i in range(n):
        new_nu[i] = nu_of(gradient[i], cavity_mean[i], cavity_variance[i], new_tau[i])
    return CONVERGED


@kernel
def compare(n: int, sites: Sites, rows: Matrix) -> int:
    """Write by how much the new sites move the marginals, and the present ones' part of log Z."""
    m, variance = rows[MEAN], rows[VARIANCE]
    cavity_mean, cavity_variance = rows[CAVITY_MEAN], rows[CAVITY_VARIANCE]
    new_tau, new_nu, move, factor = rows[NEW_TAU], rows[NEW_NU], rows[MOVE], rows[FACTOR]
    tau, nu = sites.tau, sites.nu
    for i in range(n):
        move[i] = move_of(new_tau[i] - tau[i], new_nu[i] - nu[i], m[i], variance[i])
    for i in range(n):  # A is (nu**2 / tau - log tau) / 2: the logarithms are taken of a product
        factor[i] = 0.5 * (
            cavity_mean[i] * cavity_mean[i] / cavity_variance[i] - m[i] * m[i] / variance[i]
        )
    return CONVERGED


@kernel
def sweep(
    n: int, tones: Tones, likelihood: Likelihood, sites: Sites, posterior: Gaussian, rows: Matrix
) -> tuple[float, float]:
    """Match all sites at once, from one posterior; the new ones are written to `rows`.

    Returns
    -------
    move, log_factors : the largest move of a marginal by its new site, in SDs; and
        sum_i [log p_i + A(cavity_i) - A(marginal_i)] of the present sites.
    """
    leave_out(n, tones, sites, posterior, rows)
    expect(n, likelihood, sites.probability, rows)
    match(n, sites.probability, rows)
    compare(n, sites, rows)
    largest, log_factors, product = 0.0, 0.0, 1.0
    for i in range(n):
        largest = max(largest, rows[MOVE, i])
        log_factors += rows[FACTOR, i]
        product *= sites.probability[i] * sites.probability[i] * rows[WIDENING, i]
        if not PRODUCT_MIN < product < PRODUCT_MAX:
            log_factors += 0.5 * log(product)
            product = 1.0
    return largest, log_factors + 0.5 * log(product)
