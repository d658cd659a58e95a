"""The table with a threshold a row: what its columns are, and what stands there."""

from collections.abc import Iterator
from typing import Any, Final

from firmware_py.findings.result_json import WHOLE
from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.shown_threshold import Kind
from firmware_py.terms.words import say
from host_tools.commands.export.document_session import (
    DocumentEar,
    DocumentSession,
    JsonObject,
    marks_of,
)
from host_tools.commands.export.gaps import gap_columns, loss_columns
from host_tools.commands.export.long_table import (
    COUNT,
    COUNTS,
    NUMBER,
    TEXT,
    TEXTS,
    YES_OR_NO,
    LongTable,
    Row,
    session_columns,
)

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
    "discomfort": TEXT, "simulated": YES_OR_NO, "prior": TEXT,
}  # fmt: skip


def _rows(session: DocumentSession) -> Iterator[Row]:
    record, calibration = session.record, session.record["calibration"]
    of_session = {
        **session_columns(session),
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
            yield row


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


THRESHOLDS: Final = LongTable(COLUMNS, _rows)
