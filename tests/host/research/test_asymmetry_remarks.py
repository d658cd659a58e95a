"""The figures of the remark of an asymmetry: simulated people whose ears are known."""

import pytest

from host_tools.research.asymmetry_remarks import Person, is_named, main


def test_a_large_difference_is_named() -> None:
    assert is_named(Person(1, 2.0, 40.0))


@pytest.mark.thorough
def test_the_table_has_a_row_for_each_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--people", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[1].startswith("   0 dB poorer, noise 2 dB:   0.0 %")
