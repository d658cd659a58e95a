"""The offset of clinical thresholds is found again by simulating the procedure."""

import pytest

from firmware_py.ear.clinical_offset import clinical_offset_db
from host_tools.research.clinical_offset import METHODS, classical, main, offset
from tests.budget import either


@pytest.mark.parametrize("rates", [(0.01, 0.01), (0.05, 0.05)])
@pytest.mark.parametrize("noise_db", [1.0, 3.0])
def test_what_is_in_force_is_what_a_simulation_finds(
    noise_db: float, rates: tuple[float, float]
) -> None:
    found = offset(classical, noise_db, rates, either(400, 20_000))
    assert clinical_offset_db(noise_db, *rates) == pytest.approx(
        found.mean_db, abs=either(5, 1) / 10
    )
    assert found.missing < 0.02
    assert 1.0 < found.sd_db < 3.0


def test_a_listener_without_noise_is_found_half_a_step_too_high_by_any_rule() -> None:
    for method in METHODS.values():
        found = offset(method, 1e-6, (0.0, 0.0), 50)
        assert found.mean_db == pytest.approx(2.5, abs=0.05)
        assert found.missing == 0.0


def test_the_table_has_a_row_a_noise(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", "4"]) == 0
    assert capsys.readouterr().out.count("\n") == 10
