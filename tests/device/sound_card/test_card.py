"""The sound card: PortAudio itself is played by the test, which asks for samples as it does.

No machine that runs the tests has a sound card. `README.md` of the room says what was tried on real
ones, and how.
"""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from device.sound_card import card
from device.sound_card.card import STANDSTILL_S, CardOutput, NoSoundError, device_of, outputs
from device.tone_generator.constant import MOVE_MS, STEP
from device.tone_generator.synthesis import LEFT, RIGHT

RATE_HZ = 44_100.0
FRAMES = 441  # of a request: 10 ms
LATENCY_S = 0.035
READY_REQUESTS = 2 * MOVE_MS // 10 + 1
TIMES_MS = (260, 190, 2, 35)
DEVICES = [
    {"name": "microphone", "max_output_channels": 0, "default_samplerate": RATE_HZ},
    {"name": "ears", "max_output_channels": 2, "default_samplerate": RATE_HZ},
]


class PortAudio(ModuleType):
    """As much of `sounddevice` as is used; `ask` is what its thread does."""

    class PortAudioError(Exception):
        """Of PortAudio."""

    def __init__(self) -> None:
        super().__init__("sounddevice")
        self.now_s = 100.0
        self.frames: list[Any] = []
        self.running = False

    def query_devices(self, device: int | str | None = None, kind: str | None = None) -> Any:
        if kind is None:
            return DEVICES
        if device not in (None, 1, "ears"):
            raise ValueError(f"No output device matching {device!r}")
        return DEVICES[1]

    def RawOutputStream(self, **asked: Any) -> "PortAudio":  # noqa: N802 - its name
        assert (asked["channels"], asked["dtype"]) == (2, "int32")
        self.rate_hz, self._fill = asked["samplerate"], asked["callback"]
        self.latency = LATENCY_S
        return self

    def start(self) -> None:
        self.running = True

    def stop(self) -> None:
        self.running = False

    def close(self) -> None:
        assert not self.running

    def ask(self, frames: int, ahead_s: float, late: bool = False) -> None:
        """Ask for frames that are heard so much later."""
        out = bytearray(8 * frames)
        at = SimpleNamespace(currentTime=7.0, outputBufferDacTime=7.0 + ahead_s)
        self._fill(memoryview(out), frames, at, SimpleNamespace(output_underflow=late))
        self.frames.append(np.frombuffer(bytes(out), dtype="<i4").reshape(-1, 2) / 2.0**31)
        self.now_s += frames / self.rate_hz


@pytest.fixture
def portaudio(monkeypatch: pytest.MonkeyPatch) -> PortAudio:
    fake = PortAudio()
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    clock = SimpleNamespace(monotonic=lambda: fake.now_s, sleep=lambda _: None)
    monkeypatch.setattr(card, "time", clock)
    return fake


def board_us(portaudio: PortAudio) -> int:
    return round(1e6 * (portaudio.now_s - 90.0))


def run(portaudio: PortAudio, output: CardOutput, requests: int, ahead_s: float) -> list[str]:
    """Let PortAudio ask some times; returns what was told."""
    told = []
    for _ in range(requests):
        output.advance(board_us(portaudio))
        before = (output.began_us, output.ended_us)
        portaudio.ask(FRAMES, ahead_s)
        output.advance(board_us(portaudio))
        told += ["began"] * (output.began_us is not None and before[0] is None)
        told += ["ended"] * (output.ended_us is not None and before[1] is None)
    return told


def a_card(portaudio: PortAudio, device: int | str | None = None) -> CardOutput:
    """Return an output that has a host; what it sent before that counted is forgotten."""
    output = CardOutput(device)
    output.attend(True)
    run(portaudio, output, READY_REQUESTS, 0.020)
    portaudio.frames.clear()
    return output


def hear(portaudio: PortAudio) -> Any:
    """Return what is heard of the frames, the constant taken off."""
    return np.concatenate(portaudio.frames) - STEP / 2.0**31


def test_a_tone_has_the_time_at_which_it_leaves_the_card(portaudio: PortAudio) -> None:
    output = a_card(portaudio)
    run(portaudio, output, 3, 0.020)
    asked_us = board_us(portaudio)
    output.play(RIGHT, 1000.0, -20.0, TIMES_MS)
    told = run(portaudio, output, 80, 0.020)

    frames = hear(portaudio)
    assert told == ["began", "ended"]
    assert output.began_us == asked_us + 20_000
    assert output.ended_us == pytest.approx(asked_us + 730_000, abs=50)
    assert not frames[:, LEFT].any()
    assert abs(frames[:, RIGHT]).max() == pytest.approx(0.1, rel=1e-3)
    assert np.flatnonzero(frames[:, RIGHT])[0] == pytest.approx(3 * FRAMES, abs=20)  # of a rise


def test_where_the_system_does_not_say_when_its_latency_will_do_and_a_cut_is_not_told(
    portaudio: PortAudio,
) -> None:
    output = a_card(portaudio, "ears")
    output.advance(board_us(portaudio))
    asked_us = board_us(portaudio)
    output.play(LEFT, 1000.0, -20.0, TIMES_MS)
    run(portaudio, output, 10, 0.0)
    assert output.began_us == asked_us + round(1e6 * LATENCY_S)
    output.cut()
    assert run(portaudio, output, 80, 0.020) == []

    assert np.flatnonzero(hear(portaudio)[:, LEFT])[-1] <= 10 * FRAMES + 0.005 * RATE_HZ


def test_gaps_are_counted_and_the_end_is_silent(portaudio: PortAudio) -> None:
    output = a_card(portaudio)
    output.mask(LEFT, 1000.0, -30.0)
    run(portaudio, output, 20, 0.020)
    portaudio.ask(FRAMES, 0.020, late=True)
    output.close()
    run(portaudio, output, 6, 0.020)

    assert output.gaps == 1
    assert not portaudio.running
    assert hear(portaudio)[-8 * FRAMES : -7 * FRAMES].any()
    assert not hear(portaudio)[-FRAMES:].any()


def test_a_card_that_was_pulled_out_is_an_error(portaudio: PortAudio) -> None:
    output = CardOutput()
    run(portaudio, output, 2, 0.020)
    portaudio.now_s += STANDSTILL_S + 0.1
    with pytest.raises(OSError, match="the sound card 'ears' does not play any more"):
        output.advance(board_us(portaudio))


def test_only_what_has_two_channels_is_listed(portaudio: PortAudio) -> None:
    assert outputs() == [{"number": 1, "name": "ears", "rate_hz": RATE_HZ}]
    assert CardOutput(1).name == "ears"
    with pytest.raises(NoSoundError, match="device 'eyes' does not play: No output device"):
        CardOutput("eyes")


def test_a_device_is_named_by_its_number_or_by_a_part_of_its_name() -> None:
    names = ("3", "USB", "3rd", "\u0663", "9" * 5000)

    assert [device_of(name) for name in names] == [3, *names[1:]]
