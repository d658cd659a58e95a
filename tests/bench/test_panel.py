"""The panel changes what it says, and nothing else; its table tells paired differences."""

import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from bench.panel.__main__ import NOTHING, rows
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
    assert more == before + 2


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


def test_the_table_tells_what_is_lost_with_its_error() -> None:
    base = {str(n): asdict(ENDING) for n in range(4)}
    worse = {**base, "0": asdict(replace(ENDING, seconds=64.0, square_db2=64.0, wrong=True))}
    nothing, without, broken = rows(
        {NOTHING: base, "a rule": worse, "another": {"error": {"what": ["NameError"]}}}
    )

    assert nothing[:4] == [NOTHING, "0 of 4", "60", "40"]
    assert without[:5] == ["a rule", "1 of 4", "+1 ± 1", "", "+0.5 ± 0.5"]
    assert without[-3:] == ["+25 ± 25", "", ""]
    assert broken[:3] == ["another", "does not run", "NameError"]
