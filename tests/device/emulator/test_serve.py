"""Where a board cannot be served that is said, and nobody waits for it."""

import os
from typing import cast

import pytest

pytest.importorskip("rp2040py")

from device.emulator.pico import EmulatedPico
from device.emulator.serve import served


def test_without_a_pty_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> tuple[int, int]:
        raise OSError("out of pty devices")

    monkeypatch.setattr(os, "openpty", none_left)
    with (
        pytest.raises(OSError, match="out of pty devices"),
        served(cast(EmulatedPico, None)),
    ):
        pass
