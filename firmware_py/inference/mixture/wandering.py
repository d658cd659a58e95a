"""Attention that wanders: lapses come in runs.

A listener either attends to the tones, or is away for a while: misses whatever is played, or
presses whatever is played. Which of the three is a Markov chain over the tones. The probability
that an answer was given while away follows from the other answers by the forward and backward
recursions for such chains (Rabiner 1989), with the probability that expectation propagation gave to
each answer without its own site. It raises the rate of lapses, or of false alarms, of that answer
only.
"""

from typing import Final

from firmware_py.inference.elementary import log
from firmware_py.inference.kernel import CONVERGED, Indices, Vector, kernel
from firmware_py.inference.linear_algebra import PRODUCT_MAX, PRODUCT_MIN
from firmware_py.inference.mixture.arrays import Wandering
from firmware_py.inference.psychometric import SILENT

# Probability from one tone to the next, half of it to each way of being away.
WANDERS_OFF: Final = 0.01
RETURNS: Final = 0.2  # for about five tones
AWAY_AT_THE_START: Final = 0.02
OTHERWISE: Final = 0.2  # of who misses all: presses all the same; of who presses all: misses

PROBABILITY_MIN: Final = 1e-4


@kernel
def buttons(unsure_half_width_db: float) -> float:
    """1, or 2 with an unsure one."""
    return 2.0 if unsure_half_width_db > 0.0 else 1.0


@kernel
def while_missing(answer: int, presses: float) -> float:
    """P(answer) of a listener who misses whatever is played."""
    return 1.0 - OTHERWISE if answer == SILENT else OTHERWISE / presses


@kernel
def while_pressing(answer: int, presses: float) -> float:
    """P(answer) of a listener who presses whatever is played."""
    return OTHERWISE if answer == SILENT else (1.0 - OTHERWISE) / presses


@kernel
def lapse_rate_of(missing: float, pressing: float, rate: float) -> float:
    """`(1 - a) lambda + a_m (1 - e) + a_p e`: of one answer, from that of the listener.

    a_m and a_p are the probabilities of missing and of pressing whatever is played, a their sum.
    """
    attends = 1.0 - missing - pressing
    return attends * rate + missing * (1.0 - OTHERWISE) + pressing * OTHERWISE


@kernel
def false_alarm_rate_of(missing: float, pressing: float, rate: float, presses: float) -> float:
    """`(1 - a) gamma + (a_m e + a_p (1 - e)) / b`: likewise, of each of b buttons."""
    attends = 1.0 - missing - pressing
    return attends * rate + (missing * OTHERWISE + pressing * (1.0 - OTHERWISE)) / presses


@kernel
def attending_probability(
    answer: int, missing: float, pressing: float, presses: float, probability: float
) -> float:
    """(p - a_m q_m - a_p q_p) / (1 - a): of an answer if the listener attended, from p if unknown.

    q_m and q_p are its probabilities while away.
    """
    away = missing * while_missing(answer, presses) + pressing * while_pressing(answer, presses)
    found = (probability - away) / (1.0 - missing - pressing)
    return max(found, PROBABILITY_MIN)


@kernel
def one_answer_on(
    missing: float, pressing: float, answer: int, attending: float, presses: float
) -> tuple[float, float, float]:
    """P(answer | those before), and P(missing), P(pressing) of the next: a step forward.

    `missing` and `pressing` are of this answer by those before it, `attending` is its probability
    if the listener attended.
    """
    there = (1.0 - missing - pressing) * attending
    misses = missing * while_missing(answer, presses)
    pushes = pressing * while_pressing(answer, presses)
    expected = there + misses + pushes
    wandered = 0.5 * (there / expected) * WANDERS_OFF
    return (
        expected,
        misses / expected * (1.0 - RETURNS) + wandered,
        pushes / expected * (1.0 - RETURNS) + wandered,
    )


@kernel
def log_of_chain(
    n: int, presses: float, answer: Indices, probability: Vector, wandering: Wandering
) -> float:  # fmt: skip
    """Log of P(answers) by the chain, less that of answers each of which was or was not away.

    The second is the product of `probability`, which expectation propagation takes for granted. Its
    log evidence plus this difference knows that answers are away together.
    """
    missing, pressing = wandering.missing, wandering.pressing
    m, p, difference = 0.5 * AWAY_AT_THE_START, 0.5 * AWAY_AT_THE_START, 0.0
    product = 1.0
    for i in range(n):
        attending = attending_probability(
            answer[i], missing[i], pressing[i], presses, probability[i]
        )
        expected, m, p = one_answer_on(m, p, answer[i], attending, presses)
        product *= expected / probability[i]
        if not PRODUCT_MIN < product < PRODUCT_MAX:
            difference += log(product)
            product = 1.0
    return difference + log(product)


@kernel
def follow_attention(n: int, presses: float, answer: Indices, wandering: Wandering) -> int:
    """P(missing_i), P(pressing_i) given all answers but i, by forward and backward recursion.

    Also of the next answer. Reads `wandering.attending`, writes `missing` and `pressing`.
    """
    missing, pressing, attending, missing_before, pressing_before = wandering
    m, p = 0.5 * AWAY_AT_THE_START, 0.5 * AWAY_AT_THE_START
    for i in range(n):
        missing_before[i], pressing_before[i] = m, p
        _, m, p = one_answer_on(m, p, answer[i], attending[i], presses)
    missing[n], pressing[n] = m, p
    # Probabilities of the answers after, had the listener attended, or missed, or pressed.
    there, misses, pushes = 1.0, 1.0, 1.0
    for i in range(n - 1, -1, -1):
        m, p = missing_before[i], pressing_before[i]
        total = (1.0 - m - p) * there + m * misses + p * pushes
        missing[i], pressing[i] = m * misses / total, p * pushes / total
        there_now = attending[i] * there
        misses_now = while_missing(answer[i], presses) * misses
        pushes_now = while_pressing(answer[i], presses) * pushes
        there = (1.0 - WANDERS_OFF) * there_now + 0.5 * WANDERS_OFF * (misses_now + pushes_now)
        misses = RETURNS * there_now + (1.0 - RETURNS) * misses_now
        pushes = RETURNS * there_now + (1.0 - RETURNS) * pushes_now
        total = there + misses + pushes
        there, misses, pushes = there / total, misses / total, pushes / total
    return CONVERGED
