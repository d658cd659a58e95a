"""Which answers the thresholds rest on, and how many were set aside."""

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
