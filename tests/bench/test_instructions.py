"""What a trial costs in instructions, and in Python around them, is what is on file, or less."""

from pathlib import Path

import pytest

from bench.counting.around import BYTES, CALLS, CASES, KINDS
from bench.counting.driver import calls_of
from bench.counting.instructions import (
    FILE,
    LINKERS,
    TRIALS,
    around,
    as_toml,
    instructions,
    missing,
    read_counts,
    rises,
)
from tests.device.image.image import Image

# The cases of one profile on one machine: the rest is for `make bench-instructions`.
TARGET = "x86-64"
CASE, TRIAL = "default told", "16"


@pytest.mark.thorough  # Numba compiles every kernel anew
def test_a_trial_takes_no_more_instructions_than_before(image: Image) -> None:
    """If it is meant: `make bench-instructions COUNT_ARGS=--update`."""
    lacks = missing(TARGET)
    if lacks:
        pytest.skip(f"instructions are not counted: there is no {', no '.join(lacks)}")
    counted = instructions(TARGET, image.text, {case: TRIALS[case] for case in CASES})
    assert rises({TARGET: counted}, read_counts()) == []


def test_a_trial_takes_no_more_python_than_before() -> None:
    """If it is meant, likewise."""
    counted = around([CASE])
    if not counted:
        pytest.skip("Python is counted around a library of kernels, and there is none")
    assert [*counted] == [*KINDS]
    assert all(count > 0 for of in counted.values() for count in of[CASE].values())
    assert rises(counted, read_counts()) == []


@pytest.mark.parametrize(
    ("of", "shares"), [(TARGET, (0.94, 0.96)), (CALLS, (0.94, 0.96)), (BYTES, (0.6, 0.7))]
)
def test_a_count_that_rises_is_named(tmp_path: Path, of: str, shares: tuple[float, float]) -> None:
    """The canary: against a file with other counts the same comparison fails."""
    counted = read_counts()
    count = counted[of][CASE][TRIAL]
    file = tmp_path / FILE.name
    for share, named in ((shares[0], True), (shares[1], False), (1.0, False), (2.0, False)):
        before = read_counts()
        before[of][CASE][TRIAL] = round(share * count)
        file.write_text(as_toml(before), encoding="utf-8")
        found = rises(counted, read_counts(file))
        assert found == named * [
            f"{of}, {CASE}, {TRIAL} trials: {count}, {round(share * count)} on file"
        ]


def test_a_count_of_no_kernels_is_refused() -> None:
    """Else a machine whose kernels are in a library would count nothing, and find no rise."""
    with pytest.raises(RuntimeError, match="GP_PTA_KERNELS=jit"):
        calls_of(lambda: None)


def test_file_reads_back_as_written() -> None:
    counts = read_counts()
    assert as_toml(counts) == FILE.read_text(encoding="utf-8")
    assert set(counts) == {*LINKERS, *KINDS}
    for target in LINKERS:
        assert {case: [int(n) for n in of] for case, of in counts[target].items()} == {
            case: [*trials] for case, trials in TRIALS.items()
        }
