"""What an ear may have heard for the other: which tones need noise, and what is sure of a result.

The better ear is tested first, when nothing is known of the other one. Its answers are judged when
the other ear has been measured: those that the other may have given are forgotten, and asked again
with noise. `../MASKING.md` has the rule and its reasons.
"""

from collections.abc import Mapping
from typing import Final

from firmware_py.session.by_air import Air
from firmware_py.session.by_bone import Bone
from firmware_py.session.noise_check import NoiseCheck
from firmware_py.session.placing import Placing
from firmware_py.session.way import Again, Skull, Way
from firmware_py.terms.outcomes import Purpose, Why
from firmware_py.terms.presentation import NO_COVER, Cover, Presentation
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
        self.noise_check = NoiseCheck(skull, self.placing)
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
            why = self._skull.no_noise(route)
            return Cover(why=why) if why else way.cover_of_check(presentation)
        if presentation.why == Why.NOISE_REACHES:
            return self.noise_check.cover(route, presentation)
        # By bone either cochlea may answer at first: what matters is asked again with noise.
        either = way.is_placed and way.asked_again is None
        return NO_COVER if either else way.needed_cover(presentation)

    def before(self, route: Route, tone: Presentation) -> tuple[Route, Presentation]:
        """Ask first if the noise reaches its ear: before a tone with noise, after each placing.

        A tone in the ear of the noise that is heard, and is not in noise. No threshold rests on a
        clear tone.
        """
        plain = tone.purpose == Purpose.CATCH or tone.why in (Why.NOISE_REACHES, Why.CLEAR_TONE)
        if plain or self.cover(route, tone).noise_db_hl is None:
            return route, tone
        check = self.noise_check.tone(route.noise)
        return (route, tone) if check is None else (route.noise, check)

    def to_ask_again(self, route: Route) -> Again | None:
        """Return what is asked again with noise, or behind noise, of an ear that is known."""
        has_noise = self.watched and self._skull.no_noise(route) is None
        return self.ways[route].to_ask_again() if has_noise else None

    def next_check(self, *, by_bone: bool = False) -> tuple[Route, Presentation] | None:
        """Return a tone to be asked with more noise in the other ear, and by which route.

        By bone first; `by_bone`: nothing else.
        """
        if not self.watched or not self.can_mask or self.bone.under_way:
            return None
        reached = [way for way in self.ways.values() if self._skull.no_noise(way.route) is None]
        ways = sorted(reached, key=lambda way: not way.is_placed)
        tones = ((way.route, way.next_check()) for way in ways if way.is_placed or not by_bone)
        return next(((route, tone) for route, tone in tones if tone is not None), None)
