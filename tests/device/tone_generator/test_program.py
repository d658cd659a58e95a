"""The program as a whole, on a fake Pico: port, buttons, watchdog, and its ways out."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from device.tone_generator import program, settings
from device.tone_generator.buttons import BOUNCING_US_MAX, QUIET_US, Button
from device.tone_generator.constant import MOVE_MS, STEP
from device.tone_generator.outputs import BLOCK_FRAMES, DAC_FADE_MS, QUEUE_BLOCKS
from device.tone_generator.program import CONTROL_C, SERVICE_SILENCE_US, Board, Clock
from device.tone_generator.room_levels import BLOCK_FRAMES as MICROPHONE_BLOCK_FRAMES
from device.tone_generator.room_levels import MICROPHONE_RATE_HZ
from device.tone_generator.settings import DEFAULT_PINS, Settings, SettingsError
from device.tone_generator.synthesis import LEFT, RIGHT
from firmware_py.link.board_start import BEHIND_US
from firmware_py.link.frames import FRAME_BYTES_MAX, decode, encode
from tests.budget import quick
from tests.device.tone_generator.fakes import (
    I2S,
    MEM32,
    PWM,
    TICKS,
    WDT,
    FakeTime,
    Pin,
    Reset,
    power_on,
)
from tests.device.tone_generator.sound import RATE_HZ, READY_US, as_frames, hear, play

MS = 1000
BLOCK_US = round(1e6 * BLOCK_FRAMES / RATE_HZ)
MICROPHONE_BLOCK_US = round(1e6 * MICROPHONE_BLOCK_FRAMES / MICROPHONE_RATE_HZ)
KEPT: dict[str, object] = {"output": "pwm", "limit_dbfs_left": 0, "limit_dbfs_right": -20}
MICROPHONE_PINS = {"mic_bck": 18, "mic_ws": 19, "mic_data": 20}
WITH_MICROPHONE: dict[str, object] = {"output": "i2s", "pins": MICROPHONE_PINS}
TONE: dict[str, str | int] = {
    "id": "r1", "ear": "l", "hz": "1000.00", "dbfs": "-6.00",
    "on": 200, "off": 100, "n": 2, "rise": 25,
}  # fmt: skip


def pass_time(us: int) -> None:
    """Let time pass, in which the I2S driver asks for its blocks."""
    end_us = FakeTime.us + us
    while I2S.made:
        due_us, i2s = min(
            ((each.asked_us + block_us(each), each) for each in I2S.made), key=lambda due: due[0]
        )
        if due_us > end_us:
            break
        FakeTime.us = due_us
        i2s.turn()
    FakeTime.us = end_us


def block_us(i2s: I2S) -> int:
    return BLOCK_US if i2s.wiring["mode"] == I2S.TX else MICROPHONE_BLOCK_US


class FakePort:
    """A port whose bytes a test puts there, and where waiting is how time passes."""

    def __init__(self) -> None:
        self.incoming = b""
        self.outgoing: list[bytes] = []
        self.full = False
        self.command_us = 0  # what taking bytes takes
        self._taken = b""

    def read(self, wait_ms: int) -> int:
        if not self.incoming:
            pass_time(MS * max(wait_ms, 1))
        most = FRAME_BYTES_MAX
        self._taken, self.incoming = self.incoming[:most], self.incoming[most:]
        return len(self._taken)

    def take_bytes(self, count: int) -> bytes:
        assert count == len(self._taken)
        pass_time(self.command_us)
        return self._taken

    def write(self, frame: bytes) -> bool:
        if not self.full:
            self.outgoing.append(frame)
        return not self.full


class Bench:
    def __init__(self, start_us: int = 0, **kept: object) -> None:
        power_on(start_us)
        self.port = FakePort()
        self.board = Board(Settings({**KEPT, **kept}), self.port)  # type: ignore[arg-type]
        self.sequence = 0
        self.told: list[tuple[int, str, dict[str, str]]] = []

    def ask(self, verb: str, **fields: str | int) -> tuple[str, dict[str, str]]:
        self.sequence += 1
        self.port.incoming += encode(self.sequence, verb, fields)
        assert self.board.turn()
        (sequence, answer, about), *others = self.frames()
        assert sequence == self.sequence
        self.told += others
        return answer, about

    def greet(self) -> None:
        """Greet, and wait until sounds may begin; what was sent by then is forgotten."""
        assert self.ask("hello", wire=1, host="0000000a")[0] == "ok"
        for i2s in I2S.made:
            self.run(READY_US // MS)
            del i2s.samples[:]

    def run(self, duration_ms: int) -> list[tuple[int, str, dict[str, str]]]:
        end_us = FakeTime.us + MS * duration_ms
        while FakeTime.us < end_us:
            assert self.board.turn()
        return self.frames()

    def frames(self) -> list[tuple[int, str, dict[str, str]]]:
        frames = [decode(frame) for frame in self.port.outgoing]
        self.port.outgoing.clear()
        return frames

    def button(self, level: int, name: str = "heard") -> None:
        Pin.made[DEFAULT_PINS[name]].drive(level)

    @property
    def duty(self) -> int:
        return PWM.made[DEFAULT_PINS["pwm_left"]].duty


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    power_on()
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.greet()
    return made


def test_a_tone_from_command_to_events(bench: Bench) -> None:
    begun_us = FakeTime.us
    assert bench.ask("tone", **TONE) == ("ok", {})
    bench.told += bench.run(100)
    assert bench.duty > 0
    bench.told += bench.run(500)

    assert bench.duty == 0
    assert as_times(bench.told) == [
        (begun_us, "tone-on"), (pytest.approx(begun_us + 500 * MS, abs=50), "tone-off"),
    ]  # fmt: skip


def told_and_played(output: str, start_us: int) -> tuple[list[tuple[int, str]], list[Any]]:
    """Play two pulses, beside noise if there is any; return when what was told, and the sound."""
    bench = Bench(start_us, output=output)
    bench.port.command_us = 3 * MS
    bench.greet()
    if output == "i2s":
        assert bench.ask("mask", ear="r", hz="1000.00", dbfs="-40.00")[0] == "ok"
    assert bench.ask("tone", **{**TONE, "on": 50, "off": 10})[0] == "ok"
    bench.told += bench.run(170)
    if output == "i2s":
        bench.ask("unmask")
        return as_times(bench.told), list(I2S.made[0].samples)
    duties = PWM.made[DEFAULT_PINS["pwm_left"]].duties
    return as_times(bench.told), [(us - start_us, duty) for us, duty in duties]


def as_times(told: list[tuple[int, str, dict[str, str]]]) -> list[tuple[int, str]]:
    return [(int(fields["us"]), verb) for _, verb, fields in told]


@pytest.mark.parametrize("output", ["pwm", "i2s"])
@pytest.mark.parametrize(
    ("every_ms", "first_us"), [(11, READY_US), pytest.param(1, 0, marks=pytest.mark.thorough)]
)
def test_a_tone_is_told_and_played_alike_wherever_the_ticks_wrap_around(
    output: str, every_ms: int, first_us: int
) -> None:
    if output == "pwm":
        first_us = 0  # it waits for nothing
    told, played = told_and_played(output, 0)
    (on_us, on), (off_us, off) = told
    assert (on, off) == ("tone-on", "tone-off")
    assert off_us - on_us == pytest.approx(110 * MS, abs=100)

    for wrap_us in range(first_us, off_us + 20 * MS, every_ms * MS):
        assert told_and_played(output, TICKS - wrap_us) == (told, played), f"{wrap_us} us"


def test_a_press_has_the_time_of_its_first_edge(bench: Bench) -> None:
    bench.run(100)
    FakeTime.us += 321
    pressed_us = FakeTime.us
    for level, after_us in ((0, 0), (1, 200), (0, 300), (1, 100), (0, 50)):
        FakeTime.us += after_us
        bench.button(level)
    told = bench.run(30)
    FakeTime.us += 777
    released_us = FakeTime.us
    bench.button(1)
    told += bench.run(30)

    assert as_times(told) == [(pressed_us, "button-down"), (released_us, "button-up")]


BY_PRESS: dict[str, str | int] = {"buttons": 1, "press": 60}
FRAMES = round(0.65 * RATE_HZ)  # all of two pulses, and some noise
SETTLED_MS = QUIET_US // MS + 2  # after the last edge the loop looks again


def i2s_frames(press_after_ms: int | None, **by_press: str | int) -> tuple[Any, list[Any], int]:
    """Play two pulses beside noise; return the frames, what was told, and when it was pressed."""
    bench = Bench(output="i2s")
    bench.greet()
    bench.ask("mask", ear="r", hz="1000.00", dbfs="-40.00")
    bench.ask("tone", **{**TONE, **by_press})
    told = bench.told + bench.run(press_after_ms or 300)
    pressed_us = FakeTime.us
    if press_after_ms is not None:
        bench.button(0)
    told += bench.run(700 - (press_after_ms or 300))
    return hear(I2S.made[0].samples), told, pressed_us


@pytest.mark.parametrize("press_after_ms", quick([110, 150, 205, 260, 330, 400], 110, 205, 400))
def test_a_press_ends_the_train_by_a_fade_and_no_sample_is_louder_than_it_was(
    press_after_ms: int,
) -> None:
    """In a rise, on a plateau, in a fall, in a gap and in the second pulse."""
    whole, told_whole, _ = i2s_frames(None)
    cut, told, pressed_us = i2s_frames(press_after_ms, **BY_PRESS)
    whole, cut = whole[:FRAMES], cut[:FRAMES]
    assert [verb for _, verb, _ in told_whole] == ["tone-on", "tone-off"]
    assert [verb for _, verb, _ in told] == ["tone-on", "button-down", "tone-off"]
    assert int(told[1][2]["us"]) == pressed_us
    off_us = int(told[2][2]["us"])
    assert QUIET_US <= off_us - pressed_us <= SETTLED_MS * MS
    assert told[2][2]["cut"] == "1"

    assert (np.abs(cut[:, LEFT]) <= np.abs(whole[:, LEFT])).all(), "never louder, not even once"
    differs = np.flatnonzero(cut[:, LEFT] != whole[:, LEFT])
    sounding = np.flatnonzero(cut[:, LEFT])
    assert sounding[-1] <= differs[0] + 0.005 * RATE_HZ + 1, "the fade of a cut"
    steps = np.abs(np.diff(cut[:, LEFT] / 2.0**31))
    assert steps.max() <= 1.01 * np.abs(np.diff(whole[:, LEFT] / 2.0**31)).max(), "no click"
    assert (cut[:, RIGHT] == whole[:, RIGHT]).all(), "the noise goes on, the same to the bit"


def test_a_press_too_early_or_of_the_other_button_leaves_every_sample_alone() -> None:
    whole, _, _ = i2s_frames(None)
    for by_press in ({"buttons": 1, "press": 300}, {"buttons": 2, "press": 0}, {}):
        frames, told, _ = i2s_frames(150, **by_press)
        assert [verb for _, verb, _ in told] == ["tone-on", "button-down", "tone-off"]
        assert told[-1][2]["cut"] == "0"
        assert (frames[:FRAMES] == whole[:FRAMES]).all()


# The constant that keeps the DAC from muting itself

XSMT = 13
QUEUE_US = QUEUE_BLOCKS * BLOCK_US
GAP_MS = 190
PULSES: dict[str, str | int] = {**TONE, "on": 50, "off": GAP_MS, "rise": 20}


class Muted:
    """The DAC of a board, which tells when its pin for muting moved."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._pin = Pin.made[XSMT]
        self.moves: list[tuple[int, int]] = []

    def run(self, duration_ms: int) -> None:
        end_us = FakeTime.us + MS * duration_ms
        while FakeTime.us < end_us:
            level = self._pin.level
            self._bench.told += self._bench.run(1)
            if self._pin.level != level:
                self.moves.append((self._pin.moved_us, self._pin.level))


def frame_at(us: float) -> int:
    return round(us * RATE_HZ / 1e6)


def test_while_a_host_is_there_the_dac_is_never_given_zeros_and_its_edges_are_in_silence() -> None:
    """Pulses, then noise until the host is gone; it comes back with a tone at once."""
    bench = Bench(output="i2s", pins={"xsmt": XSMT})
    dac = Muted(bench)
    dac.run(50)
    assert bench.ask("tone", **TONE)[1] == {"code": "hello"}
    bench.ask("hello", wire=1, host="0000000a")
    bench.ask("tone", **PULSES)  # at once
    dac.run(500)
    bench.ask("mask", ear="r", hz="1000.00", dbfs="-60.00")
    dac.run(1500)
    bench.ask("unmask")
    assert bench.ask("tone", **{**PULSES, "id": "r2"})[0] == "ok"
    dac.run(500)
    frames = as_frames(I2S.made[0].samples)

    there = frames.any(axis=1).astype(int)
    edges = np.flatnonzero(np.diff(there)) + 1
    begins, gone, again = (int(edge) for edge in edges)  # no frame of zeros between them
    assert (frames[begins] == STEP).all()
    assert (frames[gone - 1] == STEP).all()
    assert (frames[again] == STEP).all()
    sounds = np.where(there[:, None] == 1, frames - STEP, 0)
    sounding = np.flatnonzero(sounds.any(axis=1))
    before, after = sounding[sounding < gone], sounding[sounding > again]
    moved = frame_at(2 * MOVE_MS * MS)
    assert before[0] - begins >= moved - BLOCK_FRAMES
    assert gone - before[-1] >= moved - BLOCK_FRAMES
    assert after[0] - again >= moved - BLOCK_FRAMES
    alone = play(1000.0, -6.0, (50, GAP_MS, 2, 20))[:, LEFT]
    for first in (before[0], after[0]):
        begin = first - np.flatnonzero(alone)[0]
        assert (sounds[begin : begin + len(alone), LEFT] == alone).all()
    assert frame_at(dac.moves[1][0]) - before[-1] >= frame_at(QUEUE_US), "the noise is over"

    assert [level for _, level in dac.moves] == [1, 0, 1]
    for (moved_us, level), edge in zip(dac.moves, edges, strict=True):
        heard_us = edge / RATE_HZ * 1e6 + QUEUE_US
        assert moved_us > heard_us if level else moved_us < heard_us - DAC_FADE_MS * MS
    bench.board.output.mute()
    assert Pin.made[XSMT].level == 0
    assert FakeTime.us - Pin.made[XSMT].moved_us >= DAC_FADE_MS * MS
    assert not I2S.made[0].open


def test_the_pins_that_are_not_wired_are_left_alone() -> None:
    Bench(output="i2s")
    assert sorted(Pin.made) == [2, 3, 10, 11, 12, 25]
    Bench(output="i2s", pins={"smps": 23})
    assert Pin.made[23].level == 1


def test_the_light_is_steadily_on_with_what_is_loud_and_off_with_what_is_not() -> None:
    bench = Bench(output="i2s")
    bench.greet()
    light = Pin.made[DEFAULT_PINS["loud"]]

    def lit() -> bool:
        return light.value() == 1

    assert bench.ask("tone", **TONE) == ("ok", {})
    bench.run(100)
    assert not lit(), "nobody has said that it is"
    bench.run(600)
    assert bench.ask("tone", **{**TONE, "id": "r2", "hi": 1}) == ("ok", {})
    seen = [lit()]
    told = bench.told
    while not any(verb == "tone-off" for _, verb, _ in told):
        told = bench.run(5)
        seen.append(lit())
    assert all(seen[:-1]), "in the gap of two pulses, too"
    assert not seen[-1]

    assert bench.ask("mask", ear="r", hz="1000.00", dbfs="-40.00", hi=1) == ("ok", {})
    assert lit()
    assert bench.ask("unmask") == ("ok", {})
    assert not lit()
    assert bench.ask("mask", ear="r", hz="1000.00", dbfs="-40.00") == ("ok", {})
    assert not lit(), "the noise before was loud"
    assert bench.ask("unmask") == ("ok", {})
    assert bench.ask("tone", **{**TONE, "id": "r3"}) == ("ok", {})
    assert not lit(), "the tone before was loud"
    bench.run(700)
    assert bench.ask("tone", **{**TONE, "id": "r4", "hi": 1}) == ("ok", {})
    assert lit()
    bench.board.mute()
    assert not lit()


def test_a_spike_is_no_press_and_both_buttons_are_told_apart(bench: Bench) -> None:
    bench.button(0)
    FakeTime.us += 30
    bench.button(1)
    assert bench.run(50) == []
    bench.button(0)
    bench.button(0, "unsure")
    told = bench.run(30)
    assert [fields.get("button") for _, _, fields in told] == [None, "2"]


def test_a_ping_in_a_bounce_says_the_time_before_it(bench: Bench) -> None:
    bench.run(50)
    edge_us = FakeTime.us
    bench.button(0)
    FakeTime.us += 1500
    answer = bench.ask("ping")
    assert answer == ("ok", {"event": "0", "us": str(edge_us)})
    assert [verb for _, verb, _ in bench.run(20)] == ["button-down"]


TURNS = 3


class Standstill:
    """Presses both buttons while the program stands still, at one of its looks at the clock."""

    def __init__(self, bench: Bench, look: int) -> None:
        self.bench, self.look, self.looks = bench, look, 0
        self.pressed_us: list[int] = []
        FakeTime.asked = self

    def __call__(self) -> None:
        self.looks += 1
        if self.looks == self.look:
            for name in ("unsure", "heard"):
                pass_time(100 * MS)
                self.pressed_us.append(FakeTime.us)
                self.bench.button(0, name)
            pass_time(500 * MS)


@pytest.mark.parametrize("output", ["pwm", "i2s"])
@pytest.mark.parametrize("buttons", [0, 1])
def test_what_happens_while_the_program_stands_still_is_told_in_its_order(
    output: str, buttons: int
) -> None:
    """The end of a tone was told before a press that came first, and the host disbelieved it."""
    met, look = True, 0
    while met:
        look += 1
        bench = Bench(output=output)
        bench.greet()
        bench.ask("tone", **TONE, buttons=buttons)
        bench.told += bench.run(200)
        still = Standstill(bench, look)
        bench.port.incoming = encode(bench.sequence + 1, "ping")
        for _ in range(TURNS):
            assert bench.board.turn()
        met = bool(still.pressed_us)
        told = [each for each in bench.told + bench.run(700) if each[1] != "ok"]
        times_us = [us for us, _ in as_times(told)]
        assert times_us == sorted(times_us), f"look {look}"
        if met:
            verbs = [verb for _, verb in as_times(told)]
            assert sorted(verbs) == ["button-down", "button-down", "tone-off", "tone-on"]
            downs_us = [us for us, verb in as_times(told) if verb == "button-down"]
            assert downs_us == still.pressed_us
    assert look > 2 * TURNS


def test_a_button_waits_for_quiet() -> None:
    button = Button(2, 1)
    Pin.made[2].drive(0)
    FakeTime.us += QUIET_US - 1
    assert not button.poll()
    assert button.unsettled
    FakeTime.us += 1
    assert button.poll()
    assert (button.down, button.unsettled) == (True, False)


def test_a_worn_button_is_waited_for_no_longer_than_the_wire_page_says() -> None:
    button, waited_us = Button(2, 1), 0
    while not button.poll():
        for level in (1, 0):
            Pin.made[2].drive(level)
        FakeTime.us += QUIET_US // 2
        waited_us += QUIET_US // 2
    assert button.down
    assert waited_us == BOUNCING_US_MAX < BEHIND_US


def test_the_clock_goes_on_when_the_ticks_wrap_around() -> None:
    FakeTime.us = TICKS - 500
    clock = Clock()
    for _ in range(10):
        FakeTime.us += TICKS // 3
        clock.tick()
    assert clock.now_us == 10 * (TICKS // 3)


def test_what_nobody_takes_waits(bench: Bench) -> None:
    bench.port.full = True
    bench.button(0)
    bench.run(50)
    bench.port.full = False
    assert [verb for _, verb, _ in bench.run(20)] == ["button-down"]


def test_the_tone_stops_when_the_host_is_silent(bench: Bench) -> None:
    bench.ask("tone", **{**TONE, "on": 5000})
    bench.run(950)
    assert bench.duty > 0
    told = bench.run(100)
    assert bench.duty == 0
    assert told[-1][1] == "tone-off"
    assert told[-1][2]["cut"] == "1"


def test_control_c_is_garbage_while_a_host_talks(bench: Bench) -> None:
    for _ in range(5):  # for longer than a host may be silent
        bench.run(SERVICE_SILENCE_US // MS // 4)
        assert bench.ask("ping")[0] == "ok"
    bench.port.incoming = b"\x03\x03\n"
    assert bench.board.turn()
    assert bench.ask("ping")[0] == "ok"


def test_control_c_is_a_way_out_when_nobody_talks(bench: Bench) -> None:
    bench.run(SERVICE_SILENCE_US // MS + 20)
    bench.port.incoming = b"\r\x03"
    assert not bench.board.turn()


class OneTurn(FakePort):
    def read(self, wait_ms: int) -> int:
        FakeTime.us += MS * max(wait_ms, 1)
        if FakeTime.us < SERVICE_SILENCE_US:
            return 0
        self._taken = bytes([CONTROL_C])
        return 1


class Broken(FakePort):
    def read(self, wait_ms: int) -> int:
        PWM.made[DEFAULT_PINS["pwm_left"]].duty_u16(999)
        raise MemoryError("no room for 7 bytes")


@pytest.fixture
def _stored_settings() -> None:
    Path(settings.FILE).write_text(json.dumps(KEPT))


@pytest.mark.usefixtures("_stored_settings")
def test_the_way_out_stops_the_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "SerialPort", OneTurn)
    program.run()
    assert WDT.made[0].timeout_ms == 1000
    assert MEM32 == {0x4005B000: 1 << 30}  # the alias that clears bits
    assert PWM.made[DEFAULT_PINS["pwm_left"]].duty == 0


@pytest.mark.usefixtures("_stored_settings")
@pytest.mark.parametrize("kind", ["Raspberry Pi Pico 2 with RP2350", "unknown"])
def test_a_board_with_another_chip_is_refused_by_name_and_nothing_of_it_is_touched(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The address of the watchdog is that of a PLL on an RP2350."""
    monkeypatch.setattr(sys.implementation, "_machine", kind)
    program.run()
    told = capsys.readouterr().out
    assert f"does not run: the board is {kind} - wanted is one with an RP2040" in told
    assert (MEM32, WDT.made, Pin.made) == ({}, [], {})


@pytest.mark.usefixtures("_stored_settings")
def test_an_error_silences_and_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(program, "SerialPort", Broken)
    monkeypatch.setattr(sys, "print_exception", told.append, raising=False)
    with pytest.raises(Reset):
        program.run()
    assert PWM.made[DEFAULT_PINS["pwm_left"]].duty == 0
    assert isinstance(told[0], MemoryError)


# Settings


@pytest.mark.parametrize(
    ("pins", "of_bone"),
    [
        ({"heard": 20, "xsmt": 13, "smps": 23}, {}),
        ({"bone_left": 14, "bone_right": 15}, {"limit_dbfs_bone": -3}),
    ],
)
def test_settings_are_read(pins: dict[str, int], of_bone: dict[str, int]) -> None:
    told = {**KEPT, "output": "i2s", "pins": pins, **of_bone}
    Path(settings.FILE).write_text(json.dumps(told))
    kept = settings.load_or_silent()
    assert (kept.output, kept.has_vibrator) == ("i2s", bool(of_bone))
    assert kept.limits_dbfs == (0.0, -20.0, *of_bone.values())
    assert kept.pins == {**DEFAULT_PINS, **pins}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"pins": {"bone_left": 14}, "limit_dbfs_bone": -3}, r"\['bone_left'\] are given alone"),
        ({"pins": {"bone_left": 14, "bone_right": 15}}, "limit_dbfs_bone is None, wanted is"),
        ({"pins": {"bone_left": 14, "bone_right": 14}, "limit_dbfs_bone": 0}, "is 14, and so is"),
        ({"limit_dbfs_bone": -3}, "limit_dbfs_bone is given without the pins"),
        ({"output": "dac"}, "output is 'dac', allowed are"),
        ({"pins": {"mic_bck": 18}}, r"pins \['mic_bck'\] are given alone, wanted are"),
        ({"pins": {"mic_bck": 18, "mic_ws": 20, "mic_data": 21}}, "'mic_ws' is 20, wanted is the"),
        ({"pins": MICROPHONE_PINS}, "output is 'pwm', with a microphone 'i2s'"),
        ({"microphone_dbfs": -26}, "microphone_dbfs is given without the pins"),
        ({**WITH_MICROPHONE, "microphone_dbfs": 1}, "microphone_dbfs is 1, allowed are -80.0 to 0"),
        ({"limit_dbfs_left": 1}, "limit_dbfs_left is 1, allowed are -160.0 to 0"),
        ({"limit_dbfs_left": "0"}, "limit_dbfs_left is '0', wanted is a number of dBFS"),
        ({"limit_dbfs_right": True}, "limit_dbfs_right is True, wanted is a number"),
        ({"limit_dbfs_right": float("nan")}, "limit_dbfs_right is nan, allowed are"),
        ({"colour": 1}, "setting 'colour' is not known"),
        ({"pins": []}, r"pins are \[\], wanted is an object"),
        ({"pins": {"led": 25}}, "pin 'led' is not known"),
        ({"pins": {"xsmt": 11}}, "pin 'xsmt' is 11, and so is 'i2s_ws'"),
        ({"pins": {"loud": 12}}, "pin 'loud' is 12, and so is 'i2s_data'"),
        ({"pins": {"xsmt": 23, "smps": 23}}, "pin 'xsmt' is 23, and so is 'smps'"),
        ({"pins": {"heard": 30}}, "pin 'heard' is 30, allowed are 0 to 29"),
        ({"pins": {"heard": "2"}}, "pin 'heard' is '2', wanted is a whole number"),
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        Settings({**KEPT, **wrong})


@pytest.mark.parametrize("content", [None, "", "[]", "{", '{"output": "pwm"}'])
def test_a_board_without_right_settings_plays_nothing(
    content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        Path(settings.FILE).write_text(content)
    assert settings.load_or_silent().limits_dbfs == (-160.0, -160.0)
    assert "refuses every tone" in capsys.readouterr().out


def test_every_start_has_another_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", bytes)
    file = Path(settings.STARTS_FILE)
    assert len({settings.next_boot() for _ in range(100)}) == 100
    assert file.read_text() == "100"
    file.write_text("")  # the plug was pulled while it was written
    assert 0 <= settings.next_boot() < 2**32


def test_a_flash_that_cannot_be_written_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert len({settings.next_boot("no/starts") for _ in range(3)}) == 3
    assert "does not count its starts" in capsys.readouterr().out
