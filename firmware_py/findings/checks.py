"""Which answers the thresholds rest on, how many were set aside, and what checked the others."""

from dataclasses import dataclass
from typing import Final, Self

from firmware_py.ear.ear import EarTest
from firmware_py.presenting.answers_given import Answered, AnswersGiven
from firmware_py.terms.outcomes import Outcome, Purpose
from firmware_py.terms.results import EarResult
from firmware_py.terms.settings import Settings

# A tone so far above the threshold is heard by whoever attends: 2.5 SD of the usual noise.
CLEARLY_ABOVE_DB: Final = 5.0


def counted_purposes(settings: Settings) -> tuple[Purpose, ...]:
    """Return what the tones were for that the thresholds rest on."""
    familiar = (Purpose.FAMILIARISE,) if settings.familiarisation_counts else ()
    return (*familiar, Purpose.MEASURE, Purpose.RETEST)


def set_aside(ear: EarTest, settings: Settings) -> int:
    """Return how many answers do not count, because the other ear may have given them."""
    purposes = counted_purposes(settings)
    kept = set(map(id, ear.observations))
    answers = [each for each in ear.attention.answers if each.presentation.purpose in purposes]
    return sum(id(each) not in kept for each in answers)


@dataclass(frozen=True)
class Checks:
    """What checked the answers of an ear, beside its catch trials."""

    set_aside: int
    pauses: int  # silent trials that the pauses between tones make, and those with a press
    pauses_pressed: int
    # clear tones that were asked to see if the listener attends, and those not heard; None: the
    # profile of the test has no such checks
    checks: int | None
    checks_missed: int | None
    # "repeatable", "scattered" (over 5 dB), or, if that is improbable with this listener,
    # "doubtful" (over 5 dB) or "rejected" (over 10 dB); "" without a retest
    retest: str
    clear_tones: int  # clearly above the threshold that was found there, and those not heard
    clear_missed: int
    trial_s: float | None  # median from answer to answer

    @classmethod
    def of(cls, found: EarResult, ear: EarTest, given: AnswersGiven, settings: Settings) -> Self:
        attention = ear.attention
        clear = _clear_tones(found, ear, given)
        modelled = attention.modelled
        return cls(
            set_aside(ear, settings),
            ear.evidence.pauses.count, ear.evidence.pauses.pressed,
            attention.checks_asked if modelled else None,
            attention.checks_missed if modelled else None,
            ear.retest.told if ear.retest else "",
            len(clear), sum(each.heard is False for each in clear),
            given.trial_s(ear.route),
        )  # fmt: skip


def _clear_tones(found: EarResult, ear: EarTest, given: AnswersGiven) -> list[Answered]:
    if found.outcome not in (Outcome.MEASURED, Outcome.INCOMPLETE) or not ear.observations:
        return []
    # With more noise in the other ear even a clear tone may not be heard, and a check is played to
    # who perhaps does not listen.
    others = (Purpose.CATCH, Purpose.CHECK, Purpose.PLATEAU)
    of_ear = [each for each in given.all if each.route == ear.route and not each.of_ear_check]
    tones = [each for each in of_ear if each.presentation.purpose not in others]
    thresholds_db_hl, _ = ear.estimator.threshold([t.presentation.frequency_hz for t in tones])
    least_db_hl = [each + CLEARLY_ABOVE_DB for each in thresholds_db_hl.tolist()]
    pairs = zip(tones, least_db_hl, strict=True)
    return [each for each, least in pairs if each.presentation.level_db_hl >= least]
