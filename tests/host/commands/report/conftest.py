"""A session to report, of forty tones."""

from pathlib import Path

import pytest

from device.simulator.world import World
from firmware_py.procedure.person import Person
from firmware_py.procedure.settings import Settings
from tests.firmware.whole_sessions import a_listener

FORTY_TONES = {"ears": "right", "tones_max": 40, "retest": False, "stop_half_width_db": 1.0}


@pytest.fixture(scope="session")
def forty_tones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a session of forty tones, of a man of 65."""
    world = World(tmp_path_factory.mktemp("forty"), a_listener("N3", lapse_rate=0.3))
    world.begin(Settings.from_record(dict(FORTY_TONES)), Person(65, "M", "P-17"))
    return world.end()
