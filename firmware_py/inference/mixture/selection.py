"""Which tone to ask next of a mixture: BALD over frequency and level, for listeners who lapse.

The information about the threshold expected from an answer is H(P) - E[H(p(g))], with
p(g) = gamma + c Phi((h - g) / sigma) and P its expectation. Under one Gaussian the first term is in
closed form. For the second, H(p) is the straight base between H(gamma), where nothing is heard,
and H(lambda), where everything is, plus a bump at the threshold; as in Houlsby et al. 2011 (and the
paper, equation 17) the bump is replaced by a Gaussian one, here with the height and the area that
it has at these rates. Its expectation is in closed form, too, and those of a mixture are weighted
sums.

The dead zone of unsure answers is not looked at: tones are asked at its middle, as good as any
while it is not much wider than what is not known of the threshold.
"""

import math
from typing import Final

from firmware_py.inference.answers import normal
from firmware_py.inference.elementary import binary_entropy, exp
from firmware_py.inference.kernel import (
    CONVERGED,
    CUBE,
    F8,
    I8,
    INDICES,
    MATRIX,
    NONE_ALLOWED,
    VECTOR,
    Array,
    Indices,
    entry,
    kernel,
)
from firmware_py.inference.mixture.posterior import (
    FALSE_ALARM_RATE,
    LAPSE_RATE,
    NOISE_DB,
    component_at,
)

LEVEL_STEP_DB: Final = 1.0  # audiometers ask for whole decibels
SCAN_STEPS: Final = 3  # levels are first looked at so many steps apart, then one by one
SCAN_REACH_SDS: Final = 3.0

# Rows of the scratch for one frequency, as long as there are components.
CENTRE_DB_HL, PER_SD, BUMP, PER_SPREAD = range(4)
VIEW_ROWS: Final = 4

_SQRT_2PI: Final = math.sqrt(2.0 * math.pi)
_BUMP_END_SDS: Final = 7.0
_BUMP_POINTS: Final = 41  # the area is right to 2e-11


@kernel
def base_of_entropy(heard: float, lapse_rate: float, false_alarm_rate: float) -> float:
    """Return the entropy of the rates alone, `heard` being the share that hears the tone."""
    silent = binary_entropy(false_alarm_rate)
    return silent + heard * (binary_entropy(lapse_rate) - silent)


@kernel
def bump(lapse_rate: float, false_alarm_rate: float) -> tuple[float, float]:
    """Return height (bits) and SD (in units of the response noise) of H(p) above its base.

    The height is that at the threshold, the SD that of the Gaussian with this height and the area
    of the bump (trapezoidal rule).
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
    components: int,
    left: int,
    fraction: float,
    between_db2: float,
    noise_db: float,
    width: float,
    mean_db_hl: Array,
    covariance: Array,
    view: Array,
) -> int:
    """Write what the objective at one frequency needs of each component, whatever the level."""
    noise_db2 = noise_db * noise_db + between_db2
    bump_db2 = width * width * noise_db2
    for k in range(components):
        m, v = component_at(left, fraction, 0.0, mean_db_hl[k], covariance[k])
        spread = v + bump_db2
        view[CENTRE_DB_HL, k] = m
        view[PER_SD, k] = 1.0 / math.sqrt(v + noise_db2)
        view[BUMP, k] = math.sqrt(bump_db2 / spread)
        view[PER_SPREAD, k] = 1.0 / spread
    return CONVERGED


@kernel
def mixture_bald(
    level_db_hl: float,
    components: int,
    lapse_rate: float,
    false_alarm_rate: float,
    height: float,
    weight: Array,
    view: Array,
) -> float:
    """Return the information about the threshold expected from one answer, in bits.

    `view` is what `look_at` wrote of this frequency.
    """
    heard = 0.0
    bumps = 0.0
    for k in range(components):
        d = level_db_hl - view[CENTRE_DB_HL, k]
        q, _ = normal(d * view[PER_SD, k])
        heard += weight[k] * q
        bumps += weight[k] * view[BUMP, k] * exp(-0.5 * d * d * view[PER_SPREAD, k])
    c = 1.0 - lapse_rate - false_alarm_rate
    base = base_of_entropy(heard, lapse_rate, false_alarm_rate)
    return max(binary_entropy(false_alarm_rate + c * heard) - base - height * bumps, 0.0)


@entry(
    I8, I8, I8, INDICES, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, F8, VECTOR, VECTOR,
    VECTOR, MATRIX, CUBE, MATRIX, VECTOR,
)  # fmt: skip
def select_from_mixture(
    points: int,
    components: int,
    left: Indices,
    fraction: Array,
    between_db2: Array,
    noise_factor: Array,
    point_mean_db_hl: Array,
    point_sd_db: Array,
    point_weight: Array,
    level_min_db_hl: float,
    level_max_db_hl: Array,
    listener: Array,
    weight: Array,
    mean_db_hl: Array,
    covariance: Array,
    view: Array,
    choice: Array,
) -> int:
    """Find the stimulus of the largest weighted objective over the candidates and allowed levels.

    Parameters
    ----------
    points : candidates.
    components : of the mixture.
    left, fraction, between_db2, noise_factor : (points,) where each lies, and the noise there.
    point_mean_db_hl, point_sd_db : (points,) posterior.
    point_weight : (points,) factor on the objective; 0 forbids a candidate.
    level_min_db_hl, level_max_db_hl : lowest allowed level, and (points,) the highest at each.
    listener : expected response noise and rates.
    weight, mean_db_hl, covariance : of the components.
    view : (VIEW_ROWS, components) scratch.
    choice : (3,) out: index of the candidate, level in dB HL, information in bits (not weighted).
    """
    lapse_rate, false_alarm_rate = listener[LAPSE_RATE], listener[FALSE_ALARM_RATE]
    height, width = bump(lapse_rate, false_alarm_rate)
    best = -1.0
    for j in range(points):
        if point_weight[j] <= 0.0:
            continue
        look_at(
            components, left[j], fraction[j], between_db2[j], listener[NOISE_DB] * noise_factor[j],
            width, mean_db_hl, covariance, view,
        )  # fmt: skip
        steps = math.floor((level_max_db_hl[j] - level_min_db_hl) / LEVEL_STEP_DB)
        middle = (point_mean_db_hl[j] - level_min_db_hl) / LEVEL_STEP_DB
        reach = SCAN_REACH_SDS * point_sd_db[j] / LEVEL_STEP_DB + SCAN_STEPS
        first = int(min(max(math.floor(middle - reach), 0.0), steps))
        last = int(min(max(math.floor(middle + reach), 0.0), steps))
        top, top_bits = first, -1.0
        for scan in range(2):
            if scan == 1:
                first, last = max(top - SCAN_STEPS + 1, first), min(top + SCAN_STEPS - 1, last)
            for i in range(first, last + 1, SCAN_STEPS if scan == 0 else 1):
                bits = mixture_bald(
                    level_min_db_hl + LEVEL_STEP_DB * i, components, lapse_rate, false_alarm_rate,
                    height, weight, view,
                )  # fmt: skip
                if bits > top_bits:
                    top, top_bits = i, bits
        if point_weight[j] * top_bits > best:
            best = point_weight[j] * top_bits
            choice[0] = j
            choice[1] = level_min_db_hl + LEVEL_STEP_DB * top
            choice[2] = top_bits
    return CONVERGED if best >= 0.0 else NONE_ALLOWED
