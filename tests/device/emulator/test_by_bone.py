"""Bone at the emulated board, without an emulator: its settings, and what its listener is asked."""

import math
from collections.abc import Callable
from typing import Any, cast

import pytest

from device.emulator.emulated_board import EmulatedBoard
from device.emulator.pico import EmulatedPico
from device.simulator.audiogram import Audiogram
from device.simulator.head import Head
from device.simulator.listener import SimulatedListener
from device.tone_generator.settings import Settings
from host_tools.devices.board_program import EMULATED as SETTINGS
from tests.link.example import TONE, write

HZ = 1000.0


class QuietPico:
    """Runs no program: what it says is put in, and which pins are pressed is kept."""

    def __init__(self) -> None:
        self.now_us = 0
        self.output = b""
        self.due: list[Callable[[], None]] = []
        self.pressed: list[int] = []

    def send(self, _data: bytes) -> None:
        """Take bytes, and do nothing."""

    def take_output(self) -> bytes:
        output, self.output = self.output, b""
        return output

    def at(self, _us: float, do: Callable[[], Any]) -> None:
        self.due.append(do)

    def press(self, pin: int) -> None:
        self.pressed.append(pin)

    def release(self, _pin: int) -> None:
        """Let go of a pin."""


@pytest.mark.parametrize(("via", "is_heard"), [(0, False), (1, True)])
def test_its_listener_hears_by_bone_past_the_gap(via: int, is_heard: bool) -> None:
    """-82 dBFS are 50 dB HL: 10 below the ear, and 30 above its cochlea."""
    someone = SimulatedListener(
        {"right": Audiogram((HZ,), (60.0,)), "left": Audiogram((HZ,), (math.inf,))},
        lapse_rate=0.0,
        false_alarm_rate=0.0,
        head=Head({"right": 40.0}),
    )
    pico = QuietPico()
    board = EmulatedBoard(cast(EmulatedPico, pico), someone)
    board.receive(write(1, "tone", **{**TONE, "dbfs": "-82.00", "via": via}), 0)
    pico.output = write(1, "tone-on", id=TONE["id"], us=0)
    board.transmit()
    for do in pico.due:
        do()
    assert pico.pressed == [Settings(SETTINGS).pins["heard"]] * is_heard


def test_it_is_installed_with_a_vibrator() -> None:
    settings = Settings(SETTINGS)
    assert settings.has_vibrator
    assert len(settings.limits_dbfs) == 3
    assert len({*settings.pins.values()}) == len(settings.pins), "no two things share a pin"
