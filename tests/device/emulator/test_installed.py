"""The program installed on an emulated board: it starts there, again after every reset."""

import pytest

import tests.device.tone_generator.fakes  # noqa: F401 - before the program is imported
from device.emulator.image import ImageError, find_image
from host_tools.emulated_board import installed_pico
from tests.device.emulator.bench import MS, RIGHT_PIN, SETTINGS, TONE, Bench, at_the_repl

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("emulator-installed")]


@pytest.fixture(scope="module")
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


def test_it_was_installed_and_started(installed: tuple[Bench, list[str]]) -> None:
    told = installed[1]
    assert told[0].startswith("MicroPython 1.")
    assert "firmware_py/link/frames.mpy" in told[1]
    assert told[-1] == (
        "started: board pico, version 1, output pwm, limits 0 dBFS left, -20 dBFS right"
    )


def test_the_watchdog_silences_a_board_that_hangs(installed: tuple[Bench, list[str]]) -> None:
    service = installed[0]
    at_the_repl(service)
    service.pico.send(b"print()\nfrom device.tone_generator.program import run\nrun()\x04")
    service.run(300 * MS)
    service.meet()
    service.ask("tone", **{**TONE, "on": 5000})
    service.run(200 * MS)
    resets = service.pico.watchdog_resets
    service.pico.hang()
    hung_us = service.pico.now_us
    service.run(1100 * MS)
    waves = service.pulses(RIGHT_PIN)

    print(f"the watchdog had it silent after {(waves[-1, 0] - hung_us) / MS:.1f} ms")
    assert service.pico.watchdog_resets == resets + 1
    assert 0 < waves[-1, 0] - hung_us <= 1001 * MS
