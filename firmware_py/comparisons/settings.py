"""What a tuning is to do: the aid's part of it, and ours."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, Self

from firmware_py.comparisons.space import DIMENSIONS
from firmware_py.terms import record_checks
from firmware_py.terms.record_checks import number, refusal, several, text, whole
from firmware_py.terms.settings import SEED_MAX

FIT_CHARACTERS_MAX: Final = 64
SD_DB_MIN: Final = 0.1  # a prior that is narrower leaves nothing to ask
SD_DB_MAX: Final = 30.0
LIMIT_DB_MAX: Final = max(dimension.limit_db for dimension in DIMENSIONS)
COUNT: Final = len(DIMENSIONS)


def _range_db(place: str, value: Any) -> Any:
    """Allow a range that has the prescription, 0 dB, in it."""
    low_db, high_db = several(number(-LIMIT_DB_MAX, LIMIT_DB_MAX, "dB"), 2, 2)(place, value)
    if not low_db <= 0.0 <= high_db:
        raise refusal(place, value, "is a range with 0 dB in it")
    return float(low_db), float(high_db)


def _fit(place: str, value: Any) -> Any:
    if not 0 < len(text(place, value)) <= FIT_CHARACTERS_MAX:
        raise refusal(place, value, f"is a text of 1 to {FIT_CHARACTERS_MAX} characters")
    return value


@dataclass(frozen=True)
class TuningSettings:
    """The settings of one tuning, with times of its sounds; a `ResultError` refuses the others."""

    # of the aid: what it is fitted with, how far each number of a setting may go there, and the
    # prior SD of what the person may want of it
    fit: Annotated[str, _fit]
    ranges_db: Annotated[tuple[tuple[float, float], ...], several(_range_db, COUNT, COUNT)]
    prior_sd_db: Annotated[
        tuple[float, ...], several(number(SD_DB_MIN, SD_DB_MAX, "dB"), COUNT, COUNT)
    ]
    comparisons_max: Annotated[int, whole(5, 40)] = 25
    rounds: Annotated[int, whole(1, 5)] = 2  # of hearing both, without an answer
    gap_ms: Annotated[int, whole(100, 3000, "ms")] = 400  # from one sound to the other
    window_ms: Annotated[int, whole(500, 10000, "ms")] = 1500  # for a press after the last
    between_ms: Annotated[int, whole(200, 10000, "ms")] = 800  # from an answer to the next pair
    seed: Annotated[int, whole(0, SEED_MAX)] = 0  # of which is heard first

    def __post_init__(self) -> None:
        record = self.as_record()
        for name, check in record_checks.checks_of(type(self)).items():
            object.__setattr__(self, name, check(f"settings.{name}", record[name]))
        if not any(high_db > low_db for low_db, high_db in self.ranges_db):
            raise refusal("settings.ranges_db", "0 dB of every number", "is a range to tune in")

    def as_record(self) -> dict[str, Any]:
        ranges_db = [list(each) for each in self.ranges_db]
        return {**asdict(self), "ranges_db": ranges_db, "prior_sd_db": [*self.prior_sd_db]}

    @classmethod
    def from_record(cls, record: object) -> Self:
        """Check what `as_record` wrote, and take it, or raise a `ResultError`."""
        found: Self = record_checks.object_of(cls)("settings", record)
        return found
