"""A small campaign of `make crash` with every run of the tests, and the alarm it would raise."""

import random
from pathlib import Path

import pytest

from tests.firmware.crash import (
    OTHERS,
    Plan,
    assert_like_undisturbed,
    fill_disk,
    kill_until_over,
    small_disks_can_be_mounted,
    stop_and_go_on,
)
from tests.firmware.whole_sessions import a_listener, run_session

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


@pytest.mark.thorough  # in memory disks are full in tests/journal and tests/simulation
def test_a_full_file_system_loses_nothing(plan: Plan, tmp_path: Path) -> None:
    if not small_disks_can_be_mounted():
        pytest.skip("nothing may be mounted here, not even for one process alone")
    records = fill_disk(plan, tmp_path / "data", kib=32)
    assert 100 < records < 400


def test_the_alarm_rings(plan: Plan, tmp_path: Path) -> None:
    """Another session than the undisturbed one is seen to be another."""
    other = run_session(tmp_path, a_listener("N3"), {"ears": "left", "seed": 3})
    with pytest.raises(AssertionError):
        assert_like_undisturbed(other, plan.undisturbed)
