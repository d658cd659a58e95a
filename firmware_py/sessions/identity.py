"""Of whom, with what and where a session is; and what has to agree where two of these meet.

A number of one person must never stand under the name of another, nor one of an unknown loudness
under that of a calibrated one. So wherever two sessions meet, or a session meets what is plugged in
now, `differences` is asked, and `RULES` is the one table of what follows.
"""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Self

from firmware_py.session.boards import serial_of
from firmware_py.terms.person import Person
from firmware_py.terms.printable import show
from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.words import say

if TYPE_CHECKING:
    from firmware_py.calibration.in_force import CalibrationInForce
    from firmware_py.link.aid import AidGreeted

# An age in whole years, told twice: two years of birth may lie so far apart and be one.
BORN_YEARS_APART_MAX: Final = 1.5


@dataclass(frozen=True)
class Identity:
    """What is known of a session; None: unknown, or there is no such thing."""

    identifier: str | None = None  # of the person
    sex: str | None = None
    born_year: float | None = None  # as the age says, and the date of the session
    device: str | None = None  # serial number of the fitting device
    board_kind: str | None = None  # name of the tone generator
    board: str | None = None  # its name and serial number
    # serial number of the tone generator that the calibration is of, or of the one that answers
    measured: str | None = None
    calibration: str | None = None  # digest of its file; "": levels are nominal
    transducer: str | None = None  # name of the earphones in the calibration
    earphones: str | None = None  # serial numbers of theirs, the left one's first
    vibrator: str | None = None  # name and serial number of the bone vibrator, where bone is asked
    aid: str | None = None  # name and version of the hearing aid
    fit: str | None = None  # digest of its fit

    @classmethod
    def of_test(
        cls,
        person: Person,
        started: str,
        device: str,
        calibration: "CalibrationInForce",
        board: str,
        *,
        by_bone: bool,
    ) -> Self:
        made = calibration.calibration
        digest, phones, serials, vibrator = _calibration(calibration)
        return cls(
            person.identifier,
            person.sex,
            birth_year(person.age_years, started),
            device or None,
            *kind_and_name(board),
            made.board_serial if made else None,
            digest,
            phones,
            serials,
            vibrator if by_bone else None,
        )

    @classmethod
    def of_aid(cls, aid: "AidGreeted", board: str = "") -> Self:
        """Return that of the hearing aid that answers now, whose fit is somebody's."""
        kind, name = kind_and_name(board)
        return cls(aid.person, board_kind=kind, board=name, aid=aid.aid, fit=aid.fit)

    @classmethod
    def of_now(
        cls,
        device: str = "",
        board: str = "",
        calibration: "CalibrationInForce | None" = None,
    ) -> Self:
        told = (None, None, None, None) if calibration is None else _calibration(calibration)
        return cls(
            None, None, None, device or None, *kind_and_name(board), serial_of(board) or None, *told
        )


class Meeting(StrEnum):
    """Where two of these meet."""

    RESUME = "resume"  # an unfinished session, and what is plugged in now
    VISITS = "visits"  # two sessions that are compared
    FIT = "fit"  # two fits that are compared
    TUNE = "tune"  # a fit, or a tuning, and whoever is to be tuned


class Rule(StrEnum):
    """What follows where they differ."""

    REFUSED = "refused"
    ASKED = "asked"  # the operator says whether to go on
    SAID = "said"


RULES: Final[Mapping[Meeting, Mapping[str, Rule]]] = {
    Meeting.RESUME: {
        "identifier": Rule.REFUSED,  # of an aid's fit: the aid is somebody else's
        "board_kind": Rule.REFUSED,  # a simulated listener would finish a person's test
        "device": Rule.ASKED,
        "board": Rule.ASKED,
        "measured": Rule.REFUSED,  # no calibration holds with another board
        "calibration": Rule.ASKED,
        "transducer": Rule.ASKED,  # nothing but a calibration tells which ones are plugged in
        "earphones": Rule.ASKED,
        "vibrator": Rule.ASKED,
        "aid": Rule.ASKED,
        "fit": Rule.REFUSED,
    },
    Meeting.VISITS: {
        "identifier": Rule.REFUSED,
        "sex": Rule.ASKED,
        "born_year": Rule.ASKED,
        "transducer": Rule.REFUSED,
        "earphones": Rule.SAID,
        "vibrator": Rule.SAID,
        "calibration": Rule.SAID,
        "board_kind": Rule.REFUSED,
        "board": Rule.SAID,
        "device": Rule.SAID,
    },
    Meeting.FIT: {"identifier": Rule.REFUSED, "device": Rule.SAID},
    Meeting.TUNE: {"identifier": Rule.REFUSED, "fit": Rule.REFUSED},
}
DIGESTS: Final = ("calibration", "fit")
DIGEST_CHARACTERS: Final = 8  # are shown


@dataclass(frozen=True)
class Difference:
    """What two of them have that is not the same."""

    field: str
    one: Any
    other: Any
    rule: Rule
    meeting: Meeting

    @property
    def reason(self) -> Reason:
        """Say what differs; of an unfinished session, what it was and what is there now."""
        field = self.field.replace("_", "-")
        one, other = _tell(self.field, self.one), _tell(self.field, self.other)
        if self.meeting == Meeting.RESUME:
            return reason(Code.DIFFERS_NOW, field=field, was=one, now=other)
        return reason(Code.DIFFERS, field=field, one=one, other=other)

    @property
    def words(self) -> str:
        return say(self.reason)

    @property
    def reason_for_anybody(self) -> Reason:
        """Say what differs where nobody asked for a PIN: persons are not named."""
        return reason(Code.ANOTHER_PERSONS) if self.field == "identifier" else self.reason


def differences(meeting: Meeting, one: Identity, other: Identity) -> list[Difference]:
    """Return what differs where two meet, and what follows; of what is unknown nothing is said."""
    told = []
    for field, rule in RULES[meeting].items():
        mine, yours = getattr(one, field), getattr(other, field)
        if mine is None or yours is None or _is_same(field, mine, yours):
            continue
        told.append(Difference(field, mine, yours, rule, meeting))
    return told


def _is_same(field: str, one: Any, other: Any) -> bool:
    if field == "born_year":
        return bool(abs(one - other) <= BORN_YEARS_APART_MAX)
    return bool(one == other)


def _tell(field: str, value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.0f}"
    if field in DIGESTS:
        value = value[:DIGEST_CHARACTERS]
    return show(value) if value else ""


def birth_year(age_years: float | None, started: str) -> float | None:
    """Return when somebody was born who was so old at a time, in years with their part."""
    if age_years is None:
        return None
    date = datetime.datetime.fromisoformat(started)
    return date.year + (date.timetuple().tm_yday - 1) / 365.25 - age_years


def kind_and_name(board: str) -> tuple[str | None, str | None]:
    return (board.partition(" ")[0], board) if board else (None, None)


def _calibration(
    in_force: "CalibrationInForce",
) -> tuple[str, str | None, str | None, str | None]:
    """Return its digest, name and serial numbers of its earphones, and those of its vibrator.

    A simulated one has no serial numbers.
    """
    made = in_force.calibration
    if made is None:
        return "", None, None, None
    phones, vibrator = made.content["transducer"], made.content.get("vibrator")
    serials = (phones.get("serial_left"), phones.get("serial_right"))
    earphones = None if None in serials else ", ".join(serials)
    by_bone = vibrator and f"{vibrator['name']}, {vibrator['serial']}"
    return made.digest, phones["name"], earphones, by_bone
