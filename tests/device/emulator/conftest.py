"""One emulated board for all tests of a process: it is installed and started once."""

import pytest

from device.emulator.image import ImageError, find_image
from tests.device.emulator.bench import SETTINGS, Bench

INSTALL_BAUD_RATE = 1_000_000
START_TIMEOUT_S = 300.0  # it takes 15 s; the machine may be busy


@pytest.fixture(scope="session")
def installed() -> tuple[Bench, list[str]]:
    """A board on which `gp-pta install-board` has installed the program, and what it told."""
    try:
        image = find_image()
    except ImageError as error:
        pytest.skip(str(error))
    from device.emulator.pico import EmulatedPico, is_over_usb
    from device.emulator.serve import served
    from host_tools.install_board import install

    pico = EmulatedPico(image, baud_rate=INSTALL_BAUD_RATE, over_usb=is_over_usb(image))
    told: list[str] = []
    with served(pico) as port:
        install(port, SETTINGS, told.append, START_TIMEOUT_S)
    bench = Bench(pico)
    bench.settle()  # the installer said hello until it was answered
    return bench, told


@pytest.fixture
def bench(installed: tuple[Bench, list[str]]) -> Bench:
    """The board, met anew."""
    installed[0].meet()
    return installed[0]
