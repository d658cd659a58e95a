"""Who was tested, by whom and where, as a clinic files it: what the device is never told.

It comes from a file that stays on the host, and stands on paper alone: no journal and no export has
it.
"""

import argparse
import datetime
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from firmware_py.platform.clock import was_clock_set
from firmware_py.platform.named_file import TomlFileError, read_toml
from firmware_py.terms.person import Person, compose
from firmware_py.terms.printable import printable
from host_tools.errors import HostError

LINE_LETTERS_MAX: Final = 80  # a line of the heading has no room for more
COMMENTS_LETTERS_MAX: Final = 2000  # half a page
FILE_BYTES_MAX: Final = 64 * 1024
AGE_SLACK_YEARS: Final = 1.0  # an age may have been told in years and a part, or before a birthday
EXAMPLE: Final = """\
The heading (FILE.toml): identifier, name, birth_date, tester, place and comments. Each may
be missing; another identifier or age than the session's is refused.
  identifier = "P-17"
  name = "Maria Jansen"
  birth_date = 1957-03-08
  tester = "A. Meyer"
  place = "Audiology, room 4"
"""


@dataclass(frozen=True)
class Heading:
    """What a clinic writes above a result; "" and None: it was not told."""

    identifier: str = ""  # of who was tested, as the device was told
    name: str = ""
    birth_date: datetime.date | None = None
    tester: str = ""
    place: str = ""
    comments: str = ""  # in lines

    def age_years(self, tested: str) -> int | None:
        """Return the age at a test, in whole years; None: birth date or day is not known."""
        if self.birth_date is None or not was_clock_set(tested):
            return None
        day, born = datetime.datetime.fromisoformat(tested).date(), self.birth_date
        before = (day.month, day.day) < (born.month, born.day)
        return day.year - born.year - before

    def check(self, path: Path | None, person: Person, tested: str) -> None:
        """Refuse, `HostError`, an identifier or a birth date that is not that of who was tested.

        A birth date is not if it lies after the test, or makes another age than the device was
        told.
        """
        own = person.identifier or ""
        if self.identifier and compose(self.identifier) != own:
            raise HostError(
                f"{path}: identifier is {self.identifier!r}, and the session is of "
                f"{own or 'nobody with an identifier'}: the heading is of somebody else"
            )
        years = self.age_years(tested)
        if self.birth_date is None or years is None:
            return
        told, day = f"{path}: birth_date is {self.birth_date.isoformat()}", tested[:10]
        if years < 0:
            raise HostError(f"{told}, which lies after the test of {day}")
        if person.age_years is not None and abs(years - person.age_years) > AGE_SLACK_YEARS:
            raise HostError(
                f"{told}, which makes {years} years at the test of {day}; the "
                f"device was told {person.age_years:g}. One of them is of somebody else, or the "
                "device's clock is wrong"
            )


NO_HEADING: Final = Heading()


def add_heading_argument(p: argparse.ArgumentParser, of: str) -> None:
    p.add_argument(
        "--heading", type=Path, metavar="FILE.toml",
        help=f"who was tested, by whom and where, at the head of {of}",
    )  # fmt: skip


def read_heading(path: Path | None) -> Heading:
    """Read a heading, without a file an empty one; `HostError` if it says what no heading has."""
    if path is None:
        return NO_HEADING
    try:
        told = read_toml(path, FILE_BYTES_MAX)
    except TomlFileError as error:
        raise HostError(str(error)) from None
    return Heading(**{name: _check(path, name, value) for name, value in told.items()})


def _check(path: Path, name: str, value: Any) -> Any:
    known = [each.name for each in fields(Heading)]
    if name not in known:
        raise HostError(f"{path}: {name!r} is not known; allowed are {', '.join(known)}")
    if name == "birth_date":
        if type(value) is datetime.date:
            return value
        raise HostError(f"{path}: birth_date is {value!r}; allowed is a date such as 1957-03-08")
    most = COMMENTS_LETTERS_MAX if name == "comments" else LINE_LETTERS_MAX
    if not isinstance(value, str) or len(value) > most:
        raise HostError(f"{path}: {name} is {value!r}; allowed are up to {most} letters")
    lines = [printable(line) for line in value.strip().splitlines()]
    return "\n".join(lines) if name == "comments" else " ".join(lines)
