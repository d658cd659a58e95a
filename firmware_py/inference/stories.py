"""Whether anybody listened: stories of a session that need no threshold.

The model of an ear is sure of whatever it is given. Beside it stand listeners whose answers tell
nothing of an ear: one who falls silent, one who presses whatever is played, one whose presses have
nothing to do with the tones. Such a story begins at any piece of evidence, with a small
probability, and lasts. A piece is the answer to a tone, or a silence with a press or without.

With Z_k the evidence of the ear's model after k pieces, and b_k the probability that the story
begins after k of them,

S_n = sum over k of Z_k b_k p(pieces k + 1 ... n | story) = (S_(n-1) + Z_(n-1) b_(n-1)) p(piece n),

so that each piece costs a few operations, however many there were.

One story more needs an ear, and another one after it: from a tone on somebody else answers, or the
earphones have moved. It is told when an ear is over, of the evidence of its parts
(`change_of_listener`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from firmware_py.inference.elementary import exp, log
from firmware_py.inference.kernel import CONVERGED, Matrix, Vector, entry, kernel

BEGINS: Final = 0.003  # after any piece: one session in seven, were there so many
BEGINS_AT_ONCE: Final = 0.01  # before the first piece

CHANGES: Final = 0.005  # another listener, or other earphones, in an ear
PART_TONES_MIN: Final = 6  # answered by each of the two

# Of a listener who is silent: a press by accident, to a tone or in a silence.
ACCIDENT: Final = 0.02
# Of a listener who presses: shares of the tones, and of the silences, that are answered.
TONES_PRESSED: Final = (0.5, 0.7, 0.9)
SILENCES_PRESSED: Final = (0.02, 0.3, 0.8)

# Rows of what is kept: one silent listener, nine who press, one without relation to the tones.
SILENT_ROW: Final = 0
PRESSING_ROW: Final = 1
UNRELATED_ROW: Final = PRESSING_ROW + len(TONES_PRESSED) * len(SILENCES_PRESSED)
ROWS: Final = UNRELATED_ROW + 1
LOG_BEGINS: Final = math.log(BEGINS)
LOG_BEGINS_AT_ONCE: Final = math.log(BEGINS_AT_ONCE)
LOG_PRESSING: Final = math.log(float(UNRELATED_ROW - PRESSING_ROW))  # each as likely as another
# Columns: log S_n; the log of its largest part; the tones before that part's beginning.
LOG_SUM, LOG_LARGEST, BEGAN = range(3)
COLUMNS: Final = 3
# What is counted: pieces, tones, and tones and silences that were pressed, and that were not.
PIECES, TONES, TONE_PRESSED, TONE_NOT, SILENCE_PRESSED, SILENCE_NOT = range(6)
COUNTS: Final = 6


class Story(StrEnum):
    """What a listener may have done in place of listening."""

    SILENT = "silent"  # from some tone on nothing was answered
    PRESSING = "pressing"  # from some tone on the button was pressed, whatever was played
    UNRELATED = "unrelated"  # presses had nothing to do with the tones
    CHANGED = "changed"  # from some tone on the answers are those of another ear
    MOVED = "moved"  # from some tone on the earphone passed on tones softer, or louder
    PITCH = "pitch"  # faint tones near one pitch were taken for heard
    CUE = "cue"  # tones that were not heard were answered, and silences were not
    RISING = "rising"  # a faint tone was noticed only if it was louder than the one before


@dataclass(frozen=True)
class Suspicion:
    """How probable a story is, and after how many tones it most probably began."""

    story: Story
    probability: float
    began: int


class Stories:
    """The stories of one ear's session, in memory that is allocated once.

    Parameters
    ----------
    buttons : int
        That may be pressed.
    """

    def __init__(self, buttons: int) -> None:
        self._buttons = float(buttons)
        self._counts = np.zeros(COUNTS)
        self._kept = np.zeros((ROWS, COLUMNS))
        self.reset()

    @property
    def nbytes(self) -> int:
        """Return the size of all arrays in bytes."""
        return self._counts.nbytes + self._kept.nbytes

    def reset(self) -> None:
        """Forget all pieces."""
        self._counts[:] = 0.0
        self._kept[:] = -math.inf

    def follow(self, tone: bool, pressed: bool, log_evidence: float) -> None:
        """Take in one piece; `log_evidence` is that of the pieces before it, see the kernel."""
        follow_stories(
            int(tone), int(pressed), self._buttons, log_evidence, self._counts, self._kept
        )

    def tell(self, log_evidence: float) -> list[Suspicion]:
        """Return every story, with `log_evidence` of all pieces by the model of the ear."""
        rows = {
            Story.SILENT: range(SILENT_ROW, PRESSING_ROW),
            Story.PRESSING: range(PRESSING_ROW, UNRELATED_ROW),
            Story.UNRELATED: range(UNRELATED_ROW, ROWS),
        }
        odds = {
            story: sum(exp(float(self._kept[row, LOG_SUM]) - log_evidence) for row in of)
            for story, of in rows.items()
        }
        total = 1.0 + sum(odds.values())
        largest = {
            story: max(of, key=lambda row: self._kept[row, LOG_LARGEST])
            for story, of in rows.items()
        }
        return [
            Suspicion(story, odds[story] / total, int(max(self._kept[largest[story], BEGAN], 0.0)))
            for story in rows
        ]


def change_of_listener(before: Sequence[float], after: Sequence[float]) -> Suspicion:
    """Return how probable it is that two listeners answered one after the other.

    With Z the evidence by one ear, of the first k answers or of those from there on,

    odds = CHANGES * mean over k of Z(1 ... k) Z(k + 1 ... n) / Z(1 ... n).

    The two ears have nothing to do with each other: what is better explained by them is no listener
    who tires, and none who lapses for a while.

    Parameters
    ----------
    before, after : (n + 1,)
        The log evidence of the first k of n answers alone, and of all others alone.
    """
    places = range(PART_TONES_MIN, len(before) - PART_TONES_MIN)
    if not places:
        return Suspicion(Story.CHANGED, 0.0, 0)
    log_parts = [before[k] + after[k] for k in places]
    mean = sum(exp(parts - before[-1]) for parts in log_parts) / len(places)
    odds = CHANGES * mean
    return Suspicion(Story.CHANGED, odds / (1.0 + odds), places[log_parts.index(max(log_parts))])


@kernel
def log_of_sum(a: float, b: float) -> float:
    """`log(e**a + e**b)`."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + log(1.0 + exp(b - a))


@kernel
def go_on(enters: float, log_rate: float, tones: float, row: Vector) -> int:
    """S <- (S + e**enters) p, and the largest part of it likewise."""
    if enters > row[LOG_LARGEST]:
        row[LOG_LARGEST], row[BEGAN] = enters, tones
    row[LOG_SUM] = log_of_sum(row[LOG_SUM], enters) + log_rate
    row[LOG_LARGEST] += log_rate
    return CONVERGED


@entry
def follow_stories(
    tone: int, pressed: int, buttons: float, log_evidence: float, counts: Vector, kept: Matrix
) -> int:
    """S_n of every story, from S_(n-1): take in one piece.

    Parameters
    ----------
    tone, pressed : 1 or 0: a tone was played; a button was pressed.
    buttons : 1, or 2 with an unsure one: which of them is pressed says nothing in a story.
    log_evidence : log Z_(n-1) of the ear's model, of the pieces before.
    counts : (COUNTS,) in and out.
    kept : (ROWS, COLUMNS) in and out.
    """
    at_once = counts[PIECES] == 0.0
    log_begins = LOG_BEGINS_AT_ONCE if at_once else LOG_BEGINS
    # Any share of the tones, and any of the silences, are as likely: Laplace's rule of succession.
    alike = (TONE_PRESSED if tone == 1 else SILENCE_PRESSED) + (1 - pressed)
    other = (TONE_PRESSED if tone == 1 else SILENCE_PRESSED) + pressed
    for row in range(ROWS):
        began, enters = counts[TONES], log_evidence + log_begins
        if row == SILENT_ROW:
            chance = ACCIDENT if pressed == 1 else 1.0 - ACCIDENT
        elif row == UNRELATED_ROW:
            began, enters = 0.0, LOG_BEGINS_AT_ONCE if at_once else -math.inf
            chance = (counts[alike] + 1.0) / (counts[alike] + counts[other] + 2.0)
        else:
            i = row - PRESSING_ROW
            rate = SILENCES_PRESSED[i % len(SILENCES_PRESSED)]
            if tone == 1:
                rate = TONES_PRESSED[i // len(SILENCES_PRESSED)]
            enters -= LOG_PRESSING
            chance = rate if pressed == 1 else 1.0 - rate
        if pressed == 1:
            chance /= buttons
        go_on(enters, log(chance), began, kept[row])
    counts[alike] += 1.0
    counts[PIECES] += 1.0
    counts[TONES] += tone
    return CONVERGED
