"""Calibrations to test with: good ones, and boards that are as loud as they say."""

import copy
import datetime
from typing import Any, Final

from device.calibration.readings import as_toml
from device.calibration.retfl import reference_forces
from device.calibration.retspl import reference_levels
from device.simulator.listener import Listener
from device.simulator.simulated_board import PlayedNoise, PlayedTone, SimulatedBoard
from firmware_py.calibration import simulated
from firmware_py.calibration.calibration import Calibration
from firmware_py.calibration.file import calibration_from
from firmware_py.calibration.in_force import CalibrationOnFile
from firmware_py.terms.route import BY_AIR, BY_BONE, Route

MADE: Final = datetime.date(2026, 1, 2)  # the day on which `world` begins its sessions
DUE: Final = datetime.date(2026, 12, 31)

SENSITIVITY: Final = {
    "left": (118, 120, 122, 121.5, 121, 119, 117.5, 116, 114, 105, 98),
    "right": (117, 119.5, 122.5, 121, 120.5, 119, 118, 115, 113.5, 106, 99.25),
}
# 92 dB HL and less at the top: 8 kHz reaches 75, 6 kHz 79.5.
BELOW_FULL_SCALE_DB: Final = 10.0
# Of the vibrator, led to from either channel: 40 dB HL at 250 Hz, 64.5 and 64 at 1 kHz.
FULL_SCALE_DB_UN: Final = {"left": 112.0, "right": 111.5}
BELOW_FULL_FORCE_DB: Final = 5.0

_CONTENT: Final[dict[str, Any]] = {
    "format": 1,
    "calibration": {
        "date": MADE.isoformat(),
        "due": DUE.isoformat(),
        "technician": "A. Meyer",
        "meter": "class 1",
        "meter_serial": "M-1",
        "tone_generator_serial": simulated.SERIAL,
    },
    "transducer": {
        "name": "TDH39",
        "kind": "supra-aural",
        "serial_left": "L-1",
        "serial_right": "R-1",
        "coupler": "IEC 60318-3",
        "retspl_source": "ISO 389-1",
        "retspl_db_spl": {
            str(f): level for f, level in reference_levels("tdh39").levels_db_spl.items()
        },
    },
    **{
        ear: {
            "sensitivity_db_spl": {
                str(f): level for f, level in zip(BY_AIR.calibrated_hz, levels, strict=True)
            },
            "level_max_db_spl": {
                str(f): level - BELOW_FULL_SCALE_DB
                for f, level in zip(BY_AIR.calibrated_hz, levels, strict=True)
            },
        }
        for ear, levels in SENSITIVITY.items()
    },
}


def content(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the content of a good file; changes by dotted path, None takes a key out."""
    return _change(copy.deepcopy(_CONTENT), changes)


def with_bone(
    changes: dict[str, Any] | None = None, *, serial: str = "B-1", softer_db: float = 0.0,
    to_6_khz: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Return the content of a file that has a vibrator: of this number, and softer by so much."""
    at_hz = (*BY_BONE.calibrated_hz, *(BY_BONE.where_calibrated_hz if to_6_khz else ()))
    levels = {
        f"{ear}-bone": {
            "sensitivity_db_un": {str(f): level - softer_db for f in at_hz},
            "level_max_db_un": {str(f): level - softer_db - BELOW_FULL_FORCE_DB for f in at_hz},
        }
        for ear, level in FULL_SCALE_DB_UN.items()
    }
    vibrator = {
        "name": "Radioear B71", "serial": serial, "placement": "mastoid",
        "coupler": "IEC 60318-6", "retfl_source": "ISO 389-3",
        "retfl_db_un": {str(f): reference_forces("b71").levels_db_un[f] for f in at_hz},
    }  # fmt: skip
    return _change(content({"vibrator": vibrator, **levels}), changes)


def _change(new: dict[str, Any], changes: dict[str, Any] | None) -> dict[str, Any]:
    for path, value in (changes or {}).items():
        *tables, key = path.split(".")
        table = new
        for name in tables:
            table = table[name]
        if value is None:
            del table[key]
        else:
            table[key] = value
    return new


def calibration(changes: dict[str, Any] | None = None) -> Calibration:
    return calibration_from(content(changes))


def on_file(changes: dict[str, Any] | None = None) -> CalibrationOnFile:
    """Return what the firmware has of such a file."""
    return CalibrationOnFile(calibration(changes))


def file_text() -> str:
    return as_toml(calibration().content)


class CalibratedBoard(SimulatedBoard):
    """A board, amplifier and earphones whose loudness is that of a calibration."""

    def __init__(self, listener: Listener, truth: Calibration, boot: int = 0xB007) -> None:
        super().__init__(listener, boot=boot)
        self.truth = truth

    def level_db_spl(self, sound: PlayedTone | PlayedNoise) -> float:
        """Return what a meter shows."""
        return sound.level_dbfs + self.truth.sensitivity_db_spl[_route(sound)].at(
            sound.frequency_hz
        )

    def _level_db_hl(self, sound: PlayedTone | PlayedNoise) -> float:
        zero_db_spl = self.truth.retspl_db_spl[_route(sound).transducer]
        return self.level_db_spl(sound) - zero_db_spl.at(sound.frequency_hz)


def _route(sound: PlayedTone | PlayedNoise) -> Route:
    return sound.route if isinstance(sound, PlayedTone) else Route(sound.ear)
