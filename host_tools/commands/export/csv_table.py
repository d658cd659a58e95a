"""CSV with a session a row: in terms of the field, or with the variables and codes of NHANES."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from device.audiogram_tables import nhanes
from device.simulator.listener import EARS
from firmware_py.terms.route import BY_AIR, BY_BONE, ROUTES, Route
from firmware_py.terms.shown_threshold import Kind
from firmware_py.terms.words import say
from host_tools.commands.export.cells import (
    ABOUT,
    WITH_WHAT,
    Spelling,
    about,
    file_of,
    guard,
    with_what,
)
from host_tools.commands.export.document_session import (
    DocumentEar,
    DocumentSession,
    JsonObject,
    Sessions,
    known_db_hl,
    marks_of,
    measured_db_hl,
)
from host_tools.commands.export.gaps import gaps_cell, loss_words

OF_EAR: Final = (
    "outcome", "marks", "bands", "inferred", "confirmed", "tones", "retest_difference_db",
)  # fmt: skip
# Of an ear with tests by air and by bone.
OF_GAPS: Final = ("air_bone_gap_db", "loss")


def level_column(ear: str, frequency_hz: int) -> str:
    """Return the name of the column that has the threshold, and numbers only."""
    return f"{ear}_{frequency_hz}_hz_db_hl"


def code_column(ear: str, frequency_hz: int) -> str:
    """Return the name of the column that says in a word what the number, or its absence, is."""
    return f"{ear}_{frequency_hz}_hz_code"


# How a limit lies to the threshold.
BEYOND_SIGNS: Final = {Kind.ABOVE: ">", Kind.AT_MOST: "<="}
POINTS: Final = Spelling()


def as_csv(sessions: Sessions, spelling: Spelling = POINTS) -> Iterator[bytes]:
    """Yield a row for each session, thresholds to a tenth of a dB, and what they are in words."""
    rows = (
        {**_of_person(each, spelling), **_of_levels(each, spelling), **_rest(each, spelling)}
        for each in sessions
    )
    routes = _routes_with(sessions.routes)
    places = [(str(route), f) for route in routes for f in route.kind.any_hz]
    columns = [
        *ABOUT,
        "age_years",
        "sex",
        *(level_column(*place) for place in places),
        *(code_column(*place) for place in places),
        *_rest_columns(routes),
    ]
    return file_of(columns, rows, spelling)


def as_nhanes_csv(sessions: Sessions, spelling: Spelling = POINTS) -> Iterator[bytes]:
    """Yield a row for each session as NHANES writes it: codes stand among the levels."""
    rows = ({**_as_nhanes(each, spelling), **_rest(each, spelling)} for each in sessions)
    columns = [
        *ABOUT,
        nhanes.AGE_YEARS,
        nhanes.SEX,
        *(nhanes.variable(ear, f) for ear in EARS for f in BY_AIR.frequencies_hz),
        *_rest_columns(_routes_with(sessions.routes)),
    ]
    return file_of(columns, rows, spelling)


def _routes_with(tested: Collection[Route]) -> list[Route]:
    """Return both ears by air, and what else was tested in one of the sessions."""
    return [route for route in ROUTES if route.kind is BY_AIR or route in tested]


def _rest_columns(routes: Sequence[Route]) -> list[str]:
    by_bone = [route.ear for route in routes if route.kind is BY_BONE]
    return [
        *(f"{name}_{route}" for route in routes for name in OF_EAR),
        "conduct",
        "verdict",
        *(f"{name}_{route}" for route in routes for name in ("verdict", "reasons")),
        *WITH_WHAT,
        *(f"boards_{route}" for route in routes),
        "threshold_convention",
        *(f"clinical_offset_db_{route}" for route in routes),
        *(f"{name}_{ear}" for ear in by_bone for name in OF_GAPS),
        *(["vibrator"] if by_bone else []),
    ]


def _of_person(session: DocumentSession, spelling: Spelling) -> dict[str, str]:
    person = session.record["person"]
    return {
        "age_years": spelling.level(person["age_years"]),
        "sex": spelling.cell(person["sex"]),
    }


def _of_levels(session: DocumentSession, spelling: Spelling) -> dict[str, str]:
    """Return what was measured, and of every frequency which mark it has."""
    row = {}
    for ear in session.ears:
        for found in ear.thresholds:
            place = str(ear.route), found["frequency_hz"]
            row[level_column(*place)] = spelling.level(measured_db_hl(found))
            row[code_column(*place)] = found["mark"]
    return row


def _as_nhanes(session: DocumentSession, spelling: Spelling) -> dict[str, Any]:
    person = session.record["person"]
    row = {
        nhanes.AGE_YEARS: spelling.level(person["age_years"]),
        nhanes.SEX: nhanes.SEXES[person["sex"]] if person["sex"] else "",
    }
    for ear in (ear for ear in session.ears if ear.route.kind is BY_AIR):
        for found in ear.thresholds:
            name = nhanes.variable(ear.route.ear, found["frequency_hz"])
            row[name] = _nhanes_cell(found, spelling)
    return row


def _nhanes_cell(found: JsonObject, spelling: Spelling) -> str:
    """Return a level, or the code of NHANES; hearing at the floor has the floor, as there.

    What was not asked is as blank as in an ear that was not tested.
    """
    kind = found["reading"]["kind"]
    if kind == Kind.INFERRED:
        return ""
    if kind == Kind.ABOVE:
        return str(nhanes.NO_RESPONSE)
    level_db_hl = known_db_hl(found)
    return str(nhanes.COULD_NOT_OBTAIN) if level_db_hl is None else spelling.number(level_db_hl)


def _rest(session: DocumentSession, spelling: Spelling) -> dict[str, Any]:
    record = {**about(session), **with_what(session)}
    row: dict[str, Any] = {name: spelling.cell(value) for name, value in record.items()}
    row["conduct"] = session.record["settings"]["conduct"]
    row["verdict"] = session.record["verdict"]
    row["threshold_convention"] = session.record["threshold_convention"]
    for ear in session.ears:
        row |= {f"{name}_{ear.route}": value for name, value in _of_ear(ear, spelling).items()}
    if any(ear.route.by_bone for ear in session.ears):
        row["vibrator"] = spelling.cell(session.record["calibration"]["vibrator"])
    for gaps in session.gaps:
        row[f"loss_{gaps['ear']}"] = loss_words(gaps)
        row[f"air_bone_gap_db_{gaps['ear']}"] = gaps_cell(gaps, spelling)
    return row


def _of_ear(ear: DocumentEar, spelling: Spelling) -> dict[str, Any]:
    return {
        "outcome": ear.record["outcome"],
        "marks": _marks(ear.thresholds, spelling),
        "bands": _band_words(ear.thresholds, spelling),
        "inferred": _inferred_words(ear.thresholds, spelling),
        "confirmed": _confirmed_words(ear.confirmed, spelling),
        "tones": ear.record["tones"],
        "retest_difference_db": spelling.level(ear.record["retest_difference_db"]),
        "verdict": ear.verdict,
        "reasons": guard(say(ear.reasons)),
        "boards": guard("; ".join(ear.record["boards"])),
        "clinical_offset_db": spelling.level(ear.record["clinical_offset_db"]),
    }


def _marks(thresholds: Iterable[JsonObject], spelling: Spelling) -> str:
    """Return such as "4000 incomplete 100; 6000 no-response >100", the limits in dB HL."""
    record = []
    for found in thresholds:
        words = marks_of(found)
        if words and found["limit_db_hl"] is not None:
            limit = spelling.number(found["limit_db_hl"], "g")
            words[0] += f" {BEYOND_SIGNS.get(found['reading']['kind'], '')}{limit}"
        if words:
            record.append(f"{found['frequency_hz']} {', '.join(words)}")
    return "; ".join(record)


def _inferred_words(thresholds: Iterable[JsonObject], spelling: Spelling) -> str:
    """Return such as "750 34.5 (28.0 to 41.0, whole 25.1 to 43.9)": what was not asked."""
    level = spelling.level
    return "; ".join(
        f"{found['frequency_hz']} {level(reading['level_db_hl'])} ({_bands(reading, spelling)})"
        for found, reading in ((each, each["reading"]) for each in thresholds)
        if reading["kind"] == Kind.INFERRED
    )


def _band_words(thresholds: Iterable[JsonObject], spelling: Spelling) -> str:
    """Return such as "1000 28.0 to 41.0, whole 25.1 to 43.9, fit": the largest part at its end."""
    return "; ".join(
        f"{found['frequency_hz']} {_bands(reading, spelling)}"
        + (f", {reading['largest_part']}" if reading.get("largest_part") else "")
        for found, reading in ((each, each["reading"]) for each in thresholds)
        if reading["kind"] == Kind.MEASURED and reading["low_db_hl"] is not None
    )


def _bands(reading: JsonObject, spelling: Spelling) -> str:
    """Return the 95 % band of the answers, and that of the whole, if it is known."""
    told = [f"{spelling.level(reading['low_db_hl'])} to {spelling.level(reading['high_db_hl'])}"]
    ends = [reading.get(f"whole_{end}_db_hl") for end in ("low", "high")]
    told += [f"whole {' to '.join(map(spelling.level, ends))}"] if None not in ends else []
    return ", ".join(told)


def _confirmed_words(confirmed: Iterable[JsonObject], spelling: Spelling) -> str:
    """Return such as "1000 30; 4000 no-response": the classical thresholds in dB HL."""
    record = ((each["frequency_hz"], each["threshold_db_hl"], each["mark"]) for each in confirmed)
    return "; ".join(
        f"{frequency_hz} {mark if level is None else spelling.number(level, 'g')}"
        for frequency_hz, level, mark in record
    )
