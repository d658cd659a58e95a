"""Recorded sessions to cut."""

from pathlib import Path

import pytest

from tests.firmware.world import a_listener, run_session

# In a narrow range, so that it is soon over.
ONE_EAR = {
    "ears": "left", "tones_max": 20, "frequency_min_hz": 1000.0, "frequency_max_hz": 2000.0,
}  # fmt: skip
ONE_WHOLE_EAR = {"ears": "left", "tones_max": 20}
TWO_BUTTONS = {
    "ears": "left",
    "tones_max": 26,
    "stop_half_width_db": 2.0,
    "unsure_button": True,
}


@pytest.fixture(scope="session")
def one_ear(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a short session."""
    return run_session(tmp_path_factory.mktemp("one-ear"), a_listener("S2"), ONE_EAR)


@pytest.fixture(scope="session")
def two_buttons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a short session with unsure answers."""
    listener = a_listener("N3", unsure_half_width_db=4.0)
    return run_session(tmp_path_factory.mktemp("two-buttons"), listener, TWO_BUTTONS)


@pytest.fixture(scope="session")
def two_ears(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a session of both ears."""
    return run_session(tmp_path_factory.mktemp("two-ears"), a_listener("N4"), {})
