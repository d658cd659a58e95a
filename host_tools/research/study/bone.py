"""`gp-pta study --bone`: whole tests of people by air and bone, and what is read off many."""

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from firmware_py.findings.air_bone_gap import GAP_DB
from host_tools.errors import HostError
from host_tools.files import digest_of
from host_tools.research.study.arguments import names_in, whole_number
from host_tools.research.study.bone_faults import FAULTS, NO_FAULT, Fault
from host_tools.research.study.bone_people import PEOPLE_USUAL, SCORED_HZ, people_of, with_6_khz
from host_tools.research.study.bone_sessions import (
    DEVICE,
    MANUAL,
    MARKS,
    MASKED,
    PLACING_S,
    RATE,
    UNCERTAIN,
    UNMASKED,
    WITHIN_DB,
    BoneThreshold,
    EarFound,
    Measured,
    Unit,
    run_test,
)
from host_tools.research.study.ears import Tables
from host_tools.research.study.measures import error_and_coverage, median_and_late
from host_tools.research.study.plan import prior_in, prior_was_learned_from
from host_tools.research.study.sessions import Line, Row, Table, in_columns

# Response noise, who tests, and what is wrong with the equipment.
COLUMNS: Final = tuple(
    (noise_db, method, NO_FAULT) for noise_db in (2.0, 4.0) for method in (DEVICE, MANUAL)
)
FAULT_NOISE_DB: Final = 2.0  # of the response, where the equipment has a fault
FALSE_DB: Final = 10.0  # a threshold of a valid test, not uncertain, that is more off is false
GROSS_DB: Final = 15.0  # an error of more is gross
# True gaps, mean over `SCORED_HZ` above those of the reference levels, dB: from, and below.
GAPS_DB: Final = ((-math.inf, 5.0), (5.0, 10.0), (12.5, 17.5), (20.0, math.inf))


def table(arguments: argparse.Namespace, tables: Tables) -> Table[Unit, Measured]:
    """Return the table that is asked for; of both routes the table is read here."""
    assert tables.measured is None
    count = whole_number("--ears", arguments.ears, PEOPLE_USUAL, low=0)
    asked = people_of(Path(arguments.audiograms), count, arguments.columns)
    people = sorted(asked, key=lambda each: each.name)
    prior = prior_in(arguments.prior)
    if prior is not None and prior_was_learned_from(digest_of(Path(arguments.audiograms)), prior):
        raise HostError("--prior was learned from --audiograms; allowed is one of other people")
    columns = COLUMNS
    if arguments.cases is not None:
        names = names_in("--cases", arguments.cases, FAULTS)
        columns = tuple((FAULT_NOISE_DB, DEVICE, FAULTS[name]) for name in names)
    return Table(
        [
            Unit(
                with_6_khz(person, seed) if fault.to_6_khz else person,
                noise_db,
                seed,
                prior,
                method,
                fault,
            )
            for noise_db, method, fault in columns
            for person in people
            for seed in range(1, 1 + whole_number("--seeds", arguments.seeds, 1))
        ],
        run_test,
        Measured,
        lambda tests: [
            read_off([test for test in tests if _column(test.unit) == column]) for column in columns
        ],
        {"lapse_rate": RATE, "false_alarm_rate": RATE},
        lambda rows: [
            f"{rows[0]['people']} people with both ears by air and bone, and the same with a gap "
            "drawn for the right ear",
            f"{DEVICE}: by the device; {MANUAL}: by hand, with a plateau",
            f"lapses {RATE:g}, false alarms {RATE:g}",
            "",
            *table_lines(rows),
        ],
    )


def _column(unit: Unit) -> tuple[float, str, Fault]:
    return unit.noise_db, unit.method, unit.fault


def read_off(tests: Sequence[Measured]) -> Row:
    """Return a row of the table: what all tests by one method with one response noise gave.

    Tones, seconds and errors are of the people of the table; gaps of those that are drawn, too.
    """
    real = [test for test in tests if not test.unit.person.drawn]
    ears = [ear for test in real for ear in test.ears]
    asked = [ear for ear in ears if ear.tones]
    found = [each for ear in ears for each in ear.thresholds]
    gross = [each for each in found if abs(each.error_db) > GROSS_DB]
    seconds = [test.seconds for test in real]
    placed = [test.seconds + test.placings * PLACING_S for test in real]
    return {
        "noise_db": tests[0].unit.noise_db,
        "method": tests[0].unit.method,
        "fault": tests[0].unit.fault.name,
        "people": len({test.unit.person.name for test in real}),
        "ears_valid": sum(ear.valid for ear in ears) / len(ears),
        "tones": median_and_late([ear.tones[0] for ear in asked if ear.tones[0]]),
        "tones_with_noise": median_and_late(
            [sum(ear.tones[1:]) for ear in asked if len(ear.tones) > 1]
        ),
        "ears_with_noise": sum(len(ear.tones) > 1 for ear in ears) / len(ears),
        "all_tones": median_and_late([ear.all_tones for ear in asked]),
        "seconds": median_and_late(seconds),
        "seconds_placings": median_and_late(placed),
        # of those who are drawn, too: the gap there has nothing to do with the others
        "at_6_khz": _at_6_khz(tests),
        "all": _errors(found) | {"gross": len(gross)},
        "clean_false": _of_table_and_drawn(tests, _count_false, every=True),
        "gross_and_unmarked": sum(each.mark != UNCERTAIN for each in gross),
        "mean_gap": _errors_of_gaps([ear.mean_gap for ear in ears if ear.mean_gap]),
        "marks": {mark: _errors(each for each in found if each.mark == mark) for mark in MARKS},
        "gaps": [_count_gaps(tests, low_db, high_db) for low_db, high_db in GAPS_DB],
        "type": _of_table_and_drawn(tests, _count_right),
    }


def _at_6_khz(tests: Sequence[Measured]) -> Row:
    """Return how far thresholds at 6 kHz are off: of all with a number, and of those measured."""
    found = [each for test in tests for ear in test.ears for each in ear.at_6_khz]
    measured = [each for each in found if each.mark in (UNMASKED, MASKED)]
    return {"all": _errors(found), "measured": _errors(measured)}


def _errors_of_gaps(found: Sequence[tuple[float, float]]) -> Row:
    covered = [abs(error_db) <= half_db for error_db, half_db in found]
    half_db = sum(half for _, half in found) / len(found) if found else None
    return error_and_coverage([error for error, _ in found], covered) | {"half_width_db": half_db}


def _errors(found: Iterable[BoneThreshold]) -> Row:
    errors = [*found]
    covered = [each.covered for each in errors if each.covered is not None]
    return error_and_coverage([each.error_db for each in errors], covered)


def _count_gaps(tests: Sequence[Measured], low_db: float, high_db: float) -> Row:
    """Return how many ears whose gap lies there are said to have one, of the table and drawn."""

    def count(ears: Sequence[EarFound]) -> Row:
        there = [ear for ear in ears if low_db <= ear.true_gap_db < high_db]
        return {
            "ears": len(there),
            "called": sum(ear.called is True for ear in there),
            "open": sum(ear.called is None for ear in there),
        }

    ends = {"from_db": _finite(low_db), "below_db": _finite(high_db)}
    return ends | _of_table_and_drawn(tests, count)


def _count_right(ears: Sequence[EarFound]) -> Row:
    right = [ear for ear in ears if ear.called == ear.has_gap]
    told = [ear for ear in ears if ear.called is not None]
    return {
        "ears": len(ears),
        "right": len(right),
        "sure_and_wrong": sum(ear.sure and ear.called != ear.has_gap for ear in told),
    }


def _count_false(ears: Sequence[EarFound]) -> Row:
    """Count the clean numbers that are false, and all numbers whether told or not."""
    clean = [
        each for ear in ears if ear.valid for each in ear.thresholds if each.mark != UNCERTAIN
    ]  # fmt: skip
    return {
        "numbers": len(SCORED_HZ) * len(ears),
        "clean": len(clean),
        "false": sum(abs(each.error_db) > FALSE_DB for each in clean),
    }


def _of_table_and_drawn(
    tests: Sequence[Measured], count: Callable[[Sequence[EarFound]], Row], *, every: bool = False
) -> Row:
    """Return what is counted of both ears of the table's people, and of each one that is drawn.

    `every`: of both ears of these, too.
    """
    real = [ear for test in tests if not test.unit.person.drawn for ear in test.ears]
    of_drawn = [test.ears for test in tests if test.unit.person.drawn]
    drawn = [ear for ears in of_drawn for ear in (ears if every else ears[:1])]
    return {"real": count(real), "drawn": count(drawn)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def table_lines(rows: Sequence[Row]) -> list[str]:
    within = f"within +-{WITHIN_DB:g} dB at 0.5, 1, 2, 4 kHz"
    lines: list[Line] = [
        ("", lambda row: f"{row['fault'] or row['method']}, noise {row['noise_db']:g} dB"),
        (f"tones an ear until {within}, without noise", lambda row: _say_spread(row["tones"])),
        ("ears that are asked with noise", lambda row: f"{row['ears_with_noise']:.0%}"),
        ("tones of these until then", lambda row: _say_spread(row["tones_with_noise"])),
        ("all tones an ear", lambda row: _say_spread(row["all_tones"])),
        ("ears whose test is valid", lambda row: f"{row['ears_valid']:.0%}"),
        ("s for two ears after air", lambda row: _say_spread(row["seconds"])),
        ("s with 10 s for each placing", lambda row: _say_spread(row["seconds_placings"])),
    ]
    for mark in MARKS:
        words = f"{mark}: RMSE (mean error), dB; in the 95 % band"
        lines.append((words, partial(_say_errors, mark=mark)))
    words = f"all: RMSE (mean error), dB; above {GROSS_DB:g} dB, of these not uncertain"
    lines.append((words, _say_all))
    if any(row["at_6_khz"]["all"]["count"] for row in rows):
        for name in ("measured", "all"):
            words = f"6 kHz, {name}: RMSE (mean error), dB; in the 95 % band"
            lines.append((words, partial(_say_at_6_khz, name=name)))
    words = "mean gap at 0.5, 1, 2 kHz: RMSE (mean error), half of the 95 % band, dB; in it"
    lines.append((words, _say_mean_gap))
    for number, gap in enumerate(rows[0]["gaps"]):
        words = f"gap {_say_range(gap)} called: ears, drawn ears"
        lines.append((words, partial(_say_called, number=number)))
    words = f"gap of {GAP_DB:g} dB and more, or none, is right: ears, drawn ears"
    lines.append((words, partial(_say_type, name="right")))
    lines.append(("it is sure and wrong", partial(_say_type, name="sure_and_wrong")))
    words = f"clean numbers that are more than {FALSE_DB:g} dB off: ears, people who are drawn"
    lines.append((words, _say_false))
    return in_columns(rows, lines)


def _say_spread(spread: dict[str, float | None]) -> str:
    if spread["median"] is None:
        return "-"
    return f"{spread['median']:.0f} (95 %: {spread['p95']:.0f})"


def _say_errors(row: Row, mark: str) -> str:
    return _say_found(row["marks"][mark])


def _say_at_6_khz(row: Row, name: str) -> str:
    return _say_found(row["at_6_khz"][name])


def _say_found(found: Row) -> str:
    if not found["count"]:
        return "-"
    in_band = "" if found["covered_95"] is None else f"{found['covered_95']:.3f} "
    return f"{found['rmse_db']:.1f} ({found['bias_db']:+.1f}); {in_band}of {found['count']}"


def _say_false(row: Row) -> str:
    told = row["clean_false"]
    return ", ".join(
        f"{told[who]['false']} of {told[who]['clean']} ({told[who]['numbers']} asked for)"
        for who in ("real", "drawn")
    )


def _say_all(row: Row) -> str:
    found = row["all"]
    if not found["count"]:
        return "-"
    error = f"{found['rmse_db']:.1f} ({found['bias_db']:+.1f})"
    share = found["gross"] / found["count"]
    return f"{error}; {share:.1%} of {found['count']}, {row['gross_and_unmarked']}"


def _say_mean_gap(row: Row) -> str:
    found = row["mean_gap"]
    if not found["count"]:
        return "-"
    error = f"{found['rmse_db']:.1f} ({found['bias_db']:+.1f}), {found['half_width_db']:.1f}"
    return f"{error}; {found['covered_95']:.3f} of {found['count']}"


def _say_range(gap: dict[str, float | None]) -> str:
    low, high = gap["from_db"], gap["below_db"]
    if low is None:
        return f"below {high:g} dB"
    return f"{low:g} dB and more" if high is None else f"{low:g} to {high:g} dB"


def _say_called(row: Row, number: int) -> str:
    of_ears = [row["gaps"][number][name] for name in ("real", "drawn")]
    return ", ".join(
        f"{of['called']} of {of['ears']}" + (f" ({of['open']} open)" if of["open"] else "")
        for of in of_ears
    )


def _say_type(row: Row, name: str) -> str:
    return ", ".join(f"{of[name]} of {of['ears']}" for of in row["type"].values())
