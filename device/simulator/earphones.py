"""Earphones on a listener's head, the right way round or not, and who looks after them."""

from dataclasses import replace
from typing import Final, Protocol, runtime_checkable

from device.simulator.by_route import answer_of
from device.simulator.listener import EARS, Ear, Listener, Noise, Press
from firmware_py.terms.events import Action, Continued, EarNamed, Event, Play
from firmware_py.terms.route import BONE, Route
from firmware_py.terms.tells import EarCheckTold, EarphonesTold, PlacingTold

RIGHT_WAY: Final = "right"
SWAPPED: Final = "swapped"
WAYS: Final = (RIGHT_WAY, SWAPPED)
ASK_US: Final = 4_000_000  # to ask a listener in which ear a tone is, and to say it
TURN_US: Final = 15_000_000  # to look at the earphones, and to turn them round
PLACE_US: Final = 10_000_000  # to put the vibrator behind an ear, or the earphones on


@runtime_checkable
class Points(Protocol):
    """Who can say in which ear a tone is heard."""

    def points_to(self, ear: Ear, frequency_hz: float, level_db_hl: float) -> Ear:
        """Return the ear."""


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

    def answer(
        self,
        tone_id: str,
        ear: Ear,
        frequency_hz: float,
        level_db_hl: float,
        noise: Noise | None = None,
    ) -> Press | None:
        """Say whether and when a tone is answered, by whichever ear it reaches."""
        reached = None if noise is None else replace(noise, ear=self._reach(noise.ear))
        return self._listener.answer(tone_id, self._reach(ear), frequency_hz, level_db_hl, reached)

    def answer_by_bone(
        self,
        tone_id: str,
        ear: Ear,
        frequency_hz: float,
        level_db_hl: float,
        noise: Noise | None = None,
    ) -> Press | None:
        """Say whether and when a tone by bone is answered: earphones turned round turn noise."""
        reached = None if noise is None else replace(noise, ear=self._reach(noise.ear))
        sound = frequency_hz, level_db_hl
        return answer_of(self._listener, Route(ear, BONE), tone_id, sound, reached)

    def spontaneous_press(self, after_id: str, slot: int) -> Press | None:
        """Say whether and when the button is pressed in a slot in which nothing sounds."""
        return self._listener.spontaneous_press(after_id, slot)

    def points_to(self, ear: Ear, frequency_hz: float, level_db_hl: float) -> Ear:
        """Say in which ear of the head a tone is heard."""
        return point_to(self._listener, self._reach(ear), frequency_hz, level_db_hl)

    def turn(self) -> None:
        """Put the earphones on the other way round."""
        self.swapped = not self.swapped

    def _reach(self, ear: Ear) -> Ear:
        return EARS[EARS.index(ear) - 1] if self.swapped else ear


def point_to(listener: Listener, ear: Ear, frequency_hz: float, level_db_hl: float) -> Ear:
    """Return in which ear a listener hears a tone; one who cannot say hears it where it is."""
    if isinstance(listener, Points):
        return listener.points_to(ear, frequency_hz, level_db_hl)
    return ear


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
                return ASK_US, EarNamed(point_to(self._listener, ear, *at))
            case EarphonesTold():
                if isinstance(self._listener, Worn) and self._listener.swapped:
                    self._listener.turn()
                return TURN_US, Continued()
            case PlacingTold():
                return PLACE_US, Continued()
        return None
