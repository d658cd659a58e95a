"""What a trial costs in instructions is what is kept on file, or less."""

import pytest

from bench.counting import instructions
from bench.counting.instructions import LINKED_AS, as_toml, kept, missing

RISE_MAX = 1.05
PROFILE, TRIALS = "default", 64


@pytest.mark.parametrize("target", LINKED_AS)
def test_a_trial_takes_no_more_instructions_than_before(target: str) -> None:
    """If it is meant: `python -m bench.counting.instructions --update`."""
    lacks = missing(target)
    if lacks:
        pytest.skip(f"instructions are not counted: there is no {', no '.join(lacks)}")
    counted = instructions.instructions(target, [PROFILE], [TRIALS])[PROFILE][str(TRIALS)]
    before = kept()[target][PROFILE][str(TRIALS)]
    assert counted <= RISE_MAX * before, f"{counted} instructions, {before} on file"


def test_file_reads_back_as_written() -> None:
    counts = kept()
    assert as_toml(counts) == instructions.FILE.read_text(encoding="utf-8")
    assert set(counts) == set(LINKED_AS)
