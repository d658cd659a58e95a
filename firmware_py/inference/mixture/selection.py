"""Which tone to ask next of a mixture: BALD over frequency and level, for listeners who lapse.

The information about the threshold expected from an answer is H(P) - E[H(p(g))], with
p(g) = gamma + c Phi((h - g) / sigma) and P its expectation. Under one Gaussian the first term is in
closed form. For the second, H(p) is a straight base between H(gamma), where nothing is heard, and
H(lambda), where everything is, plus a bump at the threshold. As in Houlsby et al. 2011 (and the
paper, equation 17) the bump is replaced by a Gaussian one, here with the height and the area that
it has at these rates. The expectation of that is in closed form too, and the expectations of a
mixture are weighted sums.

The dead zone of unsure answers is left out: tones are asked at its middle. That is as good as any
level while the dead zone is not much wider than the posterior.
"""

import math
from typing import Final

from firmware_py.inference.answers import normal
from firmware_py.inference.elementary import binary_entropy, exp
from firmware_py.inference.kernel import CONVERGED, NONE_ALLOWED, Vector, entry, kernel
from firmware_py.inference.mixture.arrays import (
    FALSE_ALARM_RATE,
    LAPSE_RATE,
    NOISE_DB,
    Mixture,
    Places,
    View,
)
from firmware_py.inference.mixture.prediction import component_at

LEVEL_STEP_DB: Final = 1.0  # audiometers ask for whole decibels
SCAN_STEPS: Final = 3  # levels are first looked at so many steps apart, then one by one
SCAN_REACH_SDS: Final = 3.0

_SQRT_2PI: Final = math.sqrt(2.0 * math.pi)
_BUMP_END_SDS: Final = 7.0
_BUMP_POINTS: Final = 41  # the area is right to 2e-11


@kernel
def base_of_entropy(heard: float, lapse_rate: float, false_alarm_rate: float) -> float:
    """(1 - q) H(gamma) + q H(lambda): entropy of the rates alone, q = `heard` hearing the tone."""
    silent = binary_entropy(false_alarm_rate)
    return silent + heard * (binary_entropy(lapse_rate) - silent)


@kernel
def bump(lapse_rate: float, false_alarm_rate: float) -> tuple[float, float]:
    """H(p) - base at the threshold, and area / (height sqrt(2 pi)): height and SD of the bump.

    The height is in bits, and the SD in units of the response noise. The Gaussian with both has the
    area of the bump (trapezoidal rule).
    """
    c = 1.0 - lapse_rate - false_alarm_rate
    height = binary_entropy(false_alarm_rate + 0.5 * c) - base_of_entropy(
        0.5, lapse_rate, false_alarm_rate
    )
    step = 2.0 * _BUMP_END_SDS / (_BUMP_POINTS - 1)
    area = 0.0
    for i in range(_BUMP_POINTS):
        heard, _ = normal(-_BUMP_END_SDS + i * step)
        area += binary_entropy(false_alarm_rate + c * heard) - base_of_entropy(
            heard, lapse_rate, false_alarm_rate
        )
    return height, area * step / (height * _SQRT_2PI)


@kernel
def look_at(
    left: int, fraction: float, between_db2: float, noise_db: float, width: float,
    mixture: Mixture, view: View,
) -> int:  # fmt: skip
    """m_k, 1 / sqrt(v_k + sigma**2), sqrt(b / (v_k + b)) and 1 / (v_k + b), b = (width sigma)**2.

    That is what the objective takes of each component at one frequency, whatever the level.
    """
    noise_db2 = noise_db * noise_db + between_db2
    bump_db2 = width * width * noise_db2
    for k in range(len(mixture.weight)):
        m, v = component_at(left, fraction, 0.0, mixture.mean_db_hl[k], mixture.covariance[k])
        spread = v + bump_db2
        view.centre_db_hl[k] = m
        view.per_sd[k] = 1.0 / math.sqrt(v + noise_db2)
        view.bump[k] = math.sqrt(bump_db2 / spread)
        view.per_spread[k] = 1.0 / spread
    return CONVERGED


@kernel
def mixture_bald(
    level_db_hl: float, lapse_rate: float, false_alarm_rate: float, height: float, weight: Vector,
    view: View,
) -> float:  # fmt: skip
    """H(P) - E[H(p)]: information about the threshold expected from one answer, in bits.

    `view` is what `look_at` wrote of this frequency.
    """
    heard = 0.0
    bumps = 0.0
    for k in range(len(weight)):
        d = level_db_hl - view.centre_db_hl[k]
        q, _ = normal(d * view.per_sd[k])
        heard += weight[k] * q
        bumps += weight[k] * view.bump[k] * exp(-0.5 * d * d * view.per_spread[k])
    c = 1.0 - lapse_rate - false_alarm_rate
    base = base_of_entropy(heard, lapse_rate, false_alarm_rate)
    return max(binary_entropy(false_alarm_rate + c * heard) - base - height * bumps, 0.0)


@entry
def select_from_mixture(
    candidates: Places, noise_factor: Vector, mean_db_hl: Vector, sd_db: Vector, weight: Vector,
    level_min_db_hl: float, level_max_db_hl: Vector, listener: Vector, mixture: Mixture,
    view: View, choice: Vector,
) -> int:  # fmt: skip
    """`argmax weight(x) BALD(x, h)` over x and h: the best candidate and its best allowed level.

    Parameters
    ----------
    candidates, noise_factor : where each lies, and the factor on the response noise there.
    mean_db_hl, sd_db : posterior of the threshold at each.
    weight : factor on the objective of each; 0 forbids a candidate.
    level_min_db_hl, level_max_db_hl : lowest allowed level, and the highest at each candidate.
    listener : expected response noise and rates.
    mixture : the posterior.
    view : scratch.
    choice : (3,) out: index of the candidate, level in dB HL, information in bits (not weighted).
    """
    lapse_rate, false_alarm_rate = listener[LAPSE_RATE], listener[FALSE_ALARM_RATE]
    height, width = bump(lapse_rate, false_alarm_rate)
    best = -1.0
    for j in range(len(weight)):
        if weight[j] <= 0.0:
            continue
        look_at(
            candidates.left[j], candidates.fraction[j], candidates.between_db2[j],
            listener[NOISE_DB] * noise_factor[j], width, mixture, view,
        )  # fmt: skip
        steps = math.floor((level_max_db_hl[j] - level_min_db_hl) / LEVEL_STEP_DB)
        middle = (mean_db_hl[j] - level_min_db_hl) / LEVEL_STEP_DB
        reach = SCAN_REACH_SDS * sd_db[j] / LEVEL_STEP_DB + SCAN_STEPS
        first = int(min(max(math.floor(middle - reach), 0.0), steps))
        last = int(min(max(math.floor(middle + reach), 0.0), steps))
        top, top_bits = first, -1.0
        for scan in range(2):
            if scan == 1:
                first, last = max(top - SCAN_STEPS + 1, first), min(top + SCAN_STEPS - 1, last)
            for i in range(first, last + 1, SCAN_STEPS if scan == 0 else 1):
                bits = mixture_bald(
                    level_min_db_hl + LEVEL_STEP_DB * i, lapse_rate, false_alarm_rate, height,
                    mixture.weight, view,
                )  # fmt: skip
                if bits > top_bits:
                    top, top_bits = i, bits
        if weight[j] * top_bits > best:
            best = weight[j] * top_bits
            choice[0] = j
            choice[1] = level_min_db_hl + LEVEL_STEP_DB * top
            choice[2] = top_bits
    return CONVERGED if best >= 0.0 else NONE_ALLOWED
