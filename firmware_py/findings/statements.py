"""A result as it may be told, by the verdicts on its ears (`terms/verdicts.py`).

A journal keeps what was found; who tells of it tells `as_told`, and of a test under way `so_far`.
Without a calibration levels are nominal: then nothing is told that needs dB HL.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from firmware_py.terms.outcomes import Outcome, SessionOutcome, Verdict
from firmware_py.terms.reasons import in_nominal_db
from firmware_py.terms.results import EarResult, SessionResult, ThresholdResult
from firmware_py.terms.settings import Settings
from firmware_py.terms.shown_threshold import is_wide
from firmware_py.terms.verdicts import Judged, has_thresholds, may_conclude

# The test of an ear may not have ended. A band of it that is so many times wider than was wanted
# tells what is known of other people, and not what this ear answered.
GUESS_WIDTHS: Final = 2.0


def is_final(
    outcome: str, ears: Iterable[Judged], *, nominal: bool, simulated: bool | None
) -> bool:
    """Return whether a valid test of a person came to its own end, of a calibrated device."""
    valid = all(map(may_conclude, ears)) and not (nominal or simulated)
    return outcome == SessionOutcome.COMPLETE and valid


def as_told(result: SessionResult, settings: Settings, *, nominal: bool) -> SessionResult:
    """Return a result as it may be told, without levels that nobody knows."""
    ears = (_without_guesses(_ear_as_told(ear), settings) for ear in result.ears)
    told = (
        ear if may_conclude(ear) and not nominal else replace(ear, pta4=None, gap=None)
        for ear in ears
    )
    return _in_unit(replace(result, ears=tuple(told)), nominal=nominal)


def _in_unit(result: SessionResult, *, nominal: bool) -> SessionResult:
    if not nominal:
        return result
    ears = (
        replace(ear, why=in_nominal_db(ear.why), reasons=in_nominal_db(ear.reasons))
        for ear in result.ears
    )
    return replace(result, ears=tuple(ears), remarks=in_nominal_db(result.remarks))


def so_far(result: SessionResult, *, nominal: bool) -> SessionResult:
    """Return the result of a test under way: nobody has judged it yet.

    An ear that was not begun would be one that could not be tested, and a band that is looked at
    while it narrows would come and go.
    """
    ears = (
        replace(ear, verdict=Verdict.NOT_JUDGED, reasons=(), pta4=None, gap=None)
        for ear in result.ears
    )
    return _in_unit(replace(result, ears=tuple(ears)), nominal=nominal)


def told_now(result: SessionResult, settings: Settings, *, nominal: bool) -> SessionResult:
    if result.outcome:
        return as_told(result, settings, nominal=nominal)
    return so_far(result, nominal=nominal)


def _without_guesses(ear: EarResult, settings: Settings) -> EarResult:
    """Mark as incomplete where a test that came to no end says little of a threshold."""
    if ear.outcome != Outcome.INCOMPLETE:
        return ear
    kind = ear.route.kind
    thresholds = (
        t.without_numbers(Outcome.INCOMPLETE)
        if is_wide(t, GUESS_WIDTHS * settings.wanted_half_width_db(kind, t.frequency_hz))
        else t
        for t in ear.thresholds
    )
    return replace(ear, thresholds=tuple(thresholds))


def _ear_as_told(ear: EarResult) -> EarResult:
    """Leave out whatever was found; how many tones there were is no finding about the ear."""
    if has_thresholds(ear):
        return ear
    return replace(
        ear,
        outcome=Outcome.NOT_TESTED,
        why=(),  # such as "no response at 100 dB HL", which nobody knows
        thresholds=tuple(map(_nothing, ear.thresholds)),
        retest_difference_db=None, confirmed=(),
    )  # fmt: skip


def _nothing(found: ThresholdResult) -> ThresholdResult:
    none = found.without_numbers(Outcome.NOT_TESTED)
    return replace(none, limit_db_hl=None, masking=None, air_bone_gap_db=None)
