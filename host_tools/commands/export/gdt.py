"""GDT 2.1: a record 6310 for each session of one person, and the answer to an order 6302.

A threshold that was measured is a test of its own (8410), with number and unit. What no number may
say stands in words, in English as in every form of an export. Names are of the order: they go from
its file into the answer, and into nothing else.
"""

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final, Self

from device.audiogram_tables.gdt import (
    CONDUCTIONS,
    CONVENTION,
    ENCODING_FIELD,
    FILE_BYTES_MAX,
    ORDER,
    RECORD,
    RESULT,
    SEXES,
    VERSION,
    GdtError,
    GdtRecord,
    name_of_test,
    records_of,
)
from firmware_py.console.wording import verdict_words
from firmware_py.platform.clock import was_clock_set
from firmware_py.platform.named_file import content_of
from firmware_py.sessions.identity import Identity, Meeting, birth_year, differences
from firmware_py.terms.outcomes import Outcome
from firmware_py.terms.person import Person
from firmware_py.terms.printable import show
from firmware_py.terms.settings import SettingError
from firmware_py.terms.shown_threshold import Kind
from firmware_py.terms.verdicts import has_thresholds, may_conclude
from firmware_py.terms.words import say
from host_tools.commands.export.cells import about, with_what
from host_tools.commands.export.csv_table import BEYOND_SIGNS, POINTS
from host_tools.commands.export.document_session import (
    DocumentEar,
    DocumentSession,
    JsonObject,
    marks_of,
    measured_db_hl,
    open_ends,
)
from host_tools.commands.export.gaps import gap_note, loss_notes
from host_tools.errors import HostError

Field = tuple[str, str]
NOBODY: Final = "SIMULATED: no person was tested"

US: Final = "GP-PTA"
# "Reinton-Schwellen-Audiogramm" of the public list of field 8402.
PROCEDURE: Final = "AUDI01"
LATIN_1: Final = "3"
TEXT_CHARACTERS_MAX: Final = 60
NUMBER_CHARACTERS_MAX: Final = 10
# Of an order, what the answer brings back: who the person is, and the case.
CARRIED: Final = (
    "3000", "3100", "3101", "3102", "3103", "3104", "3105", "3106", "3107", "3110", "8310",
)  # fmt: skip
ORDERED: Final = (RECORD, "8315", "8316", *CARRIED, "8402")
SIDES: Final = {"right": "rechts", "left": "links"}
WAYS: Final = {"LL": "Luftleitung", "KL": "Knochenleitung"}
_level: Final = POINTS.level  # to a tenth, and nothing of none


@dataclass(frozen=True)
class Order:
    """What a practice system asks for: a test of this person."""

    path: Path
    record: GdtRecord
    person: Person
    born: date | None

    @classmethod
    def read(cls, path: Path, today: date) -> Self:
        """Read a file with one order; `HostError` if it is none, or of nobody who can be tested."""
        try:
            records = records_of(content_of(path, FILE_BYTES_MAX))
            if len(records) > 1:
                raise GdtError(f"it has {len(records)} records; allowed is one order")
            return cls(path, records[0], *_person_of(records[0], today))
        except OSError as error:
            raise HostError(f"{path}: cannot be read: {error.strerror or error}") from None
        except GdtError as error:
            raise HostError(f"{path}: is no order of GDT 2.1: {error}") from None

    def on_the_page(self) -> dict[str, Any]:
        """Return the person by the fields of the operator's page, which keeps the name."""
        parts = (self.record.one(number).strip() for number in ("3102", "3101"))
        return {
            "identifier": self.person.identifier,
            "birth_year": self.born.year if self.born else "",
            "sex": self.person.sex or "",
            "name": " ".join(filter(None, parts)),
        }

    def check_is_of(self, session: DocumentSession) -> None:
        """Refuse to answer with the test of somebody else, or of nobody knows whom."""
        whose = _whose(session)
        asked = self.person.identifier
        told = "has no identifier" if whose.identifier is None else ""
        if whose.identifier not in (None, asked):
            told = f"is of {show(whose.identifier)}"
        born_year = birth_year(0.0, self.born.isoformat()) if self.born else None
        ordered = Identity(asked, self.person.sex, born_year)
        if told := told or _contradiction(ordered, whose):
            raise HostError(
                f"{self.path}: asks for patient {show(asked)}, and session "
                f"{session.record['session']} {told}; allowed is a session of the same person"
            )


def _whose(session: DocumentSession) -> Identity:
    person, started = session.record["person"], session.record["started"]
    age_years = person["age_years"] if was_clock_set(started) else None
    return Identity(person["identifier"], person["sex"], birth_year(age_years, started))


def _contradiction(one: Identity, other: Identity) -> str:
    """Say why two of one identifier cannot be one person; "": they can."""
    found = differences(Meeting.VISITS, one, other)
    return f"cannot be theirs: {'; '.join(each.words for each in found)}" if found else ""


def _person_of(record: GdtRecord, today: date) -> tuple[Person, date | None]:
    for each in ORDERED:
        record.one(each)  # twice, and another one, is refused before anybody is tested
    kind = record.one(RECORD)
    if kind != ORDER:
        raise GdtError(f"{RECORD} is {show(kind)}; allowed is {ORDER}, a new examination")
    number, sex, birth = (record.one(each).strip() for each in ("3000", "3110", "3103"))
    if not number:
        raise GdtError("3000, the patient's number, is missing")
    if sex and sex not in SEXES:
        raise GdtError(f"3110 is {show(sex)}; allowed are 1 (male), 2 (female), and none")
    born = _day(birth, today) if birth else None
    for field, told in (("3103", (_age_years(born, today),)), ("3000", (None, None, number))):
        try:
            Person.enter(*told)
        except SettingError as error:
            raise GdtError(f"{field} is {show(record.one(field))}: {error}") from None
    return Person.enter(_age_years(born, today), SEXES.get(sex), number), born


def _age_years(born: date | None, today: date) -> float | None:
    if born is None:
        return None
    is_to_come = (today.month, today.day) < (born.month, born.day)
    return float(today.year - born.year - is_to_come)


def _day(text: str, today: date) -> date:
    try:
        day = datetime.strptime(text, "%d%m%Y").date()
    except ValueError:
        day = date.max
    if not (len(text) == 8 and day <= today):
        raise GdtError(f"3103 is {show(text)}; allowed is a day of birth such as 24121950")
    return day


def as_gdt(sessions: Iterable[DocumentSession], order: Order | None = None) -> Iterator[bytes]:
    """Yield the records of one person; `HostError`, before anything, if they are of several."""
    found: list[bytes] = []
    first: DocumentSession | None = None
    for session in sessions:
        if order is not None:
            order.check_is_of(session)
        _check_is_of_one(first or session, session)
        first = first or session
        fields = [*_head(session, order), *_body(session)]
        encoding = LATIN_1 if order is None else order.record.encoding
        found.append(GdtRecord(tuple(fields), encoding).to_bytes())
    yield from found


def _check_is_of_one(first: DocumentSession, session: DocumentSession) -> None:
    """Refuse another person than the first; without an identifier anybody may be another."""
    if session is first:
        return
    one, other = _whose(first), _whose(session)
    told = _contradiction(one, other)
    if one.identifier != other.identifier or one.identifier is None or told:
        both = ", ".join(
            f"{'nobody named' if whose.identifier is None else show(whose.identifier)} "
            f"(session {each.record['session']})"
            for whose, each in ((one, first), (other, session))
        )
        why = f", which {told}" if told and one.identifier == other.identifier else ""
        raise HostError(
            f"the sessions may be of several people: {both}{why}; GDT has one in a file"
        )


def _head(session: DocumentSession, order: Order | None) -> Iterator[Field]:
    record = session.record
    yield RECORD, RESULT
    if order is not None and order.record.one("8316"):
        yield "8315", order.record.one("8316")
    yield "8316", (order.record.one("8315") if order else "") or US
    yield ENCODING_FIELD, LATIN_1 if order is None else order.record.encoding
    yield "9218", VERSION
    if order is not None:
        yield from ((n, order.record.one(n)) for n in CARRIED if order.record.one(n))
    else:
        yield from _person(record["person"])
    yield "8402", (order.record.one("8402") if order else "") or PROCEDURE
    if was_clock_set(record["started"]):
        started = datetime.fromisoformat(record["started"])
        yield "6200", f"{started:%d%m%Y}"
        yield "6201", f"{started:%H%M%S}"


def _person(person: JsonObject) -> Iterator[Field]:
    """Yield the patient's number, as far as an identifier can be one, and the sex."""
    identifier = person["identifier"]
    if identifier is None:
        yield "6227", "no patient number: the test has no identifier"
    elif len(identifier) > NUMBER_CHARACTERS_MAX or not _is_latin_1(identifier):
        yield from _texts(f"no patient number of GDT: the identifier is {identifier}", "6227")
    else:
        yield "3000", identifier
    yield from (("3110", code) for code, sex in SEXES.items() if sex == person["sex"])


def _is_latin_1(text: str) -> bool:
    return all(ord(sign) < 256 for sign in text)


def _body(session: DocumentSession) -> Iterator[Field]:
    told = {**about(session), **with_what(session)}
    del told["identifier"]
    lines = [
        f"{name}: {'; '.join(value) if isinstance(value, list) else value}"
        for name, value in told.items()
        if value not in (None, "", [])
    ]
    lines.append(f"calibration: {session.record['calibration']['words']}")
    for ear in session.ears:
        lines.append(f"{ear.route.words}: {verdict_words(ear)}")
        if has_thresholds(ear):
            lines += [ear.record["convention"], *_unasked(session, ear)]
    lines += loss_notes(session.gaps)
    if session.record["simulated"]:
        yield "6228", NOBODY
    yield "6228", f"{CONVENTION}{session.record['threshold_convention']}"
    for line in lines:
        yield from _texts(line, "6228")
    for ear in filter(has_thresholds, session.ears):
        for found in ear.thresholds:
            if found["mark"] != Outcome.INFERRED:
                yield from _test(session, ear, found)


def _unasked(session: DocumentSession, ear: DocumentEar) -> Iterator[str]:
    """Yield what was inferred, which stands in no place of a threshold."""
    for found in ear.thresholds:
        reading = found["reading"]
        if reading["kind"] == Kind.INFERRED:
            yield (
                f"{found['frequency_hz']} Hz {ear.route}: inferred, not measured, "
                f"{_level(reading['level_db_hl'])} {session.unit} ({_band(found)})"
            )


def _test(session: DocumentSession, ear: DocumentEar, found: JsonObject) -> Iterator[Field]:
    reading, (side, transducer) = found["reading"], (ear.route.ear, ear.route.transducer)
    way = WAYS[CONDUCTIONS[transducer]]
    yield "8410", name_of_test(side, transducer, found["frequency_hz"])
    yield "8411", f"{way} {SIDES[side]} {found['frequency_hz']} Hz"
    level_db_hl = measured_db_hl(found)
    if level_db_hl is not None:
        yield "8420", _level(level_db_hl)
        yield "8421", session.unit
    elif reading["kind"] in BEYOND_SIGNS:
        yield "8480", f"{BEYOND_SIGNS[reading['kind']]}{reading['level_db_hl']:g} {session.unit}"
    else:
        yield "8480", found["mark"]
    for note in _notes(session, ear, found):
        yield from _texts(note, "8470")


def _notes(session: DocumentSession, ear: DocumentEar, found: JsonObject) -> Iterator[str]:
    if not may_conclude(ear):
        yield verdict_words(ear)
    yield from marks_of(found)
    reading = found["reading"]
    if reading["kind"] == Kind.PERHAPS_ABOVE:
        yield f"perhaps beyond the limit of {found['limit_db_hl']:g} {session.unit}"
    if reading["kind"] in (Kind.PERHAPS_ABOVE, Kind.UNKNOWN) and ear.why:
        yield say(ear.why)
    if reading["low_db_hl"] is not None:
        yield f"95 % {_band(found)} {session.unit}"
    for again in ear.confirmed:
        if again["frequency_hz"] == found["frequency_hz"]:
            level = again["threshold_db_hl"]
            told = again["mark"] if level is None else f"{_level(level)} {session.unit}"
            yield f"confirmed by the Hughson-Westlake procedure: {told}"
    gap = session.gap_at(ear.route.ear, found["frequency_hz"]) if ear.route.by_bone else None
    if gap is not None:
        yield gap_note(gap)


def _band(found: JsonObject) -> str:
    """Return such as "28.0 to >=41.0, whole 25.1 to >=43.9"."""
    reading, is_open = found["reading"], open_ends(found)

    def told(low: str, high: str) -> str:
        signs = "<=" * is_open[low], ">=" * is_open[high]
        return f"{signs[0]}{_level(reading[low])} to {signs[1]}{_level(reading[high])}"

    answers = told("low_db_hl", "high_db_hl")
    if reading.get("whole_low_db_hl") is None:
        return answers
    return f"{answers}, whole {told('whole_low_db_hl', 'whole_high_db_hl')}"


def _texts(text: str, field: str) -> Iterator[Field]:
    """Yield a text in lines as long as one may be."""
    yield from ((field, line) for line in textwrap.wrap(text, TEXT_CHARACTERS_MAX))
