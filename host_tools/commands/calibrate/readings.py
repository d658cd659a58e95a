"""What a technician has measured so far, kept in a file beside the calibration file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from device.calibration.readings import Point
from firmware_py.platform.named_file import TEXT, content_of
from firmware_py.procedure.route import BY_AIR, LEFT, RIGHT
from host_tools.errors import HostError
from host_tools.files import write_text

FORMAT_VERSION: Final = 1
FILE_BYTES_MAX: Final = 1 << 20


def kept_beside(output: Path) -> Path:
    """Return where the readings for a calibration file are kept."""
    return output.with_name(f"{output.name}.readings")


@dataclass
class Readings:
    """The readings of a session."""

    transducer: str  # whose RETSPL they were checked against
    # the answers to `TEXTS`: who measured, and the instruments
    texts: dict[str, str] = field(default_factory=dict)
    # of each ear, from the first of `BY_AIR.calibrated_hz` on
    points: dict[str, dict[int, Point]] = field(default_factory=lambda: {LEFT: {}, RIGHT: {}})

    @property
    def count(self) -> int:
        """Return at how many frequencies there are readings."""
        return sum(len(found) for found in self.points.values())

    def save(self, path: Path) -> None:
        """Write them; a file that is there is replaced."""
        points = {
            ear: {str(f): [p.sensitivity_db_spl, p.level_max_db_spl] for f, p in found.items()}
            for ear, found in self.points.items()
        }
        content = {
            "format": FORMAT_VERSION,
            "transducer": self.transducer,
            "texts": self.texts,
            "points": points,
        }
        write_text(path, json.dumps(content, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read them; `HostError` if the file is not one of readings."""
        try:
            content = json.loads(content_of(path, FILE_BYTES_MAX).decode(TEXT))
            if content["format"] != FORMAT_VERSION:
                raise ValueError(f"format is {content['format']!r}; allowed is {FORMAT_VERSION}")
            texts = {str(name): str(text) for name, text in content["texts"].items()}
            points = {ear: _points(content["points"][ear]) for ear in (LEFT, RIGHT)}
            return cls(str(content["transducer"]), texts, points)
        except OSError as error:
            raise HostError(f"{path}: cannot be read: {error.strerror}") from None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise HostError(f"{path}: these are no readings: {error}") from None


def _points(found: Mapping[str, Any]) -> dict[int, Point]:
    points = {int(f): Point(float(level), float(most)) for f, (level, most) in found.items()}
    if (*points,) != BY_AIR.calibrated_hz[: len(points)]:
        raise ValueError(f"they are at {[*points]} Hz")
    return points
