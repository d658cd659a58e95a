"""From dB HL to what the tone generator is told, by route and frequency, and how loud it may be.

dB SPL = dB HL + RETSPL(f), the reference threshold of the transducer on its coupler (ISO 389), and
dBFS = dB SPL - sensitivity(route, f), the measured level of a tone at full scale. Both curves are
linear over log frequency between the points of the calibration file. Of bone dB re 1 uN stand in
the place of dB SPL, and RETFL in that of RETSPL.
"""

import datetime
import json
import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, Final

from firmware_py.calibration.checked import Checks
from firmware_py.calibration.stated import COVERAGE_FACTOR, conditions_of
from firmware_py.terms.route import BY_AIR, Route

ROUNDING_DB: Final = 1e-9  # what is a whole number but for rounding counts as whole
_HUNDREDTHS: Final = 100  # the wire has two digits


@dataclass(frozen=True)
class Curve:
    """A level over frequency, linear over log frequency between its points."""

    frequencies_hz: tuple[float, ...]  # rising
    levels_db: tuple[float, ...]  # one for each frequency, dB, of what the curve is of

    def at(self, frequency_hz: float) -> float:
        """Return the level; raise a `ValueError` outside the first and the last point."""
        low_hz, high_hz = self.frequencies_hz[0], self.frequencies_hz[-1]
        if not low_hz <= frequency_hz <= high_hz:
            raise ValueError(
                f"frequency_hz is {frequency_hz:g}; allowed is {low_hz:g} to {high_hz:g}"
            )
        right = bisect_left(self.frequencies_hz, frequency_hz)
        if self.frequencies_hz[right] == frequency_hz:
            return self.levels_db[right]
        left = right - 1
        octaves = math.log2(self.frequencies_hz[right] / self.frequencies_hz[left])
        share = math.log2(frequency_hz / self.frequencies_hz[left]) / octaves
        return self.levels_db[left] + share * (self.levels_db[right] - self.levels_db[left])


# A band of noise a third of an octave wide is so much louder than the tone that it just masks
# (ISO 389-4:1994). The tone generator's band is a fifth wider, so 0.8 dB of its noise lie outside;
# the safety margin of the masking rule covers them.
NOISE_CORRECTION: Final = Curve(
    tuple(map(float, BY_AIR.calibrated_hz)),
    (4.0, 4.0, 4.0, 5.0, 6.0, 6.0, 6.0, 6.0, 5.0, 5.0, 5.0),
)


@dataclass(frozen=True)
class Calibration:
    """The levels of a tone generator with its earphones, as measured, and checked by `file.py`."""

    content: dict[str, Any]  # all that its file says, as JSON values; dates are ISO 8601
    # `date`, `due`: when it was made, and the last day on which it holds
    date: datetime.date
    due: datetime.date
    kind: str  # of the transducer, one of `KINDS`
    retspl_db_spl: dict[str, Curve]  # reference threshold, by transducer of the routes
    # `sensitivity_db_spl`, `level_max_db_spl`: level of a tone at 0 dBFS, and the highest level
    # that may be played
    sensitivity_db_spl: dict[Route, Curve]
    level_max_db_spl: dict[Route, Curve]
    # the standard uncertainty of the levels, as its file states it; None: it does not
    uncertainty_db: float | None = None
    checks: Checks | None = None  # before a person wears it; None: its file does not tell

    @property
    def expanded_uncertainty_db(self) -> float | None:
        return None if self.uncertainty_db is None else COVERAGE_FACTOR * self.uncertainty_db

    @property
    def conditions(self) -> dict[str, float] | None:
        """Return in which temperature, humidity and pressure it was made; None: it is not told."""
        return conditions_of(self.content["calibration"])

    @property
    def board_serial(self) -> str:
        return str(self.content["calibration"]["tone_generator_serial"])

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the content, which tells two calibrations apart."""
        text = json.dumps(self.content, sort_keys=True, separators=(",", ":"))
        import hashlib  # 4 MB that a device without a calibration does not need

        return hashlib.sha256(text.encode()).hexdigest()

    def level_dbfs(self, route: Route, frequency_hz: float, level_db_hl: float) -> float:
        """Return the digital level of a tone, rounded down so that it is never above its limit."""
        level_db_spl = level_db_hl + self.retspl_db_spl[route.transducer].at(frequency_hz)
        level_dbfs = level_db_spl - self.sensitivity_db_spl[route].at(frequency_hz)
        return math.floor(level_dbfs * _HUNDREDTHS + ROUNDING_DB) / _HUNDREDTHS

    def has(self, route: Route) -> bool:
        return route in self.sensitivity_db_spl

    def covers(self, route: Route, frequency_hz: float) -> bool:
        """Return whether it has levels of a route at a frequency."""
        known_hz = self.sensitivity_db_spl[route].frequencies_hz if self.has(route) else (math.inf,)
        return known_hz[0] <= frequency_hz <= known_hz[-1]

    def lacks(self, route: Route) -> str:
        """Say that it was not measured by a route; without that no level there is in dB HL."""
        why = "" if route.kind is BY_AIR else ": it is one without RETFL"
        return f"the calibration has no levels of the {route.words}{why}"

    def highest_db_hl(self, route: Route, frequency_hz: float) -> float:
        if not self.covers(route, frequency_hz):
            return -math.inf
        level_max_db_spl = self.level_max_db_spl[route].at(frequency_hz)
        reach_db_hl = level_max_db_spl - self.retspl_db_spl[route.transducer].at(frequency_hz)
        return float(math.floor(reach_db_hl + ROUNDING_DB))
