"""What is read off tests in the units of papers, and what papers say of tests on people."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from host_tools.research.methods.interface import Array
from host_tools.research.methods.population import balance
from host_tools.research.study.as_published import (
    MANUAL,
    METHODS,
    NOT_VALID,
    REASONS,
    WITHIN_DB,
    MethodResult,
)
from host_tools.research.study.summary import weighted_quantiles
from host_tools.terminal import markdown


@dataclass(frozen=True)
class Published:
    """What a paper says of a test on people: a row beside ours."""

    test: str
    people: str
    to_manual: str
    retest: str
    minutes: str  # an ear, or as the paper says
    source: str


PUBLISHED: Final = (
    Published(
        "automated air conduction, a meta-analysis", "29 reports",
        "mean 0.4, SD 6.1 (retest of manual: mean 1.3, SD 6.1)", "mean 0.3, SD 6.9", "",
        "Mahomed et al. 2013, 10.1097/01.aud.0000436255.53747.a4",
    ),
    Published(
        "AMTAS, air", "44; retest 10", "mean 0.1, SD of absolute differences 6.4",
        "mean 0.5, SD of absolute differences 4.9", "",
        "Eikelboom et al. 2013, 10.3109/14992027.2013.769065",
    ),
    Published(
        "Gaussian process, audiologist", "21", "mean absolute 4.16 (SD of these 3.76)",
        "mean absolute 4.51 (SD of these 4.45)", "",
        "Song et al. 2015, 10.1097/AUD.0000000000000186",
    ),
    Published(
        "Gaussian process, online", "21", "mean absolute 3.24 (SD of these 5.15)",
        "mean absolute 2.85 (SD of these 6.57); of the staircase 1.88 (3.56)", "",
        "Barbour et al. 2019, 10.1097/AUD.0000000000000669",
    ),
    Published(
        "Gaussian process, masked", "29", "mean absolute 4.9 and 2.6 (symmetric, asymmetric ears)",
        "", "", "Heisey et al. 2020, PMC7725866",
    ),
    Published(
        "ISO 8253-1 ascending / shortened, automated", "100, aged 18-36", "", "",
        "9.8 / 5.8 (six frequencies, the whole test)",
        "Liu et al. 2022, 10.3389/fnins.2022.1011016",
    ),
    Published(
        "automated, in no booth", "83 (166 ears)", "mean -0.2 to 0.7, SD 4.5 to 6.2 by frequency",
        "", "", "Liu et al. 2023, 10.3389/fnins.2023.1292395",
    ),
    Published(
        "Jacoti Hearing Center, at home", "1,115 (9,421 pairs)", "",
        "mean absolute 4.7 (3.7 to 6.2 by frequency)", "",
        "Thoidis et al. 2024, 10.3389/fauot.2024.1371037",
    ),
    Published(
        "Gaussian process through the aid", "own aids", "means within 3, not at 250 Hz", "",
        "10-15 by an audiologist", "Scientific Reports 13 (2023) 14667, 10.1038/s41598-023-40495-w",
    ),
    Published(
        "GRaBr, smartphone at home", "15, normal hearing", "mean below 1 (to the laboratory)",
        "mean below 2", "", "Xu, Schell-Majoor & Kollmeier 2024, eprints.soton.ac.uk/509790",
    ),
    Published(
        "NHANES, automated, 1 kHz twice in a test", "48,061 ears", "",
        "mean -0.4, SD 3.3 (pairs over 10 dB apart were rejected)", "",
        "NHANES 1999-2020, counted from its public files",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Spread:
    """What differences are, over ears and frequencies; None where there is none."""

    pairs: int
    mean_db: float | None
    sd_db: float | None  # about the mean
    mean_absolute_db: float | None
    within_5_db: float | None
    within_10_db: float | None


def spread_of(differences_db: Sequence[Array], weight: Array) -> Spread:
    """Return what differences are.

    Parameters
    ----------
    differences_db : (n,) of (m,)
        Of each ear at its frequencies; NaN where one of the two has no number: left out.
    weight : (n,)
        Of the ears: each of an ear's differences has it.
    """
    values = np.concatenate([np.empty(0), *differences_db])
    weights = np.repeat(weight, [len(each) for each in differences_db])
    known = ~np.isnan(values)
    values, weights = values[known], weights[known]
    if not len(values):
        return Spread(0, *[None] * 5)
    weights = weights / np.sum(weights)

    def mean(of: Array) -> float:
        return float(np.sum(weights * of))

    middle = mean(values)
    within = [mean((np.abs(values) <= limit_db).astype(float)) for limit_db in WITHIN_DB]
    variance = mean((values - middle) ** 2)
    return Spread(len(values), middle, math.sqrt(variance), mean(np.abs(values)), *within)


def read_off(method: str, tests: Iterable[MethodResult]) -> dict[str, Any]:
    """Return what one method gave, as JSON values.

    Parameters
    ----------
    method : str
        Of `METHODS`.
    tests : iterable of MethodResult
        Of this method and of the manual one: both occasions of each ear and seed.
    """
    by = {
        (each.unit.method, each.unit.occasion, each.unit.ear.name, each.unit.seed): each
        for each in tests
    }
    ears = sorted({(name, seed) for _, _, name, seed in by})
    first, second = ([by[method, occasion, *ear] for ear in ears] for occasion in (1, 2))
    manual = [by[MANUAL, 1, *ear] for ear in ears]
    weight = balance(np.array([each.unit.ear.stratum for each in first]))

    def differ(those: Sequence[MethodResult], from_those: Sequence[MethodResult]) -> dict[str, Any]:
        pairs = zip(those, from_those, strict=True)
        return asdict(spread_of([a.level_db_hl - b.level_db_hl for a, b in pairs], weight))

    minutes = np.array([each.seconds for each in first]) / 60.0
    median, late = weighted_quantiles(minutes, weight, (0.5, 0.95)).tolist()
    return {
        "method": method,
        "ears": len(ears),
        "frequencies": sum(len(each.level_db_hl) for each in first),
        "without": {reason: sum(each.without[reason] for each in first) for reason in REASONS},
        "not_valid_tests": sum(each.without[NOT_VALID] > 0 for each in first),
        "to_truth_of_the_day": asdict(spread_of([each.error_db for each in first], weight)),
        "to_manual": None if method == MANUAL else differ(first, manual),
        "retest": differ(second, first),
        "minutes_median": median,
        "minutes_95": late,
    }


def table_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return our table in Markdown, a column for each method."""
    names = {MANUAL: "manual, staircase"}
    lines: list[tuple[str, Callable[[dict[str, Any]], str]]] = [
        ("", lambda row: names.get(row["method"], f"gp-pta, {row['method']}")),
        ("**to the first manual audiogram**", lambda row: ""),
        *_lines_of("to_manual"),
        ("**second test less first**", lambda row: ""),
        *_lines_of("retest"),
        ("SD of one test", _say_of_one),
        ("**to the truth of the day**", lambda row: ""),
        ("mean, SD", lambda row: _say_error(row["to_truth_of_the_day"])),
        ("**minutes an ear**, median", lambda row: f"{row['minutes_median']:.1f}"),
        ("95 % are below", lambda row: f"{row['minutes_95']:.1f}"),
        ("**left out**, of frequencies", lambda row: str(row["frequencies"])),
        *[(f"no number: {reason}", _count(reason)) for reason in REASONS],
    ]
    return markdown([[name, *(say(row) for row in rows)] for name, say in lines])


def _lines_of(what: str) -> list[tuple[str, Callable[[dict[str, Any]], str]]]:
    def of(name: str, say: Callable[[float], str]) -> Callable[[dict[str, Any]], str]:
        def cell(row: dict[str, Any]) -> str:
            value = None if row[what] is None else row[what][name]
            return "-" if value is None else say(value)

        return cell

    return [
        ("mean difference, dB", of("mean_db", lambda value: f"{value:+.1f}")),
        ("SD of differences, dB", of("sd_db", lambda value: f"{value:.1f}")),
        ("mean absolute difference, dB", of("mean_absolute_db", lambda value: f"{value:.1f}")),
        ("within 5 dB", of("within_5_db", lambda value: f"{value:.0%}")),
        ("within 10 dB", of("within_10_db", lambda value: f"{value:.0%}")),
        ("pairs", of("pairs", str)),
    ]


def _say_of_one(row: dict[str, Any]) -> str:
    sd_db = row["retest"]["sd_db"]
    return "-" if sd_db is None else f"{sd_db / math.sqrt(2.0):.1f}"


def _say_error(error: dict[str, Any]) -> str:
    return "-" if error["sd_db"] is None else f"{error['mean_db']:+.1f}, {error['sd_db']:.1f}"


def _count(reason: str) -> Callable[[dict[str, Any]], str]:
    return lambda row: str(row["without"][reason])


def published_lines() -> list[str]:
    """Return the table of papers in Markdown."""
    head = ["published, of people", "people", "to a manual audiogram, dB", "retest, dB", "minutes"]
    body = [[row.test, row.people, row.to_manual, row.retest, row.minutes] for row in PUBLISHED]
    cells = [[*head, "source"]]
    cells += [[*row, of.source] for row, of in zip(body, PUBLISHED, strict=True)]
    return markdown(cells)


def in_order(tests: Iterable[MethodResult]) -> list[dict[str, Any]]:
    """Return the rows of all methods; sums have the same bits whoever was done first."""
    by_method = {
        method: [*of]
        for method, of in itertools.groupby(
            sorted(tests, key=lambda each: METHODS.index(each.unit.method)),
            key=lambda each: each.unit.method,
        )
    }
    return [
        read_off(method, [*of, *(by_method[MANUAL] if method != MANUAL else [])])
        for method, of in by_method.items()
    ]
