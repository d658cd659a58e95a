"""Reference equivalent threshold force levels: the dB re 1 uN that are 0 dB HL by bone.

They hold for a vibrator pressed with 5.4 N on a mechanical coupler, and for the mastoid. On the
forehead more force is needed, 8 to 14 dB by frequency; no table of that was found whose numbers a
second source has, so there is none here, and no test there.
"""

from dataclasses import dataclass
from typing import Final

from device.calibration.retspl import UnknownTransducerError
from firmware_py.terms.route import BY_BONE

MASTOID: Final = "mastoid"  # as the file has it
COUPLER: Final = "mechanical coupler IEC 60318-6, 5.4 N, 23 C"


@dataclass(frozen=True)
class ReferenceForces:
    """The RETFL of a vibrator on a mechanical coupler."""

    vibrator: str
    placement: str
    coupler: str
    source: str
    levels_db_un: dict[int, float]  # at all frequencies that a calibration by bone may have


# 250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000 Hz: the same for both, for they belong to a
# circular tip of 175 mm2 and to the coupler.
_ISO_389_3: Final = dict(
    zip(
        (*BY_BONE.calibrated_hz, *BY_BONE.where_calibrated_hz),
        (67.0, 58.0, 48.5, 42.5, 36.5, 31.0, 30.0, 35.5, 40.0), strict=True,
    )
)  # fmt: skip
_SOURCE: Final = "ISO 389-3, mastoid (quoted by one source)"

VIBRATORS: Final[dict[str, ReferenceForces]] = {
    name.lower(): ReferenceForces(f"Radioear {name}", MASTOID, COUPLER, _SOURCE, _ISO_389_3)
    for name in ("B71", "B81")
}


def reference_forces(name: str) -> ReferenceForces:
    """Return the RETFL of a vibrator by its short name; an error lists them."""
    if name not in VIBRATORS:
        raise UnknownTransducerError(
            f"vibrator is {name!r}; allowed are {', '.join(sorted(VIBRATORS))}"
        )
    return VIBRATORS[name]
