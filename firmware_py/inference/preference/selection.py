"""Which two settings to compare next: those whose answer is expected to gain most.

The candidates differ in one number only, to both sides of the mean of the posterior, or of the end
of the range that it is beyond: of sounds that differ in several ways people judge one difference,
the largest, and the model all together.

The gain is the expected fall of the regret of the best setting: with a quadratic utility that
setting is the posterior mean, its regret half the trace of the covariance, and one answer's update
is in closed form.
"""

import math
from typing import Final

from firmware_py.inference.kernel import CONVERGED, NONE_ALLOWED, Vector, entry, kernel
from firmware_py.inference.preference.arrays import (
    SENSITIVITY,
    TIE_WIDTH,
    People,
    Scratch,
    Space,
    Wishes,
)
from firmware_py.inference.preference.posterior import dot, project
from firmware_py.inference.preference.thurstone import (
    ANSWERS,
    attention,
    expectation,
    lapses_to_come,
)

WEIGHT_MIN: Final = 1e-3  # of a kind of people that is looked at
EQUAL: Final = 1e-9  # scores that differ by less: the first candidate of such is taken


@kernel
def regret(wishes: Wishes, total: Vector) -> float:
    """Half the trace of the covariance of the wish, over all kinds; `total` gets the mean."""
    d = len(total)
    squares = weights = 0.0
    for i in range(d):
        total[i] = 0.0
    for kind in range(len(wishes.weight)):
        weight = wishes.weight[kind]
        weights += weight
        for i in range(d):
            m = wishes.mean[kind, i]
            total[i] += weight * m
            squares += weight * (wishes.covariance[kind, i, i] + m * m)
    for i in range(d):
        total[i] /= weights
    return 0.5 * (squares / weights - dot(d, total, total))


@kernel
def regret_after(
    people: People, wishes: Wishes, slope: Vector, offset: float, scratch: Scratch
) -> float:
    """Return the expected regret of the best setting after the answer."""
    d = len(slope)
    after = weights = 0.0
    for answer in range(ANSWERS):
        chance = squares = 0.0
        for i in range(d):
            scratch.total[i] = 0.0
        for kind in range(len(wishes.weight)):
            weight = wishes.weight[kind]
            if weight < WEIGHT_MIN:
                continue
            s = people.table[kind, SENSITIVITY]
            variance = project(d, wishes.covariance[kind], slope, scratch.column)
            mean = dot(d, slope, wishes.mean[kind]) - offset
            z, first, second = expectation(
                answer, s * mean, s * s * variance,
                people.table[kind, TIE_WIDTH], attention(people, kind),
                lapses_to_come(people, kind, answer),
            )  # fmt: skip
            step, bend = s * first, s * s * (second - first * first)
            share = weight * z
            chance += share
            for i in range(d):
                c = scratch.column[i]
                m = wishes.mean[kind, i] + c * step
                scratch.total[i] += share * m
                squares += share * (wishes.covariance[kind, i, i] + c * c * bend + m * m)
        after += 0.5 * (squares - dot(d, scratch.total, scratch.total) / chance)
        weights += chance
    return after / weights


@kernel
def on_grid(space: Space, i: int, value: float) -> float:
    """Return the nearest value of number i that there is."""
    step = space.step[0]
    nearest = math.floor(value / step + 0.5) * step
    return float(min(max(nearest, space.low[i]), space.high[i]))


@entry
def select_pair(
    people: People, space: Space, wishes: Wishes, half_lengths: Vector, scratch: Scratch,
    slope: Vector, first: Vector, second: Vector,
) -> int:  # fmt: skip
    """Choose the two settings of the next comparison.

    Parameters
    ----------
    people, space, wishes : as `infer_wish` left them.
    half_lengths : half the distances that are looked at, in units.
    scratch, slope : scratch.
    first, second : (d,) out: the settings, in units.

    Returns
    -------
    status : CONVERGED, or NONE_ALLOWED: no two settings differ.
    """
    d = len(space.low)
    now = regret(wishes, scratch.total)
    for i in range(d):
        scratch.centre[i] = min(max(scratch.total[i], space.low[i]), space.high[i])
        first[i] = second[i] = on_grid(space, i, scratch.centre[i])
        slope[i] = 0.0
    best, number, high, low = -math.inf, 0, 0.0, 0.0
    for i in range(d):
        for reach in half_lengths:
            one = on_grid(space, i, scratch.centre[i] + reach)
            other = on_grid(space, i, scratch.centre[i] - reach)
            if one - other < 0.5 * space.step[0]:
                continue
            slope[i], offset = one - other, 0.5 * (one - other) * (one + other)
            score = now - regret_after(people, wishes, slope, offset, scratch)
            if score > best + EQUAL:
                best, number, high, low = score, i, one, other
        slope[i] = 0.0
    if best == -math.inf:
        return NONE_ALLOWED
    first[number], second[number] = high, low
    return CONVERGED
