"""What a trial costs in instructions is what is kept on file, or less."""

from pathlib import Path

import pytest

from bench.counting.driver import calls_of
from bench.counting.instructions import (
    FILE,
    LINKERS,
    as_toml,
    instructions,
    missing,
    read_counts,
    rises,
)
from tests.device.image.image import Image

# One profile at one size on one machine: the rest is for `make bench-instructions`.
TARGET, PROFILE, TRIALS = "x86-64", "default", 64


@pytest.mark.thorough  # Numba compiles every kernel anew
def test_a_trial_takes_no_more_instructions_than_before(image: Image) -> None:
    """If it is meant: `make bench-instructions COUNT_ARGS=--update`."""
    lacks = missing(TARGET)
    if lacks:
        pytest.skip(f"instructions are not counted: there is no {', no '.join(lacks)}")
    counted = instructions(TARGET, image.text, {PROFILE: [TRIALS]})
    assert rises({TARGET: counted}, read_counts()) == []


def test_a_count_that_rises_by_more_than_a_twentieth_is_named(tmp_path: Path) -> None:
    """The canary: against a file with other counts the same comparison fails."""
    counted = read_counts()
    count = counted[TARGET][PROFILE][str(TRIALS)]
    file = tmp_path / FILE.name
    for share, named in ((0.94, True), (0.96, False), (1.0, False), (2.0, False)):
        before = read_counts()
        before[TARGET][PROFILE][str(TRIALS)] = round(share * count)
        file.write_text(as_toml(before), encoding="utf-8")
        found = rises(counted, read_counts(file))
        assert found == named * [
            f"x86-64, default, 64 trials: {count} instructions, {round(share * count)} on file"
        ]


def test_a_count_of_no_kernels_is_refused() -> None:
    """Else a machine whose kernels are in a library would count nothing, and find no rise."""
    with pytest.raises(RuntimeError, match="GP_PTA_KERNELS=jit"):
        calls_of(lambda: None)


def test_file_reads_back_as_written() -> None:
    counts = read_counts()
    assert as_toml(counts) == FILE.read_text(encoding="utf-8")
    assert set(counts) == set(LINKERS)
