"""A mixture of Gaussians over the knots, times a few kinds of listeners: inference.

A hypothesis is a component of the prior together with a kind of listener (response noise, lapse
rate, false-alarm rate, half width of the dead zone). Expectation propagation gives each its
posterior and its evidence, and the evidence its weight. For prediction and selection the kinds of
listeners are then marginalised: one Gaussian with the right mean and covariance for each component
of the prior.
"""

import math
from typing import Final

from firmware_py.inference.elementary import exp, log
from firmware_py.inference.kernel import (
    CONVERGED,
    NOT_POSITIVE_DEFINITE,
    Cube,
    Indices,
    Matrix,
    Vector,
    entry,
    kernel,
)
from firmware_py.inference.linear_algebra import cholesky
from firmware_py.inference.mixture.arrays import (
    FALSE_ALARM_RATE,
    LAPSE_RATE,
    LISTENER_ENTRIES,
    NOISE_DB,
    UNSURE_HALF_WIDTH_DB,
    Gaussian,
    Hypotheses,
    Likelihood,
    Listeners,
    Mixture,
    Prior,
    Scratch,
    Sites,
    Tones,
    Wandering,
)
from firmware_py.inference.mixture.asked import (
    Asked,
    among_asked,
    extend,
    find_asked,
    make_component,
)
from firmware_py.inference.mixture.expectation_propagation import (
    project,
    propagate,
    step_by,
    tolerance_of,
)
from firmware_py.inference.mixture.sites import (
    CAVITY_MEAN,
    CAVITY_VARIANCE,
    MOVE,
    NEW_NU,
    NEW_TAU,
    expect,
    match,
)
from firmware_py.inference.mixture.wandering import (
    attending_probability,
    buttons,
    false_alarm_rate_of,
    follow_attention,
    lapse_rate_of,
    log_of_chain,
)
from firmware_py.inference.psychometric import HEARD, attention

# A hypothesis of less weight than this takes in each answer once and is not swept over again; as
# soon as it weighs more, it is. None sleeps until there are more answers than AWAKE_ANSWERS: while
# they are few, one pass over them has missed the evidence of a hypothesis by a factor of 5,000, and
# a mean by 0.43 dB, be the limit 3e-4 or 3e-5 (bench/README.md).
ASLEEP_BELOW: Final = 3e-4
AWAKE_ANSWERS: Final = 8


@entry
def check_prior(prior: Prior, scratch: Scratch) -> int:
    """Tell whether every component of the prior has a covariance that is positive definite."""
    components, unknowns = prior.mean_db_hl.shape
    for k in range(components):
        for a in range(unknowns):
            for b in range(unknowns):
                scratch.covariance[a, b] = prior.covariance[k, a, b]
        if cholesky(unknowns, scratch.covariance) != CONVERGED:
            return NOT_POSITIVE_DEFINITE
    return CONVERGED


@kernel
def margin_of(i: int, tones: Tones, prior_mean_db_hl: Vector) -> float:
    """`h - b^T m`: how far tone i lies above the prior mean of the threshold."""
    left, u = tones.left[i], tones.fraction[i]
    mean_db_hl = prior_mean_db_hl[left]
    if u > 0.0:
        mean_db_hl = (1.0 - u) * mean_db_hl + u * prior_mean_db_hl[left + 1]
    return float(tones.level_db_hl[i] - mean_db_hl)


@kernel
def see(
    i: int, at: int, tones: Tones, listener: Vector, wandering: Wandering, likelihood: Likelihood
) -> int:
    """Write the likelihood of answer i of such a listener, all but its margin, to place `at`."""
    half_width_db, answer = listener[UNSURE_HALF_WIDTH_DB], tones.answer[i]
    noise = listener[NOISE_DB] * tones.noise_factor[i]
    missing, pressing = wandering.missing[i], wandering.pressing[i]
    lapse_rate = lapse_rate_of(missing, pressing, listener[LAPSE_RATE])
    false_alarm_rate = false_alarm_rate_of(
        missing, pressing, listener[FALSE_ALARM_RATE], buttons(half_width_db)
    )
    likelihood.noise_db2[at] = noise * noise
    likelihood.half_width_db[at] = half_width_db
    likelihood.lapse_rate[at] = lapse_rate
    likelihood.false_alarm_rate[at] = false_alarm_rate
    likelihood.sign[at] = answer
    likelihood.rate[at] = false_alarm_rate if answer == HEARD else lapse_rate
    likelihood.attention[at] = attention(lapse_rate, false_alarm_rate, half_width_db)
    return CONVERGED


@kernel
def see_all(
    n: int, tones: Tones, listener: Vector, wandering: Wandering, likelihood: Likelihood
) -> int:
    """Write the likelihood of the first n answers of such a listener, all but the margins."""
    for i in range(n):
        see(i, i, tones, listener, wandering, likelihood)
    return CONVERGED


@kernel
def find_margins(n: int, tones: Tones, prior_mean_db_hl: Vector, likelihood: Likelihood) -> int:
    """`h - b^T m`: write how far the first n tones lie above the prior mean of the threshold."""
    for i in range(n):
        likelihood.margin_db[i] = margin_of(i, tones, prior_mean_db_hl)
    return CONVERGED


@entry
def weigh(
    log_component: Vector, log_listener: Vector, log_evidence: Vector, weight: Vector
) -> float:
    """`w_h = prior_h Z_h / sum prior Z`: write the weights; return the log of the sum.

    Parameters
    ----------
    log_component, log_listener : log prior weights of the components, and of the listeners.
    log_evidence : log Z of each hypothesis.
    weight : out, of each hypothesis.
    """
    components, count = len(log_component), len(log_evidence)
    largest = -math.inf
    for h in range(count):
        weight[h] = log_component[h % components] + log_listener[h // components] + log_evidence[h]
        largest = max(largest, weight[h])
    total = 0.0
    for h in range(count):
        weight[h] = exp(weight[h] - largest)
        total += weight[h]
    for h in range(count):
        weight[h] /= total
    return largest + log(total)


@kernel
def filter_answer(
    n: int, tones: Tones, likelihood: Likelihood, listeners: Listeners, prior: Prior,
    hypotheses: Hypotheses, wandering: Wandering, scratch: Scratch,
) -> int:  # fmt: skip
    """Z_h *= p(answer n - 1 | h): assumed density filtering, the new answer alone.

    The hypotheses take the place that answers have elsewhere: the same loops go over them.
    """
    components, count, i = len(prior.log_weight), len(hypotheses.weight), n - 1
    size = len(scratch.mean)
    rows, probability = scratch.sites, hypotheses.probability
    for h in range(count):
        see(i, h, tones, listeners.table[h // components], wandering, likelihood)
        likelihood.margin_db[h] = margin_of(i, tones, prior.mean_db_hl[h % components])
        rows[CAVITY_MEAN, h], rows[CAVITY_VARIANCE, h] = project(
            size, i, tones, Gaussian(hypotheses.mean[h], hypotheses.covariance[h]), scratch.column
        )
    expect(count, likelihood, rows[MOVE], rows)
    match(count, rows[MOVE], rows)
    for h in range(count):
        probability[h, i] = rows[MOVE, h]
        hypotheses.tau[h, i], hypotheses.nu[h, i] = rows[NEW_TAU, h], rows[NEW_NU, h]
        hypotheses.log_evidence[h] += log(probability[h, i])
        hypotheses.swept[h] = 0
        posterior = Gaussian(hypotheses.mean[h], hypotheses.covariance[h])
        m, v = project(size, i, tones, posterior, scratch.column)
        step_by(size, rows[NEW_TAU, h], rows[NEW_NU, h], m, v, posterior, scratch.column)
    return CONVERGED


@kernel
def sweep_hypothesis(
    n: int, size: int, h: int, tones: Tones, likelihood: Likelihood, prior: Prior, asked: Asked,
    hypotheses: Hypotheses, wandering: Wandering, scratch: Scratch,
) -> int:  # fmt: skip
    """`Z_h` and the posterior of h by expectation propagation, among the unknowns asked about.

    `likelihood` is that of its listener, but for the margins.
    """
    k = h % len(prior.log_weight)
    find_margins(n, tones, prior.mean_db_hl[k], likelihood)
    status = make_component(size, k, prior.covariance[k], asked, scratch.product, scratch.column)
    if status != CONVERGED:
        return status
    among = Gaussian(scratch.mean, scratch.covariance)
    hypotheses.log_evidence[h], status = propagate(
        n, size, among_asked(tones, asked), likelihood, tolerance_of(hypotheses.weight[h]),
        asked.precision[k], asked.log_partition[k],
        Sites(hypotheses.tau[h], hypotheses.nu[h], hypotheses.probability[h]), among, scratch,
    )  # fmt: skip
    posterior = Gaussian(hypotheses.mean[h], hypotheses.covariance[h])
    extend(size, k, asked, among, posterior, scratch.column)
    if len(wandering.attending) > 0:
        presses = buttons(likelihood.half_width_db[0])
        hypotheses.log_evidence[h] += log_of_chain(
            n, presses, tones.answer, hypotheses.probability[h], wandering
        )
    return status


@kernel
def sweep_awake(
    n: int, tones: Tones, likelihood: Likelihood, listeners: Listeners, prior: Prior, asked: Asked,
    hypotheses: Hypotheses, wandering: Wandering, scratch: Scratch, total: Vector,
) -> int:  # fmt: skip
    """`Z_h` by expectation propagation, of those that do not sleep, and then the weights.

    Twice: those that are awake, and then those that the new weights have woken.
    """
    components, count = len(prior.log_weight), len(hypotheses.weight)
    status, seen = CONVERGED, -1
    size = find_asked(n, tones, asked)
    for turn in range(2 * count):
        h = turn % count
        awake = n <= AWAKE_ANSWERS or hypotheses.weight[h] >= ASLEEP_BELOW
        if awake and hypotheses.swept[h] == 0:
            hypotheses.swept[h] = 1
            if seen != h // components:
                seen = h // components
                see_all(n, tones, listeners.table[seen], wandering, likelihood)
            found = sweep_hypothesis(
                n, size, h, tones, likelihood, prior, asked, hypotheses, wandering, scratch
            )
            if found == NOT_POSITIVE_DEFINITE:
                return found
            status = max(status, found)
        if h == count - 1:
            total[0] = weigh(
                prior.log_weight, listeners.log_share, hypotheses.log_evidence, hypotheses.weight
            )
    return status


@kernel
def attend(
    n: int, presses: float, answer: Indices, hypotheses: Hypotheses, wandering: Wandering
) -> int:
    """p_i = sum_h w_h p_hi / sum_h w_h over those that are swept: how attentive each answer is."""
    share = 0.0
    for i in range(n):
        wandering.attending[i] = 0.0
    for h in range(len(hypotheses.weight)):
        weight = hypotheses.weight[h]
        if hypotheses.swept[h] == 1 and weight >= ASLEEP_BELOW:
            share += weight
            for i in range(n):
                wandering.attending[i] += weight * attending_probability(
                    answer[i], wandering.missing[i], wandering.pressing[i], presses,
                    hypotheses.probability[h, i],
                )  # fmt: skip
    for i in range(n):
        wandering.attending[i] /= share
    return follow_attention(n, presses, answer, wandering)


@entry
def infer(
    n: int, tones: Tones, likelihood: Likelihood, listeners: Listeners, prior: Prior, asked: Asked,
    hypotheses: Hypotheses, wandering: Wandering, scratch: Scratch, total: Vector,
) -> int:  # fmt: skip
    """p(w, h | answers) as a Gaussian and a weight for each hypothesis h: take in answer n - 1.

    Parameters
    ----------
    n : answers, with the new one.
    tones, listeners, prior : what is given.
    likelihood, scratch : scratch.
    asked, hypotheses, wandering : in and out, from answer to answer.
    total : (1,) out: log evidence of all.

    Returns
    -------
    status : the worst of the hypotheses that matter.
    """
    filter_answer(n, tones, likelihood, listeners, prior, hypotheses, wandering, scratch)
    total[0] = weigh(
        prior.log_weight, listeners.log_share, hypotheses.log_evidence, hypotheses.weight
    )
    status = sweep_awake(
        n, tones, likelihood, listeners, prior, asked, hypotheses, wandering, scratch, total
    )
    if status == NOT_POSITIVE_DEFINITE:
        return status
    if len(wandering.attending) > 0:
        presses = buttons(listeners.table[0, UNSURE_HALF_WIDTH_DB])
        attend(n, presses, tones.answer, hypotheses, wandering)
    return status


@entry
def sum_out_listeners(
    listener: Matrix, weight: Vector, prior_mean_db_hl: Matrix, mean: Matrix, covariance: Cube,
    mixture: Mixture, expected_listener: Vector,
) -> int:  # fmt: skip
    """m_k = sum_g w m, C_k = sum_g w (C + (m - m_k)(m - m_k)^T): marginalise over the listeners.

    Parameters
    ----------
    listener : see `Listeners.table`.
    weight, mean, covariance : of the hypotheses, as `infer` left them.
    prior_mean_db_hl : of the components.
    mixture : out, one Gaussian a component.
    expected_listener : (LISTENER_ENTRIES,) out, posterior means.
    """
    components, knots = prior_mean_db_hl.shape
    listeners = len(listener)
    for column in range(LISTENER_ENTRIES):
        expected_listener[column] = 0.0
        for h in range(components * listeners):
            expected_listener[column] += weight[h] * listener[h // components, column]
    for k in range(components):
        mean_k, covariance_k = mixture.mean_db_hl[k], mixture.covariance[k]
        total = 0.0
        for g in range(listeners):
            total += weight[g * components + k]
        mixture.weight[k] = total
        for a in range(knots):
            mean_k[a] = 0.0
            for b in range(knots):
                covariance_k[a, b] = 0.0
        for g in range(listeners):
            h = g * components + k
            # With no weight left, all listeners count the same: the numbers must stay numbers.
            share = weight[h] / total if total > 0.0 else 1.0 / listeners
            for a in range(knots):
                mean_k[a] += share * mean[h, a]
        for g in range(listeners):
            h = g * components + k
            share = weight[h] / total if total > 0.0 else 1.0 / listeners
            for a in range(knots):
                off = mean[h, a] - mean_k[a]
                for b in range(knots):
                    covariance_k[a, b] += share * (
                        covariance[h, a, b] + off * (mean[h, b] - mean_k[b])
                    )
        for a in range(knots):
            mean_k[a] += prior_mean_db_hl[k, a]
    return CONVERGED
