"""The entropy of an answer given the threshold: plateaus, and bumps at the edges of the dead zone.

With a button for "perhaps" (`answers`), A and B the probabilities that the tone lies above the
lower and the upper edge of the dead zone, the answer is a press with probability
t = 2 gamma + c A, and says "heard" with h = gamma + c B. It has the entropy

H3 = H(t) + t H(h / t) = [H(t) + t H(gamma / t)] + t [H(h / t) - H(gamma / t)].

The first bracket is that of a listener who is never sure. It changes at the lower edge only: a
straight base in A between its values on either side, and a bump, whatever the width of the dead
zone. The rest is 0 on all three plateaus, since heard and unsure change places at the upper edge.
It is one bump, beyond the upper edge by an offset that vanishes as the dead zone grows beyond the
response noise; as the dead zone closes, both bumps become one of a listener who guesses a button.
Each bump is replaced by a Gaussian one: where the first has its threshold and the second its
mean, with the height there and the same area. The largest error of the first is 0.03 bits, as
without a button, and of the second 0.012 bits, for any width of the dead zone.

Without the button t = h = gamma + c A, and the first bracket is H(t).
"""

import math
from typing import Final, NamedTuple

from firmware_py.inference.elementary import binary_entropy
from firmware_py.inference.kernel import Vector, kernel
from firmware_py.inference.mixture.arrays import FALSE_ALARM_RATE, LAPSE_RATE, UNSURE_HALF_WIDTH_DB
from firmware_py.inference.psychometric import attention, normal

_SQRT_2PI: Final = math.sqrt(2.0 * math.pi)
_LOG2_3: Final = math.log2(3.0)
_BUMP_END_SDS: Final = 7.0
_BUMP_POINTS: Final = 41  # the area of the lower bump is right to 2e-11


class LowerEdge(NamedTuple):
    """The listener, and the entropy at the lower edge: the threshold, where there is no button.

    `silent_bits` and `loud_bits` are the plateaus, `height` that of the bump in bits, `width` its
    SD in units of the response noise. `false_alarm_rate` is that of each button.
    """

    lapse_rate: float
    false_alarm_rate: float
    half_width_db: float
    attention: float
    silent_bits: float
    loud_bits: float
    height: float
    width: float


class UpperEdge(NamedTuple):
    """The bump at the upper edge: as `LowerEdge`, and how far beyond the edge it is centred."""

    height: float
    width: float
    offset_db: float


@kernel
def entropy_of_answer(pressed: float, heard: float) -> float:
    """H(t) + t H(h / t), in bits: a press or none, and which button."""
    return binary_entropy(pressed) + pressed * binary_entropy(heard / pressed)


@kernel
def unsure_entropy(pressed: float, false_alarm_rate: float, half_width_db: float) -> float:
    """Return H(t) + t H(gamma / t), the first bracket above; H(t) without a second button."""
    if half_width_db > 0.0:
        return entropy_of_answer(pressed, false_alarm_rate)
    return binary_entropy(pressed)


@kernel
def lower_edge(listener: Vector) -> LowerEdge:
    """Return plateaus and bump of a listener: the bump's height, and area / (height sqrt(2 pi)).

    The Gaussian with both has the area of the bump (trapezoidal rule).
    """
    lapse_rate, false_alarm_rate = listener[LAPSE_RATE], listener[FALSE_ALARM_RATE]
    half_width_db = listener[UNSURE_HALF_WIDTH_DB]
    c = attention(lapse_rate, false_alarm_rate, half_width_db)
    silent_bits = binary_entropy(false_alarm_rate)
    loud_bits = binary_entropy(lapse_rate)
    pressed = false_alarm_rate
    if half_width_db > 0.0:
        pressed = 2.0 * false_alarm_rate
        silent_bits = entropy_of_answer(pressed, false_alarm_rate)
        loud_bits = entropy_of_answer(1.0 - lapse_rate, false_alarm_rate)
    rise = loud_bits - silent_bits
    height = unsure_entropy(pressed + 0.5 * c, false_alarm_rate, half_width_db) - (
        silent_bits + 0.5 * rise
    )
    step = 2.0 * _BUMP_END_SDS / (_BUMP_POINTS - 1)
    area = 0.0
    for i in range(_BUMP_POINTS):
        above, _ = normal(-_BUMP_END_SDS + i * step)
        area += unsure_entropy(pressed + c * above, false_alarm_rate, half_width_db) - (
            silent_bits + above * rise
        )
    width = area * step / (height * _SQRT_2PI)
    return LowerEdge(
        lapse_rate, false_alarm_rate, half_width_db, c, silent_bits, loud_bits, height, width
    )


@kernel
def upper_excess(beyond: float, zone: float, lower: LowerEdge) -> float:
    """Return t [H(h / t) - H(gamma / t)], `beyond` the upper edge of a dead zone wide `zone`.

    Both are in units of the response noise; `zone` is the whole width.
    """
    above_lower, _ = normal(beyond + zone)
    above_upper, _ = normal(beyond)
    pressed = 2.0 * lower.false_alarm_rate + lower.attention * above_lower
    heard = lower.false_alarm_rate + lower.attention * above_upper
    return pressed * (
        binary_entropy(heard / pressed) - binary_entropy(lower.false_alarm_rate / pressed)
    )


@kernel
def upper_edge(lower: LowerEdge, noise_db: float) -> UpperEdge:
    """Return the bump at the upper edge: height at its mean, and area / (height sqrt(2 pi))."""
    if lower.half_width_db <= 0.0:
        return UpperEdge(0.0, 0.0, 0.0)
    zone = 2.0 * lower.half_width_db / noise_db
    step = 2.0 * _BUMP_END_SDS / (_BUMP_POINTS - 1)
    area, moment = 0.0, 0.0
    for i in range(_BUMP_POINTS):
        beyond = -_BUMP_END_SDS + i * step
        excess = upper_excess(beyond, zone, lower)
        area += excess
        moment += beyond * excess
    offset = moment / area
    height = upper_excess(offset, zone, lower)
    return UpperEdge(height, area * step / (height * _SQRT_2PI), offset * noise_db)


@kernel
def most_bits_of(lower: LowerEdge) -> float:
    """log2 of how many answers there are, less the lower plateau: no answer tells more."""
    answers_bits = _LOG2_3 if lower.half_width_db > 0.0 else 1.0
    return answers_bits - min(lower.silent_bits, lower.loud_bits)
