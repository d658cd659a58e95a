"""Which answers the thresholds rest on, how many were set aside, and what checked the others."""

from dataclasses import dataclass
from typing import Self

from firmware_py.procedure.ear import EarTest
from firmware_py.procedure.outcomes import Purpose
from firmware_py.procedure.settings import Settings


def counted(settings: Settings) -> tuple[Purpose, ...]:
    """Return what the tones were for that the thresholds rest on."""
    familiar = (Purpose.FAMILIARISE,) if settings.familiarisation_counts else ()
    return (*familiar, Purpose.MEASURE, Purpose.RETEST)


def set_aside(ear: EarTest, settings: Settings) -> int:
    """Return how many answers do not count, because the other ear may have given them."""
    purposes = counted(settings)
    heard, kept = (
        sum(each.presentation.purpose in purposes for each in answers)
        for answers in (ear.attention.answers, ear.observations)
    )
    return heard - kept


@dataclass(frozen=True)
class Checks:
    """What checked the answers of an ear, beside its catch trials."""

    set_aside: int
    # `pauses`, `pauses_pressed`: silent trials that the pauses between tones make, and those with a
    # press
    pauses: int
    pauses_pressed: int
    # `checks`, `checks_missed`: clear tones that were asked to see if the listener attends, and
    # those not heard; `doubted_tones`: asked again because their answer left two explanations.
    # None: the profile of the test has no such checks
    checks: int | None
    checks_missed: int | None
    doubted_tones: int | None
    # "repeatable", "doubtful" (over 5 dB), "rejected" (over 10 dB), both only if that is improbable
    # with this listener, or "" without a retest
    retest: str

    @classmethod
    def of(cls, ear: EarTest, settings: Settings) -> Self:
        """Take those of an ear."""
        attention = ear.attention
        modelled = attention.modelled
        return cls(
            set_aside(ear, settings),
            attention.pauses.count,
            attention.pauses.pressed,
            attention.checks_asked if modelled else None,
            attention.checks_missed if modelled else None,
            ear.measurement.doubted_tones if modelled else None,
            (ear.retest.verdict or "repeatable") if ear.retest else "",
        )
