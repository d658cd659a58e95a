"""The air-bone gaps of an ear: in the cell of a table, in columns, and in a note of FHIR.

They are told as in the JSON document, `air_bone_gap.EarGaps.to_record`.

A gap is inferred where no tone was asked by air, or none by bone. Each of the forms says so.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from firmware_py.paper.gaps import gap_remarks, loss_rows
from firmware_py.terms.outcomes import Bound
from host_tools.catalogue import ENGLISH, language_of
from host_tools.commands.export.cells import Spelling

GapsRecord = Mapping[str, Any]

PERCENT_DIGITS: Final = 2  # as many as a share is recorded with
BOUND_SIGNS: Final = {Bound.NONE: "", Bound.AT_LEAST: ">=", Bound.AT_MOST: "<="}


def gaps_cell(gaps: GapsRecord, spelling: Spelling) -> str:
    """Return the gaps with their 95 % bands; the number of an inferred one stands in brackets.

    Such as "500 31.0 (20.1 to 41.9); 750 (30.0) (12.2 to 47.8) inferred; 1000 >=25.0 (14.1 to )".
    """
    return "; ".join(_in_cell(gap, spelling) for gap in gaps["gaps"])


def _in_cell(gap: GapsRecord, spelling: Spelling) -> str:
    bound, *levels = (gap[name] for name in ("bound", "db", "low_db", "high_db"))
    value, low, high = (spelling.cell(each if each is None else float(each)) for each in levels)
    level, band = f"{BOUND_SIGNS[bound]}{value}", f"({low} to {high})"
    told = f"({level}) {band} inferred" if gap["inferred_hz"] else f"{level} {band}"
    return f"{gap['frequencies_hz'][0]} {told}"


def gap_columns(found: GapsRecord | None) -> dict[str, Any]:
    """Return the columns of a gap at a frequency; where it is a bound its band is open."""
    if found is None:
        return {}
    return {
        "air_bone_gap_db": found["db"],
        "air_bone_gap_low_db": found["low_db"],
        "air_bone_gap_high_db": found["high_db"],
        "air_bone_gap_bound": str(found["bound"]),
        "air_bone_gap_inferred": bool(found["inferred_hz"]),
        "air_bone_gap_15_db_percent": _percent(found["share"]),
    }


def loss_columns(found: GapsRecord | None) -> dict[str, Any]:
    """Return the columns of the type of loss of an ear, and how sure the mean gap makes it."""
    if found is None:
        return {}
    mean = found["mean"]
    return {
        "loss": str(found["loss"]),
        "loss_15_db_percent": _percent(mean["share"] if mean else None),
        "loss_inferred_hz": list(mean["inferred_hz"]) if mean else None,
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100.0 * share, PERCENT_DIGITS)


def gap_note(gap: GapsRecord) -> str:
    """Return such as "air-bone gap 31 dB (95 % band 20 to 42 dB)", and whether it was inferred."""
    if not gap["inferred_hz"]:
        return f"air-bone gap {_level(gap)}"
    return f"inferred air-bone gap, not measured: {_level(gap)}"


def loss_words(gaps: GapsRecord) -> str:
    """Return the type of loss, such as "conductive" or "probably conductive"."""
    return f"probably {gaps['loss']}" if gaps["loss_is_probable"] else str(gaps["loss"])


def loss_notes(gaps: Iterable[GapsRecord]) -> list[str]:
    found, english = [*gaps], language_of(ENGLISH)
    return [english.say(each) for each in (*loss_rows(found), *gap_remarks(found))]


def _level(gap: GapsRecord) -> str:
    low, high = ("" if end is None else _whole(end) for end in (gap["low_db"], gap["high_db"]))
    band = f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}"
    return f"{BOUND_SIGNS[gap['bound']]}{_whole(gap['db'])} dB (95 % band {band} dB)"


def _whole(db: float) -> str:
    return f"{round(db) + 0.0:.0f}"  # there is no -0
