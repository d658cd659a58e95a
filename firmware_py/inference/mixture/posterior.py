"""A mixture of Gaussians over the knots, times a few kinds of listeners: inference and prediction.

A hypothesis is a component of the prior together with a kind of listener (response noise, lapse
rate, false-alarm rate). Expectation propagation gives each its posterior and its evidence, and the
evidence its weight. For prediction and selection the kinds of listeners are then summed out: one
Gaussian with the right mean and covariance for each component of the prior.
"""

import math
from typing import Final

from firmware_py.inference.answers import expected_answer, normal
from firmware_py.inference.elementary import exp, log
from firmware_py.inference.kernel import (
    CONVERGED,
    CUBE,
    F8,
    I8,
    INDICES,
    MATRIX,
    NOT_POSITIVE_DEFINITE,
    VECTOR,
    Array,
    Indices,
    entry,
    kernel,
)
from firmware_py.inference.linear_algebra import invert
from firmware_py.inference.mixture.expectation_propagation import (
    COLUMN,
    NATURAL,
    propagate,
    renew,
    tolerance_of,
)
from firmware_py.inference.mixture.wandering import (
    ATTENDING,
    attending_probability,
    chance,
    follow_attention,
    rate_of,
)

# Columns of the table of listeners.
NOISE_DB: Final = 0
LAPSE_RATE: Final = 1
FALSE_ALARM_RATE: Final = 2
LISTENER_ENTRIES: Final = 3

# Rows of the table of answers.
FRACTION: Final = 0  # of the way to the next knot
LEVEL_DB_HL: Final = 1
NOISE_FACTOR: Final = 2  # of the response noise at this frequency
BETWEEN_DB2: Final = 3  # variance between the knots
ANSWER_ROWS: Final = 4

# Rows of the scratch for what an answer means to one hypothesis.
MARGIN_DB: Final = 0
NOISE_DB2: Final = 1
LAPSES: Final = 2
FALSE_ALARMS: Final = 3
SEEN_ROWS: Final = 4

# A hypothesis of less weight than this takes in each answer once and is not swept over again; as
# soon as it weighs more, it is.
ASLEEP_BELOW: Final = 1e-4

QUANTILE_STEPS: Final = 100  # about 7 are taken; a hundred halvings would be exact
QUANTILE_TOLERANCE_DB: Final = 1e-9


@entry(I8, I8, I8, CUBE, MATRIX, MATRIX, CUBE, VECTOR)
def invert_prior(
    components: int,
    knots: int,
    covariance: Array,
    factor: Array,
    inverse_factor: Array,
    precision: Array,
    log_partition: Array,
) -> int:
    """Compute precision and log partition function (half the log determinant) of each component."""
    for k in range(components):
        for a in range(knots):
            for b in range(knots):
                factor[a, b] = covariance[k, a, b]
        log_partition[k] = invert(knots, factor, inverse_factor, precision[k])
        if math.isnan(log_partition[k]):
            return NOT_POSITIVE_DEFINITE
    return CONVERGED


@kernel
def line(left: int, fraction: float, values: Array) -> float:
    """Return the value at `fraction` of the way from knot `left` to the next."""
    if fraction == 0.0:
        return float(values[left])
    return float((1.0 - fraction) * values[left] + fraction * values[left + 1])


@kernel
def see(
    first: int,
    n: int,
    left: Indices,
    answers: Array,
    prior_mean_db_hl: Array,
    listener: Array,
    by_chance: float,
    wandering: Array,
    seen: Array,
) -> int:
    """Write what the answers first ... n - 1 mean to one hypothesis."""
    for i in range(first, n):
        fraction = answers[FRACTION, i]
        noise = listener[NOISE_DB] * answers[NOISE_FACTOR, i]
        seen[MARGIN_DB, i] = answers[LEVEL_DB_HL, i] - line(left[i], fraction, prior_mean_db_hl)
        seen[NOISE_DB2, i] = noise * noise + answers[BETWEEN_DB2, i]
        seen[LAPSES, i] = rate_of(wandering[i], by_chance, listener[LAPSE_RATE])
        seen[FALSE_ALARMS, i] = rate_of(wandering[i], by_chance, listener[FALSE_ALARM_RATE])
    return CONVERGED


@entry(F8, I8, I8, VECTOR, VECTOR, VECTOR, VECTOR)
def weigh(
    components: int,
    listeners: int,
    log_component: Array,
    log_listener: Array,
    log_evidence: Array,
    weight: Array,
) -> float:
    """Write the weights of the hypotheses; return the log evidence of all together."""
    count = components * listeners
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


@entry(
    I8, I8, I8, I8, I8, I8, INDICES, MATRIX, INDICES, MATRIX, VECTOR, F8, VECTOR, MATRIX, CUBE,
    VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, CUBE, VECTOR, VECTOR,
    INDICES,
    MATRIX, MATRIX, VECTOR, VECTOR,
)  # fmt: skip
def infer(
    n: int,
    knots: int,
    components: int,
    listeners: int,
    wanders: int,
    left: Indices,
    answers: Array,
    answer: Indices,
    listener: Array,
    log_listener: Array,
    unsure_half_width_db: float,
    log_component: Array,
    prior_mean_db_hl: Array,
    prior_precision: Array,
    prior_log_partition: Array,
    factor: Array,
    inverse_factor: Array,
    rows: Array,
    sites: Array,
    seen: Array,
    tau: Array,
    nu: Array,
    mean: Array,
    covariance: Array,
    log_evidence: Array,
    weight: Array,
    swept: Indices,
    probability: Array,
    attention: Array,
    wandering: Array,
    total: Array,
) -> int:
    """Take in answer n - 1 of n, and renew the posterior of every hypothesis that matters.

    Parameters
    ----------
    n, knots, components, listeners : sizes; hypothesis h is component h % components of the prior
        and listener h // components.
    wanders : 1 if attention may wander, else 0.
    left : (n,) knot below each tone.
    answers : (ANSWER_ROWS, n) see the constants.
    answer : (n,) HEARD, UNSURE or SILENT.
    listener : (listeners, LISTENER_ENTRIES), and log_listener : (listeners,) their log prior.
    unsure_half_width_db : of the dead zone.
    log_component : (components,) log prior weights.
    prior_mean_db_hl, prior_precision, prior_log_partition : of the components.
    factor, inverse_factor, rows, sites, seen, swept, attention : scratch.
    tau, nu : (hypotheses, n) stand-ins, kept from answer to answer.
    mean, covariance : (hypotheses, knots), (hypotheses, knots, knots) of the deviations, kept.
    log_evidence, weight : (hypotheses,) kept.
    probability : (hypotheses, n) of each answer given the others.
    wandering : (n + 1,) kept: probability that each answer, and the next, was given by chance.
    total : (1,) out: log evidence of all.

    Returns
    -------
    status : of the hypotheses that matter, the worst.
    """
    fraction = answers[FRACTION]
    by_chance = chance(unsure_half_width_db)
    count = components * listeners
    status = CONVERGED
    for h in range(count):
        k, g = h % components, h // components
        swept[h] = 0
        see(n - 1, n, left, answers, prior_mean_db_hl[k], listener[g], by_chance, wandering, seen)
        # The new answer alone: assumed density filtering.
        tau[h, n - 1], nu[h, n - 1] = 0.0, 0.0
        _, probability[h, n - 1] = renew(
            n - 1, knots, 1.0, left, fraction, seen[MARGIN_DB], seen[NOISE_DB2], answer,
            seen[LAPSES], seen[FALSE_ALARMS], unsure_half_width_db, tau[h], nu[h], rows[COLUMN],
            mean[h], covariance[h],
        )  # fmt: skip
        log_evidence[h] += log(probability[h, n - 1])
    total[0] = weigh(components, listeners, log_component, log_listener, log_evidence, weight)
    for _ in range(2):  # those that are awake, and then those that their weights have woken
        for h in range(count):
            if swept[h] == 1 or weight[h] < ASLEEP_BELOW:
                continue
            swept[h] = 1
            k, g = h % components, h // components
            see(0, n, left, answers, prior_mean_db_hl[k], listener[g], by_chance, wandering, seen)
            log_evidence[h], found = propagate(
                n, knots, left, fraction, seen[MARGIN_DB], seen[NOISE_DB2], answer, seen[LAPSES],
                seen[FALSE_ALARMS], unsure_half_width_db, tolerance_of(weight[h]),
                prior_precision[k], prior_log_partition[k], factor, inverse_factor, rows[NATURAL],
                sites, tau[h], nu[h], mean[h], covariance[h], probability[h],
            )  # fmt: skip
            if found == NOT_POSITIVE_DEFINITE:
                return found
            status = max(status, found)
        total[0] = weigh(components, listeners, log_component, log_listener, log_evidence, weight)
    if wanders == 1:
        for i in range(n):
            p, share = 0.0, 0.0
            for h in range(count):
                if swept[h] == 1 and weight[h] >= ASLEEP_BELOW:
                    p += weight[h] * attending_probability(
                        wandering[i], by_chance, probability[h, i]
                    )
                    share += weight[h]
            attention[ATTENDING, i] = p / share
        follow_attention(n, by_chance, attention, wandering)
    return status


@entry(I8, I8, I8, I8, MATRIX, VECTOR, MATRIX, MATRIX, CUBE, VECTOR, MATRIX, CUBE, VECTOR)
def sum_out_listeners(
    knots: int,
    components: int,
    listeners: int,
    listener: Array,
    weight: Array,
    prior_mean_db_hl: Array,
    mean: Array,
    covariance: Array,
    component_weight: Array,
    component_mean_db_hl: Array,
    component_covariance: Array,
    expected_listener: Array,
) -> int:
    """Reduce the hypotheses to one Gaussian a component, and one listener, by their moments.

    Parameters
    ----------
    knots, components, listeners : sizes.
    listener, weight, prior_mean_db_hl, mean, covariance : as `infer` left them.
    component_weight, component_mean_db_hl, component_covariance : out, one Gaussian a component.
    expected_listener : (LISTENER_ENTRIES,) out, posterior means.
    """
    for entry_ in range(LISTENER_ENTRIES):
        expected_listener[entry_] = 0.0
        for h in range(components * listeners):
            expected_listener[entry_] += weight[h] * listener[h // components, entry_]
    for k in range(components):
        total = 0.0
        for g in range(listeners):
            total += weight[g * components + k]
        component_weight[k] = total
        for a in range(knots):
            component_mean_db_hl[k, a] = 0.0
            for b in range(knots):
                component_covariance[k, a, b] = 0.0
        for g in range(listeners):
            h = g * components + k
            # With no weight left, all listeners count the same: the numbers must stay numbers.
            share = weight[h] / total if total > 0.0 else 1.0 / listeners
            for a in range(knots):
                component_mean_db_hl[k, a] += share * mean[h, a]
        for g in range(listeners):
            h = g * components + k
            share = weight[h] / total if total > 0.0 else 1.0 / listeners
            for a in range(knots):
                off = mean[h, a] - component_mean_db_hl[k, a]
                for b in range(knots):
                    component_covariance[k, a, b] += share * (
                        covariance[h, a, b] + off * (mean[h, b] - component_mean_db_hl[k, b])
                    )
        for a in range(knots):
            component_mean_db_hl[k, a] += prior_mean_db_hl[k, a]
    return CONVERGED


@kernel
def component_at(
    left: int, fraction: float, between_db2: float, mean_db_hl: Array, covariance: Array
) -> tuple[float, float]:
    """Return mean and variance of the threshold of one component at one frequency."""
    if fraction == 0.0:
        return mean_db_hl[left], covariance[left, left] + between_db2
    u, v = fraction, 1.0 - fraction
    variance = (
        v * v * covariance[left, left]
        + 2.0 * u * v * covariance[left, left + 1]
        + u * u * covariance[left + 1, left + 1]
    )
    return line(left, fraction, mean_db_hl), variance + between_db2


@entry(I8, I8, I8, INDICES, VECTOR, VECTOR, VECTOR, MATRIX, CUBE, VECTOR, VECTOR)
def predict(
    points: int,
    components: int,
    left: Indices,
    fraction: Array,
    between_db2: Array,
    weight: Array,
    mean_db_hl: Array,
    covariance: Array,
    point_mean_db_hl: Array,
    point_sd_db: Array,
) -> int:
    """Write mean and SD of the threshold at some frequencies."""
    for i in range(points):
        total = 0.0
        for k in range(components):
            m, _ = component_at(left[i], fraction[i], between_db2[i], mean_db_hl[k], covariance[k])
            total += weight[k] * m
        variance = 0.0
        for k in range(components):
            m, v = component_at(left[i], fraction[i], between_db2[i], mean_db_hl[k], covariance[k])
            variance += weight[k] * (v + (m - total) * (m - total))
        point_mean_db_hl[i] = total
        point_sd_db[i] = math.sqrt(variance)
    return CONVERGED


@entry(I8, I8, I8, F8, INDICES, VECTOR, VECTOR, VECTOR, MATRIX, CUBE, VECTOR, VECTOR, VECTOR)
def quantile(
    points: int,
    components: int,
    probability: float,
    left: Indices,
    fraction: Array,
    between_db2: Array,
    weight: Array,
    mean_db_hl: Array,
    covariance: Array,
    point_mean_db_hl: Array,
    point_sd_db: Array,
    point_quantile_db_hl: Array,
) -> int:
    """Write the level below which the threshold lies with this probability.

    By Newton's method, and by halving where that would leave what is known, or is slow. Where to
    look says Cantelli's inequality: at most the root of (1 - p) / p SDs below the mean for a share
    p, and at most the inverse of that above it.
    """
    below_sds = math.sqrt((1.0 - probability) / probability)
    for i in range(points):
        x = point_mean_db_hl[i]
        low, high = x - below_sds * point_sd_db[i], x + point_sd_db[i] / below_sds
        moved = high - low
        for _ in range(QUANTILE_STEPS):
            below, density = 0.0, 0.0
            for k in range(components):
                m, v = component_at(
                    left[i], fraction[i], between_db2[i], mean_db_hl[k], covariance[k]
                )
                sd = math.sqrt(v)
                share, bell = normal((x - m) / sd)
                below += weight[k] * share
                density += weight[k] * bell / sd
            missing = probability - below
            if missing > 0.0:
                low = x
            else:
                high = x
            step = missing / density if density > 0.0 else math.inf
            if abs(step) > QUANTILE_TOLERANCE_DB and (
                not low < x + step < high or abs(step) > 0.5 * moved
            ):
                step = 0.5 * (low + high) - x
            x += step
            moved = abs(step)
            if moved <= QUANTILE_TOLERANCE_DB:
                break
        point_quantile_db_hl[i] = x
    return CONVERGED


@entry(F8, I8, I8, F8, I8, F8, F8, F8, VECTOR, F8, VECTOR, MATRIX, CUBE)
def probability_of(
    answer: int,
    components: int,
    level_db_hl: float,
    left: int,
    fraction: float,
    between_db2: float,
    noise_db: float,
    listener: Array,
    unsure_half_width_db: float,
    weight: Array,
    mean_db_hl: Array,
    covariance: Array,
) -> float:
    """Return the probability of an answer to one tone; noise_db is that at its frequency."""
    total = 0.0
    for k in range(components):
        m, v = component_at(left, fraction, between_db2, mean_db_hl[k], covariance[k])
        p, _, _ = expected_answer(
            answer,
            level_db_hl - m,
            math.sqrt(v + noise_db * noise_db),
            listener[LAPSE_RATE],
            listener[FALSE_ALARM_RATE],
            unsure_half_width_db,
        )
        total += weight[k] * p
    return total
