"""Which ear is asked next, and by which route."""

from collections.abc import Iterable

from firmware_py.ear.ear import EarTest
from firmware_py.session.cross_hearing import CrossHearing
from firmware_py.session.way import Again
from firmware_py.terms.outcomes import Purpose
from firmware_py.terms.presentation import Presentation
from firmware_py.terms.route import Route
from firmware_py.terms.settings import BETTER, Settings


def next_route(settings: Settings, ears: Iterable[EarTest]) -> Route | None:
    """Return the route by air to go on with, None if all are over.

    All are familiarised first if the better one is to begin; then it is one after the other. A
    check comes before that.
    """
    tests = [ear for ear in ears if not ear.route.by_bone]
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


def next_again(hearing: CrossHearing) -> Again | None:
    """Return one to be asked again with noise: by air before the tests by bone, and after them.

    Not between them, for earphones and vibrator would be put on once more each. Of ears that come
    before it tones may be wanted behind noise: it has them be asked.
    """
    if hearing.bone.under_way:
        return None
    by_bone_over = hearing.bone.next_route() is None
    routes = [route for route in hearing.ears if by_bone_over or not route.by_bone]
    by_bone_first = sorted(routes, key=lambda route: not route.by_bone)
    for again in filter(None, map(hearing.to_ask_again, by_bone_first)):
        if again.forgotten:
            return again
        hearing.want_behind_noise(again)
    return None


def next_before_bone(
    settings: Settings, hearing: CrossHearing
) -> tuple[Route | None, Again | None, tuple[Route, Presentation] | None]:
    """Return a route by air, or one that is to be asked again, or else a check with noise.

    What is asked by bone behind noise comes as long as the vibrator is where it was.
    """
    route = next_route(settings, hearing.ears.values())
    check = None if route else hearing.next_behind_noise()
    if route is not None or check is not None:
        return route, None, check
    again = next_again(hearing)
    if again is None:
        return None, None, hearing.next_check()
    if hearing.needed_place(again.route, noise=True) and (check := hearing.next_behind_noise()):
        return None, None, check  # found wanting on the way, of an ear before that one
    return again.route, again, None


def next_confirmed(ears: Iterable[EarTest]) -> Route | None:
    """Return one to be confirmed, by air: both are known, and have noise where it is needed."""
    by_air = (ear for ear in ears if not ear.route.by_bone)
    return next((ear.route for ear in by_air if ear.begin_confirmation()), None)


def next_beside_air(hearing: CrossHearing) -> tuple[Route | None, EarTest | None]:
    """Return what comes when nothing is to be asked by air: bone, confirmed ears, who hears.

    Second in what is returned is an ear in which nothing was heard, if it is its turn: somebody is
    to say who hears its tones. Of an ear by air that is asked before the vibrator comes, while the
    earphones are on.
    """
    bone = hearing.bone.next_route()
    unheard = [ear for ear in hearing.ears.values() if ear.asks_equipment]
    by_air = [ear for ear in unheard if not ear.route.by_bone]
    if bone is not None and by_air:
        return by_air[0].route, by_air[0]
    route = bone or next_confirmed(hearing.ears.values())
    if route is None and unheard:
        return unheard[0].route, unheard[0]
    return route, None
