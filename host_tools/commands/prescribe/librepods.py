"""The hearing-aid settings of AirPods as LibrePods reads and writes them.

LibrePods reads no file. It has an audiogram of eight frequencies for each ear, which a person types
in on its page "Update hearing test", and which it writes to the AirPods in one attribute (handle
0x2A of ATT) with the other settings: 104 bytes, 4 of a head and 25 floats, little-endian. Its
names, order and values are those of `HearingAidSettings` and `parseHearingAidSettingsResponse` in
its HearingAid.kt. The gains that follow from the audiogram are Apple's.

What is not known, and lies between no two thresholds an octave apart or less, is `null`; then there
are no bytes.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from device.speech import FloatArray
from firmware_py.terms.route import LEFT, RIGHT
from host_tools.errors import HostError

FREQUENCIES_HZ: Final = (250, 500, 1000, 2000, 3000, 4000, 6000, 8000)
NEIGHBOURS: Final = 2.0  # so far apart two thresholds may be for what is between them to be known
LOSS_LIMITS_DB_HL: Final = (0.0, 100.0)  # less is no loss, and more is beyond such an aid
HEAD: Final = bytes((0x02, 0x02, 0x64, 0x00))  # with 0x64, 100 bytes follow
# What LibrePods begins with, and for amplification, balance and tone the middle of -1 to 1.
ADJUSTMENTS: Final[dict[str, Any]] = {
    "leftAmplification": 0.0,
    "rightAmplification": 0.0,
    "leftTone": 0.0,
    "rightTone": 0.0,
    "leftConversationBoost": False,
    "rightConversationBoost": False,
    "leftAmbientNoiseReduction": 0.0,
    "rightAmbientNoiseReduction": 0.0,
    "netAmplification": 0.0,
    "balance": 0.0,
    "ownVoiceAmplification": 0.5,
}
_OF_AN_EAR: Final = ("Amplification", "Tone", "ConversationBoost", "AmbientNoiseReduction")


def settings(
    frequencies_hz: Sequence[int],
    thresholds_db_hl: Mapping[str, FloatArray],
    remarks: Sequence[str],
) -> str:
    """Return the settings for both ears, JSON, with the bytes of the attribute in hexadecimal.

    Between the frequencies, which rise, thresholds are on a line over log frequency, if they are an
    octave apart or less. `HostError` if an ear is missing, or 250 to 8000 Hz are not within.
    """
    losses = _losses_of_ears(frequencies_hz, thresholds_db_hl)
    known = [[loss for loss in losses[ear] if loss is not None] for ear in (LEFT, RIGHT)]
    known = [each for each in known if len(each) == len(FREQUENCIES_HZ)]
    whole = {
        "remarks": list(remarks),
        "frequencies_hz": list(FREQUENCIES_HZ),
        "leftEQ": losses[LEFT],
        "rightEQ": losses[RIGHT],
        **ADJUSTMENTS,
        "payload": payload(*known).hex() if len(known) == len(losses) else None,
    }
    return json.dumps(whole, indent=1) + "\n"


def payload(left_db_hl: Sequence[float], right_db_hl: Sequence[float]) -> bytes:
    """Return the value of the attribute with these audiograms, 104 bytes."""
    values: list[float] = []
    for ear, losses_db_hl in ((LEFT, left_db_hl), (RIGHT, right_db_hl)):
        values += [*losses_db_hl, *(float(ADJUSTMENTS[f"{ear}{name}"]) for name in _OF_AN_EAR)]
    values.append(ADJUSTMENTS["ownVoiceAmplification"])
    return HEAD + struct.pack(f"<{len(values)}f", *values)


def _losses_of_ears(
    frequencies_hz: Sequence[int], thresholds_db_hl: Mapping[str, FloatArray]
) -> dict[str, list[float | None]]:
    """Return the losses of both ears, or say what LibrePods cannot take, `HostError`."""
    missing = [ear for ear in (LEFT, RIGHT) if ear not in thresholds_db_hl]
    if missing:
        raise HostError(f"LibrePods takes audiograms of both ears, and the {missing[0]} has none")
    if frequencies_hz[0] > FREQUENCIES_HZ[0] or frequencies_hz[-1] < FREQUENCIES_HZ[-1]:
        raise HostError(
            f"LibrePods takes thresholds from {FREQUENCIES_HZ[0]} to {FREQUENCIES_HZ[-1]} Hz, and "
            f"these go from {frequencies_hz[0]} to {frequencies_hz[-1]} Hz"
        )
    return {ear: _losses_db_hl(frequencies_hz, thresholds_db_hl[ear]) for ear in (LEFT, RIGHT)}


def _losses_db_hl(
    frequencies_hz: Sequence[int], thresholds_db_hl: FloatArray
) -> list[float | None]:
    at = np.interp(np.log2(FREQUENCIES_HZ), np.log2(frequencies_hz), thresholds_db_hl)
    losses = [round(float(level), 1) for level in np.clip(at, *LOSS_LIMITS_DB_HL)]
    apart = [*pairwise(frequencies_hz)]
    unknown = [any(a < f < b and b > NEIGHBOURS * a for a, b in apart) for f in FREQUENCIES_HZ]
    return [None if is_unknown else loss for loss, is_unknown in zip(losses, unknown, strict=True)]
