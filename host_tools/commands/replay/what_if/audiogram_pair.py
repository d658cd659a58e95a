"""The audiograms of two models on one sheet, an ear a panel, as clinics draw them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from firmware_py.platform.version import full_version
from firmware_py.procedure.outcomes import MaskingMark
from firmware_py.procedure.reading import Kind
from host_tools import document, drawing_js
from host_tools.catalogue import ENGLISH, catalogue_of
from host_tools.commands.replay.what_if.comparison import Comparison, EarComparison, Estimate, Row
from host_tools.document import Block, Document, write_document
from host_tools.drawings.drawing import EAR_COLOURS

KEY: Final = (
    "In the ear's colour, with the symbols of clinics: recorded. Grey, with diamonds and a dashed "
    "edge: supposed. What no tone was asked for has no symbol."
)


def draw_comparison(comparison: Comparison, title: str, path: Path) -> None:
    """Draw both models' thresholds and 95 % bands.

    Parameters
    ----------
    comparison : Comparison
    title : str
        What has to be known to look at it: the calibration above all.
    path : Path
        In .svg, .png or .pdf.
    """
    write_document(comparison_sheet(comparison, title), path)


def comparison_sheet(comparison: Comparison, title: str) -> Document:
    return Document(
        language=ENGLISH,
        title=comparison.words,
        headline="What another model says",
        standing="WHAT IF",
        final=False,
        footer=f"gp-pta {full_version()}",
        blocks=[
            document.facts([("supposed", comparison.words), ("calibration", title)]),
            document.figures([_figure(ear, nominal=comparison.nominal) for ear in comparison.ears]),
            document.note(KEY),
            *map(document.note, comparison.remarks),
        ],
    )


def _figure(ear: EarComparison, *, nominal: bool) -> Block:
    catalogue = catalogue_of(ENGLISH)
    limits = {
        "frequencies_hz": [row.frequency_hz for row in ear.rows],
        "levels_db_hl": [row.limit_db_hl for row in ear.rows],
    }
    supposed = {**_ear_as_json(ear, lambda row: row.supposed), "supposed": True}
    data = {"ears": [supposed, _ear_as_json(ear, lambda row: row.recorded)], "limit": limits}
    svg = drawing_js.svg_for_paper(data, drawing_js.paper_words(catalogue, nominal=nominal))
    name = catalogue.say("picture", f"{ear.route}_ear")
    return document.figure(svg, f"{name}, two models", name, EAR_COLOURS[ear.route.ear])


def _ear_as_json(ear: EarComparison, of: Callable[[Row], Estimate]) -> dict[str, Any]:
    return {
        **ear.route.parts(),
        "thresholds": [_threshold(row, of(row).mean_db_hl) for row in ear.rows],
        "curve": {
            "frequencies_hz": [row.frequency_hz for row in ear.rows],
            "low_db_hl": [of(row).low_db_hl for row in ear.rows],
            "high_db_hl": [of(row).high_db_hl for row in ear.rows],
        },
    }


def _threshold(row: Row, mean_db_hl: float) -> dict[str, Any]:
    kind, symbol = Kind.MEASURED, MaskingMark.MASKED if row.masked else MaskingMark.NOT_MASKED
    if row.inferred:
        kind = Kind.INFERRED
    elif mean_db_hl >= row.limit_db_hl:
        kind = Kind.ABOVE
    elif mean_db_hl <= row.floor_db_hl:
        kind = Kind.AT_MOST
    level_db_hl = min(max(mean_db_hl, row.floor_db_hl), row.limit_db_hl)
    return {
        "frequency_hz": row.frequency_hz, "kind": kind, "level_db_hl": level_db_hl,
        "symbol": None if row.inferred else symbol,
    }  # fmt: skip
