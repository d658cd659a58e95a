"""The masking noise of the presentations: which is due, and whether it plays."""

from dataclasses import replace
from typing import Protocol

from firmware_py.terms import tells
from firmware_py.terms.events import Action, Mask, Unmask
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import NO_COVER, Cover, Presentation
from firmware_py.terms.reasons import Reasons
from firmware_py.terms.route import Route


class Masker(Protocol):
    """Who knows which tones need noise in the other ear, and whether there can be any."""

    can_mask: bool

    def cover(self, route: Route, presentation: Presentation) -> Cover:
        """Return how a tone is kept from the other ear."""


class MaskingNoise:
    """The noise in the ear that is not under test."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self.due: Mask | None = None  # for this presentation; a silence has that of the last tone
        self.cover = NO_COVER  # how the last tone was kept from the other ear
        self.changed = False  # another noise than before, or none, began with this presentation
        self._plays = False
        # The presentation that was looked at last, whether there was noise then, and what it needs.
        self._looked_at: tuple[int, bool] | None = None
        self._needed = NO_COVER

    def begin(self, number: int, route: Route, presentation: Presentation) -> list[Action]:
        """Have the noise play that is due, or end the one that is not.

        From the pause on: so its beginning does not tell when the tone comes. A silence keeps the
        noise of the tone before it, or it would be known by that.
        """
        before = self.due if self._plays else None
        if presentation.purpose != Purpose.CATCH:
            self.cover = self._cover(number, route, presentation)
            level_db_hl, why = self.cover.noise_db_hl, self.cover.why
            self.due = None
            if level_db_hl is not None and why is not None:
                hz = presentation.frequency_hz
                to = route if self.cover.in_own_ear else route.noise
                self.due = Mask(number, to, hz, level_db_hl, why)
        elif self.due is not None:
            goes_on = self._masker.can_mask and self.due.route == route.noise
            self.due = replace(self.due, number=number) if goes_on else None
        played, self._plays = self._plays, self.due is not None
        self.changed = _sound(before) != _sound(self.due)
        if self.due is not None:
            return [self.due]
        return [Unmask()] if played else []

    def _cover(self, number: int, route: Route, presentation: Presentation) -> Cover:
        """Return what a tone needs; one that begins again, as after a pause, needs the same.

        Both ears are as they were until there is an answer, and only the board may have changed.
        """
        looked_at = (number, self._masker.can_mask)
        if looked_at != self._looked_at:
            self._needed = self._masker.cover(route, presentation)
            self._looked_at = looked_at
        return self._needed

    def take_refusal(self, number: int, why: Reasons) -> list[Action]:
        """Go on without noise, and remember that; the noise of the tone before may still play."""
        if self.due is None:
            return []
        refusal, *_ = why
        self.due, self._plays = None, False
        self.cover = Cover(why=refusal)
        return [Unmask(), tells.UnmaskedTold(number, refusal)]

    def note_silence(self) -> None:
        self._plays = False


def _sound(mask: Mask | None) -> tuple[Route, float, float] | None:
    return None if mask is None else (mask.route, mask.frequency_hz, mask.level_db_hl)
