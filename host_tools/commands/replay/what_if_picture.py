"""The audiograms of two models on one sheet, an ear a panel, as clinics draw them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from firmware_py.findings.rows import Cell, row
from firmware_py.paper import blocks
from firmware_py.paper.blocks import Paper, section
from firmware_py.platform.version import full_version
from firmware_py.terms.outcomes import MaskingMark
from firmware_py.terms.shown_threshold import Kind
from host_tools import drawing_js
from host_tools.catalogue import ENGLISH, catalogue_of
from host_tools.commands.replay.what_if import Comparison, EarComparison, Estimate, Row
from host_tools.papers import Shown
from host_tools.papers.pdf import write_paper


def draw_comparison(comparison: Comparison, title: str, path: Path) -> None:
    """Draw both models' thresholds and 95 % bands, to .svg, .png or .pdf.

    The title says what has to be known to look at it: the calibration above all.
    """
    write_paper(comparison_sheet(comparison, title), draw_ears(comparison), path)


def comparison_sheet(comparison: Comparison, title: str) -> Paper:
    supposed = row("told", told=comparison.words)
    ears = [str(ear.route) for ear in comparison.ears]
    figures = [
        (ear, row("the-ear", ear=ear), row("what-if-label", ear=ear), list[dict[str, Any]]())
        for ear in ears
    ]
    notes = [row("what-if-key"), *(row("told", told=each) for each in comparison.remarks)]
    told: list[tuple[dict[str, Any], Cell]] = [
        (row("what-if-supposed"), supposed), (row("fact-calibration"), title),
    ]  # fmt: skip
    return blocks.paper(
        title=supposed,
        headline=row("what-if"),
        standing=row("what-if-standing"),
        final=False,
        footer=row("gp-pta", version=full_version()),
        sections=[
            section(
                "what-if", None,
                blocks.facts(told),
                blocks.audiograms(figures),
                blocks.rows(notes, small=True),
            ),
        ],
    )  # fmt: skip


def draw_ears(comparison: Comparison) -> Shown:
    return Shown(drawings={str(ear.route): _svg(ear, comparison) for ear in comparison.ears})


def _svg(ear: EarComparison, comparison: Comparison) -> str:
    limits = {
        "frequencies_hz": [row.frequency_hz for row in ear.rows],
        "levels_db_hl": [row.limit_db_hl for row in ear.rows],
    }
    supposed = {**_ear_as_json(ear, lambda row: row.supposed), "supposed": True}
    data = {"ears": [supposed, _ear_as_json(ear, lambda row: row.recorded)], "limit": limits}
    words = drawing_js.paper_words(catalogue_of(ENGLISH), nominal=comparison.nominal)
    return drawing_js.svg_for_paper(data, words)


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
