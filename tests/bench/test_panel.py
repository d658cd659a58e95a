"""The panel changes what it says, and nothing else; its table tells paired differences."""

import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from bench.panel.__main__ import NOTHING, constant_lines, rule_lines
from bench.panel.changes import Change
from bench.panel.constants import ROOT, constants
from bench.panel.rows import Ending, sittings
from bench.panel.rules import RULES

ENDING = Ending(60.0, 40, 4, 16.0, 4, 0, wrong=False, doubted=False, far_inferred=False)


def told_by(changes: list[Change], code: str) -> str:
    """Run code in a process in which this is changed."""
    told = [asdict(each) for each in changes]
    before = "from bench.panel.changes import Change, install\n"
    before += f"check = install([Change(**each) for each in {told!r}])\n"
    done = subprocess.run(
        [sys.executable, "-c", before + code], capture_output=True, text=True, check=False, cwd=ROOT
    )
    return done.stdout + done.stderr


def test_a_constant_and_what_is_derived_from_it_are_changed() -> None:
    change = Change("firmware_py.ear.caps", "7", "CHECKS_USUAL")
    code = "from firmware_py.ear import caps; check(); print(caps.CHECKS_USUAL, {})"
    derived = "caps.ATTENTION_TONES_MAX"
    (usual, more), (_, before) = (
        map(int, told_by(changes, code.format(derived)).split()) for changes in ([change], [])
    )

    assert usual == 7
    assert more == before + 3


@pytest.mark.parametrize(
    ("change", "code", "error"),
    [
        (Change("firmware_py.ear.caps", "7", "NO_SUCH"), "import firmware_py.ear.caps", "0 times"),
        (Change("firmware_py.ear.caps", "pass"), "check()", "nothing imports firmware_py.ear.caps"),
    ],
)
def test_a_change_that_changes_nothing_is_an_error(change: Change, code: str, error: str) -> None:
    assert error in told_by([change], code)


def test_every_constant_has_a_step_up_and_one_down() -> None:
    found = constants()

    assert found["enough.HALF_WIDTH_DB up"][0].code == repr(6.5 * 1.1)
    assert found["marks.SILENT_BELOW_MIN down"][0].code == "1"
    assert found["marks.THIRD_OCTAVE up"][0].code == "1.1 / 3.0"
    assert float(found["enough.BAND_PROBABILITY up"][0].code) == pytest.approx(1 - 0.05 / 1.1)
    names = {name.removesuffix(" up").removesuffix(" down") for name in found}
    assert len(found) == 2 * len(names) > 150


def test_every_rule_changes_a_module_that_there_is() -> None:
    for name, changes in RULES.items():
        for each in changes:
            assert (ROOT / each.module.replace(".", "/")).with_suffix(".py").exists(), name


def test_the_people_have_names_of_their_own() -> None:
    names = [f"{each.row} {each.name}" for each in sittings()]

    assert len({*names}) == len(names) > 200


def test_the_tables_of_the_page_tell_what_moves_with_its_error() -> None:
    base = {str(n): asdict(ENDING) for n in range(4)}
    worse = {**base, "0": asdict(replace(ENDING, seconds=64.0, square_db2=64.0, wrong=True))}
    slower = {n: asdict(replace(ENDING, seconds=70.0 + int(n), tones=50)) for n in base}
    results = {
        NOTHING: base, "a.RULE up": worse, "a.RULE down": base, "b.RULE up": slower,
        "b.RULE down": {"error": {"what": ["NameError"]}},
    }  # fmt: skip

    means, _, *table, _, others = rule_lines(results)
    assert means.startswith("seconds 60; tones 40; error 2; coverage 1; thresholds 4; uncertain 0;")
    assert [[cell.strip() for cell in row.split("|")[1:-1]] for row in table[2:]] == [
        ["b.RULE up", "4", "seconds +12 ± 0.65"],
        ["b.RULE down", "-", "does not run NameError"],
    ]
    assert others == "no mean so far: a.RULE up (1), a.RULE down (0)"
    head, _, *rows = constant_lines(results)
    assert head.split("|")[2].strip() == "up"
    assert [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows] == [
        ["`b.RULE`", "4: seconds +12 ± 0.65; tones +10 ± 0", "-: does not run NameError"]
    ]
