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

The search leaves out what cannot be the best, and nothing else. Without the bumps the information
is at most H(P) less the base, which is concave in the probability that the level lies above the
threshold, and that rises with the level. So where it is less than something found further in, it
falls on outward, and no level there is looked at. Likewise no answer tells more bits than there
are in two or three answers: candidates go by falling weight, and end where that is too little.
"""

import math
from typing import Final

from firmware_py.inference.elementary import SQRT_HALF, binary_entropy, erfcx, exp
from firmware_py.inference.kernel import CONVERGED, NONE_ALLOWED, Vector, entry, kernel
from firmware_py.inference.mixture.arrays import NOISE_DB, Believed, Expected, Mixture, Places, View
from firmware_py.inference.mixture.edges import (
    LowerEdge,
    UpperEdge,
    entropy_of_answer,
    lower_edge,
    most_bits_of,
    upper_edge,
)
from firmware_py.inference.mixture.prediction import component_at
from firmware_py.inference.psychometric import normal_from
from firmware_py.inference.rate import Seconds, expected_seconds

LEVEL_STEP_DB: Final = 1.0  # audiometers ask for whole decibels
SCAN_STEPS: Final = 3  # levels are first looked at so many steps apart, then one by one
SCAN_REACH_SDS: Final = 3.0
BACK, FINE = 1, 2  # walks of the scan after the first, which goes on from the middle
WEIGHT_MIN: Final = 1e-15  # components below it are left out: all of them are less than 1e-12 bits
ROUNDING_BITS: Final = 1e-12  # more than sums and logarithms are off by


@kernel
def look_at(
    left: int, bend: int, fraction: float, bow_db: float, noise_db: float, lower: LowerEdge,
    upper: UpperEdge, mixture: Mixture, view: View,
) -> int:  # fmt: skip
    """w_k, m_k, 1 / sqrt(v_k + sigma**2), w_k sqrt(b / (v_k + b)) and 1 / (v_k + b).

    That is what the objective takes of each component at one frequency, whatever the level, with
    b = (width sigma)**2; the last two of both edges where there is a dead zone. Returns how many
    components count.
    """
    noise_db2 = noise_db * noise_db
    bump_db2 = lower.width * lower.width * noise_db2
    upper_db2 = upper.width * upper.width * noise_db2
    count = 0
    for k in range(len(mixture.weight)):
        weight = mixture.weight[k]
        if weight < WEIGHT_MIN:
            continue
        m, v = component_at(
            left, bend, fraction, bow_db, mixture.mean_db_hl[k], mixture.covariance[k]
        )
        spread = v + bump_db2
        view.weight[count] = weight
        view.centre_db_hl[count] = m
        view.per_sd[count] = 1.0 / math.sqrt(v + noise_db2)
        view.bump[count] = weight * math.sqrt(bump_db2 / spread)
        view.per_spread[count] = 1.0 / spread
        if lower.half_width_db > 0.0:
            spread = v + upper_db2
            view.upper_bump[count] = weight * math.sqrt(upper_db2 / spread)
            view.upper_per_spread[count] = 1.0 / spread
        count += 1
    return count


# Two loops below have one result each, and no turn of them depends on the turn before. So the
# compiler vectorises them, which changes no bit; sums are taken one after the other.


@kernel
def at_edge(
    level_db_hl: float, offset_db: float, count: int, bump: Vector, per_spread: Vector, view: View
) -> tuple[float, float]:
    """sum_k w_k Phi(z_k) and sum_k b_k exp(-d_k**2 / 2 s_k) at a level, seen from one edge.

    z_k = (h - m_k) / sqrt(v_k + sigma**2), and d_k = h - m_k - offset, how far the bump is off.
    """
    for k in range(count):
        z = (level_db_hl - view.centre_db_hl[k]) * view.per_sd[k]
        q, _ = normal_from(z, erfcx(abs(z) * SQRT_HALF), exp(-0.5 * z * z))
        view.part[k] = view.weight[k] * q
    above = 0.0
    for k in range(count):
        above += view.part[k]
    for k in range(count):
        d = level_db_hl - view.centre_db_hl[k] - offset_db
        view.part[k] = bump[k] * exp(-0.5 * d * d * per_spread[k])
    bumps = 0.0
    for k in range(count):
        bumps += view.part[k]
    return above, bumps


@kernel
def mixture_bald(
    level_db_hl: float, lower: LowerEdge, upper: UpperEdge, count: int, view: View
) -> tuple[float, float, float]:
    """H(P) - E[H(p)] in bits, P of a press, and a bound on the first here and further out.

    `view` and `count` are what `look_at` found of this frequency. The bound is at least the
    information, and concave in the probability that the level lies above an edge: where it is less
    than at a level further in, it falls on outward.
    """
    half_width_db = lower.half_width_db
    above, bumps = at_edge(
        level_db_hl + half_width_db, 0.0, count, view.bump, view.per_spread, view
    )
    expected_bits = lower.silent_bits + above * (lower.loud_bits - lower.silent_bits)
    if half_width_db <= 0.0:
        pressed = lower.false_alarm_rate + lower.attention * above
        most = binary_entropy(pressed) - expected_bits
        return max(most - lower.height * bumps, 0.0), pressed, most
    pressed = 2.0 * lower.false_alarm_rate + lower.attention * above
    above, upper_bumps = at_edge(
        level_db_hl - half_width_db, upper.offset_db, count, view.upper_bump,
        view.upper_per_spread, view,
    )  # fmt: skip
    heard = lower.false_alarm_rate + lower.attention * above
    bits = entropy_of_answer(pressed, heard) - expected_bits
    most = min(binary_entropy(pressed) + pressed, binary_entropy(heard) + (1.0 - heard))
    most -= min(lower.silent_bits, lower.loud_bits)
    return max(bits - lower.height * bumps - upper.height * upper_bumps, 0.0), pressed, most


@kernel
def levels_of(
    mean_db_hl: float, sd_db: float, noise_db: float, half_width_db: float, level_min_db_hl: float,
    level_max_db_hl: float, seconds: Seconds,
) -> tuple[int, int, int]:  # fmt: skip
    """Return the steps to look at: the first, that below the mean, and the last."""
    steps = math.floor((level_max_db_hl - level_min_db_hl) / LEVEL_STEP_DB)
    middle = (mean_db_hl - level_min_db_hl) / LEVEL_STEP_DB
    reach = (SCAN_REACH_SDS * sd_db + half_width_db) / LEVEL_STEP_DB + SCAN_STEPS
    beyond = SCAN_REACH_SDS * noise_db / LEVEL_STEP_DB
    softer = beyond if seconds.silent < seconds.answered else 0.0
    louder = beyond if seconds.answered < seconds.silent else 0.0
    first = int(min(max(math.floor(middle - reach - softer), 0.0), steps))
    last = int(min(max(math.floor(middle + reach + louder), 0.0), steps))
    return first, int(min(max(math.floor(middle), first), last)), last


@kernel
def best_of(
    start: int, stop: int, middle: int, level_min_db_hl: float, seconds: Seconds,
    lower: LowerEdge, upper: UpperEdge, count: int, view: View,
) -> tuple[int, float, float, float]:  # fmt: skip
    """Step, bits per second, bits and seconds of the best level from step `start` to `stop`.

    Every third level from `start` on is looked at, from the one nearest to `middle` to either end,
    as far as one may be the best; then those about the best. Of equals it is the one that is first
    on the way from `start` to `stop`.
    """
    first, last = min(start, stop), max(start, stop)
    coarse = SCAN_STEPS if start <= stop else -SCAN_STEPS
    looks = (last - first) // SCAN_STEPS + 1
    near = min(max((middle - start) // coarse, 0), looks - 1)
    least_s = min(seconds.answered, seconds.silent)
    top, top_rate, top_bits, top_taken = start, -1.0, 0.0, 0.0
    for walk in range(FINE + 1):
        begin, step, steps, known = start + coarse * near, coarse, looks - near, first - 1
        if walk == BACK:
            begin, step, steps = begin - coarse, -coarse, near
        elif walk == FINE:
            begin, step, known = max(top - SCAN_STEPS + 1, first), 1, top
            steps = min(top + SCAN_STEPS - 1, last) - begin + 1
        for n in range(steps):
            i = begin + step * n
            if i == known:
                continue
            bits, pressed, most_bits = mixture_bald(
                level_min_db_hl + LEVEL_STEP_DB * i, lower, upper, count, view
            )
            taken = expected_seconds(pressed, seconds)
            rate = bits / taken
            if rate > top_rate or (walk == BACK and rate == top_rate):
                top, top_rate, top_bits, top_taken = i, rate, bits, taken
            if walk != FINE and most_bits + ROUNDING_BITS < top_rate * least_s:
                break
    return top, top_rate, top_bits, top_taken


@kernel
def best_level(
    first: int, middle: int, last: int, level_min_db_hl: float, seconds: Seconds,
    lower: LowerEdge, upper: UpperEdge, count: int, view: View,
) -> tuple[int, float, float, float]:  # fmt: skip
    """Step, bits per second, bits and seconds of the best level from step `first` to `last`.

    Either edge of a dead zone may be the best: each is looked for on its own side, from the middle
    on, so that of levels that all lie on one side the nearest is seen.
    """
    if lower.half_width_db <= 0.0:
        return best_of(first, last, middle, level_min_db_hl, seconds, lower, upper, count, view)
    softer = best_of(middle, first, middle, level_min_db_hl, seconds, lower, upper, count, view)
    louder = best_of(middle, last, middle, level_min_db_hl, seconds, lower, upper, count, view)
    return louder if louder[1] > softer[1] else softer


@kernel
def next_of(weight: Vector, before: int) -> int:
    """Return the candidate after `before` by falling weight, and then by index; -1: there is none.

    The first is after -1. A candidate without weight is not among them.
    """
    found = -1
    for j in range(len(weight)):
        if weight[j] <= 0.0 or (found >= 0 and weight[j] <= weight[found]):
            continue
        if before < 0 or weight[j] < weight[before] or (weight[j] == weight[before] and j > before):
            found = j
    return found


@entry
def select_from_mixture(
    candidates: Places, believed: Believed, weight: Vector, level_min_db_hl: Vector,
    level_max_db_hl: Vector, seconds: Seconds, listener: Vector, mixture: Mixture, view: View,
    choice: Vector,
) -> int:  # fmt: skip
    """`argmax weight(x) BALD(x, h) / T(x, h)`: the best candidate and its best allowed level.

    By falling weight, until no answer to a tone of such a weight can be worth more; of equals it is
    the candidate with the lowest index.

    Parameters
    ----------
    candidates, believed : where each lies, and what is known there.
    weight : factor on the objective of each; 0 forbids a candidate.
    level_min_db_hl, level_max_db_hl : lowest and highest allowed level at each candidate.
    seconds : what a presentation takes.
    listener : expected response noise and rates.
    mixture : the posterior.
    view : scratch.
    choice : (CHOICE_ENTRIES,) out: index of the candidate, level in dB HL, information in bits (not
        weighted), expected seconds.
    """
    lower = lower_edge(listener)
    upper = upper_edge(lower, listener[NOISE_DB])
    looked_db, best, chosen = listener[NOISE_DB], -1.0, -1
    most_rate = (most_bits_of(lower) + ROUNDING_BITS) / min(seconds.answered, seconds.silent)
    j = next_of(weight, -1)
    while j >= 0 and weight[j] * most_rate >= best:
        noise_db = listener[NOISE_DB] * believed.noise_factor[j]
        if noise_db != looked_db:
            upper, looked_db = upper_edge(lower, noise_db), noise_db
        count = look_at(
            candidates.left[j], candidates.bend[j], candidates.fraction[j], candidates.bow_db[j],
            noise_db, lower, upper, mixture, view,
        )  # fmt: skip
        first, middle, last = levels_of(
            believed.mean_db_hl[j], believed.sd_db[j], noise_db, lower.half_width_db,
            level_min_db_hl[j], level_max_db_hl[j], seconds,
        )  # fmt: skip
        top, rate, bits, taken = best_level(
            first, middle, last, level_min_db_hl[j], seconds, lower, upper, count, view
        )
        rate *= weight[j]
        if rate > best or (rate == best and j < chosen):
            best, chosen = rate, j
            choice[0] = j
            choice[1] = level_min_db_hl[j] + LEVEL_STEP_DB * top
            choice[2] = bits
            choice[3] = taken
        j = next_of(weight, j)
    return CONVERGED if chosen >= 0 else NONE_ALLOWED


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
    count = look_at(
        candidates.left[candidate], candidates.bend[candidate], candidates.fraction[candidate],
        candidates.bow_db[candidate], noise_db, lower, upper, mixture, view,
    )  # fmt: skip
    for i in range(len(expected.level_db_hl)):
        bits, pressed, _ = mixture_bald(expected.level_db_hl[i], lower, upper, count, view)
        expected.bits[i] = bits
        expected.seconds[i] = expected_seconds(pressed, seconds)
    return CONVERGED
