"""`gp-pta study --as-published`: what is read off tests in the units of papers, beside papers."""

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from device.simulator.kinds import HONEST, kind_named
from device.simulator.odd_ears import ODD_EARS
from host_tools.errors import HostError
from host_tools.research.methods.per_frequency import FIRST_FREQUENCY_HZ
from host_tools.research.methods.population import balance
from host_tools.research.study.as_published import (
    MANUAL,
    METHODS,
    NOT_VALID,
    REASONS,
    TWICE,
    Drift,
    MethodResult,
    Unit,
    run_test,
)
from host_tools.research.study.ears import Tables
from host_tools.research.study.measures import spread_of, weighted_quantiles
from host_tools.research.study.options import Options
from host_tools.research.study.plan import ears_measured
from host_tools.research.study.sessions import Line, Row, Table, in_columns
from host_tools.terminal import markdown

LISTENER: Final = "human"
DRIFT_DB_MAX: Final = 20.0
OCTAVES_MAX: Final = 1000.0
OCTAVES_USUAL: Final = 1.0


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


def read_off(method: str, tests: Iterable[MethodResult]) -> Row:
    """Return what one method gave, of its tests and those of the manual one, twice each."""
    by = {
        (each.unit.method, each.unit.occasion, each.unit.ear.name, each.unit.seed): each
        for each in tests
    }
    ears = sorted({(name, seed) for _, _, name, seed in by})
    first, second = ([by[method, occasion, *ear] for ear in ears] for occasion in (1, 2))
    manual = [by[MANUAL, 1, *ear] for ear in ears]
    weight = balance(np.array([each.unit.ear.stratum for each in first]))

    def differ(those: Sequence[MethodResult], from_those: Sequence[MethodResult]) -> Row:
        pairs = zip(those, from_those, strict=True)
        return spread_of([a.level_db_hl - b.level_db_hl for a, b in pairs], weight)

    minutes = np.array([each.seconds for each in first]) / 60.0
    median, late = weighted_quantiles(minutes, weight, (0.5, 0.95)).tolist()
    return {
        "method": method,
        "ears": len(ears),
        "frequencies": sum(len(each.level_db_hl) for each in first),
        "without": {reason: sum(each.without[reason] for each in first) for reason in REASONS},
        "not_valid_tests": sum(each.without[NOT_VALID] > 0 for each in first),
        "to_truth_of_the_day": spread_of([each.error_db for each in first], weight),
        "to_manual": None if method == MANUAL else differ(first, manual),
        "retest": differ(second, first),
        "minutes_median": median,
        "minutes_95": late,
    }


def table_lines(rows: Sequence[Row]) -> list[str]:
    names = {MANUAL: "manual, staircase"}
    lines: list[Line] = [
        ("", lambda row: names.get(row["method"], f"gp-pta, {row['method']}")),
        ("**to the first manual audiogram**", lambda row: ""),
        *_lines_of("to_manual"),
        ("**second test less first**", lambda row: ""),
        *_lines_of("retest"),
        ("SD of one test", _say_of_one),
        ("**to the truth of the day**", lambda row: ""),
        ("mean, SD", _say_error),
        ("**minutes an ear**, median", lambda row: f"{row['minutes_median']:.1f}"),
        ("95 % are below", lambda row: f"{row['minutes_95']:.1f}"),
        ("**left out**, of frequencies", lambda row: str(row["frequencies"])),
        *[(f"no number: {reason}", _count(reason)) for reason in REASONS],
    ]
    return in_columns(rows, lines)


def _lines_of(what: str) -> list[Line]:
    def cell(row: Row, name: str, form: str) -> str:
        value = None if row[what] is None else row[what][name]
        return "-" if value is None else format(value, form)

    forms = {
        "mean difference, dB": ("mean_db", "+.1f"),
        "SD of differences, dB": ("sd_db", ".1f"),
        "mean absolute difference, dB": ("mean_absolute_db", ".1f"),
        "within 5 dB": ("within_5_db", ".0%"),
        "within 10 dB": ("within_10_db", ".0%"),
        "pairs": ("pairs", ""),
    }
    return [(words, partial(cell, name=name, form=form)) for words, (name, form) in forms.items()]


def _say_of_one(row: Row) -> str:
    sd_db = row["retest"]["sd_db"]
    return "-" if sd_db is None else f"{sd_db / math.sqrt(2.0):.1f}"


def _say_error(row: Row) -> str:
    error = row["to_truth_of_the_day"]
    return "-" if error["sd_db"] is None else f"{error['mean_db']:+.1f}, {error['sd_db']:.1f}"


def _count(reason: str) -> Callable[[Row], str]:
    return lambda row: str(row["without"][reason])


def published_lines() -> list[str]:
    head = ["published, of people", "people", "to a manual audiogram, dB", "retest, dB", "minutes"]
    body = [[row.test, row.people, row.to_manual, row.retest, row.minutes] for row in PUBLISHED]
    cells = [[*head, "source"]]
    cells += [[*row, of.source] for row, of in zip(body, PUBLISHED, strict=True)]
    return markdown(cells)


def in_order(tests: Iterable[MethodResult]) -> list[Row]:
    """Return the rows of all methods; sums have the same bits whoever was done first."""
    of: dict[str, list[MethodResult]] = {method: [] for method in METHODS}
    for each in tests:
        of[each.unit.method].append(each)
    return [
        read_off(method, [*of[method], *(of[MANUAL] if method != MANUAL else [])])
        for method in METHODS
        if of[method]
    ]


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Unit, MethodResult]:
    if arguments.listener not in (HONEST.text, LISTENER):
        raise HostError("--listener does not go with --as-published: its listeners are human")
    options = Options.of(arguments)
    if options.audiograms in ODD_EARS:
        raise HostError(
            f"--audiograms is {options.audiograms}; with --as-published allowed are a table of "
            "ears, bisgaard"
        )
    drift = drift_named(arguments.retest_drift)
    answering = replace(options.answering, kind=kind_named(LISTENER))
    measured = ears_measured(options, tables)
    if FIRST_FREQUENCY_HZ not in measured.ears[0].frequencies_hz:
        raise HostError(
            f"--audiograms {options.audiograms!r} has no thresholds at {FIRST_FREQUENCY_HZ:g} Hz, "
            "where a manual audiogram begins"
        )
    units = [
        Unit(method, occasion, ear.jitter(seed, measured.jitter_db), seed, answering,
             options.response_time_s, drift)
        for method in METHODS
        for ear in measured.ears
        for seed in range(1, options.seeds + 1)
        for occasion in TWICE
    ]  # fmt: skip
    heading = (
        f"{len(measured.ears)} ears; seeds 1 to {options.seeds}; each ear twice by each method; "
        f"listeners: {LISTENER}, {answering.words}; drift of a test: SD "
        f"{drift.sd_db:g} dB, alike over {drift.octaves:g} octaves; median response time "
        f"{options.response_time_s:g} s"
    )
    about = {
        "ears": len(measured.ears),
        "seeds": options.seeds,
        "remarks": list(measured.remarks),
        "published": [vars(row) for row in PUBLISHED],
    }
    return Table(
        units,
        run_test,
        MethodResult,
        in_order,
        about,
        lambda rows: [
            heading, *measured.remarks, "", *table_lines(rows), "", *published_lines()
        ],
    )  # fmt: skip


def drift_named(text: str) -> Drift:
    words = text.split("/")
    try:
        sd_db, octaves = (*map(float, words), *([OCTAVES_USUAL] if len(words) == 1 else []))
    except ValueError:
        sd_db = octaves = -1.0
    if not (0.0 <= sd_db <= DRIFT_DB_MAX and 0.0 <= octaves <= OCTAVES_MAX):
        raise HostError(
            f"--retest-drift is {text!r}; allowed is an SD from 0 to {DRIFT_DB_MAX:g} dB, and "
            f"after a / over how many octaves it is alike, 0 to {OCTAVES_MAX:g}, such as 2.3/1"
        )
    return Drift(sd_db, octaves)
