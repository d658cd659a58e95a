"""Attention that wanders: lapses come in runs.

A listener either attends to the tones, or is away for a while and then gives any of the possible
answers (two, or three with an unsure one) at random. Which of the two is a Markov chain over the
tones. The probability that an answer was given by chance follows from the other answers by the
forward and backward recursions for such chains (Rabiner 1989), with the probability that
expectation propagation gave to each answer without its own site. It raises the rates of lapses and
false alarms of that answer only.
"""

from typing import Final

from firmware_py.inference.kernel import CONVERGED, kernel
from firmware_py.inference.mixture.arrays import Wandering

WANDERS_OFF: Final = 0.01  # probability from one tone to the next: once in a hundred tones
RETURNS: Final = 0.12  # for about eight tones
AWAY_AT_THE_START: Final = 0.02

PROBABILITY_MIN: Final = 1e-4


@kernel
def chance(unsure_half_width_db: float) -> float:
    """1/2, or 1/3 with an unsure one: probability of each answer of a listener who is away."""
    return 1.0 / 3.0 if unsure_half_width_db > 0.0 else 0.5


@kernel
def rate_of(away: float, by_chance: float, rate: float) -> float:
    """`r + a (q - r)`: rate of lapses or false alarms of one answer, from that of the listener.

    a is the probability of being away, q that of each answer by chance.
    """
    return rate + away * (by_chance - rate)


@kernel
def attending_probability(away: float, by_chance: float, probability: float) -> float:
    """(p - a q) / (1 - a): probability of an answer if the listener attended, from p if unknown."""
    found = (probability - away * by_chance) / (1.0 - away)
    return max(found, PROBABILITY_MIN)


@kernel
def follow_attention(n: int, by_chance: float, wandering: Wandering) -> int:
    """P(away_i | answers but i), by forward and backward recursion; also of the next answer.

    Reads `wandering.attending`, writes `wandering.away`.
    """
    attending, before = wandering.attending, wandering.before
    away = AWAY_AT_THE_START
    for i in range(n):
        before[i] = away
        there = (1.0 - away) * attending[i]
        gone = away * by_chance
        share = gone / (there + gone)
        away = share * (1.0 - RETURNS) + (1.0 - share) * WANDERS_OFF
    wandering.away[n] = away
    # Probabilities of the answers after, had the listener attended, or been away.
    there, gone = 1.0, 1.0
    for i in range(n - 1, -1, -1):
        away = before[i] * gone
        wandering.away[i] = away / (away + (1.0 - before[i]) * there)
        there_now = attending[i] * there
        gone_now = by_chance * gone
        there = (1.0 - WANDERS_OFF) * there_now + WANDERS_OFF * gone_now
        gone = RETURNS * there_now + (1.0 - RETURNS) * gone_now
        total = there + gone
        there /= total
        gone /= total
    return CONVERGED
