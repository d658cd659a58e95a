"""What is told of a tone by hand: that it began, and that it is over, in whichever way."""

import pytest

from firmware_py.calibration.in_force import CalibrationInForce
from firmware_py.link.notices import Lost, Notice, ToneEnded, ToneStarted
from firmware_py.operator.manual_tone import ManualTone
from firmware_py.terms.route import LEFT, Route
from firmware_py.terms.settings import Settings
from tests.link.test_client import connect


@pytest.mark.parametrize("is_stopped", [False, True])
@pytest.mark.parametrize("end", [ToneEnded(2, "man-1", 9, cut=True), Lost("its plug was pulled")])
def test_its_end_is_told_once_or_the_sign_of_a_loud_one_would_stay(
    end: Notice, is_stopped: bool
) -> None:
    by_hand = ManualTone(connect(300_000).client)
    by_hand.play(Route(LEFT), 1000.0, 40.0, Settings(), CalibrationInForce())
    told = by_hand.notice(ToneStarted(1, "man-1", 5))
    assert told is not None
    assert told[0] == "manual-tone"
    if is_stopped:
        by_hand.stop()
    assert [by_hand.notice(end), by_hand.notice(end)] == [("manual-tone-over", {}), None]
