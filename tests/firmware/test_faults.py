"""A whole hearing test over a bad cable: its result does not depend on the cable.

The number of presses without a tone may differ: a bad cable makes the pauses before tones longer,
and so more of them fall into a pause.
"""

import itertools
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from device.simulator.faults import FaultCounts, FaultRates, FaultyBoard
from device.simulator.world import World
from firmware_py.link.notices import Missed
from host_tools.recordings.replayed import IDENTICAL, replay_journal
from tests.firmware.whole_sessions import (
    a_listener,
    asked_again_though_answered,
    result_of,
    stimuli_of,
)

# They are compared with the same session, which is run once.
pytestmark = [pytest.mark.usefixtures("quick_disk"), pytest.mark.xdist_group("bad cable")]

FAULTS = {
    "drop": FaultRates(drop=0.05),
    "garble": FaultRates(garble=0.05),
    "delay": FaultRates(delay=0.05),
    "duplicate": FaultRates(duplicate=0.05),
    "everything": FaultRates(0.05, 0.05, 0.05, 0.05),
}


# Fault, seed and speed.
SELDOM = [
    ("drop", 1, 1), ("drop", 1, 40), ("garble", 1, 1),
    *itertools.product(["delay", "duplicate"], [1], [1, 40]),
    *(("everything", seed, 40) for seed in range(1, 6)),
]  # fmt: skip


class BadCableWorld(World):
    board: Any

    def __init__(self, directory: Path, rates: FaultRates, seed: int, speed: int) -> None:
        # One who never presses without a tone: on a bad cable the test takes longer, and there
        # would be more such presses.
        listener = a_listener("S2", lapse_rate=0.01)
        super().__init__(directory, listener, speed=speed)
        self.board = FaultyBoard(self.board, rates, seed, speed)

    @property
    def counts(self) -> FaultCounts:
        counts: FaultCounts = self.board.counts
        return counts


def run(directory: Path, rates: FaultRates, seed: int = 1, speed: int = 1) -> BadCableWorld:
    world = BadCableWorld(directory, rates, seed, speed)
    world.live({"seed": 4})
    return world


@pytest.fixture(scope="module")
def good_journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(tmp_path_factory.mktemp("good") / "data", FaultRates()).journal()


def assert_like(good_journal: Path, journal: Path) -> None:
    """The same tones, and the same result to the bit, response times included."""
    assert stimuli_of(journal) == stimuli_of(good_journal)
    assert {**result_of(journal), "stray_presses": ANY} == result_of(good_journal)
    assert asked_again_though_answered(journal) == []
    assert replay_journal(journal).code == IDENTICAL


@pytest.mark.parametrize(
    ("fault", "seed", "speed"),
    [
        ("everything", 1, 1),
        ("garble", 1, 40),
        *(pytest.param(*each, marks=pytest.mark.thorough) for each in SELDOM),
    ],
)
def test_a_session_over_a_bad_cable_comes_to_the_same_result(
    tmp_path: Path, good_journal: Path, fault: str, seed: int, speed: int
) -> None:
    world = run(tmp_path / "data", FAULTS[fault], seed, speed)
    counts, counters = world.counts, world.client.counters
    befell = {
        "drop": counts.dropped,
        "garble": counts.garbled,
        "delay": counts.delayed,
        "duplicate": counts.duplicated,
    }

    assert_like(good_journal, world.journal())
    for name, count in befell.items():
        assert (count > 20) == (fault in (name, "everything")), befell
    if fault == "everything":
        assert min(counters.repeats, counters.garbled, counters.stale) > 20


def test_at_nine_times_the_rates_it_ends_all_the_same(tmp_path: Path, good_journal: Path) -> None:
    """Boards may be lost and found, and events missed; the answers are the listener's."""
    world = run(tmp_path / "data", FaultRates(drop=0.45, duplicate=0.2), seed=6)

    assert any(isinstance(notice, Missed) for notice in world.notices)
    assert stimuli_of(world.journal()) == stimuli_of(good_journal)
    assert result_of(world.journal())["ears"] == result_of(good_journal)["ears"]
