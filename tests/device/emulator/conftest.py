"""Emulated boards, each started once for the tests of a module."""

import pytest

from device.emulator.image import ImageError
from tests.device.emulator.bench import SETTINGS, Bench
from tests.device.emulator.pico_flash import pico_with_program


@pytest.fixture(scope="module")
def board() -> Bench:
    try:
        bench = Bench(pico_with_program(SETTINGS))
    except ImageError as error:
        pytest.skip(str(error))
    bench.settle()
    return bench


@pytest.fixture
def bench(board: Bench) -> Bench:
    board.meet()
    return board
