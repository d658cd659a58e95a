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
from firmware_py.inference.linear_algebra import invert
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
from firmware_py.inference.mixture.expectation_propagation import (
    project,
    propagate,
    renew,
    take_in_time,
    tolerance_of,
)
from firmware_py.inference.mixture.response_times import keep_time, linearise, recall_times
from firmware_py.inference.mixture.wandering import (
    attending_probability,
    buttons,
    false_alarm_rate_of,
    follow_attention,
    lapse_rate_of,
    log_of_chain,
)

# A hypothesis of less weight than this takes in each answer once and is not swept over again; as
# soon as it weighs more, it is.
ASLEEP_BELOW: Final = 3e-4


@entry
def invert_prior(prior: Prior, scratch: Scratch) -> int:
    """P = C^-1 and A = log det(C) / 2 of each component of the prior."""
    components, knots = prior.mean_db_hl.shape
    for k in range(components):
        for a in range(knots):
            for b in range(knots):
                scratch.factor[a, b] = prior.covariance[k, a, b]
        prior.log_partition[k] = invert(
            knots, scratch.factor, scratch.inverse_factor, prior.precision[k]
        )
        if math.isnan(prior.log_partition[k]):
            return NOT_POSITIVE_DEFINITE
    return CONVERGED


@kernel
def line(left: int, fraction: float, values: Vector) -> float:
    """(1 - u) y_left + u y_(left + 1): the value `fraction` u of the way to the next knot."""
    if fraction == 0.0:
        return float(values[left])
    return float((1.0 - fraction) * values[left] + fraction * values[left + 1])


@kernel
def see(
    first: int, n: int, tones: Tones, prior_mean_db_hl: Vector, listener: Vector,
    wandering: Wandering, likelihood: Likelihood,
) -> int:  # fmt: skip
    """Margin h - b^T m and variance sigma**2: the likelihood of answers first ... n - 1."""
    presses = buttons(listener[UNSURE_HALF_WIDTH_DB])
    for i in range(first, n):
        noise = listener[NOISE_DB] * tones.noise_factor[i]
        mean_db_hl = line(tones.left[i], tones.fraction[i], prior_mean_db_hl)
        likelihood.margin_db[i] = tones.level_db_hl[i] - mean_db_hl
        likelihood.noise_db2[i] = noise * noise
        missing, pressing = wandering.missing[i], wandering.pressing[i]
        likelihood.lapse_rate[i] = lapse_rate_of(missing, pressing, listener[LAPSE_RATE])
        likelihood.false_alarm_rate[i] = false_alarm_rate_of(
            missing, pressing, listener[FALSE_ALARM_RATE], presses
        )
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
    hypotheses: Hypotheses, wandering: Wandering, column: Vector,
) -> int:  # fmt: skip
    """Z_h *= p(answer n - 1 | h): assumed density filtering, the new answer alone."""
    components = len(prior.log_weight)
    for h in range(len(hypotheses.weight)):
        listener = listeners.table[h // components]
        sites = Sites(hypotheses.tau[h], hypotheses.nu[h], hypotheses.probability[h])
        posterior = Gaussian(hypotheses.mean[h], hypotheses.covariance[h])
        see(n - 1, n, tones, prior.mean_db_hl[h % components], listener, wandering, likelihood)
        sites.tau[n - 1], sites.nu[n - 1] = 0.0, 0.0
        _, sites.probability[n - 1] = renew(
            n - 1, 1.0, tones, likelihood, listener[UNSURE_HALF_WIDTH_DB], sites, posterior, column
        )
        hypotheses.log_evidence[h] += log(sites.probability[n - 1])
        if len(likelihood.time) > 0:
            mean, variance = project(n - 1, tones, posterior, column)
            linearise(n - 1, tones, listener, mean, variance, likelihood)
            keep_time(n - 1, likelihood, hypotheses.times[h])
            hypotheses.log_evidence[h] += take_in_time(n - 1, tones, likelihood, posterior, column)
        hypotheses.swept[h] = 0
    return CONVERGED


@kernel
def sweep_awake(
    n: int, wanders: int, tones: Tones, likelihood: Likelihood, listeners: Listeners,
    prior: Prior, hypotheses: Hypotheses, wandering: Wandering, scratch: Scratch, total: Vector,
) -> int:  # fmt: skip
    """`Z_h` by expectation propagation, where w_h >= ASLEEP_BELOW, and then the weights.

    Twice: those that are awake, and then those that the new weights have woken.
    """
    components, count = len(prior.log_weight), len(hypotheses.weight)
    status = CONVERGED
    for turn in range(2 * count):
        h = turn % count
        if hypotheses.swept[h] == 0 and hypotheses.weight[h] >= ASLEEP_BELOW:
            hypotheses.swept[h] = 1
            k, listener = h % components, listeners.table[h // components]
            see(0, n, tones, prior.mean_db_hl[k], listener, wandering, likelihood)
            if len(likelihood.time) > 0:
                recall_times(n, hypotheses.times[h], likelihood)
            half_width_db = listener[UNSURE_HALF_WIDTH_DB]
            hypotheses.log_evidence[h], found = propagate(
                n, tones, likelihood, half_width_db, tolerance_of(hypotheses.weight[h]),
                prior.precision[k], prior.log_partition[k],
                Sites(hypotheses.tau[h], hypotheses.nu[h], hypotheses.probability[h]),
                Gaussian(hypotheses.mean[h], hypotheses.covariance[h]), scratch,
            )  # fmt: skip
            if found == NOT_POSITIVE_DEFINITE:
                return found
            status = max(status, found)
            if wanders == 1:
                hypotheses.log_evidence[h] += log_of_chain(
                    n, buttons(half_width_db), tones.answer, hypotheses.probability[h], wandering
                )
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
    for i in range(n):
        p, share = 0.0, 0.0
        for h in range(len(hypotheses.weight)):
            weight = hypotheses.weight[h]
            if hypotheses.swept[h] == 1 and weight >= ASLEEP_BELOW:
                p += weight * attending_probability(
                    answer[i], wandering.missing[i], wandering.pressing[i], presses,
                    hypotheses.probability[h, i],
                )  # fmt: skip
                share += weight
        wandering.attending[i] = p / share
    return follow_attention(n, presses, answer, wandering)


@entry
def infer(
    n: int, wanders: int, tones: Tones, likelihood: Likelihood, listeners: Listeners,
    prior: Prior, hypotheses: Hypotheses, wandering: Wandering, scratch: Scratch, total: Vector,
) -> int:  # fmt: skip
    """p(w, h | answers) as a Gaussian and a weight for each hypothesis h: take in answer n - 1.

    Parameters
    ----------
    n : answers, with the new one.
    wanders : 1 if attention may wander, else 0.
    tones, listeners, prior : what is given.
    likelihood, scratch : scratch.
    hypotheses, wandering : in and out, from answer to answer.
    total : (1,) out: log evidence of all.

    Returns
    -------
    status : the worst of the hypotheses that matter.
    """
    filter_answer(n, tones, likelihood, listeners, prior, hypotheses, wandering, scratch.column)
    total[0] = weigh(
        prior.log_weight, listeners.log_share, hypotheses.log_evidence, hypotheses.weight
    )
    status = sweep_awake(
        n, wanders, tones, likelihood, listeners, prior, hypotheses, wandering, scratch, total
    )
    if status == NOT_POSITIVE_DEFINITE:
        return status
    if wanders == 1:
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
