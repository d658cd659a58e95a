"""Who is tested: age and sex, which tell something about hearing, and what records call them."""

import math
import re
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from firmware_py.procedure.settings import SettingError

AGE_YEARS_MAX: Final = 120.0
FEMALE: Final = "F"
MALE: Final = "M"
# Of somebody else's records: no name is asked for, and nothing here is ever found by it.
IDENTIFIER_FORM: Final = re.compile(r"[A-Za-z0-9_-]{1,32}", re.ASCII)

Sex = Literal["F", "M"]


@dataclass(frozen=True)
class Person:
    """The listener of one session; no setting, so that nobody is tested with another's age.

    Attributes
    ----------
    age_years : float or None
        0 to `AGE_YEARS_MAX`; None: not told.
    sex : "F", "M" or None
        None: not told.
    identifier : str or None
        1 to 32 letters, digits, - and _; it is recorded, and means nothing to the test.

    Raises
    ------
    SettingError
        If a value is not allowed.
    """

    age_years: float | None = None
    sex: Sex | None = None
    identifier: str | None = None

    def __post_init__(self) -> None:
        """Check all."""
        age = self.age_years
        if age is not None and not (_is_number(age) and 0.0 <= age <= AGE_YEARS_MAX):
            raise SettingError(
                f"age_years is {age!r}; allowed are numbers from 0 to {AGE_YEARS_MAX:g} years"
            )
        if self.sex not in (None, FEMALE, MALE):
            raise SettingError(f"sex is {self.sex!r}; allowed are {FEMALE} and {MALE}")
        known = self.identifier
        if known is not None and not (isinstance(known, str) and IDENTIFIER_FORM.fullmatch(known)):
            raise SettingError(
                f"identifier is {known!r}; allowed are 1 to 32 letters, digits, - and _"
            )

    def as_record(self) -> dict[str, Any]:
        """Return the person as JSON values."""
        return asdict(self)


UNKNOWN: Final = Person()  # nothing was told


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
