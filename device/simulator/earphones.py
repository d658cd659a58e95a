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
    """A listener with earphones on.

    Attributes
    ----------
    swapped : bool
        Whether the tones of each ear reach the other one.
    """

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

    def turn(self) -> None:
        """Put the earphones on the other way round."""
        self.swapped = not self.swapped

    def _reach(self, ear: Ear) -> Ear:
        return EARS[EARS.index(ear) - 1] if self.swapped else ear


class EarOperator:
    """An operator who asks which ear is which, and turns the earphones round if they are swapped.

    Attributes
    ----------
    played : Play or None
        The last tone.
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self.played: Play | None = None

    def react(self, action: Action) -> tuple[int, Event] | None:
        """Return what the test is told, and after how long; None: nothing is said to this."""
        match action:
            case EarCheckTold() if self.played is not None:
                ear = EARS[EARS.index(self.played.route.ear)]
                at = self.played.frequency_hz, self.played.level_db_hl
                return ASK_US, EarNamed(self._listener.points_to(ear, *at))
            case EarphonesTold():
                if isinstance(self._listener, Worn) and self._listener.swapped:
                    self._listener.turn()
                return TURN_US, Continued()
            case PlacingTold():
                return PLACE_US, Continued()
        return None
