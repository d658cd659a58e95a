"""Tables: CSV with the variables of NHANES, a session a row; Parquet, a threshold a row."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from device.simulator import nhanes
from device.simulator.listener import EARS
from firmware_py.procedure.outcomes import Outcome
from firmware_py.procedure.results import ThresholdResult
from firmware_py.procedure.settings import AUDIOGRAM_FREQUENCIES_HZ
from host_tools.commands.export.examination import Examination, marks_of
from host_tools.pta4 import pta4_of

if TYPE_CHECKING:
    import pyarrow as pa

ABOUT: Final = ("journal", "session", "started", "firmware", "outcome", "calibration", "identifier")
OF_EAR: Final = ("outcome", "marks", "tones", "retest_difference_db")
COLUMNS: Final = (
    *ABOUT,
    nhanes.AGE_YEARS,
    nhanes.SEX,
    *(nhanes.variable(ear, f) for ear in EARS for f in AUDIOGRAM_FREQUENCIES_HZ),
    *(f"{name}_{ear}" for ear in EARS for name in OF_EAR),
)
# How a limit lies to the threshold.
BEYOND: Final = {Outcome.NO_RESPONSE: ">", Outcome.HEARS_ALL: "<="}


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
    }
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
            "tones": ear.tones,
            "retest_difference_db": "" if retest_db is None else f"{retest_db:.1f}",
        }
        row |= {f"{column}_{name}": told[column] for column in OF_EAR}
    return row


def _about(examination: Examination) -> dict[str, Any]:
    header = examination.header
    return {
        "journal": examination.journal,
        "session": header.session,
        "started": header.started,
        "firmware": header.firmware,
        "outcome": examination.outcome,
        "calibration": header.calibration.state,
        "identifier": header.person.identifier,
    }


def _cell(found: ThresholdResult) -> str:
    """Return a level, or the code of NHANES; hearing at the floor has the floor, as there."""
    if found.mark == Outcome.NO_RESPONSE:
        return str(nhanes.NO_RESPONSE)
    level_db_hl = found.limit_db_hl if found.mark == Outcome.HEARS_ALL else found.threshold_db_hl
    return str(nhanes.COULD_NOT_OBTAIN) if level_db_hl is None else f"{level_db_hl:.1f}"


def _marks(thresholds: Iterable[ThresholdResult]) -> str:
    """Return such as "4000 incomplete 100; 6000 no-response >100", the limits in dB HL."""
    told = []
    for found in thresholds:
        words = marks_of(found)
        if words and found.limit_db_hl is not None:
            words[0] += f" {BEYOND.get(found.mark, '')}{found.limit_db_hl:g}"
        if words:
            told.append(f"{found.frequency_hz} {', '.join(words)}")
    return "; ".join(told)


def _long_rows(examination: Examination) -> Iterable[dict[str, Any]]:
    person = examination.header.person
    about = {
        **_about(examination),
        "age_years": person.age_years,
        "sex": person.sex,
        "calibration_words": examination.header.calibration.headline,
    }
    for ear in examination.result.ears:
        average = pta4_of(ear.thresholds)
        of_ear = {
            "ear": ear.ear,
            "ear_outcome": ear.outcome,
            "tones": ear.tones,
            "pta4_db_hl": average and average.db_hl,
        }
        for found in ear.thresholds:
            yield {**about, **of_ear, **vars(found), "marks": marks_of(found)}


def _long_schema() -> "pa.Schema":
    import pyarrow as pa

    text, number = pa.string(), pa.float64()
    types = {
        "journal": text, "session": pa.int64(), "started": text, "firmware": text,
        "outcome": text, "calibration": text, "calibration_words": text, "identifier": text,
        "age_years": number, "sex": text, "ear": text, "ear_outcome": text, "tones": pa.int32(),
        "pta4_db_hl": number, "frequency_hz": pa.int32(), "mark": text,
        "marks": pa.list_(text), "threshold_db_hl": number, "sd_db": number,
        "low_db_hl": number, "high_db_hl": number, "limit_db_hl": number,
    }  # fmt: skip
    return pa.schema(types.items())
