"""How much wider the 95 % band is told where nothing was asked, between frequencies that were."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from firmware_py.inference import enough

if TYPE_CHECKING:  # who only reads what was found needs no kernels
    from firmware_py.inference.record import Answer

# The step between two neighbours may lie anywhere between them. In 579 ears of a clinic (750 Hz
# between 500 and 1000, 1500 between 1000 and 2000; OHHR) and 23,664 of NHANES (3 kHz between 2 and
# 4) the SD about the straight line grows by 0.22 to 0.26 of the difference, in quadrature; the
# estimator adds the same error whatever they are. Odd ears are further off.
EXPECTED_DB: Final = 4.0  # within what the estimator adds; with less, every ear has wider bands
# Where the prior has no knot, no ear tells how far one may leave its neighbours: a notch whose
# edges fall so steeply is held 0.18 octaves from a knot (at 5.3 kHz), and one so deep further off.
OWN_DB_PER_OCTAVE: Final = 120.0
OWN_DB_MAX: Final = 20.0


def known_hz(knots_hz: Iterable[float], answers: Iterable["Answer"]) -> list[float]:
    """Return, rising, where a band is told as it is: there a tone was heard and another was not.

    The knots that every audiogram has (`done` looks at them) are among these, asked or not.
    """
    asked = [(each.frequency_hz, each.heard) for each in answers]
    heard = {f for f, heard in asked if f is not None and heard is not False}
    silent = {f for f, heard in asked if f is not None and heard is not True}
    return sorted({*(f for f in knots_hz if f in enough.FREQUENCIES_HZ), *(heard & silent)})


def step_db(mean_db_hl: float, one_db_hl: float, other_db_hl: float) -> tuple[float, float]:
    """Return how far the lower and the upper end move out, by the thresholds of both neighbours.

    By as much as the neighbour on its side is further off than `EXPECTED_DB`.
    """
    better_db_hl, worse_db_hl = sorted((one_db_hl, other_db_hl))
    fall_db, rise_db = mean_db_hl - better_db_hl, worse_db_hl - mean_db_hl
    return max(fall_db - EXPECTED_DB, 0.0), max(rise_db - EXPECTED_DB, 0.0)


def wider_db(
    at: float, mean_db_hl: float, known: Sequence[tuple[float, float]], knots: Sequence[float]
) -> tuple[float, float]:
    """Return how far both ends of the 95 % band at a frequency move out, all in octaves.

    `known` has the frequencies that are known, rising, and their thresholds; at one of them, and
    beyond the outermost, nothing moves.
    """
    above = bisect_left(known, (at,))
    if above in (0, len(known)) or known[above][0] == at:
        return 0.0, 0.0
    fall_db, rise_db = step_db(mean_db_hl, known[above - 1][1], known[above][1])
    octaves = min(abs(at - each) for each in (known[above - 1][0], known[above][0], *knots))
    own_db = min(OWN_DB_PER_OCTAVE * octaves, OWN_DB_MAX)
    return fall_db + own_db, rise_db + own_db
