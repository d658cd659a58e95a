"""Tables: CSV with the variables of NHANES, a session a row; Parquet, a threshold a row."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from device.simulator import nhanes
from device.simulator.listener import EARS
from firmware_py.procedure.reading import Kind, read, threshold_as_json
from firmware_py.procedure.results import ConfirmedThreshold, EarResult, ThresholdResult
from firmware_py.procedure.settings import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.procedure.words import say
from host_tools.commands.export.examination import Examination, marks_of

if TYPE_CHECKING:
    import pyarrow as pa

ABOUT: Final = ("journal", "session", "started", "firmware", "outcome", "calibration", "identifier")
WITH_WHAT: Final = ("device", "transducer", "calibration_digest", "broken_off", "waited")
OF_EAR: Final = ("outcome", "marks", "inferred", "confirmed", "tones", "retest_difference_db")
COLUMNS: Final = (
    *ABOUT,
    nhanes.AGE_YEARS,
    nhanes.SEX,
    *(nhanes.variable(ear, f) for ear in EARS for f in AUDIOGRAM_FREQUENCIES_HZ),
    *(f"{name}_{ear}" for ear in EARS for name in OF_EAR),
    "conduct",
    "verdict",
    *(f"{name}_{ear}" for ear in EARS for name in ("verdict", "reasons")),
    *WITH_WHAT,
    *(f"boards_{ear}" for ear in EARS),
)
# A spreadsheet runs a cell that begins with such a sign, and takes one that begins with an
# apostrophe for a text. Where a cell begins depends on what separates lists there, a semicolon in
# many countries, and on how it reads quotes; but nobody's separator is a letter, a digit or a sign.
MAY_RUN: Final = re.compile(r"(?<![\w=+@-])(?=[=+@-])")
TEXT_SIGN: Final = "'"
# How a limit lies to the threshold.
BEYOND_SIGNS: Final = {Kind.ABOVE: ">", Kind.AT_MOST: "<="}


def as_csv(examinations: Sequence[Examination]) -> bytes:
    """Return a row for each session, thresholds to a tenth of a dB; lines end as in RFC 4180."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="")
    writer.writeheader()
    writer.writerows(_row(examination) for examination in examinations)
    return text.getvalue().encode()


def as_parquet(examinations: Sequence[Examination]) -> bytes:
    """Return a row for each threshold, at full precision."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [row for examination in examinations for row in _long_rows(examination)]
    table = pa.Table.from_pylist(rows, schema=_long_schema())
    content = pa.BufferOutputStream()
    pq.write_table(table, content, compression="zstd", write_page_checksum=True)
    return bytes(content.getvalue())


def _row(examination: Examination) -> dict[str, Any]:
    person = examination.header.person
    row = {
        **_about(examination),
        nhanes.AGE_YEARS: person.age_years,
        nhanes.SEX: nhanes.SEXES[person.sex] if person.sex else "",
        "conduct": examination.header.settings.conduct,
        "verdict": examination.result.verdict,
    }
    row |= {
        name: "; ".join(told) if isinstance(told, list) else told
        for name, told in _with_what(examination).items()
    }
    for name in (*ABOUT, *WITH_WHAT):
        row[name] = _text(row[name])
    for name in EARS:
        ear = examination.result.by_ear.get(name)
        if ear is None:
            continue
        for found in ear.thresholds:
            row[nhanes.variable(name, found.frequency_hz)] = _cell(found)
        retest_db = ear.retest_difference_db
        told = {
            "outcome": ear.outcome,
            "marks": _marks(ear.thresholds),
            "inferred": _inferred(ear.thresholds),
            "confirmed": _confirmed(ear.confirmed),
            "tones": ear.tones,
            "retest_difference_db": "" if retest_db is None else f"{retest_db:.1f}",
        }
        row |= {f"{column}_{name}": told[column] for column in OF_EAR}
        row[f"verdict_{name}"] = ear.verdict
        row[f"reasons_{name}"] = _text(say(ear.reasons))
        row[f"boards_{name}"] = _text("; ".join(ear.boards))
    return row


def _text(cell: Any) -> Any:
    """Return a cell that somebody may have written so that no spreadsheet runs any of it."""
    return MAY_RUN.sub(TEXT_SIGN, cell) if isinstance(cell, str) else cell


def _about(examination: Examination) -> dict[str, Any]:
    header = examination.header
    return {
        "journal": examination.journal,
        "session": header.session,
        "started": header.started,
        "firmware": header.firmware,
        "outcome": examination.outcome,
        "calibration": examination.calibration.state,
        "identifier": header.person.identifier,
    }


def _with_what(examination: Examination) -> dict[str, Any]:
    """Return which device it was, and with what, and where it was broken off."""
    identity, course = examination.identity, examination.course
    breaks = [f"{each.left or '?'} to {each.resumed}" for each in course.breaks]
    waits = [f"{each.at} {say(each.why)}" for each in course.waits]
    told = (identity.device, identity.transducer, identity.calibration or None, breaks, waits)
    return dict(zip(WITH_WHAT, told, strict=True))


def _cell(found: ThresholdResult) -> str:
    """Return a level, or the code of NHANES; hearing at the floor has the floor, as there.

    What was not asked is as blank as in an ear that was not tested.
    """
    reading = read(found)
    if reading.kind == Kind.INFERRED:
        return ""
    if reading.kind == Kind.ABOVE:
        return str(nhanes.NO_RESPONSE)
    level_db_hl = reading.known_db_hl
    return str(nhanes.COULD_NOT_OBTAIN) if level_db_hl is None else f"{level_db_hl:.1f}"


def _marks(thresholds: Iterable[ThresholdResult]) -> str:
    """Return such as "4000 incomplete 100; 6000 no-response >100", the limits in dB HL."""
    told = []
    for found in thresholds:
        words = marks_of(found)
        if words and found.limit_db_hl is not None:
            words[0] += f" {BEYOND_SIGNS.get(read(found).kind, '')}{found.limit_db_hl:g}"
        if words:
            told.append(f"{found.frequency_hz} {', '.join(words)}")
    return "; ".join(told)


def _inferred(thresholds: Iterable[ThresholdResult]) -> str:
    """Return such as "750 34.5 (28.0 to 41.0)": what was not asked, with its 95 % band."""
    return "; ".join(
        f"{t.frequency_hz} {reading.inferred_db_hl:.1f} "
        f"({reading.low_db_hl:.1f} to {reading.high_db_hl:.1f})"
        for t, reading in ((t, read(t)) for t in thresholds)
        if reading.kind == Kind.INFERRED
    )


def _confirmed(confirmed: Iterable[ConfirmedThreshold]) -> str:
    """Return such as "1000 30; 4000 no-response": the classical thresholds in dB HL."""
    return "; ".join(
        f"{c.frequency_hz} {c.mark if c.threshold_db_hl is None else f'{c.threshold_db_hl:g}'}"
        for c in confirmed
    )


def _long_rows(examination: Examination) -> Iterable[dict[str, Any]]:
    person = examination.header.person
    about = {
        **_about(examination),
        **_with_what(examination),
        "age_years": person.age_years,
        "sex": person.sex,
        "calibration_words": examination.calibration.headline,
    }
    for ear in examination.result.ears:
        mean = ear.pta4
        of_ear = {
            "ear": ear.ear,
            "ear_outcome": ear.outcome,
            "verdict": str(ear.verdict),
            "reasons": list(map(say, ear.reasons)),
            "boards": list(ear.boards),
            "tones": ear.tones,
            "pta4_db_hl": mean and mean.level_db_hl,
            "pta4_low_db_hl": mean and mean.low_db_hl,
            "pta4_high_db_hl": mean and mean.high_db_hl,
            "pta4_bound": mean and str(mean.bound),
            "pta4_inferred_hz": list(mean.inferred_hz) if mean else None,
        }
        for found in ear.thresholds:
            yield {**about, **of_ear, **_long_threshold(found, ear), "marks": marks_of(found)}


def _long_threshold(found: ThresholdResult, ear: EarResult) -> dict[str, Any]:
    told = threshold_as_json(found)
    numbers = told.pop("inferred") or {}
    reading = told.pop("reading")
    told |= {name: reading[name] for name in ("low_open", "high_open")}
    inferred = {f"inferred_{name}": number for name, number in numbers.items()}
    again = next((c for c in ear.confirmed if c.frequency_hz == found.frequency_hz), None)
    classical = {}
    if again is not None:
        classical = {"confirmed_db_hl": again.threshold_db_hl, "confirmed_mark": str(again.mark)}
    return {**told, **inferred, **classical}


def _long_schema() -> "pa.Schema":
    import pyarrow as pa

    text, number = pa.string(), pa.float64()
    types = {
        "journal": text, "session": pa.int64(), "started": text, "firmware": text,
        "outcome": text, "calibration": text, "calibration_words": text, "identifier": text,
        "age_years": number, "sex": text, "ear": text, "ear_outcome": text, "tones": pa.int32(),
        "pta4_db_hl": number, "pta4_low_db_hl": number, "pta4_high_db_hl": number,
        "pta4_bound": text, "pta4_inferred_hz": pa.list_(pa.int32()),
        "frequency_hz": pa.int32(), "mark": text,
        "marks": pa.list_(text), "threshold_db_hl": number, "sd_db": number,
        "low_db_hl": number, "high_db_hl": number, "limit_db_hl": number,
        "low_open": pa.bool_(), "high_open": pa.bool_(),
        "inferred_db_hl": number, "inferred_sd_db": number,
        "inferred_low_db_hl": number, "inferred_high_db_hl": number,
        "confirmed_db_hl": number, "confirmed_mark": text,
        "verdict": text, "reasons": pa.list_(text),
        "device": text, "transducer": text, "calibration_digest": text,
        "broken_off": pa.list_(text), "waited": pa.list_(text), "boards": pa.list_(text),
    }  # fmt: skip
    return pa.schema(types.items())
