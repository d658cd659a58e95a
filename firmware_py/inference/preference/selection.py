"""Which two settings to compare next: those whose answer is expected to tell or to gain most.

The candidates lie to both sides of the mean of the posterior, in some directions and at some
distances. They differ in the first number, the overall gain, or in all others, never in both: where
loudness is not the question both sounds are equally loud.

Two objectives. *Bits* is the mutual information of the answer with the wish and the kind of person
(BALD; Houlsby et al. 2011), by Gauss-Hermite quadrature. *Gain* is the expected fall of the regret
of the best setting: with a quadratic utility that setting is the posterior mean, its regret half
the trace of the covariance, and one answer's update is in closed form.
"""

import math
from typing import Final

from firmware_py.inference.elementary import LOG_2, log
from firmware_py.inference.kernel import CONVERGED, NONE_ALLOWED, Vector, entry, kernel
from firmware_py.inference.preference.arrays import (
    LAPSE_RATE,
    SENSITIVITY,
    TIE_WIDTH,
    Lines,
    People,
    Scratch,
    Space,
    Wishes,
)
from firmware_py.inference.preference.posterior import dot, project
from firmware_py.inference.preference.thurstone import (
    ANSWERS,
    FIRST,
    SECOND,
    expectation,
    probability,
)

BITS, GAIN, CHECK = range(3)  # objectives
WEIGHT_MIN: Final = 1e-3  # of a kind of people that is looked at
CHOICE_ENTRIES: Final = 2  # bits and gain of the chosen pair

# Gauss-Hermite quadrature for a standard normal with 11 nodes (Abramowitz & Stegun, table 25.10).
NODES: Final = (
    -5.1880012243748705, -3.936166607129977, -2.865123160643645, -1.876035020154846,
    -0.928868997381064, 0.0, 0.928868997381064, 1.876035020154846,
    2.865123160643645, 3.936166607129977, 5.1880012243748705,
)  # fmt: skip
NODE_WEIGHTS: Final = (
    8.121849790214909e-07, 0.0001956719302712236, 0.0067202852355372706, 0.06613874607105778,
    0.24224029987396997, 0.3694083694083693, 0.24224029987396997, 0.06613874607105778,
    0.0067202852355372706, 0.0001956719302712236, 8.121849790214909e-07,
)  # fmt: skip


@kernel
def entropy_term(p: float) -> float:
    """`-p log2 p`."""
    return -p * log(p) / LOG_2 if p > 0.0 else 0.0


@kernel
def bits(people: People, wishes: Wishes, slope: Vector, offset: float, scratch: Scratch) -> float:
    """`H(E[p]) - E[H(p)]` of the three answers, expectations over wish and kind of person."""
    d = len(slope)
    first = second = same = told = 0.0
    for kind in range(len(wishes.weight)):
        weight = wishes.weight[kind]
        if weight < WEIGHT_MIN:
            continue
        s, width, lapse = (
            people.table[kind, SENSITIVITY],
            people.table[kind, TIE_WIDTH],
            people.table[kind, LAPSE_RATE],
        )
        sd = math.sqrt(project(d, wishes.covariance[kind], slope, scratch.column))
        mean = dot(d, slope, wishes.mean[kind]) - offset
        for node in range(len(NODES)):
            share = weight * NODE_WEIGHTS[node]
            difference = s * (mean + sd * NODES[node])
            p = probability(FIRST, difference, width, lapse)
            q = probability(SECOND, difference, width, lapse)
            r = max(1.0 - p - q, 0.0)
            first += share * p
            second += share * q
            same += share * r
            told += share * (entropy_term(p) + entropy_term(q) + entropy_term(r))
    return entropy_term(first) + entropy_term(second) + entropy_term(same) - told


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
                people.table[kind, TIE_WIDTH], people.table[kind, LAPSE_RATE],
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
def foreseen(
    people: People, wishes: Wishes, slope: Vector, offset: float, scratch: Scratch
) -> float:
    """Return the probability that the first is better."""
    d = len(slope)
    total = 0.0
    for kind in range(len(wishes.weight)):
        s = people.table[kind, SENSITIVITY]
        variance = project(d, wishes.covariance[kind], slope, scratch.column)
        mean = dot(d, slope, wishes.mean[kind]) - offset
        z, _, _ = expectation(
            FIRST, s * mean, s * s * variance,
            people.table[kind, TIE_WIDTH], people.table[kind, LAPSE_RATE],
        )  # fmt: skip
        total += wishes.weight[kind] * z
    return total


@kernel
def on_grid(space: Space, i: int, value: float) -> float:
    """Return the nearest value of number i that there is."""
    step = space.step[0]
    nearest = math.floor(value / step + 0.5) * step
    return float(min(max(nearest, space.low[i]), space.high[i]))


@entry
def select_pair(
    objective: int, people: People, space: Space, wishes: Wishes, lines: Lines, scratch: Scratch,
    slope: Vector, first: Vector, second: Vector, choice: Vector,
) -> int:  # fmt: skip
    """Choose the two settings of the next comparison.

    Parameters
    ----------
    objective : BITS, GAIN or CHECK.
    people, space, wishes : as `infer_wish` left them.
    lines : where to look.
    scratch, slope : scratch.
    first, second : (d,) out: the settings, in units.
    choice : (CHOICE_ENTRIES,) out: bits and gain of the choice.

    Returns
    -------
    status : CONVERGED, or NONE_ALLOWED: no two settings differ.
    """
    d = len(space.low)
    now = regret(wishes, scratch.total)
    for i in range(d):
        scratch.centre[i] = scratch.total[i]
    best = -math.inf
    for at in range(len(lines.direction)):
        for length in lines.length:
            distance = offset = 0.0
            for i in range(d):
                reach = length * lines.direction[at, i]
                near = 0.0 if objective == CHECK else reach
                far = 2.0 * reach if objective == CHECK else reach
                scratch.one[i] = on_grid(space, i, scratch.centre[i] + near)
                scratch.other[i] = on_grid(space, i, scratch.centre[i] - far)
                slope[i] = scratch.one[i] - scratch.other[i]
                distance += slope[i] * slope[i]
                offset += 0.5 * slope[i] * (scratch.one[i] + scratch.other[i])
            if not distance > 0.0:
                continue
            if objective == BITS:
                score = bits(people, wishes, slope, offset, scratch)
            elif objective == CHECK:
                score = foreseen(people, wishes, slope, offset, scratch)
            else:
                score = now - regret_after(people, wishes, slope, offset, scratch)
            if score > best:
                best = score
                for i in range(d):
                    first[i], second[i] = scratch.one[i], scratch.other[i]
    if best == -math.inf:
        return NONE_ALLOWED
    offset = 0.0
    for i in range(d):
        slope[i] = first[i] - second[i]
        offset += 0.5 * slope[i] * (first[i] + second[i])
    choice[0] = bits(people, wishes, slope, offset, scratch)
    choice[1] = now - regret_after(people, wishes, slope, offset, scratch)
    return CONVERGED
