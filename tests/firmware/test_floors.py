"""How many functions lie between an entry and a kernel: what one reads to follow an answer."""

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from device.simulator.world import World
from firmware_py.inference.kernel import LIBRARY
from firmware_py.terms.settings import Settings
from tests.firmware.whole_sessions import a_listener

# Today's most, the entry among them and the kernel not; to be fewer. A smaller one belongs here.
FLOORS_OF_A_STEP = 23  # of the loop; goal 20
FLOORS_OF_THE_ESTIMATOR = 4  # turn, method, model, step of the model
PRODUCT = "firmware_py/"


def _floors(frame: FrameType | None, entry: str) -> list[str]:
    """Return the functions of the product from an entry down to this frame; []: not from there."""
    found: list[str] = []
    while frame is not None:
        code = frame.f_code
        if PRODUCT in code.co_filename:
            found.append(code.co_qualname)
        if code.co_qualname.endswith(entry):
            return found[::-1]
        frame = frame.f_back
    return []


@pytest.mark.skipif(LIBRARY is None, reason="Numba's kernels are called without a trace")
def test_no_more_floors_lie_between_an_entry_and_a_kernel(tmp_path: Path) -> None:
    world, before = World(tmp_path, a_listener("S2")), sys.getprofile()
    of_step: list[str] = []
    of_estimator: list[str] = []

    def look(frame: FrameType, event: str, _: Any) -> None:
        nonlocal of_step, of_estimator
        code = frame.f_code
        if event == "call" and code.co_name == "call" and code.co_filename.endswith("library.py"):
            of_step = max(of_step, _floors(frame.f_back, "Firmware.step"), key=len)
            of_estimator = max(of_estimator, _floors(frame.f_back, "_alone.<locals>.call"), key=len)

    world.begin(Settings(ears="right"))
    sys.setprofile(look)
    try:
        world.finish()
    finally:
        sys.setprofile(before)

    assert 0 < len(of_step) <= FLOORS_OF_A_STEP, "\n".join(of_step)
    assert 0 < len(of_estimator) <= FLOORS_OF_THE_ESTIMATOR, "\n".join(of_estimator)
