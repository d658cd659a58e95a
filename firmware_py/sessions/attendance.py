"""What the operator is wanted for while a test runs, and why."""

from typing import Literal

from firmware_py.presenting.presenter import PAUSED
from firmware_py.session.hearing import HearingTest
from firmware_py.terms import events
from firmware_py.terms.reasons import Reasons


def check_of(
    test: HearingTest,
) -> Literal["", "ear", "earphones", "identity", "listener", "silence", "equipment", "placing"]:
    if test.state == PAUSED:
        if test.waits_why:
            return "identity"
        if test.placing.wanted is not None:
            return "placing"
        return "earphones" if test.ear_check.waits else ""
    if test.asks_who_hears:
        return "equipment"
    if test.checking:
        return "silence" if test.takes_word_of(events.OPERATOR) else "listener"
    return "ear" if test.asks_which_ear else ""


def why_checked(test: HearingTest) -> Reasons:
    match check_of(test):
        case "identity":
            return test.waits_why
        case "placing":
            return (test.placing.why,)
        case "equipment" | "silence" | "listener":
            return test.ear.listening.why
        case "ear" | "earphones":
            return (test.ear_check.why,)
        case _:
            return ()
