"""`gp-pta study --as-published`: the device and a manual audiogram, in the units of papers."""

import argparse
import json
from dataclasses import replace
from typing import Final

from device.simulator.kinds import kind_named
from device.simulator.odd_ears import ODD_EARS
from host_tools.errors import HostError
from host_tools.research.methods.per_frequency import FIRST_FREQUENCY_HZ
from host_tools.research.study.as_published import METHODS, TWICE, Drift, Unit, run_test
from host_tools.research.study.as_published_table import (
    PUBLISHED,
    in_order,
    published_lines,
    table_lines,
)
from host_tools.research.study.ears import Tables
from host_tools.research.study.options import Options
from host_tools.research.study.plan import ears_measured
from host_tools.research.study.work import all_done, one_thread

LISTENER: Final = "human"
DRIFT_DB_MAX: Final = 20.0
OCTAVES_MAX: Final = 1000.0
OCTAVES_USUAL: Final = 1.0


def drift_named(text: str) -> Drift:
    """Read --retest-drift DB[/OCTAVES].

    Raises
    ------
    HostError
        It is no such text.
    """
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


def as_published(
    arguments: argparse.Namespace, options: Options, tables: Tables, workers: int
) -> int:
    """Run the tests, and print the tables."""
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
    one_thread()
    rows = in_order(all_done(run_test, units, workers))
    if arguments.json:
        about = {
            "ears": len(measured.ears),
            "seeds": options.seeds,
            "remarks": list(measured.remarks),
            "published": [vars(row) for row in PUBLISHED],
        }
        print(json.dumps({**about, "rows": rows}))
        return 0
    heading = (
        f"{len(measured.ears)} ears; seeds 1 to {options.seeds}; each ear twice by each method; "
        f"listeners: {LISTENER}, noise {options.response_noise_db:g} dB, lapses "
        f"{options.lapse_rate:g}, false alarms {options.false_alarm_rate:g}; drift of a test: SD "
        f"{drift.sd_db:g} dB, alike over {drift.octaves:g} octaves; median response time "
        f"{options.response_time_s:g} s"
    )
    for line in [heading, *measured.remarks, "", *table_lines(rows), "", *published_lines()]:
        print(line)
    return 0
