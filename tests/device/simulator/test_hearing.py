"""A hearing test in no time does not go on for ever, and says so where it would."""

import pytest

from device.simulator import hearing
from device.simulator.hearing import SimulatedTest
from firmware_py.terms.settings import Settings
from tests.firmware.whole_sessions import a_listener


def left_ear() -> SimulatedTest:
    return SimulatedTest(Settings.from_record({"ears": "left"}), a_listener("N3"))


def test_what_never_happens_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hearing, "STEPS_MAX", 30)

    with pytest.raises(RuntimeError, match=r"^the test is [a-z-]+ after 30 steps$"):
        left_ear().run_until(lambda _action: False)


def test_a_test_that_is_over_has_no_next_step() -> None:
    test = left_ear()
    test.run()

    with pytest.raises(RuntimeError, match=r"^the test is finished for ever$"):
        test.run_until(lambda _action: False)
