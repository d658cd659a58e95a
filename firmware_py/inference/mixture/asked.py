"""The unknowns that the answers tell of: inference takes place among these.

An answer depends on at most three unknowns. Those that no answer depends on, D - K of D, follow
the others as the prior says: with A the asked ones, C the covariance of the prior and
G = C_DA C_AA^-1, if the asked ones have the posterior mean m_A and covariance S, all have

m = G m_A,   C' = B + G S G^T,   B = C - G C_AD.

So the sweeps of expectation propagation take matrices of K rows, and the posterior of all is made
once, at their end. K is filled up to one of a few sizes that kernels are written for. What fills up
is an unknown of variance 1 that nothing depends on.
"""

import math
from typing import NamedTuple

from firmware_py.inference.kernel import (
    CONVERGED,
    NOT_POSITIVE_DEFINITE,
    Cube,
    Indices,
    Matrix,
    Vector,
    kernel,
)
from firmware_py.inference.linear_algebra import add_product, sweep_pivots
from firmware_py.inference.mixture.arrays import Gaussian, Tones

NOBODY = -1  # of an unknown: not asked; of one of the asked: fills up


def whole_size(unknowns: int) -> int:
    """Return the next multiple of 4: whole lanes, and sizes that kernels are written for."""
    return (unknowns + 3) // 4 * 4


size_in_kernel = kernel(whole_size)


class Asked(NamedTuple):
    """Which unknowns were asked about, and what the prior of each component says of them.

    `left` and `bend` are those of `Tones`, as places among the asked; (n,). `unknown` is which each
    of the asked is, and `place` where each of all is among them; (D,). Of every component k that
    was needed, `made[k]` is 1: P = C_AA^-1 is in the first rows and columns of `precision`, G^T in
    the first rows of `gain`, those rows of B that are not 0 in `rest`, and `log_partition` is
    log det(C_AA) / 2. All this is kept for as long as the same unknowns are asked about.
    """

    left: Indices
    bend: Indices
    unknown: Indices
    place: Indices
    made: Indices
    precision: Cube
    gain: Cube
    rest: Cube
    log_partition: Vector


@kernel
def find_asked(n: int, tones: Tones, asked: Asked) -> int:
    """Write which unknowns the first n answers tell of; return their number, filled up."""
    place, unknown, size = asked.place, asked.unknown, len(asked.place)
    for a in range(size):
        place[a] = NOBODY
    for i in range(n):
        place[tones.left[i]] = 0
        if tones.fraction[i] > 0.0:
            place[tones.left[i] + 1] = 0
        if tones.bow_db[i] > 0.0:
            place[tones.bend[i]] = 0
    count, others = 0, 0
    for a in range(size):
        if place[a] == 0:
            place[a] = count
            others += unknown[count] != a
            unknown[count] = a
            count += 1
    for a in range(count, size):
        others += unknown[a] != NOBODY
        unknown[a] = NOBODY
    for i in range(n):
        asked.left[i] = place[tones.left[i]]
        asked.bend[i] = place[tones.bend[i]] if tones.bow_db[i] > 0.0 else NOBODY
    if others > 0:
        for k in range(len(asked.made)):
            asked.made[k] = 0
    return size_in_kernel(count)


@kernel
def among_asked(tones: Tones, asked: Asked) -> Tones:
    """Return the tones as they lie among the asked unknowns."""
    return Tones(
        asked.left, asked.bend, tones.answer, tones.fraction, tones.bow_db, tones.noise_factor,
        tones.level_db_hl,
    )  # fmt: skip


@kernel
def make_component(
    size: int, k: int, covariance: Matrix, asked: Asked, beside: Matrix, row: Vector
) -> int:
    """P = C_AA^-1, G^T = P C_AD and B = C - G C_AD of component k, unless they are there.

    `beside` is scratch for C_AD.
    """
    if asked.made[k] == 1:
        return CONVERGED
    precision, gain, rest = asked.precision[k], asked.gain[k], asked.rest[k]
    for a in range(size):
        for b in range(size):
            precision[a, b] = 1.0 if a == b else 0.0
            if asked.unknown[a] != NOBODY and asked.unknown[b] != NOBODY:
                precision[a, b] = covariance[asked.unknown[a], asked.unknown[b]]
    asked.log_partition[k] = sweep_pivots(size, precision, row)
    if math.isnan(asked.log_partition[k]):
        return NOT_POSITIVE_DEFINITE
    unknowns = len(covariance)
    for a in range(size):
        for d in range(unknowns):
            beside[a, d] = covariance[asked.unknown[a], d] if asked.unknown[a] != NOBODY else 0.0
            gain[a, d] = 0.0
    add_product(size, size, unknowns, precision, beside, gain)
    for d in range(unknowns):
        if asked.place[d] == NOBODY:
            for e in range(unknowns):
                rest[d, e] = covariance[d, e]
            for a in range(size):
                c = gain[a, d]
                for e in range(unknowns):
                    rest[d, e] -= c * beside[a, e]
    asked.made[k] = 1
    return CONVERGED


@kernel
def extend_to(
    d: int, size: int, gain: Matrix, rest: Matrix, among: Gaussian, posterior: Gaussian, row: Vector
) -> int:
    """Write what follows for unknown d, which was not asked about; `row` is scratch for G_d S."""
    mean, covariance = posterior
    unknowns = len(mean)
    mean[d] = 0.0
    for b in range(size):
        row[b] = 0.0
    for a in range(size):
        c = gain[a, d]
        mean[d] += c * among.mean[a]
        for b in range(size):
            row[b] += c * among.covariance[a, b]
    for e in range(unknowns):
        covariance[d, e] = rest[d, e]
    for b in range(size):
        c = row[b]
        for e in range(unknowns):
            covariance[d, e] += c * gain[b, e]
    for e in range(unknowns):
        covariance[e, d] = covariance[d, e]
    return CONVERGED


@kernel
def extend(
    size: int, k: int, asked: Asked, among: Gaussian, posterior: Gaussian, row: Vector
) -> int:
    """`m = G m_A`, `C' = B + G S G^T`: from the posterior of the asked to that of all.

    Only the rows of those that were not asked take computing. `row` is scratch.
    """
    mean, covariance = posterior
    unknown = asked.unknown
    for d in range(len(mean)):
        if asked.place[d] == NOBODY:
            extend_to(d, size, asked.gain[k], asked.rest[k], among, posterior, row)
    for a in range(size):
        if unknown[a] != NOBODY:
            mean[unknown[a]] = among.mean[a]
            for b in range(size):
                if unknown[b] != NOBODY:
                    covariance[unknown[a], unknown[b]] = among.covariance[a, b]
    return CONVERGED
