"""The calibrations and seal keys that a device may be started with."""

import hmac
import json
import re
from typing import Final

from firmware_py.calibration.in_force import NO_CALIBRATION, CalibrationOnFile
from firmware_py.journal import SealKey
from tests.calibration.calibrations import on_file
from tests.simulation.violation import Violation

SEAL_KEYS: Final = (SealKey(b"of this device, 32 bytes of them"), SealKey(bytes(32)))

# On the day on which the stories begin; their good one is also how loud the earphones really are.
ON_FILE: Final = {
    "none": NO_CALIBRATION,
    "good": on_file(),
    "overdue": on_file({"calibration.date": "2025-01-01", "calibration.due": "2025-12-31"}),
    "unreadable": CalibrationOnFile(fault="calibration.toml: is no calibration"),
}

SEAL: Final = re.compile(rb'(.*), "seal": "([0-9a-f]{64})", "crc": "[0-9a-f]{8}"}')


def check_seals(name: str, content: bytes) -> None:
    """Check that a journal is sealed to its end with the key that its header names, or not at all.

    Raises
    ------
    Violation
    """
    lines = content.splitlines()
    by_name = {key.name: key for key in SEAL_KEYS}
    key = by_name.get(json.loads(lines[0]).get("seal_key", ""))
    before = b""
    for number, line in enumerate(lines, 1):
        sealed = SEAL.fullmatch(line)
        if key is None:
            good = sealed is None
        else:
            good = sealed is not None and sealed[2] == (before := _seal(key, before, sealed[1]))
        if not good:
            raise Violation(f"line {number} of {name} has another seal than it should")


def _seal(key: SealKey, before: bytes, body: bytes) -> bytes:
    content = b"gp-pta seal\n" + before + b"\n" + body
    return hmac.digest(key.secret, content, "sha256").hex().encode()
