"""The arrays that travel together through the kernels of the mixture, as groups with a name.

Sizes: n answers (the arrays have room for more), D knots, C components of the prior, L kinds of
listeners, H = C L hypotheses. Hypothesis h is component h % C together with listener h // C.
"""

from typing import Final, NamedTuple

from firmware_py.inference.kernel import Cube, Indices, Matrix, Vector

# Columns of the table of listeners.
NOISE_DB, LAPSE_RATE, FALSE_ALARM_RATE = range(3)
LISTENER_ENTRIES: Final = 3


class Places(NamedTuple):
    """Where frequencies lie between the knots."""

    left: Indices
    fraction: Vector
    between_db2: Vector


class Tones(NamedTuple):
    """The tones that were answered, (n,) each: where they lie (see `Places`), and the answers."""

    left: Indices
    answer: Indices
    fraction: Vector
    between_db2: Vector
    noise_factor: Vector
    level_db_hl: Vector


class Likelihood(NamedTuple):
    """The likelihood of every answer under one hypothesis, (n,) each."""

    margin_db: Vector
    noise_db2: Vector
    lapse_rate: Vector
    false_alarm_rate: Vector


class Sites(NamedTuple):
    """The site exp(nu g - tau g**2 / 2) of every answer under one hypothesis, (n,) each."""

    tau: Vector
    nu: Vector
    probability: Vector


class Gaussian(NamedTuple):
    """Mean (D,) and covariance (D, D) of the knots' deviations from their prior mean."""

    mean: Vector
    covariance: Matrix


class Prior(NamedTuple):
    """The components of the prior: (C,), (C, D) or (C, D, D)."""

    log_weight: Vector
    mean_db_hl: Matrix
    covariance: Cube
    precision: Cube
    log_partition: Vector


class Listeners(NamedTuple):
    """The kinds of listeners: (L, LISTENER_ENTRIES), and the logarithms of their shares (L,)."""

    table: Matrix
    log_share: Vector


class Hypotheses(NamedTuple):
    """What is kept of every hypothesis from answer to answer: (H,), (H, n), (H, D) or (H, D, D)."""

    swept: Indices
    tau: Matrix
    nu: Matrix
    probability: Matrix
    mean: Matrix
    covariance: Cube
    log_evidence: Vector
    weight: Vector


class Wandering(NamedTuple):
    """Attention that wanders; see `wandering`."""

    away: Vector
    attending: Vector
    before: Vector


class Mixture(NamedTuple):
    """One Gaussian over the knots for each component: (C,), (C, D) and (C, D, D)."""

    weight: Vector
    mean_db_hl: Matrix
    covariance: Cube


class Scratch(NamedTuple):
    """Room for intermediate results: two (D, D), two (D,), and (sites.SITE_ROWS, n)."""

    factor: Matrix
    inverse_factor: Matrix
    column: Vector
    natural: Vector
    sites: Matrix


class View(NamedTuple):
    """What the objective at one frequency takes of every component, whatever the level; (C,)."""

    centre_db_hl: Vector
    per_sd: Vector
    bump: Vector
    per_spread: Vector
