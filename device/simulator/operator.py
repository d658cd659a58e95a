"""An operator who attends to a test: what is done when the device asks, and after how long."""

from dataclasses import dataclass
from typing import Final

from firmware_py.terms import events
from firmware_py.terms.reasons import EARPHONE_MOVED
from firmware_py.terms.tells import EquipmentCheckTold, ListenerCheckTold


@dataclass(frozen=True)
class Operator:
    """Somebody who looks after listener and equipment when the device asks.

    Parameters
    ----------
    goes_on : bool
        Whether to say that the test is to go on when it was broken off to see if anybody listens.
    seats : bool
        Whether to put earphones back that seem to have moved, and say that the test is to go on.
    hears : str
        Who hears the tones of an ear that seems to hear none: "operator", "other-ear" or "nobody";
        "": nothing is said.
    after_s : float
        How long it takes from the device's word to the operator's.
    """

    goes_on: bool = False
    seats: bool = False
    hears: str = ""
    after_s: float = 20.0

    def puts_back(self, action: events.Action) -> bool:
        """Return whether earphones are put back where they were."""
        moved = isinstance(action, ListenerCheckTold) and action.why[0].code in EARPHONE_MOVED
        return self.seats and moved

    def react(self, action: events.Action) -> tuple[int, events.Event] | None:
        """Return what the test is told, and after how long; None: nothing is said to this."""
        after_us = round(1e6 * self.after_s)
        match action:
            case ListenerCheckTold() if self.goes_on or self.puts_back(action):
                return after_us, events.Continued()
            case ListenerCheckTold() | EquipmentCheckTold() if self.hears:
                return after_us, events.EquipmentHeard(self.hears)
            case _:
                return None


NOBODY: Final = Operator()  # who does nothing: checks end by themselves
