"""Who is tested: age and sex, which tell something about hearing, and what records call them."""

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final, Literal, Self

from firmware_py.terms.printable import show
from firmware_py.terms.settings import SettingError, Settings, refused

AGE_YEARS_MAX: Final = 120.0
FEMALE: Final = "F"
MALE: Final = "M"
# Of somebody else's records: no name is asked for, and nothing here is ever found by it.
IDENTIFIER_CHARACTERS_MAX: Final = 32
IDENTIFIER_WORDS: Final = (
    f"1 to {IDENTIFIER_CHARACTERS_MAX} letters and digits of any script, - and _"
)
JOINTS: Final = "-_"
LETTERS_AND_DIGITS: Final = ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd")
MARKS: Final = ("Mn", "Mc")  # accents and vowel signs: part of the letter before them
UNKNOWN_YET: Final = "Cn"  # to the Unicode of this Python: who recorded it may have known it
# Letters and marks of which nothing is seen, so that two identifiers could look the same: joiners,
# fillers, inherent vowels, selectors.
INVISIBLE: Final = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x3164, 0x3164),
    (0x2065, 0x2065), (0xFDD0, 0xFDEF), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8),
    (0x16FE4, 0x16FE4), (0xE0000, 0xE0FFF),
    *((plane + 0xFFFE, plane + 0xFFFF) for plane in range(0, 0x110000, 0x10000)),
)  # fmt: skip

Sex = Literal["F", "M"]


@dataclass(frozen=True)
class Person:
    """The listener of one session; no setting, so that nobody is tested with another's age.

    A value that is not allowed is refused by a `SettingError`.
    """

    age_years: float | None = None  # 0 to `AGE_YEARS_MAX`; None: not told
    sex: Sex | None = None  # None: not told
    # `IDENTIFIER_WORDS`, as `compose` gives them; letters may have marks, and all is seen. It is
    # recorded, and means nothing to the test.
    identifier: str | None = None

    def __post_init__(self) -> None:
        age = self.age_years
        is_number = isinstance(age, int | float) and not isinstance(age, bool)
        if age is not None and not (is_number and 0.0 <= age <= AGE_YEARS_MAX):
            raise refused("age_years", age, f"are numbers from 0 to {AGE_YEARS_MAX:g} years")
        if self.sex not in (None, FEMALE, MALE):
            raise refused("sex", self.sex, f"are {FEMALE} and {MALE}")
        if self.identifier is not None:
            _check_identifier(self.identifier)

    @classmethod
    def enter(
        cls, age_years: float | None = None, sex: Sex | None = None, identifier: str | None = None
    ) -> Self:
        """Return who somebody says is tested; the identifier in the form that is recorded.

        One without letter and digit would be read as none, and is refused, too; one that was
        recorded is taken all the same.
        """
        if identifier and not identifier.strip(JOINTS):
            allowed = f"are {IDENTIFIER_WORDS}, and at least one letter or digit"
            raise refused("identifier", identifier, allowed)
        return cls(age_years, sex, None if identifier is None else compose(identifier))

    def as_record(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_record(cls, record: object) -> Self:
        """Check what `as_record` wrote, no less and no more, and take it."""
        names = cls.__dataclass_fields__.keys()
        if not isinstance(record, dict) or record.keys() != names:
            raise refused("person", record, f"is an object of {', '.join(names)}")
        return cls(**record)

    def check_use(self, settings: Settings) -> None:
        """Refuse age and sex, by a `SettingError`, for a profile that knows nothing of people."""
        for name, told in (("age_years", self.age_years), ("sex", self.sex)):
            if told is not None and not settings.honest:
                raise SettingError(
                    f"{name} is {told!r}; profile {settings.profile!r} makes no use of it: "
                    "allowed is null"
                )


UNKNOWN: Final = Person()  # nothing was told


def compose(identifier: str) -> str:
    """Return an identifier in NFC: the same for the same letters, however they were typed."""
    import unicodedata  # 100 kB that a test of somebody without a name does not need

    return unicodedata.normalize("NFC", identifier)


def _check_identifier(identifier: Any) -> None:
    wrong = f"identifier is {show(identifier)}; allowed are {IDENTIFIER_WORDS}"
    if not isinstance(identifier, str) or not 1 <= len(identifier) <= IDENTIFIER_CHARACTERS_MAX:
        raise SettingError(wrong)
    for before, character in pairwise(f"{JOINTS[0]}{identifier}"):
        if not _may_follow(before, character):
            raise SettingError(f"{wrong}; U+{ord(character):04X} may not stand there")
    if identifier != compose(identifier):
        raise SettingError(f"{wrong}, in NFC")


def _may_follow(before: str, character: str) -> bool:
    if any(first <= ord(character) <= last for first, last in INVISIBLE):
        return False
    import unicodedata

    kind = unicodedata.category(character)
    if kind in MARKS:
        return before not in JOINTS
    return character in JOINTS or kind in LETTERS_AND_DIGITS or kind == UNKNOWN_YET
