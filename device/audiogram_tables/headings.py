"""What the heading of a column means, however it is written.

A heading is cut into numbers and words. One with one frequency, and of words only those by which
people name an ear, a route and a threshold, is a column of thresholds: ``t500``, ``L AC 500 Hz``,
``0.5kHz Right``, ``R500``, ``AC_R_500``, ``right_500_hz_db_hl``, ``500``. One that is nearly so is
no other column: it is refused, with the heading that it may be meant for.
"""

import difflib
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from device.audiogram_tables import nhanes
from device.audiogram_tables.levels import plain
from firmware_py.terms.route import AIR, BONE, LEFT, RIGHT


class Role(StrEnum):
    """What a column has."""

    THRESHOLD = "threshold"  # at a frequency
    NO_RESPONSE = "no_response"
    FREQUENCY = "frequency"  # of the row
    LEVEL = "level"  # at the frequency of the row
    EAR = "ear"
    ROUTE = "route"
    SUBJECT = "subject"
    SESSION = "session"
    SOURCE = "source"
    AGE = "age"
    SEX = "sex"
    MARK = "mark"  # of our exports: what a threshold, or its absence, is
    LIMIT = "limit"
    UNIT = "level_unit"
    VERDICT = "verdict"
    CONVENTION = "threshold_convention"
    MARKS = "marks"
    CODE = "code"


@dataclass(frozen=True)
class Heading:
    """The meaning of a heading."""

    role: Role
    side: str = ""
    route: str = AIR
    frequency_hz: float = 0.0
    again: bool = False  # a second reading
    name: str = ""  # as it is written here
    kilo: bool = False  # a column of frequencies in kHz


FREQUENCIES_HZ: Final = (
    125, 250, 375, 500, 750, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 8000, 9000, 10000, 11200,
    12500, 14000, 16000,
)  # fmt: skip
_USUAL_HZ: Final = (250, 500, 750, 1000, 1500, 2000, 3000, 4000, 6000, 8000)
_ALIKE: Final = 0.03
FREQUENCY_HZ_MIN, FREQUENCY_HZ_MAX = 100, 50000
# By the letters of a heading; of several columns that name people the first one counts.
SUBJECTS: Final = (
    "subject", "person", "identifier", "seqn", "id", "subjectid", "personid", "patientid",
    "listenerid", "participantid", "patient", "participant", "listener", "name",
)  # fmt: skip
_FREQUENCY: Final = (
    "frequency", "freq", "hz", "frequencyhz", "freqhz", "frequenz", "frequenzhz", "frequentie",
    "frequentiehz", "frecuencia", "frecuenciahz",
)  # fmt: skip
_ROLES: Final = {
    **dict.fromkeys(SUBJECTS, Role.SUBJECT),
    **dict.fromkeys(("session", "journal", "visit", "date"), Role.SESSION),
    **dict.fromkeys(
        ("ear", "side", "earside", "testear", "laterality", "ohr", "seite", "oor", "oído", "oido"),
        Role.EAR,
    ),
    **dict.fromkeys(("route", "conduction", "acbc", "airbone"), Role.ROUTE),
    **dict.fromkeys(_FREQUENCY, Role.FREQUENCY),
    **dict.fromkeys(("khz", "frequencykhz", "freqkhz"), Role.FREQUENCY),
    **dict.fromkeys(
        ("age", "ageyears", "alter", "alterjahre", "leeftijd", "edad", nhanes.AGE_YEARS.lower()),
        Role.AGE,
    ),
    # Not "sexo": an M below it is a man or a woman.
    **dict.fromkeys(("sex", "gender", "geschlecht", "geslacht", nhanes.SEX.lower()), Role.SEX),
    "source": Role.SOURCE,
    "mark": Role.MARK,
    "limitdbhl": Role.LIMIT,
    "levelunit": Role.UNIT,
    "verdict": Role.VERDICT,
    "thresholdconvention": Role.CONVENTION,
}
_SIDES: Final = {
    **dict.fromkeys(("right", "r", "re", "rt", "rechts", "derecho", "derecha"), RIGHT),
    **dict.fromkeys(("left", "l", "le", "lt", "links", "izquierdo", "izquierda"), LEFT),
}
_ROUTES: Final = {
    **dict.fromkeys(("air", "ac", "a"), AIR),
    **dict.fromkeys(("bone", "bc", "b"), BONE),
}
_GLUED: Final = {
    f"{one}{two}": (one, two)
    for first, second in ((("l", "r"), ("ac", "bc")), (("ac", "bc"), ("l", "r")))
    for one in first
    for two in second
}
_KILO: Final = {"k", "khz"}
_LEVELS: Final = {
    "t", "th", "thr", "thresh", "threshold", "thresholds", "level", "levels", "hl", "htl", "db",
    "dbhl", "value",
}  # fmt: skip
_FILL: Final = {"hz", "ear", "at", "f", "freq", "frequency"} | _LEVELS
_AGAIN: Final = {"retest"}
_WORDS: Final = {*_SIDES, *_ROUTES, *_KILO, *_FILL, *_AGAIN}
_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+")
_LOOKALIKES: Final = (str.maketrans({"o": "0"}), str.maketrans({"o": "0", "i": "1", "l": "1"}))
_NEAR: Final = 0.8  # so alike two words are one with a mistake in it
_NO_RESPONSE_TOO: Final = {"notheard", "unheard", "silent", "dnr", "noresp", "noanswer"}
_NEARLY: Final = ("noresponse", "frequency", "threshold")


def heading_of(text: str) -> Heading | None:
    """Return what a heading means; None: nothing that is known."""
    known = plain(text)
    compact = re.sub(r"[\W_]+", "", known.casefold())
    if found := nhanes.place_of(known.upper()):
        side, frequency_hz, again = found
        return Heading(Role.THRESHOLD, side, AIR, frequency_hz, again, known.upper())
    if role := _ROLES.get(compact):
        return Heading(role, name=role, kilo="khz" in compact)
    tokens = _tokens(known)
    if "noresponse" in compact or compact == "nr":
        rest = [t for t in tokens if t not in ("no", "response", "noresponse", "nr")]
        return _place(Heading(Role.NO_RESPONSE), rest)
    numbers = [t for t in tokens if t[0].isdecimal()]
    words = [t for t in tokens if not t[0].isdecimal()]
    for word, role in (("code", Role.CODE), ("marks", Role.MARKS), ("verdict", Role.VERDICT)):
        if word in words and {*words} & {*_SIDES} and len(numbers) == (role == Role.CODE):
            frequency_hz = float(numbers[0]) if numbers else 0.0
            rest = [w for w in words if w != word]
            return _place(Heading(role, frequency_hz=frequency_hz), rest)
    if not numbers and words and (_SIDES.keys() | _LEVELS) & {*words}:
        return _place(Heading(Role.LEVEL), words)
    if len(numbers) != 1:
        return None
    hertz = _hertz(numbers[0], kilo=bool(_KILO & {*words}))
    if hertz is None:
        return None
    return _place(Heading(Role.THRESHOLD, frequency_hz=hertz), words)


def nearly(text: str) -> str:
    """Return the heading that one may be meant for which means nothing; "": none."""
    known = plain(text)
    tokens = _tokens(known)
    numbers = [t for t in tokens if t[0].isdecimal()]
    words = [t for t in tokens if not t[0].isdecimal()]
    compact = re.sub(r"[\W_]+", "", known.casefold())
    if meant := nhanes.nearly(known.upper()) or _of_lookalike(known):
        return meant
    if numbers:
        if any(len(word) > 2 and word not in _WORDS for word in words):
            close = [w for w in words if len(w) > 3 and difflib.get_close_matches(
                w, [each for each in _WORDS if len(each) > 3], 1, _NEAR
            )]  # fmt: skip
            others = [w for w in words if len(w) > 2 and w not in _WORDS and w not in close]
            if others:
                return ""
        return _of_number(numbers, words)
    if compact in _NO_RESPONSE_TOO:
        return Role.NO_RESPONSE
    close = difflib.get_close_matches(compact, _NEARLY, 1, _NEAR)
    return "no_response" if close and close[0] == "noresponse" else close[0] if close else ""


def _of_lookalike(known: str) -> str:
    """Return the column of thresholds that is meant where an O stands for a 0."""
    for table in _LOOKALIKES:
        mistaken = heading_of(known.casefold().translate(table))
        if mistaken is not None and mistaken.frequency_hz in FREQUENCIES_HZ:
            return _name(mistaken)
    return ""


def _of_number(numbers: list[str], words: list[str]) -> str:
    """Return what a heading with numbers and short or known words may be meant for."""
    if not words and len(numbers) == 1 and "." not in numbers[0]:
        return ""  # 1, 2 ...: a counter
    for number in numbers:
        hertz = float(number.replace(",", "."))
        sure = "." in number or not {*words} - _WORDS
        kilo = (hertz * 1000.0,) if sure else ()  # q1 is a question
        for meant in (hertz, *kilo, hertz / 10.0, hertz * 10.0, float(int(hertz))):
            if meant in FREQUENCIES_HZ:
                side = next((_SIDES[w] for w in words if w in _SIDES), "")
                route = next((_ROUTES[w] for w in words if w in _ROUTES), AIR)
                return _name(Heading(Role.THRESHOLD, side, route, meant))
    return ""


def mistaken_for(frequency_hz: float, others: Collection[float]) -> float | None:
    """Return the usual frequency that one may be meant for; None: it is meant as it is.

    `others` are those beside it. A zero too much or too few, or a digit that is wrong, gives a
    frequency that nobody tests, and leaves out one that everybody does.
    """
    if frequency_hz in _USUAL_HZ or frequency_hz not in others:
        return None
    if frequency_hz > _USUAL_HZ[-1] and any(_USUAL_HZ[-1] < f != frequency_hz for f in others):
        return None
    for usual in _USUAL_HZ:
        alike = frequency_hz in (10.0 * usual, usual / 10.0) or (
            frequency_hz not in FREQUENCIES_HZ and abs(frequency_hz - usual) < _ALIKE * usual
        )
        if alike and usual not in others:
            return float(usual)
    return None


def side_of(text: str) -> tuple[str, str] | None:
    """Return the ear and the route that a cell names, such as R, left, right-bone; None: none."""
    words = _tokens(plain(text))
    rest = [w for w in words if w not in ("ear", "side")]
    if not rest or any(w not in _SIDES and w not in _ROUTES for w in rest):
        return None
    sides = {_SIDES[w] for w in rest if w in _SIDES}
    routes = {_ROUTES[w] for w in rest if w in _ROUTES}
    if len(sides) > 1 or len(routes) > 1:
        return None
    return (sides.pop() if sides else ""), (routes.pop() if routes else AIR)


def is_sound_pressure(text: str) -> bool:
    """Return whether a heading is one of levels in dB SPL."""
    return "spl" in _tokens(plain(text))


def says_hertz(text: str) -> bool:
    """Return whether a text names the unit of its frequency."""
    return "hz" in _tokens(plain(text)) or "khz" in _tokens(plain(text))


def frequency_of(text: str, *, kilo: bool = False) -> float | None:
    """Return the frequency that a cell names, in Hz; None: none."""
    tokens = _tokens(plain(text))
    numbers = [t for t in tokens if t[0].isdecimal()]
    words = {t for t in tokens if not t[0].isdecimal()}
    if len(numbers) != 1 or words - _KILO - {"hz", "t"}:
        return None
    return _hertz(numbers[0], kilo=kilo or bool(words & _KILO))


def _tokens(known: str) -> list[str]:
    separate = known.replace("dB", " db ").replace("kHz", " khz ").replace("KHz", " khz ")
    separate = re.sub(r"(?i)re[-_ ]test", "retest", separate)
    separate = re.sub(r"([a-z])([A-Z])", r"\1 \2", separate)
    tokens = _TOKEN.findall(separate.casefold())
    return [part for token in tokens for part in _GLUED.get(token, (token,))]


def _hertz(number: str, *, kilo: bool) -> float | None:
    if re.fullmatch(r"\d{1,2},\d{3}", number) and not kilo:
        number = number.replace(",", "")
    hertz = float(number.replace(",", ".")) * (1000.0 if kilo else 1.0)
    if hertz != round(hertz) or not FREQUENCY_HZ_MIN <= hertz <= FREQUENCY_HZ_MAX:
        return None
    return hertz


def _place(heading: Heading, words: list[str]) -> Heading | None:
    """Return a heading with the ear and the route that its words name; None: with other words."""
    if any(word not in _WORDS for word in words):
        return None
    sides = {_SIDES[word] for word in words if word in _SIDES}
    routes = {_ROUTES[word] for word in words if word in _ROUTES}
    if len(sides) > 1 or len(routes) > 1:
        return None
    found = replace(
        heading,
        side=sides.pop() if sides else "",
        route=routes.pop() if routes else AIR,
        again=bool(_AGAIN & {*words}),
    )
    return replace(found, name=_name(found))


def _name(heading: Heading) -> str:
    side = {RIGHT: "R", LEFT: "L", "": ""}[heading.side]
    if heading.role == Role.THRESHOLD:
        letter = "b" if heading.route == BONE else "" if side else "t"
        again = "_retest" if heading.again else ""
        return f"{side}{letter}{heading.frequency_hz:g}{again}"
    return heading.role if not heading.side else f"{heading.role}_{heading.side}"
