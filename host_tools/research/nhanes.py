"""`gp-pta nhanes`: the table of ears that studies and the prior use, from the CDC's public files.

A cycle of the survey is two files of the SAS transport format: the audiometry (``AUX_C.XPT``) and
who the people are (``DEMO_C.XPT``). Cycles of which a file is missing are named and left out.
"""

import argparse
import csv
import io
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from device.audiogram_tables import nhanes
from firmware_py.platform.named_file import open_named
from firmware_py.terms.route import LEFT, RIGHT
from host_tools.errors import HostError
from host_tools.files import cannot_be_read, check_name, write_text
from host_tools.terminal import say_aside

EXAMPLE: Final = """\
example:
  gp-pta nhanes downloads -o nhanes_audiograms.csv

The directory has pairs of files that the CDC publishes: AUX1.XPT with DEMO.XPT, AUX_B with DEMO_B
and so on, as many as you like; host_tools/research/README.md says from where. The table has an ear
a row, as gp-pta study, learn-prior and --audiogram FILE.csv:ROW read it.
"""
NEEDS: Final = {"": ("pyreadstat",)}
PERSON: Final = "SEQN"
MODE: Final = "AUAMODE"
MODES: Final = {"1": "manual", "2": "auto", "3": "mixed"}
NO_RESPONSE: Final = str(nhanes.NO_RESPONSE)
COULD_NOT_OBTAIN: Final = str(nhanes.COULD_NOT_OBTAIN)
CODES: Final = (NO_RESPONSE, COULD_NOT_OBTAIN)
FREQUENCIES: Final = ("500", "1000", "1000_retest", "2000", "3000", "4000", "6000", "8000")
COLUMNS: Final = (
    "source", "subject", "ear", "age", "sex", *(f"t{name}" for name in FREQUENCIES), "no_response",
    "mode",
)  # fmt: skip


class Cycle(NamedTuple):
    """A cycle of the survey: its years, and the files of audiometry and of people."""

    years: str
    audiometry: str
    people: str


# 2013-2014 had no audiometry; 2019-2020 was broken off, and is published with the two years before.
CYCLES: Final = (
    Cycle("1999-2000", "AUX1", "DEMO"),
    *(Cycle(years, f"AUX_{letter}", f"DEMO_{letter}") for years, letter in (
        ("2001-2002", "B"), ("2003-2004", "C"), ("2005-2006", "D"), ("2007-2008", "E"),
        ("2009-2010", "F"), ("2011-2012", "G"), ("2015-2016", "I"),
    )),
    Cycle("2017-2020", "P_AUX", "P_DEMO"),
)  # fmt: skip

Table = Mapping[str, Sequence[Any]]  # the values of each variable


def add_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("folder", type=Path, metavar="DIR", help="with the .XPT files of the CDC")
    p.add_argument(
        "-o", "--out", type=Path, required=True, metavar="FILE.csv", help="the table to write"
    )
    p.add_argument("--force", action="store_true", help="overwrite what is there")


def run(arguments: argparse.Namespace) -> int:
    """Read every cycle that is there, write the table, and say what is in it."""
    check_name(arguments.out, "-o", (".csv",), arguments.force)
    rows = list(rows_of(arguments.folder))
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    write_text(arguments.out, text.getvalue(), for_all=True)
    say_aside(f"{arguments.out}: {len(rows)} ears")
    return 0


def rows_of(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the ears of every cycle of which both files are there; the others are named."""
    found = _files_of(folder)
    missing = {
        cycle: [name for name in (cycle.audiometry, cycle.people) if name not in found]
        for cycle in CYCLES
    }
    if all(missing.values()):
        names = ", ".join(f"{c.audiometry}.XPT with {c.people}.XPT" for c in CYCLES[:2])
        raise HostError(f"{folder} has no cycle of NHANES; wanted are pairs of files: {names} ...")
    for cycle, lacking in missing.items():
        if not lacking:
            yield from _rows_of_cycle(cycle, found)
    left_out = [f"{c.years} (no {', no '.join(each)})" for c, each in missing.items() if each]
    if left_out:
        say_aside(f"left out: {', '.join(left_out)}")


def _files_of(folder: Path) -> dict[str, Path]:
    """Return the transport files of a directory by their names, however the letters are written."""
    try:
        return {p.stem.upper(): p for p in sorted(folder.iterdir()) if p.suffix.upper() == ".XPT"}
    except OSError as error:
        raise cannot_be_read(folder, error) from None


def _rows_of_cycle(cycle: Cycle, found: Mapping[str, Path]) -> list[dict[str, str]]:
    audiometry = read_table(found[cycle.audiometry], PERSON, nhanes.variable(RIGHT, 500))
    people = read_table(found[cycle.people], PERSON, nhanes.AGE_YEARS, nhanes.SEX)
    rows = list(ears_of(cycle, audiometry, people))
    of_people = Counter(row["subject"] for row in rows)
    nothing = len(audiometry[PERSON]) - len(of_people)
    say_aside(
        f"{cycle.years}: {len(rows)} ears of {len(of_people)} people; "
        f"{nothing} people without a threshold"
    )
    return rows


def read_table(path: Path, *wanted: str) -> Table:
    """Return the variables of a transport file, among which are these."""
    import pyreadstat

    try:
        with open_named(path) as file:
            table, _ = pyreadstat.read_xport(file, output_format="dict")
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError) as error:
        raise HostError(f"{path} is no SAS transport file (version 5): {error}") from None
    if missing := [name for name in wanted if name not in table]:
        raise HostError(f"{path} has no variable {', '.join(missing)}; wanted is a file of NHANES")
    return {name: list(values) for name, values in table.items()}


def ears_of(cycle: Cycle, audiometry: Table, people: Table) -> Iterator[dict[str, str]]:
    """Yield the ears of a cycle in the columns of the table, first all right ones, then all left.

    An ear is left out if nothing was found or sought at any frequency, or nobody knows its person.
    """
    who = {
        _whole(person): (_whole(age), _whole(sex))
        for person, age, sex in zip(
            people[PERSON], people[nhanes.AGE_YEARS], people[nhanes.SEX], strict=True
        )
    }
    sexes = {code: letter for letter, code in nhanes.SEXES.items()}
    persons = [_whole(value) for value in audiometry[PERSON]]
    modes = [_whole(value) for value in audiometry.get(MODE, [None] * len(persons))]
    for ear in (RIGHT, LEFT):
        columns = _columns_of(ear, audiometry)
        for i, person in enumerate(persons):
            codes = {name: _whole(columns[name][i]) for name in FREQUENCIES if name in columns}
            if person not in who or set(codes.values()) <= {"", COULD_NOT_OBTAIN}:
                continue
            age, sex = who[person]
            yield {
                "source": f"NHANES {cycle.years}",
                "subject": person,
                "ear": ear[0].upper(),
                "age": age,
                "sex": sexes.get(sex, ""),
                **{f"t{name}": "" if code in CODES else code for name, code in codes.items()},
                "no_response": ";".join(n for n, code in codes.items() if code == NO_RESPONSE),
                "mode": MODES.get(modes[i], ""),
            }


def _columns_of(ear: str, audiometry: Table) -> dict[str, Sequence[Any]]:
    """Return the thresholds of an ear by how the table calls their frequency."""
    places = {name: nhanes.place_of(name) for name in audiometry}
    return {
        f"{place[1]:g}{'_retest' if place[2] else ''}": audiometry[name]
        for name, place in places.items()
        if place is not None and place[0] == ear
    }


def _whole(value: Any) -> str:
    """Return a value of a table as a whole number; "" if it is missing.

    A zero of the format may come as the smallest number there is.
    """
    if value is None or isinstance(value, str) or math.isnan(value):
        return ""
    return str(round(value))
