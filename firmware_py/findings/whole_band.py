"""The band of the whole measurement: that of the answers, and what lies beside the answers.

The 95 % band that a test finds is of the answers alone. Somebody who is measured again gets other
thresholds than that tells, for he hears otherwise on another day, the earphone sits otherwise and
is another one, and the levels are what the calibration made of them. Each of these is a part, a
standard deviation in dB:

- *answers*: half the width of their band over 1.96.
- *day*: 1.8 dB, the retest at 1 kHz of NHANES (2.3 dB) less the rounding of both to 5 dB (1.44):
  a lower bound, for the second was in the same sitting, and pairs 10 dB apart were rejected. Above
  4 kHz 2.6 dB, a guess between ISO's ratios for the fit (1.2) and for repetition (1.6).
- *fit* of the earphone or vibrator: 2.5 and 3.0 dB, ISO 8253-1:2010, A.3.4.
- *type* of it: 1.5 and 2.5 dB, the same.
- *calibration*: what its file states; else ISO 8253-1:2010, A.3.3, with our step of 1 dB: what IEC
  60645-1 allows (3 dB, by bone 4 dB, above 4 kHz 5 dB) and half a step, both rectangular.
- *masking*: 2.0 dB where the other ear had noise, ISO 8253-1:2010, A.3.6.
- *room*: 0.35 dB where the room is known, for there its noise lets nothing softer be asked; what is
  left is one-sided, 1.2 dB at that level. Where nothing is known of the room, it is no part.

The standard itself was not at hand: its figures are those of the tests of phonometry (J. M.
Requena-Plens), where they are read from it. With answers of 2.5 dB (repetition), equipment of 2.3
and a room of 2.0 they give its Table A.2: u = 4.9 dB, U = 10 dB.

Half the width of the whole band is sqrt(half_answers^2 + (1.96 u)^2) about the middle of the band
of the answers, u being the root of the sum of squares of all other parts. No posterior is needed,
so that every record can be read with it. Of a mean of frequencies each part has the correlation
`RHO` between any two: the earphone sits once for all of them. ISO is silent on it, and nobody knows
it: so much holds nearly what it says where it is 1, and more than that where it is less.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import hypot, sqrt
from typing import Final

from firmware_py.ear.mean_threshold import shares_with, within_limits
from firmware_py.findings.convention import shift_db
from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.results import PTA4_FREQUENCIES_HZ, EarResult, SessionResult, ThresholdResult
from firmware_py.terms.route import Route
from firmware_py.terms.settings import FIFTY_PERCENT
from firmware_py.terms.shown_threshold import ShownThreshold, as_shown

BAND_SDS: Final = 1.959963984540054  # a 95 % band reaches so far to either side
HIGH_ABOVE_HZ: Final = 4000.0
RHO: Final = 0.8  # correlation of a part between two frequencies


class Part(StrEnum):
    """What makes a threshold uncertain; of two equal ones the first is called the largest."""

    ANSWERS = "answers"
    FIT = "fit"
    DAY = "day"
    CALIBRATION = "calibration"
    TYPE = "type"
    MASKING = "masking"
    ROOM = "room"


@dataclass(frozen=True)
class PartDb:
    """A standard deviation, up to `HIGH_ABOVE_HZ` and above it."""

    low_db: float
    high_db: float

    def at(self, frequency_hz: float) -> float:
        return self.high_db if frequency_hz > HIGH_ABOVE_HZ else self.low_db


# Sources: above.
DAY: Final = PartDb(1.8, 2.6)
FIT: Final = PartDb(2.5, 3.0)
TYPE: Final = PartDb(1.5, 2.5)
CALIBRATION_BY_AIR: Final = PartDb(1.8, 2.9)
CALIBRATION_BY_BONE: Final = PartDb(2.3, 2.9)
MASKING: Final = PartDb(2.0, 2.0)
ROOM: Final = PartDb(0.35, 0.35)
# By how much a threshold by air scatters when it is measured again: ISO 8253-1:2010, A.3.2 (by bone
# 3 and 5 dB). It holds the spread of a manual test, too, and not only day and fit.
REPETITION: Final = PartDb(2.5, 4.0)
REPETITION_SOURCE: Final = "ISO 8253-1:2010, A.3.2"
# Of the difference of two ears at one sitting: the day is the same for both.
BETWEEN_EARS: Final = (Part.FIT, Part.TYPE, Part.CALIBRATION, Part.MASKING, Part.ROOM)

Parts = Mapping[Part, float]


def combined_db(parts: Parts) -> float:
    """Return the standard deviation of all parts together: they are independent."""
    return hypot(*parts.values())


def largest_of(several: Sequence[Parts]) -> Part:
    """Return the part with the largest variance in several numbers together."""
    return max(Part, key=lambda part: sum(parts.get(part, 0.0) ** 2 for parts in several))


@dataclass(frozen=True)
class Whole:
    """The band of the whole of one number, and what it is made of; `Uncertainty` makes it."""

    # the 95 % band, within the limits; None: it is open there, for the number is a bound
    low_db_hl: float | None
    high_db_hl: float | None
    parts: Parts  # the answers are one

    @property
    def sd_db(self) -> float:
        return combined_db(self.parts)

    @property
    def largest(self) -> Part:
        return largest_of([self.parts])


@dataclass(frozen=True)
class Uncertainty:
    """What is uncertain of a session's levels in dB HL beside the answers."""

    calibration_db: float | None = None  # as its file states it; None: the usual one
    room_known: bool = False
    nominal: bool = False  # there was no calibration: nothing beside the answers is known

    def beside(
        self, route: Route, frequency_hz: float, *, masked: bool = False
    ) -> dict[Part, float]:
        """Return the parts beside the answers; `masked`: the other ear had noise."""
        if self.nominal:
            return {}
        usual = CALIBRATION_BY_BONE if route.by_bone else CALIBRATION_BY_AIR
        stated_db = self.calibration_db
        parts = {
            Part.FIT: FIT.at(frequency_hz),
            Part.DAY: DAY.at(frequency_hz),
            Part.CALIBRATION: usual.at(frequency_hz) if stated_db is None else stated_db,
            Part.TYPE: TYPE.at(frequency_hz),
        }
        if masked:
            parts[Part.MASKING] = MASKING.at(frequency_hz)
        if self.room_known:
            parts[Part.ROOM] = ROOM.at(frequency_hz)
        return parts

    def of(self, route: Route, found: ThresholdResult) -> Whole | None:
        """Return the whole of a threshold; None: it has no band, or levels are nominal."""
        half_db = found.half_width_db
        if half_db is None or self.nominal:
            return None
        beside = self._beside(route, found)
        shown = as_shown(_widened(found, combined_db(beside)))
        return Whole(
            shown.low_db_hl, shown.high_db_hl, {Part.ANSWERS: half_db / BAND_SDS, **beside}
        )

    def shown(self, route: Route, found: ThresholdResult) -> ShownThreshold:
        """Return a threshold as it is shown, with the band of the whole."""
        return as_shown(self.widened(route, found))

    def widened(
        self, route: Route, found: ThresholdResult, which: Collection[Part] = tuple(Part)
    ) -> ThresholdResult:
        """Return a threshold whose SD and band have these parts beside the answers."""
        beside = self._beside(route, found)
        return _widened(found, combined_db({part: beside.get(part, 0.0) for part in which}))

    def of_mean(self, ear: EarResult) -> Whole | None:
        """Return the whole of the mean threshold of an ear; None: it has none, or is nominal."""
        mean = ear.pta4
        if mean is None or self.nominal:
            return None
        four = [t for t in ear.thresholds if t.frequency_hz in PTA4_FREQUENCIES_HZ]
        low_db_hl, high_db_hl = mean.low_db_hl, mean.high_db_hl
        # It is open on the side on which it has no end.
        low = mean.level_db_hl if low_db_hl is None else low_db_hl
        high = mean.level_db_hl if high_db_hl is None else high_db_hl
        is_bound = None in (low_db_hl, high_db_hl)
        half_db = (high - low) * (1.0 if is_bound else 0.5)
        middle_db_hl = mean.level_db_hl if is_bound else 0.5 * (low + high)
        beside = {part: sd_of_mean_db(sds) for part, sds in self._by_part(ear.route, four).items()}
        parts = {**beside, Part.ANSWERS: half_db / BAND_SDS}
        reach_db = BAND_SDS * combined_db(parts)
        return Whole(
            None if low_db_hl is None else within_limits(middle_db_hl - reach_db, ear),
            None if high_db_hl is None else within_limits(middle_db_hl + reach_db, ear),
            parts,
        )

    def graded(self, result: SessionResult, convention: str = FIFTY_PERCENT) -> SessionResult:
        """Return a result, in a convention, whose grades are as likely as the whole makes them."""
        ears = (self._ear_graded(ear, convention) for ear in result.ears)
        return replace(result, ears=tuple(ears))

    def covariance_db2(self, route: Route, found: Sequence[ThresholdResult]) -> list[list[float]]:
        """Return how much what lies beside the answers varies together, a row a threshold."""
        each = map(_covariance_db2, self._by_part(route, found).values())
        rows = zip(*each, strict=True)
        return [[sum(cells) for cells in zip(*row, strict=True)] for row in rows]

    def _beside(self, route: Route, found: ThresholdResult) -> Parts:
        masked = found.masking == MaskingMark.MASKED
        return self.beside(route, found.frequency_hz, masked=masked)

    def _by_part(
        self, route: Route, found: Sequence[ThresholdResult]
    ) -> Mapping[Part, list[float]]:
        each = [self._beside(route, threshold) for threshold in found]
        return {part: [parts.get(part, 0.0) for parts in each] for part in Part}

    def _ear_graded(self, ear: EarResult, convention: str) -> EarResult:
        whole = self.of_mean(ear)
        if ear.pta4 is None or whole is None:
            return ear
        below_db = ear.clinical_offset_db - shift_db(ear, convention)
        shares = shares_with(ear, whole.sd_db, below_db)
        return replace(ear, pta4=replace(ear.pta4, shares=shares))


USUAL: Final = Uncertainty()
NOMINAL: Final = Uncertainty(nominal=True)


def _widened(found: ThresholdResult, sd_db: float) -> ThresholdResult:
    if found.sd_db is not None:
        found = replace(found, sd_db=hypot(found.sd_db, sd_db))
    low_db_hl, high_db_hl, half_db = found.low_db_hl, found.high_db_hl, found.half_width_db
    if low_db_hl is None or high_db_hl is None or half_db is None:
        return found
    middle_db_hl, reach_db = 0.5 * (low_db_hl + high_db_hl), hypot(half_db, BAND_SDS * sd_db)
    return replace(found, low_db_hl=middle_db_hl - reach_db, high_db_hl=middle_db_hl + reach_db)


def _covariance_db2(sds_db: Sequence[float], rho: float = RHO) -> list[list[float]]:
    """Return that of numbers with these SDs, which have a correlation in pairs."""
    numbers = [*enumerate(sds_db)]
    return [[one * other * (1.0 if i == j else rho) for j, other in numbers] for i, one in numbers]


def sd_of_mean_db(sds_db: Sequence[float], rho: float = RHO) -> float:
    return sqrt(sum(map(sum, _covariance_db2(sds_db, rho)))) / len(sds_db)
