"""Judge processed speech by HASPI and HASQI, in an environment of its own: pyclarity.

Standard input has a JSON list of what to judge, standard output one JSON list of what came of it.
Sound files have 1.0 where `FULL_SCALE_DB_SPL` is; pyclarity wants an RMS of 1 where the reference
has its level.
"""

import json
import sys
from typing import Any

import numpy as np
import soundfile
from clarity.evaluator.haspi import haspi_v2
from clarity.evaluator.hasqi import hasqi_v2
from clarity.utils.audiogram import Audiogram

FULL_SCALE_DB_SPL = 110.0  # of an RMS of 1, as the chain of openMHA has it
SEED = 1  # HASPI adds a little noise


def judged(case: dict[str, Any]) -> dict[str, float]:
    """Return HASPI and HASQI of one processed signal for one ear."""
    reference, rate_hz = soundfile.read(case["reference"])
    processed, processed_rate_hz = soundfile.read(case["processed"])
    assert rate_hz == processed_rate_hz
    processed = processed[:, case["channel"]] if processed.ndim > 1 else processed
    scale = 10.0 ** (0.05 * (FULL_SCALE_DB_SPL - case["level_db_spl"]))
    count = min(len(reference), len(processed))
    signals = reference[:count] * scale, rate_hz, processed[:count] * scale, rate_hz
    ear = Audiogram(
        levels=np.array(case["thresholds_db_hl"]), frequencies=np.array(case["frequencies_hz"])
    )
    np.random.seed(SEED)
    intelligibility = float(haspi_v2(*signals, ear, level1=case["level_db_spl"])[0])
    found = {"haspi": intelligibility}
    if case["quality"]:
        found["hasqi"] = float(hasqi_v2(*signals, ear, level1=case["level_db_spl"])[0])
    return found


if __name__ == "__main__":
    print(json.dumps([judged(case) for case in json.load(sys.stdin)]))
