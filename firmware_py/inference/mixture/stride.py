"""The least stride from the last tones at a frequency, where answers disagree with belief.

The most informative level is near the middle of what is believed. Where an ear is unlike all that
the prior knows, belief follows its answers slowly: 3 kHz was asked at 10, 11, 13, 14, 16, 17 and 18
dB, unheard each time. So after two equal answers in a row at a frequency the next tone in the same
direction goes further, and further still after three; but never past the middle between the last
tone and one that was answered otherwise. This is a search by growing strides, then by halving
(Bentley & Yao 1976). People who are as the prior believes are asked no more tones by it.
"""

from collections.abc import Sequence

import numpy as np

from firmware_py.inference.mixture.workspace import Workspace
from firmware_py.inference.psychometric import HEARD, UNSURE


def strode(
    level_db_hl: float, answered: Sequence[tuple[float, bool]], level_min_db_hl: float,
    strides_db: Sequence[float],
) -> float:  # fmt: skip
    """Return the level to ask in place of the most informative one at this frequency.

    That is whole dB above the lowest allowed level. `answered` has the answers at this frequency,
    in order; the strides are those after two, three ... equal answers in a row, the last after all
    that follow.
    """
    if not answered:
        return level_db_hl
    heard = answered[-1][1]
    run = []
    for level, also in reversed(answered):
        if also != heard:
            break
        run.append(level)
    if len(run) < 2:
        return level_db_hl
    # Upward after silences, downward after answers; `side` turns the one into the other.
    side = -1.0 if heard else 1.0
    last = max(side * level for level in run)
    if side * level_db_hl <= last:
        return level_db_hl
    goal = last + strides_db[min(len(run) - 2, len(strides_db) - 1)]
    otherwise = [side * level for level, also in answered if also != heard and side * level > last]
    if otherwise:
        goal = min(goal, 0.5 * (last + min(otherwise)))
    steps = round(side * goal - level_min_db_hl)
    return side * max(side * level_db_hl, side * (level_min_db_hl + max(steps, 0)))


def answers_at(w: Workspace, n: int, candidate: int) -> list[tuple[float, bool]]:
    """Return level and answer of the tones at a candidate's very frequency, but unsure ones."""
    left, _, fraction, bow_db = (column[candidate] for column in w.candidates)
    tones = w.tones
    here = (
        (tones.left[:n] == left)
        & (tones.fraction[:n] == fraction)
        & (tones.bow_db[:n] == bow_db)
        & (tones.answer[:n] != UNSURE)
    )
    if np.count_nonzero(here) == 0:
        return []  # indexing with a mask of nothing would allocate
    levels_db_hl, answers = tones.level_db_hl[:n][here], tones.answer[:n][here]
    return list(zip(levels_db_hl.tolist(), (answers == HEARD).tolist(), strict=True))
