"""The real openMHA, where `make aid` has put it."""

import pytest

from device.hearing_aid.openmha import Installation, OpenMhaError


@pytest.fixture(scope="session")
def installation() -> Installation:
    """Return where openMHA is; without it the test says so."""
    try:
        return Installation()
    except OpenMhaError as error:
        pytest.skip(str(error))
