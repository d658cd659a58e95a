"""The real program on real MicroPython in an emulated Pico, in the order in which it lives.

One board serves all tests; the last ones take it out of board.
"""

import io
import random
from array import array
from contextlib import redirect_stdout
from functools import partial
from typing import Final

import numpy as np
import pytest

import tests.device.tone_generator.fakes  # noqa: F401 - before the program is imported
from device.tone_generator.buttons import QUIET_US
from device.tone_generator.outputs import IDLE_MS
from device.tone_generator.switched import SETTLE_US
from firmware_py.link.frames import encode
from tests.device.emulator.bench import (
    BONE_LEFT_PIN,
    BONE_RIGHT_PIN,
    HEARD_PIN,
    LEFT_PIN,
    LIGHT_PIN,
    LIMIT_BONE_DBFS,
    LIMIT_RIGHT_DBFS,
    MS,
    RIGHT_PIN,
    TONE,
    UNSURE_PIN,
    Bench,
    at_the_repl,
)

pytestmark = pytest.mark.xdist_group("emulator")  # one board is enough

NOTICED_US = QUIET_US + (IDLE_MS + 5) * MS  # of a press: the contact, and a turn of the loop
LATE_US = 12 * MS  # what the bench output may be late: a command takes so long to be read


def test_it_greets(bench: Bench) -> None:
    answer = bench.meet()
    assert answer["board"] == "pico"
    assert answer["wire"] == "1"
    assert int(bench.ask("ping")[2]["us"]) > 0
    serial = bench.ask("serial")[2]
    assert len(serial["serial"]) == 16
    assert serial["press_ends"] == "1"


@pytest.mark.parametrize(
    "frequency_hz", [1000, *(pytest.param(hz, marks=pytest.mark.thorough) for hz in (125, 4000))]
)
def test_a_tone_has_its_frequency_times_and_events(bench: Bench, frequency_hz: int) -> None:
    assert bench.ask("tone", **{**TONE, "hz": f"{frequency_hz}.00", "hi": 1})[1] == "ok"
    bench.run(550 * MS)
    waves = bench.pulses(RIGHT_PIN)
    (lit_us, on), (dark_us, off) = bench.moves(LIGHT_PIN)
    events = bench.events()

    period_us = 1e6 / frequency_hz
    gap = int(np.argmax(np.diff(waves[:, 0])))
    begins = (waves[0, 0], waves[gap + 1, 0])
    within = np.diff(waves[: gap + 1, 0])
    print(f"{frequency_hz} Hz: {1e6 / np.mean(within):.2f} Hz, {len(waves)} waves")
    assert np.mean(within) == pytest.approx(period_us, rel=1e-3)
    assert len(waves) == pytest.approx(2 * 200 * MS / period_us, abs=10 + 8 * MS / period_us)
    assert begins[1] - begins[0] == pytest.approx(300 * MS, abs=LATE_US)
    assert len(bench.pulses(LEFT_PIN)) == 0
    assert [verb for _, verb, _ in events] == ["tone-on", "tone-off"]
    on_us, off_us = (int(fields["us"]) for _, _, fields in events)
    assert off_us - on_us == pytest.approx(500 * MS, abs=LATE_US)
    assert events[1][2]["cut"] == "0"
    # The light of what is loud is steadily on meanwhile.
    assert (on, off) == (True, False)
    assert lit_us <= waves[0, 0] + LATE_US
    assert dark_us >= waves[-1, 0]


@pytest.mark.thorough
def test_a_tone_rises_to_its_level_and_falls(bench: Bench) -> None:
    bench.ask("tone", **{**TONE, "ear": "l", "hz": "4000", "dbfs": "-6.02", "n": 1})
    bench.run(250 * MS)
    waves = bench.pulses(LEFT_PIN)
    amplitude = np.sin(np.pi * waves[:, 1] / 250.0)
    since_ms = (waves[:, 0] - waves[0, 0]) / MS

    rising, falling = amplitude[since_ms < 20.0], amplitude[since_ms > 178.0]
    steady = amplitude[(since_ms > 30.0) & (since_ms < 165.0)]
    assert steady == pytest.approx(0.5, abs=0.005)
    assert (np.diff(rising) > -0.01).all()
    assert (np.diff(falling) < 0.01).all()
    assert rising[0] < 0.05
    assert falling[-1] < 0.05


def test_the_limit_is_that_of_the_ear(bench: Bench) -> None:
    loud = f"{LIMIT_RIGHT_DBFS + 0.01:.2f}"
    assert bench.ask("tone", **{**TONE, "dbfs": loud})[1:] == ("error", {"code": "limit"})
    bench.run(50 * MS)
    assert len(bench.pulses(RIGHT_PIN)) == 0
    assert bench.ask("tone", **{**TONE, "dbfs": loud, "ear": "l"})[1] == "ok"


@pytest.mark.thorough
def test_a_tone_by_bone_has_its_switch_and_limit(bench: Bench) -> None:
    """The next by air has the switch at rest again, in which a board begins and ends."""
    assert bench.ask("serial")[2]["transducers"] == "3"
    loud = {**TONE, "n": 1, "dbfs": f"{LIMIT_BONE_DBFS + 0.01:.2f}"}
    assert bench.ask("tone", **loud, via=1)[1:] == ("error", {"code": "limit"})
    assert bench.ask("tone", **{**loud, "dbfs": f"{LIMIT_BONE_DBFS:.2f}"}, via=1)[1] == "ok"
    bench.run(300 * MS)
    ((moved_us, is_high),) = bench.moves(BONE_RIGHT_PIN)
    assert is_high
    assert bench.pulses(RIGHT_PIN)[0, 0] - moved_us >= SETTLE_US
    assert [verb for _, verb, _ in bench.events()] == ["tone-on", "tone-off"]
    assert bench.ask("tone", **{**TONE, "n": 1})[1] == "ok"
    bench.run(300 * MS)
    back_us, is_high = bench.moves(BONE_RIGHT_PIN)[-1]
    waves_us = bench.pulses(RIGHT_PIN)[:, 0]
    assert not is_high
    assert waves_us[waves_us > back_us].min() - back_us >= SETTLE_US
    assert waves_us[waves_us < back_us].max() < back_us - 1 * MS
    assert bench.moves(BONE_LEFT_PIN) == []


@pytest.mark.thorough
def test_presses_have_their_times(bench: Bench) -> None:
    chance = random.Random(4)
    edges_us = []
    at_us = bench.pico.now_us + 20 * MS
    for i in range(6):
        for level in (False, True):
            at_us += chance.uniform(30.0 * MS, 120.0 * MS)
            pin = HEARD_PIN if i % 2 == 0 else UNSURE_PIN
            bench.pico.at(at_us, partial(_move, bench, pin, level))
            edges_us.append(at_us)
    bench.run(at_us - bench.pico.now_us + 30 * MS)
    events = bench.events()

    assert [verb for _, verb, _ in events] == ["button-down", "button-up"] * 6
    assert [f.get("button") for _, _, f in events] == [None, None, "2", "2"] * 3
    told_us = np.array([int(fields["us"]) for _, _, fields in events])
    errors_us = np.diff(told_us) - np.diff(edges_us)
    print("times between edges are off by", np.round(errors_us, 1), "us")
    assert np.abs(errors_us).max() < 200.0


@pytest.mark.thorough
@pytest.mark.parametrize("pin", [HEARD_PIN, UNSURE_PIN])
def test_a_press_ends_the_train_of_pulses_while_the_host_says_nothing(
    bench: Bench, pin: int
) -> None:
    """In the second of five pulses of 200 ms, 300 ms apart, after a press that is too early."""
    bench.ask("tone", **{**TONE, "n": 5, "buttons": 3, "press": 150})
    asked_us = bench.pico.now_us
    down_us = asked_us + 350 * MS
    for after_us, up in ((70 * MS, False), (100 * MS, True), (350 * MS, False)):
        bench.pico.at(asked_us + after_us, partial(_move, bench, pin, up))
    bench.run(800 * MS)
    waves, events = bench.pulses(RIGHT_PIN), bench.events()

    assert [verb for _, verb, _ in events] == [
        "tone-on", "button-down", "button-up", "button-down", "tone-off",
    ]  # fmt: skip
    us = [int(fields["us"]) for _, _, fields in events]
    last_us = waves[-1, 0] + waves[-1, 1]
    print(f"silent {(last_us - down_us) / MS:.2f} ms after the press, told as after "
          f"{(us[4] - us[3]) / MS:.2f} ms")  # fmt: skip
    assert us[3] - us[1] == pytest.approx(280 * MS, abs=200)
    assert events[4][2]["cut"] == "1"
    assert QUIET_US <= last_us - down_us <= NOTICED_US
    assert 0 < us[4] - us[3] <= NOTICED_US  # of the turn, begun before
    # The duty of 65536 parts that -20 dBFS has, of the period of 1 ms, and the emulator's grain.
    duty = np.arcsin(10.0 ** (-20.0 / 20.0)) / np.pi
    assert waves[:, 1].max() <= 1000.0 * duty + 1.0, "never louder"
    assert bench.ask("tone", **{**TONE, "id": "r2", "n": 1})[1] == "ok"
    bench.run(250 * MS)
    assert [verb for _, verb, _ in bench.events()] == ["tone-on", "tone-off"]


def _move(bench: Bench, pin: int, up: bool) -> None:
    (bench.pico.release if up else bench.pico.press)(pin)


@pytest.mark.thorough
def test_a_bouncing_contact_is_one_press(bench: Bench) -> None:
    begin_us = bench.pico.now_us + 10 * MS
    for i, after_us in enumerate((0, 300, 450, 900, 1200)):
        bench.pico.at(begin_us + after_us, partial(_move, bench, HEARD_PIN, i % 2 == 1))
    spike_us = begin_us + 50 * MS
    bench.pico.at(spike_us, partial(_move, bench, UNSURE_PIN, False))
    bench.pico.at(spike_us + 100, partial(_move, bench, UNSURE_PIN, True))
    bench.run(100 * MS)
    assert [verb for _, verb, _ in bench.events()] == ["button-down"]


@pytest.mark.thorough
def test_garbled_and_lost_lines_do_nothing(bench: Bench) -> None:
    good = encode(77, "tone", TONE)
    for bad in (good.replace(b"r1", b"r2"), good[:20] + b"\n", b"\xff\x00\n", b"x" * 300 + b"\n"):
        bench.pico.send(bad)
    bench.run(80 * MS)
    bench.pico.send(b"\x03\x04\x01")  # of which none is a way to the REPL now
    assert bench.answer_to(b"\n" + bench.line("ping"))[1] == "ok"
    assert bench.events() == []
    assert len(bench.pulses(RIGHT_PIN)) == 0


@pytest.mark.thorough
def test_events_are_kept_until_they_are_acknowledged(bench: Bench) -> None:
    bench.pico.press(HEARD_PIN)
    bench.run(30 * MS)
    bench.pico.release(HEARD_PIN)
    bench.run(30 * MS)
    told = bench.events()
    newest = told[-1][0]

    bench.ask("events", after=newest - 2)
    bench.run(30 * MS)
    assert bench.events() == told
    bench.ask("ack", event=newest - 1)
    bench.ask("events", after=newest - 2)
    bench.run(30 * MS)
    assert bench.events() == told[1:]


@pytest.mark.thorough
def test_it_is_silent_when_the_host_has_been_for_a_second(bench: Bench) -> None:
    bench.ask("tone", **{**TONE, "on": 5000})
    asked_us = bench.pico.now_us
    bench.run(1300 * MS)
    waves = bench.pulses(RIGHT_PIN)
    events = bench.events()

    print(f"silent {(waves[-1, 0] - asked_us) / MS:.1f} ms after the last answer")
    assert waves[-1, 0] - asked_us == pytest.approx(1000 * MS, abs=40 * MS)
    assert events[-1][1] == "tone-off"
    assert events[-1][2]["cut"] == "1"


# From here on the board is out of service, and nobody greets it.


@pytest.mark.thorough
def test_control_c_gives_the_repl_when_nobody_talks(board: Bench) -> None:
    at_the_repl(board)
    assert board.pico.execute("print('here')") == "here\n"
    board.run(1500 * MS)
    assert board.pico.watchdog_resets == 0


# Blocks of a microphone, a noise of which one after the other is louder.
BLOCKS_HEARD: Final = """
from array import array
from time import ticks_us, ticks_diff
from device.tone_generator.room_levels import RoomLevels
levels, block, seed = RoomLevels(120.0), array("i", [0] * 256), 1
took_us = 0
for number in range(12):
    for i in range(256):
        seed = (seed * 663608941 + 12345) & 0x3FFFFFFF
        block[i] = (seed - 536870912) >> (14 - number)
    start = ticks_us()
    levels.hear(block, number > 2)
    took_us = max(took_us, ticks_diff(ticks_us(), start))
print([list(band) for band in levels._bands], [round(each, 1) for each in levels.newest()])
print(took_us)
"""
BLOCK_HEARD_US: Final = 10_667


@pytest.mark.thorough
def test_it_measures_a_room_as_we_do_and_in_time(board: Bench) -> None:
    with redirect_stdout(io.StringIO()) as printed:
        exec(BLOCKS_HEARD, {})
    ours = printed.getvalue().splitlines()[0]

    theirs, took_us = board.pico.execute(BLOCKS_HEARD, 60e6).splitlines()
    print(f"a block of {BLOCK_HEARD_US} us is measured in {took_us} us at most")
    assert theirs == ours
    assert int(took_us) < 0.6 * BLOCK_HEARD_US


# The driver takes its pins and its rate; what it hears the emulator cannot tell.
MICROPHONE: Final = """
from device.tone_generator.microphone import Microphone
class Output:
    silent_ms, masks = 1000, False
microphone = Microphone(Output(), {"mic_bck": 18, "mic_ws": 19, "mic_data": 20}, 120.0)
print(microphone.take(), microphone.newest())
for _ in range(5):
    microphone._take_block(None)
print(set(microphone.take()), set(microphone.newest()))
microphone.mute()
"""


@pytest.mark.thorough
def test_the_driver_of_the_microphone_can_be_made(board: Bench) -> None:
    assert board.pico.execute(MICROPHONE, 60e6) == "() ()\n{-inf} {-inf}\n"


# The program's own output with a driver that asks for its blocks one after the other: the emulator
# has no I2S. A host greets, plays two pulses, and is gone.
BLOCKS: Final = """
import binascii
from device.tone_generator import outputs
from device.tone_generator.server import ToneGenerator, has_host
from device.tone_generator.settings import DEFAULT_PINS
class Driver:
    TX = STEREO = 0
    def __init__(self, *_, **__): pass
    def irq(self, _): pass
    def write(self, _): pass
class Machine:
    I2S, Pin, freq = Driver, outputs.machine.Pin, outputs.machine.freq
real, outputs.machine = outputs.machine, Machine
output = outputs.I2SOutput(DEFAULT_PINS)
outputs.machine = real
board = ToneGenerator(output, (0.0, 0.0), 1, "s")
crc = 0
for number in range({blocks}):
    now_us = 5333 * number
    for at, line in {lines}:
        if at == number:
            board.receive(line, now_us, now_us)
    board.advance(now_us)
    output.attend(has_host(board, now_us))
    locked(True)
    block = output.fill()
    locked(False)
    keep(block)
    crc = binascii.crc32(bytes(block), crc)
print(crc)
"""
BLOCKS_ALL: Final = 260
LINES: Final = [
    (4, encode(1, "hello", (("wire", 1), ("host", "0000000a")))),
    (5, encode(2, "tone", {**TONE, "ear": "l", "on": 50, "off": 190, "rise": 20})),
]


@pytest.mark.thorough
def test_its_samples_are_ours_and_never_zeros_while_a_host_is_there(board: Bench) -> None:
    """1024 frames of zeros, and the DAC mutes itself; it has stopped at the REPL before."""
    kept: list[array[int]] = []
    source = BLOCKS.format(blocks=BLOCKS_ALL, lines=LINES)
    with redirect_stdout(io.StringIO()) as printed:
        exec(source, {"keep": lambda b: kept.append(b[:]), "locked": lambda _: None})
    there = np.array(kept).reshape(-1, 2).any(axis=1)
    (begins, gone) = np.flatnonzero(np.diff(there.astype(int)))
    assert gone - begins == pytest.approx(1.1 * 48003, rel=0.01)  # a second, and it goes

    locks = "import micropython\ndef locked(on):\n if on: micropython.heap_lock()\n"
    locks += " else: micropython.heap_unlock()\ndef keep(block): pass\n"
    assert board.pico.execute(locks + source, 60e6) == printed.getvalue()
