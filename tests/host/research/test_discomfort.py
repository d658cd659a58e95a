"""Levels of discomfort are learned from people, and judged by others."""

from pathlib import Path

import numpy as np
import pytest

from device.hearing_aid.limits import KNOTS_DB_HL, MEASURED_HZ
from host_tools.research.discomfort import Points, main, over_db, quantile

HEADER = ["person", *(f"{what}{f:g}" for f in MEASURED_HZ for what in ("air", "ucl"))]


def people(count: int) -> Points:
    """Return ears whose own level lies evenly within 20 dB of one that rises with the threshold."""
    rng = np.random.default_rng(3)
    threshold_db_hl = 5.0 * rng.integers(0, 17, count).astype(np.float64)
    own_db_hl = 90.0 + 0.2 * threshold_db_hl + rng.uniform(-20.0, 20.0, count)
    found_db_hl = 5.0 * np.ceil(own_db_hl / 5.0)  # in rising steps
    return Points(np.arange(count).astype(str), threshold_db_hl, found_db_hl)


def test_the_level_that_a_share_of_the_ears_finds_uncomfortable_is_found_again() -> None:
    for share, above_db in ((0.1, -16.0), (0.5, 0.0), (0.9, 16.0)):
        expected = [90.0 + 0.2 * knot + above_db for knot in KNOTS_DB_HL]
        assert quantile(people(20_000), share) == pytest.approx(expected, abs=0.7)


def test_other_people_find_the_limit_too_loud_as_often_as_wanted() -> None:
    above_db = over_db(people(2_000), np.random.default_rng(0))
    assert 0.04 < np.mean(above_db > 0.0) < 0.1  # levels are found up to a step too high
    assert not np.any(above_db > 10.0)


def test_a_file_is_read_and_what_is_not_measured_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ears = people(60)
    rows = [
        ",".join([person, *([f"{air:g}", f"{ucl:g}"] * len(MEASURED_HZ))])
        for person, air, ucl in zip(
            ears.person, ears.threshold_db_hl, ears.discomfort_db_hl, strict=True
        )
    ]
    rows.append(",".join(["60", *[""] * (len(HEADER) - 1)]))
    path = tmp_path / "ears.csv"
    path.write_text("\n".join([",".join(HEADER), *rows]), encoding="utf-8")

    assert main([str(path)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("of 60 ears") == 3 * len(MEASURED_HZ)
    assert printed.count("\n") == 1 + 12 + 2 + 2 + 5
