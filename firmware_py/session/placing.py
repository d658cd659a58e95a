"""Where the operator is to put what plays: earphones on, or the vibrator behind an ear."""

from dataclasses import dataclass
from typing import Final

from firmware_py.terms.reasons import Code, Reason, reason
from firmware_py.terms.route import OTHER


@dataclass(frozen=True)
class Place:
    """Where the vibrator is, and whether the other ear has an earphone for noise.

    `ear` is "" while both ears have earphones and there is no vibrator.
    """

    ear: str = ""
    covered: bool = True


EARPHONES: Final = Place()


class Placing:
    """What the operator said of where it is."""

    def __init__(self) -> None:
        self._place: Place | None = EARPHONES  # None: nobody knows
        self.moves = 0  # since the beginning
        self._why: Reason | None = None  # if not to move it
        # Where it is to be put: the test waits for the operator's word. None: it waits for none.
        self.wanted: Place | None = None

    def is_at(self, place: Place) -> bool:
        return place == self._place

    def wait_for(self, place: Place) -> None:
        self.wanted, self._why = place, None

    def look_at(self, why: Reason) -> None:
        """Have the operator see to what is where it was, for a reason."""
        self.wanted, self._why = self._place or EARPHONES, why

    def take_word(self, anew: bool) -> bool:
        """Take in that a paused test may go on; return whether that has to do with where it is.

        The vibrator is where it was wanted. In a pause that was for something else it may have come
        off, and it has if somebody sits down `anew`: then it is wanted once more.
        """
        wanted, self.wanted = self.wanted, None
        self.moves += wanted is not None
        if wanted is not None and not anew:
            self._place = wanted
            return True
        return self.forget() or wanted is not None

    def forget(self) -> bool:
        """Take in that a vibrator was moved; return whether there may be one."""
        if self._place != EARPHONES:
            self._place = None
            self.moves += 1
        return self._place is None

    @property
    def why(self) -> Reason:
        assert self.wanted is not None, "it waits"
        if self._why is not None:
            return self._why
        if self.wanted == EARPHONES:
            return reason(Code.PLACE_EARPHONES)
        ear = self.wanted.ear
        if self.wanted.covered:
            return reason(Code.PLACE_VIBRATOR_COVERED, ear=ear, covered=OTHER[ear])
        return reason(Code.PLACE_VIBRATOR, ear=ear)
