"""Sessions to export: those that were recorded, and one with every mark there is."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from host_tools.commands.export.examination import Examination, read_examination
from tests.calibration.calibrations import MADE, on_file

GOLDEN: Final = Path(__file__).parents[2] / "golden"
JOURNALS: Final = sorted(GOLDEN.glob("*.journal"))
BOTH: Final = GOLDEN / "both-ears-n3.journal"
SILENT: Final = GOLDEN / "silent-ear.journal"
UNRELIABLE: Final = GOLDEN / "always-answering.journal"


def marked() -> Examination:
    """Return a session of both ears, known by name and calibrated, with every mark of a threshold.

    At the right ear: 6000 Hz perhaps beyond 90 dB HL, 8000 Hz surely, 250 Hz at the floor, and
    3000 and 4000 Hz with marks that are not in every result.
    """
    examination = read_examination(BOTH)
    header = copy.deepcopy(examination.header)
    header["person"] = {"identifier": "患者7", "age_years": 67.0, "sex": "F"}
    header["calibration"] = on_file().judged(MADE).as_record()
    result = copy.deepcopy(examination.result)
    for threshold in (t for ear in result["ears"] for t in ear["thresholds"]):
        threshold.update(_UNMASKED)
    for threshold in result["ears"][0]["thresholds"]:
        threshold.update(CHANGES.get(threshold["frequency_hz"], {}))
    return replace(examination, header=header, result=result)


_NO_NUMBER: Final = dict.fromkeys(("threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl"))
_UNMASKED: Final = {"masking": "none", "air_bone_gap_db": None}
CHANGES: Final[dict[int, dict[str, Any]]] = {
    250: {**_NO_NUMBER, "mark": "hears-all", "limit_db_hl": -10.0},
    3000: {"masking": "none", "air_bone_gap_db": None},
    4000: {"masking": "uncertain", "air_bone_gap_db": 25.5, "checked": True},
    6000: {**_NO_NUMBER, "mark": "incomplete", "limit_db_hl": 90.0},
    8000: {**_NO_NUMBER, "mark": "no-response", "limit_db_hl": 90.0},
}
