"""What the same answers tell, had the earphones or the listener been otherwise.

A tone may have reached the ear softer than it was played, for the earphone moved before; and a tone
that was not heard may have been answered all the same, for something else told of it. What is
supposed of that is two numbers an answer: how much softer, and which share of unheard tones is
answered. The hypotheses that count are swept again from the sites that they have, in memory of
their own. Nothing of what is believed changes.
"""

from typing import Final

from firmware_py.inference.elementary import exp, log
from firmware_py.inference.kernel import CONVERGED, Matrix, Vector, entry, kernel
from firmware_py.inference.mixture.arrays import (
    UNSURE_HALF_WIDTH_DB,
    Gaussian,
    Hypotheses,
    Likelihood,
    Listeners,
    Otherwise,
    Prior,
    Scratch,
    Sites,
    Tones,
    Wandering,
)
from firmware_py.inference.mixture.asked import NOBODY, Asked, among_asked, find_asked
from firmware_py.inference.mixture.expectation_propagation import propagate
from firmware_py.inference.mixture.posterior import find_margins, see_all
from firmware_py.inference.mixture.wandering import buttons, log_of_chain
from firmware_py.inference.psychometric import HEARD, UNSURE

WEIGHT_MIN: Final = 0.01  # a hypothesis of less tells nothing of a sum of ratios
TOLERANCE_SD: Final = 0.01
LOG_RATIO_MAX: Final = 300.0  # far within the range of a double, and sure


@kernel
def suppose_otherwise(n: int, otherwise: Otherwise, likelihood: Likelihood) -> int:
    """P(press) <- P + (1 - P) r at a level that is softer, and P(silence) <- (1 - r) P(silence).

    So is that of an unsure answer, (1 - r) times what it was; `log_unsure` has these factors.
    """
    for i in range(n):
        likelihood.margin_db[i] -= otherwise.softer_db[i]
        if likelihood.sign[i] == UNSURE:
            continue
        r = otherwise.pressed_unheard[i]
        likelihood.false_alarm_rate[i] += (1.0 - likelihood.false_alarm_rate[i]) * r
        likelihood.lapse_rate[i] *= 1.0 - r
        likelihood.attention[i] *= 1.0 - r
        heard = likelihood.sign[i] == HEARD
        likelihood.rate[i] = likelihood.false_alarm_rate[i] if heard else likelihood.lapse_rate[i]
    return CONVERGED


@kernel
def log_unsure(n: int, tones: Tones, pressed_unheard: Vector) -> float:
    """`sum log(1 - r)` over the answers that are unsure."""
    total = 0.0
    for i in range(n):
        if tones.answer[i] == UNSURE:
            total += log(1.0 - pressed_unheard[i])
    return total


@kernel
def add_mean(
    share: float, prior_mean_db_hl: Vector, gain: Matrix, asked: Asked, mean: Vector, out: Vector
) -> int:
    """`out += share (prior mean + G m_A)`: add what a hypothesis says of all unknowns."""
    for d in range(len(out)):
        place = asked.place[d]
        m = 0.0
        if place == NOBODY:
            for a in range(len(asked.unknown)):
                if asked.unknown[a] != NOBODY:
                    m += gain[a, d] * mean[a]
        else:
            m = mean[place]
        out[d] += share * (prior_mean_db_hl[d] + m)
    return CONVERGED


@entry
def infer_otherwise(
    n: int, otherwise: Otherwise, steady: Wandering, tones: Tones, likelihood: Likelihood,
    listeners: Listeners, prior: Prior, asked: Asked, hypotheses: Hypotheses, scratch: Scratch,
) -> float:  # fmt: skip
    """log(sum_h w_h Z'_h / Z_h / sum_h w_h), over the hypotheses h that count.

    Parameters
    ----------
    n : answers, that `hypotheses` has taken in.
    otherwise : what is supposed, in; its sites are scratch; `mean_db_hl` out, of every unknown.
    steady : attention that may wander at any answer alike, for what was unlikely may be no more.
    tones, listeners, prior, asked, hypotheses : as `infer` left them.
    likelihood, scratch : scratch.
    """
    components, total, share = len(prior.log_weight), 0.0, 0.0
    for d in range(len(otherwise.mean_db_hl)):
        otherwise.mean_db_hl[d] = 0.0
    size = find_asked(n, tones, asked)
    sites = Sites(otherwise.tau, otherwise.nu, otherwise.probability)
    among = Gaussian(scratch.mean, scratch.covariance)
    for h in range(len(hypotheses.weight)):
        weight = hypotheses.weight[h]
        if weight < WEIGHT_MIN or hypotheses.swept[h] == 0:
            continue
        k, g = h % components, h // components
        see_all(n, tones, listeners.table[g], steady, likelihood)
        find_margins(n, tones, prior.mean_db_hl[k], likelihood)
        suppose_otherwise(n, otherwise, likelihood)
        for i in range(n):
            otherwise.tau[i], otherwise.nu[i] = hypotheses.tau[h, i], hypotheses.nu[h, i]
        log_evidence, _ = propagate(
            n, size, among_asked(tones, asked), likelihood, TOLERANCE_SD, asked.precision[k],
            asked.log_partition[k], sites, among, scratch,
        )  # fmt: skip
        if steady.missing[0] > 0.0:
            presses = buttons(listeners.table[g, UNSURE_HALF_WIDTH_DB])
            log_evidence += log_of_chain(n, presses, tones.answer, otherwise.probability, steady)
        now = weight * exp(min(log_evidence - hypotheses.log_evidence[h], LOG_RATIO_MAX))
        add_mean(now, prior.mean_db_hl[k], asked.gain[k], asked, among.mean, otherwise.mean_db_hl)
        total += now
        share += weight
    for d in range(len(otherwise.mean_db_hl)):
        otherwise.mean_db_hl[d] /= total
    return log(total / share) + log_unsure(n, tones, otherwise.pressed_unheard)


@kernel
def take_in_tone(k: int, tau: float, tones: Tones, mean: Vector, column: Vector) -> float:
    """U <- u + tau b; return b^T m, the mean of the threshold at tone k."""
    left, fraction, bow_db = tones.left[k], tones.fraction[k], tones.bow_db[k]
    m: float = (1.0 - fraction) * mean[left]
    column[left] += (1.0 - fraction) * tau
    if fraction > 0.0:
        m += fraction * mean[left + 1]
        column[left + 1] += fraction * tau
    if bow_db > 0.0:
        m += bow_db * mean[tones.bend[k]]
        column[tones.bend[k]] += bow_db * tau
    return m


@kernel
def square(matrix: Matrix, vector: Vector) -> float:
    """`u^T C u`."""
    total = 0.0
    for a in range(len(vector)):
        row = 0.0
        for b in range(len(vector)):
            row += matrix[a, b] * vector[b]
        total += vector[a] * row
    return total


@entry
def gain_by_shifts(
    n: int, rows: int, sd_db: float, tones: Tones, hypotheses: Hypotheses, column: Vector,
    otherwise: Otherwise,
) -> int:  # fmt: skip
    """By how much the answers agree better, had the tones from k on been softer by s of N(0, sd).

    By the sites of the most probable hypothesis log Z is quadratic in s. With d the tones from k on
    among some, g = nu - tau m, u = sum of tau d b and q = sum of tau d - u^T C u,

    s = g^T d / (q + 1 / sd^2),   log(Z' / Z) = (g^T d) s / 2 - log(1 + sd^2 q) / 2.

    Parameters
    ----------
    n : answers.
    rows : of `otherwise.among` that are asked for; 1 there: a tone is among them.
    tones, hypotheses : as `infer` left them.
    column : scratch for u.
    otherwise : `gain` and `shift_db` out, for every row and k.
    """
    best = 0
    for h in range(len(hypotheses.weight)):
        if hypotheses.weight[h] > hypotheses.weight[best]:
            best = h
    mean, covariance = hypotheses.mean[best], hypotheses.covariance[best]
    tau, nu = hypotheses.tau[best], hypotheses.nu[best]
    for row in range(rows):
        slope, stiff = 0.0, 0.0
        for a in range(len(mean)):
            column[a] = 0.0
        for k in range(n - 1, -1, -1):
            if otherwise.among[row, k] > 0.0:
                slope += nu[k] - tau[k] * take_in_tone(k, tau[k], tones, mean, column)
                stiff += tau[k]
            q = max(stiff - square(covariance, column), 0.0)
            shift_db = slope / (q + 1.0 / (sd_db * sd_db))
            otherwise.shift_db[row, k] = shift_db
            otherwise.gain[row, k] = 0.5 * (slope * shift_db - log(1.0 + sd_db * sd_db * q))
    return CONVERGED
