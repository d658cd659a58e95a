"""The arrays of the preference inference: n answers, k kinds of people, d numbers of a setting.

A setting is counted in units of `regret.UNIT_DB`.
"""

from typing import Final, NamedTuple

from firmware_py.inference.kernel import Cube, Indices, Matrix, Vector

# Of a kind of people, the columns of `People.table`; those of `LAPSES` are one for each answer.
SENSITIVITY, TIE_WIDTH, LAPSES = range(3)
PEOPLE_ENTRIES: Final = 5


class Comparisons(NamedTuple):
    """What was asked and answered: the first is better if slope . theta > offset."""

    slope: Matrix  # (n, d) first less second
    offset: Vector  # (n,) (|first|**2 - |second|**2) / 2
    answer: Indices  # (n,) FIRST, SECOND or SAME
    heard: Indices  # (n,) the same by the order of hearing, in which the first may be the second


class People(NamedTuple):
    """The kinds of people."""

    table: Matrix  # (k, PEOPLE_ENTRIES)
    log_share: Vector  # (k,) before any answer


class Wishes(NamedTuple):
    """The posterior of the wish under each kind of people."""

    mean: Matrix  # (k, d)
    covariance: Cube  # (k, d, d)
    tau: Matrix  # (k, n) precision of each answer's site
    nu: Matrix  # (k, n) its precision times its mean
    log_evidence: Vector  # (k,)
    weight: Vector  # (k,) posterior probability of the kind


class Space(NamedTuple):
    """The settings there are: a box, in units; and the prior of the wish."""

    low: Vector  # (d,)
    high: Vector  # (d,)
    prior_precision: Vector  # (d,)
    step: Vector  # (1,) of the grid of settings


class StandardPoints(NamedTuple):
    """Points of d standard logistic distributions."""

    point: Matrix  # (p, d)
    log_density: Vector  # (p,)


class Sample(NamedTuple):
    """The exact posterior of the wish at points, in units."""

    wish: Matrix  # (p, d) where the points lie
    weight: Vector  # (p,) posterior probabilities
    mean: Vector  # (d,) of the wish
    covariance: Matrix  # (d, d) of the wish


class Scratch(NamedTuple):
    """Memory for what is in between."""

    precision: Matrix  # (d, d)
    inverse: Matrix  # (d, d)
    inverse_scratch: Matrix  # (d, d)
    column: Vector  # (d,)
    total: Vector  # (d,)
    centre: Vector  # (d,)
