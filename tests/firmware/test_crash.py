"""A small campaign of `make crash`: in memory the simulated devices are killed every day."""

import random
from pathlib import Path

import pytest

from tests.firmware.crash import OTHERS, Plan, kill_until_over

pytestmark = pytest.mark.thorough

KILLS = 4


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


@pytest.mark.parametrize("what", OTHERS)
def test_killed_in_a_tuning_or_an_update_it_loses_nothing(what: str, tmp_path: Path) -> None:
    kills = [*OTHERS[what](tmp_path, random.Random(2), KILLS)]
    assert sum(map(len, kills)) >= KILLS
