"""A whole session without its wire, and one of 40 tones that is gone on with."""

import shutil
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.markdown_tables import note
from device.simulator.virtual_clock import VirtualClock
from device.simulator.world import World
from firmware_py.calibration.in_force import NO_CALIBRATION
from firmware_py.link.client import Client
from firmware_py.platform.data_directory import DataDirectory
from firmware_py.sessions.runner import Runner
from firmware_py.terms.events import Play
from firmware_py.terms.settings import Settings
from tests.firmware.whole_sessions import a_listener, records_of
from tests.reference import AUDIOGRAM_FREQUENCIES_HZ, STANDARD_AUDIOGRAMS_DB_HL, warp
from tests.session.driver import Driver, Ears

AUDIOGRAM = "S2"
TONES = 40


def threshold_db_hl(_ear: str, frequency_hz: float) -> float:
    at, knots = warp(frequency_hz), warp(AUDIOGRAM_FREQUENCIES_HZ)
    return float(np.interp(at, knots, STANDARD_AUDIOGRAMS_DB_HL[AUDIOGRAM]))


def test_both_ears(benchmark: Any) -> None:
    """The hearing test and its inference: no wire, no journal, and nobody is waited for."""

    def measure() -> Driver:
        driver = Driver(Settings(), Ears(threshold_db_hl))
        driver.run()
        return driver

    benchmark.group = "session"
    driver = benchmark.pedantic(measure, rounds=5, warmup_rounds=1)
    tones = sum(isinstance(action, Play) for _, action in driver.log)
    note(benchmark, f"whole session, both ears, {tones} tones, no wire")


@pytest.fixture
def half_session(tmp_path: Path) -> Path:
    """Return the data directory of a session that ended, with the power, after 40 tones."""
    world = World(tmp_path / "begun", a_listener(AUDIOGRAM))
    world.begin(Settings.from_record({"ears": "both", "stop_half_width_db": 4.0}))
    world.until(lambda: sum(what == "tone" for what, _ in world.told) == TONES)
    world.close()
    return world.directory


def test_resume(benchmark: Any, half_session: Path) -> None:
    """Read the journal and feed it through the procedure, until the next tone may be asked."""
    numbers = count()

    def on_a_new_disk() -> tuple[tuple[Path], dict[str, Any]]:
        return (
            shutil.copytree(half_session, half_session.with_name(f"resumed-{next(numbers)}")),
        ), {}

    def resume(directory: Path) -> None:
        data = DataDirectory(directory)
        client = Client(lambda: "00000001")
        runner = Runner(data, client, VirtualClock(1), lambda _what, _about: None, NO_CALIBRATION)
        assert runner.load_last() == []
        assert runner.session is not None
        runner.close()
        data.close()

    benchmark.group = "session"
    benchmark.pedantic(resume, setup=on_a_new_disk, rounds=5, warmup_rounds=1)
    (journal,) = half_session.glob("*.journal")
    plays = [a for a in records_of(journal, "output") if a["what"] == "play"]
    assert len(plays) == TONES
    note(benchmark, f"resume of a session of {TONES} tones")
