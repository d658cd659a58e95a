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
    """Where frequencies lie between the knots.

    Attributes
    ----------
    left : the knot below, or the only one beyond the outermost.
    fraction : of the way to the next knot.
    between_db2 : variance of the threshold's deviation from the line between the knots.
    """

    left: Indices
    fraction: Vector
    between_db2: Vector


class Tones(NamedTuple):
    """The tones that were answered, (n,) each: where they lie (see `Places`), and the answers.

    Attributes
    ----------
    answer : HEARD, UNSURE or SILENT.
    noise_factor : of the response noise at the tone's frequency.
    """

    left: Indices
    answer: Indices
    fraction: Vector
    between_db2: Vector
    noise_factor: Vector
    level_db_hl: Vector


class Likelihood(NamedTuple):
    """The likelihood of every answer under one hypothesis, (n,) each.

    Attributes
    ----------
    margin_db : level minus prior mean of the threshold.
    noise_db2 : variance of the response noise, and of the threshold between the knots.
    lapse_rate, false_alarm_rate : of the listener at this answer.
    """

    margin_db: Vector
    noise_db2: Vector
    lapse_rate: Vector
    false_alarm_rate: Vector


class Sites(NamedTuple):
    """The site exp(nu g - tau g**2 / 2) of every answer under one hypothesis, (n,) each.

    Attributes
    ----------
    probability : of each answer given the others.
    """

    tau: Vector
    nu: Vector
    probability: Vector


class Gaussian(NamedTuple):
    """Mean (D,) and covariance (D, D) of the knots' deviations from their prior mean."""

    mean: Vector
    covariance: Matrix


class Prior(NamedTuple):
    """The components of the prior: (C,), (C, D) or (C, D, D).

    Attributes
    ----------
    log_partition : half the log determinant of the covariance.
    """

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
    """What is kept of every hypothesis from answer to answer: (H,), (H, n), (H, D) or (H, D, D).

    Attributes
    ----------
    swept : 1 if it was swept over at this answer.
    tau, nu, probability : its sites, see `Sites`.
    mean, covariance : its posterior, see `Gaussian`.
    """

    swept: Indices
    tau: Matrix
    nu: Matrix
    probability: Matrix
    mean: Matrix
    covariance: Cube
    log_evidence: Vector
    weight: Vector


class Wandering(NamedTuple):
    """Attention that wanders; see `wandering`.

    Attributes
    ----------
    away : (n + 1,) probability that each answer, and the next, was given by chance.
    attending : (n,) probability of each answer, if the listener attended.
    before : (n,) scratch: probability of being away, from the answers before.
    """

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
    """What the objective at one frequency takes of every component, whatever the level; (C,).

    Attributes
    ----------
    centre_db_hl, per_sd : mean of the threshold, and 1 / SD of threshold and noise together.
    bump, per_spread : height, and 1 / variance, of the expected bump of the entropy.
    """

    centre_db_hl: Vector
    per_sd: Vector
    bump: Vector
    per_spread: Vector
