"""The arrays that travel together through the kernels of the mixture, as groups with a name.

Sizes: n answers (the arrays have room for more), D unknowns (the knots, and perhaps the bends
between them), C components of the prior, L kinds of listeners, H = C L hypotheses. Hypothesis h is
component h % C together with listener h // C.
"""

from typing import Final, NamedTuple

from firmware_py.inference.kernel import Cube, Indices, Matrix, Vector

# Columns of the table of listeners.
NOISE_DB, LAPSE_RATE, FALSE_ALARM_RATE, UNSURE_HALF_WIDTH_DB = range(4)
LISTENER_ENTRIES: Final = 4
SHIFT_ROWS: Final = 7  # groups of tones that an earphone may pass on more softly from one on


class Places(NamedTuple):
    """Where frequencies lie: the threshold there is a sum of at most three unknowns.

    g = (1 - u) w_left + u w_(left + 1) + bow w_bend, u = `fraction`. `bend` is -1 where the bends
    are not among the unknowns: nothing was asked off the knots, and they are as they were.
    """

    left: Indices
    bend: Indices
    fraction: Vector
    bow_db: Vector


class Tones(NamedTuple):
    """The tones that were answered, (n,) each: where they lie (see `Places`), and the answers."""

    left: Indices
    bend: Indices
    answer: Indices
    fraction: Vector
    bow_db: Vector
    noise_factor: Vector
    level_db_hl: Vector


class Likelihood(NamedTuple):
    """The likelihood of every answer under one hypothesis, or of one under each; (n,) or (H,) each.

    `sign` is the answer, `rate` that of such answers whatever the level, and `attention` the share
    that depends on the tone; `half_width_db` is that of the dead zone.
    """

    margin_db: Vector
    noise_db2: Vector
    half_width_db: Vector
    lapse_rate: Vector
    false_alarm_rate: Vector
    sign: Vector
    rate: Vector
    attention: Vector


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
    """The components of the prior: (C,), (C, D) and (C, D, D)."""

    log_weight: Vector
    mean_db_hl: Matrix
    covariance: Cube


class Listeners(NamedTuple):
    """The kinds of listeners: (L, LISTENER_ENTRIES), and the logarithms of their shares (L,).

    The half width of the dead zone is above 0 for all of them (there is a second button), or for
    none.
    """

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
    """Attention that wanders; see `wandering`.

    `attending` and what follows have room only where it may.
    """

    missing: Vector
    pressing: Vector
    attending: Vector
    missing_before: Vector
    pressing_before: Vector


class Otherwise(NamedTuple):
    """The same answers, had the listener or the earphones been otherwise; see `otherwise`.

    `softer_db` and `pressed_unheard` are (n,) each, and the sites that come of them as well;
    `mean_db_hl` (D,) is what follows for the unknowns. Of the answers from any of them on: `among`,
    `gain` and `shift_db` are (SHIFT_ROWS, n).
    """

    softer_db: Vector
    pressed_unheard: Vector
    tau: Vector
    nu: Vector
    probability: Vector
    mean_db_hl: Vector
    among: Matrix
    gain: Matrix
    shift_db: Matrix


class Mixture(NamedTuple):
    """One Gaussian over the knots for each component: (C,), (C, D) and (C, D, D)."""

    weight: Vector
    mean_db_hl: Matrix
    covariance: Cube


class Scratch(NamedTuple):
    """Room for intermediate results, (D,) and (D, D), and (sites.SITE_ROWS, n or H).

    `mean` and `covariance` are of the unknowns that were asked about; see `asked`.
    """

    mean: Vector
    covariance: Matrix
    product: Matrix
    column: Vector
    natural: Vector
    sites: Matrix


class Believed(NamedTuple):
    """What is known at each candidate, (points,): a factor on the response noise, the threshold."""

    noise_factor: Vector
    mean_db_hl: Vector
    sd_db: Vector


class View(NamedTuple):
    """What the objective at one frequency takes of every component, whatever the level; (C,).

    Only components that count are in it, the first of so many entries. `bump` and `upper_bump`
    have the weight in them. The two from `upper_bump` on are of the upper edge of the dead zone,
    where there is one; `part` is scratch: what each component adds to a sum.
    """

    weight: Vector
    centre_db_hl: Vector
    per_sd: Vector
    bump: Vector
    per_spread: Vector
    upper_bump: Vector
    upper_per_spread: Vector
    part: Vector


class Expected(NamedTuple):
    """What is expected from the answers to tones of one frequency: (levels,) each."""

    level_db_hl: Vector
    bits: Vector
    seconds: Vector
