"""Answers that leave two explanations: the listener's accident, or an ear unlike the other answers.

Expectation propagation has one Gaussian for each hypothesis. Where one answer is an accident with
probability a and would otherwise move the threshold by d SDs, the exact posterior has two modes,
and the Gaussian lies about one of them. The doubt of an answer is 4 a (1 - a) d. Of 40 listeners
who miss 15 % of all tones, every one whose 95 % band held less than 88.9 % of the exact posterior
after 25 answers had a doubt of 0.96 or more (`gp-pta study --robustness --cases exact`).
"""

import math

from firmware_py.inference.kernel import CONVERGED, Vector, entry
from firmware_py.inference.mixture.arrays import (
    Gaussian,
    Hypotheses,
    Likelihood,
    Listeners,
    Prior,
    Scratch,
    Sites,
    Tones,
    Wandering,
)
from firmware_py.inference.mixture.posterior import ASLEEP_BELOW, find_margins, see_all
from firmware_py.inference.mixture.sites import CAVITY_VARIANCE, FACTOR, SLOPE, expect, leave_out
from firmware_py.inference.psychometric import SILENT


@entry
def find_doubts(
    n: int, tones: Tones, likelihood: Likelihood, listeners: Listeners, prior: Prior,
    hypotheses: Hypotheses, wandering: Wandering, scratch: Scratch, shift: Vector, doubt: Vector,
) -> int:  # fmt: skip
    """`4 a (1 - a) d`, a = sum w r / p, d = sum w sqrt(v) |p'| / (p - r): the doubt of each answer.

    r is the rate of accidents, p the probability of the answer in its cavity of variance v, under
    each hypothesis of weight w.

    Parameters
    ----------
    n : answers.
    tones, listeners, prior, hypotheses, wandering : as `infer` left them.
    likelihood, scratch, shift : scratch.
    doubt : (n,) out.
    """
    components = len(prior.log_weight)
    rows, probability = scratch.sites, scratch.sites[FACTOR]
    total = 0.0
    for i in range(n):
        doubt[i], shift[i] = 0.0, 0.0
    for h in range(len(hypotheses.weight)):
        weight, k = hypotheses.weight[h], h % components
        if hypotheses.swept[h] == 0 or weight < ASLEEP_BELOW:
            continue
        total += weight
        listener = listeners.table[h // components]
        see_all(n, tones, listener, wandering, likelihood)
        find_margins(n, tones, prior.mean_db_hl[k], likelihood)
        sites = Sites(hypotheses.tau[h], hypotheses.nu[h], probability)
        leave_out(n, tones, sites, Gaussian(hypotheses.mean[h], hypotheses.covariance[h]), rows)
        expect(n, likelihood, probability, rows)
        for i in range(n):
            missed = tones.answer[i] == SILENT
            rate = likelihood.lapse_rate[i] if missed else likelihood.false_alarm_rate[i]
            meant = max(probability[i] - rate, 1e-12)
            doubt[i] += weight * (1.0 - meant / probability[i])
            shift[i] += weight * math.sqrt(rows[CAVITY_VARIANCE, i]) * abs(rows[SLOPE, i]) / meant
    for i in range(n):
        accident = doubt[i] / total
        doubt[i] = 4.0 * accident * (1.0 - accident) * shift[i] / total
    return CONVERGED
