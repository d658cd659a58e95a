"""What the answers of a tuning are enough for, and what may be said of them."""

from collections.abc import Iterator
from typing import Final

from firmware_py.comparisons.outcomes import Finding
from firmware_py.comparisons.space import PRESCRIPTION
from firmware_py.inference.preference.estimator import PreferenceEstimator
from firmware_py.terms.reasons import Code, Reason, reason

COMPARISONS_MIN: Final = 10  # fewer say little of whether somebody listens
REGRET_ENOUGH: Final = 0.5  # expected, of the best setting: 3 dB in one number
LISTENS_MIN: Final = 0.5  # probability of one wish; below it the prescription stays
NOBODY_LISTENS: Final = 0.02  # and with so little the tuning is over
# Each fourth comparison shows whether somebody listens: the best setting beside a bad one.
CHECK_EVERY: Final = 4


def is_enough(estimator: PreferenceEstimator, comparisons_max: int) -> bool:
    """Return whether no further comparison is worth a person's time."""
    count = estimator.comparison_count
    if count >= comparisons_max:
        return True
    sure = finding_of(estimator) == Finding.WISH or estimator.listens < NOBODY_LISTENS
    return count >= COMPARISONS_MIN and sure


def is_check(comparison: int) -> bool:
    """Return whether this comparison, counted from 1, is to show if somebody listens."""
    return comparison % CHECK_EVERY == 0


def finding_of(estimator: PreferenceEstimator) -> Finding:
    if estimator.listens < LISTENS_MIN:
        return Finding.NONE
    return Finding.WISH if estimator.expected_regret <= REGRET_ENOUGH else Finding.UNSURE


def setting_of(estimator: PreferenceEstimator) -> tuple[float, ...]:
    """Return the setting to leave the aid at."""
    if finding_of(estimator) == Finding.NONE:
        return PRESCRIPTION.values_db()
    return tuple(map(float, estimator.best()))


def remarks_of(estimator: PreferenceEstimator) -> Iterator[Reason]:
    """Yield what makes the result less than sure."""
    match finding_of(estimator):
        case Finding.NONE:
            changed = estimator.changed > 0.5 * (1.0 - estimator.listens)
            yield reason(Code.CHANGED if changed else Code.NO_WISH)
        case Finding.UNSURE:
            yield reason(Code.NOT_SURE)
