"""The page of conformance is made of `clauses.py`, and phonometry has the same figures.

`python -m tests.standards.test_conformance` makes the page anew.
"""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from device.calibration.retspl import TABLES
from device.hearing_aid.limits import FIELD_DB_SPL, FIELD_HZ
from firmware_py.findings.iso7029 import TABLE
from firmware_py.findings.norms import AgeNorm
from firmware_py.session import room
from firmware_py.session.masking import CIRCUMAURAL, INSERT, SUPRA_AURAL
from firmware_py.terms.room import BANDS_HZ
from tests.standards.clauses import STANDARDS, Clause, Standard
from tests.test_pages import ROOT

PAGE: Final = ROOT / "firmware_py" / "CONFORMANCE.md"
LOCK: Final = Path(__file__).with_name("phonometry.lock")
HEAD: Final = """\
# Conformance, clause by clause

Which type of IEC 60645-1 is this? **Type 4**, and of type 3 bone conduction and masking, by its
makers' word. No laboratory has tried it, no box has been measured, and nobody who wrote this page
had the texts of the standards: who is quoted stands above each table. The page is made by [a
test](../tests/standards/test_conformance.py) of [its rows](../tests/standards/clauses.py), which
take the figures of what is here from the code.

The last column has the test that shows what is here, and what of the clause is **not met**. *On
each device* means that [`gp-pta calibrate`](../device/calibration/README.md) measures it, refuses
what misses the limit, and writes down what was not measured.
"""


def cell_of(clause: Clause) -> str:
    """Return what shows a clause, and what of it is not met."""
    told = []
    if clause.shown_by:
        file, _, function = clause.shown_by.partition("::")
        told.append(f"[{function.removeprefix('test_').replace('_', ' ')}](../tests/{file})")
    if clause.bench:
        told.append("on each device")
    if clause.not_met:
        told.append(f"**not met:** {clause.not_met}")
    return "; ".join(told)


def table_of(standard: Standard) -> str:
    rows = [(row.clause, row.wants, row.here, cell_of(row)) for row in standard.rows]
    lines = [("clause", "it wants", "here", "shown by"), ("---",) * 4, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page() -> str:
    tables = (f"## {each.name}\n\n{each.about}\n\n{table_of(each)}\n" for each in STANDARDS)
    return "\n".join((HEAD, *tables))


@cache
def functions(file: Path) -> set[str]:
    return {node.name for node in ast.parse(file.read_text("utf-8")).body
            if isinstance(node, ast.FunctionDef)}  # fmt: skip


def test_the_page_is_what_its_rows_make() -> None:
    assert PAGE.read_text("utf-8") == page()


@pytest.mark.parametrize("standard", STANDARDS, ids=lambda each: each.name)
def test_every_clause_has_its_row_and_every_row_its_test(standard: Standard) -> None:
    assert tuple(row.clause for row in standard.rows) == standard.clauses
    for row in standard.rows:
        assert all((row.clause, row.wants, row.here)), row.clause
        assert row.shown_by or row.not_met, row.clause
        if row.shown_by:
            file, _, function = row.shown_by.partition("::")
            assert function in functions(ROOT / "tests" / file), row.shown_by


# Tables 2, 4 and 3 of ISO 8253-1, by third octaves from 125 Hz on, as phonometry's tests have them.
THIRDS_HZ: Final = (125, 160, 200, 250, 315, 400, 500, 630, 800, 1000, 1250, 1600, 2000, 2500, 3150,
                    4000, 5000, 6300, 8000)  # fmt: skip
ROOMS: Final = {
    room.AIR_LIMITS_DB_SPL: (28, 23, 20, 19, 18, 18, 18, 18, 20, 23, 25, 27, 30, 32, 34, 36, 35, 34,
                             33),
    room.BONE_LIMITS_DB_SPL: (20, 17, 15, 13, 11, 9, 8, 8, 7, 7, 7, 8, 8, 6, 4, 2, 4, 9, 15),
    room.ATTENUATION_DB[SUPRA_AURAL]: (3, 4, 5, 5, 5, 6, 7, 9, 11, 15, 18, 21, 26, 28, 31, 32, 29,
                                       26, 24),
    room.ATTENUATION_DB[INSERT]: (33, 34, 35, 36, 37, 37, 38, 37, 37, 37, 35, 34, 33, 35, 37, 40,
                                  41, 42, 43),
    room.ATTENUATION_DB[CIRCUMAURAL]: (15, 15, 16, 16, 18, 20, 23, 25, 27, 29, 30, 31, 32, 37, 41,
                                       46, 45, 45, 44),
}  # fmt: skip


def test_rooms_and_earphones_have_the_limits_that_phonometry_has() -> None:
    """A frequency between two third octaves has the upper one."""
    upper = [next(i for i, third in enumerate(THIRDS_HZ) if third >= hz) for hz in BANDS_HZ]
    for ours, theirs in ROOMS.items():
        assert ours == tuple(theirs[i] for i in upper)


# What phonometry says: RETSPL by earphone, the field of ISO 389-7, ISO 7029 by sex, age and share.
ASKED: Final = """
import json
from phonometry.hearing.threshold import (
    RETSPL_FREQUENCIES_HZ as at_hz, age_threshold, earphone_reference_level, reference_threshold)
print(json.dumps({
    "earphones": {name: dict(zip(at_hz.tolist(), earphone_reference_level(name).tolist()))
                  for name in ("TDH 39", "other supra-aural")},
    "field": reference_threshold("free-field").tolist(),
    "people": [(sex, age, share, dict(zip(found.frequencies.tolist(), found.threshold.tolist())))
               for sex in ("male", "female") for age in range(18, 81)
               for share in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
               for found in [age_threshold(age, sex, share)]],
}))
"""


@pytest.fixture(scope="module")
def phonometry(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the answers of phonometry, from a process of its own; its wheel needs no unpacking."""
    place = tmp_path_factory.mktemp("phonometry")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes",
           "--ignore-requires-python", "--dest", str(place), "-r", str(LOCK)]  # fmt: skip
    got = subprocess.run(pip, capture_output=True, text=True, check=False)
    if got.returncode:
        if "DO NOT MATCH THE HASHES" in got.stderr:
            pytest.fail(got.stderr)
        pytest.skip(f"phonometry cannot be had: {got.stderr.strip().splitlines()[-1]}")
    (wheel,) = place.glob("*.whl")
    asked = subprocess.run(
        [sys.executable, "-c", ASKED], env=os.environ | {"PYTHONPATH": str(wheel)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(asked.stdout)


@pytest.mark.thorough
def test_phonometry_has_the_same_figures(phonometry: Any) -> None:
    """All but 750 Hz of a TDH 39, which is ANSI's here and ISO's there."""
    from scipy.special import ndtri

    earphones = phonometry["earphones"]
    for ours, theirs in (("tdh39", "TDH 39"), ("supra-aural", "other supra-aural")):
        levels = {f: earphones[theirs][str(float(f))] for f in TABLES[ours].levels_db_spl}
        differ = {f: (TABLES[ours].levels_db_spl[f], level) for f, level in levels.items()
                  if TABLES[ours].levels_db_spl[f] != level}  # fmt: skip
        assert differ == ({750: (8.0, 7.5)} if ours == "tdh39" else {})
    assert dict(zip(FIELD_HZ, FIELD_DB_SPL, strict=True)) == dict(
        zip(FIELD_HZ, phonometry["field"], strict=True)
    )
    compared = 0
    for sex, age, share, levels in phonometry["people"]:
        norm = AgeNorm(float(age), sex[0].upper())
        assert {float(f) for f in levels} == {*map(float, norm.frequencies_hz)}
        for f in norm.frequencies_hz:
            found_db = norm.threshold_db_hl(f, float(ndtri(share)))
            assert found_db == pytest.approx(levels[str(float(f))], abs=1e-9), (sex, age, share, f)
            compared += 1
    assert compared == 2 * 63 * 7 * len(TABLE) / 2


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
