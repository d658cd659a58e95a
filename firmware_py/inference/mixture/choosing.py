"""The earlier answers that the choice of a tone goes by."""

import numpy as np

from firmware_py.inference.answers import HEARD, UNSURE
from firmware_py.inference.mixture.workspace import Workspace


def answered_at(w: Workspace, n: int, candidate: int) -> list[tuple[float, bool]]:
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
