"""Tables with a threshold a row: tidy CSV, and Parquet at full precision. Their columns are one."""

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from firmware_py.findings.result_json import WHOLE
from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.shown_threshold import Kind
from firmware_py.terms.words import say
from host_tools.commands.export.cells import Spelling, about, file_of, with_what
from host_tools.commands.export.document_session import (
    DocumentEar,
    DocumentSession,
    JsonObject,
    marks_of,
)
from host_tools.commands.export.gaps import gap_columns, loss_columns

if TYPE_CHECKING:
    import pyarrow as pa

TEXT, NUMBER, COUNT, YES_OR_NO = "text", "number", "count", "yes or no"
TEXTS, COUNTS = "texts", "counts"
# What each column has. A blank cell is nothing known: a number column has numbers only.
COLUMNS: Final = {
    "journal": TEXT, "session": COUNT, "started": TEXT, "firmware": TEXT, "device": TEXT,
    "identifier": TEXT, "age_years": NUMBER, "sex": TEXT,
    "outcome": TEXT, "calibration": TEXT, "level_unit": TEXT, "conduct": TEXT,
    # of the threshold
    "ear": TEXT, "side": TEXT, "conduction": TEXT, "frequency_hz": COUNT,
    "threshold_convention": TEXT,
    "threshold_db_hl": NUMBER, "sd_db": NUMBER, "low_db_hl": NUMBER, "high_db_hl": NUMBER,
    "low_open": YES_OR_NO, "high_open": YES_OR_NO,
    "whole_low_db_hl": NUMBER, "whole_high_db_hl": NUMBER, "whole_sd_db": NUMBER,
    "largest_part": TEXT,
    "mark": TEXT, "kind": TEXT, "limit_db_hl": NUMBER,
    "inferred_db_hl": NUMBER, "inferred_sd_db": NUMBER,
    "inferred_low_db_hl": NUMBER, "inferred_high_db_hl": NUMBER,
    "inferred_whole_low_db_hl": NUMBER, "inferred_whole_high_db_hl": NUMBER,
    "masked": YES_OR_NO, "other_ear_may_have_heard": YES_OR_NO,
    "confirmed_db_hl": NUMBER, "confirmed_mark": TEXT, "marks": TEXTS,
    # of a threshold by bone
    "air_bone_gap_db": NUMBER, "air_bone_gap_low_db": NUMBER, "air_bone_gap_high_db": NUMBER,
    "air_bone_gap_bound": TEXT, "air_bone_gap_inferred": YES_OR_NO,
    "air_bone_gap_15_db_percent": NUMBER,
    # of the ear
    "verdict": TEXT, "reasons": TEXTS, "ear_outcome": TEXT, "tones": COUNT,
    "clinical_offset_db": NUMBER, "pta4_db_hl": NUMBER, "pta4_low_db_hl": NUMBER,
    "pta4_high_db_hl": NUMBER, "pta4_whole_low_db_hl": NUMBER, "pta4_whole_high_db_hl": NUMBER,
    "pta4_largest_part": TEXT, "pta4_bound": TEXT, "pta4_inferred_hz": COUNTS,
    # of an ear by bone
    "loss": TEXT, "loss_15_db_percent": NUMBER, "loss_inferred_hz": COUNTS,
    # with what
    "calibration_words": TEXT, "calibration_digest": TEXT, "transducer": TEXT, "boards": TEXTS,
    "broken_off": TEXTS, "waited": TEXTS, "which_ear": TEXT, "room": TEXT,
    "discomfort": TEXT,
}  # fmt: skip

GROUP_ROWS: Final = 5_000  # of some 250 sessions: readers want no small groups, and memory no large


def as_tidy_csv(sessions: Iterable[DocumentSession], spelling: Spelling) -> Iterator[bytes]:
    """Yield a row for each threshold, to a tenth of a dB."""
    rows = (
        {name: spelling.cell(value) for name, value in row.items()}
        for session in sessions
        for row in _rows(session)
    )
    return file_of([*COLUMNS], rows, spelling)


def as_parquet(sessions: Iterable[DocumentSession]) -> Iterator[bytes]:
    """Yield a row for each threshold, at full precision."""
    import pyarrow.parquet as pq

    schema, written = _schema(), _Written()
    with pq.ParquetWriter(written, schema, compression="zstd", write_page_checksum=True) as writer:
        for group in _row_groups(sessions, schema):
            writer.write_table(group)
            yield written.take()
    yield written.take()


def _row_groups(sessions: Iterable[DocumentSession], schema: "pa.Schema") -> Iterator["pa.Table"]:
    """Yield tables of about `GROUP_ROWS`, and of no part of a session."""
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    for session in sessions:
        rows += _rows(session)
        if len(rows) >= GROUP_ROWS:
            yield pa.Table.from_pylist(rows, schema=schema)
            rows.clear()
    if rows:
        yield pa.Table.from_pylist(rows, schema=schema)


class _Written(io.RawIOBase):
    """A file that is written to and taken away, part by part."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._bytes = 0

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        self._bytes += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        return self._bytes

    def take(self) -> bytes:
        """Return what was written since it was asked the last time."""
        parts = b"".join(self._parts)
        self._parts.clear()
        return parts


def _rows(session: DocumentSession) -> Iterable[dict[str, Any]]:
    record, calibration = session.record, session.record["calibration"]
    of_session = {
        **about(session),
        **with_what(session),
        "age_years": record["person"]["age_years"],
        "sex": record["person"]["sex"],
        "conduct": record["settings"]["conduct"],
        "threshold_convention": record["threshold_convention"],
        "calibration_words": calibration["words"],
    }
    losses = {each["ear"]: each for each in session.gaps}
    for ear in session.ears:
        of_ear = _of_ear(ear)
        if ear.route.by_bone:
            of_ear |= {
                "transducer": calibration["vibrator"],
                **loss_columns(losses.get(ear.route.ear)),
            }
        for found in ear.thresholds:
            row = {**of_session, **of_ear, **_threshold(found, ear)}
            if ear.route.by_bone:
                row |= gap_columns(session.gap_at(ear.route.ear, found["frequency_hz"]))
            yield {name: _of_kind(COLUMNS[name], value) for name, value in row.items()}


def _of_kind(kind: str, value: Any) -> Any:
    """Return a number as one of its column: a browser writes 30 for 30.0."""
    return float(value) if kind == NUMBER and value is not None else value


def _of_ear(ear: DocumentEar) -> dict[str, Any]:
    mean = ear.record["pta4"] or {}
    return {
        "ear": str(ear.route),
        "side": ear.route.ear,
        "conduction": ear.route.transducer,
        "ear_outcome": ear.record["outcome"],
        "verdict": str(ear.verdict),
        "reasons": list(map(say, ear.reasons)),
        "boards": ear.record["boards"],
        "tones": ear.record["tones"],
        "clinical_offset_db": ear.record["clinical_offset_db"],
        "pta4_db_hl": mean.get("level_db_hl"),
        "pta4_low_db_hl": mean.get("low_db_hl"),
        "pta4_high_db_hl": mean.get("high_db_hl"),
        "pta4_whole_low_db_hl": mean.get("whole_low_db_hl"),
        "pta4_whole_high_db_hl": mean.get("whole_high_db_hl"),
        "pta4_largest_part": mean.get("largest_part"),
        "pta4_bound": mean.get("bound"),
        "pta4_inferred_hz": mean.get("inferred_hz"),
    }


def _threshold(found: JsonObject, ear: DocumentEar) -> dict[str, Any]:
    reading, masking = found["reading"], found["masking"]
    numbers = found["inferred"] or {}
    inferred = {f"inferred_{name}": number for name, number in numbers.items()}
    again = next((c for c in ear.confirmed if c["frequency_hz"] == found["frequency_hz"]), None)
    classical = {}
    if again is not None:
        classical = {
            "confirmed_db_hl": again["threshold_db_hl"],
            "confirmed_mark": again["mark"],
        }
    asked = reading["kind"] != Kind.INFERRED
    # Its `air_bone_gap_db` is a supposition about the other ear; in the column of this name is the
    # gap of this one.
    names = ("frequency_hz", "threshold_db_hl", "sd_db", "low_db_hl", "high_db_hl", "limit_db_hl")
    return {
        **{name: found[name] for name in names},
        **inferred,
        **_whole(reading, asked=asked),
        **classical,
        "mark": found["mark"],
        "kind": reading["kind"],
        "low_open": reading["low_open"],
        "high_open": reading["high_open"],
        "masked": masking == MaskingMark.MASKED if asked else None,
        "other_ear_may_have_heard": masking == MaskingMark.UNCERTAIN if asked else None,
        "marks": marks_of(found),
    }


def _whole(reading: JsonObject, *, asked: bool) -> dict[str, Any]:
    """Return the band of the whole; a document of an earlier version has none."""
    if asked:
        return {name: reading.get(name) for name in WHOLE}
    return {f"inferred_{name}": reading.get(name) for name in WHOLE if name.endswith("_db_hl")}


def _schema() -> "pa.Schema":
    import pyarrow as pa

    types = {
        TEXT: pa.string(), NUMBER: pa.float64(), COUNT: pa.int64(), YES_OR_NO: pa.bool_(),
        TEXTS: pa.list_(pa.string()), COUNTS: pa.list_(pa.int32()),
    }  # fmt: skip
    return pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
