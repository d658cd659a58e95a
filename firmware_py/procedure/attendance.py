"""What the operator is wanted for while a test runs, and why."""

from typing import Literal

from firmware_py.procedure import events
from firmware_py.procedure.hearing import HearingTest
from firmware_py.procedure.presenter import PAUSED
from firmware_py.procedure.reasons import Reasons


def check_of(
    test: HearingTest,
) -> Literal["", "ear", "earphones", "identity", "listener", "silence", "equipment", "placing"]:
    """Return which check the operator is wanted for, "" if for none."""
    if test.waits_why and test.state == PAUSED:
        return "identity"
    if test.asks_who_hears:
        return "equipment"
    if test.checking:
        return "silence" if test.takes_word_of(events.OPERATOR) else "listener"
    if test.asks_which_ear:
        return "ear"
    if test.state != PAUSED:
        return ""
    if test.placing.wanted is not None:
        return "placing"
    return "earphones" if test.ear_check.waits else ""


def why_checked(test: HearingTest) -> Reasons:
    if check_of(test) == "identity":
        return test.waits_why
    if test.checking:
        return test.ear.listening.why
    if check_of(test) == "placing":
        return (test.placing.why,)
    return (test.ear_check.why,) if check_of(test) else ()
