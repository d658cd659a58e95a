"""What levels tell of others is learned from half of the people, and judged by the other half."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from device.hearing_aid.discomfort import LEARNED
from host_tools.main import main
from host_tools.research.told_levels import TOLD, Person, judged, learned, rows_of
from tests.host.journals import Refused


def simulated(count: int) -> list[Person]:
    """Return people as the model in force has them, a tenth of whose levels nobody measured."""
    random = np.random.default_rng(1)
    people = []
    for number in range(count):
        thresholds = np.clip(random.normal(45.0, 20.0) + random.normal(0.0, 15.0, (2, 4)), 0, 110)
        levels = LEARNED.expected_db_hl(thresholds) + random.multivariate_normal(
            np.zeros(8), LEARNED.covariance_db2(2)
        ).reshape(2, 4)
        levels[random.uniform(size=(2, 4)) < 0.1] = np.nan
        people.append(Person(str(number), thresholds, levels))
    return people


def test_the_model_that_made_people_is_learned_from_them() -> None:
    found = learned(simulated(600))
    assert_allclose(found.base_db_hl, LEARNED.base_db_hl, atol=3.0)
    assert_allclose(found.rise, LEARNED.rise, atol=0.12)
    assert found.mean_share == pytest.approx(LEARNED.mean_share, abs=0.05)
    assert_allclose(found.covariance_db2(2), LEARNED.covariance_db2(2), rtol=0.15)


def test_one_level_an_ear_tells_the_others_with_a_band_that_holds() -> None:
    people = simulated(200)
    one, each_ear, *_ = rows_of([judged(people, name) for name in TOLD])
    assert one["rmse_db"] > each_ear["rmse_db"]
    assert each_ear["rmse_db"] < 6.0
    assert each_ear["coverage"] == pytest.approx(0.95, abs=0.02)
    assert each_ear["too_loud"] == pytest.approx(0.1, abs=0.03)
    assert each_ear["far_too_loud"] < 0.01


def test_the_table_is_printed_with_the_constants(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], refusal_of: Refused
) -> None:
    path = tmp_path / "ears.csv"
    hertz = (500, 1000, 2000, 4000)
    lines = [",".join(["person", "ear", *(f"{k}{f}" for k in ("air", "ucl") for f in hertz)])]
    for person in simulated(60):
        for ear, own, levels in zip("RL", person.thresholds, person.levels, strict=True):
            cells = ["" if np.isnan(each) else f"{each:.1f}" for each in (*own, *levels)]
            lines.append(",".join([person.name, ear, *cells]))
    path.write_text("\n".join(lines))
    asked = ["study", "--discomfort", "--audiograms", str(path), "--workers", "0"]
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["told"] for row in told["rows"]][1] == "1 kHz, each ear"
    assert told["learned"]["people"] > 50
    assert main(asked) == 0
    assert "same_ear_db2: [[" in capsys.readouterr().out

    path.write_text("\n".join(lines[:20]))
    assert "allowed are 40 and more" in refusal_of(*asked)
