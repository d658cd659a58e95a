"""A small campaign of `make crash` with every run of the tests."""

import random
from pathlib import Path

import pytest

from tests.firmware.crash import (
    OTHERS,
    Plan,
    kill_until_over,
    stop_and_go_on,
)

KILLS = 4
STOPPED_S = 1.5  # longer than the board waits for a host


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return Plan.of(tmp_path_factory.mktemp("crash"), "S2", "left", 3)


def test_a_firmware_killed_at_random_moments_ends_as_undisturbed(
    plan: Plan, tmp_path: Path
) -> None:
    kills = kill_until_over(plan, tmp_path / "data", random.Random(2), KILLS)
    records = [kill.records for kill in kills]
    assert 1 < len(records) <= KILLS
    assert records == sorted(records)


@pytest.mark.thorough
@pytest.mark.parametrize("what", OTHERS)
def test_killed_in_a_tuning_or_an_update_it_loses_nothing(what: str, tmp_path: Path) -> None:
    kills = [*OTHERS[what](tmp_path, random.Random(2), KILLS)]
    assert sum(map(len, kills)) >= KILLS


@pytest.mark.thorough  # in the world of tests/firmware a host stands still, too
def test_a_firmware_that_was_stopped_goes_on(plan: Plan, tmp_path: Path) -> None:
    stop_and_go_on(plan, tmp_path / "data", STOPPED_S)
