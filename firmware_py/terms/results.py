"""What a hearing test found: at a frequency, of an ear, and of the whole session.

What a field may be stands beside the field: `from_record` refuses what no test can have found.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Self

from firmware_py.terms.events import Result
from firmware_py.terms.outcomes import (
    WITH_NUMBERS,
    Bound,
    MaskingMark,
    Outcome,
    SessionOutcome,
    Verdict,
    WhichEar,
)
from firmware_py.terms.reasons import Reasons, reasons_at
from firmware_py.terms.record_checks import (
    count,
    number,
    number_or_none,
    object_of,
    one_of,
    one_route,
    optional,
    refusal,
    several,
    text,
)
from firmware_py.terms.route import FREQUENCIES_HZ, ROUTES, Route

# Wide bounds, for no test comes near them: they only keep nonsense out.
LEVEL_DB_MAX: Final = 1000.0
RESPONSE_MS_MAX: Final = 60_000.0
# By so much a clinic's ascending procedure (5 dB up, 10 dB down) settles, on average, above the
# level that is heard half the time: 2.79 dB in a simulation of it, with an SD of 0.10 dB over
# listeners.
CLINICAL_OFFSET_DB: Final = 2.8
CLINICAL_OFFSET_DB_MAX: Final = 5.0  # a step of that procedure
BOARDS_MAX: Final = 100
PTA4_FREQUENCIES_HZ: Final = (500, 1000, 2000, 4000)
GAP_FREQUENCIES_HZ: Final = (500, 1000, 2000)  # of the mean air-bone gap
BONE_POORER_DB: Final = -2.0  # below it lies no gap: reference levels are off by some dB
GRADES: Final = 7  # of hearing loss, by the WHO

_LEVEL: Final = number_or_none(-LEVEL_DB_MAX, LEVEL_DB_MAX, "dB")
_FOUR: Final = several(one_of(*PTA4_FREQUENCIES_HZ), 0, len(PTA4_FREQUENCIES_HZ))
_OUTCOME: Final = one_of(*(each for each in Outcome if each != Outcome.INFERRED))  # of an ear
# Of a frequency that was measured again by the classical rule.
_CONFIRMED: Final = one_of(
    Outcome.MEASURED, Outcome.NO_RESPONSE, Outcome.HEARS_ALL, Outcome.INCOMPLETE
)


@dataclass(frozen=True)
class ThresholdResult:
    """What was found at one frequency."""

    frequency_hz: Annotated[int, one_of(*FREQUENCIES_HZ)]  # of the audiogram
    mark: Annotated[Outcome, one_of(*Outcome)]  # how sure it is
    # Posterior mean, SD and 95 % band: numbers if the mark is `MEASURED` or `INFERRED`, else None.
    # One that a table tells, and no test measured, has no SD and no band.
    threshold_db_hl: Annotated[float | None, _LEVEL]
    sd_db: Annotated[float | None, number_or_none(0.0, LEVEL_DB_MAX, "dB")]
    low_db_hl: Annotated[float | None, _LEVEL]
    high_db_hl: Annotated[float | None, _LEVEL]
    # the threshold lies beyond this limit (`NO_RESPONSE`, `HEARS_ALL`), or perhaps does
    # (`INCOMPLETE`); otherwise None, and always of `INFERRED`
    limit_db_hl: Annotated[float | None, _LEVEL]
    # None: it is `INFERRED`, so that there was no tone that could be masked, or it is of one ear
    # alone with masking off
    masking: Annotated[MaskingMark | None, one_of(*MaskingMark, None)] = None
    # a gap of the other ear from here on could have changed the threshold; None: no possible one
    air_bone_gap_db: Annotated[float | None, _LEVEL] = None
    # the lowest and the highest level that could be asked there; None: not known
    floor_db_hl: Annotated[float | None, _LEVEL] = None
    ceiling_db_hl: Annotated[float | None, _LEVEL] = None

    @property
    def half_width_db(self) -> float | None:
        """Return how far the 95 % band reaches to either side; None: there is no band."""
        if self.low_db_hl is None or self.high_db_hl is None:
            return None
        return 0.5 * (self.high_db_hl - self.low_db_hl)

    def is_wider_than(self, wanted_db: float) -> bool:
        return self.half_width_db is not None and self.half_width_db > wanted_db

    def without_numbers(self, mark: Outcome) -> Self:
        """Return it under a mark that has no threshold and no band."""
        none: dict[str, Any] = dict.fromkeys(_NUMBERS)
        return replace(self, mark=mark, **none)


_NUMBERS: Final = ("threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl")


def _threshold(place: str, record: object) -> ThresholdResult:
    """Check the fields of a threshold, and that what it has fits its mark."""
    found: ThresholdResult = object_of(ThresholdResult)(place, record)
    for name in _NUMBERS:
        _check_null(place, found, name, is_null=found.mark not in WITH_NUMBERS)
    low_db_hl, high_db_hl = found.low_db_hl, found.high_db_hl
    if low_db_hl is not None and high_db_hl is not None and low_db_hl > high_db_hl:
        raise refusal(f"{place}.high_db_hl", high_db_hl, f"is low_db_hl, {low_db_hl:g}, and more")
    if found.mark in (Outcome.NO_RESPONSE, Outcome.HEARS_ALL):
        _check_null(place, found, "limit_db_hl", is_null=False)
    if found.mark == Outcome.INFERRED:
        for name in ("limit_db_hl", "masking", "air_bone_gap_db"):
            _check_null(place, found, name, is_null=True)
    return found


def _check_null(
    place: str, found: "ThresholdResult | ConfirmedThreshold", name: str, *, is_null: bool
) -> None:
    value = getattr(found, name)
    if (value is None) != is_null:
        allowed = "is null" if is_null else "is a number"
        raise refusal(f"{place}.{name}", value, f"{allowed} of a mark {found.mark}")


@dataclass(frozen=True)
class MeanThreshold:
    """The mean threshold of an ear at 500, 1000, 2000 and 4000 Hz (PTA4), and its grade (WHO).

    Where a threshold is a bound, mean and grades are bounds as well: a limit stands in its place.
    """

    # the mean and its 95 % band, within the limits; None: it is open there, for the mean is a bound
    level_db_hl: Annotated[float, number(-LEVEL_DB_MAX, LEVEL_DB_MAX, "dB")]
    low_db_hl: Annotated[float | None, _LEVEL]
    high_db_hl: Annotated[float | None, _LEVEL]
    bound: Annotated[Bound, one_of(*Bound)]
    # how likely each grade is, the best first; of a bound, the grade of the number
    shares: Annotated[Sequence[float], several(number(0.0, 1.0, ""), GRADES, GRADES)]
    # `beyond_hz`, `inferred_hz`, `doubtful_hz`: of the four, those that lie beyond a limit, surely
    # or perhaps; those that no tone was asked for; those that the other ear may have heard
    beyond_hz: Annotated[Sequence[int], _FOUR] = ()
    inferred_hz: Annotated[Sequence[int], _FOUR] = ()
    doubtful_hz: Annotated[Sequence[int], _FOUR] = ()


@dataclass(frozen=True)
class MeanGap:
    """The mean air-bone gap of an ear at 500, 1000 and 2000 Hz, by both routes together."""

    gap_db: Annotated[float, number(-LEVEL_DB_MAX, LEVEL_DB_MAX, "dB")]
    sd_db: Annotated[float, number(0.0, LEVEL_DB_MAX, "dB")]


@dataclass(frozen=True)
class ConfirmedThreshold:
    """What the classical rule found at one frequency, after the test; nothing else rests on it."""

    frequency_hz: Annotated[int, one_of(*FREQUENCIES_HZ)]  # of the audiogram
    threshold_db_hl: Annotated[float | None, _LEVEL]  # a number if the mark is `MEASURED`, or None
    # `INCOMPLETE`: the tones were used up, or the session was ended
    mark: Annotated[Outcome, _CONFIRMED]
    tones: Annotated[int, count]  # that it took


def _check_confirmed(place: str, record: object) -> ConfirmedThreshold:
    found: ConfirmedThreshold = object_of(ConfirmedThreshold)(place, record)
    _check_null(place, found, "threshold_db_hl", is_null=found.mark != Outcome.MEASURED)
    return found


@dataclass(frozen=True)
class EarResult:
    """What was found of one ear."""

    route: Annotated[Route, one_route]
    outcome: Annotated[Outcome, _OUTCOME]
    why: Annotated[Reasons, reasons_at]  # its test ended; none: it did not
    # from the lowest frequency on
    thresholds: Annotated[
        Sequence[ThresholdResult], several(_threshold, 1, len(FREQUENCIES_HZ), key="frequency_hz")
    ]
    tones: Annotated[int, count]
    tones_heard: Annotated[int, count]  # answered with either button
    tones_unsure: Annotated[int, count]
    catch_trials: Annotated[int, count]  # presentations without a tone
    false_alarms: Annotated[int, count]  # of them answered, with either button
    unsure_alarms: Annotated[int, count]
    # retest at 1 kHz minus the threshold before it; None: there was none
    retest_difference_db: Annotated[float | None, _LEVEL]
    # by so much clinical thresholds lie above these, which are 50 % points: `CLINICAL_OFFSET_DB`,
    # or what an earlier version took
    clinical_offset_db: Annotated[float, number(0.0, CLINICAL_OFFSET_DB_MAX, "dB")]
    tones_masked: Annotated[int, count] = 0  # that count, with noise in the other ear
    # what was measured again by the classical rule; its tones are in none of the counts above
    confirmed: Annotated[
        Sequence[ConfirmedThreshold],
        several(_check_confirmed, 0, len(FREQUENCIES_HZ), key="frequency_hz"),
    ] = ()
    verdict: Annotated[Verdict, one_of(*Verdict)] = Verdict.VALID
    reasons: Annotated[Reasons, reasons_at] = ()  # why it is no valid test
    # which tone generators its tones came from, by names and serial numbers
    boards: Annotated[Sequence[str], several(text, 0, BOARDS_MAX)] = ()
    # None: it is not known, or nothing follows from the thresholds
    pta4: Annotated[MeanThreshold | None, optional(object_of(MeanThreshold))] = None
    # of an ear by bone; None: it is of one by air, or an earlier version recorded it
    gap: Annotated[MeanGap | None, optional(object_of(MeanGap))] = None

    @property
    def ear(self) -> str:
        return self.route.ear


@dataclass(frozen=True)
class SessionResult(Result):
    """What a session found."""

    # "": the session is not over, and this is the result so far
    outcome: Annotated[str, one_of(*SessionOutcome, "")]
    # those that are tested, in the order of the test
    ears: Annotated[Sequence[EarResult], several(object_of(EarResult), 1, len(ROUTES), key="route")]
    presentations: Annotated[int, count]  # with a tone or without one
    stray_presses: Annotated[int, count]  # presses without a tone
    # None: nothing was answered
    response_time_mean_ms: Annotated[float | None, number_or_none(0.0, RESPONSE_MS_MAX, "ms")]
    # what makes the result less than sure
    remarks: Annotated[Reasons, reasons_at]
    # whether the listener confirmed which ear is which
    which_ear: Annotated[WhichEar, one_of(*WhichEar)] = WhichEar.NOT_ASKED

    @property
    def verdict(self) -> Verdict:
        return max((found.verdict for found in self.ears), key=list(Verdict).index)

    @property
    def by_route(self) -> dict[Route, EarResult]:
        return {found.route: found for found in self.ears}
