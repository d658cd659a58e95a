"""Sessions to report: one of forty tones, and ways to hear with it."""

from pathlib import Path

import pytest

from device.simulator.world import World
from firmware_py.procedure.person import Person
from firmware_py.procedure.settings import Settings
from tests.firmware.whole_sessions import a_listener, run_session

FORTY_TONES = {"ears": "right", "tones_max": 40, "retest": False, "stop_half_width_db": 1.0}


@pytest.fixture(scope="session")
def clinical(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a clinical test of a left ear: with catch trials and a retest."""
    settings = {"ears": "left", "seed": 3, "conduct": "clinical"}
    return run_session(tmp_path_factory.mktemp("clinical") / "data", a_listener("S2"), settings)


@pytest.fixture(scope="session")
def forty_tones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a session of forty tones, of a man of 65."""
    world = World(tmp_path_factory.mktemp("forty"), a_listener("N3", lapse_rate=0.3))
    world.begin(Settings.from_record(dict(FORTY_TONES)), Person(65, "M", "P-17"))
    return world.end()
