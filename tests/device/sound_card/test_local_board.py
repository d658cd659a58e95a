"""The board made of a computer: a key ends the tone that it answers, in the samples themselves."""

import os
import wave
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from device.sound_card.keyboard import Keyboard
from device.sound_card.local_board import POLL_US, LocalBoard
from device.sound_card.wav import RATE_HZ, WavOutput
from device.tone_generator.constant import STEP
from device.tone_generator.voices import CUT_MS
from tests.link.example import TONE, ExampleHost, Frame

MS = 1000
BEGIN_US = 200 * MS  # from the greeting on
PRESS_US = BEGIN_US + 412 * MS  # a multiple of the time in which the keys are looked at
BOTH: dict[str, str | int] = {"buttons": 3, "press": 100}


class Desk:
    """A host, a board that writes a file, and the keys of a listener."""

    def __init__(self, path: Path) -> None:
        reader, self.keys = os.pipe()
        self._path = path
        self._output = WavOutput(path)
        self._board = LocalBoard(self._output, Keyboard(reader), 0.0, boot=1)
        self._host = ExampleHost(self._board)
        self.events: list[Frame] = []
        self.run(BEGIN_US)

    def tone(self, **by_press: str | int) -> None:
        self._host.ask("mask", ear="l", hz="1000.00", dbfs="-40.00")
        self.events = self._host.ask("tone", **{**TONE, **by_press})[1:]

    def run(self, until_us: int) -> None:
        while self._host.now_us < until_us:
            self._host.now_us += POLL_US
            if self._host.now_us % (200 * MS) == 0:
                self.events += self._host.ask("ping")
            self._board.advance(self._host.now_us)
            self.events += self._host.read()

    def frames(self) -> NDArray[np.int32]:
        self._output.close()
        with wave.open(str(self._path)) as file:
            octets = np.frombuffer(file.readframes(file.getnframes()), np.uint8).reshape(-1, 3)
        whole = np.zeros((len(octets), 4), np.uint8)
        whole[:, 1:] = octets
        return (whole.view("<i4").reshape(-1, 2) - STEP) >> 8  # what is heard


def play_with_key(
    path: Path, key: bytes, **by_press: str | int
) -> tuple[NDArray[np.int32], list[Frame]]:
    desk = Desk(path)
    desk.tone(**by_press)
    desk.run(PRESS_US - POLL_US)
    os.write(desk.keys, key)
    desk.run(BEGIN_US + 1000 * MS)
    return desk.frames(), [frame for frame in desk.events if frame.verb != "ok"]


@pytest.mark.parametrize(("key", "button"), [(b" ", None), (b"p", "2")])
def test_a_key_ends_the_tone_by_a_fade_and_nothing_is_louder(
    tmp_path: Path, key: bytes, button: str | None
) -> None:
    whole, _ = play_with_key(tmp_path / "whole.wav", b"")
    cut, told = play_with_key(tmp_path / "cut.wav", key, **BOTH)
    on, down, off = told[:3]

    assert [on.verb, down.verb, off.verb] == ["tone-on", "button-down", "tone-off"]
    assert down.fields.get("button") == button
    assert int(down.fields["us"]) == PRESS_US
    assert off.fields == {"id": "r1", "us": str(PRESS_US), "cut": "1"}
    ended = np.flatnonzero(cut[:, 1])[-1]
    pressed = PRESS_US * RATE_HZ // 1_000_000
    assert pressed <= ended <= pressed + CUT_MS * RATE_HZ // 1000
    assert (cut[:pressed] == whole[:pressed]).all()
    assert (np.abs(cut[:, 1]) <= np.abs(whole[:, 1])).all()
    same = RATE_HZ * 7 // 10
    assert (cut[:same, 0] == whole[:same, 0]).all(), "the noise goes on"


def test_a_key_that_is_not_asked_for_ends_nothing(tmp_path: Path) -> None:
    whole, _ = play_with_key(tmp_path / "whole.wav", b"")
    frames, told = play_with_key(tmp_path / "other.wav", b"p", buttons=1, press=0)

    assert [f.verb for f in told[:3]] == ["tone-on", "button-down", "tone-off"]
    assert told[2].fields["cut"] == "0"
    assert (frames[:, 1] == whole[:, 1]).all()
