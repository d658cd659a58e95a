"""Attention that wanders: lapses come in runs.

A listener either attends to the tones, or for a while to something else, and then gives any of the
possible answers (two, or three with an unsure one) at random; which of the two is a Markov chain
over the tones. How likely each answer was to be given by chance follows from the others by the
forward and backward recursions for such chains (Rabiner 1989), with the probability that
expectation propagation, without this answer, gave to it. It raises the rates of lapses and false
alarms of that answer only.
"""

from typing import Final

from firmware_py.inference.kernel import CONVERGED, Array, kernel

WANDERS_OFF: Final = 0.01  # probability from one tone to the next: once in a hundred tones
RETURNS: Final = 0.12  # for about eight tones
AWAY_AT_THE_START: Final = 0.02

PROBABILITY_MIN: Final = 1e-4

# Rows of the scratch.
ATTENDING: Final = 0  # probability of each answer, if the listener attended
AWAY_BEFORE: Final = 1  # probability of being away, from the answers before
WANDERING_ROWS: Final = 2


@kernel
def chance(unsure_half_width_db: float) -> float:
    """Return the probability of each answer of a listener who does not attend."""
    return 1.0 / 3.0 if unsure_half_width_db > 0.0 else 0.5


@kernel
def rate_of(wandering: float, by_chance: float, rate: float) -> float:
    """Return the rate of lapses or false alarms of one answer."""
    return rate + wandering * (by_chance - rate)


@kernel
def attending_probability(wandering: float, by_chance: float, probability: float) -> float:
    """Return the probability of an answer if the listener attended, from that if not known."""
    found = (probability - wandering * by_chance) / (1.0 - wandering)
    return max(found, PROBABILITY_MIN)


@kernel
def follow_attention(n: int, by_chance: float, rows: Array, wandering: Array) -> int:
    """Compute how likely each answer was given by chance, as far as the other answers tell.

    Parameters
    ----------
    n : int
        Answers.
    by_chance : float
        Probability of each answer of a listener who is away.
    rows : (WANDERING_ROWS, n)
        ATTENDING is read, AWAY_BEFORE is scratch.
    wandering : (n + 1,) out
        Of each answer, and of the next.
    """
    away = AWAY_AT_THE_START
    for i in range(n):
        rows[AWAY_BEFORE, i] = away
        there = (1.0 - away) * rows[ATTENDING, i]
        gone = away * by_chance
        share = gone / (there + gone)
        away = share * (1.0 - RETURNS) + (1.0 - share) * WANDERS_OFF
    wandering[n] = away
    # Probabilities of the answers after, had the listener attended, or been away.
    there, gone = 1.0, 1.0
    for i in range(n - 1, -1, -1):
        away = rows[AWAY_BEFORE, i] * gone
        wandering[i] = away / (away + (1.0 - rows[AWAY_BEFORE, i]) * there)
        there_now = rows[ATTENDING, i] * there
        gone_now = by_chance * gone
        there = (1.0 - WANDERS_OFF) * there_now + WANDERS_OFF * gone_now
        gone = RETURNS * there_now + (1.0 - RETURNS) * gone_now
        total = there + gone
        there /= total
        gone /= total
    return CONVERGED
