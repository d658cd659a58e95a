"""One emulated board for all tests of a process: it is installed and started once."""

import pytest

from device.emulator.image import ImageError, find_image
from host_tools.emulated_board import installed_pico
from tests.device.emulator.bench import SETTINGS, Bench


@pytest.fixture(scope="session")
def installed() -> tuple[Bench, list[str]]:
    """A board on which `gp-pta install-board` has installed the program, and what it told."""
    try:
        find_image()
    except ImageError as error:
        pytest.skip(str(error))
    told: list[str] = []
    bench = Bench(installed_pico(SETTINGS, told.append))
    bench.settle()  # the installer said hello until it was answered
    return bench, told


@pytest.fixture
def bench(installed: tuple[Bench, list[str]]) -> Bench:
    """The board, met anew."""
    installed[0].meet()
    return installed[0]
