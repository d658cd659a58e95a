"""What a column has: its place by a name that is written down, or as its heading is guessed.

A `Place` is written ``right.500``, ``left.bone.500``, ``ucl500``, ``frequency``, ``subject`` and so
on. A heading that is such a name is known, and so are those of our exports and of NHANES. What any
other heading may be meant for is guessed, and only proposed.
"""

import difflib
import re
from enum import StrEnum
from typing import Final, NamedTuple

from device.audiogram_tables import nhanes
from device.audiogram_tables.levels import plain
from firmware_py.terms.route import AIR, BONE, LEFT, RIGHT

# Beside the routes: from which level on tones by air are uncomfortable, and no threshold.
DISCOMFORT: Final = "ucl"


class Role(StrEnum):
    """What a column has."""

    AT = "at"  # thresholds at a frequency
    THRESHOLD = "threshold"  # at the frequency of the row
    FREQUENCY = "frequency"  # one of audiometry
    HZ = "hz"
    KHZ = "khz"
    EAR = "ear"
    ROUTE = "route"
    NO_RESPONSE = "no_response"
    SUBJECT = "subject"
    SESSION = "session"
    SOURCE = "source"
    AGE = "age"
    SEX = "sex"
    MARK = "mark"  # of our exports, as those below
    LIMIT = "limit_db_hl"
    UNIT = "level_unit"
    VERDICT = "verdict"
    MARKS = "marks"
    CONVENTION = "threshold_convention"
    IGNORE = "ignore"


class Place(NamedTuple):
    """What a column has; `side` and `route` are "" where the row says them."""

    role: Role
    side: str = ""
    route: str = ""
    frequency_hz: float = 0.0
    again: bool = False  # a second reading

    @property
    def name(self) -> str:
        """Return it as it is written."""
        end = "_retest" if self.again else ""
        if self.role == Role.AT and not self.side:
            letter = {BONE: "b", DISCOMFORT: DISCOMFORT}.get(self.route, "t")
            return f"{letter}{self.frequency_hz:g}{end}"
        parts = [part for part in (self.side, self.route) if part and part != AIR]
        if self.role == Role.AT:
            return ".".join([*parts, f"{self.frequency_hz:g}{end}"])
        if self.role == Role.THRESHOLD:
            return ".".join(parts if self.side else [self.role, *parts])
        return "_".join([self.role, *parts])


FREQUENCIES_HZ: Final = (
    125, 250, 375, 500, 750, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 8000, 9000, 10000, 11200,
    12500, 14000, 16000,
)  # fmt: skip
FREQUENCY_HZ_MIN, FREQUENCY_HZ_MAX = 100, 50000
FREQUENCY_ROLES: Final = (Role.FREQUENCY, Role.HZ, Role.KHZ)
# By the letters of a heading; of several columns that name people the first one counts.
SUBJECTS: Final = (
    "subject", "person", "identifier", "seqn", "id", "subjectid", "personid", "patientid",
    "listenerid", "participantid", "patient", "participant", "listener", "name",
)  # fmt: skip
_ROLES: Final = {
    **{"".join(filter(str.isalnum, role)): role for role in Role if role != Role.AT},
    **dict.fromkeys(SUBJECTS, Role.SUBJECT),
    **dict.fromkeys(("journal", "visit", "date"), Role.SESSION),
    **dict.fromkeys(("side", "earside", "testear", "laterality"), Role.EAR),
    **dict.fromkeys(("conduction", "airbone", "acbc"), Role.ROUTE),
    **dict.fromkeys(("frequencyhz", "freqhz"), Role.HZ),
    **dict.fromkeys(("frequencykhz", "freqkhz"), Role.KHZ),
    **dict.fromkeys(("ageyears", nhanes.AGE_YEARS.lower()), Role.AGE),
    **dict.fromkeys(("gender", nhanes.SEX.lower()), Role.SEX),
    "freq": Role.FREQUENCY, "level": Role.THRESHOLD, "nr": Role.NO_RESPONSE,
    "limit": Role.LIMIT,
}  # fmt: skip
_SIDE: Final = r"(right|left|r|l)"
_AT: Final = re.compile(
    rf"(?:{_SIDE}[._-]?)?(?:(t|air|bone|b|ucl|ldl)[._]?)?(\d{{3,5}})(_hz_db_hl)?([._]retest)?"
)
_OF_EAR: Final = re.compile(r"(no_?response|verdict|marks)[ _.](right|left)(?:[-_.](bone))?")
_LEVELS: Final = re.compile(rf"(?:threshold|{_SIDE})(?:[._ -](bone|air|ucl))?")
_LETTERS: Final = {"r": RIGHT, "l": LEFT, "b": BONE, "t": "", "ldl": DISCOMFORT}

# By which people name an ear or a route; for a guess, and in cells.
SIDES: Final = {
    **dict.fromkeys((
        "right", "r", "re", "rt", "rechts", "rechtes", "derecho", "derecha", "od", "droite",
    ), RIGHT),
    **dict.fromkeys((
        "left", "l", "le", "lt", "links", "linkes", "li", "izquierdo", "izquierda", "og", "gauche",
    ), LEFT),
}  # fmt: skip
ROUTES: Final = {
    **dict.fromkeys(("air", "ac", "ll", "luft", "luftleitung"), AIR),
    **dict.fromkeys(("bone", "bc", "b", "kl", "knochen", "knochenleitung"), BONE),
    **dict.fromkeys(("ucl", "ldl"), DISCOMFORT),
}  # fmt: skip
# An ear and a route written as one word, such as rac, bcl and llre.
_JOINED: Final = {
    word: (side, route)
    for side in SIDES
    for route in ROUTES.keys() - {"b"}
    for word in (side + route, route + side)
}
# What is no threshold of one ear, and so is never taken for one.
NO_THRESHOLD: Final = frozenset((
    "lcl", "ull", "mcl", "mll", "sf", "soundfield", "field", "aided", "uncomfortable",
    "comfortable", "discomfort", "spl", "nhl", "ehl",
))  # fmt: skip
_NO_MATTER: Final = {"masked", "unmasked", "masking", "unaided", "conduction"}
_FILL: Final = frozenset((
    "hz", "khz", "k", "ear", "side", "at", "f", "freq", "frequency", "t", "th", "thr", "thresh",
    "threshold", "thresholds", "level", "levels", "hl", "htl", "db", "dbhl", "value", "retest",
    "ohr", "schwelle", "hörschwelle", "hoerschwelle",
))  # fmt: skip
_FOREIGN: Final = {
    **dict.fromkeys(("ohr", "seite", "oor", "oído", "oido"), Role.EAR),
    **dict.fromkeys(("frequenz", "frequentie", "frecuencia", "frequenzy"), Role.FREQUENCY),
    **dict.fromkeys(("alter", "alterjahre", "leeftijd", "edad"), Role.AGE),
    **dict.fromkeys(("geschlecht", "geslacht"), Role.SEX),
    **dict.fromkeys(
        ("notheard", "unheard", "silent", "dnr", "noresp", "noanswer"), Role.NO_RESPONSE
    ),
}
_NEARLY: Final = {
    "noresponse": Role.NO_RESPONSE, "frequency": Role.FREQUENCY, "threshold": Role.THRESHOLD
}  # fmt: skip
_NEAR: Final = 0.8  # so alike two words are one with a mistake in it
_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+")


def place_named(text: str, *, said: bool = False) -> Place | None:
    """Return the place that a name means; None: it is none.

    `said`: a person wrote it as a place, and no file has it as a heading. Only then it may be
    ``ignore``, a number alone, or at a frequency that is none of audiometry.
    """
    known = plain(text).casefold()
    if found := nhanes.place_of(known.upper()):
        return Place(Role.AT, found[0], "", *found[1:])
    if at := _AT.fullmatch(known):
        hertz = float(at[3])
        allowed = FREQUENCY_HZ_MIN <= hertz <= FREQUENCY_HZ_MAX if said else hertz in FREQUENCIES_HZ
        if not allowed or not (said or at[1] or at[2]):
            return None
        side, route = (_LETTERS.get(part or "", part or "") for part in (at[1], at[2]))
        return Place(Role.AT, side, route, hertz, bool(at[5]))
    if of := _OF_EAR.fullmatch(known):
        role = Role(of[1].replace("noresponse", "no_response"))
        return Place(role, of[2], of[3] or "")
    compact = "".join(filter(str.isalnum, known))
    role_of = _ROLES.get(compact) or _ROLES.get(compact.removesuffix("dbhl"))
    if role_of is not None:
        return Place(role_of) if said or role_of != Role.IGNORE else None
    if level := _LEVELS.fullmatch(re.sub(r"[\W_]*db[\W_]*hl\W*$", "", known)):
        return Place(Role.THRESHOLD, _LETTERS.get(level[1] or "", level[1] or ""), level[2] or "")
    return None


def guess(text: str) -> Place | None:
    """Return the place that a heading may be meant for; None: nothing is guessed."""
    tokens = tokens_of(text)
    numbers = [token for token in tokens if token[0].isdecimal()]
    words = {token for token in tokens if not token[0].isdecimal()}
    compact = "".join(filter(str.isalnum, plain(text).casefold()))
    if not numbers:
        role = _FOREIGN.get(compact) or _FOREIGN.get(compact.removesuffix("hz"))
        near = difflib.get_close_matches(compact, _NEARLY, 1, _NEAR)
        if role or near:
            return Place(role or _NEARLY[near[0]])
    sides = {SIDES[word] for word in words if word in SIDES}
    routes = {ROUTES[word] for word in words if word in ROUTES}
    other = words - SIDES.keys() - ROUTES.keys() - _FILL - _NO_MATTER
    if other or len(sides) > 1 or len(routes) > 1 or len(numbers) > 1 or not words | {*numbers}:
        return None
    side, route = "".join(sides), "".join(routes)
    if not numbers:
        is_level = len(compact) > 1 and route != DISCOMFORT
        return Place(Role.THRESHOLD, side, route) if is_level else None
    hertz = _hertz(numbers[0], kilo="k" in words or "khz" in words)
    if hertz is None and (words or "." in numbers[0]):
        hertz = _hertz(numbers[0], kilo=True)
        hertz = hertz if hertz in FREQUENCIES_HZ else None
    route = "" if route == AIR else route
    return None if hertz is None else Place(Role.AT, side, route, hertz, "retest" in words)


def hertz_in(text: str) -> float | None:
    """Return the frequency of the one number that a text has; None: it has none, or others too."""
    tokens = tokens_of(text)
    numbers = [token for token in tokens if token[0].isdecimal()]
    return _hertz(numbers[0], kilo=bool({*tokens} & {"k", "khz"})) if len(numbers) == 1 else None


def says_what(text: str) -> bool:
    """Return whether a text has a word that says what a number is: AC, UCL, aided, masked."""
    return bool({*tokens_of(text)} & (NO_THRESHOLD | _NO_MATTER | {*ROUTES} - {"b"}))


def is_what(text: str) -> bool:
    """Return whether a text says what a number is, and nothing else."""
    return says_what(text) and {*tokens_of(text)} <= NO_THRESHOLD | _NO_MATTER | {*ROUTES, "sound"}


def is_of_no_matter(text: str) -> bool:
    """Return whether a text says of a number what makes it no other one: masked."""
    return {*tokens_of(text)} <= _NO_MATTER


def side_of(text: str) -> tuple[str, str] | None:
    """Return the ear and the route that a cell names, such as R, left, right-bone; None: none.

    The route is "" where it names none.
    """
    words = {*tokens_of(text)} - {"ear", "side", "ohr"} - _NO_MATTER
    if not words or not words <= SIDES.keys() | ROUTES.keys():
        return None
    sides = {SIDES[word] for word in words if word in SIDES}
    routes = {ROUTES[word] for word in words if word in ROUTES}
    return None if len(sides) > 1 or len(routes) > 1 else ("".join(sides), "".join(routes))


def frequency_of(text: str, role: Role) -> float | None:
    """Return the frequency that a cell of a column of this role names, in Hz; None: none."""
    tokens = tokens_of(text)
    words = {token for token in tokens if not token[0].isdecimal()}
    if plain(text).lstrip().startswith("-"):  # a sign, of which tokens have none
        return None
    if len(tokens) - len(words) != 1 or words - {"k", "khz", "hz", "t"}:
        return None
    number = next(token for token in tokens if token[0].isdecimal())
    hertz = _hertz(number, kilo=role == Role.KHZ or bool(words & {"k", "khz"}))
    with_unit = role != Role.FREQUENCY or words - {"t"}
    return hertz if with_unit or hertz in FREQUENCIES_HZ else None


def tokens_of(text: str) -> list[str]:
    """Return the numbers and the words of a text."""
    separate = plain(text).replace("dB", " db ").replace("kHz", " khz ").replace("KHz", " khz ")
    separate = re.sub(r"(?i)re[-_ ]test", "retest", separate)
    separate = re.sub(r"([a-z])([A-Z])", r"\1 \2", separate)
    return [
        part
        for token in _TOKEN.findall(separate.casefold())
        for part in _JOINED.get(token, (token,))
    ]


def _hertz(number: str, *, kilo: bool) -> float | None:
    if re.fullmatch(r"\d{1,2},\d{3}", number) and not kilo:
        number = number.replace(",", "")
    hertz = float(number.replace(",", ".")) * (1000.0 if kilo else 1.0)
    whole = hertz == round(hertz) and FREQUENCY_HZ_MIN <= hertz <= FREQUENCY_HZ_MAX
    return hertz if whole else None
