"""The bands in which the output of the aid is limited, whoever limits it.

A tone on the edge of two bands has half of its power in each, and each would let its limit pass: 3
dB too much. So there are two sets of bands, and a sound goes through both: those of the fit, which
meet halfway on log frequency, and those from centre to centre, with the lower of the two limits.

A window of some ms does not tell near frequencies apart: what is loud in one band is there in the
next, too. So beside a band with a low limit those around it are held lower than theirs. A fit that
is made of thresholds has that in its limits already (`limits.py`); of any other it holds here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from device.hearing_aid.fit import EarFit
from device.speech import FloatArray

LOW_HZ: Final = 20.0  # the lowest band and the highest have no end; edges need one
LOWEST_SHARE: Final = 0.5  # of the lowest centre
# So much higher than that of its neighbour the limit of a band may be, and no more.
STEP_DB_PER_HZ: Final = 0.015  # of the distance of their centres
STEP_MAX_DB: Final = 10.0
TENTHS: Final = 10.0  # of a dB, in which limits are, and so the steps between them


@dataclass(frozen=True)
class LimitedBands:
    """Bands side by side, and the most that each may have at the output."""

    edges_hz: FloatArray  # (bands + 1,), rising
    limits_db_spl: FloatArray  # (ears, bands)


def halfway_hz(centers_hz: FloatArray) -> FloatArray:
    """Return where bands with these centres meet, (m - 1,)."""
    return np.sqrt(centers_hz[1:] * centers_hz[:-1])


def hold_by_neighbours(center_hz: FloatArray, limits_db_spl: FloatArray) -> FloatArray:
    """Return the limits that bands can be held to, (..., m): none much above its neighbour's."""
    steps_db = np.minimum(STEP_DB_PER_HZ * np.diff(center_hz), STEP_MAX_DB)
    at_db = np.concatenate(([0.0], np.cumsum(np.floor(TENTHS * steps_db) / TENTHS)))
    apart_db = np.abs(at_db[:, np.newaxis] - at_db)
    held: FloatArray = (limits_db_spl[..., np.newaxis, :] + apart_db).min(axis=-1)
    return held


def limited_bands(ears: Sequence[EarFit], rate_hz: int) -> tuple[LimitedBands, LimitedBands]:
    """Return both sets for ears with the same centres, at a sampling rate."""
    centers_hz = ears[0].table.center_hz
    own_db_spl = np.array([[band.output_max_db_spl for band in ear.bands] for ear in ears])
    limits_db_spl = hold_by_neighbours(centers_hz, own_db_spl)
    between = np.minimum(limits_db_spl[:, 1:], limits_db_spl[:, :-1])
    lowest_hz = [min(LOW_HZ, LOWEST_SHARE * float(centers_hz[0]))]
    highest_hz = [0.5 * (float(centers_hz[-1]) + 0.5 * rate_hz)]
    return (
        LimitedBands(
            np.concatenate((lowest_hz, halfway_hz(centers_hz), highest_hz)), limits_db_spl
        ),
        LimitedBands(
            np.concatenate((lowest_hz, centers_hz, highest_hz)),
            np.concatenate((limits_db_spl[:, :1], between, limits_db_spl[:, -1:]), axis=1),
        ),
    )
