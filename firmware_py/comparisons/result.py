"""What a tuning found."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final, Self

from firmware_py.comparisons.settings import COUNT, LIMIT_DB_MAX
from firmware_py.terms.events import Result
from firmware_py.terms.outcomes import SessionOutcome
from firmware_py.terms.reasons import Reasons, reasons_at
from firmware_py.terms.record_checks import count, number, one_of, refusal, several

WISH_DB_MAX: Final = 1000.0  # a wide bound, which only keeps nonsense out

_SETTING: Final = several(number(-LIMIT_DB_MAX, LIMIT_DB_MAX, "dB"), COUNT, COUNT)
_WISH: Final = several(number(-WISH_DB_MAX, WISH_DB_MAX, "dB"), COUNT, COUNT)


class TuningFinding(StrEnum):
    """What the answers tell."""

    WISH = "wish"  # the person wants another setting than the prescription, or just that
    UNSURE = "unsure"  # a wish, but less sure than it should be
    NONE = "none"  # answers as they come by chance: the prescription stays


@dataclass(frozen=True)
class TuningResult(Result):
    """What a tuning found; rows of numbers are in the order of `DIMENSIONS`."""

    # "": the tuning is not over, and this is the result so far
    outcome: Annotated[str, one_of(*SessionOutcome, "")]
    finding: Annotated[str, one_of(*TuningFinding)]
    # what the aid is left at: differences from the prescription
    setting_db: Annotated[tuple[float, ...], _SETTING]
    # `wish_db`, `low_db`, `high_db`: what the person wants, inferred from the answers and from what
    # people want: the posterior mean, and its 95 % band
    wish_db: Annotated[tuple[float, ...], _WISH]
    low_db: Annotated[tuple[float, ...], _WISH]
    high_db: Annotated[tuple[float, ...], _WISH]
    expected_regret: Annotated[float, number(0.0, 1e9, "")]
    comparisons: Annotated[int, count]
    same: Annotated[int, count]  # of them without a difference
    silent: Annotated[int, count]  # of those, where nothing was pressed
    stray_presses: Annotated[int, count]  # before both had been heard
    remarks: Annotated[Reasons, reasons_at]

    @classmethod
    def from_record(cls, record: object, *, so_far: bool = False) -> Self:
        found = super().from_record(record, so_far=so_far)
        for place, (low_db, high_db) in enumerate(zip(found.low_db, found.high_db, strict=True)):
            if low_db > high_db:
                raise refusal(f"result.high_db[{place}]", high_db, f"is {low_db:g} dB and more")
        return found
