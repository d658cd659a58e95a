"""`gp-pta study --seconds`: run whole tests by an exact clock, and print where the time goes."""

import argparse
import json

from firmware_py.terms.settings import CONDUCTS
from host_tools.errors import HostError
from host_tools.research.methods.registry import check_objective
from host_tools.research.study.ears import Tables, other_ears
from host_tools.research.study.listener import Ear
from host_tools.research.study.options import Options
from host_tools.research.study.plan import Measured, ears_measured, read_prior
from host_tools.research.study.seconds import (
    How,
    Timed,
    Unit,
    make_test,
    read_off,
    run_test,
    table_lines,
)
from host_tools.research.study.work import all_done, one_thread

ONE = "one"
BOTH = "both"


def seconds(arguments: argparse.Namespace, options: Options, tables: Tables, workers: int) -> int:
    """Run the tests, and print the table."""
    tested = _names_in("--tested", arguments.tested, (ONE, BOTH))
    hows = [
        How(conduct, each == BOTH, arguments.unsure_half_width)
        for conduct in _names_in("--conduct", arguments.conduct, tuple(CONDUCTS))
        for each in tested
    ]
    own, objective = read_prior(options.prior), options.objective
    prior = None if own is None else own.prior
    if objective:
        check_objective(objective)
    measured = ears_measured(options, tables)
    people = people_of(measured) if BOTH in tested else []
    alone = [(ear.stratum, (ear,)) for ear in measured.ears]
    units = [
        Unit(how, ears, stratum, seed, options.answering, options.response_time_s,
             measured.jitter_db, prior, objective)
        for how in hows
        for stratum, ears in (people if how.both else alone)
        for seed in range(1, options.seeds + 1)
    ]  # fmt: skip
    try:
        make_test(units[0])
    except ValueError as error:
        raise HostError(str(error)) from None
    one_thread()
    by_how: dict[How, list[Timed]] = {how: [] for how in hows}
    for test in all_done(run_test, units, workers):
        by_how[test.unit.how].append(test)
    # In one order whoever was done first, so that sums have the same bits.
    rows = [read_off(how, sorted(tests, key=_place)) for how, tests in by_how.items()]
    if arguments.json:
        about = {"ears": len(alone), "people": len(people), "seeds": options.seeds}
        print(json.dumps({**about, "remarks": list(measured.remarks), "rows": rows}))
        return 0
    for line in [*_heading(options, len(alone), len(people)), *measured.remarks, ""]:
        print(line)
    print("\n".join(table_lines(rows)))
    return 0


def people_of(measured: Measured) -> list[tuple[str, tuple[Ear, ...]]]:
    """Return the people both of whose ears can be scored, the right ear first.

    They are those of the ears that were drawn, each once, with the degree of loss of that ear.

    Raises
    ------
    HostError
        There are none.
    """
    others = {} if measured.people is None else other_ears(measured.people)
    people: dict[str, tuple[str, tuple[Ear, ...]]] = {}
    for ear in measured.ears:
        if ear.name in others:
            pair = sorted((ear, others[ear.name]), key=lambda each: each.name, reverse=True)
            people.setdefault(pair[0].name, (ear.stratum, tuple(pair)))
    if not people:
        raise HostError(
            f"--tested has {BOTH!r}, and nobody there has two ears that can be scored; allowed is "
            f"{ONE!r}, or a table with columns subject and ear"
        )
    return list(people.values())


def _names_in(option: str, text: str, allowed: tuple[str, ...]) -> list[str]:
    """Return the names in a list with commas, each once."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in allowed:
            raise HostError(f"{option} has {name!r}; allowed are {', '.join(allowed)}")
    return list(dict.fromkeys(names))


def _heading(options: Options, ears: int, people: int) -> list[str]:
    how = options.answering.as_told()
    who = f"{ears} ears" + (f", {people} people with both" if people else "")
    return [
        f"{who}; {options.seeds} seeds each; noise {how.response_noise_db:g} dB, lapses "
        f"{how.lapse_rate:g}, false alarms {how.false_alarm_rate:g}; listeners: {how.kind.text}; "
        f"median response time {options.response_time_s:g} s"
    ]


def _place(test: Timed) -> tuple[str, int]:
    return test.unit.ears[0].name, test.unit.seed
