"""A threshold as JSON values: the same in what is exported and in what a report tells."""

from typing import Any, Final

from firmware_py.procedure.outcomes import MaskingMark, Outcome
from firmware_py.procedure.reasons import as_json
from firmware_py.procedure.results import ThresholdResult

# The numbers of a measured threshold, and the names that they have under `inferred`.
NUMBERS: Final = {
    "threshold_db_hl": "db_hl",
    "sd_db": "sd_db",
    "low_db_hl": "low_db_hl",
    "high_db_hl": "high_db_hl",
}


def threshold_as_json(found: ThresholdResult) -> dict[str, Any]:
    """Return a threshold with numbers only where it was measured.

    What is inferred stands under `inferred`. A masked threshold has no `air_bone_gap_db`: that is
    a supposition about the other ear, and reads as a finding about this one.
    """
    told = as_json(found)
    inferred = None
    if found.mark == Outcome.INFERRED:
        inferred = {short: told[name] for name, short in NUMBERS.items()}
        told |= dict.fromkeys(NUMBERS)
    if found.masking == MaskingMark.MASKED:
        del told["air_bone_gap_db"]
    return {**told, "inferred": inferred}
