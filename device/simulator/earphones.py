"""Earphones on a listener's head, the right way round or not, and who looks after them."""

from dataclasses import replace
from typing import Final

from device.simulator.listener import EARS, Ear, Listener, Press, Tone
from firmware_py.terms.events import Action, Continued, EarNamed, Event, Play
from firmware_py.terms.tells import EarCheckTold, EarphonesTold, PlacingTold

RIGHT_WAY: Final = "right"
SWAPPED: Final = "swapped"
WAYS: Final = (RIGHT_WAY, SWAPPED)
ASK_US: Final = 4_000_000  # to ask a listener in which ear a tone is, and to say it
TURN_US: Final = 15_000_000  # to look at the earphones, and to turn them round
PLACE_US: Final = 10_000_000  # to put the vibrator behind an ear, or the earphones on


class Worn(Listener):
    """A listener with earphones on; `swapped`: the tones of each ear reach the other one."""

    def __init__(self, listener: Listener, swapped: bool = False) -> None:
        self._listener = listener
        self.swapped = swapped

    def answer(self, tone: Tone) -> Press | None:
        """Say whether and when a tone is answered: earphones turned round turn noise, too."""
        noise = tone.noise and replace(tone.noise, ear=self._reach(tone.noise.ear))
        ear = tone.ear if tone.by_bone else self._reach(tone.ear)
        return self._listener.answer(tone._replace(ear=ear, noise=noise))

    def spontaneous_press(self, after_id: str, slot: int) -> Press | None:
        return self._listener.spontaneous_press(after_id, slot)

    def points_to(self, ear: Ear, frequency_hz: float, level_db_hl: float) -> Ear:
        return self._listener.points_to(self._reach(ear), frequency_hz, level_db_hl)

    def seat(self) -> None:
        self._listener.seat()

    def turn(self) -> None:
        self.swapped = not self.swapped

    def _reach(self, ear: Ear) -> Ear:
        return EARS[EARS.index(ear) - 1] if self.swapped else ear


def look_after_ears(
    action: Action, listener: Listener, played: Play | None
) -> tuple[int, Event] | None:
    """Return what an operator tells the test of the ears, and after how long; None: nothing.

    Asked which ear is which, the operator asks the listener where the last tone was; swapped
    earphones are turned round.
    """
    match action:
        case EarCheckTold() if played is not None:
            ear = EARS[EARS.index(played.route.ear)]
            at = played.frequency_hz, played.level_db_hl
            return ASK_US, EarNamed(listener.points_to(ear, *at))
        case EarphonesTold():
            if isinstance(listener, Worn) and listener.swapped:
                listener.turn()
            return TURN_US, Continued()
        case PlacingTold():
            return PLACE_US, Continued()
    return None
