"""The program installed on an emulated board: it starts there, again after every reset."""

import binascii
from array import array

import pytest

import tests.device.tone_generator.fakes  # noqa: F401 - before the program is imported
from device.emulator.image import ImageError, find_image
from device.tone_generator import synthesis
from host_tools.devices.board_program import installed_pico
from tests.device.emulator.bench import MS, RIGHT_PIN, SETTINGS, TONE, Bench, at_the_repl

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("emulator-installed")]


@pytest.fixture(scope="module")
def board_as_installed() -> tuple[Bench, list[str]]:
    """A board on which `gp-pta install-board` has installed the program, and what it told."""
    try:
        find_image()
    except ImageError as error:
        pytest.skip(str(error))
    told: list[str] = []
    bench = Bench(installed_pico(SETTINGS, told.append))
    bench.settle()  # the installer said hello until it was answered
    return bench, told


def test_it_was_installed_and_started(board_as_installed: tuple[Bench, list[str]]) -> None:
    told = board_as_installed[1]
    assert told[0].startswith("MicroPython 1.")
    assert "firmware_py/link/frames.mpy" in told[1]
    assert told[-1] == (
        "started: board pico, version 1, output pwm, limits 0 dBFS left, -20 dBFS right, "
        "-6 dBFS bone"
    )


SAMPLES_ON_THE_BOARD = """
import binascii, micropython, time
from array import array
from device.tone_generator import outputs, synthesis, voices
from device.tone_generator.buttons import Button
table = synthesis.sine_table()
state = array("i", {state})
block = array("i", [0] * 512)
voice = voices.ToneVoice(table, 48000.0)
noise = voices.NoiseVoice(table, 48000.0)
voice.start(0, 1000.0, -20.0, (50, 10, 2, 20))
noise.start(1, 1000.0, -20.0)
button = Button(2, 1)
pwm = outputs.PwmOutput({{"pwm_left": 6, "pwm_right": 8}})
crc = 0
micropython.heap_lock()
for i in range(24):
    if i == 20:
        voice.cut()
        noise.cut()
    synthesis.hold(block, 512, 256)
    voice.fill(block, 256)
    noise.fill(block, 256)
micropython.heap_unlock()
pwm.play(0, 1000.0, -20.0, (50, 10, 2, 20))
times = (time.ticks_us(), 0, 0, 0)
micropython.heap_lock()
for i in range(64):
    pwm.advance(time.ticks_us(), 0)
    button._edge(None)
    button.poll()
micropython.heap_unlock()
pwm.cut()
synthesis.hold(block, 512, 256)
start = time.ticks_us()
synthesis.fill_tone(block, 0, 256, state, table)
tone_us = time.ticks_diff(time.ticks_us(), start)
start = time.ticks_us()
synthesis.fill_noise(block, 1, 256, state, table)
noise_us = time.ticks_diff(time.ticks_us(), start)
print(binascii.crc32(block), tone_us, noise_us)
"""


def test_sound_and_interrupts_allocate_nothing_and_samples_are_ours(
    board_as_installed: tuple[Bench, list[str]],
) -> None:
    service = board_as_installed[0]
    at_the_repl(service)
    state = [123456, 22369621, 1000, 1118481, 20000, 3, 77, 2100, 0, 0, 0, 0, 12, 20000]
    printed = service.pico.execute(SAMPLES_ON_THE_BOARD.format(state=state))
    crc, tone_us, noise_us = (int(word) for word in printed.split())

    block, ours = array("i", [256] * 512), array("i", state)
    synthesis.fill_tone(block, 0, 256, ours, synthesis.sine_table())
    synthesis.fill_noise(block, 1, 256, ours, synthesis.sine_table())
    print(f"a block of 5333 us: tone {tone_us} us, noise {noise_us} us")
    assert crc == binascii.crc32(block)
    assert tone_us + noise_us < 4000


def test_the_watchdog_silences_a_board_that_hangs(
    board_as_installed: tuple[Bench, list[str]],
) -> None:
    service = board_as_installed[0]
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
