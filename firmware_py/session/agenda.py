"""What comes next in a test: the reasons of a session, in order, around those of its ears.

After every answer they are asked from the first, and what they propose is done until a step ends
the search. They change nothing: what is proposed, `HearingTest` does. A test is over when no step
ends it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from firmware_py.ear.ear import EarTest
from firmware_py.ear.reasons_to_ask import (
    INTERRUPTS,
    REASONS_TO_ASK,
    InPlaceAgain,
    SilenceDue,
    about,
)
from firmware_py.session.cross_hearing import CrossHearing
from firmware_py.session.placing import Place
from firmware_py.session.way import Again
from firmware_py.session.which_ear import EarCheck
from firmware_py.terms.outcomes import Purpose, Why
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.route import Route
from firmware_py.terms.settings import BETTER, Settings


@dataclass(frozen=True)
class SessionState:
    """What the reasons of a session are asked about."""

    settings: Settings
    cross_hearing: CrossHearing
    ear_check: EarCheck

    @property
    def by_air(self) -> list[EarTest]:
        return [ear for ear in self.cross_hearing.ears.values() if not ear.route.by_bone]

    @cached_property
    def asked_again(self) -> tuple[list[Again], Again | None]:
        """Which tones are wanted behind noise, and the first route to be asked again.

        By air before the tests by bone, and after them. Not between them, for earphones and
        vibrator would be put on once more each.
        """
        hearing, wanted = self.cross_hearing, list[Again]()
        if hearing.bone.under_way:
            return [], None
        for route in sorted(hearing.ears, key=lambda route: not route.by_bone):
            again = hearing.to_ask_again(route)
            if again is not None and again.forgotten:
                return wanted, again
            wanted += [again] if again is not None else []
        return wanted, None


# The steps of a session.


@dataclass(frozen=True)
class Present:
    """Present a tone that an ear did not ask for; this ends the search."""

    route: Route
    tone: Presentation


@dataclass(frozen=True)
class Wait:
    """Wait until the operator put earphones or vibrator there; this ends the search."""

    place: Place


@dataclass(frozen=True)
class WantBehindNoise:
    """Have tones of an ear be asked behind noise."""

    again: Again


@dataclass(frozen=True)
class AskAgain:
    """Forget what the other ear may have heard, so that it is asked again."""

    again: Again


@dataclass(frozen=True)
class _OfEar:
    route: Route


class AskEar(_OfEar):
    """Go on with an ear, by its own reasons to ask; this ends the search."""


class BeginConfirmation(_OfEar):
    """Have an ear measure the chosen frequencies once more."""


class BeginWhoHears(_OfEar):
    """Have the operator say who hears the tones of an ear."""


Step = Present | AskEar | Wait | WantBehindNoise | AskAgain | BeginConfirmation | BeginWhoHears
Steps = Sequence[Step]


def in_place(known: SessionState, route: Route, *steps: Step, noise: bool = False) -> Steps:
    """Return steps of a route, or to wait until what plays is where it takes them.

    `noise`: in the other ear, where a route has it now and then only.
    """
    way = known.cross_hearing.ways[route]
    place = way.place(noise or way.has_noise)
    return steps if known.cross_hearing.placing.is_at(place) else (Wait(place),)


@dataclass(frozen=True)
class SessionReason:
    """Why a session goes on as it does: its words on the developers' page, what it proposes."""

    words: str
    propose: Callable[[SessionState], Steps]


def which_ear_is_which(known: SessionState) -> Steps:
    """In which ear is a clear tone? Before anything else of a test of two ears."""
    return (Present(*known.ear_check.tone()),) if known.ear_check.under_way else ()


def ear_by_air(known: SessionState) -> Steps:
    """It is not over: it asks by its own reasons, below.

    One after the other, a check of the listener first; if the better ear is to begin, both are
    familiarised before.
    """
    route = next_by_air(known.settings, known.by_air)
    return () if route is None else in_place(known, route, AskEar(route))


def behind_noise(known: SessionState) -> Steps:
    """A threshold by bone may be the other ear's, and no noise is right: one that is enough."""
    return _check(known, known.cross_hearing.next_check(by_bone=True))


def asked_again(known: SessionState) -> Steps:
    """The other ear may have answered: these tones again, with noise in it."""
    wanted, again = known.asked_again
    steps: list[Step] = [WantBehindNoise(each) for each in wanted]
    if again is not None:
        # Nothing is forgotten before the noise is known to arrive.
        check = known.cross_hearing.noise_check.tone(again.route.noise)
        of_ear = AskAgain(again), AskEar(again.route)
        first = of_ear if check is None else (Present(again.route.noise, check),)
        asked = in_place(known, again.route, *first, noise=True)
        steps += () if isinstance(asked[0], Wait) else asked
    return steps


def asked_again_elsewhere(known: SessionState) -> Steps:
    """The vibrator, or the earphones, are elsewhere: the operator is to put them there first."""
    _, again = known.asked_again
    return () if again is None else in_place(known, again.route, noise=True)


def more_noise(known: SessionState) -> Steps:
    """A gap of one ear would explain a threshold of the other: a tone with more noise.

    By bone, what is still due behind noise, wherever the vibrator is.
    """
    return _check(known, known.cross_hearing.next_check())


def who_hears_before_bone(known: SessionState) -> Steps:
    """Nothing was heard by air: who hears these tones? Asked while the earphones are on."""
    return _who_hears(known, known.by_air) if known.cross_hearing.bone.next_route() else ()


def ear_by_bone(known: SessionState) -> Steps:
    """It is not over: by its own reasons, that which hears more by air first."""
    route = known.cross_hearing.bone.next_route()
    return () if route is None else in_place(known, route, AskEar(route))


def confirm_ear(known: SessionState) -> Steps:
    """Chosen frequencies of an ear by air once more, by the classical rule."""
    for ear in known.by_air:
        if ear.frequencies_to_confirm_hz:
            return in_place(known, ear.route, BeginConfirmation(ear.route), AskEar(ear.route))
    return ()


def who_hears(known: SessionState) -> Steps:
    """Nothing was heard: who hears these tones? The operator, the other ear, or nobody."""
    return _who_hears(known, known.cross_hearing.ears.values())


# The order of a whole test, both ears and routes. What is due behind noise comes before an ear by
# bone is asked again, and what that leaves for it after: then the vibrator is still there.
SESSION_REASONS: Final = (
    SessionReason("`which-ear`", which_ear_is_which),
    SessionReason("an ear by air", ear_by_air),
    SessionReason("`more-noise`", behind_noise),
    SessionReason("an ear again", asked_again),
    SessionReason("`more-noise`", behind_noise),
    SessionReason("an ear again, elsewhere", asked_again_elsewhere),
    SessionReason("`more-noise`", more_noise),
    SessionReason("`who-hears`", who_hears_before_bone),
    SessionReason("an ear by bone", ear_by_bone),
    SessionReason("`confirm`", confirm_ear),
    SessionReason("`who-hears`", who_hears),
)


def next_by_air(settings: Settings, tests: Sequence[EarTest]) -> Route | None:
    """Return the route by air to go on with, None if all are over; `ear_by_air` says the order."""
    waiting = [ear for ear in tests if not ear.over]
    if not waiting:
        return None
    if settings.first_ear != BETTER or len(tests) == 1:
        return waiting[0].route
    checked = [ear for ear in waiting if ear.phase == Purpose.CHECK]
    strange = [ear for ear in waiting if ear.phase == Purpose.FAMILIARISE]
    begun = [ear for ear in waiting if ear.begun]
    return (checked or strange or begun or [min(waiting, key=_familiar_level)])[0].route


def _familiar_level(ear: EarTest) -> float:
    level = ear.familiarisation.threshold_db_hl
    return float("inf") if level is None else level


def _check(known: SessionState, check: tuple[Route, Presentation] | None) -> Steps:
    return () if check is None else in_place(known, check[0], Present(*check), noise=True)


def _who_hears(known: SessionState, ears: Iterable[EarTest]) -> Steps:
    for ear in ears:
        if ear.asks_equipment:
            return in_place(known, ear.route, BeginWhoHears(ear.route), AskEar(ear.route))
    return ()


def table_lines() -> Iterator[str]:
    """Yield the table of the developers' page: the order of a whole test."""
    yield "| what | when, and what is asked |"
    yield "|---|---|"
    for reason in SESSION_REASONS:
        yield f"| {reason.words} | {about(reason.propose)} |"
        if reason.propose is which_ear_is_which:
            yield f"| `{Why.NOISE_REACHES}` | {about(CrossHearing.before)} |"
        if reason.propose is ear_by_air:
            for each in (*INTERRUPTS, *REASONS_TO_ASK, InPlaceAgain(), SilenceDue()):
                yield f"| · `{each.why}` | {about(each)} |"
