"""What the loop waits with looks up in time at a port that cannot wake it."""

import select
from typing import Any

import pytest

from firmware_py.platform.ports import Port
from firmware_py.platform.waiting import POLL_S, SystemWaiting


class WithoutDescriptor(Port):
    """A port such as loop://: the system cannot tell that something came."""

    def fileno(self) -> int | None:
        return None

    @property
    def is_full(self) -> bool:
        return False


@pytest.mark.parametrize(("ports", "waited_s"), [(0, 60.0), (1, POLL_S)])
def test_a_port_without_a_descriptor_is_looked_at_again_and_again(
    ports: int, waited_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def look(*about: Any) -> tuple[list[int], list[int], list[int]]:
        asked.append(about[-1])
        return [], [], []

    monkeypatch.setattr(select, "select", look)
    waiting = SystemWaiting()

    waiting.wait([WithoutDescriptor("loop://", "")] * ports, 60.0)
    waiting.close()

    assert asked == [waited_s]
