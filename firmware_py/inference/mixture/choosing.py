"""What the choice of a tone asks of a workspace: expected bits and seconds, and earlier answers."""

import numpy as np

from firmware_py.inference.answers import HEARD, UNSURE
from firmware_py.inference.mixture.arrays import NOISE_DB
from firmware_py.inference.mixture.edges import lower_edge, upper_edge
from firmware_py.inference.mixture.selection import look_at, mixture_bald
from firmware_py.inference.mixture.workspace import Workspace
from firmware_py.inference.rate import Seconds, expected_seconds


def expected_at(
    w: Workspace, candidate: int, levels_db_hl: list[float], seconds: Seconds
) -> list[tuple[float, float]]:
    """Return the bits expected from the answer at each level, and the expected seconds."""
    noise_db = float(w.expected_listener[NOISE_DB] * w.noise_factor[candidate])
    lower = lower_edge(w.expected_listener)
    upper = upper_edge(lower, noise_db)
    left, bend, fraction, bow_db = (column[candidate].item() for column in w.candidates)
    look_at(left, bend, fraction, bow_db, noise_db, lower, upper, w.mixture, w.view)
    found = [mixture_bald(each, lower, upper, w.mixture.weight, w.view) for each in levels_db_hl]
    return [(bits, expected_seconds(pressed, seconds)) for bits, pressed in found]


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
