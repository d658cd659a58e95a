"""What an ear may have heard for the other: which tones need noise, and what is sure of a result.

The better ear is tested first, when nothing is known of the other one. Its answers are judged when
the other ear has been measured: those that the other may have given are forgotten, and asked again
with noise. `../MASKING.md` has the rule and its reasons.
"""

from collections.abc import Mapping
from typing import Final

from firmware_py.session.by_air import Air
from firmware_py.session.by_bone import Bone
from firmware_py.session.placing import Placing
from firmware_py.session.way import Again, Skull, Way
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import NO_COVER, Cover, Presentation
from firmware_py.terms.reasons import Code, reason
from firmware_py.terms.route import BY_AIR, BY_BONE, Route, RouteKind

# What is done by each kind of route. A third one is a class, and a row.
WAYS: Final[Mapping[RouteKind, type[Way]]] = {BY_AIR: Air, BY_BONE: Bone}


class CrossHearing:
    """Both ears of a session, and what lies between them: what is sure of each."""

    def __init__(self, skull: Skull) -> None:
        self._skull = skull
        self.ears, self.bone, self.watched = skull.ears, skull.bone, skull.watched
        self.ways = {route: WAYS[route.kind](skull, route) for route in skull.ears}
        self.placing = Placing()
        # Thresholds are judged, but not of one ear alone with masking off.
        self.judged = skull.watched or len({route.ear for route in skull.ears}) > 1

    @property
    def can_mask(self) -> bool:
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
        if presentation.purpose == Purpose.PLATEAU:
            no_noise = Cover(why=reason(Code.NO_NOISE))
            return way.cover_of_check(presentation) if self.can_mask else no_noise
        # By bone either cochlea may answer at first: what matters is asked again with noise.
        either = way.is_placed and way.asked_again is None
        return NO_COVER if either else way.needed_cover(presentation)

    def to_ask_again(self, route: Route) -> Again | None:
        """Return what is asked again with noise, or behind noise, of an ear that is known."""
        return self.ways[route].to_ask_again() if self.watched and self.can_mask else None

    def next_check(self, *, by_bone: bool = False) -> tuple[Route, Presentation] | None:
        """Return a tone to be asked with more noise in the other ear, and by which route.

        By bone first; `by_bone`: nothing else.
        """
        if not self.watched or not self.can_mask or self.bone.under_way:
            return None
        ways = sorted(self.ways.values(), key=lambda way: not way.is_placed)
        tones = ((way.route, way.next_check()) for way in ways if way.is_placed or not by_bone)
        return next(((route, tone) for route, tone in tones if tone is not None), None)
