"""What a technician has read so far, kept beside the file that is to be written."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from device.calibration.readings import Point
from firmware_py.calibration import checked
from firmware_py.calibration.checked import LEVELS, NOT_MEASURED, VIBRATOR, check_outcome
from firmware_py.calibration.fields import number
from firmware_py.calibration.file import OF_BONE, SENSITIVITY_LIMITS_DB_SPL
from firmware_py.platform.named_file import TEXT, content_of
from firmware_py.terms.calibration_states import CHECKS
from firmware_py.terms.route import BY_AIR, BY_BONE, LEFT, RIGHT
from host_tools.errors import HostError
from host_tools.files import write_text

FORMAT_VERSION: Final = 1
# At which frequencies each route is measured; some by bone may be left out.
AT_HZ: Final = {
    LEFT: BY_AIR.calibrated_hz,
    RIGHT: BY_AIR.calibrated_hz,
    **dict.fromkeys(OF_BONE, (*BY_BONE.calibrated_hz, *BY_BONE.where_calibrated_hz)),
}
NO_COUPLER: Final = "no coupler"
NO_VIBRATOR: Final = "no vibrator was named"
FILE_BYTES_MAX: Final = 1 << 20


def kept_beside(output: Path) -> Path:
    return output.with_name(f"{output.name}.readings")


@dataclass
class Readings:
    """The readings of a session."""

    transducer: str  # whose RETSPL they were checked against
    # the answers to `TEXTS`: who measured, and the instruments
    texts: dict[str, str] = field(default_factory=dict)
    # of each route, from the first of its `calibrated_hz` on
    points: dict[str, dict[int, Point]] = field(
        default_factory=lambda: {each: {} for each in AT_HZ}
    )
    vibrator: str = ""  # whose RETFL; "": bone is not measured
    left_out_hz: list[int] = field(default_factory=list)  # by bone
    build: str = ""  # whose volts the checks were held against; "": of none
    checks: dict[str, dict[str, Any]] = field(default_factory=dict)  # by name, as in the file

    @property
    def words(self) -> str:
        wanted = [*AT_HZ] if self.vibrator else [LEFT, RIGHT]
        count = sum(len(found) for found in self.points.values())
        return (
            f"{len(self.checks)} checks, and {count} of "
            f"{sum(len(self.at_hz(route)) for route in wanted)} readings"
        )

    def at_hz(self, route: str) -> list[int]:
        """Return at which frequencies a route is measured."""
        left_out_hz = self.left_out_hz if route in OF_BONE else ()
        return [f for f in AT_HZ[route] if f not in left_out_hz]

    def leave_out(self, frequency_hz: int) -> None:
        """Have no levels by bone at a frequency: of both channels or of none."""
        self.left_out_hz.append(frequency_hz)
        for route in OF_BONE:
            self.points[route].pop(frequency_hz, None)

    def told_checks(self, *, levels: bool, bone: bool) -> dict[str, dict[str, Any]]:
        """Return the checks as the file has them; what was not made says why."""
        told = {
            name: self.checks.get(name, {NOT_MEASURED: NO_COUPLER})
            for name in CHECKS
            if bone or name not in checked.OF_BONE
        }
        unmade = {LEVELS: (levels, NO_COUPLER), VIBRATOR: (bone, NO_VIBRATOR)}
        return told | {n: {NOT_MEASURED: why} for n, (there, why) in unmade.items() if not there}

    def save(self, path: Path) -> None:
        points = {
            ear: {str(f): [p.sensitivity_db_spl, p.level_max_db_spl] for f, p in found.items()}
            for ear, found in self.points.items()
        }
        content = {
            "format": FORMAT_VERSION,
            "transducer": self.transducer,
            "texts": self.texts,
            "points": points,
            "vibrator": self.vibrator,
            "left_out_hz": self.left_out_hz,
            "build": self.build,
            "checks": self.checks,
        }
        write_text(path, json.dumps(content, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> Self:
        try:
            content = json.loads(content_of(path, FILE_BYTES_MAX).decode(TEXT))
            if content["format"] != FORMAT_VERSION:
                raise ValueError(f"format is {content['format']!r}; allowed is {FORMAT_VERSION}")
            texts = {str(name): str(text) for name, text in content["texts"].items()}
            found = {route: {} for route in OF_BONE} | content["points"]  # before bone: without
            points = {route: _points(found[route], at_hz) for route, at_hz in AT_HZ.items()}
            vibrator = str(content.get("vibrator", ""))
            checks = {str(name): dict(made) for name, made in content.get("checks", {}).items()}
            for name, made in checks.items():
                check_outcome(name, made)
            build = str(content.get("build", ""))
            kept_hz = content.get("left_out_hz", ())
            left_out_hz = [f for f in BY_BONE.where_calibrated_hz if f in kept_hz]
            return cls(
                str(content["transducer"]), texts, points, vibrator, left_out_hz, build, checks
            )
        except OSError as error:
            raise HostError(f"{path}: cannot be read: {error.strerror}") from None
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise HostError(f"{path}: these are no readings: {error}") from None


def _points(found: Mapping[str, Any], at_hz: tuple[int, ...]) -> dict[int, Point]:
    points = {
        int(f): Point(
            number(f"full scale at {f} Hz", level, SENSITIVITY_LIMITS_DB_SPL, "dB"),
            number(f"the highest level at {f} Hz", most, (0.0, level), "dB"),
        )
        for f, (level, most) in found.items()
    }
    if (*points,) != at_hz[: len(points)]:
        raise ValueError(f"they are at {[*points]} Hz")
    return points
