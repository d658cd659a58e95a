"""What a test may take of the disk, held against the journals of real sessions."""

import json
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import pytest

from device.simulator.world import World
from firmware_py.comparisons.settings import TuningSettings
from firmware_py.ear.caps import presentations_max
from firmware_py.journal import SealKey, read_journal
from firmware_py.journal.records import (
    HEADER_BYTES_MAX,
    JOURNAL_BYTES_MAX,
    RECORD_BYTES_MAX,
    UNSYNCED_BYTES_MAX,
)
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.platform.room_on_disk import (
    LEFT_BY_UPDATE_BYTES,
    PRESENTATION_BYTES,
    SOUND_BYTES,
    TO_BEGIN_AND_END_BYTES,
    TO_END_BYTES,
    of_test,
    of_tuning,
)
from firmware_py.terms.route import AUDIOGRAM_FREQUENCIES_HZ
from firmware_py.terms.settings import AIR_AND_BONE, BOTH, CLINICAL, Settings
from tests.budget import quick
from tests.firmware.whole_sessions import a_listener, finish_and_place
from tests.journal.simulated_disk import SimulatedDisk

DATA: Final = Path("/data")
GOLDEN: Final = Path(__file__).parents[1]
SEAL_BYTES: Final = len(', "seal": ""') + 64  # of a line
CONFIRMED: Final = {"confirm": "hughson-westlake", "confirm_frequencies_hz": [500, 1000, 4000]}
# By name: the settings of a test, and who listens.
SESSIONS: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "masked": ({}, {"audiogram": "N1,N6"}),
    "clinical": ({"conduct": CLINICAL, "ear_check": False, **CONFIRMED}, {"audiogram": "N3"}),
    "by bone": ({"routes": AIR_AND_BONE}, {"audiogram": "N4,S1"}),
    "answers everything": ({}, {"false_alarm_rate": 0.9}),
    "answers nothing": ({}, {"lapse_rate": 1.0}),
    "most tones": (
        {"tones_max": 120, "stop_half_width_db": 1.0, "ask_all": True, "catch_rate": 0.5,
         "retest": True, "confirm": "hughson-westlake", "routes": AIR_AND_BONE,
         "confirm_frequencies_hz": [*AUDIOGRAM_FREQUENCIES_HZ]},
        {"audiogram": "N1,N6", "response_noise_db": 8.0, "lapse_rate": 0.1},
    ),
}  # fmt: skip


@cache
def whole_session(name: str) -> tuple[Settings, bytes, int]:
    """Return settings, journal and number of presentations of a whole session."""
    changes, listener = SESSIONS[name]
    disk, settings = SimulatedDisk(), Settings.from_record(changes)
    data = partial(DataDirectory, seal_key=SealKey(bytes(32)), disk=disk)
    world = World(DATA, a_listener(**listener), data=data)
    world.begin(settings)
    finish_and_place(world)
    content = disk.durable(world.journal())
    assert content is not None
    assert read_journal(world.journal(), disk=disk).complete
    assert world.runner.last_test is not None
    return settings, content, world.runner.last_test.number


@pytest.mark.parametrize("name", quick(SESSIONS, "masked", "clinical", "by bone"))
def test_no_session_outgrows_what_was_reckoned(name: str) -> None:
    settings, content, presentations = whole_session(name)
    _, *lines = content.splitlines(keepends=True)
    between = sum(len(line) for line in lines if b'"finish"' not in line)

    assert presentations <= presentations_max(settings)
    assert between <= presentations * PRESENTATION_BYTES
    assert len(content) <= of_test(settings)
    assert len(lines[-2]) + len(lines[-1]) + PRESENTATION_BYTES <= TO_END_BYTES


def test_what_goes_on_by_itself_after_a_minute_has_a_presentation_a_second() -> None:
    """A minute for which ear is which, three of checks; 40 tones, 39 more, 40 anew twice."""
    settings = Settings(ears="left", catch_rate=0.0, tones_max=40)
    assert presentations_max(settings) == 60 + 3 * 60 + 40 + 39 + 2 * 40
    by_bone, again = replace(settings, ears=BOTH, routes=AIR_AND_BONE), 2 * 20 + 20
    # Of each ear, what is asked again with noise is 20 tones: by air once more, when bone is known.
    assert presentations_max(by_bone) == 60 + 2 * (2 * (3 * 60 + 40 + 39 + 2 * 40) + again)


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("golden/*.journal")))
def test_no_golden_session_would_if_it_were_sealed(name: str) -> None:
    lines = (GOLDEN / f"golden/{name}.journal").read_bytes().splitlines(keepends=True)
    numbers = [json.loads(line).get("action", {}).get("number", 0) for line in lines]
    between = sum(len(each) + SEAL_BYTES for each in lines[1:] if b'"finish"' not in each)
    settings = Settings.from_record(json.loads(lines[0])["settings"])
    assert max(numbers) <= presentations_max(settings)
    assert between <= max(numbers) * PRESENTATION_BYTES
    assert between + len(lines[0]) <= of_test(settings)


def test_no_tuning_does_either() -> None:
    lines = (GOLDEN / "tuning/golden-tuning.journal").read_bytes().splitlines(keepends=True)
    sounds = max(json.loads(line).get("action", {}).get("number", 0) for line in lines)
    between = sum(len(each) + SEAL_BYTES for each in lines[1:])
    settings = TuningSettings.from_record(json.loads(lines[0])["settings"])
    assert between <= sounds * SOUND_BYTES
    assert between + len(lines[0]) <= of_tuning(settings)


def test_a_larger_test_needs_more_and_the_largest_fits_into_a_journal() -> None:
    one, usual = Settings(ears="left"), Settings()
    larger = [
        Settings(routes=AIR_AND_BONE),
        Settings(tones_max=120),
        Settings(confirm="hughson-westlake"),
        Settings(catch_rate=0.5),
    ]
    most = Settings.from_record(SESSIONS["most tones"][0])
    assert of_test(one) < of_test(usual)
    assert all(of_test(usual) < of_test(each) < of_test(most) for each in larger)
    assert of_test(most) < JOURNAL_BYTES_MAX


def test_what_begins_has_room_to_end_and_an_update_leaves_room_for_tests() -> None:
    assert TO_BEGIN_AND_END_BYTES == HEADER_BYTES_MAX + TO_END_BYTES
    assert TO_END_BYTES >= UNSYNCED_BYTES_MAX + 2 * RECORD_BYTES_MAX
    assert of_test(Settings(ears="left")) > TO_BEGIN_AND_END_BYTES
    assert of_test(Settings.from_record(SESSIONS["most tones"][0])) < LEFT_BY_UPDATE_BYTES
