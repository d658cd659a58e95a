"""What a device may be started with: calibrations and seal keys; and what lies on its disk."""

import json
from pathlib import Path
from typing import Final

from firmware_py.calibration.file import calibration_from
from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.journal import SealKey, first_broken
from tests.calibration.calibrations import on_file, with_bone
from tests.simulation.violation import Violation

DATA: Final = Path("/data")
OUTSIDE: Final = Path("/outside/somebody's")  # a file beside it, where links may lead
OUTSIDE_CONTENT: Final = b"not yours\n"
SEAL_KEYS: Final = (SealKey(b"of this device, 32 bytes of them"), SealKey(bytes(32)))

# On the day on which the stories begin; their good one is also how loud the earphones really are.
ON_FILE: Final = {
    "none": NO_CALIBRATION,
    "good": on_file(),
    "overdue": on_file({"calibration.date": "2025-01-01", "calibration.due": "2025-12-31"}),
    "another's": on_file({"calibration.tone_generator_serial": "another"}),
    "unreadable": CalibrationOnFile(fault="calibration.toml: is no calibration"),
    "vibrator": CalibrationOnFile(calibration_from(with_bone())),
    "other vibrator": CalibrationOnFile(calibration_from(with_bone(serial="B-2", softer_db=9.5))),
}


def check_seals(name: str, content: bytes) -> None:
    """Check that a journal is sealed with the key that its header names, or not at all."""
    lines = content.splitlines(keepends=True)
    by_name = {key.name: key for key in SEAL_KEYS}
    key = by_name.get(json.loads(lines[0]).get("seal_key", ""))
    if key is None:
        broken = next((n for n, line in enumerate(lines) if b', "seal": "' in line), None)
    else:
        broken = first_broken(key, lines)
    if broken is not None:
        raise Violation(f"record {broken} of {name} has another seal than it should")
