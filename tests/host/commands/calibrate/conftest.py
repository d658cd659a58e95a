"""The device that is calibrated."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firmware_py.console.pin import PinHash
from firmware_py.installation.configuration import Configuration
from host_tools.commands.calibrate import instrument
from tests.firmware.whole_sessions import a_listener
from tests.host.bench import Device, talks_with
from tests.host.commands.calibrate.technician import Devices


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Devices:
    """Return what gives a firmware with a simulated board, with which `calibrate` talks."""
    monkeypatch.setattr(instrument, "POLL_S", 0.001)

    @contextmanager
    def give(directory: Path, pin: str = "") -> Iterator[Device]:
        hashed = PinHash.of(pin, bytes(16)) if pin else None
        nobody = a_listener(lapse_rate=1.0)
        device = Device(directory, nobody, Configuration(pin=hashed))
        with talks_with(device, instrument, monkeypatch):
            yield device

    return give
