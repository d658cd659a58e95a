"""What an ear may have heard for the other: which tones need noise, and what is sure of a result.

The better ear is tested first, when nothing is known of the other one. Its answers are judged when
the other ear has been measured: those that the other may have given are forgotten, and asked again
with noise. `../PROCEDURE.md` has the rule and its reasons.
"""

from collections.abc import Mapping
from typing import Final

from firmware_py.ear.ear import EarTest
from firmware_py.session.by_air import Air
from firmware_py.session.by_bone import Bone
from firmware_py.session.masking import Earphones
from firmware_py.session.placing import Place, Placing
from firmware_py.session.skull import Skull
from firmware_py.session.way import Again, Verdict, Way
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.person import UNKNOWN, Person
from firmware_py.terms.presentation import NO_COVER, Cover, Presentation
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import BY_AIR, BY_BONE, Route, RouteKind
from firmware_py.terms.settings import Settings

_NO_NOISE: Final = reason(Code.NO_NOISE)
# What is done by each kind of route. A third one is a class, and a row.
WAYS: Final[Mapping[RouteKind, type[Way]]] = {BY_AIR: Air, BY_BONE: Bone}


class CrossHearing:
    """Both ears of a session, and what lies between them: what is sure of each.

    Attributes
    ----------
    ways : dict of Route to Way
    bone : BoneConduction
        What is known of it, where it is tested.
    placing : Placing
        Where the operator put the vibrator.
    watched : bool
        Whether tones are given the noise that they need.
    judged : bool
        Whether thresholds are judged: not of one ear alone with masking off.
    """

    def __init__(
        self,
        settings: Settings,
        ears: Mapping[Route, EarTest],
        earphones: Earphones,
        person: Person = UNKNOWN,
    ) -> None:
        self._skull = Skull(settings, ears, earphones, person)
        self.ears = ears
        self.ways = {route: WAYS[route.kind](self._skull, route) for route in ears}
        self.bone = self._skull.bone
        self.placing = Placing()
        self.watched = self._skull.watched
        self.judged = self.watched or len({route.ear for route in ears}) > 1

    @property
    def can_mask(self) -> bool:
        """Return whether the tone generator has noise."""
        return self._skull.can_mask

    @can_mask.setter
    def can_mask(self, can_mask: bool) -> None:
        self._skull.can_mask = can_mask

    @property
    def asked_again(self) -> dict[Route, bool]:
        """Return the routes that were, and whether bone of the other ear was known then."""
        known = {route: way.asked_again for route, way in self.ways.items()}
        return {route: informed for route, informed in known.items() if informed is not None}

    def cover(self, route: Route, presentation: Presentation) -> Cover:
        """Return the noise that a tone needs; none while nothing is known of the other ear."""
        way = self.ways[route]
        if presentation.purpose != Purpose.PLATEAU:
            return NO_COVER if way.begins_without_noise else way.needed_cover(presentation)
        return way.cover_of_check(presentation) if self.can_mask else Cover(why=_NO_NOISE)

    def verdicts(self, route: Route) -> dict[int, Verdict]:
        """Say what is sure of each threshold."""
        return self.ways[route].verdicts()

    def needed_place(self, route: Route, noise: bool) -> Place | None:
        """Return where the operator has to put what plays, if it may not be there."""
        return self.placing.needed(self.ways[route].place(noise))

    def to_ask_again(self, route: Route) -> Again | None:
        """Return what is asked again with noise, or behind noise, of an ear that is known."""
        return self.ways[route].to_ask_again() if self.watched and self.can_mask else None

    def wants_noise(self, route: Route) -> bool:
        """Return whether an ear that is known would be asked again with noise."""
        again = self.to_ask_again(route)
        return again is not None and bool(again.forgotten)

    def ask_again(self, again: Again) -> None:
        """Forget what the other ear may have heard, and ask it with noise."""
        self.ways[again.route].ask_again(again)

    def want_behind_noise(self, again: Again) -> None:
        """Have tones be asked behind enough noise: there is none of the right level."""
        self.ways[again.route].want_behind_noise(again)

    def next_behind_noise(self) -> tuple[Route, Presentation] | None:
        """Return a tone by bone behind noise that may hide it, and by which route.

        When an ear was asked again, while the vibrator is where it was.
        """
        return self._next_check(placed=True)

    def next_check(self) -> tuple[Route, Presentation] | None:
        """Return a tone to be asked with more noise in the other ear, and by which route."""
        return self._next_check(placed=True) or self._next_check(placed=False)

    def _next_check(self, *, placed: bool) -> tuple[Route, Presentation] | None:
        if not self.watched or not self.can_mask or self.bone.under_way:
            return None
        ways = [way for way in self.ways.values() if way.is_placed == placed]
        tones = ((way.route, way.next_check()) for way in ways)
        return next(((route, tone) for route, tone in tones if tone is not None), None)

    def begin_check(self, route: Route) -> None:
        """Take in that a tone is asked which one of these two named."""
        self.ways[route].begin_check()

    def take_check(
        self, route: Route, tone: Presentation, heard: bool | None, cover: Cover
    ) -> None:
        """Take the answer to such a tone; None: the listener was unsure."""
        self.ears[route].levels.note_tone(tone)
        self.ways[route].take_check(tone, heard is True, cover)
