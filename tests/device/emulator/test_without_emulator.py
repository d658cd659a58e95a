"""The emulated board without an emulator: its image, its settings, and its listener by bone."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from device.emulator import image
from device.emulator.emulated_board import EmulatedBoard
from device.emulator.image import VARIABLE, ImageError, find_image
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


def test_the_variable_names_it_or_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "any.uf2"
    file.touch()
    monkeypatch.setenv(VARIABLE, str(file))
    assert find_image() == file
    monkeypatch.setenv(VARIABLE, "/none.uf2")
    with pytest.raises(ImageError, match=r"MICROPYTHON_UF2 is '/none\.uf2'"):
        find_image()


def test_the_newest_of_a_place_is_taken_or_it_says_where_to_put_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(image, "_PLACES", (tmp_path / "none", tmp_path))
    with pytest.raises(ImageError, match=r"name one in MICROPYTHON_UF2 .* device/emulator"):
        find_image()
    for name in ("micropython-1.24.uf2", "micropython-1.25.uf2", "other.uf2"):
        (tmp_path / name).touch()
    assert find_image().name == "micropython-1.25.uf2"
