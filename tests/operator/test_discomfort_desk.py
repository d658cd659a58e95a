"""Levels of discomfort at the console: recorded in the journal of a test, exported, prescribed."""

import json
from pathlib import Path
from typing import Any

import pytest

from device.audiogram_tables.table import Table
from device.simulator.world import World
from firmware_py.installation.configuration import Configuration
from firmware_py.journal import read_journal
from firmware_py.sessions.archive import read_whole
from firmware_py.sessions.replay import replay
from firmware_py.terms.settings import Settings
from host_tools.main import main
from tests.firmware.whole_sessions import a_listener

TOLD = "SESS:DISC LEFT=500:100;1000:>110,SOURCE=Dr Müller,DAY=2026-11-02"


def a_world(directory: Path) -> World:
    configuration = Configuration(Settings(ears="left", seed=5), seed=5)
    world = World(directory, a_listener("N1"), configuration=configuration)
    world.until(lambda: world.client.connected)
    return world


def one(world: World, line: str) -> str:
    return world.ask(line)[-1]


def told(world: World) -> Any:
    return json.loads(one(world, "SESS:DISC?"))


def test_levels_told_in_a_test_are_in_its_journal_and_in_all_that_is_made_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = a_world(tmp_path / "data")
    assert one(world, TOLD).startswith('ERROR -221,"no test is under way')
    assert told(world) == []
    assert one(world, "SESS:STAR ID=ann") == "OK"
    assert one(world, "SESS:DISC RIGHT=500:90") == "OK"
    assert one(world, TOLD) == "OK"
    assert one(world, "SESS:DISC RIGHT=NONE") == "OK"
    assert told(world)[1]["levels"] == [
        {"frequency_hz": 500, "level_db_hl": 100.0, "above": False},
        {"frequency_hz": 1000, "level_db_hl": 110.0, "above": True},
    ]
    world.until(lambda: not world.runner.running)
    assert "gp-pta prescribe --discomfort" in one(world, TOLD)

    (journal,) = world.data.path.glob("session-*.journal")
    assert replay(read_journal(journal).records).differences == []
    course = read_whole(journal).course
    assert course is not None
    assert course.discomfort["left"].about == "Dr Müller, 2026-11-02"
    for ending in ("json", "fhir"):
        path = tmp_path / f"exported.{ending}.json"
        assert main(["export", str(journal), "--format", ending, "-o", str(path)]) == 0
        (ear,) = Table.read(path).all_ears()
        assert ear.by_air.keys() > ear.discomfort.keys() == {500.0, 1000.0}
        assert (ear.discomfort[1000.0].heard, ear.discomfort[1000.0].limit_db_hl) == (False, 110.0)
    capsys.readouterr()
    assert main(["export", str(journal), "--format", "csv"]) == 0
    assert ",left 500:100 1000:>110," in capsys.readouterr().out
    assert main(["prescribe", str(journal), "--json", "--uncalibrated"]) == 0
    (ear,) = json.loads(capsys.readouterr().out)["ears"]
    assert ear["discomfort_told"]["source"] == "Dr Müller"
    assert "of-others" not in {band["discomfort_mark"] for band in ear["bands"]}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("SESS:DISC", "something is missing: RIGHT or LEFT"),
        ("SESS:DISC DAY=2026-11-02", "something is missing: RIGHT or LEFT"),
        ("SESS:DISC 500:90", "'500:90' needs its name"),
        ("SESS:DISC RIGHT=500:90dBSPL", "dB SPL are none"),
        ("SESS:DISC RIGHT=500:200", "allowed are numbers from 0 to 130 dB HL"),
        ("SESS:DISC RIGHT=500:90,DAY=2026-02-30", "allowed is one such as 2026-11-02"),
        ("SESS:DISC RIGHT=500:90,DAY=2.11.2026", "discomfort day is '2.11.2026'"),
    ],
)
def test_what_is_no_level_is_refused(line: str, words: str, tmp_path: Path) -> None:
    world = a_world(tmp_path)
    assert one(world, "SESS:STAR") == "OK"
    assert words in one(world, line)
    assert told(world) == []
