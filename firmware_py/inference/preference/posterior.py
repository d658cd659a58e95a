"""The posterior of a wish: expectation propagation, one Gaussian for each kind of people.

An answer sees the wish along one direction only, t = slope . theta, so each site is a Gaussian in
t. The answers are taken one after the other, and the covariance follows each by a change of rank
one (Minka 2001; Rasmussen & Williams, section 3.6). A lapse may make a site's precision negative:
an answer that contradicts all others widens the posterior, as it should.
"""

import math
from typing import Final

from firmware_py.inference.elementary import exp, log
from firmware_py.inference.kernel import (
    CONVERGED,
    NOT_CONVERGED,
    NOT_POSITIVE_DEFINITE,
    Matrix,
    Vector,
    entry,
    kernel,
)
from firmware_py.inference.linear_algebra import invert
from firmware_py.inference.preference.arrays import (
    LAPSES,
    SENSITIVITY,
    TIE_WIDTH,
    Comparisons,
    People,
    Scratch,
    Space,
    Wishes,
)
from firmware_py.inference.preference.thurstone import attention, expectation

SWEEPS_MAX: Final = 60
CHANGE_MAX: Final = 1e-7  # of a mean, in its SDs, from one sweep to the next
STEP: Final = 0.8  # damping: with lapses a full step may go to and fro


@kernel
def project(d: int, covariance: Matrix, slope: Vector, column: Vector) -> float:
    """Write `column = C slope` and return slope . C slope."""
    variance = 0.0
    for i in range(d):
        total = 0.0
        for j in range(d):
            total += covariance[i, j] * slope[j]
        column[i] = total
    for i in range(d):
        variance += slope[i] * column[i]
    return variance


@kernel
def dot(d: int, a: Vector, b: Vector) -> float:
    """Return a . b."""
    total = 0.0
    for i in range(d):
        total += a[i] * b[i]
    return total


@kernel
def refresh(
    n: int, kind: int, asked: Comparisons, space: Space, wishes: Wishes, scratch: Scratch
) -> float:
    """Compute mean and covariance from the sites; return log det of the covariance, NaN: none."""
    d = len(space.low)
    for i in range(d):
        scratch.total[i] = 0.0
        for j in range(d):
            scratch.precision[i, j] = 0.0
        scratch.precision[i, i] = space.prior_precision[i]
    for a in range(n):
        slope, tau, nu = asked.slope[a], wishes.tau[kind, a], wishes.nu[kind, a]
        for i in range(d):
            scratch.total[i] += nu * slope[i]
            for j in range(d):
                scratch.precision[i, j] += tau * slope[i] * slope[j]
    half = invert(d, scratch.precision, scratch.inverse_scratch, scratch.inverse)
    for i in range(d):
        for j in range(d):
            wishes.covariance[kind, i, j] = scratch.inverse[i, j]
    for i in range(d):
        wishes.mean[kind, i] = dot(d, scratch.inverse[i], scratch.total)
    return -2.0 * half


@kernel
def take_in(
    a: int, kind: int, asked: Comparisons, people: People, wishes: Wishes, scratch: Scratch
) -> float:
    """Update the site of answer a, mean and covariance; return the change of the mean of t, SDs."""
    d = len(scratch.column)
    slope, mean, covariance = asked.slope[a], wishes.mean[kind], wishes.covariance[kind]
    variance = project(d, covariance, slope, scratch.column)
    if not variance > 0.0:  # two that came out alike tell nothing of the wish
        return 0.0
    t = dot(d, slope, mean)
    tau, nu = wishes.tau[kind, a], wishes.nu[kind, a]
    cavity_precision = 1.0 / variance - tau
    if not cavity_precision > 0.0:
        return 0.0
    v = 1.0 / cavity_precision
    m = v * (t / variance - nu)
    s = people.table[kind, SENSITIVITY]
    _, first, second = expectation(
        asked.answer[a], s * (m - asked.offset[a]), s * s * v,
        people.table[kind, TIE_WIDTH], attention(people, kind),
        people.table[kind, LAPSES + asked.heard[a]],
    )  # fmt: skip
    slope_log, bend_log = s * first, s * s * (second - first * first)
    shrunk = 1.0 + v * bend_log  # the variance of t with this answer, over that without
    if not shrunk > 0.0:
        return 0.0
    new_tau = max(-bend_log / shrunk, 0.0)
    new_nu = slope_log + new_tau * (m + v * slope_log)
    change_tau, change_nu = STEP * (new_tau - tau), STEP * (new_nu - nu)
    growth = 1.0 + change_tau * variance
    if not growth > 0.0:
        return 0.0
    wishes.tau[kind, a] = tau + change_tau
    wishes.nu[kind, a] = nu + change_nu
    # C' = C - c c' dtau / (1 + dtau v), mu' = mu + c (dnu - dtau t) / (1 + dtau v).
    gain, step = change_tau / growth, (change_nu - change_tau * t) / growth
    for i in range(d):
        mean[i] += step * scratch.column[i]
        for j in range(d):
            covariance[i, j] -= gain * scratch.column[i] * scratch.column[j]
    return float(abs(step) * math.sqrt(variance))


@kernel
def evidence(
    n: int, kind: int, log_determinant: float, asked: Comparisons, people: People, space: Space,
    wishes: Wishes, scratch: Scratch,
) -> float:  # fmt: skip
    """Log probability of all answers under a kind of people (Rasmussen & Williams, 3.65)."""
    d = len(space.low)
    total = 0.5 * log_determinant
    for i in range(d):
        total += 0.5 * log(space.prior_precision[i])
    s = people.table[kind, SENSITIVITY]
    for a in range(n):
        slope, tau, nu = asked.slope[a], wishes.tau[kind, a], wishes.nu[kind, a]
        variance = project(d, wishes.covariance[kind], slope, scratch.column)
        t = dot(d, slope, wishes.mean[kind])
        if not variance > 0.0:
            z, _, _ = expectation(
                asked.answer[a], 0.0, 0.0, people.table[kind, TIE_WIDTH], attention(people, kind),
                people.table[kind, LAPSES + asked.heard[a]],
            )  # fmt: skip
            total += log(z)
            continue
        precision = max(1.0 / variance - tau, 1e-9)
        m = (t / variance - nu) / precision
        z, _, _ = expectation(
            asked.answer[a], s * (m - asked.offset[a]), s * s / precision,
            people.table[kind, TIE_WIDTH], attention(people, kind),
            people.table[kind, LAPSES + asked.heard[a]],
        )  # fmt: skip
        both = precision + tau
        pull = nu + m * precision
        total += log(z) + 0.5 * log(both / precision)
        total -= 0.5 * (pull * pull / both - m * m * precision)
        total += 0.5 * nu * t
    return total


@kernel
def weigh(people: People, wishes: Wishes) -> int:
    """Posterior probabilities of the kinds of people."""
    kinds = len(people.log_share)
    highest = -math.inf
    for kind in range(kinds):
        highest = max(highest, people.log_share[kind] + wishes.log_evidence[kind])
    total = 0.0
    for kind in range(kinds):
        share = people.log_share[kind] + wishes.log_evidence[kind]
        wishes.weight[kind] = exp(share - highest)
        total += wishes.weight[kind]
    for kind in range(kinds):
        wishes.weight[kind] /= total
    return CONVERGED


@entry
def infer_wish(
    n: int, asked: Comparisons, people: People, space: Space, wishes: Wishes, scratch: Scratch
) -> int:
    """Compute the posterior under each kind of people, and the probabilities of the kinds.

    Parameters
    ----------
    n : answers.
    asked, people, space : as given.
    wishes : in: the sites of the answers before; out: all of it.
    scratch : scratch.

    Returns
    -------
    status : CONVERGED, NOT_CONVERGED or NOT_POSITIVE_DEFINITE.
    """
    status = CONVERGED
    kinds = len(people.log_share)
    for kind in range(kinds):
        log_determinant = refresh(n, kind, asked, space, wishes, scratch)
        largest = math.inf
        for _ in range(SWEEPS_MAX):
            if not largest > CHANGE_MAX:
                break
            largest = 0.0
            for a in range(n):
                largest = max(largest, take_in(a, kind, asked, people, wishes, scratch))
            log_determinant = refresh(n, kind, asked, space, wishes, scratch)
        if math.isnan(log_determinant):
            return NOT_POSITIVE_DEFINITE
        if largest > CHANGE_MAX:
            status = NOT_CONVERGED
        wishes.log_evidence[kind] = evidence(
            n, kind, log_determinant, asked, people, space, wishes, scratch
        )
    weigh(people, wishes)
    return status
