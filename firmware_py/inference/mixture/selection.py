"""Which tone to ask next of a mixture: bits per second, for listeners who lapse.

The information about the threshold expected from an answer is H(P) - E[H(p(g))], with
p(g) = gamma + c Phi((h - g) / sigma) and P its expectation. Under one Gaussian the first term is in
closed form. For the second, H(p) is a straight base between H(gamma), where nothing is heard, and
H(lambda), where everything is, plus a bump at the threshold. As in Houlsby et al. 2011 (and the
paper, equation 17) the bump is replaced by a Gaussian one, here with the height and the area that
it has at these rates. The expectation of that is in closed form too, and the expectations of a
mixture are weighted sums. With a button for "perhaps" there are two bumps; see `edges`.

The answer takes longer where nobody presses (`rate`). P is the probability of a press, so the time
expected is in closed form as well. The largest rate lies where the information is largest (BALD,
where all tones take the same time), or beyond it on the side of the cheaper answer.
"""

import math
from typing import Final

from firmware_py.inference.elementary import binary_entropy, exp
from firmware_py.inference.kernel import CONVERGED, NONE_ALLOWED, Vector, entry, kernel
from firmware_py.inference.mixture.arrays import NOISE_DB, Believed, Expected, Mixture, Places, View
from firmware_py.inference.mixture.edges import (
    LowerEdge,
    UpperEdge,
    entropy_of_answer,
    lower_edge,
    upper_edge,
)
from firmware_py.inference.mixture.prediction import component_at
from firmware_py.inference.psychometric import normal
from firmware_py.inference.rate import Seconds, expected_seconds

LEVEL_STEP_DB: Final = 1.0  # audiometers ask for whole decibels
SCAN_STEPS: Final = 3  # levels are first looked at so many steps apart, then one by one
SCAN_REACH_SDS: Final = 3.0


@kernel
def look_at(
    left: int, bend: int, fraction: float, bow_db: float, noise_db: float, lower: LowerEdge,
    upper: UpperEdge, mixture: Mixture, view: View,
) -> int:  # fmt: skip
    """m_k, 1 / sqrt(v_k + sigma**2), sqrt(b / (v_k + b)) and 1 / (v_k + b), b = (width sigma)**2.

    That is what the objective takes of each component at one frequency, whatever the level; the
    last two of both edges where there is a dead zone.
    """
    noise_db2 = noise_db * noise_db
    bump_db2 = lower.width * lower.width * noise_db2
    upper_db2 = upper.width * upper.width * noise_db2
    for k in range(len(mixture.weight)):
        m, v = component_at(
            left, bend, fraction, bow_db, mixture.mean_db_hl[k], mixture.covariance[k]
        )
        spread = v + bump_db2
        view.centre_db_hl[k] = m
        view.per_sd[k] = 1.0 / math.sqrt(v + noise_db2)
        view.bump[k] = math.sqrt(bump_db2 / spread)
        view.per_spread[k] = 1.0 / spread
        if lower.half_width_db > 0.0:
            spread = v + upper_db2
            view.upper_bump[k] = math.sqrt(upper_db2 / spread)
            view.upper_per_spread[k] = 1.0 / spread
    return CONVERGED


@kernel
def bald_of_two(
    level_db_hl: float, lower: LowerEdge, weight: Vector, view: View
) -> tuple[float, float]:
    """H(P) - E[H(p)] and P, where the answer is a press or none."""
    heard = 0.0
    bumps = 0.0
    for k in range(len(weight)):
        d = level_db_hl - view.centre_db_hl[k]
        q, _ = normal(d * view.per_sd[k])
        heard += weight[k] * q
        bumps += weight[k] * view.bump[k] * exp(-0.5 * d * d * view.per_spread[k])
    base = lower.silent_bits + heard * (lower.loud_bits - lower.silent_bits)
    pressed = lower.false_alarm_rate + lower.attention * heard
    return max(binary_entropy(pressed) - base - lower.height * bumps, 0.0), pressed


@kernel
def bald_of_three(
    level_db_hl: float, lower: LowerEdge, upper: UpperEdge, weight: Vector, view: View
) -> tuple[float, float]:
    """H(P) - E[H(p)] and the probability of either press, where the answer may be unsure."""
    above_lower, above_upper = 0.0, 0.0
    bumps, upper_bumps = 0.0, 0.0
    for k in range(len(weight)):
        d = level_db_hl - view.centre_db_hl[k] + lower.half_width_db
        q, _ = normal(d * view.per_sd[k])
        above_lower += weight[k] * q
        bumps += weight[k] * view.bump[k] * exp(-0.5 * d * d * view.per_spread[k])
        d -= 2.0 * lower.half_width_db
        q, _ = normal(d * view.per_sd[k])
        above_upper += weight[k] * q
        d -= upper.offset_db
        bell = exp(-0.5 * d * d * view.upper_per_spread[k])
        upper_bumps += weight[k] * view.upper_bump[k] * bell
    base = lower.silent_bits + above_lower * (lower.loud_bits - lower.silent_bits)
    pressed = 2.0 * lower.false_alarm_rate + lower.attention * above_lower
    heard = lower.false_alarm_rate + lower.attention * above_upper
    bits = entropy_of_answer(pressed, heard) - base
    return max(bits - lower.height * bumps - upper.height * upper_bumps, 0.0), pressed


@kernel
def mixture_bald(
    level_db_hl: float, lower: LowerEdge, upper: UpperEdge, weight: Vector, view: View
) -> tuple[float, float]:
    """H(P) - E[H(p)] and P: information expected from one answer, in bits, and that of a press.

    `view` is what `look_at` wrote of this frequency.
    """
    if lower.half_width_db > 0.0:
        return bald_of_three(level_db_hl, lower, upper, weight, view)
    return bald_of_two(level_db_hl, lower, weight, view)


@kernel
def best_of(
    start: int, stop: int, level_min_db_hl: float, seconds: Seconds, lower: LowerEdge,
    upper: UpperEdge, weight: Vector, view: View,
) -> tuple[int, float, float, float]:  # fmt: skip
    """Step, bits per second, bits and seconds of the best level from step `start` to `stop`."""
    first, last = min(start, stop), max(start, stop)
    coarse = SCAN_STEPS if start <= stop else -SCAN_STEPS
    top, top_rate, top_bits, top_taken = start, -1.0, 0.0, 0.0
    for scan in range(2):
        begin, step, count = start, coarse, (last - first) // SCAN_STEPS + 1
        if scan == 1:
            begin, step = max(top - SCAN_STEPS + 1, first), 1
            count = min(top + SCAN_STEPS - 1, last) - begin + 1
        for n in range(count):
            i = begin + step * n
            bits, pressed = mixture_bald(
                level_min_db_hl + LEVEL_STEP_DB * i, lower, upper, weight, view
            )
            taken = expected_seconds(pressed, seconds)
            if bits / taken > top_rate:
                top, top_rate, top_bits, top_taken = i, bits / taken, bits, taken
    return top, top_rate, top_bits, top_taken


@entry
def select_from_mixture(
    candidates: Places, believed: Believed, weight: Vector, level_min_db_hl: float,
    level_max_db_hl: Vector, seconds: Seconds, listener: Vector, mixture: Mixture, view: View,
    choice: Vector,
) -> int:  # fmt: skip
    """`argmax weight(x) BALD(x, h) / T(x, h)`: the best candidate and its best allowed level.

    Parameters
    ----------
    candidates, believed : where each lies, and what is known there.
    weight : factor on the objective of each; 0 forbids a candidate.
    level_min_db_hl, level_max_db_hl : lowest allowed level, and the highest at each candidate.
    seconds : what a presentation takes.
    listener : expected response noise and rates.
    mixture : the posterior.
    view : scratch.
    choice : (CHOICE_ENTRIES,) out: index of the candidate, level in dB HL, information in bits (not
        weighted), expected seconds.
    """
    lower = lower_edge(listener)
    upper = upper_edge(lower, listener[NOISE_DB])
    looked_db, best = listener[NOISE_DB], -1.0
    for j in range(len(weight)):
        if weight[j] <= 0.0:
            continue
        noise_db = listener[NOISE_DB] * believed.noise_factor[j]
        if noise_db != looked_db:
            upper, looked_db = upper_edge(lower, noise_db), noise_db
        look_at(
            candidates.left[j], candidates.bend[j], candidates.fraction[j], candidates.bow_db[j],
            noise_db, lower, upper, mixture, view,
        )  # fmt: skip
        steps = math.floor((level_max_db_hl[j] - level_min_db_hl) / LEVEL_STEP_DB)
        middle = (believed.mean_db_hl[j] - level_min_db_hl) / LEVEL_STEP_DB
        reach = (
            SCAN_REACH_SDS * believed.sd_db[j] + lower.half_width_db
        ) / LEVEL_STEP_DB + SCAN_STEPS
        beyond = SCAN_REACH_SDS * noise_db / LEVEL_STEP_DB
        softer = beyond if seconds.silent < seconds.answered else 0.0
        louder = beyond if seconds.answered < seconds.silent else 0.0
        first = int(min(max(math.floor(middle - reach - softer), 0.0), steps))
        last = int(min(max(math.floor(middle + reach + louder), 0.0), steps))
        # Either edge of a dead zone may be the best: each is looked for on its own side, from the
        # middle on, so that of levels that all lie on one side the nearest is seen.
        start, stop = first, last
        if lower.half_width_db > 0.0:
            start, stop = int(min(max(math.floor(middle), first), last)), first
        top, top_rate, top_bits, top_taken = best_of(
            start, stop, level_min_db_hl, seconds, lower, upper, mixture.weight, view
        )
        if stop < last:
            at, rate, bits, taken = best_of(
                start, last, level_min_db_hl, seconds, lower, upper, mixture.weight, view
            )
            if rate > top_rate:
                top, top_rate, top_bits, top_taken = at, rate, bits, taken
        if weight[j] * top_rate > best:
            best = weight[j] * top_rate
            choice[0] = j
            choice[1] = level_min_db_hl + LEVEL_STEP_DB * top
            choice[2] = top_bits
            choice[3] = top_taken
    return CONVERGED if best >= 0.0 else NONE_ALLOWED


@entry
def expect_from_mixture(
    candidates: Places, believed: Believed, candidate: int, seconds: Seconds, listener: Vector,
    mixture: Mixture, view: View, expected: Expected,
) -> int:  # fmt: skip
    """Information and seconds expected from the answer at each level of one candidate.

    Parameters
    ----------
    candidates, believed, seconds, listener, mixture, view : as for `select_from_mixture`.
    candidate : index.
    expected : the levels, in; what is expected, out.
    """
    noise_db = listener[NOISE_DB] * believed.noise_factor[candidate]
    lower = lower_edge(listener)
    upper = upper_edge(lower, noise_db)
    look_at(
        candidates.left[candidate], candidates.bend[candidate], candidates.fraction[candidate],
        candidates.bow_db[candidate], noise_db, lower, upper, mixture, view,
    )  # fmt: skip
    for i in range(len(expected.level_db_hl)):
        bits, pressed = mixture_bald(expected.level_db_hl[i], lower, upper, mixture.weight, view)
        expected.bits[i] = bits
        expected.seconds[i] = expected_seconds(pressed, seconds)
    return CONVERGED
