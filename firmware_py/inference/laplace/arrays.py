"""The arrays and numbers that travel together through the kernels of Laplace's approximation."""

from typing import Final, NamedTuple

import numpy as np

from firmware_py.inference.kernel import Array, Matrix, Vector
from firmware_py.inference.model import Memory
from firmware_py.inference.rate import CHOICE_ENTRIES

# Rows of `State.vectors`: the likelihood and its derivatives at the mode, and scratch.
LOG_P, GRADIENT, WEIGHT, THIRD, ROOT, DIRECTION, KERNEL_DIRECTION, WORK, DERIVATIVE = range(9)
VECTORS: Final = 9

# Entries of the record of a search: what is kept between trials, and what is reported. The first
# two are theta; after it the inverse Hessian's 00, 01 and 11.
CURVATURE: Final = 2
LOG_EVIDENCE, EVALUATIONS, RANK = 5, 6, 7
SEARCH_ENTRIES: Final = 8


class Trials(NamedTuple):
    """The tones that were answered, (n,) each."""

    x: Vector
    residual_db: Vector
    label: Vector
    noise_db: Vector


class Covariance(NamedTuple):
    """The covariance function s**2 exp(-(x - x')**2 / (2 l**2)): l and s."""

    length: float
    sd_db: float


class Interval(NamedTuple):
    """The interval of x that the basis covers."""

    centre: float
    half_width: float


class Curve(NamedTuple):
    """The candidates: where they lie, the prior mean, and the threshold's posterior; (points,)."""

    x: Vector
    prior_mean_db_hl: Vector
    mean_db_hl: Vector
    sd_db: Vector


class State(NamedTuple):
    """Laplace's approximation: matrices with room for n x n, vectors for n."""

    k: Matrix
    a: Vector
    f_db: Vector
    b: Matrix
    vectors: Matrix
    scratch: Matrix
    b_inverse: Matrix


class Steps(NamedTuple):
    """Vectors of a search for theta, (2,) each."""

    trial: Vector
    gradient: Vector
    direction: Vector
    gradient_new: Vector
    step: Vector


class Workspace(Memory):
    """All arrays of the inference, allocated once.

    Parameters
    ----------
    trials : int
        Trials there is room for.
    points : int
        Frequencies that can be predicted in one call.
    """

    def __init__(self, trials: int, points: int) -> None:
        self.trials = Trials(*np.zeros((4, trials)))
        k, b, b_inverse = np.zeros((3, trials, trials))
        scratch = np.zeros((trials, max(trials, points)))
        vectors = np.zeros((VECTORS, trials))
        self.state = State(k, np.zeros(trials), np.zeros(trials), b, vectors, scratch, b_inverse)
        self.steps = Steps(*np.zeros((5, 2)))
        self.search: Array = np.zeros(SEARCH_ENTRIES)
        self.choice: Array = np.zeros(CHOICE_ENTRIES)
        self.claim()
