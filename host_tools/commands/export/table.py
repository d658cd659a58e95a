"""Tables: CSV with the variables of NHANES, a session a row; Parquet, a threshold a row."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from device.simulator import nhanes
from device.simulator.listener import EARS
from firmware_py.procedure.outcomes import HEARS_ALL, MEASURED, NO_RESPONSE
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
BEYOND: Final = {NO_RESPONSE: ">", HEARS_ALL: "<="}


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
    person = examination.person
    row = {
        **_about(examination),
        nhanes.AGE_YEARS: person["age_years"],
        nhanes.SEX: nhanes.SEXES.get(person["sex"], ""),
    }
    for name in EARS:
        ear = examination.ears.get(name)
        if ear is None:
            continue
        for threshold in ear["thresholds"]:
            row[nhanes.variable(name, threshold["frequency_hz"])] = _cell(threshold)
        retest_db = ear["retest_difference_db"]
        told = {
            **ear,
            "marks": _marks(ear["thresholds"]),
            "retest_difference_db": "" if retest_db is None else f"{retest_db:.1f}",
        }
        row |= {f"{column}_{name}": told[column] for column in OF_EAR}
    return row


def _about(examination: Examination) -> dict[str, Any]:
    return {
        "journal": examination.journal,
        "session": examination.header.get("session"),
        "started": examination.header.get("started"),
        "firmware": examination.header.get("firmware"),
        "outcome": examination.outcome,
        "calibration": examination.calibration.state,
        "identifier": examination.person["identifier"],
    }


def _cell(threshold: Mapping[str, Any]) -> str:
    """Return a level, or the code of NHANES; hearing at the floor has the floor, as there."""
    mark = threshold["mark"]
    if mark == NO_RESPONSE:
        return str(nhanes.NO_RESPONSE)
    level_db_hl = threshold["limit_db_hl" if mark == HEARS_ALL else "threshold_db_hl"]
    if mark not in (MEASURED, HEARS_ALL) or level_db_hl is None:
        return str(nhanes.COULD_NOT_OBTAIN)
    return f"{level_db_hl:.1f}"


def _marks(thresholds: Iterable[Mapping[str, Any]]) -> str:
    """Return such as "4000 incomplete 100; 6000 no-response >100", the limits in dB HL."""
    told = []
    for threshold in thresholds:
        words = marks_of(threshold)
        if words and threshold["limit_db_hl"] is not None:
            words[0] += f" {BEYOND.get(threshold['mark'], '')}{threshold['limit_db_hl']:g}"
        if words:
            told.append(f"{threshold['frequency_hz']} {', '.join(words)}")
    return "; ".join(told)


def _long_rows(examination: Examination) -> Iterable[dict[str, Any]]:
    about = {
        **_about(examination),
        "age_years": examination.person["age_years"],
        "sex": examination.person["sex"],
        "calibration_words": examination.calibration.headline,
    }
    for ear in examination.result["ears"]:
        average = pta4_of(ear["thresholds"])
        of_ear = {
            "ear": ear["ear"],
            "ear_outcome": ear["outcome"],
            "tones": ear["tones"],
            "pta4_db_hl": average and average.db_hl,
        }
        for threshold in ear["thresholds"]:
            yield {**about, **of_ear, **threshold, "marks": marks_of(threshold)}


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
