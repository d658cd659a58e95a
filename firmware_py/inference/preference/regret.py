"""How much worse a setting is than the wished one: the regret of who gets it.

The regret of a setting x for somebody who wants theta is |x - theta|**2 / 2, in units of `UNIT_DB`.
"""

import math
from typing import Final

UNIT_DB: Final = 3.0  # half a unit of regret: what a fitter would go back for


def off_db(regret: float) -> float:
    """Return how far from the wished setting one of this regret is, dB."""
    return UNIT_DB * math.sqrt(2.0 * regret)
