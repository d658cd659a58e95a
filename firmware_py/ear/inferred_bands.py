"""How far off a threshold that nobody asked for may be: by how far its neighbours differ.

The step between two neighbours may lie anywhere between them. In 579 ears of a clinic (750 Hz
between 500 and 1000, 1500 between 1000 and 2000; OHHR) and 23,664 of NHANES (3 kHz between 2 and 4)
the SD about the straight line grows by 0.22 to 0.26 of the difference, in quadrature; the estimator
adds the same error whatever they are. Odd ears are further off.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from firmware_py.ear.threshold_estimates import Estimate
from firmware_py.terms.outcomes import Outcome

EXPECTED_DB: Final = 4.0  # within what the estimator adds; with less, every ear has wider bands


def suppose(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the estimates, by rising frequency, the `INFERRED` with a band for what lies between.

    Each end moves out by as much as the neighbour on its side is further off than `EXPECTED_DB`.
    Neighbours are the next that were asked; with one only there is no step.
    """
    return [
        _wider(each, _next(estimates[:i][::-1]), _next(estimates[i + 1 :]))
        if each.mark == Outcome.INFERRED
        else each
        for i, each in enumerate(estimates)
    ]


def _next(estimates: Sequence[Estimate]) -> Estimate | None:
    return next((each for each in estimates if each.mark != Outcome.INFERRED), None)


def _wider(between: Estimate, below: Estimate | None, above: Estimate | None) -> Estimate:
    if below is None or above is None:
        return between
    mean_db_hl = between.mean_db_hl
    better_db_hl, worse_db_hl = sorted((below.mean_db_hl, above.mean_db_hl))
    fall_db = mean_db_hl - between.low_db_hl + max(mean_db_hl - better_db_hl - EXPECTED_DB, 0.0)
    rise_db = between.high_db_hl - mean_db_hl + max(worse_db_hl - mean_db_hl - EXPECTED_DB, 0.0)
    factor = 0.5 * (fall_db + rise_db) / between.half_width_db
    return replace(
        between,
        sd_db=between.sd_db * factor,
        low_db_hl=mean_db_hl - fall_db,
        high_db_hl=mean_db_hl + rise_db,
    )
