"""Sessions of a kind that no golden one is of."""

from pathlib import Path

import pytest

from tests.firmware.whole_sessions import a_listener, run_session
from tests.host.judged import write_deaf_ear


@pytest.fixture(scope="session")
def deaf_ear(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a left ear that heard nothing, by the operator's word: a valid test."""
    return write_deaf_ear(tmp_path_factory.mktemp("deaf") / "data")


@pytest.fixture(scope="session")
def clinical(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the journal of a clinical test of a left ear: with catch trials and a retest."""
    settings = {"ears": "left", "seed": 3, "conduct": "clinical"}
    return run_session(tmp_path_factory.mktemp("clinical") / "data", a_listener("S2"), settings)
