"""The calibration of the simulated board: nobody measured it, it was built so.

It belongs to one board, by kind and serial number, and is in no file: a real tone generator never
has it, and neither has a simulated one with another serial number.
"""

import datetime
from typing import Any, Final

from firmware_py.calibration.calibration import Calibration, Curve
from firmware_py.session.masking import SUPRA_AURAL
from firmware_py.terms.route import ROUTE_KINDS, ROUTES, RouteKind

BOARD_NAME: Final = "sim"  # no program of a tone generator calls itself so
SERIAL: Final = "51b0000000000001"
BOARD: Final = f"{BOARD_NAME} {SERIAL}"  # as it is greeted
FULL_SCALE_DB_HL: Final = 132.0  # what its listener hears of a tone at 0 dBFS, at every frequency

CONTENT: Final[dict[str, Any]] = {
    "full_scale_db_hl": FULL_SCALE_DB_HL,
    "calibration": {"tone_generator": BOARD},
    "transducer": {"name": "simulated", "kind": SUPRA_AURAL},
}


def _flat(kind: RouteKind, level_db: float) -> Curve:
    return Curve(tuple(map(float, kind.calibrated_hz)), (level_db,) * len(kind.calibrated_hz))


DIGEST: Final = "6728a96950837c2b27bb198139f0565d1fe2e5a9bd4db638020bf73ced8a7712"


class _Simulated(Calibration):
    """Knows its digest: to compute it takes 4 MB, which a device without a file does not need."""

    @property
    def board_serial(self) -> str:
        return SERIAL

    @property
    def digest(self) -> str:
        return DIGEST


# Its listener hears in dB HL; of sound pressure there is none, so 0 dB HL counts as 0 dB SPL. It
# was never made, and is never due.
CALIBRATION: Final = _Simulated(
    CONTENT,
    datetime.date.min,
    datetime.date.max,
    SUPRA_AURAL,
    {kind.transducer: _flat(kind, 0.0) for kind in ROUTE_KINDS},
    {route: _flat(route.kind, FULL_SCALE_DB_HL) for route in ROUTES},
    {route: _flat(route.kind, FULL_SCALE_DB_HL) for route in ROUTES},
)
